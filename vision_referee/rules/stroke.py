"""A stroke: from the tip's contact to the rest of all balls (G-13), and what can be read from its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vision_referee.domain.events import (
    BallAt,
    BodyOut,
    Contact,
    Crossed,
    CushionHit,
    Event,
    FeetOffFloor,
    IllegalTip,
    Interference,
    LeftTable,
    Moved,
    Pocketed,
    PocketRebound,
    RailRoll,
    Rest,
    Returned,
    ReturnTouched,
    Shake,
    Stopped,
    Strike,
    Tip,
    Touch,
)
from vision_referee.rules.state import GameState, Place

STROKE_EVENTS = (
    Contact, CushionHit, Crossed, Pocketed, PocketRebound, LeftTable, Returned, Stopped, Rest, Shake, Touch, Moved, Tip,
    FeetOffFloor, IllegalTip, BodyOut, RailRoll, Interference,
)  # fmt: skip
"""What is part of a stroke when it happens during it; all else an official enters meanwhile is for afterwards."""

DESCRIBES_STROKE = (FeetOffFloor, IllegalTip, BodyOut, RailRoll, Tip)
"""What describes a stroke whenever it is entered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """One stroke with all that belongs to it."""

    strike: Strike
    events: tuple[Event, ...] = ()
    """In time order: from the strike to the rest, what describes the stroke, and falls within 5 s after it."""
    t_end: float
    ended: bool = True
    """The rest was seen."""
    cut_short: bool = False
    """The next strike came before the rest (G-20.3)."""
    confirmed: frozenset[int] = frozenset()
    """Ids of the events that an official confirmed."""
    doubts: tuple[str, ...] = ()
    """What was doubtful in putting the stroke together: a fall about 5 s after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A stroke's events, sorted by what the rules ask."""

    strike: Strike
    contacts: tuple[Contact, ...]
    first: Contact | None
    """The struck ball's first contact with another ball."""
    pots: tuple[Pocketed, ...]
    """The last fall of each ball that is in a pocket at the end, by time."""
    off: tuple[LeftTable | Returned, ...]
    """Each ball off the table at the end (G-9), with the event that says so."""
    cushions: tuple[CushionHit, ...]
    crossings: tuple[Crossed, ...]
    touches: tuple[Touch, ...]
    moved: tuple[Moved, ...]
    tips: tuple[Tip, ...]
    interferences: tuple[Interference, ...]
    shakes: tuple[Shake, ...]
    feet_off: FeetOffFloor | None
    illegal_tip: IllegalTip | None
    body_out: BodyOut | None
    rail_rolled: frozenset[str]
    final: dict[str, Place]
    """Where the balls came to lie, as far as the events say."""
    listed: frozenset[str]
    """The balls that the rest lists."""
    rest_s: float

    @property
    def potted(self) -> frozenset[str]:
        return frozenset(pot.ball for pot in self.pots)

    @property
    def gone(self) -> frozenset[str]:
        """Balls off the bed at the end: in pockets or off the table."""
        return self.potted | {event.ball for event in self.off}

    @property
    def partner(self) -> str | None:
        """The ball that the struck ball met first."""
        return other_ball(self.first, self.strike.ball) if self.first else None


def other_ball(contact: Contact, ball: str) -> str:
    return contact.balls[1] if contact.balls[0] == ball else contact.balls[0]


def touched_before(facts: Facts, ball: str, t: float) -> bool:
    """Whether another ball had met this one in the stroke by time ``t``, or it is the ball struck."""
    return ball == facts.strike.ball or any(ball in contact.balls and contact.t <= t for contact in facts.contacts)


def gather(stroke: Stroke, events: Iterable[Event], *, equipment: bool = True) -> Facts:
    """Sort the events taken to have happened. ``equipment``: a ball back from something unknown met fixed equipment."""
    strike = stroke.strike
    contacts: list[Contact] = []
    cushions: list[CushionHit] = []
    crossings: list[Crossed] = []
    touches: list[Touch] = []
    moved: list[Moved] = []
    tips: list[Tip] = []
    interferences: list[Interference] = []
    shakes: list[Shake] = []
    feet: FeetOffFloor | None = None
    tip_fault: IllegalTip | None = None
    body: BodyOut | None = None
    rolled: set[str] = set()
    pots: dict[str, Pocketed] = {}
    off: dict[str, LeftTable | Returned] = {}
    final: dict[str, Place] = {strike.ball: (strike.x, strike.y)}
    listed: frozenset[str] = frozenset()
    rest_s = strike.t
    for event in events:
        match event:
            case Contact():
                contacts.append(event)
            case CushionHit():
                cushions.append(event)
                final[event.ball] = (event.x, event.y)
            case Crossed():
                crossings.append(event)
            case Pocketed():
                pots[event.ball] = event
            case PocketRebound():
                pots.pop(event.ball, None)  # G-7: back on the bed, it stays in play
            case LeftTable():
                off[event.ball] = event
            case Returned():
                final[event.ball] = (event.x, event.y)
                by_equipment = event.touched is ReturnTouched.EQUIPMENT or (
                    event.touched is ReturnTouched.UNKNOWN and equipment
                )
                if by_equipment:  # G-9: by fixed equipment and by itself, it stays in play
                    off.pop(event.ball, None)
                    pots.pop(event.ball, None)
                else:
                    off[event.ball] = event
            case Stopped():
                final[event.ball] = (event.x, event.y)
            case Rest():
                final |= {ball.ball: (ball.x, ball.y) for ball in event.balls}
                listed = frozenset(ball.ball for ball in event.balls)
                rest_s = event.t
            case Shake():
                shakes.append(event)
            case Touch():
                touches.append(event)
            case Moved():
                moved.append(event)
                final[event.ball] = (event.x, event.y)
            case Tip():
                tips.append(event)
            case FeetOffFloor():
                feet = feet or event
            case IllegalTip():
                tip_fault = tip_fault or event
            case BodyOut():
                body = body or event
            case RailRoll():
                rolled.add(event.ball)
            case Interference():
                interferences.append(event)
            case _:
                pass
    for ball in off:
        pots.pop(ball, None)  # G-9: what falls after it was off the table is off the table
    first = next((c for c in contacts if strike.ball in c.balls), None)
    return Facts(
        strike=strike, contacts=tuple(contacts), first=first,
        pots=tuple(sorted(pots.values(), key=lambda pot: pot.t)), off=tuple(off.values()),
        cushions=tuple(cushions), crossings=tuple(crossings), touches=tuple(touches), moved=tuple(moved),
        tips=tuple(tips), interferences=tuple(interferences), shakes=tuple(shakes), feet_off=feet,
        illegal_tip=tip_fault, body_out=body, rail_rolled=frozenset(rolled), final=final, listed=listed, rest_s=rest_s,
    )  # fmt: skip


def lying_after(state: GameState, facts: Facts) -> dict[str, Place]:
    """Where the balls on the bed lie when the stroke is over, before anything is spotted or put back.

    A ball that the rest does not list but that nothing took off the bed is hidden, not gone.
    """
    lying = dict(state.places) | facts.final
    return {ball: place for ball, place in lying.items() if ball not in facts.gone}


def displaced(state: GameState, facts: Facts) -> list[BallAt]:
    """The balls that lie elsewhere than before the stroke, at their places before it."""
    before = dict(state.places) | {facts.strike.ball: (facts.strike.x, facts.strike.y)}
    disturbed = {event.ball for event in facts.moved} | {event.ball for event in facts.touches} | facts.gone
    return [
        BallAt(ball=ball, x=x, y=y)
        for ball, (x, y) in before.items()
        if ball in disturbed or facts.final.get(ball, (x, y)) != (x, y)
    ]


def is_confirmed(stroke: Stroke, *events: Event | None) -> bool:
    """Whether an official confirmed one of these events."""
    return any(event is not None and event.id in stroke.confirmed for event in events)
