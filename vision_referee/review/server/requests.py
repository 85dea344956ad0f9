"""What a person asks for on a page, as official events. Each kind of request is one small function of the form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vision_referee.domain.balls import CUE
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Pocketed
from vision_referee.domain.rulings import FoulCode, Ruling
from vision_referee.record.events_jsonl import event_from_json
from vision_referee.rules.fouls_ids import RULE_OF

Form = Mapping[str, str]

_JUST = 0.01
"""Seconds before or after a stroke's edge at which a remark about it is entered."""

# What an official may enter, with the fields that its form has; "?" marks those that may be left empty.
OFFICIAL_FIELDS: dict[str, tuple[str, ...]] = {
    "call": ("ball", "pocket", "how?"),
    "touch": ("ball", "by"),
    "feet_off_floor": (),
    "illegal_tip": (),
    "body_out": (),
    "tip": ("kind",),
    "rail_roll": ("ball",),
    "pocketed": ("ball", "pocket"),
    "identified": ("ball", "number"),
    "interference": ("interference_by", "intentional?", "stopped_ball?", "pocket?"),
    "warning": ("what",),
    "shot_clock": ("on?",),
    "remove": ("ball",),
    "rerack": (),
    "concede_break": (),
    "starts": ("player",),
    "frame_over_mistake": ("player",),
    "agree_draw": (),
    "handicap": ("player", "points"),
}
_BEFORE_STROKE = frozenset({"call", "starts", "concede_break", "handicap"})
_WHOLE = ("number", "points")
_IN_STROKE = frozenset(
    {"touch", "feet_off_floor", "illegal_tip", "body_out", "tip", "rail_roll", "pocketed", "interference"}
)


def requested_events(action: str, form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Event]:
    """The official events of a request about ``ruling``; ``events`` are the match's.

    Raises:
        InputError: the form asks for something that is not there, or leaves out what is needed.
    """
    make = _ACTIONS.get(action)
    if make is None:
        raise InputError(f"'{action}' is not something that can be done to a ruling")
    try:
        return [event_from_json({"source": "official", **values}) for values in make(form, ruling, events)]
    except ValueError as error:
        raise InputError(f"{action}: {error}") from error


def default_time_s(kind: str, ruling: Ruling) -> float:
    """When an official's remark about ``ruling`` is entered unless a time is given."""
    if kind in _BEFORE_STROKE:
        return max(0.0, ruling.t_start - _JUST)
    if kind in _IN_STROKE:
        return min(ruling.t_start + _JUST, ruling.t_end)
    return ruling.t_end + _JUST


Json = dict[str, Any]


def _override(ruling: Ruling, **fields: Any) -> list[Json]:
    return [{"type": "override", "t": ruling.t_end + _JUST, "ruling": ruling.id, **fields}]


def _confirm_ruling(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    return _override(ruling, review=False)


def _no_foul(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    return _override(ruling, fouls=[], review=False)


def _other_foul(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    code = FoulCode(_needed(form, "code"))
    ball = form.get("ball", "").strip()
    foul = {"code": code.value, "rule": RULE_OF[code], "t": ruling.t_end, "balls": [ball] if ball else []}
    return _override(ruling, fouls=[foul], review=False)


def _other_next(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    """Who plays next, and from where; or that the stroke is repeated."""
    fields: Json = {"next": {"player": _needed(form, "player"), "cue_ball": _needed(form, "cue_ball")}}
    if form.get("replay"):
        fields["replay"] = True
    return _override(ruling, **fields, review=False)


def _other_pot(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    """The ball that fell was another, or fell into another pocket."""
    seen = _event(form, events)
    if not isinstance(seen, Pocketed):
        raise InputError(f"event {seen.id} is not a ball that fell")
    ball, pocket = _needed(form, "ball"), _needed(form, "pocket")
    return [
        {"type": "retract", "t": ruling.t_end + _JUST, "ref": seen.id},
        {"type": "pocketed", "t": seen.t, "ball": ball, "pocket": pocket},
    ]


def _other_counted(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    """Which of the balls that fell count: a box each, ``counts_`` and the event's id."""
    fell = [e for e in events if isinstance(e, Pocketed) and form.get(f"counts_{e.id}")]
    return _override(ruling, counted=[{"ball": e.ball, "pocket": e.pocket.value} for e in fell], review=False)


def _other_restored(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    """Which of the balls that were to be put back are: a box each, ``restore_`` and the ball."""
    kept = [b for b in ruling.restored if form.get(f"restore_{b.ball}")]
    return _override(ruling, restored=[{"ball": b.ball, "x": b.x, "y": b.y} for b in kept], review=False)


def _retract(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    return [{"type": "retract", "t": ruling.t_end + _JUST, "ref": _event(form, events).id}]


def _confirm_event(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    return [{"type": "confirm", "t": ruling.t_end + _JUST, "ref": _event(form, events).id}]


def _official(form: Form, ruling: Ruling, events: Sequence[Event]) -> list[Json]:
    kind = _needed(form, "type")
    if kind not in OFFICIAL_FIELDS:
        raise InputError(f"'{kind}' is not an event that an official enters")
    values: Json = {"type": kind, "t": _time_s(form, default_time_s(kind, ruling))}
    for field in OFFICIAL_FIELDS[kind]:
        name = field.rstrip("?")
        text = form.get(name, "").strip()
        if name in ("intentional", "on"):
            values[name] = text in ("1", "on", "true", "yes")
        elif text:
            values["by" if name == "interference_by" else name] = _whole(text, name) if name in _WHOLE else text
        elif not field.endswith("?"):
            raise InputError(f"{kind}: {name.replace('interference_by', 'by')} is missing")
    if kind == "tip":
        values["ball"] = form.get("ball", "").strip() or CUE
    return [values]


_ACTIONS: dict[str, Callable[[Form, Ruling, Sequence[Event]], list[Json]]] = {
    "confirm": _confirm_ruling,
    "no_foul": _no_foul,
    "foul": _other_foul,
    "pot": _other_pot,
    "counted": _other_counted,
    "restored": _other_restored,
    "next": _other_next,
    "retract": _retract,
    "sure": _confirm_event,
    "official": _official,
}


def _needed(form: Form, name: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise InputError(f"{name} is missing")
    return text


def whole_number(text: str) -> int | None:
    """What a form gave as a number, None where it is none; no number that people enter is longer than nine digits."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None


def _whole(text: str, name: str) -> int:
    number = whole_number(text)
    if number is None:
        raise InputError(f"{name}: '{text}' is not a whole number")
    return number


def _time_s(form: Form, default_s: float) -> float:
    text = form.get("t", "").strip().replace(",", ".")
    return round(float(text), 3) if text else default_s


def _event(form: Form, events: Sequence[Event]) -> Event:
    ref = _whole(_needed(form, "ref"), "ref")
    found = next((e for e in events if e.id == ref), None)
    if found is None:
        raise InputError(f"there is no event {ref}")
    return found
