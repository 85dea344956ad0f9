"""An event in a few words: what, which balls, where."""

from __future__ import annotations

from typing import assert_never

from vision_referee.domain import events as e
from vision_referee.domain.table import PocketName
from vision_referee.review.wording import Wording


def event_words(event: e.Event, words: Wording) -> str:
    """Such as ``contact: cue ball, 7`` or ``fell: 7, foot left corner``."""
    details = _details(event, words)
    name = words(f"event.{event.type}")
    return f"{name}: {details}" if details else name


def _details(event: e.Event, words: Wording) -> str:
    match event:
        case e.Contact():
            return words.balls(event.balls)
        case e.Racked() | e.Rest() | e.Shake() | e.FeetOffFloor() | e.IllegalTip() | e.BodyOut():
            return ""
        case e.Rerack() | e.ConcedeBreak() | e.AgreeDraw():
            return ""
        case e.Placed() | e.PickedUp() | e.Strike() | e.LeftTable() | e.Returned() | e.Stopped() | e.Moved():
            return f"{words.ball(event.ball)} ({event.x:.0f} / {event.y:.0f})"
        case e.CushionHit() | e.Crossed() | e.RailRoll() | e.Remove():
            return words.ball(event.ball)
        case e.Pocketed() | e.PocketRebound() | e.Hanging():
            return f"{words.ball(event.ball)}, {pocket(event.pocket, words)}"
        case e.Touch():
            return f"{words.ball(event.ball)}, {words(f'by.{event.by.value}')}"
        case e.Tip():
            return words(f"tip.{event.kind.value}")
        case e.Identified():
            return f"{words.ball(event.ball)} = {event.number}"
        case e.Call():
            parts = [words.ball(event.ball)] if event.ball else []
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
