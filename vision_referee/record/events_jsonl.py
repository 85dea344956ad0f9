"""Events as JSON lines (CONTRACT: Events): strict reading, with file, line and reason; short writing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vision_referee.domain import events as domain
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Source
from vision_referee.record.atomic_write import replace_text
from vision_referee.record.event_checks import EventLine, check_sequence
from vision_referee.record.event_models import EVENT_ADAPTER
from vision_referee.rules.correction import parse_correction

_DOMAIN: dict[str, type[Any]] = {
    cls.type: cls for cls in (*domain.VisionEvent.__args__, *domain.OfficialEvent.__args__)
}
_OFFICIAL_TYPES = frozenset(cls.type for cls in domain.OfficialEvent.__args__)
_COMMON = ("type", "t", "confidence", "source", "frame", "id", "ruling")


# --- reading ----------------------------------------------------------------------------------------------------------


def event_from_json(values: Any) -> Event:
    """The event of one JSON object. Raises ValueError with a reason in words."""
    if not isinstance(values, dict):
        raise ValueError("not a JSON object")
    if "type" not in values:
        raise ValueError("the field 'type' is missing")
    if not isinstance(values["type"], str) or values["type"] not in _DOMAIN:
        raise ValueError(f"unknown event type {values['type']!r}")
    try:
        model = EVENT_ADAPTER.validate_python(values)
    except ValidationError as error:
        raise ValueError(_reason(error)) from None
    event = _to_domain(model)
    if isinstance(event, domain.Override):
        parse_correction(event.fields, event.t)
    return event


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    if first["type"] == "missing":
        return f"the field {place!r} is missing"
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{place}: {message[:1].lower()}{message[1:]}" if place else message


def _to_domain(model: Any) -> Event:
    values = {name: getattr(model, name) for name in type(model).model_fields if name != "type"}
    if values["source"] is None:
        values["source"] = Source.OFFICIAL if model.type in _OFFICIAL_TYPES else Source.VISION
    if model.type in ("racked", "rest"):
        values["balls"] = tuple(domain.BallAt(ball=at.ball, x=at.x, y=at.y) for at in model.balls)
    elif model.type == "contact":
        values["balls"] = (model.balls[0], model.balls[1])
    elif model.type == "override":
        values["fields"] = dict(model.model_extra or {})
    event: Event = _DOMAIN[model.type](**values)
    return event


def read_event_lines(path: Path | str, *, numbered: bool = True, ordered: bool = True) -> list[EventLine]:
    """Every event of the file in its own order; an event without an ``id`` gets its line's number (if ``numbered``).

    Raises InputError naming file, line and reason for anything that cannot be used. Whether the events make sense one
    after another is :func:`check_sequence`'s to say.
    """
    lines: list[EventLine] = []
    last_seen_s = -math.inf
    for number, text in enumerate(_lines_of(Path(path)), start=1):
        if not text.strip():
            continue
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{path}, line {number}: not JSON (cut off, or not an event); mend or remove it") from None
        try:
            event = event_from_json(values)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        if ordered and event.source is Source.VISION:
            if event.t < last_seen_s:
                raise InputError(
                    f"{path}, line {number}: its time {event.t:g} s is earlier than the line before ({last_seen_s:g});"
                    " put the events in time order"
                )
            last_seen_s = event.t
        if event.id is None and numbered:
            event = _with_id(event, number)
        lines.append(EventLine(path=path, line=number, event=event))
    if not lines:
        raise InputError(f"{path}: the file is empty; it should hold one event a line")
    return lines


def _with_id(event: Event, number: int) -> Event:
    values: dict[str, Any] = {field.name: getattr(event, field.name) for field in fields(event)}
    values["id"] = number
    again: Event = type(event)(**values)
    return again


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8; it should hold one JSON event a line") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def read_events(path: Path | str) -> list[Event]:
    """The events of a file as they stand in it, each usable by itself: what was seen, contradictions and all.

    Raises InputError.
    """
    return [line.event for line in read_event_lines(path, ordered=False)]


def read_consistent_events(path: Path | str, officials: Path | str | None = None) -> list[Event]:
    """The events of a file, with those of an officials file after them; together they must make sense.

    Official lines without an ``id`` stay without, so that a ``ref`` means a line of the events file. Raises InputError
    also for a time that goes back, a ball that falls twice, a ball that was never on the table.
    """
    lines = read_event_lines(path)
    if officials is not None:
        lines += read_event_lines(officials, numbered=False)
    check_sequence(lines)
    return [line.event for line in lines]


def read_officials(path: Path | str) -> list[Event]:
    """Official lines of a file of their own; their ids stay as given. Raises InputError."""
    return [line.event for line in read_event_lines(path, numbered=False)]


# --- writing ----------------------------------------------------------------------------------------------------------


def short(value: float, digits: int = 4) -> int | float:
    """A number as people write it: 3516 rather than 3516.0, no more digits than it means."""
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def event_to_json(event: Event) -> dict[str, Any]:
    """The contract's JSON of an event: its own fields after ``t`` and ``type``, then confidence, source, frame, id."""
    values: dict[str, Any] = {"t": short(event.t, 6), "type": event.type}
    for field in fields(event):
        if field.name in _COMMON and not (field.name == "ruling" and isinstance(event, domain.Override)):
            continue
        value = getattr(event, field.name)
        if isinstance(event, domain.Override) and field.name == "fields":
            values.update(event.fields)
        elif value is None and not isinstance(event, domain.Racked):
            continue
        else:
            values[field.name] = _plain(value)
    values["confidence"] = short(event.confidence)
    values["source"] = event.source.value
    if event.frame is not None:
        values["frame"] = event.frame
    if event.id is not None:
        values["id"] = event.id
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return short(value)
    if isinstance(value, domain.BallAt):
        return {"ball": value.ball, "x": short(value.x), "y": short(value.y)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def event_line(event: Event) -> str:
    """One line of events.jsonl, without its end."""
    return json.dumps(event_to_json(event), ensure_ascii=False, allow_nan=False)


def event_lines(events: Iterable[Event]) -> str:
    """Whole lines, one an event."""
    return "".join(event_line(event) + "\n" for event in events)


def write_events(path: Path | str, events: Iterable[Event]) -> None:
    """Write a whole events file, in one step."""
    replace_text(Path(path), event_lines(events))
