"""Where a point or a path lies with respect to the pockets' mouths and the cushion noses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import Cushion, Pocket, TableSpec

F64 = npt.NDArray[np.float64]


def nearest_mouth(table: TableSpec, xy_mm: F64) -> tuple[Pocket, float, float]:
    """The nearest pocket, the distance (mm) to the segment of its mouth, and how far beyond the mouth's line the point
    lies (mm, positive: outside the table, inside the pocket)."""
    best: tuple[Pocket, float, float] | None = None
    for pocket in table.pockets():
        a, b = np.array(pocket.jaw_a_mm), np.array(pocket.jaw_b_mm)
        along = b - a
        share = float(np.clip(np.dot(xy_mm - a, along) / np.dot(along, along), 0.0, 1.0))
        distance = float(np.hypot(*(xy_mm - a - share * along)))
        if best is None or distance < best[1]:
            depth = -float(np.dot(xy_mm - (a + b) / 2, np.array(pocket.inward)))
            best = (pocket, distance, depth)
    assert best is not None
    return best


def mouth_crossing(
    table: TableSpec, xy_mm: F64, velocity_mm_s: F64, *, slack_mm: float
) -> tuple[Pocket, float, float] | None:
    """The first mouth that a straight path enters: (pocket, seconds from here, miss in mm from the mouth's middle).

    A path that passes a mouth's line within half the mouth and ``slack_mm`` of its middle, going outward, enters it.
    """
    best: tuple[Pocket, float, float] | None = None
    for pocket in table.pockets():
        inward = np.array(pocket.inward)
        approach = -float(np.dot(velocity_mm_s, inward))
        if approach <= 1e-6:
            continue
        middle = np.array(pocket.mouth_mm)
        height = float(np.dot(xy_mm - middle, inward))
        seconds = height / approach
        at = xy_mm + velocity_mm_s * seconds
        miss = float(np.hypot(*(at - middle)))
        if miss <= pocket.width_mm / 2 + slack_mm and seconds > -0.25 and (best is None or seconds < best[1]):
            best = (pocket, seconds, miss)
    return best


def outside_mm(table: TableSpec, xy_mm: F64) -> float:
    """How far a point lies outside the rectangle of the noses (mm; negative inside)."""
    x, y = float(xy_mm[0]), float(xy_mm[1])
    return max(-x, x - table.length_mm, -y, y - table.width_mm)


def nearest_nose(table: TableSpec, xy_mm: F64) -> tuple[Cushion, float, F64]:
    """The nearest cushion, the distance of its nose line (mm), and the unit normal into the table (2,)."""
    x, y = float(xy_mm[0]), float(xy_mm[1])
    every = [
        (Cushion.HEAD, x, np.array([1.0, 0.0])),
        (Cushion.FOOT, table.length_mm - x, np.array([-1.0, 0.0])),
        (Cushion.RIGHT, y, np.array([0.0, 1.0])),
        (Cushion.LEFT, table.width_mm - y, np.array([0.0, -1.0])),
    ]
    return min(every, key=lambda e: e[1])
