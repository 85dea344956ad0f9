"""Finding the table while the camera already runs: tried again and again, and why it is not found is always known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vision_referee.calibration.calibration import Calibration
from vision_referee.domain.errors import CalibrationError
from vision_referee.pipeline.eye import TableWish, find_table
from vision_referee.video.frames import Frame

_KEEP_EVERY_S = 0.25
_KEEP = 9
"""Frames that are kept; people move away from some part of the table in some of them."""
_FIRST_TRY_S = 1.0
_AGAIN_S = 2.0

Finder = Callable[[Sequence[Frame], TableWish], Calibration]


class TableSearch:
    """``push`` frames until it answers a calibration. ``reason`` is why the last try found none."""

    def __init__(self, wish: TableWish, *, finder: Finder = find_table) -> None:
        self.reason = ""
        self.tries = 0
        self._wish = wish
        self._finder = finder
        self._kept: list[Frame] = []
        self._kept_s = -1e9
        self._try_at_s: float | None = None

    def look(self, frames: Sequence[Frame]) -> Calibration | None:
        """Try on these frames at once."""
        self.tries += 1
        try:
            return self._finder(frames, self._wish)
        except CalibrationError as error:
            self.reason = str(error)
            return None

    def push(self, frame: Frame) -> Calibration | None:
        """One frame on; now and then this takes the seconds that a search takes."""
        if frame.t_s - self._kept_s >= _KEEP_EVERY_S:
            frame.bgr()
            self._kept = [*self._kept, frame][-_KEEP:]
            self._kept_s = frame.t_s
        if self._wish.calibration is not None:
            return self.look([frame])
        if self._try_at_s is None:
            self._try_at_s = frame.t_s + _FIRST_TRY_S
        if frame.t_s < self._try_at_s or len(self._kept) < 2:
            return None
        found = self.look(self._kept)
        self._try_at_s = frame.t_s + _AGAIN_S
        return found
