"""The decoder's own picture: a brightness plane and two colour planes of half its width and height.

Nearly every video is stored so. Working on the planes saves the conversion of whole pictures to BGR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
F32 = npt.NDArray[np.float32]

_NO_MAP: Any = None  # the first map already holds x and y

_LUMA_SHARES = {
    "bt601": (0.299, 0.114),
    "bt709": (0.2126, 0.0722),
    "smpte240": (0.212, 0.087),
    "bt2020": (0.2627, 0.0593),
}
"""Shares of red and blue in brightness: ITU-R BT.601, BT.709 and BT.2020, SMPTE 240M."""
_STANDARD_OF_TAG = {1: "bt709", 7: "smpte240", 9: "bt2020", 10: "bt2020"}
"""ISO/IEC 23091-2 matrix coefficients; all others are read as BT.601."""
_FULL_RANGE_TAG = 2


def _to_bgr(standard: str, *, full_range: bool) -> F32:
    """(3, 4) matrix that takes (Y, U, V, 1), all 0..255, to (B, G, R), as ITU-R BT.709 says."""
    red, blue = _LUMA_SHARES[standard]
    green = 1 - red - blue
    light, colour, black = (1.0, 1.0, 0.0) if full_range else (255 / 219, 255 / 224, 16.0)
    from_u, from_v = 2 * (1 - blue) * colour, 2 * (1 - red) * colour
    matrix = np.array(
        [
            [light, from_u, 0.0],
            [light, -from_u * blue / green, -from_v * red / green],
            [light, 0.0, from_v],
        ]
    )
    offset = -matrix @ (black, 128.0, 128.0)
    return np.column_stack([matrix, offset]).astype(np.float32)


_MATRICES = {(s, full): _to_bgr(s, full_range=full) for s in _LUMA_SHARES for full in (False, True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """``y`` (h, w), ``u`` and ``v`` (ceil(h / 2), ceil(w / 2)) uint8; ``to_bgr`` (3, 4) takes (Y, U, V, 1) to BGR."""

    y: U8
    u: U8
    v: U8
    to_bgr: F32

    @staticmethod
    def of_picture(picture: Any) -> Planes:
        """Of a PyAV ``VideoFrame``; other formats than 8 bit 4:2:0 are converted first."""
        if picture.format.name not in ("yuv420p", "yuvj420p"):
            picture = picture.reformat(format="yuv420p")
        width, height = picture.width, picture.height
        sizes = ((height, width), ((height + 1) // 2, (width + 1) // 2), ((height + 1) // 2, (width + 1) // 2))
        y, u, v = (_plane(plane, *size) for plane, size in zip(picture.planes, sizes, strict=True))
        full_range = picture.format.name == "yuvj420p" or int(picture.color_range) == _FULL_RANGE_TAG
        standard = _STANDARD_OF_TAG.get(int(picture.colorspace), "bt601")
        return Planes(y=y, u=u, v=v, to_bgr=_MATRICES[standard, full_range])

    @staticmethod
    def of_bgr(bgr: U8) -> Planes:
        """Of an ordinary picture, such as a camera's."""
        height, width = bgr.shape[:2]
        even = bgr
        if height % 2 or width % 2:
            even = np.asarray(cv2.copyMakeBorder(bgr, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE), np.uint8)
        stacked = cv2.cvtColor(even, cv2.COLOR_BGR2YUV_I420)
        rows, columns = even.shape[:2]
        u, v = stacked[rows:].reshape(2, rows // 2, columns // 2).astype(np.uint8, copy=False)
        return Planes(
            y=stacked[:height, :width].astype(np.uint8, copy=False), u=u, v=v, to_bgr=_MATRICES["bt601", False]
        )

    def part(self, x0: int, y0: int, x1: int, y1: int) -> U8:
        """BGR (y1 - y0, x1 - x0, 3) of a part."""
        left, top = x0 // 2, y0 // 2
        right, bottom = (x1 + 1) // 2, (y1 + 1) // 2
        y = self.y[2 * top : 2 * bottom, 2 * left : 2 * right]
        size = (2 * (right - left), 2 * (bottom - top))
        u, v = (
            cv2.resize(plane[top:bottom, left:right], size, interpolation=cv2.INTER_NEAREST)[: y.shape[0], : y.shape[1]]
            for plane in (self.u, self.v)
        )
        whole = cv2.transform(cv2.merge([y, u, v]), self.to_bgr)
        return np.asarray(whole[y0 - 2 * top : y1 - 2 * top, x0 - 2 * left : x1 - 2 * left], np.uint8)

    def half(self, y: U8) -> U8:
        """BGR (h // 2, w // 2, 3), given the brightness ``y`` (h // 2, w // 2) at that size."""
        height, width = y.shape
        merged = cv2.merge([y, self.u[:height, :width], self.v[:height, :width]])
        return np.asarray(cv2.transform(merged, self.to_bgr), np.uint8)

    def sample(self, places_px: F32) -> F32:
        """BGR (rows, columns, 3) at places (rows, columns, 2)."""
        halves = places_px * np.float32(0.5) - np.float32(0.25)
        yuv = [
            cv2.remap(plane, where, _NO_MAP, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            for plane, where in ((self.y, places_px), (self.u, halves), (self.v, halves))
        ]
        return cv2.transform(cv2.merge(yuv), self.to_bgr).astype(np.float32)


def _plane(plane: Any, height: int, width: int) -> U8:
    rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
    return rows[:height, :width]
