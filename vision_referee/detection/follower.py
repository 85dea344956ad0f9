"""Frame by frame through a video: only what changed is looked at anew.

The network sees small tiles round what changed, at the size at which it is surest, and now and then the whole table.
What did not change is where it was. A ball that moved a moment ago is looked at in every frame, so that its last
millimetres are seen; people who move about are looked at some ten times a second where no ball is in question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.attention import Attention, Spot
from vision_referee.detection.detections import Detections
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.network import suppress
from vision_referee.detection.region import Region
from vision_referee.detection.sighted import Sighted
from vision_referee.detection.tiles import Tile, tiles_of
from vision_referee.video.frames import Frame

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    whole_every_s: float = 1.0
    """How often the whole table is looked at whatever happens: shorter finds sooner what was overlooked."""
    crowd_every_s: float = 0.1
    """How often large changes without a known ball, such as people, are looked at while no ball moves fast."""
    crowd_balls: float = 10.0
    """A change larger than so many balls is more than balls."""
    hot_s: float = 0.6
    """A ball that moved is looked at in every frame for so long."""
    moved_diameters: float = 0.02
    """Farther from where it was last found moved, a ball moved: half a millimetre to a millimetre and a half."""
    fast_diameters_s: float = 4.0
    """While a ball moves faster than this, all that changed is looked at: it may be anywhere in the next frame."""
    tiles_of_whole: float = 1.0
    """Tiles that cost more than this part of a look at the whole table give way to it."""


@dataclass(slots=True)
class _Known:
    """The balls of the last frame and how they move: since when each is where it is."""

    balls: Sighted
    hot_until_s: F64
    anchor_mm: F64
    speed_mm_s: F64

    @staticmethod
    def none() -> _Known:
        return _Known(Sighted.none(), np.zeros(0), np.zeros((0, 2)), np.zeros(0))


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
        self._whole_s = self._crowd_s = -np.inf

    def _begin(self) -> None:
        calibration = self._detector.calibration
        self._table = calibration.table
        self._attention = Attention(calibration.camera, calibration.table, self._detector.fine)
        self.forget()

    def follow(self, frame: Frame) -> Detections:
        """The balls of the next frame."""
        changes = self._attention.changes(frame)
        if frame.t_s - self._whole_s >= self.settings.whole_every_s:
            return self._look_everywhere(frame)
        known = self._known
        # Where a ball has just moved the picture is looked at even if it seems to stand still.
        hot = known.hot_until_s > frame.t_s
        reach = 1.1 * known.balls.r_px
        gone = hot | self._attention.stirred(changes, known.balls.xy_px, reach)
        return self._look_at(frame, changes, gone)

    def _look_everywhere(self, frame: Frame) -> Detections:
        self._whole_s = self._crowd_s = frame.t_s
        balls = self._detector.sighted(frame, *self._detector.look(frame, self._detector.fine))
        self._attention.looked()
        self._learn(frame.t_s, balls)
        return self._detector.told(frame, balls)

    def _look_at(self, frame: Frame, changes: F32, gone: Bool) -> Detections:
        """Look at what changed and at the balls that are ``gone`` from the list until they are seen again."""
        balls = self._known.balls
        discs = self._attention.discs(balls.xy_px[gone], 1.1 * balls.r_px[gone])
        spots, labels = self._attention.spots(changes, discs)
        if not spots:
            return self._detector.told(frame, balls, occluders=False)
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
        now = self._with_new(frame, balls.take(~gone), *found)
        mask = np.isin(labels, [spot.label for spot in looked])
        self._attention.looked(mask)
        self._learn(frame.t_s, now)
        return self._detector.told(frame, now, occluders=crowd_due or not crowds)

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
        wanted = [spot.label for spot in spots]
        tiles = tiles_of(spots, frame.size_px)
        if sum(tile.cost for tile in tiles) > self.settings.tiles_of_whole * _pixels(whole):
            tiles = [Tile(region=whole, labels=frozenset(wanted))]
        boxes, scores = [np.zeros((0, 4))], [np.zeros(0)]
        for tile in tiles:
            some, sure = self._detector.look(frame, tile.region)
            at = self._attention.at(labels, (some[:, :2] + some[:, 2:]) / 2)
            inside = np.isin(at, list(tile.labels))
            boxes.append(some[inside])
            scores.append(sure[inside])
        return np.concatenate(boxes), np.concatenate(scores)

    def _with_new(self, frame: Frame, kept: Sighted, boxes: F64, scores: F64) -> Sighted:
        """The balls that were kept and those newly seen that are not the same ones."""
        if len(boxes) == 0:
            return kept
        every, sure = np.concatenate([kept.boxes_px, boxes]), np.concatenate([kept.scores, scores])
        stay = np.zeros(len(every), bool)
        stay[suppress(every, sure)] = True
        stay &= self._detector.apart(every, np.where(stay, sure, 0.0))
        new = stay[len(kept) :]
        return kept.take(stay[: len(kept)]).joined(self._detector.sighted(frame, boxes[new], scores[new]))

    def _learn(self, t_s: float, balls: Sighted) -> None:
        """Match the balls with the last frame's, to know which of them move."""
        s, before, diameter = self.settings, self._known, self._table.ball_diameter_mm
        hot, anchor, speed = np.full(len(balls), t_s + s.hot_s), balls.xy_mm.copy(), np.zeros(len(balls))
        if len(before.balls) and len(balls):
            away = np.linalg.norm(balls.xy_mm[:, None] - before.balls.xy_mm[None], axis=2)
            nearest = away.argmin(axis=1)
            same = away[np.arange(len(balls)), nearest] < diameter
            step = np.linalg.norm(balls.xy_mm - before.anchor_mm[nearest], axis=1)
            still = same & (step < s.moved_diameters * diameter)
            hot = np.where(still, before.hot_until_s[nearest], hot)
            anchor = np.where(still[:, None], before.anchor_mm[nearest], anchor)
            moved = away[np.arange(len(balls)), nearest] / max(t_s - self._seen_s, 1e-3)
            speed = np.where(same, moved, np.inf)
        self._seen_s = t_s
        self._known = _Known(balls, hot, anchor, speed)


def _pixels(region: Region) -> float:
    width, height = region.input_px
    return float(width * height)
