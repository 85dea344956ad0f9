"""One decoded frame with the file's own time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]


@dataclass(slots=True)
class Frame:
    """A frame. Pixels are made on demand from the decoder's own picture, so a frame nobody looks at costs little.

    ``index`` counts decoded frames from 0; ``t_s`` is the presentation time relative to the first frame's.
    """

    index: int
    t_s: float
    picture: Any
    """A PyAV ``VideoFrame`` or a (h, w, 3) uint8 BGR array."""
    _bgr: U8 | None = None
    _luma: U8 | None = None

    def bgr(self) -> U8:
        """(h, w, 3) uint8 BGR pixels."""
        if self._bgr is None:
            if isinstance(self.picture, np.ndarray):
                self._bgr = self.picture
            else:
                self._bgr = self.picture.to_ndarray(format="bgr24")
        return self._bgr

    def luma(self) -> U8:
        """(h, w) uint8 brightness; the decoder's own Y plane where it has one (no colour conversion)."""
        if self._luma is None:
            picture = self.picture
            if not isinstance(picture, np.ndarray) and picture.format.name in ("yuv420p", "yuvj420p"):
                plane = picture.planes[0]
                rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
                self._luma = rows[: picture.height, : picture.width]
            else:
                self._luma = cv2.cvtColor(self.bgr(), cv2.COLOR_BGR2GRAY).astype(np.uint8, copy=False)
        return self._luma
