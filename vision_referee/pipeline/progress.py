"""How far an analysis is: what a terminal or a log wants to hear, without knowing which of them listens."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """``done_s`` of ``total_s`` seconds of video (total None: unknown), at ``speed`` times real time."""

    stage: str
    done_s: float
    total_s: float | None
    speed: float
    left_s: float | None


Listener = Callable[[Progress], None]


class ProgressMeter:
    """Turns video time into speed and time left, and tells the listener now and then."""

    def __init__(
        self, listener: Listener | None, total_s: float | None, *, from_s: float = 0.0, every_s: float = 0.5
    ) -> None:
        """``from_s``: seconds that were done before."""
        self._listener = listener
        self._from_s = from_s
        self._total_s = total_s
        self._every_s = every_s
        self._begun = time.monotonic()
        self._told = 0.0

    def tell(self, stage: str, done_s: float, *, last: bool = False) -> None:
        now = time.monotonic()
        if self._listener is None or (not last and now - self._told < self._every_s):
            return
        self._told = now
        spent = max(now - self._begun, 1e-6)
        speed = (done_s - self._from_s) / spent
        left = (self._total_s - done_s) / speed if self._total_s and speed > 0.01 else None
        self._listener(
            Progress(
                stage=stage,
                done_s=done_s,
                total_s=self._total_s,
                speed=speed,
                left_s=None if left is None else max(left, 0.0),
            )
        )
