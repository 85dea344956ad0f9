"""An event in a few words: what, which balls, where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from vision_referee.domain import events as e
from vision_referee.domain.table import Line, PocketName
from vision_referee.review.wording import Wording


def event_words(event: e.Event, words: Wording, numbers: Mapping[str, str] | None = None) -> str:
    """Such as ``contact: cue ball, 7`` or ``fell: 7, foot left corner``.

    ``numbers``: what to call a ball whose number was learned later, ``{"u3": "7"}``.
    """
    details = _details(event, words, numbers or {})
    name = words(f"event.{event.type}")
    return f"{name}: {details}" if details else name


def _details(event: e.Event, words: Wording, numbers: Mapping[str, str]) -> str:
    def named(label: str) -> str:
        return words.ball(numbers.get(label, label))

    match event:
        case e.Contact():
            return ", ".join(named(label) for label in event.balls)
        case e.Racked() | e.Rest() | e.Shake() | e.FeetOffFloor() | e.IllegalTip() | e.BodyOut():
            return ""
        case e.Rerack() | e.ConcedeBreak() | e.AgreeDraw():
            return ""
        case e.Placed() | e.PickedUp() | e.Strike() | e.LeftTable() | e.Returned() | e.Stopped() | e.Moved():
            return f"{named(event.ball)} ({event.x:.0f} / {event.y:.0f})"
        case e.CushionHit():
            return f"{named(event.ball)}, {words(f'cushion.{event.cushion.value}')}"
        case e.Crossed():
            return f"{named(event.ball)}, {words(f'line.{event.line.value}')}, {words(f'line.{_way(event)}')}"
        case e.RailRoll() | e.Remove():
            return named(event.ball)
        case e.Pocketed() | e.PocketRebound() | e.Hanging():
            return f"{named(event.ball)}, {pocket(event.pocket, words)}"
        case e.Touch():
            moved = f", {words('event_more.mm', mm=round(event.moved_mm))}" if event.moved_mm >= 1 else ""
            return f"{named(event.ball)}, {words(f'by.{event.by.value}')}{moved}"
        case e.Tip():
            return words(f"tip.{event.kind.value}")
        case e.Identified():
            return f"{words.ball(event.ball)} = {event.number}"
        case e.Call():
            parts = [named(event.ball)] if event.ball else []
            parts += [pocket(event.pocket, words)] if event.pocket else []
            return ", ".join([*parts, *([event.how] if event.how else [])])
        case e.Warning_():
            return words.get(f"foul.{event.what}", words.get(f"warned.{event.what}", event.what))
        case e.Interference():
            return words(f"by.{event.by.value}")
        case e.ShotClock():
            return words("app.yes") if event.on else words("app.no")
        case e.Handicap():
            return f"{event.player}: {event.points}"
        case e.FrameOverMistake() | e.Starts():
            return event.player
        case e.Override():
            return _override(event, words)
        case e.Retract() | e.Confirm():
            return f"# {event.ref}"
        case _:
            assert_never(event)


def _way(event: e.Crossed) -> str:
    if event.line is Line.LONG:
        return "to_left" if event.direction > 0 else "to_right"
    return "to_foot" if event.direction > 0 else "to_head"


def _override(event: e.Override, words: Wording) -> str:
    fouls = event.fields.get("fouls")
    parts = []
    if isinstance(fouls, list):
        codes = [f.get("code", "") if isinstance(f, dict) else str(f) for f in fouls]
        parts.append("; ".join(words.get(f"foul.{code}", code) for code in codes) or words("app.no_foul"))
    following = event.fields.get("next")
    if isinstance(following, dict):
        place = words.get(f"cue_ball.{following.get('cue_ball')}", "")
        parts.append(f"{following.get('player', '')}, {place}")
    return ", ".join(parts) or words("change.confirm")


def pocket(name: PocketName, words: Wording) -> str:
    return words(f"pocket.{name.value}")
