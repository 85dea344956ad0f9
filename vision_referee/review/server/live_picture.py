"""The newest picture as a JPEG: made once for all who look, and only when somebody does."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from vision_referee.pipeline.live import Shown

_WIDEST_PX = 1280
_QUALITY = 82


class LivePicture:
    """Keeps the last picture that was asked for; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: Shown | None = None
        self._jpeg = b""
        self.made = 0
        """How many were encoded."""

    def jpeg(self, shown: Shown) -> bytes:
        """At most 1280 pixels wide."""
        with self._lock:
            if shown is not self._of:
                self._jpeg, self._of = _encoded(shown), shown
                self.made += 1
            return self._jpeg


def _encoded(shown: Shown) -> bytes:
    bgr = shown.bgr
    height, width = bgr.shape[:2]
    if width > _WIDEST_PX:
        size = (_WIDEST_PX, round(height * _WIDEST_PX / width))
        bgr = np.asarray(cv2.resize(bgr, size, interpolation=cv2.INTER_AREA), np.uint8)
    good, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if not good:
        raise ValueError("the picture could not be encoded")
    return data.tobytes()
