"""American (A-1 … A-6): any ball may be the cue ball, no call, every ball one, first to eight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Strike
from vision_referee.domain.rulings import CueBallState
from vision_referee.rules.game import Fine, Game
from vision_referee.rules.moscow import ball_penalty
from vision_referee.rules.settings import FEDERATION
from vision_referee.rules.state import IN_HAND, GameState, Place
from vision_referee.rules.stroke import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class American(Game):
    name: ClassVar[str] = "american"
    any_cue_ball: ClassVar[bool] = True

    def balls_left(self, places: Mapping[str, Place]) -> int:
        return len(places) - 1  # a lone ball has none to touch

    def is_object(self, ball: str) -> bool:
        return True  # the struck ball counts and is spotted as any other

    def from_hand(self, state: GameState, strike: Strike) -> bool:
        # broken with the coloured ball from hand; so too when it was racked again (G-18).
        return state.cue_ball in IN_HAND and strike.ball == CUE

    def wrong_ball(self, state: GameState, strike: Strike, is_break: bool) -> str | None:
        return "A-1" if is_break and strike.ball != CUE else None

    def cue_ball_after(self, default: CueBallState) -> CueBallState:
        return CueBallState.ANY

    def barred_ball(self, state: GameState, facts: Facts, striker: str) -> str | None:
        if state.barred is None or state.barred[0] != striker:
            return None
        barred = state.barred[1]
        if len(state.places.keys() - barred) < 2:
            return None  # only such balls are left: with fewer than two others nothing else can be played
        return next((ball for ball in (facts.strike.ball, facts.partner) if ball in barred), None)

    def bar_returned(self, offender: str, to: str, returned: tuple[str, ...]) -> tuple[str, frozenset[str]] | None:
        if not returned or self.settings.edition == FEDERATION:
            return None
        return (to, frozenset(returned))  # A-4, 1994

    def fine(self, state: GameState, offender: str, to: str, t: float) -> Fine:
        return ball_penalty(self.settings.edition, state, offender, to, t)
