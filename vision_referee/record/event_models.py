"""The JSON shape of every event (CONTRACT: Events), as a discriminated union that pydantic checks."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter

from vision_referee.domain import events as domain
from vision_referee.domain.balls import is_ball_label
from vision_referee.domain.events import Source
from vision_referee.domain.table import Cushion, Line, PocketName


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
EVENT_ADAPTER: TypeAdapter[Any] = TypeAdapter(_AnyEvent)
"""Checks one JSON object and gives its model."""
