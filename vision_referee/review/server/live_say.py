"""What an official taps beside the table, as an event at the match's time now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.record.events_jsonl import event_from_json

# One tap each: what the button sends, and the event it makes.
TAPS: dict[str, dict[str, Any]] = {
    "feet_off_floor": {"type": "feet_off_floor"},
    "illegal_tip": {"type": "illegal_tip"},
    "body_out": {"type": "body_out"},
    "interference_opponent": {"type": "interference", "by": "opponent"},
    "interference_outsider": {"type": "interference", "by": "outsider"},
    "warning_house_violation": {"type": "warning", "what": "house_violation"},
    "warning_blocked_position": {"type": "warning", "what": "blocked_position"},
    "warning_slow_play": {"type": "warning", "what": "slow_play"},
    "shot_clock_on": {"type": "shot_clock", "on": True},
    "shot_clock_off": {"type": "shot_clock", "on": False},
    "rerack": {"type": "rerack"},
    "concede_break": {"type": "concede_break"},
    "agree_draw": {"type": "agree_draw"},
}
# With the ball that is chosen on the page.
BALL_TAPS: dict[str, dict[str, Any]] = {
    "touch_hand": {"type": "touch", "by": "hand"},
    "touch_cue": {"type": "touch", "by": "cue"},
    "rail_roll": {"type": "rail_roll"},
    "remove": {"type": "remove"},
}


class BallNeeded(InputError):
    """The tap is about a ball, and none is chosen."""


KEYS = {
    "head_left": "q",
    "middle_left": "w",
    "foot_left": "e",
    "head_right": "a",
    "middle_right": "s",
    "foot_right": "d",
    "feet_off_floor": "f",
    "illegal_tip": "t",
    "body_out": "b",
    "touch_hand": "h",
    "touch_cue": "c",
    "rail_roll": "r",
    "remove": "v",
    "interference_opponent": "o",
    "interference_outsider": "p",
    "shot_clock_on": "k",
    "shot_clock_off": "l",
}
"""The key of each tap that is made in a hurry; the pockets' lie as the pockets do on the diagram."""


def said_event(form: Mapping[str, str], t_s: float, players: Sequence[str]) -> Event:
    """The official event of a tap.

    Raises:
        InputError: the tap is not known, or lacks its ball, pocket or player.
    """
    say, _, detail = form.get("say", "").partition(":")
    ball = form.get("ball", "").strip()
    if say in TAPS:
        values = dict(TAPS[say])
    elif say == "starts":
        if detail not in players:
            raise InputError(f"'{detail}' is not one of the players {', '.join(players)}")
        values = {"type": "starts", "player": detail}
    elif say == "call" or say in BALL_TAPS:
        if not ball:
            raise BallNeeded("first choose a ball")
        values = dict(BALL_TAPS.get(say, {"type": "call", "pocket": detail})) | {"ball": ball}
    else:
        raise InputError(f"'{say}' is not something that an official can enter here")
    try:
        return event_from_json({**values, "t": round(t_s, 3), "source": "official"})
    except ValueError as error:
        raise InputError(f"{say}: {error}") from error
