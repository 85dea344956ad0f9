"""Moscow pyramid (M-1 … M-8): one cue ball, no call, every ball one, first to eight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vision_referee.domain.rulings import Penalty
from vision_referee.rules.game import Fine, Game
from vision_referee.rules.settings import FEDERATION
from vision_referee.rules.spotting import Spotter, foot_cushion, foot_spot_long_line
from vision_referee.rules.state import GameState, Removal


def ball_penalty(edition: str, state: GameState, offender: str, to: str, t: float) -> Fine:
    """M-4, A-4: the opponent takes a ball (federation), or one goes back from the offender's shelf (1994)."""
    if edition == FEDERATION:
        return Fine(penalty=Penalty(balls=1, to=to), removals=(Removal(player=to, owed=True, t=t, rule="M-4"),))
    shelf = state.shelves.get(offender, ())
    if shelf:
        return Fine(penalty=Penalty(balls=1), returned=shelf[-1])  # the one he scored last
    return Fine(penalty=Penalty(balls=1), debt=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moscow(Game):
    name: ClassVar[str] = "moscow"
    cue_ball_fall_counts: ClassVar[bool] = True  # M-2; without a contact it is no_contact (M-3)

    def cue_ball_in_hand_touches_nothing(self) -> bool:
        return True  # M-6: as R-6

    def fine(self, state: GameState, offender: str, to: str, t: float) -> Fine:
        return ball_penalty(self.settings.edition, state, offender, to, t)  # M-4

    def spotter(self) -> Spotter:
        return foot_spot_long_line if self.settings.edition == FEDERATION else foot_cushion  # M-5
