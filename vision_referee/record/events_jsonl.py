"""Events as JSON lines (CONTRACT: Events): strict reading, with file, line and reason; short writing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from vision_referee.domain import events as domain
from vision_referee.domain.balls import is_ball_label
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Source
from vision_referee.domain.table import Cushion, Line, PocketName
from vision_referee.rules.correction import parse_correction

# --- the JSON's shape -------------------------------------------------------------------------------------------------


def _real_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number


def _known_label(value: str) -> str:
    if not is_ball_label(value):
        raise ValueError(f"{value!r} is not a ball; balls are cue, 1 … 15, u1, u2, …")
    return value


Number = Annotated[float, BeforeValidator(_real_number)]
Frame = Annotated[int, BeforeValidator(lambda value: round(_real_number(value)))]
Time = Annotated[Number, Field(ge=0)]
Ball = Annotated[str, AfterValidator(_known_label)]
Name = Annotated[str, StringConstraints(min_length=1)]
WholeNumber = Annotated[int, Field(strict=True)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _BallAt(_Line):
    ball: Ball
    x: Number
    y: Number


def _each_once(balls: list[_BallAt]) -> list[_BallAt]:
    seen: set[str] = set()
    for at in balls:
        if at.ball in seen:
            raise ValueError(f"ball {at.ball} is listed twice")
        seen.add(at.ball)
    return balls


Position = Annotated[list[_BallAt], AfterValidator(_each_once)]


def _two_balls(balls: list[str]) -> list[str]:
    if len(balls) != 2 or balls[0] == balls[1]:
        raise ValueError("must be two different balls")
    return balls


class _Event(_Line):
    t: Time
    confidence: Annotated[Number, Field(ge=0, le=1)] = 1.0
    source: Source | None = None
    frame: Frame | None = None
    id: WholeNumber | None = None


class _AtPlace(_Event):
    ball: Ball
    x: Number
    y: Number


class _Racked(_Event):
    type: Literal["racked"]
    balls: Position
    order_ok: Annotated[bool, Field(strict=True)] | None = None


class _Placed(_AtPlace):
    type: Literal["placed"]


class _PickedUp(_AtPlace):
    type: Literal["picked_up"]


class _Strike(_AtPlace):
    type: Literal["strike"]
    vx: Number
    vy: Number
    player: Name | None = None


class _Contact(_Event):
    type: Literal["contact"]
    balls: Annotated[list[Ball], AfterValidator(_two_balls)]
    x: Number
    y: Number


class _CushionHit(_AtPlace):
    type: Literal["cushion"]
    cushion: Cushion


class _Crossed(_Event):
    type: Literal["crossed"]
    ball: Ball
    line: Line
    direction: Literal[-1, 1]


class _Pocketed(_Event):
    type: Literal["pocketed"]
    ball: Ball
    pocket: PocketName


class _PocketRebound(_Event):
    type: Literal["pocket_rebound"]
    ball: Ball
    pocket: PocketName


class _LeftTable(_AtPlace):
    type: Literal["left_table"]


class _Returned(_AtPlace):
    type: Literal["returned"]
    touched: domain.ReturnTouched


class _Stopped(_AtPlace):
    type: Literal["stopped"]


class _Rest(_Event):
    type: Literal["rest"]
    balls: Position


class _Hanging(_AtPlace):
    type: Literal["hanging"]
    pocket: PocketName


class _Shake(_Event):
    type: Literal["shake"]


class _Touch(_Event):
    type: Literal["touch"]
    ball: Ball
    by: domain.TouchedBy
    moved_mm: Annotated[Number, Field(ge=0)] = 0.0
    player: Name | None = None


class _Moved(_AtPlace):
    type: Literal["moved"]
    cause: domain.MovedCause


class _Tip(_Event):
    type: Literal["tip"]
    ball: Ball
    kind: domain.TipKind


class _Identified(_Event):
    type: Literal["identified"]
    ball: Ball
    number: Annotated[WholeNumber, Field(ge=1, le=15)]


class _Call(_Event):
    """A call may lack its ball or its pocket: the rules then take it for a missing one (S-6)."""

    type: Literal["call"]
    ball: Ball | None = None
    pocket: PocketName | None = None
    how: str | None = None


class _FeetOffFloor(_Event):
    type: Literal["feet_off_floor"]


class _IllegalTip(_Event):
    type: Literal["illegal_tip"]


class _BodyOut(_Event):
    type: Literal["body_out"]


class _RailRoll(_Event):
    type: Literal["rail_roll"]
    ball: Ball


class _Warning(_Event):
    type: Literal["warning"]
    what: Name


class _Interference(_Event):
    type: Literal["interference"]
    by: domain.InterferenceBy
    intentional: Annotated[bool, Field(strict=True)] = False
    stopped_ball: Ball | None = None
    pocket: PocketName | None = None


class _ShotClock(_Event):
    type: Literal["shot_clock"]
    on: Annotated[bool, Field(strict=True)]


class _Rerack(_Event):
    type: Literal["rerack"]


class _ConcedeBreak(_Event):
    type: Literal["concede_break"]


class _Handicap(_Event):
    type: Literal["handicap"]
    player: Name
    points: WholeNumber


class _FrameOverMistake(_Event):
    type: Literal["frame_over_mistake"]
    player: Name


class _Remove(_Event):
    type: Literal["remove"]
    ball: Ball


class _AgreeDraw(_Event):
    type: Literal["agree_draw"]


class _Starts(_Event):
    type: Literal["starts"]
    player: Name


class _Override(_Event):
    model_config = ConfigDict(extra="allow", frozen=True)
    type: Literal["override"]
    ruling: WholeNumber | Name


class _Retract(_Event):
    type: Literal["retract"]
    ref: WholeNumber


class _Confirm(_Event):
    type: Literal["confirm"]
    ref: WholeNumber


_AnyEvent = Annotated[
    _Racked | _Placed | _PickedUp | _Strike | _Contact | _CushionHit | _Crossed | _Pocketed | _PocketRebound
    | _LeftTable | _Returned | _Stopped | _Rest | _Hanging | _Shake | _Touch | _Moved | _Tip | _Identified
    | _Call | _FeetOffFloor | _IllegalTip | _BodyOut | _RailRoll | _Warning | _Interference | _ShotClock | _Rerack
    | _ConcedeBreak | _Handicap | _FrameOverMistake | _Remove | _AgreeDraw | _Starts | _Override | _Retract | _Confirm,
    Field(discriminator="type"),
]  # fmt: skip
_ADAPTER: TypeAdapter[Any] = TypeAdapter(_AnyEvent)

_DOMAIN: dict[str, type[Any]] = {
    cls.type: cls for cls in (*domain.VisionEvent.__args__, *domain.OfficialEvent.__args__)
}
_OFFICIAL_TYPES = frozenset(cls.type for cls in domain.OfficialEvent.__args__)
_COMMON = ("type", "t", "confidence", "source", "frame", "id", "ruling")


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """An event and the line it stands on, for messages."""

    line: int
    event: Event


def event_from_json(values: Any) -> Event:
    """The event of one JSON object. Raises ValueError with a reason in words."""
    if not isinstance(values, dict):
        raise ValueError("not a JSON object")
    if "type" not in values:
        raise ValueError("the field 'type' is missing")
    if values["type"] not in _DOMAIN:
        raise ValueError(f"unknown event type {values['type']!r}")
    try:
        model = _ADAPTER.validate_python(values)
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


def read_event_lines(path: Path | str, *, numbered: bool = True) -> list[EventLine]:
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
        if event.source is Source.VISION:
            if event.t < last_seen_s:
                raise InputError(
                    f"{path}, line {number}: its time {event.t:g} s is earlier than the line before ({last_seen_s:g} s);"
                    " put the events in time order"
                )
            last_seen_s = event.t
        if event.id is None and numbered:
            event = _with_id(event, number)
        lines.append(EventLine(line=number, event=event))
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
    """The events of a file that makes sense as a whole. Raises InputError."""
    lines = read_event_lines(path)
    check_sequence(lines, path)
    return [line.event for line in lines]


def read_officials(path: Path | str) -> list[Event]:
    """Official lines of a file of their own; their ids stay as given. Raises InputError."""
    return [line.event for line in read_event_lines(path, numbered=False)]


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


def check_sequence(lines: Sequence[EventLine], path: Path | str) -> None:
    """Refuse what contradicts itself: a ball pocketed twice without coming back, a ball that never was on the table.

    Raises InputError with the line. Retracted events and those that were likelier not to have happened do not count.
    """
    retracted = {line.event.ref for line in lines if isinstance(line.event, domain.Retract)}
    known = {line.event.id for line in lines}
    counted = [
        line for line in sorted(lines, key=lambda line: line.event.t)
        if line.event.confidence >= 0.5 and line.event.id not in retracted
    ]  # fmt: skip
    on_table = {
        ball for line in lines
        if isinstance(line.event, domain.Racked | domain.Rest | domain.Placed | domain.Returned)
        for ball in _balls_of(line.event)
    } | {"cue"}  # fmt: skip
    listed = any(isinstance(line.event, domain.Racked | domain.Rest) for line in lines)
    gone: dict[str, int] = {}
    for line in counted:
        event = line.event
        if isinstance(event, domain.Retract | domain.Confirm) and event.ref not in known:
            raise InputError(f"{path}, line {line.line}: {event.type} refers to event {event.ref}, which is not there")
        for ball in _balls_of(event):
            if listed and ball not in on_table:
                raise InputError(f"{path}, line {line.line}: ball {ball} is unknown: it is never listed on the table")
        match event:
            case domain.Pocketed():
                if event.ball in gone:
                    raise InputError(
                        f"{path}, line {line.line}: ball {event.ball} is pocketed again without having come back"
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
    return json.dumps(event_to_json(event), ensure_ascii=False)


def write_events(path: Path | str, events: Iterable[Event]) -> None:
    """Write a whole events file."""
    Path(path).write_text("".join(event_line(event) + "\n" for event in events), encoding="utf-8")
