"""From what physics computed to the contract's events: what a perfect witness would have noted.

Physics knows more than anyone could see: a thousand micro-impacts in a rack, shivers of a micrometre. What counts:

- `contact`: two balls that were apart touch, and one changes its speed by 5 mm/s or more. Balls that were frozen
  together when the stroke began do not touch anew, except the struck ball's neighbours.
- `cushion`: a nose, or a jaw's tip met by a ball whose centre is still in front of the pocket's mouth; of a rattle
  only the first, and none where the ball falls within 0.6 s (then it met the pocket, not a cushion).
- `pocketed`: the centre passes the lip, where its support ends (24 mm behind the mouth's line on a pyramid table).
- `pocket_rebound`: the centre passed the mouth's line and came out again; at its deepest.
- `stopped`: the ball is still, spin included, for 50 ms or more, having moved 1 mm or more.
- `hanging`: at rest with its centre less than a radius from the lip, or past the mouth.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import (
    BallAt,
    Contact,
    Crossed,
    CushionHit,
    Event,
    Hanging,
    Pocketed,
    PocketRebound,
    Rest,
    Stopped,
    Strike,
)
from vision_referee.domain.table import Cushion, Line, PocketName, TableSpec
from vision_referee.simulation.physics import STATIONARY, Impact
from vision_referee.simulation.pocket_shape import depth_and_side_mm, jaw_cushions, nearest_pocket, pocket_cut
from vision_referee.simulation.trajectory import BallPath, Carried, OnBed, Piece, Place
from vision_referee.simulation.world import World

F64 = npt.NDArray[np.float64]

LEAST_CHANGE_MM_S = 5.0
SAME_CONTACT_S = 0.04
FROZEN_MM = 1.0
RATTLE_S = 0.6
LEAST_STOP_S = 0.05
LEAST_MOVE_MM = 1.0
_SAMPLE_S = 0.002


def true_events(world: World) -> list[Event]:
    """All vision events of a world's record, in time order; ``world`` has been run to its end."""
    events: list[Event] = list(world.facts)
    events += _contacts(world)
    events += _cushions(world)
    for path in world.paths.values():
        sampled = _Sampled(path, world.t_s)
        events += sampled.crossings(world.table)
        events += sampled.rebounds(world.table)
        events += sampled.stops()
    for t in world.rest_times_s:
        events += rest_events(world, t)
    order = {"racked": 0, "strike": 1, "stopped": 8, "rest": 9, "hanging": 10}
    events.sort(key=lambda e: (round(e.t, 6), order.get(e.type, 5)))
    return events


def rest_events(world: World, t_s: float) -> list[Event]:
    """The position at a rest, and which balls hang."""
    lying = standing(world, t_s)
    events: list[Event] = [Rest(t=t_s, balls=lying)]
    for ball in lying:
        pocket = hanging_at(world.table, ball.x, ball.y)
        if pocket is not None:
            events.append(Hanging(t=t_s, ball=ball.ball, pocket=pocket, x=ball.x, y=ball.y))
    return events


def standing(world: World, t_s: float) -> tuple[BallAt, ...]:
    """The balls on the bed at a time."""
    found = []
    for label, path in world.paths.items():
        if path.starts_s[0] <= t_s and path.place_at(t_s) is Place.BED:
            x, y, _ = path.at(t_s).position_mm
            found.append(BallAt(ball=label, x=round(float(x), 2), y=round(float(y), 2)))
    return tuple(found)


def hanging_at(table: TableSpec, x_mm: float, y_mm: float) -> PocketName | None:
    """The pocket on whose lip a ball at rest there hangs, if any."""
    pocket = nearest_pocket(table, x_mm, y_mm)
    depth, side = depth_and_side_mm(pocket, x_mm, y_mm)
    edge = min(pocket_cut(table).lip_depth_mm - table.ball_radius_mm, 0.0)
    return pocket.name if depth > edge and side < pocket.width_mm / 2 else None


def _contacts(world: World) -> list[Event]:
    strikes = [f for f in world.facts if isinstance(f, Strike)]
    frozen: dict[int, set[frozenset[str]]] = {}
    last: dict[frozenset[str], float] = {}
    events: list[Event] = []
    diameter = world.table.ball_diameter_mm
    for impact in (i for i in world.impacts if i.kind == "ball"):
        pair = frozenset(impact.balls)
        stroke = max((n for n, s in enumerate(strikes) if s.t <= impact.t_s + 1e-9), default=None)
        if stroke is not None:
            if stroke not in frozen:
                frozen[stroke] = _frozen_pairs(standing(world, strikes[stroke].t), diameter)
            known = frozen[stroke]
            if pair in known and strikes[stroke].ball not in pair:
                apart = _were_apart(world, impact, strikes[stroke].t)
                if not apart:
                    continue
        if impact.t_s - last.get(pair, -math.inf) < SAME_CONTACT_S:
            last[pair] = impact.t_s
            continue
        if impact.change_mm_s.max() < LEAST_CHANGE_MM_S:
            continue
        last[pair] = impact.t_s
        middle = impact.xy_mm.mean(axis=0)
        first, second = impact.balls
        if stroke is not None and second == strikes[stroke].ball:
            first, second = second, first
        events.append(Contact(t=impact.t_s, balls=(first, second), x=_mm(middle[0]), y=_mm(middle[1])))
    return events


def _frozen_pairs(balls: tuple[BallAt, ...], diameter_mm: float) -> set[frozenset[str]]:
    return {
        frozenset((a.ball, b.ball))
        for n, a in enumerate(balls)
        for b in balls[n + 1 :]
        if math.hypot(a.x - b.x, a.y - b.y) < diameter_mm + FROZEN_MM
    }


def _were_apart(world: World, impact: Impact, since_s: float) -> bool:
    """Whether two balls parted by 2 mm or more between a stroke's start and their meeting."""
    a, b = (world.paths[label] for label in impact.balls)
    for t in np.arange(since_s, impact.t_s, 0.01):
        gap = np.hypot(*(a.at(float(t)).position_mm - b.at(float(t)).position_mm)[:2]) - world.table.ball_diameter_mm
        if gap > 2.0:
            return True
    return False


def _cushions(world: World) -> list[Event]:
    events: list[Event] = []
    last: dict[tuple[str, Cushion], float] = {}
    rattled: dict[tuple[str, PocketName], float] = {}
    falls = [(f.ball, f.pocket, f.t) for f in world.facts if isinstance(f, Pocketed)]
    for impact in world.impacts:
        x, y = (float(v) for v in impact.xy_mm[0])
        if impact.kind == "nose":
            cushion = Cushion(impact.what.split(":")[0])
        elif impact.kind == "tip":
            name, letter = impact.what.rsplit(":", 1)
            pocket = world.table.pocket(PocketName(name))
            if depth_and_side_mm(pocket, x, y)[0] > 0:
                continue
            visit = (impact.balls[0], pocket.name)
            before = rattled.get(visit, -math.inf)
            rattled[visit] = impact.t_s
            if impact.t_s - before < RATTLE_S:
                continue
            if any((b, p) == visit and 0 <= t - impact.t_s < RATTLE_S for b, p, t in falls):
                continue
            cushion = jaw_cushions(pocket.name)[0 if letter == "a" else 1]
        else:
            continue
        if impact.change_mm_s[0] < LEAST_CHANGE_MM_S:
            continue
        key = (impact.balls[0], cushion)
        before = last.get(key, -math.inf)
        last[key] = impact.t_s
        if impact.t_s - before < SAME_CONTACT_S:
            continue
        events.append(CushionHit(t=impact.t_s, ball=impact.balls[0], cushion=cushion, x=_mm(x), y=_mm(y)))
    return events


class _Sampled:
    """A ball's path on the bed at small steps, rests skipped."""

    def __init__(self, path: BallPath, end_s: float) -> None:
        self.path = path
        self.runs: list[tuple[F64, F64]] = []
        """Stretches in motion on the bed: times (n,) and places (n, 2), the still end points included."""
        for start, stop in _moving_spans(path, end_s):
            times = [start]
            t = start + 1e-6
            while t < stop - 1e-9:
                times.append(t)
                t = min(t + _SAMPLE_S, self._next_knot(t))
            times.append(stop)
            self._close(times)

    def _next_knot(self, t_s: float) -> float:
        roll = getattr(self.path.piece_at(t_s), "roll", None)
        if roll is None:
            return math.inf
        k = int(np.searchsorted(roll.times_s, t_s, side="right"))
        return max(float(roll.times_s[k]), t_s + 1e-6) if k < len(roll.times_s) else math.inf

    def _close(self, times: list[float]) -> None:
        if len(times) > 1:
            at = np.array(times)
            self.runs.append((at, np.array([self.path.at(float(t)).position_mm[:2] for t in at])))

    def crossings(self, table: TableSpec) -> list[Event]:
        """A centre exactly on a line is on its far (foot, left) side (G-12)."""
        events: list[Event] = []
        lines = (
            (Line.HOUSE, 0, table.house_line_mm),
            (Line.CENTRE, 0, table.length_mm / 2),
            (Line.FOOT, 0, table.foot_line_mm),
            (Line.LONG, 1, table.width_mm / 2),
        )
        for times, places in self.runs:
            for line, axis, where in lines:
                beyond = places[:, axis] >= where - 1e-6
                for k in np.flatnonzero(beyond[1:] != beyond[:-1]):
                    a, b = places[k, axis] - where, places[k + 1, axis] - where
                    share = 0.0 if a == b else float(np.clip(a / (a - b), 0, 1))
                    t = float(times[k] + share * (times[k + 1] - times[k]))
                    events.append(Crossed(t=t, ball=self.path.label, line=line, direction=1 if b >= a else -1))
        return events

    def rebounds(self, table: TableSpec) -> list[Event]:
        """Into the mouth, past its line, and out again, without having been noted by the world itself."""
        events: list[Event] = []
        for times, places in self.runs:
            for pocket in table.pockets():
                near = np.hypot(places[:, 0] - pocket.mouth_mm[0], places[:, 1] - pocket.mouth_mm[1])
                if near.min() > pocket.width_mm:
                    continue
                depth = np.array([depth_and_side_mm(pocket, x, y)[0] for x, y in places])
                inside = (depth > 0) & (near < pocket.width_mm)
                for start, stop in _spans(inside):
                    came_out = stop < len(depth)
                    came_in = start > 0
                    if came_in and came_out and not _forced(self.path, float(times[start]), float(times[stop - 1])):
                        deepest = start + int(np.argmax(depth[start:stop]))
                        events.append(PocketRebound(t=float(times[deepest]), ball=self.path.label, pocket=pocket.name))
        return events

    def stops(self) -> list[Event]:
        events: list[Event] = []
        for times, places in self.runs:
            end = float(times[-1])
            still = self.path.place_at(end) is Place.BED and self.path.piece_at(end).still_until(end) > end
            moved = float(np.hypot(*(places - places[0]).T).max())
            if still and moved >= LEAST_MOVE_MM:
                x, y = places[-1]
                events.append(Stopped(t=end, ball=self.path.label, x=_mm(x), y=_mm(y)))
        return events


def _moving_spans(path: BallPath, end_s: float) -> list[tuple[float, float]]:
    """When the ball moves on the bed; halts shorter than LEAST_STOP_S are no halts."""
    spans: list[tuple[float, float]] = []
    t = path.starts_s[0]
    while t < end_s:
        piece = path.piece_at(t)
        until = min(path.next_start(t), end_s)
        if piece.place is Place.BED:
            still = min(piece.still_until(t), until)
            if still > t:
                t = still
                continue
            moved = min(_next_still(piece, t), until)
            if spans and t - spans[-1][1] < LEAST_STOP_S and path.place_at((t + spans[-1][1]) / 2) is Place.BED:
                spans[-1] = (spans[-1][0], moved)
            else:
                spans.append((t, moved))
            t = moved
        else:
            t = until
    return spans


def _next_still(piece: Piece, t_s: float) -> float:
    """When a ball that moves at ``t_s`` next lies still, by this piece of its path."""
    if not isinstance(piece, OnBed):
        return math.inf
    later = np.flatnonzero((piece.roll.times_s > t_s) & (piece.roll.state == STATIONARY))
    return float(piece.roll.times_s[later[0]]) if len(later) else math.inf


def _forced(path: BallPath, start_s: float, stop_s: float) -> bool:
    """Whether the world led the ball here by hand (it noted what that was)."""
    return any(isinstance(path.piece_at(float(t)), Carried) for t in np.linspace(start_s, stop_s, 8))


def _spans(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _mm(value: float) -> float:
    return round(float(value), 2)


def shifted(events: list[Event], by_s: float) -> list[Event]:
    """The same events on another clock."""
    return [replace(e, t=e.t + by_s) for e in events]
