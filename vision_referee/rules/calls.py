"""Calls (S-6, S-7, R-2): whether one was made, and whether the ball fell as called."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from vision_referee.domain.balls import CUE, ball_number
from vision_referee.domain.events import Call, Pocketed
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.state import GameState


class CallResult(StrEnum):
    GOOD = "good"
    FAILED = "failed"
    MISSING = "missing"
    UNKNOWN_NUMBER = "unknown_number"
    """A ball that may be the called one fell into the called pocket."""


def last_call(state: GameState) -> Call | None:
    """The call in force: the last one before the strike."""
    return state.calls[-1] if state.calls else None


def one_ball_left(state: GameState) -> bool:
    return state.balls_known and len(state.objects()) == 1


def is_complete(state: GameState, call: Call | None, settings: RuleSettings) -> bool:
    """Ball and pocket, and the way in a pure call; of the last ball the pocket is enough. Else it is a missing call."""
    if call is None or call.pocket is None:
        return False
    if call.ball is None and not one_ball_left(state):
        return False
    return settings.call != "pure" or bool(call.how and call.how.strip())


def judge_call(state: GameState, call: Call | None, pots: Sequence[Pocketed], settings: RuleSettings) -> CallResult:
    """How the call came out, given the object balls that fell (those rolled along the rail left out)."""
    if call is None or not is_complete(state, call, settings):
        return CallResult.MISSING
    there = [pot.ball for pot in pots if pot.pocket is call.pocket]
    if call.ball is None or one_ball_left(state):
        return CallResult.GOOD if there else CallResult.FAILED
    if any(is_called(state, ball, call.ball) for ball in there):
        return CallResult.GOOD
    if any(may_be_called(state, ball, call.ball) for ball in there):
        return CallResult.UNKNOWN_NUMBER
    return CallResult.FAILED


def is_called(state: GameState, ball: str, called: str) -> bool:
    """Whether this ball is the one named: by its label or by its number."""
    if ball == called:
        return True
    number = ball_number(called) or state.number_of(called)
    return number is not None and state.number_of(ball) == number


def may_be_called(state: GameState, ball: str, called: str) -> bool:
    """Whether a ball of unknown number may be the one named: no other ball is known to bear that number."""
    number = ball_number(called)
    return ball != CUE and number is not None and state.number_of(ball) is None and state.holder_of(number) is None
