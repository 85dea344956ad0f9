"""Events: what vision saw and what an official said. A closed union; see CONTRACT: Events.

Who reads events uses ``match`` and ends with ``typing.assert_never`` so that a new type fails the type check
where it is not handled. Field names are the contract's own (JSON names), units: seconds, mm, mm/s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from vision_referee.domain.table import Cushion, Line, PocketName


class Source(StrEnum):
    VISION = "vision"
    OFFICIAL = "official"


class TouchedBy(StrEnum):
    CUE = "cue"
    HAND = "hand"
    CLOTHING = "clothing"
    REST = "rest"
    UNKNOWN = "unknown"


class ReturnTouched(StrEnum):
    EQUIPMENT = "equipment"
    OTHER = "other"
    UNKNOWN = "unknown"


class MovedCause(StrEnum):
    OPPONENT = "opponent"
    OUTSIDER = "outsider"
    UNKNOWN = "unknown"


class TipKind(StrEnum):
    DOUBLE_HIT = "double_hit"
    PUSH = "push"
    SQUEEZE = "squeeze"


class InterferenceBy(StrEnum):
    OPPONENT = "opponent"
    OUTSIDER = "outsider"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class BallAt:
    """A ball at a place: ``ball`` label, centre (x, y) in mm."""

    ball: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    t: float
    confidence: float = 1.0
    source: Source = Source.VISION
    frame: int | None = None
    id: int | None = None
    """Identity within one events file; ``retract`` and ``confirm`` refer to it. Its line number by default."""


# --- seen by vision (an official may enter any of them too) ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Racked(_Event):
    type: ClassVar[str] = "racked"
    balls: tuple[BallAt, ...]
    order_ok: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(_Event):
    type: ClassVar[str] = "placed"
    ball: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedUp(_Event):
    type: ClassVar[str] = "picked_up"
    ball: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike(_Event):
    type: ClassVar[str] = "strike"
    ball: str
    x: float
    y: float
    vx: float
    vy: float
    player: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact(_Event):
    type: ClassVar[str] = "contact"
    balls: tuple[str, str]
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CushionHit(_Event):
    type: ClassVar[str] = "cushion"
    ball: str
    cushion: Cushion
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed(_Event):
    type: ClassVar[str] = "crossed"
    ball: str
    line: Line
    direction: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pocketed(_Event):
    type: ClassVar[str] = "pocketed"
    ball: str
    pocket: PocketName


@dataclass(frozen=True, slots=True, kw_only=True)
class PocketRebound(_Event):
    type: ClassVar[str] = "pocket_rebound"
    ball: str
    pocket: PocketName


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftTable(_Event):
    type: ClassVar[str] = "left_table"
    ball: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned(_Event):
    type: ClassVar[str] = "returned"
    ball: str
    x: float
    y: float
    touched: ReturnTouched = ReturnTouched.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(_Event):
    type: ClassVar[str] = "stopped"
    ball: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest(_Event):
    type: ClassVar[str] = "rest"
    balls: tuple[BallAt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hanging(_Event):
    type: ClassVar[str] = "hanging"
    ball: str
    pocket: PocketName
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shake(_Event):
    type: ClassVar[str] = "shake"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch(_Event):
    type: ClassVar[str] = "touch"
    ball: str
    by: TouchedBy = TouchedBy.UNKNOWN
    moved_mm: float = 0.0
    player: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(_Event):
    type: ClassVar[str] = "moved"
    ball: str
    x: float
    y: float
    cause: MovedCause = MovedCause.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip(_Event):
    type: ClassVar[str] = "tip"
    ball: str
    kind: TipKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified(_Event):
    type: ClassVar[str] = "identified"
    ball: str
    number: int


# --- only an official can say ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(_Event):
    type: ClassVar[str] = "call"
    ball: str | None = None
    pocket: PocketName | None = None
    how: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeetOffFloor(_Event):
    type: ClassVar[str] = "feet_off_floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class IllegalTip(_Event):
    type: ClassVar[str] = "illegal_tip"


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyOut(_Event):
    type: ClassVar[str] = "body_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class RailRoll(_Event):
    type: ClassVar[str] = "rail_roll"
    ball: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warning_(_Event):
    type: ClassVar[str] = "warning"
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interference(_Event):
    type: ClassVar[str] = "interference"
    by: InterferenceBy
    intentional: bool = False
    stopped_ball: str | None = None
    pocket: PocketName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotClock(_Event):
    type: ClassVar[str] = "shot_clock"
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerack(_Event):
    type: ClassVar[str] = "rerack"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcedeBreak(_Event):
    type: ClassVar[str] = "concede_break"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handicap(_Event):
    type: ClassVar[str] = "handicap"
    player: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameOverMistake(_Event):
    type: ClassVar[str] = "frame_over_mistake"
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove(_Event):
    type: ClassVar[str] = "remove"
    ball: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeDraw(_Event):
    type: ClassVar[str] = "agree_draw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts(_Event):
    type: ClassVar[str] = "starts"
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Override(_Event):
    type: ClassVar[str] = "override"
    ruling: int | str
    fields: dict[str, Any] = field(default_factory=dict)
    """Ruling fields that replace the derived ones (JSON names)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retract(_Event):
    type: ClassVar[str] = "retract"
    ref: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm(_Event):
    type: ClassVar[str] = "confirm"
    ref: int


VisionEvent = (
    Racked
    | Placed
    | PickedUp
    | Strike
    | Contact
    | CushionHit
    | Crossed
    | Pocketed
    | PocketRebound
    | LeftTable
    | Returned
    | Stopped
    | Rest
    | Hanging
    | Shake
    | Touch
    | Moved
    | Tip
    | Identified
)
OfficialEvent = (
    Call
    | FeetOffFloor
    | IllegalTip
    | BodyOut
    | RailRoll
    | Warning_
    | Interference
    | ShotClock
    | Rerack
    | ConcedeBreak
    | Handicap
    | FrameOverMistake
    | Remove
    | AgreeDraw
    | Starts
    | Override
    | Retract
    | Confirm
)
Event = VisionEvent | OfficialEvent
