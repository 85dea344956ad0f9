"""Online multi-object tracking in the table plane: detections in, tracklets out.

The tracker is shy on purpose. It follows a ball only while free motion explains the next sighting; at an impact, or
where a fast ball was not seen, the tracklet ends and a new one begins from three sightings in line. What became of
what is decided later for the whole stroke at once (``linking``), where physics has both sides of the impact to go by.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from vision_referee.detection.detections import Detections
from vision_referee.domain.table import TableSpec
from vision_referee.tracking.association import assign, gated_cost, without_duplicates
from vision_referee.tracking.cover import BARE, ClothSeen, cell_of, ring_cover
from vision_referee.tracking.filters import BallFilter
from vision_referee.tracking.initiation import Leftover, triples
from vision_referee.tracking.repeats import is_repeat
from vision_referee.tracking.settings import TrackingSettings
from vision_referee.tracking.stillness import is_still
from vision_referee.tracking.tracklets import Mode, Tracklet

F64 = npt.NDArray[np.float64]
_HIDDEN_PENALTY = 12.0
_OTHER_COLOUR = 38.0
"""CIELAB distance beyond which a ball in another light is no explanation."""
_PARTLY_HIDDEN = 0.08
"""Where more than this about a ball is covered (a cue alone covers less) it may be seen in part only, and its centre
is drawn to that part."""
_SOMETHING_THERE = 0.2
_LEAST_ERROR_PX = 0.2
_SURELY_A_BALL = 0.38


@dataclass(slots=True)
class Track:
    """A tracklet that may still grow, with its filter."""

    tracklet: Tracklet
    filter: BallFilter
    seen_s: float
    astray: int = 0
    """Sightings in a row away from the resting place."""
    missed: int = 0
    bare_s: float = 0.0
    """Unseen while its place is plain cloth, for so long by now."""
    covered_s: float | None = None
    """When something was last seen over or beside it."""

    @property
    def mode(self) -> Mode:
        return self.filter.mode


@dataclass(slots=True)
class WindowFrame:
    """A frame of the window: ``looked`` is False where it only repeats the one before."""

    t_s: float
    frame: int
    looked: bool
    occluder: F64 | None = None


@dataclass(slots=True)
class Pooled:
    """A detection that no track took, kept a few frames as a seed of new tracklets and to fill gaps."""

    leftover: Leftover
    frame: int
    confidence: float
    number_p: F64
    colour: F64


@dataclass(slots=True)
class Tracker:
    """``push`` each frame's detections; read ``tracks`` and ``ended``; ``begin_window`` after they were solved."""

    table: TableSpec
    settings: TrackingSettings = field(default_factory=TrackingSettings)
    tracks: list[Track] = field(default_factory=list)
    ended: list[Tracklet] = field(default_factory=list)
    """Tracklets that ended within the window."""
    frames: list[WindowFrame] = field(default_factory=list)
    stray: list[Pooled] = field(default_factory=list)
    """Detections of the window that belong to no tracklet."""
    last_motion_s: float = -1e9
    cloth: ClothSeen = field(init=False)
    _pool: list[Pooled] = field(default_factory=list)
    _slot: int = 0
    _next_key: int = 0
    _previous_mm: F64 = field(default_factory=lambda: np.zeros((0, 2)))
    _repeats: int = 0
    _last: Detections | None = None

    def __post_init__(self) -> None:
        self.cloth = ClothSeen(self.table)

    def push(self, detections: Detections, *, repeated: bool = False) -> None:
        """One frame on. A frame that is ``repeated`` need not be detected: its picture is the last one's."""
        last = self._last
        # The very same numbers, while a ball rolls, are of the same picture; at rest they tell of nothing that changed.
        rolling = any(t.mode is Mode.ROLLING and t.missed == 0 for t in self.tracks)
        if last is not None and rolling and not repeated:
            repeated = len(detections) > 0 and np.array_equal(detections.xy_px, last.xy_px)
        if repeated and last is not None and not len(detections):
            detections = replace(last, frame=detections.frame, t_s=detections.t_s)
        self._last = detections
        kept = self._usable(detections)
        xy = detections.xy_mm[kept][detections.confidence[kept] > _SURELY_A_BALL]
        if self._tells_nothing(detections.t_s, xy, repeated):
            self._repeats += 1
            self.frames.append(WindowFrame(detections.t_s, detections.frame, False, detections.occluder))
            return
        if not repeated:
            # A picture that stays the same for longer is stillness, not a camera's doubling: from then on every frame
            # counts, or a ball that has stopped would not be called still.
            self._repeats = 0
        last_s = next((f.t_s for f in reversed(self.frames) if f.looked), None)
        self.frames.append(WindowFrame(detections.t_s, detections.frame, True, detections.occluder))
        self._slot += 1
        dt = detections.t_s - last_s if last_s is not None else 1 / 30
        for track in self.tracks:
            track.filter.predict(max(dt, 1e-3), self.settings.acceleration_mm_s2)
        detections = self._unsure_where_covered(detections)
        self.cloth.note(detections.t_s, detections.occluder, detections.xy_mm)
        taken = self._associate(detections, kept)
        self._end_unseen(detections.t_s)
        self._start(detections, [int(k) for k in kept if int(k) not in taken])
        self._note_cover(detections, dt)
        self._note_motion(detections.t_s)
        self._previous_mm = xy

    def quiet_for_s(self) -> float:
        """Seconds since anything on the table moved."""
        return self.frames[-1].t_s - self.last_motion_s if self.frames else 0.0

    def begin_window(self, still_since_s: dict[int, float] | None = None) -> None:
        """The window was solved: what is past is forgotten, but for the sightings of what still lies where it came to
        rest. ``still_since_s`` says since when, by tracklet key."""
        if not self.frames:
            return
        edge = self.frames[-1].t_s
        for track in self.tracks:
            since = (still_since_s or {}).get(track.tracklet.key, edge)
            track.tracklet.forget_before(min(since, edge), 4)
            if len(track.tracklet) > self.settings.rest_memory:
                track.tracklet.forget_before(edge, self.settings.rest_memory)
        self.ended = []
        self.stray = []
        self.frames = self.frames[-1:]

    def drop(self, keys: set[int]) -> None:
        """Ends tracks whose tracklets turned out to be no balls, or another track's past."""
        self.tracks = [t for t in self.tracks if t.tracklet.key not in keys]

    def reset(self) -> None:
        """A cut: nothing that was seen says where anything is now."""
        self.tracks, self.ended, self.stray, self._pool = [], [], [], []
        self._previous_mm = np.zeros((0, 2))
        self._last = None
        self.frames = []

    # --- steps of one frame ---

    def _usable(self, d: Detections) -> npt.NDArray[np.int64]:
        margin = self.settings.outside_diameters * self.table.ball_diameter_mm
        x, y = d.xy_mm[:, 0], d.xy_mm[:, 1]
        inside = (
            (x > -margin) & (x < self.table.length_mm + margin) & (y > -margin) & (y < self.table.width_mm + margin)
        )
        good = np.flatnonzero(inside & (d.confidence >= self.settings.min_confidence) & np.isfinite(x) & np.isfinite(y))
        nearest = self.settings.duplicate_diameters * self.table.ball_diameter_mm
        return np.asarray(good[without_duplicates(d.xy_mm[good], d.confidence[good], nearest)], np.int64)

    def _unsure_where_covered(self, d: Detections) -> Detections:
        """The detections with larger errors where something may hide a part of the ball, and none better than a picture
        of so few pixels can be."""
        if not len(d):
            return d
        pixel_mm = self.table.ball_radius_mm / np.maximum(d.r_px, 1.0)
        d = replace(d, sigma_mm=np.maximum(d.sigma_mm, _LEAST_ERROR_PX * pixel_mm))
        if d.occluder is None:
            return d
        share, _ = ring_cover(d.occluder, self.table, d.xy_mm)
        drawn = self.table.ball_diameter_mm * np.clip(share - _PARTLY_HIDDEN, 0.0, 0.5)
        return replace(d, sigma_mm=np.hypot(d.sigma_mm, drawn))

    def _note_cover(self, d: Detections, dt_s: float) -> None:
        """What is over or beside the resting balls, and whether one that is not seen has left bare cloth behind."""
        resting = [t for t in self.tracks if t.mode is Mode.REST]
        if d.occluder is None or not resting:
            return
        _, most = ring_cover(d.occluder, self.table, np.array([t.filter.xy_mm for t in resting]))
        shape = (d.occluder.shape[0], d.occluder.shape[1])
        for track, cover in zip(resting, most.tolist(), strict=True):
            if cover > _SOMETHING_THERE:
                track.covered_s = d.t_s
            bare = track.missed > 0 and d.occluder[cell_of(shape, self.table, track.filter.xy_mm)] < BARE
            track.bare_s = track.bare_s + dt_s if bare else 0.0

    def _tells_nothing(self, t_s: float, xy_mm: F64, repeated: bool) -> bool:
        """Whether a frame only repeats the one before. A scene that stays the same is looked at now and then all the
        same: it says that everything is still there."""
        if any(t.mode is Mode.ROLLING for t in self.tracks) or self._pool:
            return self._repeats < 4 and (repeated or self._repeated(t_s, xy_mm))
        looked_s = next((f.t_s for f in reversed(self.frames) if f.looked), -1e9)
        return repeated and t_s - looked_s < 0.2

    def _repeated(self, t_s: float, xy_mm: F64) -> bool:
        rolling = [t for t in self.tracks if t.mode is Mode.ROLLING and t.missed == 0 and len(t.tracklet) >= 3]
        if not rolling or not self.frames:
            return False
        last_s = next((f.t_s for f in reversed(self.frames) if f.looked), t_s)
        last = np.array([[t.tracklet.x_mm[-1], t.tracklet.y_mm[-1]] for t in rolling])
        # Since the frames in between only repeat, the speed over the span since the last look is what counts.
        step = np.array([float(np.hypot(*t.filter.velocity_mm_s)) for t in rolling]) * (t_s - last_s)
        noise = float(np.median([t.tracklet.sigma_mm[-1] for t in rolling]))
        return is_repeat(self._previous_mm, xy_mm, last, step, least_step_mm=max(noise, 3.0))

    def _associate(self, d: Detections, kept: npt.NDArray[np.int64]) -> set[int]:
        tracks, cfg, diameter = self.tracks, self.settings, self.table.ball_diameter_mm
        if not tracks or not len(kept):
            for track in tracks:
                track.missed += 1
            return set()
        predicted = np.array([t.filter.xy_mm for t in tracks])
        spread = np.array([t.filter.position_sigma_mm for t in tracks])
        noise = float(np.median(d.sigma_mm[kept]))
        resting = np.array([t.mode is Mode.REST for t in tracks])
        free = np.minimum(cfg.gate_sigmas * np.hypot(spread, noise) + 0.08 * diameter, cfg.gate_diameters * diameter)
        gate = np.where(resting, max(cfg.rest_gate_diameters * diameter, min(4 * noise, 0.45 * diameter)), free)
        cost = gated_cost(predicted, np.maximum(spread, 0.5), gate, d.xy_mm[kept], np.maximum(d.sigma_mm[kept], 0.5))
        hidden = np.array([t.missed >= 3 for t in tracks])
        cost = cost + np.where(hidden & resting, _HIDDEN_PENALTY, 0.0)[:, None]
        # A ball of another colour is a worse explanation, and none where the ball is missing from its place.
        known = np.array([t.tracklet.colour_n >= 3 for t in tracks])
        colours = np.array([t.tracklet.colour for t in tracks])
        away = np.linalg.norm(colours[:, None] - d.colour[kept][None], axis=2)
        cost = cost + np.where(known[:, None], np.minimum((away / 18.0) ** 2, 9.0), 0.0)
        missing = known & resting & np.array([t.missed >= 1 for t in tracks])
        cost = np.where(missing[:, None] & (away > _OTHER_COLOUR), np.inf, cost)
        taken: set[int] = set()
        seen: set[int] = set()
        for row, column in assign(cost):
            index = int(kept[column])
            taken.add(index)
            seen.add(row)
            self._extend(tracks[row], d, index)
        for row, track in enumerate(tracks):
            if row not in seen:
                track.missed += 1
        return taken

    def _extend(self, track: Track, d: Detections, i: int) -> None:
        xy, sigma = d.xy_mm[i], float(max(d.sigma_mm[i], 0.2))
        tracklet, filter_ = track.tracklet, track.filter
        dt = d.t_s - track.seen_s
        if track.mode is Mode.REST:
            offset = xy - filter_.xy_mm
            away = float(np.hypot(*offset))
            jitter = self._jitter(tracklet, sigma)
            far = away > max(5 * jitter, 0.12 * self.table.ball_diameter_mm, 2.5 * sigma)
            track.astray = track.astray + 1 if away > max(3.5 * jitter, 1.0, 1.5 * sigma) else 0
            if far or track.astray >= 3:
                speed = away / max(dt, 1e-3)
                filter_.set_rolling(xy, offset / max(dt, 1e-3) * 0.7, sigma, 0.6 * speed + 50.0)
                track.astray = 0
            elif track.astray == 0:
                filter_.update(xy, sigma)
        else:
            filter_.update(xy, sigma)
        track.seen_s, track.missed = d.t_s, 0
        self._add(tracklet, d, i)
        if track.mode is Mode.ROLLING:
            n = min(len(tracklet), 70)
            t_s = np.array(tracklet.t_s[-n:])
            xy_n = np.column_stack([tracklet.x_mm[-n:], tracklet.y_mm[-n:]])
            if is_still(t_s, xy_n, self.settings):
                recent = t_s >= t_s[-1] - 0.25
                filter_.set_rest(xy_n[recent].mean(axis=0), sigma / float(np.sqrt(recent.sum())))

    @staticmethod
    def _jitter(tracklet: Tracklet, sigma: float) -> float:
        """Noise of the sightings from frame to frame (mm): second differences, blind to place and speed."""
        n = min(len(tracklet), 25)
        if n < 6:
            return sigma
        xy = np.column_stack([tracklet.x_mm[-n:], tracklet.y_mm[-n:]])
        second = np.abs(np.diff(xy, 2, axis=0))
        return float(np.clip(np.median(second) / 0.6745 / np.sqrt(6), 0.15, 1.5 * sigma + 0.15))

    @staticmethod
    def _add(tracklet: Tracklet, d: Detections, i: int) -> None:
        tracklet.add(
            t_s=d.t_s,
            frame=d.frame,
            xy_mm=d.xy_mm[i],
            sigma_mm=float(max(d.sigma_mm[i], 0.2)),
            confidence=float(d.confidence[i]),
            number_p=d.number_p[i],
            colour=d.colour[i],
        )

    def _end_unseen(self, t_s: float) -> None:
        alive: list[Track] = []
        for track in self.tracks:
            if track.mode is Mode.ROLLING and t_s - track.seen_s > self.settings.coast_s and track.missed >= 4:
                self.ended.append(track.tracklet)
            else:
                alive.append(track)
        self.tracks = alive

    def _start(self, d: Detections, leftover: list[int]) -> None:
        for i in leftover:
            seed = Leftover(
                slot=self._slot,
                index=i,
                t_s=d.t_s,
                xy_mm=(float(d.xy_mm[i, 0]), float(d.xy_mm[i, 1])),
                sigma_mm=float(max(d.sigma_mm[i], 0.5)),
                colour=(float(d.colour[i, 0]), float(d.colour[i, 1]), float(d.colour[i, 2])),
            )
            self._pool.append(Pooled(seed, d.frame, float(d.confidence[i]), d.number_p[i], d.colour[i]))
        old = [p for p in self._pool if p.leftover.slot <= self._slot - self.settings.start_span_frames]
        self.stray.extend(old)
        self._pool = [p for p in self._pool if p.leftover.slot > self._slot - self.settings.start_span_frames]
        if not leftover:
            return
        chosen = triples(
            [p.leftover for p in self._pool],
            newest_slot=self._slot,
            top_speed_mm_s=self.settings.top_speed_mm_s,
            slack_mm=0.06 * self.table.ball_diameter_mm,
        )
        used: set[int] = set()
        for triple in chosen:
            used |= set(triple)
            self._begin_track([self._pool[i] for i in triple])
        self._pool = [p for n, p in enumerate(self._pool) if n not in used]

    def _begin_track(self, seeds: list[Pooled]) -> None:
        tracklet = Tracklet(key=self._next_key)
        self._next_key += 1
        for p in seeds:
            s = p.leftover
            tracklet.add(
                t_s=s.t_s,
                frame=p.frame,
                xy_mm=np.array(s.xy_mm),
                sigma_mm=s.sigma_mm,
                confidence=p.confidence,
                number_p=p.number_p,
                colour=p.colour,
            )
        first, last = seeds[0].leftover, seeds[-1].leftover
        span = last.t_s - first.t_s
        velocity = (np.array(last.xy_mm) - np.array(first.xy_mm)) / span
        sigma = last.sigma_mm
        error = 1.5 * sigma / span
        speed = float(np.hypot(*velocity))
        still = speed < max(2.5 * error, 15.0) and span > 0.02
        filter_ = BallFilter(np.array(last.xy_mm), velocity, sigma, error + 0.03 * speed, Mode.ROLLING)
        if still:
            filter_.set_rest(np.mean([s.leftover.xy_mm for s in seeds], axis=0), sigma / 1.7)
        self.tracks.append(Track(tracklet, filter_, last.t_s))

    def _note_motion(self, t_s: float) -> None:
        margin = 0.6 * self.table.ball_diameter_mm
        for track in self.tracks:
            if track.mode is Mode.ROLLING:
                x, y = track.filter.xy_mm
                if -margin < x < self.table.length_mm + margin and -margin < y < self.table.width_mm + margin:
                    self.last_motion_s = t_s
                    return
