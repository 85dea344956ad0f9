"""What may differ from game to game. The defaults are the general rules; each game overrides what its book changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Strike
from vision_referee.domain.rulings import CueBallState, Foul, Penalty
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.spotting import Spotter, foot_cushion, foot_spot_long_line
from vision_referee.rules.state import IN_HAND, GameState, Place, Removal
from vision_referee.rules.stroke import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Fine:
    """What a penalty does besides standing in the ruling."""

    penalty: Penalty | None = None
    returned: str | None = None
    """The ball that goes back from the offender's shelf (M-4, 1994)."""
    debt: int = 0
    removals: tuple[Removal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A rule set with its settings."""

    settings: RuleSettings

    name: ClassVar[str] = ""
    called: ClassVar[bool] = False
    """Strokes are called (S-6)."""
    any_cue_ball: ClassVar[bool] = False
    """Any ball may be struck, and every ball is an object ball (A-1)."""
    cue_ball_fall_counts: ClassVar[bool] = False
    """The cue ball that falls off an object ball is no foul (M-2)."""

    # --- the score ---

    def target(self, players: int) -> int:
        """The score that wins."""
        return 8

    def draw_at(self, players: int) -> int | None:
        """The score at which all are even and the game is drawn."""
        return None

    def points(self, state: GameState, ball: str, *, last: bool) -> int | None:
        """What a ball scores; None where that needs a number that is not known."""
        return 1

    def numbers_matter(self) -> bool:
        return False

    def balls_left(self, places: Mapping[str, Place]) -> int:
        """Balls that can still be scored."""
        return sum(ball != CUE for ball in places)

    # --- the cue ball ---

    def is_object(self, ball: str) -> bool:
        return ball != CUE

    def from_hand(self, state: GameState, strike: Strike) -> bool:
        """Whether this stroke is made from hand (G-5)."""
        return state.cue_ball in IN_HAND and strike.ball == CUE

    def wrong_ball(self, state: GameState, strike: Strike, is_break: bool) -> str | None:
        """The rule id that striking this ball breaks, if any: G-20.12."""
        return None if strike.ball == CUE else "G-20.12"

    def barred_ball(self, state: GameState, facts: Facts, striker: str) -> str | None:
        """A ball that this player struck or hit first though he might not (A-4, 1994)."""
        return None

    def cue_ball_after(self, default: CueBallState) -> CueBallState:
        return default

    # --- fouls and penalties ---

    def pocketed_cue_ball_is_foul(self) -> bool:
        """G-20.13."""
        return False

    def cue_ball_in_hand_touches_nothing(self) -> bool:
        """R-6: from hand the cue ball stands clear of every other."""
        return False

    def body_out_is_free_foul(self) -> bool:
        """S-10: the body over the long cushion's line costs the ball but no points, warned or not."""
        return False

    def costs(self, foul: Foul) -> bool:
        """Whether this foul is fined, beyond balls not counting and the turn passing."""
        return True

    def fine(self, state: GameState, offender: str, to: str, t: float) -> Fine:
        """The penalty for one offence."""
        raise NotImplementedError

    def spotter(self) -> Spotter:
        """Where balls are spotted."""
        return foot_spot_long_line

    def spotter_of_penalty(self) -> Spotter:
        """Where a ball that goes back from a shelf is put: the foot cushion's middle (M-4, 1994)."""
        return foot_cushion

    def safety_is_required(self) -> bool:
        return bool(self.settings.legal_safety)

    def break_is_required(self) -> bool:
        return bool(self.settings.break_rule)

    def bar_returned(self, offender: str, to: str, returned: tuple[str, ...]) -> tuple[str, frozenset[str]] | None:
        """Which player may not play which balls with his next stroke (A-4, 1994)."""
        return None
