"""The four cushion noses as lines: their normals into the table, and a centre's distance from each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import Cushion, TableSpec

F64 = npt.NDArray[np.float64]

CUSHION_NORMALS: dict[Cushion, F64] = {
    Cushion.HEAD: np.array([1.0, 0.0]),
    Cushion.FOOT: np.array([-1.0, 0.0]),
    Cushion.RIGHT: np.array([0.0, 1.0]),
    Cushion.LEFT: np.array([0.0, -1.0]),
}


def nose_distance_mm(table: TableSpec, cushion: Cushion, xy_mm: F64) -> float:
    """From a centre to a cushion's nose line."""
    x, y = float(xy_mm[0]), float(xy_mm[1])
    return {
        Cushion.HEAD: x,
        Cushion.FOOT: table.length_mm - x,
        Cushion.RIGHT: y,
        Cushion.LEFT: table.width_mm - y,
    }[cushion]
