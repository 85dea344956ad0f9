"""What there is to show of one ruling: where the balls lay, how they went, what they met. Table frame, mm, seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import (
    BallAt,
    Contact,
    CushionHit,
    Event,
    Identified,
    LeftTable,
    Placed,
    Pocketed,
    Rest,
)
from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_folder import MatchFolder
from vision_referee.tracking.tracks import BallState, TrackRow

F64 = npt.NDArray[np.float64]

_MOVED_MM = 6.0
"""A ball that strayed less than this from where it lay did not move: the noise of a resting position is below it."""
_LEAD_S = 0.12
_TAIL_S = 0.25
_ON_BED = frozenset({BallState.MOVING, BallState.RESTING, BallState.HIDDEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class BallPath:
    """Where a ball was while it was on the bed: ``t_s`` (n,), ``xy_mm`` (n, 2), in time order."""

    ball: str
    t_s: F64
    xy_mm: F64

    @property
    def moved(self) -> bool:
        return bool(len(self.t_s) > 1 and np.max(np.hypot(*(self.xy_mm - self.xy_mm[0]).T)) > _MOVED_MM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something met at a place: ``kind`` is ``contact``, ``cushion``, ``pocketed`` or ``left_table``."""

    kind: str
    t_s: float
    x_mm: float
    y_mm: float
    balls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrokeView:
    """One ruling's picture. ``start`` and ``end``: the balls on the bed before and after, by label."""

    ruling: Ruling
    start: tuple[BallAt, ...]
    end: tuple[BallAt, ...]
    paths: tuple[BallPath, ...]
    marks: tuple[Mark, ...]
    numbers: dict[str, str]
    """What to write on a ball whose number was learned later: ``{"u3": "7"}``."""

    def shown(self, ball: str) -> str:
        return self.numbers.get(ball, ball)


def stroke_view(
    folder: MatchFolder, ruling: Ruling, events: Sequence[Event], *, t_to_s: float | None = None
) -> StrokeView:
    """Gather what belongs to ``ruling`` from the tracks and the events; either may be missing."""
    t_from, t_to = ruling.t_start - _LEAD_S, max(ruling.t_end, t_to_s or 0.0) + _TAIL_S
    rows = folder.tracks(t_from_s=t_from, t_to_s=t_to)
    paths = ball_paths(rows)
    start = tuple(_at(p, 0) for p in paths) or _last_rest(events, ruling.t_start)
    end_frame = max((row.frame for row in rows), default=0)
    on_bed = {row.ball for row in rows if row.frame == end_frame and row.state in _ON_BED}
    end = tuple(_at(p, -1) for p in paths if p.ball in on_bed) or _last_rest(events, t_to)
    return StrokeView(
        ruling=ruling,
        start=start,
        end=end,
        paths=tuple(p for p in paths if p.moved),
        marks=tuple(_marks(events, t_from, t_to, folder)),
        numbers=numbers_learned(events),
    )


def numbers_learned(events: Iterable[Event]) -> dict[str, str]:
    return {e.ball: str(e.number) for e in events if isinstance(e, Identified)}


def ball_paths(rows: Iterable[TrackRow]) -> tuple[BallPath, ...]:
    """One path a ball from the rows in which it is on the bed, in the order of their first sighting."""
    by_ball: dict[str, list[TrackRow]] = {}
    for row in rows:
        if row.state in _ON_BED:
            by_ball.setdefault(row.ball, []).append(row)
    return tuple(
        BallPath(ball=ball, t_s=np.array([r.t for r in own]), xy_mm=np.array([[r.x, r.y] for r in own], np.float64))
        for ball, own in by_ball.items()
    )


def simplified(xy_mm: F64, tolerance_mm: float = 1.5) -> F64:
    """The polyline (n, 2) with points dropped that lie within ``tolerance_mm`` of it (Ramer, Douglas and Peucker)."""
    if len(xy_mm) < 3:
        return xy_mm
    keep = np.zeros(len(xy_mm), bool)
    keep[[0, -1]] = True
    spans = [(0, len(xy_mm) - 1)]
    while spans:
        a, b = spans.pop()
        if b - a < 2:
            continue
        chord = xy_mm[b] - xy_mm[a]
        away = xy_mm[a + 1 : b] - xy_mm[a]
        length = float(np.hypot(*chord))
        if length < 1e-9:
            off = np.hypot(*away.T)
        else:
            off = np.abs(away[:, 0] * chord[1] - away[:, 1] * chord[0]) / length
        worst = int(np.argmax(off))
        if off[worst] > tolerance_mm:
            middle = a + 1 + worst
            keep[middle] = True
            spans += [(a, middle), (middle, b)]
    return xy_mm[keep]


def _at(path: BallPath, index: int) -> BallAt:
    return BallAt(ball=path.ball, x=float(path.xy_mm[index, 0]), y=float(path.xy_mm[index, 1]))


def _last_rest(events: Iterable[Event], t_s: float) -> tuple[BallAt, ...]:
    balls: tuple[BallAt, ...] = ()
    for event in events:
        if isinstance(event, Rest) and event.t <= t_s:
            balls = event.balls
        elif isinstance(event, Placed) and event.t <= t_s:
            placed = BallAt(ball=event.ball, x=event.x, y=event.y)
            balls = (*(b for b in balls if b.ball != event.ball), placed)
    return balls


def _marks(events: Iterable[Event], t_from: float, t_to: float, folder: MatchFolder) -> Iterable[Mark]:
    for event in events:
        if not t_from <= event.t <= t_to:
            continue
        if isinstance(event, Contact):
            yield Mark(kind="contact", t_s=event.t, x_mm=event.x, y_mm=event.y, balls=event.balls)
        elif isinstance(event, CushionHit):
            yield Mark(kind="cushion", t_s=event.t, x_mm=event.x, y_mm=event.y, balls=(event.ball,))
        elif isinstance(event, Pocketed):
            x, y = folder.info.table.pocket(event.pocket).mouth_mm
            yield Mark(kind="pocketed", t_s=event.t, x_mm=x, y_mm=y, balls=(event.ball,))
        elif isinstance(event, LeftTable):
            yield Mark(kind="left_table", t_s=event.t, x_mm=event.x, y_mm=event.y, balls=(event.ball,))
