"""Racks: where the balls of each game stand before the break."""

from __future__ import annotations

import math

import numpy as np

from vision_referee.domain.table import TableSpec

PYRAMID_ORDER = ("4", "5", "6", "7", "15", "8", "9", "14", "13", "10", "2", "1", "12", "11", "3")
"""Row by row from the apex, each row from the left (S-2)."""
POOL_ORDER = ("1", "9", "2", "10", "8", "3", "11", "4", "12", "5", "6", "13", "7", "14", "15")


def rack_places(
    table: TableSpec,
    *,
    rng: np.random.Generator | None = None,
    gap_mm: float = 0.15,
    order: tuple[str, ...] | None = None,
) -> dict[str, tuple[float, float]]:
    """A triangle with its apex on the foot spot: label to (x_mm, y_mm).

    ``gap_mm`` is how far real racks miss being tight; with ``rng`` each ball strays by a third of it.
    """
    order = order or (POOL_ORDER if table.family == "pool" else PYRAMID_ORDER)
    step = table.ball_diameter_mm + gap_mm
    x0, y0 = table.foot_spot_mm
    places: dict[str, tuple[float, float]] = {}
    n = 0
    for row in range(5):
        for k in range(row + 1):
            stray = rng.uniform(-gap_mm / 3, gap_mm / 3, 2) if rng is not None and gap_mm > 0 else np.zeros(2)
            x = x0 + row * step * math.sqrt(3) / 2 + float(stray[0])
            y = y0 + (row / 2 - k) * step + float(stray[1])
            if n < len(order):
                places[order[n]] = (x, y)
            n += 1
    return places
