"""A decision before it becomes a ruling: what the rules made of a stroke, and where it leaves the balls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vision_referee.domain.events import BallAt
from vision_referee.domain.rulings import CountedBall, CueBallState, Foul, Penalty, RulingKind
from vision_referee.rules.state import Hanging, Place, Removal


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All of a ruling that does not depend on the score, and the position after it."""

    kind: RulingKind
    t_start: float
    t_end: float
    player: str | None
    offender: str | None = None
    """Who pays the penalty; the player where it is not said."""
    fouls: tuple[Foul, ...] = ()
    penalty: Penalty | None = None
    counted: tuple[CountedBall, ...] = ()
    spotted: tuple[BallAt, ...] = ()
    returned: tuple[str, ...] = ()
    """Balls that went back from the offender's shelf; they stand among the spotted (M-4, 1994)."""
    restored: tuple[BallAt, ...] = ()
    replay: bool = False
    next_player: str | None
    cue_ball: CueBallState
    places: Mapping[str, Place]
    hanging: Mapping[str, Hanging] = field(default_factory=dict)
    removals: tuple[Removal, ...] = ()
    debts: int = 0
    """Penalty balls that the offender's shelf could not pay."""
    barred: tuple[str, frozenset[str]] | None = None
    choice: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: float = 1.0
    winner: str | None = None
    """Only of a lag."""
    awarded: int = 0
    """Balls entered for the player without one having been taken (M-4)."""
    drawn: bool = False
    """Agreed a draw (A-6)."""
    violated_house: bool = False

    def same_decision(self, other: Draft) -> bool:
        """Whether players would notice no difference. A second foul beside one that holds costs nothing more (G-20)."""
        codes, others = ({foul.code for foul in draft.fouls} for draft in (self, other))
        return self._outcome() == other._outcome() and (bool(codes & others) or not (codes or others))

    def _outcome(self) -> tuple[Any, ...]:
        return (
            self.kind,
            self.player,
            self.penalty,
            frozenset((ball.ball, ball.points) for ball in self.counted),
            frozenset(ball.ball for ball in self.spotted),
            frozenset(ball.ball for ball in self.restored),
            self.replay,
            self.next_player,
            self.cue_ball,
            self.choice,
            self.winner,
        )
