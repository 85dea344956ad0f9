"""An event as the scores compare it: its type, time, balls, place and the words that must agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from vision_referee.domain.events import (
    BallAt,
    Contact,
    Crossed,
    CushionHit,
    Event,
    Hanging,
    Identified,
    LeftTable,
    Moved,
    PickedUp,
    Placed,
    Pocketed,
    PocketRebound,
    Racked,
    Rest,
    Returned,
    Shake,
    Source,
    Stopped,
    Strike,
    Tip,
    Touch,
    VisionEvent,
)

Words = tuple[tuple[str, str], ...]

SCORED_TYPES = tuple(kind.type for kind in VisionEvent.__args__ if kind is not Identified)
"""``identified`` is judged by whether its number is the ball's, not by when it was read."""

TIME_TOLERANCE_S = 0.10
STOP_TOLERANCE_S = 0.20
_STOP_TYPES = frozenset({"stopped", "rest"})


def time_tolerance_s(kind: str) -> float:
    """How far apart in time two events of this type may be and still be one (CONTRACT)."""
    return STOP_TOLERANCE_S if kind in _STOP_TYPES else TIME_TOLERANCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """``balls`` that take part (compared as a set); ``place_mm`` None where the type has none; ``words`` must agree."""

    type: str
    t: float
    confidence: float
    balls: tuple[str, ...] = ()
    place_mm: tuple[float, float] | None = None
    words: Words = ()
    positions: tuple[BallAt, ...] = ()
    """Of ``rest`` and ``racked``: where each ball lies, scored apart."""
    number: int | None = None
    """Of ``identified``."""


def vision_facts(events: Iterable[Event]) -> list[Fact]:
    """What vision said, in time order. What an official entered is not vision's to be scored for."""
    seen = [event for event in events if event.source is Source.VISION]
    return sorted((fact for event in seen if (fact := _fact(event)) is not None), key=lambda fact: fact.t)


def _fact(event: Event) -> Fact | None:
    if not isinstance(event, VisionEvent):
        return None
    kind, t, confidence = event.type, event.t, event.confidence
    match event:
        case Racked() | Rest():
            return Fact(type=kind, t=t, confidence=confidence, positions=event.balls)
        case Contact():
            return Fact(type=kind, t=t, confidence=confidence, balls=event.balls, place_mm=(event.x, event.y))
        case CushionHit():
            words: Words = (("cushion", event.cushion.value),)
            return Fact(
                type=kind, t=t, confidence=confidence, balls=(event.ball,), place_mm=(event.x, event.y), words=words
            )
        case Crossed():
            words = (("line", event.line.value), ("direction", str(event.direction)))
            return Fact(type=kind, t=t, confidence=confidence, balls=(event.ball,), words=words)
        case Pocketed() | PocketRebound():
            words = (("pocket", event.pocket.value),)
            return Fact(type=kind, t=t, confidence=confidence, balls=(event.ball,), words=words)
        case Hanging():
            words = (("pocket", event.pocket.value),)
            return Fact(
                type=kind, t=t, confidence=confidence, balls=(event.ball,), place_mm=(event.x, event.y), words=words
            )
        case Placed() | PickedUp() | Strike() | LeftTable() | Returned() | Stopped() | Moved():
            # Who or what moved a ball, or what it touched, is a judgement beside the fact itself.
            return Fact(type=kind, t=t, confidence=confidence, balls=(event.ball,), place_mm=(event.x, event.y))
        case Touch():
            return Fact(type=kind, t=t, confidence=confidence, balls=(event.ball,))
        case Tip():
            return Fact(type=kind, t=t, confidence=confidence, balls=(event.ball,), words=(("kind", event.kind.value),))
        case Identified():
            return Fact(type=kind, t=t, confidence=confidence, balls=(event.ball,), number=event.number)
        case Shake():
            return Fact(type=kind, t=t, confidence=confidence)
        case _:
            assert_never(event)
