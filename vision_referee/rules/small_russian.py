"""Small Russian pyramid (S-1 … S-12): called, 71 points, the ace and the last ball ten more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vision_referee.domain.rulings import Foul, FoulCode, Penalty
from vision_referee.rules.game import Fine, Game
from vision_referee.rules.spotting import Spotter, foot_spot_then_cushion
from vision_referee.rules.state import GameState

PENALTY_POINTS = 5
TEN_MORE = 10
_TARGETS = {2: 71, 3: 51, 4: 41}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallRussian(Game):
    name: ClassVar[str] = "small-russian"
    called: ClassVar[bool] = True  # S-6

    def target(self, players: int) -> int:
        return _TARGETS[players]  # S-4, S-5

    def draw_at(self, players: int) -> int | None:
        return _TARGETS[players] - 1  # S-4: 70 and 70; S-5: 50 each, 40 each

    def numbers_matter(self) -> bool:
        return True

    def points(self, state: GameState, ball: str, *, last: bool) -> int | None:
        number = state.number_of(ball)
        if number is None:
            return None
        players = len(state.players)
        # S-3: the ace; S-5: the two with three players, the three too with four.
        dear = number == 1 or (number == 2 and players >= 3) or (number == 3 and players == 4)
        return number + (TEN_MORE if dear else 0) + (TEN_MORE if last else 0)

    def pocketed_cue_ball_is_foul(self) -> bool:
        return True  # S-8 a

    def body_out_is_free_foul(self) -> bool:
        return True  # S-10

    def costs(self, foul: Foul) -> bool:
        if foul.code in (FoulCode.PUSH, FoulCode.SQUEEZE, FoulCode.FEET_OFF_FLOOR) or foul.rule == "S-10":
            return False  # S-10: no points
        return self.costs_by_agreement(foul)

    def costs_by_agreement(self, foul: Foul) -> bool:
        """S-9: the points of e) and f) may be switched off."""
        if foul.code is FoulCode.BALL_TOUCHED:
            return self.settings.penalty_points_touch
        if foul.code is FoulCode.ILLEGAL_STROKE:
            return self.settings.penalty_points_butt
        return True

    def fine(self, state: GameState, offender: str, to: str, t: float) -> Fine:
        return Fine(penalty=Penalty(points=PENALTY_POINTS, to=to))  # S-8

    def spotter(self) -> Spotter:
        return foot_spot_then_cushion  # S-9
