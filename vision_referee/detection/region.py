"""Which part of the picture goes into the network, and at what scale."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec
from vision_referee.video.frames import Frame

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
    def crop_px(self) -> tuple[int, int, int, int]:
        """x0 y0 x1 y1 of what is really cut out: whole pairs of pixels where the half picture serves."""
        if self.from_half:
            return (self.x0 // 2 * 2, self.y0 // 2 * 2, self.x1 // 2 * 2, self.y1 // 2 * 2)
        return (self.x0, self.y0, self.x1, self.y1)

    @property
    def from_half(self) -> bool:
        """Cut from the frame's half picture: averaging over areas is dear for odd factors, and this is as good."""
        return self.scale <= 0.5

    @property
    def scaled_px(self) -> tuple[int, int]:
        """(width, height) of the scaled crop."""
        x0, y0, x1, y1 = self.crop_px
        return (round((x1 - x0) * self.scale), round((y1 - y0) * self.scale))

    @property
    def input_px(self) -> tuple[int, int]:
        """(width, height) of the network's input: the scaled crop, padded to whole multiples of 32."""
        width, height = self.scaled_px
        return (_up(width), _up(height))

    def cut(self, frame: Frame) -> U8:
        """The network's input (h, w, 3) from a whole picture."""
        width, height = self.input_px
        small = self._scaled(frame)
        if small.shape[:2] == (height, width):
            return np.ascontiguousarray(small, np.uint8)
        padded = np.full((height, width, 3), 114, np.uint8)
        padded[: small.shape[0], : small.shape[1]] = small
        return padded

    def _scaled(self, frame: Frame) -> U8:
        x0, y0, x1, y1 = self.crop_px
        if self.from_half:
            crop = frame.half()[y0 // 2 : y1 // 2, x0 // 2 : x1 // 2]
        else:
            crop = frame.part(x0, y0, x1, y1)
        if self.scaled_px == (crop.shape[1], crop.shape[0]):
            return crop
        how = cv2.INTER_AREA if self.scaled_px[0] < 0.75 * crop.shape[1] else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(crop, self.scaled_px, interpolation=how), np.uint8)

    def to_picture(self, boxes: F64) -> F64:
        """Boxes (n, 4) in input pixels to pixels of the whole picture (pixel centres at whole numbers)."""
        x0, y0, x1, y1 = self.crop_px
        sx, sy = self.scaled_px[0] / (x1 - x0), self.scaled_px[1] / (y1 - y0)
        return boxes / (sx, sy, sx, sy) + (x0 - 0.5, y0 - 0.5, x0 - 0.5, y0 - 0.5)


def _up(value: int) -> int:
    return max(MULTIPLE_PX, -(-value // MULTIPLE_PX) * MULTIPLE_PX)


def _handy(scale: float) -> float:
    """A scale close to 1 or 1/2 becomes just that: the pixels need no resampling."""
    return next((handy for handy in (1.0, 0.5) if 0.93 * handy < scale < 1.08 * handy), scale)


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
    return Region(x0=int(low[0]), y0=int(low[1]), x1=int(high[0]), y1=int(high[1]), scale=_handy(float(scale)))


def whole_picture(width: int, height: int, *, pixels: int) -> Region:
    """All of a picture of which no calibration is known."""
    scale = min(float(np.sqrt(pixels / (width * height))), 2.0)
    return Region(x0=0, y0=0, x1=width, y1=height, scale=_handy(scale))
