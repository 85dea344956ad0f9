"""What happened in a match, row by row: strokes with what they were aimed at, and balls that fell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import (
    Call,
    Confirm,
    Contact,
    CushionHit,
    Event,
    Identified,
    LeftTable,
    Moved,
    PickedUp,
    Placed,
    Pocketed,
    Racked,
    Rest,
    Retract,
    Returned,
    Stopped,
    Strike,
)
from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.domain.table import Pocket, PocketName, TableSpec

LIKELY = 0.5
"""An event less sure than this is rather taken not to have happened."""
_SLACK_S = 0.05
_AIMED_DEG = 25.0
"""A ball sent on a way that leads farther aside of every pocket was aimed at none."""

Place = tuple[float, float]


def standing(events: Sequence[Event]) -> list[Event]:
    """What is held to have happened, in order of time: withdrawn and unlikely events left out."""
    last: dict[int, bool] = {}
    for event in events:
        if isinstance(event, Retract | Confirm):
            last[event.ref] = isinstance(event, Confirm)
    kept = [
        event
        for event in events
        if not isinstance(event, Retract | Confirm)
        and (last.get(event.id, event.confidence >= LIKELY) if event.id is not None else event.confidence >= LIKELY)
    ]
    return sorted(kept, key=lambda event: event.t)


@dataclass(slots=True)
class Stroke:
    """One stroke. ``target``: the ball it was aimed at, ``pocket``: where that was to go, ``by``: how that is known
    (``call``, ``pot``, ``path``). Distances from where the balls lay, mm; None where it cannot be told."""

    strike: Strike
    end_s: float
    ruling: Ruling | None = None
    cue_at: Place = (0.0, 0.0)
    first_ball: str | None = None
    cushions: int = 0
    pots: list[Pocketed] = field(default_factory=list)
    target: str | None = None
    target_at: Place | None = None
    pocket: PocketName | None = None
    by: str | None = None
    distance_mm: float | None = None
    """From the target ball to the pocket."""
    cue_distance_mm: float | None = None
    """From the struck ball to the target ball."""

    @property
    def success(self) -> bool:
        """Whether a ball counted; without rules, whether an object ball fell."""
        if self.ruling is not None:
            return bool(self.ruling.counted)
        return any(pot.ball != self.strike.ball for pot in self.pots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pot:
    """A ball that fell and, by the rulings, whose stroke it was and what it counted."""

    event: Pocketed
    ruling: Ruling | None
    counted: bool
    points: int
    distance_mm: float | None
    """From where it last lay to the pocket's mouth."""
    cushions: int
    """It met since the stroke began."""


@dataclass(slots=True)
class _Table:
    """Where the balls are known to lie as the events go on."""

    at: dict[str, Place] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        match event:
            case Racked() | Rest():
                self.at = {ball.ball: (ball.x, ball.y) for ball in event.balls}
            case Placed() | Returned() | Stopped() | Moved() | Strike():
                self.at[event.ball] = (event.x, event.y)
            case Pocketed() | LeftTable() | PickedUp():
                self.at.pop(event.ball, None)
            case _:
                pass


def match_facts(events: Sequence[Event], rulings: Sequence[Ruling], table: TableSpec) -> tuple[list[Stroke], list[Pot]]:
    """Strokes (lags left out) and pots of a match. ``events`` as :func:`standing` gives them."""
    strokes: list[Stroke] = []
    pots: list[Pot] = []
    balls = _Table()
    lay: dict[str, Place] = {}
    """Where they lay when the stroke began."""
    open_: Stroke | None = None
    met: dict[str, int] = {}
    call: Call | None = None
    for event in events:
        match event:
            case Call():
                call = event
            case Strike():
                ruling = ruling_at(rulings, event.t)
                lay, met = dict(balls.at), {}
                open_ = None
                if event.player is None and not (ruling is not None and ruling.kind is RulingKind.LAG):
                    open_ = Stroke(strike=event, end_s=event.t, ruling=ruling, cue_at=(event.x, event.y))
                    strokes.append(open_)
            case Contact() if open_ is not None:
                if open_.first_ball is None and open_.strike.ball in event.balls:
                    open_.first_ball = next((ball for ball in event.balls if ball != open_.strike.ball), None)
                    _aim_by_path(open_, event, lay, table)
            case CushionHit():
                met[event.ball] = met.get(event.ball, 0) + 1
                if open_ is not None:
                    open_.cushions += 1
            case Pocketed():
                if open_ is not None:
                    open_.pots.append(event)
                pots.append(_pot(event, rulings, lay | balls.at if open_ is None else balls.at | lay, met, table))
            case _:
                pass
        if open_ is not None:
            open_.end_s = event.t
        balls.hear(event)
        if isinstance(event, Rest):
            if open_ is not None:
                _aim_by_pot(open_, lay, table)
                _aim_by_call(open_, call, lay, table)
            open_, call = None, None
            lay = {}
    if open_ is not None:
        _aim_by_pot(open_, lay, table)
        _aim_by_call(open_, call, lay, table)
    return strokes, pots


def ruling_at(rulings: Sequence[Ruling], t_s: float) -> Ruling | None:
    """The ruling that a moment belongs to: of several the one on a stroke."""
    inside = [r for r in rulings if r.t_start - _SLACK_S <= t_s <= r.t_end + _SLACK_S]
    return min(inside, key=lambda r: (r.kind not in (RulingKind.STROKE, RulingKind.LAG), r.t_end), default=None)


def numbers(events: Sequence[Event]) -> dict[str, int]:
    """The numbers of balls by label, as far as they are known: those read, and those that are the label."""
    known = {event.ball: event.number for event in events if isinstance(event, Identified)}
    labels = {ball for event in events for ball in _labels(event)}
    return {label: int(label) for label in labels if label.isdigit()} | known


def _labels(event: Event) -> Iterator[str]:
    if isinstance(event, Racked | Rest):
        yield from (ball.ball for ball in event.balls)
    elif isinstance(event, Contact):
        yield from event.balls
    else:
        ball = getattr(event, "ball", None)
        if isinstance(ball, str):
            yield ball


def _pot(
    event: Pocketed, rulings: Sequence[Ruling], lay: dict[str, Place], met: dict[str, int], table: TableSpec
) -> Pot:
    ruling = ruling_at(rulings, event.t)
    counted = [c for c in ruling.counted if c.ball == event.ball and c.pocket in (None, event.pocket)] if ruling else []
    at = lay.get(event.ball)
    return Pot(
        event=event, ruling=ruling, counted=bool(counted), points=sum(c.points for c in counted),
        distance_mm=None if at is None else math.dist(at, table.pocket(event.pocket).mouth_mm),
        cushions=met.get(event.ball, 0),
    )  # fmt: skip


def _aim(stroke: Stroke, target: str, at: Place | None, pocket: PocketName | None, by: str, table: TableSpec) -> None:
    stroke.target, stroke.target_at, stroke.pocket, stroke.by = target, at, pocket, by
    stroke.distance_mm = None if at is None or pocket is None else math.dist(at, table.pocket(pocket).mouth_mm)
    stroke.cue_distance_mm = None if at is None or target == stroke.strike.ball else math.dist(at, stroke.cue_at)


def _aim_by_path(stroke: Stroke, contact: Contact, lay: dict[str, Place], table: TableSpec) -> None:
    """The first ball met goes off along the line of centres: the pocket that lies that way."""
    assert stroke.first_ball is not None
    at = lay.get(stroke.first_ball)
    pocket = None
    if at is not None:
        pocket = _pocket_that_way(at, (at[0] - contact.x, at[1] - contact.y), table)
    _aim(stroke, stroke.first_ball, at, pocket.name if pocket else None, "path", table)
    if pocket is None:
        stroke.by = None


def _pocket_that_way(at: Place, way: Place, table: TableSpec) -> Pocket | None:
    def off_deg(pocket: Pocket) -> float:
        to = (pocket.mouth_mm[0] - at[0], pocket.mouth_mm[1] - at[1])
        return abs(math.degrees(math.atan2(way[0] * to[1] - way[1] * to[0], way[0] * to[0] + way[1] * to[1])))

    if math.hypot(*way) < 1e-6:
        return None
    best = min(table.pockets(), key=off_deg)
    return best if off_deg(best) <= _AIMED_DEG else None


def _aim_by_pot(stroke: Stroke, lay: dict[str, Place], table: TableSpec) -> None:
    """What fell was aimed at: of several the one that counted, else an object ball, else (Pyramid) the struck one."""
    if not stroke.pots:
        return
    counted = {c.ball for c in stroke.ruling.counted} if stroke.ruling else set()
    if not counted and all(pot.ball == stroke.strike.ball for pot in stroke.pots):
        return  # the cue ball alone, and it did not count: an accident
    pot = min(stroke.pots, key=lambda p: (p.ball not in counted, p.ball in (stroke.strike.ball, CUE), p.t))
    _aim(stroke, pot.ball, lay.get(pot.ball), pot.pocket, "pot", table)


def _aim_by_call(stroke: Stroke, call: Call | None, lay: dict[str, Place], table: TableSpec) -> None:
    """A call says it, whatever came of it."""
    if call is not None and call.pocket is not None and call.ball is not None:
        _aim(stroke, call.ball, lay.get(call.ball), call.pocket, "call", table)
