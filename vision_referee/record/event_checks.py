"""Whether the events of a file make sense one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vision_referee.domain import events as domain
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """An event and where it stands, for messages."""

    path: Path | str
    line: int
    event: Event

    def refuse(self, reason: str) -> InputError:
        return InputError(f"{self.path}, line {self.line}: {reason}")


_SHOWS_ON_TABLE = (
    domain.Placed, domain.Returned, domain.Strike, domain.CushionHit, domain.Stopped, domain.Hanging, domain.Touch,
    domain.Moved, domain.PocketRebound, domain.Crossed, domain.PickedUp,
)  # fmt: skip


def _balls_of(event: Event) -> tuple[str, ...]:
    """The balls that the event says something about, those of a call left out: one may call in error."""
    if isinstance(event, domain.Racked | domain.Rest):
        return tuple(at.ball for at in event.balls)
    if isinstance(event, domain.Contact):
        return event.balls
    if isinstance(event, domain.Interference):
        return (event.stopped_ball,) if event.stopped_ball else ()
    ball = None if isinstance(event, domain.Call) else getattr(event, "ball", None)
    return (ball,) if ball else ()


def _lists(event: Event) -> bool:
    """Whether the event says of its balls that they are on the table; the balls of a lag are struck unlisted."""
    if isinstance(event, domain.Strike):
        return event.player is not None
    return isinstance(event, domain.Racked | domain.Rest | domain.Placed | domain.Returned)


def check_sequence(lines: Sequence[EventLine]) -> None:
    """Refuse what contradicts itself: a ball pocketed twice without coming back, a ball that never was on the table.

    Raises InputError with the line. Retracted events and those that were likelier not to have happened do not count.
    """
    retracted = {line.event.ref for line in lines if isinstance(line.event, domain.Retract)}
    known = {line.event.id for line in lines}
    counted = [
        line for line in sorted(lines, key=lambda line: line.event.t)
        if line.event.confidence >= 0.5 and line.event.id not in retracted
    ]  # fmt: skip
    on_table = {"cue"} | {ball for line in lines if _lists(line.event) for ball in _balls_of(line.event)}
    listed = any(isinstance(line.event, domain.Racked | domain.Rest) for line in lines)
    gone: dict[str, int] = {}
    for line in counted:
        event = line.event
        if isinstance(event, domain.Retract | domain.Confirm) and event.ref not in known:
            raise line.refuse(f"{event.type} refers to event {event.ref}, which is not there")
        for ball in _balls_of(event):
            if listed and ball not in on_table:
                raise line.refuse(f"ball {ball} is unknown: it is never listed on the table")
        match event:
            case domain.Pocketed():
                if event.ball in gone:
                    raise line.refuse(
                        f"ball {event.ball} is pocketed again without having come back"
                        f" (it fell on line {gone[event.ball]})"
                    )
                gone[event.ball] = line.line
            case domain.Racked() | domain.Rest() | domain.Contact():
                for ball in _balls_of(event):
                    gone.pop(ball, None)
            case _ if isinstance(event, _SHOWS_ON_TABLE):
                gone.pop(event.ball, None)
            case _:
                pass
