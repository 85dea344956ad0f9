"""Frame by frame through a video: only what changed is looked at anew.

The network sees small tiles round what changed, at the size at which it is surest, and now and then the whole table.
What did not change is where it was. A ball that moved a moment ago is looked at in every frame, so that its last
millimetres are seen; people who move about are looked at some ten times a second where no ball is in question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.attention import Attention, Spot
from vision_referee.detection.detections import Detections
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.network import suppress
from vision_referee.detection.region import Region
from vision_referee.detection.sighted import Sighted
from vision_referee.detection.tiles import tiles_of
from vision_referee.video.frames import Frame

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

_SAME_BALL_DIAMETERS = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    whole_every_s: float = 1.0
    """How often the whole table is looked at whatever happens: shorter finds sooner what was overlooked."""
    crowd_every_s: float = 0.1
    """How often large changes without a known ball, such as people, are looked at while no ball moves fast."""
    correction: float = 0.25
    """By what part a ball that has not moved is put right at a look at the whole table."""
    doubt: float = 0.75
    """By what factor such a ball's score falls when it is not seen again."""
    cover_every_s: float = 0.3
    """How often the map of what covers the cloth is made anew while only balls and what is close to them move."""
    crowd_balls: float = 10.0
    """A change larger than so many balls is more than balls."""
    hot_s: float = 0.6
    """A ball that moved is measured in every frame for so long."""
    moved_diameters: float = 0.02
    """Farther from where it was last found moved, a ball moved: half a millimetre to a millimetre and a half."""
    fast_diameters_s: float = 4.0
    """While a ball moves faster than this, all that changed is looked at: it may be anywhere in the next frame."""
    unseen_frames: int = 3
    """So many frames in a row a ball that rolls smoothly is followed by its outline alone: more costs less, and takes
    longer to notice that something else has its outline."""
    alone_diameters: float = 1.6
    """Closer to another ball than this, something may happen: the network looks."""
    explained_radii: float = 2.3
    """What changes within so many radii of a rolling ball is the ball and its shadow."""
    tiles_of_whole: float = 1.0
    """Tiles that cost more than this part of a look at the whole table give way to it."""


@dataclass(slots=True)
class _Known:
    """The n balls of the last frame and how they move. ``anchor_mm`` (n, 2): where each was when it was last found
    moved; ``steady`` (n,): for how many frames its velocity has not jumped; ``unseen`` (n,): for how many frames the
    network has not looked at it."""

    balls: Sighted
    hot_until_s: F64
    anchor_mm: F64
    velocity_mm_s: F64
    steady: I32
    unseen: I32

    @staticmethod
    def none() -> _Known:
        z = np.zeros
        return _Known(Sighted.none(), z(0), z((0, 2)), z((0, 2)), z(0, np.int32), z(0, np.int32))

    @property
    def speed_mm_s(self) -> F64:
        return np.asarray(np.linalg.norm(self.velocity_mm_s, axis=1), np.float64)


class Follower:
    """Wraps a detector for the frames of one video, in their order."""

    def __init__(self, detector: BallDetector, settings: FollowSettings | None = None) -> None:
        self.settings = settings or FollowSettings()
        self._detector = detector
        self._begin()

    def recalibrate(self, calibration: Calibration) -> None:
        """Go on with another calibration of the same video."""
        self._detector.recalibrate(calibration)
        self._begin()

    def forget(self) -> None:
        """The next frame shows another time or view."""
        self._attention.forget()
        self._known = _Known.none()
        self._seen_s = -np.inf
        self._stirred = np.zeros(0, bool)
        self._whole_s = self._crowd_s = self._cover_s = -np.inf

    def _begin(self) -> None:
        calibration = self._detector.calibration
        self._table = calibration.table
        self._attention = Attention(calibration.camera, calibration.table, self._detector.fine)
        self.forget()

    def follow(self, frame: Frame) -> Detections:
        """The balls of the next frame."""
        changes = self._attention.changes(frame)
        known = self._known
        reach = 1.1 * known.balls.r_px
        gone = self._stirred = self._attention.stirred(changes, known.balls.xy_px, reach)
        if frame.t_s - self._whole_s >= self.settings.whole_every_s:
            return self._look_everywhere(frame, ~gone & (known.hot_until_s <= frame.t_s))
        gone = gone.copy()
        followed, index = self._rolled_on(frame, gone)
        gone[index] = False
        moved = self._stirred[index]
        if moved.any():
            there, before = followed.take(moved), known.balls.take(index[moved])
            both = there.joined(before)
            explained = self._attention.discs(both.xy_px, self.settings.explained_radii * both.r_px) > 0
            explained &= self._attention.discs(known.balls.xy_px[gone], reach[gone]) == 0
            changes[explained] = 0
            self._attention.looked(explained)
        return self._look_at(frame, changes, gone, followed, index)

    def _look_everywhere(self, frame: Frame, unmoved: Bool) -> Detections:
        self._whole_s = self._crowd_s = self._cover_s = frame.t_s
        seen = self._detector.sighted(frame, *self._detector.look(frame, self._detector.fine))
        balls = self._with_unmoved(seen, self._known.balls.take(unmoved))
        self._attention.looked()
        self._learn(frame.t_s, balls, 0)
        return self._detector.told(frame, balls)

    def _with_unmoved(self, seen: Sighted, unmoved: Sighted) -> Sighted:
        """What was seen, told what is known: where no pixel has changed no ball has moved, and none has gone.

        Such a ball's place comes nearer to the new one by a part, so that it does not jump; one that is not seen again
        is doubted more each time.
        """
        if len(unmoved) == 0:
            return seen
        away = np.linalg.norm(unmoved.xy_mm[:, None] - seen.xy_mm[None], axis=2)
        nearest = away.argmin(axis=1) if len(seen) else np.zeros(len(unmoved), np.intp)
        gap = away[np.arange(len(unmoved)), nearest] if len(seen) else np.full(len(unmoved), np.inf)
        same = gap < _SAME_BALL_DIAMETERS * self._table.ball_diameter_mm
        mine = nearest[same]
        share = np.ones((len(seen), 1))
        share[mine] = self.settings.correction
        old = seen.take(np.arange(len(seen)))
        old.xy_px[mine], old.xy_mm[mine] = unmoved.xy_px[same], unmoved.xy_mm[same]
        merged = replace(
            seen,
            xy_px=old.xy_px + share * (seen.xy_px - old.xy_px),
            xy_mm=old.xy_mm + share * (seen.xy_mm - old.xy_mm),
        )
        return merged.joined(self._doubted(unmoved.take(gap >= self._table.ball_diameter_mm)))

    def _rolled_on(self, frame: Frame, gone: Bool) -> tuple[Sighted, npt.NDArray[np.intp]]:
        """The balls that are found by their outlines where their motion takes them, and their indices."""
        s, known, diameter = self.settings, self._known, self._table.ball_diameter_mm
        able = gone & (known.steady >= 2) & (known.unseen < s.unseen_frames)
        # Where a ball has just moved its place is measured even if no pixel has changed much: its last millimetres.
        able = known.balls.sharp & (able | (~gone & (known.steady >= 1) & (known.hot_until_s > frame.t_s)))
        step_mm = np.where(able[:, None], known.velocity_mm_s, 0.0) * (frame.t_s - self._seen_s if able.any() else 0.0)
        at = known.balls.xy_mm + step_mm
        if able.any():
            apart = np.linalg.norm(at[:, None] - at[None], axis=2)
            np.fill_diagonal(apart, np.inf)
            able &= ~gone | (apart.min(axis=1) > s.alone_diameters * diameter)
        index = np.flatnonzero(able)
        if len(index) == 0:
            return Sighted.none(), index
        balls, found = self._detector.refit(frame, known.balls.take(index), at[index])
        return balls.take(found), index[found]

    def _look_at(
        self, frame: Frame, changes: F32, gone: Bool, followed: Sighted, index: npt.NDArray[np.intp]
    ) -> Detections:
        """Look at what changed and at the balls that are ``gone`` from the list until they are seen again."""
        balls = self._known.balls
        sought = balls.take(gone)
        discs = self._attention.discs(sought.xy_px, 1.1 * sought.r_px)
        spots, labels = self._attention.spots(changes, discs)
        kept = ~gone
        kept[index] = False
        if not spots:
            now = balls.take(kept).joined(followed)
            if len(followed):
                self._learn(frame.t_s, now, len(now))
            return self._detector.told(frame, now, occluders=self._cover_due(frame.t_s, moved=False))
        crowds, small = self._sorted(spots, labels, discs)
        crowd_due = frame.t_s - self._crowd_s >= self.settings.crowd_every_s or self._fast()
        looked = small + crowds if crowd_due else small
        found = self._seen(frame, looked, labels)
        if crowds and not crowd_due and len(found[0]) < int(gone.sum()):
            # A ball is not where it was: it may have gone where the crowd is.
            more = self._seen(frame, crowds, labels)
            found = (np.concatenate([found[0], more[0]]), np.concatenate([found[1], more[1]]))
            looked, crowd_due = small + crowds, True
        if crowd_due:
            self._crowd_s = frame.t_s
        old = balls.take(kept).joined(followed)
        now, count = self._with_new(frame, old, *self._borne_out(changes, sought, *found))
        now = now.joined(self._barely_touched(changes, sought, now))
        mask = np.isin(labels, [spot.label for spot in looked])
        self._attention.looked(mask)
        self._learn(frame.t_s, now, count)
        return self._detector.told(frame, now, occluders=self._cover_due(frame.t_s, moved=bool(crowds)))

    def _borne_out(self, changes: F32, sought: Sighted, boxes: F64, scores: F64) -> tuple[F64, F64]:
        """The boxes where pixels changed or a ball is sought: of the same pixels a look in another frame says much the
        same, and where it says another thing it is no better."""
        if len(boxes) == 0:
            return boxes, scores
        middle, reach = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]).max(axis=1) / 2
        new = self._attention.stirred(changes, middle, reach)
        if len(sought):
            away = np.linalg.norm(middle[:, None] - sought.xy_px[None], axis=2)
            new |= (away < 2 * sought.r_px).any(axis=1)
        return boxes[new], scores[new]

    def _barely_touched(self, changes: F32, sought: Sighted, now: Sighted) -> Sighted:
        """Of the balls sought and not found those whose pixels hardly changed: they are still there, if less surely."""
        if len(sought) == 0:
            return sought
        there = ~self._attention.stirred(changes, sought.xy_px, sought.r_px, clearly=True)
        if len(now):
            apart = np.linalg.norm(sought.xy_mm[:, None] - now.xy_mm[None], axis=2).min(axis=1)
            there &= apart > self._table.ball_radius_mm
        return self._doubted(sought.take(there))

    def _doubted(self, balls: Sighted) -> Sighted:
        """Balls that were not seen again though they cannot have gone; those doubted too often are left out."""
        doubt = self.settings.doubt
        less = replace(balls, scores=doubt * balls.scores, confidence=doubt * balls.confidence)
        return less.take(less.scores > self._detector.settings.threshold)

    def _cover_due(self, t_s: float, *, moved: bool) -> bool:
        """Whether what covers the cloth is to be looked at again: often while people move, seldom otherwise."""
        s = self.settings
        due = t_s - self._cover_s >= (s.crowd_every_s if moved else s.cover_every_s) - 1e-6
        if due:
            self._cover_s = t_s
        return due

    def _sorted(self, spots: list[Spot], labels: I32, discs: U8) -> tuple[list[Spot], list[Spot]]:
        """Spots that are no more than people moving, and those that may be balls."""
        with_ball = set(np.unique(labels[discs > 0]).tolist())
        crowds = [s for s in spots if s.balls > self.settings.crowd_balls and s.label not in with_ball]
        return crowds, [s for s in spots if s not in crowds]

    def _fast(self) -> bool:
        fast = self.settings.fast_diameters_s * self._table.ball_diameter_mm
        return bool((self._known.speed_mm_s > fast).any())

    def _seen(self, frame: Frame, spots: list[Spot], labels: I32) -> tuple[F64, F64]:
        """Boxes and scores of balls whose middle lies in the spots."""
        whole = self._detector.moving
        tiles = tiles_of(spots, frame.size_px)
        if sum(tile.cost for tile in tiles) > self.settings.tiles_of_whole * _pixels(whole):
            boxes, scores = self._detector.look(frame, whole)
            at = self._attention.at(labels, (boxes[:, :2] + boxes[:, 2:]) / 2)
            mine = np.isin(at, [spot.label for spot in spots])
        else:
            boxes, scores, tile_of = self._detector.look_closely(frame, [tile.region for tile in tiles])
            at = self._attention.at(labels, (boxes[:, :2] + boxes[:, 2:]) / 2)
            mine = np.array([label in tiles[k].labels for label, k in zip(at, tile_of, strict=True)], bool)
        return boxes[mine], scores[mine]

    def _with_new(self, frame: Frame, kept: Sighted, boxes: F64, scores: F64) -> tuple[Sighted, int]:
        """The balls that were kept and those newly seen that are not the same ones; how many of the former stayed."""
        if len(boxes) == 0:
            return kept, len(kept)
        every, sure = np.concatenate([kept.boxes_px, boxes]), np.concatenate([kept.scores, scores])
        stay = np.zeros(len(every), bool)
        stay[suppress(every, sure)] = True
        stay &= self._detector.apart(every, np.where(stay, sure, 0.0))
        new = stay[len(kept) :]
        kept = kept.take(stay[: len(kept)])
        return kept.joined(self._detector.sighted(frame, boxes[new], scores[new])), len(kept)

    def _learn(self, t_s: float, balls: Sighted, unseen: int) -> None:
        """Match the balls with the last frame's, to know how each moves. The first ``unseen`` were not shown to the
        network now."""
        s, before, diameter = self.settings, self._known, self._table.ball_diameter_mm
        count, dt = len(balls), max(t_s - self._seen_s, 1e-3)
        now = _Known(
            balls, np.full(count, t_s + s.hot_s), balls.xy_mm.copy(), np.full((count, 2), np.inf),
            np.zeros(count, np.int32), np.zeros(count, np.int32),
        )  # fmt: skip
        if len(before.balls) and count:
            steady = before.steady[:, None] > 0
            expected = before.balls.xy_mm + np.where(steady, before.velocity_mm_s, 0.0) * dt
            away = np.linalg.norm(balls.xy_mm[:, None] - expected[None], axis=2)
            nearest = away.argmin(axis=1)
            same = away[np.arange(count), nearest] < diameter
            velocity = (balls.xy_mm - before.balls.xy_mm[nearest]) / dt
            now.velocity_mm_s = np.where(same[:, None], velocity, np.inf)
            # What no pixel bears out is the measurement's own unsteadiness.
            stirred = self._stirred[nearest] if len(self._stirred) == len(before.balls) else np.ones(count, bool)
            step_mm = np.linalg.norm(balls.xy_mm - before.anchor_mm[nearest], axis=1)
            still = same & (~stirred | (step_mm < s.moved_diameters * diameter))
            now.hot_until_s = np.where(still, before.hot_until_s[nearest], now.hot_until_s)
            now.anchor_mm = np.where(still[:, None], before.anchor_mm[nearest], now.anchor_mm)
            with np.errstate(invalid="ignore"):
                jump = np.linalg.norm(velocity - before.velocity_mm_s[nearest], axis=1)
            smooth = same & (jump < 0.15 * np.linalg.norm(velocity, axis=1) + 1.5 * diameter)
            now.steady = np.where(smooth, before.steady[nearest] + 1, 0).astype(np.int32)
            now.unseen[:unseen] = before.unseen[nearest[:unseen]] + 1
        self._seen_s = t_s
        self._known = now


def _pixels(region: Region) -> float:
    width, height = region.input_px
    return float(width * height)
