"""What covers the cloth: hands, cues and bodies, by the eye's coarse map (``Detections.occluder``).

A ball under it is hidden, not gone; nothing that is not under or beside it can be touched, put down or taken away. The
map leaves out the balls that were found and a rim about them, so what is beside a ball is looked for in a ring.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]

BARE = 0.15
"""A cell covered by less is plain cloth."""
_RING_IN, _RING_OUT = 1.0, 2.1
"""The ring about a ball in ball diameters: from beyond the rim that is left out to where an arm over it must show."""


def ring_cover(occluder: F64, table: TableSpec, xy_mm: F64) -> tuple[F64, F64]:
    """How much of the ring about each place (n, 2) is covered, 0..1: its mean (n,) and its most covered cell (n,)."""
    n = len(xy_mm)
    if n == 0:
        return np.zeros(0), np.zeros(0)
    rows, columns = occluder.shape
    dx, dy = table.length_mm / columns, table.width_mm / rows
    reach = _RING_OUT * table.ball_diameter_mm
    span_x, span_y = int(np.ceil(reach / dx)), int(np.ceil(reach / dy))
    c0 = np.floor(xy_mm[:, 0] / dx).astype(np.int64)[:, None, None] + np.arange(-span_x, span_x + 1)[None, None, :]
    r0 = np.floor(xy_mm[:, 1] / dy).astype(np.int64)[:, None, None] + np.arange(-span_y, span_y + 1)[None, :, None]
    away_x, away_y = (c0 + 0.5) * dx - xy_mm[:, 0, None, None], (r0 + 0.5) * dy - xy_mm[:, 1, None, None]
    away = np.hypot(away_x, away_y) / table.ball_diameter_mm
    inside = (away > _RING_IN) & (away < _RING_OUT) & (c0 >= 0) & (c0 < columns) & (r0 >= 0) & (r0 < rows)
    values = occluder[np.clip(r0, 0, rows - 1), np.clip(c0, 0, columns - 1)]
    values = np.where(inside, values, 0.0).reshape(n, -1)
    return values.sum(axis=1) / np.maximum(inside.reshape(n, -1).sum(axis=1), 1), values.max(axis=1)


def cell_of(shape: tuple[int, int], table: TableSpec, xy_mm: F64) -> tuple[int, int]:
    """Row and column of the cell nearest a place (2,)."""
    rows, columns = shape
    row = int(np.clip(xy_mm[1] / table.width_mm * rows, 0, rows - 1))
    column = int(np.clip(xy_mm[0] / table.length_mm * columns, 0, columns - 1))
    return row, column


@dataclass(slots=True)
class ClothSeen:
    """When each part of the cloth was last seen bare, over the whole run: nothing lay there then."""

    table: TableSpec
    last_s: F64 | None = None
    """(rows, columns), minus infinity where never."""

    def note(self, t_s: float, occluder: F64 | None, balls_mm: F64) -> None:
        """One frame: the map and the balls (n, 2) found in it."""
        if occluder is None:
            return
        if self.last_s is None or self.last_s.shape != occluder.shape:
            self.last_s = np.full(occluder.shape, -np.inf)
        bare = occluder < BARE
        if len(balls_mm):
            rows, columns = occluder.shape
            x = (np.arange(columns) + 0.5) / columns * self.table.length_mm
            y = (np.arange(rows) + 0.5) / rows * self.table.width_mm
            near = 1.3 * self.table.ball_diameter_mm
            for ball_x, ball_y in balls_mm:
                bare &= (np.abs(x - ball_x)[None, :] > near) | (np.abs(y - ball_y)[:, None] > near)
        self.last_s[bare] = t_s

    def bare_s(self, xy_mm: F64) -> float | None:
        """When the place (2,) was last seen bare: minus infinity if never; None where the eye gives no maps."""
        if self.last_s is None:
            return None
        return float(self.last_s[cell_of((self.last_s.shape[0], self.last_s.shape[1]), self.table, xy_mm)])


@dataclass(slots=True)
class CoverLog:
    """The maps of a window, to ask afterwards what was where."""

    table: TableSpec
    t_s: list[float] = field(default_factory=list)
    maps: list[F64] = field(default_factory=list)

    def about(self, xy_mm: F64, t_s: float) -> tuple[float, float] | None:
        """Mean and most of the cover in the ring about a place (2,) in the frame nearest ``t_s``."""
        if not self.t_s:
            return None
        k = int(np.abs(np.array(self.t_s) - t_s).argmin())
        if abs(self.t_s[k] - t_s) > 0.15:
            return None
        share, most = ring_cover(self.maps[k], self.table, xy_mm[None])
        return float(share[0]), float(most[0])

    def near(self, xy_mm: F64, from_s: float, to_s: float) -> float | None:
        """The most that any cell in the ring about a place (2,) was covered between two times; None: nobody looked."""
        found = [
            float(ring_cover(m, self.table, xy_mm[None])[1][0])
            for t, m in zip(self.t_s, self.maps, strict=True)
            if from_s <= t <= to_s
        ]
        return max(found) if found else None
