"""Where something changed since it was last looked at: all that need be looked at now.

The picture of the table as it was when last looked at is kept at half size, brightness and colour. Each new frame is
compared with it cell by cell; a cell is as wide as half a ball. What is not looked at keeps its old reference, so that
a slow change adds up until it is noticed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.detection.region import Region
from vision_referee.domain.table import TableSpec
from vision_referee.video.frames import Frame

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

_ROUND_ABOUT = np.ones((3, 3), np.uint8)


_OUTLIER = 8
"""A difference larger than this is no noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionSettings:
    """Of each pixel counts by how much it differs beyond what noise and compression make, in levels of 0..255: those
    change all of a picture a little, a ball that moves changes some of it by much.

    Lower thresholds notice fainter balls and slower motion, and let noise cause more looks.
    """

    least_light: float = 5.0
    least_colour: float = 4.0
    above_noise: float = 4.5
    """... or so many times the mean difference of a quiet frame, where that is more."""
    clear: float = 3.0
    """Mean excess of a cell's pixels where something new has come: a ball covers the whole cell."""
    at_ball: float = 0.5
    """... where a known ball lies: when it stirs only its edge changes."""
    part: float = 0.3
    """... that belongs to a clear change beside it."""
    noise_frames: int = 60
    """Over so many frames the quietest quarter tells the noise."""
    cells_a_ball: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One connected piece of what changed: ``x0 y0 x1 y1`` in picture pixels, ``ball_px`` a ball's width there,
    ``balls`` its area in balls, ``label`` its number in ``Changes.labels``."""

    x0: int
    y0: int
    x1: int
    y1: int
    ball_px: float
    balls: float
    label: int


class Attention:
    """Watches one calibrated view."""

    def __init__(
        self, camera: Camera, table: TableSpec, region: Region, settings: AttentionSettings | None = None
    ) -> None:
        self._settings = settings or AttentionSettings()
        corners = np.array([[0, 0], [0, table.width_mm], [table.length_mm, 0], [table.length_mm, table.width_mm]])
        smallest_px = 2 * float(camera.ball_radius_px(corners, table.ball_radius_mm).min())
        self._cell = max(2, round(smallest_px / 2 / self._settings.cells_a_ball))
        """A cell's side in pixels of the half-size picture."""
        self._x0, self._y0 = region.x0 // 2, region.y0 // 2
        self._columns = max(1, (region.x1 // 2 - self._x0) // self._cell)
        self._rows = max(1, (region.y1 // 2 - self._y0) // self._cell)
        self._table = self._outline(camera, table)
        self._ball_px = self._ball_sizes(camera, table)
        self._reference: tuple[U8, U8, U8] | None = None
        self._now: tuple[U8, U8, U8] | None = None
        self._noise: deque[list[float]] = deque(maxlen=self._settings.noise_frames)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        return (self._rows, self._columns)

    def _outline(self, camera: Camera, table: TableSpec) -> Bool:
        """The cells over the table and its rails, up to a ball's height."""
        reach = table.rail_width_mm + table.ball_radius_mm
        xs, ys = np.linspace(-reach, table.length_mm + reach, 30), np.linspace(-reach, table.width_mm + reach, 16)
        edge = np.array([[x, y] for x in xs for y in (ys[0], ys[-1])] + [[x, y] for x in (xs[0], xs[-1]) for y in ys])
        px = np.vstack([camera.project_plane(edge, 0.0), camera.project_plane(edge, 1.5 * table.ball_diameter_mm)])
        hull = cv2.convexHull(self._to_cells(np.clip(px, -1e4, 1e4)).astype(np.float32)).astype(np.int32)
        return np.asarray(cv2.fillConvexPoly(np.zeros(self.shape, np.uint8), hull, 1), np.bool_)

    def _ball_sizes(self, camera: Camera, table: TableSpec) -> F32:
        """A ball's width in picture pixels in each cell."""
        rows, columns = np.mgrid[: self._rows, : self._columns]
        px = self._to_px(np.column_stack([columns.ravel() + 0.5, rows.ravel() + 0.5]))
        at = camera.unproject(px, table.ball_radius_mm)
        reach = 2 * table.rail_width_mm
        at = np.clip(np.nan_to_num(at), -reach, np.array([table.length_mm, table.width_mm]) + reach)
        return (2 * camera.ball_radius_px(at, table.ball_radius_mm)).reshape(self.shape).astype(np.float32)

    def _to_cells(self, xy_px: F64) -> F64:
        return np.asarray(((xy_px + 0.5) / 2 - (self._x0, self._y0)) / self._cell, np.float64)

    def _to_px(self, cells: F64) -> F64:
        return np.asarray((cells * self._cell + (self._x0, self._y0)) * 2 - 0.5, np.float64)

    def changes(self, frame: Frame) -> F32:
        """How much each cell (rows, columns) of the table differs from when it was last looked at; much, at first."""
        self._now = self._cut(frame)
        if self._reference is None:
            return np.where(self._table, np.float32(255), np.float32(0))
        s = self._settings
        light, *colours = (cv2.absdiff(a, b) for a, b in zip(self._now, self._reference, strict=True))
        differences = [np.asarray(light, np.uint8), np.asarray(cv2.max(*colours), np.uint8)]
        self._noise.append([float(np.minimum(d[::3, ::3], _OUTLIER).mean()) for d in differences])
        quiet = np.percentile(np.array(self._noise), 25, axis=0)
        excess = np.zeros(self.shape, np.float32)
        for difference, noise, least in zip(differences, quiet, (s.least_light, s.least_colour), strict=True):
            level = np.full(1, max(least, s.above_noise * float(noise)))
            np.maximum(excess, self._cell_means(np.asarray(cv2.subtract(difference, level), np.uint8)), out=excess)
        return np.where(self._table, excess, np.float32(0))

    def _cut(self, frame: Frame) -> tuple[U8, U8, U8]:
        planes = frame.planes()
        rows = slice(self._y0, self._y0 + self._rows * self._cell)
        columns = slice(self._x0, self._x0 + self._columns * self._cell)
        y, u, v = (plane[rows, columns] for plane in (frame.half_luma(), planes.u, planes.v))
        return y, u, v

    def _cell_means(self, difference: U8) -> F32:
        # Of 32-bit numbers, since OpenCV would round the means of bytes to bytes.
        size = (self._columns, self._rows)
        return np.asarray(cv2.resize(difference.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)

    def discs(self, xy_px: F64, reach_px: F64) -> U8:
        """A mask (rows, columns) with filled discs round places (n, 2), ``reach_px`` (n,) wide to each side."""
        mask = np.zeros(self.shape, np.uint8)
        cells = self._to_cells(xy_px)
        for (x, y), reach in zip(cells.tolist(), (reach_px / 2 / self._cell).tolist(), strict=True):
            cv2.circle(mask, (int(np.floor(x)), int(np.floor(y))), round(reach), 1, -1)
        return mask

    def stirred(self, changes: F32, xy_px: F64, reach_px: F64, *, clearly: bool = False) -> Bool:
        """Which of the balls (n,) at places (n, 2) may have moved: their discs hold a cell that changed (``clearly``:
        as by something new)."""
        if len(xy_px) == 0:
            return np.zeros(0, bool)
        reach = int(np.ceil(float(reach_px.max()) / (2 * self._cell)))
        most = cv2.dilate(changes, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
        least = self._settings.clear if clearly else self._settings.at_ball
        return self.at(np.asarray(most > least, np.bool_), xy_px).astype(np.bool_)

    def at(self, cells: npt.NDArray[np.generic], xy_px: F64) -> npt.NDArray[np.generic]:
        """The mask's values (n,) at places (n, 2); 0 outside it."""
        at = np.floor(self._to_cells(xy_px)).astype(int)
        inside = (at[:, 0] >= 0) & (at[:, 0] < self._columns) & (at[:, 1] >= 0) & (at[:, 1] < self._rows)
        at = np.where(inside[:, None], at, 0)
        return np.asarray(np.where(inside, cells[at[:, 1], at[:, 0]], 0), cells.dtype)

    def spots(self, changes: F32, discs: U8) -> tuple[list[Spot], I32]:
        """The connected pieces of what clearly changed and of the ``discs`` (rows, columns), with what changed a little
        beside them; and the cells' labels."""
        weak = np.asarray(cv2.dilate((changes > self._settings.part).astype(np.uint8), _ROUND_ABOUT), np.uint8)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(weak | discs, connectivity=8)
        wanted = np.zeros(count, bool)
        wanted[labels[(changes > self._settings.clear) | (discs > 0)]] = True
        found: list[Spot] = []
        for label in np.flatnonzero(wanted).tolist():
            left, top, width, height, area = stats[label].tolist()
            corners = self._to_px(np.array([[left, top], [left + width, top + height]], np.float64))
            ball_px = float(self._ball_px[top : top + height, left : left + width].mean())
            (x0, y0), (x1, y1) = np.floor(corners[0]).astype(int).tolist(), np.ceil(corners[1]).astype(int).tolist()
            balls = area * (2 * self._cell / ball_px) ** 2 / (np.pi / 4)
            found.append(Spot(x0=x0, y0=y0, x1=x1, y1=y1, ball_px=ball_px, balls=balls, label=label))
        return found, np.asarray(labels, np.int32)

    def looked(self, cells: Bool | None = None) -> None:
        """What was shown last was looked at, in ``cells`` or everywhere: the next frames are compared with it."""
        assert self._now is not None, "looked before anything was shown"
        if cells is None or self._reference is None:
            self._reference = (self._now[0].copy(), self._now[1].copy(), self._now[2].copy())
            return
        rows, columns = np.flatnonzero(cells.any(axis=1)), np.flatnonzero(cells.any(axis=0))
        if len(rows) == 0:
            return
        top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        part = np.ascontiguousarray(cells[top:bottom, left:right], np.uint8)
        side = self._cell
        mask = np.repeat(np.repeat(part, side, axis=0), side, axis=1)
        window = (slice(top * side, bottom * side), slice(left * side, right * side))
        for reference, now in zip(self._reference, self._now, strict=True):
            kept = np.ascontiguousarray(reference[window])
            reference[window] = cv2.copyTo(np.ascontiguousarray(now[window]), mask, kept)

    def forget(self) -> None:
        """The next frame is new everywhere."""
        self._reference = None
        self._noise.clear()
