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


def find_rack(table: TableSpec, balls: list[BallAt]) -> tuple[BallAt, ...] | None:
    """The fifteen balls that form a triangle pointing along the table, apex first, row by row; None where there is
    none."""
    objects = [b for b in balls if b.ball != CUE]
    if len(objects) < 15:
        return None
    xy = np.array([[b.x, b.y] for b in objects])
    d = table.ball_diameter_mm
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    crowded = np.flatnonzero(((apart < 1.3 * d).sum(axis=1) - 1) >= 2)
    if len(crowded) < 15:
        return None
    cluster = xy[crowded]
    for sign in (1.0, -1.0):
        ideal = _triangle(d, sign)
        shift = np.median(cluster, axis=0) - np.median(ideal, axis=0)
        for _ in range(3):
            distance = np.linalg.norm(cluster[:, None] - (ideal + shift)[None], axis=2)
            rows, columns = linear_sum_assignment(distance)
            shift = shift + np.mean(cluster[rows] - (ideal + shift)[columns], axis=0)
        distance = np.linalg.norm(cluster[rows] - (ideal + shift)[columns], axis=1)
        if len(rows) == 15 and distance.max() < 0.35 * d:
            order = np.argsort(columns)
            return tuple(objects[int(crowded[rows[k]])] for k in order)
    return None


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
    numbers = [ball_number(b.ball) for b in rack]
    telling = {0: {4}, 10: {2, 3}, 14: {2, 3}, 4: {13, 14, 15}, 7: {13, 14, 15}, 8: {13, 14, 15}}
    known = {k: numbers[k] for k in telling if numbers[k] is not None}
    if any(n not in telling[k] for k, n in known.items()):
        return False
    return True if len(known) == len(telling) else None
