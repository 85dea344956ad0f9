"""The state of a match between two strokes: an immutable value that the rules fold strokes over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from vision_referee.domain.balls import CUE, ball_number
from vision_referee.domain.events import BallAt, Call
from vision_referee.domain.rulings import CueBallState
from vision_referee.domain.table import PocketName, TableSpec

Place = tuple[float, float]

IN_HAND = (CueBallState.IN_HAND_HOUSE, CueBallState.IN_HAND_FOOT)


class Phase(StrEnum):
    BEFORE = "before"
    """No game has begun: a lag may be played, a rack is awaited."""
    BREAK = "break"
    """Racked: the next stroke is the break."""
    PLAY = "play"
    OVER = "over"
    """The game is over; the next one begins with its rack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hanging:
    """A ball on a pocket's lip, and since when: the end of the stroke that left it there (G-16)."""

    pocket: PocketName
    x: float
    y: float
    since_s: float
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A ball that a player may take off the table onto his shelf before the next stroke (M-2, M-4)."""

    player: str
    owed: bool
    """A penalty ball (M-4): the point is his even if he takes none. Not so the ball for a fallen cue ball (M-2)."""
    t: float
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GameState:
    """All that the rules remember. Mappings in it are never changed in place."""

    table: TableSpec
    players: tuple[str, ...]
    turn: str
    phase: Phase = Phase.BEFORE
    cue_ball: CueBallState = CueBallState.IN_HAND_HOUSE
    score: Mapping[str, int] = field(default_factory=dict)
    handicap: Mapping[str, int] = field(default_factory=dict)
    shelves: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The balls that each player has scored, in the order in which he scored them."""
    debts: Mapping[str, int] = field(default_factory=dict)
    """Penalty balls that an empty shelf could not pay yet (M-4, 1994)."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where each ball on the bed lies, as far as is known."""
    balls_known: bool = False
    """Whether all balls on the bed are known: a rack or a rest has been seen in this game."""
    hanging: Mapping[str, Hanging] = field(default_factory=dict)
    full_rack: frozenset[str] = frozenset()
    """The labels of this game's fifteen object balls, where all were seen."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    unsure_numbers: frozenset[str] = frozenset()
    calls: tuple[Call, ...] = ()
    """Calls made since the last strike; the last holds (R-2)."""
    removals: tuple[Removal, ...] = ()
    picked_up: Mapping[str, Place] = field(default_factory=dict)
    """Balls taken off by hand since the last stroke and not put down again."""
    barred: tuple[str, frozenset[str]] | None = None
    """The player who may not play these balls with his next stroke (A-4, 1994)."""
    warned: frozenset[str] = frozenset()
    """Players warned of a house violation (G-20.15)."""
    last_striker: str | None = None
    last_violated: bool = False
    """Whether the last stroke from hand broke the house's bounds, so that a warning now is its striker's."""
    position_warned: bool = False
    clock_on_s: float | None = None
    rest_s: float = 0.0
    """When the last stroke ended."""
    clock_from_s: float = 0.0
    """What the time for the next stroke runs from: the last rest, rack or ruling between strokes (G-19)."""
    rest_confidence: float = 1.0
    in_motion: bool = False
    """Balls still roll: the last stroke had not ended when the next one began (G-20.3)."""
    strokes: int = 0
    """Strokes in this game."""
    game: int = 1
    wins: Mapping[str, int] = field(default_factory=dict)
    match_over: bool = False
    breaker: str | None = None
    starter: str | None = None
    """Who starts the next game by lag or by an official's word."""
    last_winner: str | None = None
    lag_wanted: bool = False
    lag_seen: bool = False
    """A lag was played and its game has not begun."""
    lag_missing: bool = False
    """The lag before the deciding game was not seen (G-3)."""
    choice_open: bool = False
    """The opponent may play on or have it racked again (M-8)."""
    struck_after: bool = False
    """Balls were struck after the game's end, before any rack."""
    reracked: bool = False
    """A re-rack was ordered and the rack is awaited (G-18, M-8)."""
    break_again: bool = False
    """That rack is broken as a break (M-8), not played on from hand (G-18)."""
    respotted: str | None = None
    """The ball that 70 : 70 put back on the foot spot (R-5)."""

    def after(self, player: str) -> str:
        """The player whose turn comes after this one's; for two, the opponent."""
        return self.players[(self.players.index(player) + 1) % len(self.players)]

    def objects(self) -> tuple[str, ...]:
        """The object balls on the bed."""
        return tuple(ball for ball in self.places if ball != CUE)

    def number_of(self, ball: str) -> int | None:
        """The ball's number: printed in its label, identified since, or the only one left of a full rack."""
        number = ball_number(ball)
        if number is None and ball != CUE:
            number = self.numbers.get(ball)
        if number is None and ball in self.full_rack:
            others = {self.numbers.get(b, ball_number(b) or 0) for b in self.full_rack if b != ball}
            if len(others) == len(self.full_rack) - 1 == 14 and 0 not in others:
                number = (set(range(1, 16)) - others).pop()
        return number

    def holder_of(self, number: int) -> str | None:
        """The ball, on the bed or on a shelf, that is known to bear this number."""
        shelved = [ball for shelf in self.shelves.values() for ball in shelf]
        every = (*self.places, *shelved, *self.full_rack)
        return next((ball for ball in every if self.number_of(ball) == number), None)


def ascending(state: GameState, balls: list[str]) -> list[str]:
    """Balls in ascending number (R-4, S-9); those of unknown number after them, the cue ball last."""
    return sorted(balls, key=lambda b: (b == CUE, state.number_of(b) or 99, len(b), b))


def at(ball: str, place: Place) -> BallAt:
    return BallAt(ball=ball, x=place[0], y=place[1])
