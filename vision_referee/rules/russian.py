"""Russian pyramid (R-1 … R-7): as the small one for two players, with what today's classic pyramid changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vision_referee.domain.rulings import Foul
from vision_referee.rules.small_russian import SmallRussian
from vision_referee.rules.spotting import Spotter, foot_spot_long_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Russian(SmallRussian):
    name: ClassVar[str] = "russian"

    def cue_ball_in_hand_touches_nothing(self) -> bool:
        return True

    def body_out_is_free_foul(self) -> bool:
        return False  # S-10 does not hold: G-20.15

    def costs(self, foul: Foul) -> bool:
        return self.costs_by_agreement(foul)  # R-7: S-10's three cost points here

    def spotter(self) -> Spotter:
        return foot_spot_long_line
