"""What would make the camera's view better, told from the newest picture: light and focus change while one works."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from vision_referee.calibration.hints import Hint, find_hints, rate_hint
from vision_referee.review.wording import Wording

if TYPE_CHECKING:
    from vision_referee.pipeline.live import Shown
    from vision_referee.pipeline.live_facts import LiveNow

_FRESH_S = 1.5


class LiveHints:
    """One look at the picture serves all pages for a moment; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken_s = float("-inf")
        self._of: object = None
        self._hints: list[Hint] = []

    def of(self, shown: Shown | None, now: LiveNow) -> list[Hint]:
        """Of the place, the picture and the rate; none while there is no table or no picture."""
        calibration = now.calibration
        if calibration is None or shown is None:
            return []
        with self._lock:
            if calibration is not self._of or time.monotonic() - self._taken_s > _FRESH_S:
                self._hints, self._of = find_hints(shown.bgr, calibration), calibration
                self._taken_s = time.monotonic()
            hints = list(self._hints)
        slow = rate_hint(now.camera.rate_hz) if now.camera.ok else None
        return [*hints, slow] if slow else hints


def hint_words(hint: Hint, words: Wording) -> str:
    """The hint in the reader's language."""

    def told(value: float | str) -> str:
        if isinstance(value, str):
            return words("hint.centre") if value == "centre" else words(f"pocket.{value}")
        return f"{value:.0f}"

    return words(f"hint.{hint.code}", **{name: told(value) for name, value in hint.values.items()})
