"""Which part of the picture goes into the network, and at what scale."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

MULTIPLE_PX = 32
EASY_BALL_PX = 30.0
"""Ball width at which the network is surest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A crop x0 y0 x1 y1 of the picture and the factor by which it is scaled for the network."""

    x0: int
    y0: int
    x1: int
    y1: int
    scale: float

    @property
    def input_px(self) -> tuple[int, int]:
        """(width, height) of the network's input: the scaled crop, padded to whole multiples of 32."""
        width = round((self.x1 - self.x0) * self.scale)
        height = round((self.y1 - self.y0) * self.scale)
        return (_up(width), _up(height))

    def cut(self, bgr: U8) -> U8:
        """The network's input (h, w, 3) from a whole picture."""
        crop = bgr[self.y0 : self.y1, self.x0 : self.x1]
        width, height = self.input_px
        size = (round((self.x1 - self.x0) * self.scale), round((self.y1 - self.y0) * self.scale))
        how = cv2.INTER_AREA if self.scale < 0.75 else cv2.INTER_LINEAR
        small = crop if size == (crop.shape[1], crop.shape[0]) else cv2.resize(crop, size, interpolation=how)
        if small.shape[:2] == (height, width):
            return np.ascontiguousarray(small, np.uint8)
        padded = np.full((height, width, 3), 114, np.uint8)
        padded[: small.shape[0], : small.shape[1]] = small
        return padded

    def to_picture(self, boxes: F64) -> F64:
        """Boxes (n, 4) in input pixels to pixels of the whole picture (pixel centres at whole numbers)."""
        sx = round((self.x1 - self.x0) * self.scale) / (self.x1 - self.x0)
        sy = round((self.y1 - self.y0) * self.scale) / (self.y1 - self.y0)
        return boxes / (sx, sy, sx, sy) + (self.x0 - 0.5, self.y0 - 0.5, self.x0 - 0.5, self.y0 - 0.5)


def _up(value: int) -> int:
    return max(MULTIPLE_PX, -(-value // MULTIPLE_PX) * MULTIPLE_PX)


def table_region(camera: Camera, table: TableSpec, *, pixels: int, least_ball_px: float, most_pixels: int) -> Region:
    """The table's outer rails with a margin, scaled to about ``pixels`` network pixels.

    Scaled up further, to at most ``most_pixels``, until the farthest ball is ``least_ball_px`` wide; never so far that
    the middle ball would be over twice :data:`EASY_BALL_PX`.
    """
    width, height = camera.size_px
    margin = table.rail_width_mm + table.ball_diameter_mm
    xs = np.linspace(-margin, table.length_mm + margin, 25)
    ys = np.linspace(-margin, table.width_mm + margin, 15)
    edge = [[x, y] for x in xs for y in (ys[0], ys[-1])] + [[x, y] for x in (xs[0], xs[-1]) for y in ys]
    top = table.nose_height_mm + table.ball_diameter_mm
    px = np.vstack([camera.project_plane(edge, 0.0), camera.project_plane(edge, top)])
    px = px[np.all(np.abs(px) < 1e5, axis=1)]
    low = np.clip(np.floor(px.min(axis=0)) - 4, 0, (width - 2, height - 2)).astype(int)
    high = np.clip(np.ceil(px.max(axis=0)) + 5, low + 2, (width, height)).astype(int)
    corners = [[0, 0], [0, table.width_mm], [table.length_mm, 0], [table.length_mm, table.width_mm]]
    sizes = 2 * camera.ball_radius_px(np.array([*corners, table.centre_spot_mm], np.float64), table.ball_radius_mm)
    area = float((high[0] - low[0]) * (high[1] - low[1]))
    scale = np.sqrt(pixels / area)
    scale = max(scale, min(least_ball_px / float(sizes[:4].min()), np.sqrt(most_pixels / area)))
    scale = min(scale, 2 * EASY_BALL_PX / float(sizes[4]))
    if 0.93 < scale < 1.08:
        scale = 1.0
    return Region(x0=int(low[0]), y0=int(low[1]), x1=int(high[0]), y1=int(high[1]), scale=float(scale))


def whole_picture(width: int, height: int, *, pixels: int) -> Region:
    """All of a picture of which no calibration is known."""
    scale = min(float(np.sqrt(pixels / (width * height))), 2.0)
    return Region(x0=0, y0=0, x1=width, y1=height, scale=1.0 if 0.93 < scale < 1.08 else scale)
