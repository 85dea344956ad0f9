"""Where a ball falls: the lip behind a pocket's mouth at which a centre loses its support.

The lip lies a little behind the line of the mouth; its depth is a family's usual cut (pyramid pockets have a deep
shelf).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import Pocket, TableSpec

F64 = npt.NDArray[np.float64]

_LIP_DEPTH_MM = {"pyramid": 24.0, "pool": 18.0, "snooker": 8.0}


def lip_depth_mm(table: TableSpec) -> float:
    """From the mouth's line outward to the edge over which a centre falls."""
    return _LIP_DEPTH_MM.get(table.family, 18.0)


def depth_and_side(pocket: Pocket, xy_mm: F64) -> tuple[F64, F64]:
    """How far points (…, 2) lie behind the mouth's line (positive: in the pocket), and off its axis (absolute), in
    mm."""
    offset = np.asarray(xy_mm, np.float64) - np.array(pocket.mouth_mm)
    ix, iy = pocket.inward
    depth = -(offset[..., 0] * ix + offset[..., 1] * iy)
    side = np.abs(offset[..., 0] * iy - offset[..., 1] * ix)
    return depth, side


def hanging_depth_mm(table: TableSpec) -> float:
    """A resting centre deeper than this (negative: in front of the mouth) hangs: less than a radius from the lip."""
    return min(lip_depth_mm(table) - table.ball_radius_mm, 0.0)


def may_fall_depth_mm(table: TableSpec) -> float:
    """A resting centre deeper than this may fall by itself, or from a touch too slight to see."""
    return hanging_depth_mm(table) if table.family == "pyramid" else -table.ball_radius_mm


def perhaps_hanging_depth_mm(table: TableSpec) -> float:
    """From where on a resting centre may hang: the mouths of pool and snooker tables vary, and some reach far in."""
    return hanging_depth_mm(table) if table.family == "pyramid" else -1.2 * table.ball_diameter_mm
