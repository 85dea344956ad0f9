"""The triangle: fifteen object balls frozen together, and whether their order is right where numbers were read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from vision_referee.domain.balls import CUE, ball_number
from vision_referee.domain.events import BallAt
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]
_ROWS = 5
_FEWEST = 13
_USUAL_DIAMETERS, _FARTHEST_DIAMETERS = 0.2, 0.5
"""How far balls are seen from their places in a tight triangle: in the median, and at most."""


def find_rack(table: TableSpec, balls: list[BallAt]) -> tuple[BallAt, ...] | None:
    """The object balls that form a triangle pointing along the table, apex first, row by row; None where there is none.

    From a low camera the front rows hide a ball or two of those behind: thirteen in their places are a rack.
    """
    objects = [b for b in balls if b.ball != CUE]
    if len(objects) < _FEWEST:
        return None
    xy = np.array([[b.x, b.y] for b in objects])
    d = table.ball_diameter_mm
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    crowded = np.flatnonzero(((apart < 1.45 * d).sum(axis=1) - 1) >= 2)
    if len(crowded) < _FEWEST:
        return None
    cluster = xy[crowded]
    best: tuple[float, tuple[BallAt, ...]] | None = None
    for sign in (1.0, -1.0):
        ideal = _triangle(d, sign)
        shift = np.median(cluster, axis=0) - np.median(ideal, axis=0)
        for _ in range(5):
            distance = np.linalg.norm(cluster[:, None] - (ideal + shift)[None], axis=2)
            rows, columns = linear_sum_assignment(distance)
            shift = shift + np.median(cluster[rows] - (ideal + shift)[columns], axis=0)
        distance = np.linalg.norm(cluster[rows] - (ideal + shift)[columns], axis=1)
        placed = distance < _FARTHEST_DIAMETERS * d
        misfit = float(np.median(distance)) / d
        if placed.sum() < max(_FEWEST, len(crowded) - 1) or misfit > _USUAL_DIAMETERS:
            continue
        order = [int(rows[k]) for k in np.argsort(columns) if placed[k]]
        if best is None or misfit < best[0]:
            best = (misfit, tuple(objects[int(crowded[k])] for k in order))
    return best[1] if best is not None else None


def _triangle(diameter_mm: float, sign: float) -> F64:
    """Ideal centres (15, 2), apex at the origin, rows toward ``sign`` x, each row from left (+y) to right."""
    places = [
        (sign * row * diameter_mm * np.sqrt(3) / 2, (row / 2 - k) * diameter_mm)
        for row in range(_ROWS)
        for k in range(row + 1)
    ]
    return np.array(places)


def order_ok(rack: tuple[BallAt, ...]) -> bool | None:
    """S-2: 4 at the apex, 2 and 3 at the base's corners, 13, 14, 15 in the middle. None where numbers are not known."""
    if len(rack) != _ROWS * (_ROWS + 1) // 2:
        return None
    numbers = [ball_number(b.ball) for b in rack]
    telling = {0: {4}, 10: {2, 3}, 14: {2, 3}, 4: {13, 14, 15}, 7: {13, 14, 15}, 8: {13, 14, 15}}
    known = {k: numbers[k] for k in telling if numbers[k] is not None}
    if any(n not in telling[k] for k, n in known.items()):
        return False
    return True if len(known) == len(telling) else None
