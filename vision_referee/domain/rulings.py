"""Rulings: what the referee decided of a stroke or of what happened between strokes. See CONTRACT: Rulings."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from vision_referee.domain.events import BallAt
from vision_referee.domain.table import PocketName


class RulingKind(StrEnum):
    STROKE = "stroke"
    LAG = "lag"
    HANGING = "hanging"
    INTERFERENCE = "interference"
    BETWEEN = "between"
    GAME = "game"


class FoulCode(StrEnum):
    NO_CONTACT = "no_contact"
    CUE_BALL_OFF_TABLE = "cue_ball_off_table"
    STROKE_BEFORE_REST = "stroke_before_rest"
    FEET_OFF_FLOOR = "feet_off_floor"
    BALL_TOUCHED = "ball_touched"
    ILLEGAL_STROKE = "illegal_stroke"
    CLOSE_BALL = "close_ball"
    PUSH = "push"
    DOUBLE_HIT = "double_hit"
    SQUEEZE = "squeeze"
    HOUSE_BALL_HIT = "house_ball_hit"
    WRONG_CUE_BALL = "wrong_cue_ball"
    CUE_BALL_POCKETED = "cue_ball_pocketed"
    BAD_SAFETY = "bad_safety"
    HOUSE_VIOLATION = "house_violation"
    INTERFERENCE = "interference"
    TIME_OVER = "time_over"


class CueBallState(StrEnum):
    IN_PLACE = "in_place"
    IN_HAND_HOUSE = "in_hand_house"
    IN_HAND_FOOT = "in_hand_foot"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Foul:
    code: FoulCode
    rule: str
    t: float
    balls: tuple[str, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalty:
    """Points or balls, given once, to the player ``to``."""

    points: int | None = None
    balls: int | None = None
    to: str | None = None
    offender: str | None = None
    """Who pays; not the ruling's player where an opponent interfered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedBall:
    ball: str
    pocket: PocketName | None
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStroke:
    player: str
    cue_ball: CueBallState


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    id: int
    kind: RulingKind
    t_start: float
    t_end: float
    player: str | None
    fouls: tuple[Foul, ...] = ()
    penalty: Penalty | None = None
    counted: tuple[CountedBall, ...] = ()
    spotted: tuple[BallAt, ...] = ()
    restored: tuple[BallAt, ...] = ()
    replay: bool = False
    next: NextStroke | None = None
    score: dict[str, int] = field(default_factory=dict)
    game_over: bool = False
    winner: str | None = None
    confidence: float = 1.0
    review: bool = False
    doubts: tuple[str, ...] = ()
    """Keys of the phrase book's reasons for a review."""
    choice: tuple[str, ...] = ()
    """What the next player may choose (M-8)."""
    overridden: bool = False
    notes: tuple[str, ...] = ()
    """Keys of the phrase book for what the referee adds without doubting: a warning to propose, a rack that is off."""
    match: dict[str, int] = field(default_factory=dict)
    """Games won so far, by player."""
    match_over: bool = False
    text: dict[str, str] = field(default_factory=dict)
