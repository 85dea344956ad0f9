"""Detections in, track rows and events out: the line from sightings to facts, the same for recorded and live work.

A window runs from one stillness to the next. When every ball has been still for ``TrackingSettings.still_min_s`` or
so the
window is solved as a whole (see ``tracking.window``) and its events are told in time order. While nothing moves,
rows are handed on every second.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from vision_referee.detection.detections import Detections
from vision_referee.domain.balls import CUE
from vision_referee.domain.events import BallAt, Contact, Identified, Placed, Racked, Stopped, Strike, VisionEvent
from vision_referee.domain.table import TableSpec
from vision_referee.events.close_meetings import find_close_meetings
from vision_referee.events.contacts import find_touchings
from vision_referee.events.cushions import find_cushions, find_grazes, find_hidden_bounces
from vision_referee.events.handling import find_handling, find_unseen_strikes
from vision_referee.events.jolts import find_shakes
from vision_referee.events.lines import find_crossings
from vision_referee.events.naming import is_unknown, renamed_event, renamed_row
from vision_referee.events.pockets import find_departures
from vision_referee.events.pockets_cut import depth_and_side, may_fall_depth_mm
from vision_referee.events.racks import find_rack, order_ok
from vision_referee.events.reliability import as_often_as_said
from vision_referee.events.rests import find_stops, hanging_events, motion_ends, rest_events
from vision_referee.events.rows import window_rows
from vision_referee.events.scene import Scene
from vision_referee.events.settings import EventSettings
from vision_referee.events.starts import explain_starts
from vision_referee.events.tips import find_tips
from vision_referee.events.touches import find_deflections, find_displacements
from vision_referee.tracking.cover import CoverLog
from vision_referee.tracking.identity import BallBook
from vision_referee.tracking.paths import BallPath
from vision_referee.tracking.settings import TrackingSettings
from vision_referee.tracking.tracker import Tracker, WindowFrame
from vision_referee.tracking.tracklets import Mode
from vision_referee.tracking.tracks import TrackRow
from vision_referee.tracking.window import NOT_IN_PLAY, SolvedWindow, solve_window, still_since

F64 = npt.NDArray[np.float64]
_FIRST_LOOK_S = 3.0
_HOLD_S = 30.0
"""How long the first seconds are held back where only the first strike can tell the cue ball."""
_WHICH_CUE_BALL = 0.6
"""Confidence of a first stroke that is played with another ball than the one whose looks say cue ball."""
_RACKING_S = 15.0
"""How long the setting of a rack may take after the first balls lie."""
_HANGS_S = 0.5
_AT_FIRST_S = 0.4
_SLID_IN_S = 1.5
_ORDER = {"racked": 0, "strike": 1, "stopped": 8, "rest": 9, "hanging": 10}


@dataclass(slots=True)
class MotionOutput:
    """``rows`` in frame order, ``events`` in time order; both continue what was told before."""

    rows: list[TrackRow] = field(default_factory=list)
    events: list[VisionEvent] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class BallNow:
    """A ball at this moment. ``key`` is the tracklet's; ``label`` is None until the stroke is solved."""

    key: int
    label: str | None
    x_mm: float
    y_mm: float
    moving: bool
    seen: bool


class MotionStage:
    """``push`` every frame's detections, ``flush`` at the end. Memory stays flat; a stroke is told at its end.

    ``latency_s``: from the last ball's stop to the stroke's events.
    """

    latency_s = 0.6

    def __init__(
        self,
        table: TableSpec,
        *,
        tracking: TrackingSettings | None = None,
        events: EventSettings | None = None,
        initial_rest: bool = True,
    ) -> None:
        self._table = table
        self._tracking = tracking or TrackingSettings()
        self._settings = events or EventSettings()
        self._tracker = Tracker(table, self._tracking)
        self._book = BallBook()
        self._initial_rest = initial_rest
        self._fresh = True
        """Nothing has been solved since the beginning, or since a cut."""
        self._start_s: float | None = None
        self._told_s = 0.0
        """Nothing may be told that is earlier."""
        self._rows_until_s = -1.0
        self._stroke_open = False
        self._braking = [100.0]
        self._racked = False
        self._racking: list[VisionEvent] = []
        self._held = MotionOutput()
        self._cue_settled = False
        self._struck = False
        self._first_s: float | None = None
        self._before_cut: dict[int, F64] = {}
        """Where the balls were when the recording was cut."""

    def push(self, detections: Detections, *, repeated: bool = False, cut: bool = False) -> MotionOutput:
        """One frame on. ``repeated``: the picture is the one before again; ``cut``: time was cut out before it."""
        out = MotionOutput()
        if cut:
            out = self._close(cut=True)
            self._tracker.reset()
            self._book.lose_sight(detections.t_s)
            self._fresh, self._start_s, self._stroke_open = True, None, False
        if self._start_s is None:
            self._start_s = detections.t_s
        self._tracker.push(detections, repeated=repeated)
        if self._ready(detections.t_s):
            more = self._close(cut=False)
            out = MotionOutput(out.rows + more.rows, out.events + more.events)
        return self._doubted(self._named(out, detections.t_s))

    def flush(self) -> MotionOutput:
        """The video has ended: what is known is told."""
        return self._doubted(self._named(self._close(cut=True), float("inf")))

    def _doubted(self, out: MotionOutput) -> MotionOutput:
        """Looks named one ball the cue ball, and the first stroke was played with another: either may be wrong.

        Two balls struck together are a lag, which needs no cue ball.
        """
        strikes = [e for e in out.events if isinstance(e, Strike)]
        if self._struck or len(strikes) != 1:
            return out
        self._struck = True
        strike = strikes[0]
        if strike.ball == CUE:
            return out
        doubted = replace(strike, confidence=min(strike.confidence, _WHICH_CUE_BALL))
        return MotionOutput(out.rows, [doubted if e is strike else e for e in out.events])

    def _named(self, out: MotionOutput, now_s: float) -> MotionOutput:
        """Holds back what is told until the cue ball is known: at the first strike, or after a while."""
        if self._cue_settled:
            return out
        held = self._held
        held.rows += out.rows
        held.events += out.events
        if self._first_s is None:
            self._first_s = now_s
        self._cue_settled = not self._book.cue_guessed and any(b.label == CUE for b in self._book.balls.values())
        strikes = [e for e in out.events if isinstance(e, Strike)]
        strike = strikes[0] if strikes else None
        if not self._cue_settled and strike is not None and is_unknown(strike.ball):
            # Two balls struck together are a lag, which says nothing against a guess.
            if len(strikes) == 1 or not self._book.cue_guessed:
                self._crown(strike.ball)
            self._cue_settled = True
        if not self._cue_settled and strike is None and now_s - self._first_s < _HOLD_S:
            return MotionOutput()
        self._cue_settled, self._held = True, MotionOutput()
        return held

    def _crown(self, label: str) -> None:
        """The ball that was struck first is the cue ball: so it is called in all that is held back."""
        held = self._held
        instead, before = self._book.crown(next(b for b in self._book.balls.values() if b.label == label))
        for old, new in ((CUE, instead), (before, CUE)):
            if new:
                held.rows = [renamed_row(r, old, new) for r in held.rows]
                held.events = [renamed_event(e, old, new) for e in held.events]

    def balls_now(self) -> list[BallNow]:
        """Where the balls are at this moment, as the filters follow them, before the stroke is solved: for the eye."""
        found: list[BallNow] = []
        for track in self._tracker.tracks:
            tracklet = track.tracklet
            if tracklet.ball == NOT_IN_PLAY or (tracklet.ball is None and len(tracklet) < 4):
                continue
            ball = self._book.balls.get(tracklet.ball) if tracklet.ball is not None else None
            if ball is not None and not ball.on_table:
                continue
            x, y = track.filter.xy_mm
            found.append(
                BallNow(
                    key=tracklet.key, label=ball.label or None if ball is not None else None, x_mm=float(x),
                    y_mm=float(y), moving=track.mode is Mode.ROLLING, seen=track.missed == 0,
                )
            )  # fmt: skip
        return found

    # --- when ---

    def _ready(self, now_s: float) -> bool:
        assert self._start_s is not None
        tracker, cfg = self._tracker, self._tracking
        held = now_s - self._start_s
        if held > cfg.window_max_s:
            return True
        if len(tracker.frames) < 8 or held < 0.5:
            return False
        if self._fresh and held < _FIRST_LOOK_S and not any(len(t.tracklet) >= 8 for t in tracker.tracks):
            # A picture that does not change tells slowly: the first position is not to be missed.
            return False
        if tracker.quiet_for_s() < 0.2 or any(
            t.mode is Mode.ROLLING and t.missed and t.tracklet.ball is not None for t in tracker.tracks
        ):
            return False
        happened = self._fresh or tracker.last_motion_s > self._start_s or bool(tracker.ended)
        return (happened or held >= cfg.quiet_chunk_s) and not self._pending_fall(now_s)

    def _pending_fall(self, now_s: float) -> bool:
        """A ball at a lip that is not seen at the moment: a second decides whether it fell."""
        for track in self._tracker.tracks:
            if track.mode is Mode.REST and track.tracklet.ball not in (None, NOT_IN_PLAY) and track.missed:
                unseen = now_s - track.seen_s
                if not 0.0 < unseen < 1.1:
                    continue
                for pocket in self._table.pockets():
                    depth, side = depth_and_side(pocket, track.filter.xy_mm)
                    if float(depth) > may_fall_depth_mm(self._table) - 15.0 and float(side) < pocket.width_mm:
                        return True
        return False

    # --- what ---

    def _close(self, *, cut: bool) -> MotionOutput:
        tracker = self._tracker
        if not tracker.frames or self._start_s is None:
            return MotionOutput()
        solved = solve_window(
            tracker,
            self._book,
            self._table,
            start_s=self._start_s,
            braking_mm_s2=float(np.median(self._braking)),
            after_cut=bool(self._before_cut),
        )
        self._book.name(self._book.cue(self._table))
        for path in solved.paths.values():
            path.label = self._book.balls[path.ball].label
        scene = Scene(
            table=self._table,
            settings=self._settings,
            start_s=self._start_s,
            end_s=solved.end_s,
            paths=solved.paths,
            cover=self._cover(),
            first=self._fresh,
        )
        began_still = self._fresh and self._lay_still(solved)
        find_departures(scene)
        find_touchings(scene)
        find_cushions(scene)
        find_grazes(scene)
        find_close_meetings(scene)
        find_unseen_strikes(scene, tracker)
        explain_starts(scene)
        find_hidden_bounces(scene)
        find_tips(scene)
        find_displacements(scene)
        find_deflections(scene)
        find_shakes(scene)
        find_crossings(scene)
        find_stops(scene)
        events = list(scene.events)
        handled = find_handling(scene, self._book, solved, self._tracker, first=self._fresh)
        events += handled
        if not began_still:
            events = self._with_rack(scene, events)
        if cut:
            events, self._racking = [*self._racking, *events], []
        if self._fresh:
            events += self._first_position(scene, began_still)
        events += self._rests(scene, events, cut=cut)
        events += self._identified(solved.end_s)
        self._settle(scene, solved)
        frames = list(tracker.frames)
        rows = window_rows(scene, [f for f in tracker.frames if f.t_s > self._rows_until_s])
        self._rows_until_s = tracker.frames[-1].t_s
        self._start_s = tracker.frames[-1].t_s
        self._fresh, self._before_cut = False, {}
        tracker.begin_window(still_since(solved, [t.tracklet for t in tracker.tracks]))
        return MotionOutput(rows, self._in_order(events, frames))

    def _cover(self) -> CoverLog:
        seen = [f for f in self._tracker.frames if f.occluder is not None]
        return CoverLog(self._table, [f.t_s for f in seen], [f.occluder for f in seen if f.occluder is not None])

    def _lay_still(self, solved: SolvedWindow) -> bool:
        """Whether the recording begins with a position: no ball that is there at first gets anywhere at once."""
        first = [p for p in solved.paths.values() if p.start_s < solved.start_s + 0.3]
        soon = solved.start_s + _AT_FIRST_S
        gone = [float(np.hypot(*(p.at(min(soon, p.end_s)) - p.at(p.start_s)))) for p in first if not p.legs[0].resting]
        return (
            bool(first) and 2 * len(gone) < len(first) and max(gone, default=0.0) < 0.5 * self._table.ball_diameter_mm
        )

    def _balls_at(self, scene: Scene, t_s: float) -> list[BallAt]:
        """The balls on the bed at a time, each where it lies."""
        found: list[BallAt] = []
        for ball, path in scene.paths.items():
            if scene.gone_s(ball) <= t_s or path.start_s > t_s + 0.3 or not self._book.balls[ball].on_table:
                continue
            x, y = self._place(path, t_s)
            found.append(BallAt(ball=path.label, x=round(float(x), 1), y=round(float(y), 1)))
        return found

    @staticmethod
    def _place(path: BallPath, t_s: float) -> F64:
        """Where a ball lies at ``t_s``: the resting leg around it, else the path."""
        for leg in path.legs:
            if leg.resting and leg.t0_s - 0.3 <= t_s <= leg.t1_s + 0.1:
                return np.asarray(leg.coef[0], np.float64)
        return path.at(t_s)

    def _first_position(self, scene: Scene, began_still: bool) -> list[VisionEvent]:
        assert self._start_s is not None
        if not began_still:
            self._stroke_open = any(p.moved and p.start_s < scene.start_s + 0.3 for p in scene.paths.values())
            return []
        balls = self._balls_at(scene, self._start_s)
        events: list[VisionEvent] = []
        rack = find_rack(self._table, balls)
        if rack is not None:
            self._racked = True
            events.append(Racked(t=self._start_s, balls=rack, order_ok=order_ok(rack), confidence=0.95))
        if self._initial_rest and balls and self._is_news(scene, balls):
            events += rest_events(self._table, self._start_s, balls, 0.9)
        return events

    def _with_rack(self, scene: Scene, events: list[VisionEvent]) -> list[VisionEvent]:
        """Fifteen balls set in a triangle by hand were racked, not placed, rolled and stopped one by one.

        What is told of balls that are being racked waits until the triangle stands (or does not).
        """
        if any(isinstance(e, Strike) for e in events):
            self._racked, waiting, self._racking = False, self._racking, []
            return [*waiting, *events]
        balls = self._balls_at(scene, scene.end_s)
        rack = None if self._racked else find_rack(self._table, balls)
        if rack is not None:
            self._racked = True
            labels = {b.ball for b in rack}
            told = [*self._racking, *events]
            t_s = self._rack_stands_s(told, labels, scene.end_s)
            self._racking = []
            others = [e for e in told if getattr(e, "ball", None) not in labels and not isinstance(e, Contact)]
            return [*others, Racked(t=t_s, balls=rack, order_ok=order_ok(rack), confidence=0.9)]
        placed = [e for e in events if isinstance(e, Placed)]
        if self._crowded(placed) or (self._racking and scene.end_s - self._racking[0].t < _RACKING_S):
            self._racking += events
            return []
        waiting, self._racking = self._racking, []
        return [*waiting, *events]

    @staticmethod
    def _rack_stands_s(told: list[VisionEvent], labels: set[str], end_s: float) -> float:
        """When the triangle stood: with the last ball that was set, or, where all were slid in at once, when they lay.

        The frame of wood that slid them hides some for a while longer.
        """
        lay = {e.ball: e.t for e in told if isinstance(e, Placed | Stopped) and e.ball in labels}
        if not lay:
            return end_s
        times = np.array(list(lay.values()))
        early, late = np.quantile(times, [0.1, 0.9])
        return float(np.quantile(times, 0.3)) if late - early < _SLID_IN_S else float(times.max())

    def _crowded(self, placed: list[Placed]) -> bool:
        """Whether several balls were put down side by side: a rack begins."""
        near = 1.3 * self._table.ball_diameter_mm
        return sum(any(a is not b and np.hypot(a.x - b.x, a.y - b.y) < near for b in placed) for a in placed) >= 4

    def _is_news(self, scene: Scene, balls: list[BallAt]) -> bool:
        """Whether the first position differs from the one before a cut (always true at the beginning)."""
        if not self._before_cut:
            return True
        here = scene.paths
        if set(here) != set(self._before_cut):
            return True
        near = 0.5 * self._table.ball_diameter_mm
        return any(float(np.hypot(*(here[b].at(scene.start_s) - xy))) > near for b, xy in self._before_cut.items())

    def _rests(self, scene: Scene, events: list[VisionEvent], *, cut: bool) -> list[VisionEvent]:
        """A ``rest`` at the end of each stroke within the window."""
        found: list[VisionEvent] = []
        strikes = [e.t for e in events if isinstance(e, Strike)]
        for begin, end in motion_ends(scene):
            still_moving = end > scene.end_s - 0.06
            struck = any(begin - 0.1 <= t <= end for t in strikes)
            if struck:
                self._stroke_open = True
            creeping = cut and still_moving and self._creeps(scene)
            if cut and still_moving and not creeping:
                # The recording ends before the stroke does: what has come to rest in a mouth hangs by now.
                lying = [b for b in self._balls_at(scene, scene.end_s) if self._rests_since(scene, b.ball) > _HANGS_S]
                found += [replace(e, confidence=0.6) for e in hanging_events(self._table, scene.end_s, lying)]
            if not self._stroke_open or (still_moving and not creeping):
                continue
            stops = [e.t for e in events if isinstance(e, Stopped) and begin - 0.1 <= e.t <= end + 0.1]
            falls = [d.t_s for d in scene.departures.values() if begin - 0.1 <= d.t_s <= end + 0.3]
            t_s = max(stops + falls, default=end)
            if creeping:
                t_s = scene.end_s
            found += rest_events(self._table, t_s, self._balls_at(scene, t_s + 0.05), 0.5 if creeping else 0.95)
            self._stroke_open = False
        return found

    @staticmethod
    def _rests_since(scene: Scene, label: str) -> float:
        """For how long (s) a ball has been still by the window's end."""
        path = next(p for p in scene.paths.values() if p.label == label)
        return scene.end_s - path.legs[-1].t0_s if path.legs[-1].resting else 0.0

    def _creeps(self, scene: Scene) -> bool:
        """Whether all that still moves at the end of the recording is in its last centimetres."""
        speeds = [
            float(np.hypot(*path.velocity(scene.end_s)))
            for ball, path in scene.paths.items()
            if ball not in scene.departures and path.moving_at(scene.end_s)
        ]
        return all(speed < self._settings.creep_mm_s for speed in speeds)

    def _identified(self, t_s: float) -> list[VisionEvent]:
        return [
            Identified(t=t_s, ball=label, number=number, confidence=0.95)
            for label, number in self._book.newly_identified()
        ]

    def _settle(self, scene: Scene, solved: SolvedWindow) -> None:
        """What the window taught: who is off the table, how the cloth brakes."""
        for ball, departure in scene.departures.items():
            entry = self._book.balls[ball]
            entry.on_table, entry.away_since_s = False, departure.t_s
            for track in self._tracker.tracks:
                if track.tracklet.ball == ball:
                    track.tracklet.ball = NOT_IN_PLAY
        taken = {e.id for e in self._book.balls.values() if not e.on_table and e.id not in scene.departures}
        self._tracker.drop({t.tracklet.key for t in self._tracker.tracks if t.tracklet.ball in taken})
        for path in solved.paths.values():
            for stop in path.stops.values():
                if stop.braking_mm_s2 > 0 and stop.t_sigma_s < 0.08:
                    self._braking = [*self._braking, stop.braking_mm_s2][-41:]
        live = {t.tracklet.key for t in self._tracker.tracks}
        for entry in self._book.balls.values():
            entry.settle(live)
            if self._before_cut and entry.on_table and entry.id not in scene.paths:
                # It was there before the cut and is not after: what became of it was not recorded.
                entry.on_table, entry.away_since_s = False, scene.start_s

    def _in_order(self, events: list[VisionEvent], frames: list[WindowFrame]) -> list[VisionEvent]:
        times = np.array([f.t_s for f in frames])
        ordered: list[VisionEvent] = []
        for event in sorted(events, key=lambda e: (round(e.t, 6), _ORDER.get(e.type, 5))):
            t_s = max(event.t, self._told_s, 0.0)
            self._told_s = t_s
            stamped = replace(event, t=round(t_s, 4), frame=frames[int(np.abs(times - t_s).argmin())].frame)
            ordered.append(as_often_as_said(stamped))
        return ordered
