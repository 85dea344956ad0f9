"""G-16: whether a ball fell from a clear jolt of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_referee.domain.events import Event, Pocketed, Shake
from vision_referee.rules.doubt import LIKELY
from vision_referee.rules.settings import RuleSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Jolt:
    """Whether a jolt is taken to have shaken the ball down, and what is doubtful about it."""

    likely: bool
    doubts: tuple[str, ...] = ()


def jolted(events: Sequence[Event], fall: Pocketed, settings: RuleSettings) -> Jolt:
    """The jolts that this ball may have fallen from, taken together."""
    after = [(fall.t - e.t, e.confidence) for e in events if isinstance(e, Shake) and fall.t >= e.t]
    error_s = settings.time_error_s
    if any(dt <= settings.shake_s - error_s and confidence >= settings.sure for dt, confidence in after):
        return Jolt(likely=True)
    near = [(dt, confidence) for dt, confidence in after if dt < settings.shake_s + error_s]
    within = [confidence for dt, confidence in near if dt <= settings.shake_s + 1e-9]
    doubts: dict[str, None] = {}
    for dt, confidence in near:
        if abs(dt - settings.shake_s) < error_s and confidence >= LIKELY:
            doubts["edge:jolt_time"] = None
        elif confidence < settings.sure:
            doubts[f"unsure:shake::{confidence:.2f}"] = None
    return Jolt(likely=any(confidence >= LIKELY for confidence in within), doubts=tuple(doubts))
