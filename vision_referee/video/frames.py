"""One decoded frame with the file's own time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.video.colour_planes import Planes

U8 = npt.NDArray[np.uint8]
F32 = npt.NDArray[np.float32]

_NO_MAP: Any = None  # the first map already holds x and y


@dataclass(slots=True)
class Frame:
    """A frame. Pixels are made on demand from the decoder's own picture, so a frame nobody looks at costs little.

    Converting a whole 1080p picture to BGR costs as much as decoding it: who needs a part asks for ``part``, who needs
    single places for ``sample``, and who needs an overview for ``half``.

    ``index`` counts decoded frames from 0; ``t_s`` is the presentation time relative to the first frame's.
    """

    index: int
    t_s: float
    picture: Any
    """A PyAV ``VideoFrame`` or a (h, w, 3) uint8 BGR array."""
    _bgr: U8 | None = None
    _luma: U8 | None = None
    _planes: Planes | None = None
    _half: U8 | None = None
    _half_luma: U8 | None = None

    @staticmethod
    def still(bgr: U8) -> Frame:
        """A picture (h, w, 3) that belongs to no video."""
        return Frame(index=0, t_s=0.0, picture=bgr)

    @property
    def size_px(self) -> tuple[int, int]:
        """(width, height)."""
        if isinstance(self.picture, np.ndarray):
            return (self.picture.shape[1], self.picture.shape[0])
        return (self.picture.width, self.picture.height)

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
            if isinstance(self.picture, np.ndarray):
                self._luma = cv2.cvtColor(self.picture, cv2.COLOR_BGR2GRAY).astype(np.uint8, copy=False)
            else:
                self._luma = self.planes().y
        return self._luma

    def planes(self) -> Planes:
        """Brightness and the two colour planes at half size, without a copy where the decoder has them so."""
        if self._planes is None:
            if isinstance(self.picture, np.ndarray):
                self._planes = Planes.of_bgr(self.picture)
            else:
                self._planes = Planes.of_picture(self.picture)
        return self._planes

    def part(self, x0: int, y0: int, x1: int, y1: int) -> U8:
        """BGR pixels (y1 - y0, x1 - x0, 3) of a part of the picture."""
        if self._bgr is not None or isinstance(self.picture, np.ndarray):
            return self.bgr()[y0:y1, x0:x1]
        return self.planes().part(x0, y0, x1, y1)

    def half(self) -> U8:
        """(h // 2, w // 2, 3) BGR: each pixel the mean of four."""
        if self._half is None:
            if isinstance(self.picture, np.ndarray):
                width, height = self.size_px
                even = self.picture[: height // 2 * 2, : width // 2 * 2]
                half = cv2.resize(even, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
                self._half = half.astype(np.uint8, copy=False)
            else:
                self._half = self.planes().half(self.half_luma())
        return self._half

    def half_luma(self) -> U8:
        """(h // 2, w // 2) brightness: each pixel the mean of four."""
        if self._half_luma is None:
            luma = self.luma()
            height, width = luma.shape[0] // 2, luma.shape[1] // 2
            half = cv2.resize(luma[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA)
            self._half_luma = half.astype(np.uint8, copy=False)
        return self._half_luma

    def sample(self, places_px: F32) -> F32:
        """BGR colours (rows, columns, 3), 0..255, at places (rows, columns, 2), linear between pixels.

        Fewer than 32768 rows and columns (OpenCV's limit). Places outside the picture take its edge's colour.
        """
        if self._bgr is not None or isinstance(self.picture, np.ndarray):
            seen = cv2.remap(self.bgr(), places_px, _NO_MAP, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            return seen.astype(np.float32)
        return self.planes().sample(places_px)
