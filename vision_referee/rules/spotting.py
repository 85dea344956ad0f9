"""Where a ball is put back: the geometry of G-11, R-4, S-9 and M-4. Never touching, never overlapping."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from vision_referee.domain.table import TableSpec

Place = tuple[float, float]

CLEARANCE_MM = 0.05
"""What keeps a spotted ball from touching its neighbour."""
_TOLERANCE_MM = 1e-6

Spotter = Callable[[TableSpec, Iterable[Place]], Place]


def is_free(table: TableSpec, place: Place, taken: Iterable[Place]) -> bool:
    """Whether a ball here touches none of the others."""
    apart = table.ball_diameter_mm + CLEARANCE_MM - _TOLERANCE_MM
    return all(math.dist(place, other) >= apart for other in taken)


def foot_spot_long_line(table: TableSpec, taken: Iterable[Place]) -> Place:
    """R-4: the foot spot; else the nearest place on the long line toward the foot cushion; else toward the centre."""
    others = list(taken)
    spot = table.foot_spot_mm
    toward_foot = _along_long_line(table, others, spot[0], table.length_mm - table.ball_radius_mm)
    toward_head = _along_long_line(table, others, spot[0], table.ball_radius_mm)
    return toward_foot or toward_head or _nearest_anywhere(table, others, spot)


def foot_spot_then_cushion(table: TableSpec, taken: Iterable[Place]) -> Place:
    """S-9: the foot spot; else at the foot cushion behind the pyramid, as near to its middle as can be."""
    others = list(taken)
    if is_free(table, table.foot_spot_mm, others):
        return table.foot_spot_mm
    return foot_cushion(table, others)


def foot_cushion(table: TableSpec, taken: Iterable[Place]) -> Place:
    """M-4 of 1994: frozen to the foot cushion at its middle, or as near to that as can be."""
    others = list(taken)
    x, middle = table.length_mm - table.ball_radius_mm, table.width_mm / 2
    reach = table.ball_diameter_mm + CLEARANCE_MM
    candidates = [middle]
    for ox, oy in others:
        off = reach**2 - (ox - x) ** 2
        if off > 0:
            candidates += [oy - math.sqrt(off), oy + math.sqrt(off)]
    low, high = table.ball_radius_mm, table.width_mm - table.ball_radius_mm
    for y in sorted((c for c in candidates if low <= c <= high), key=lambda c: (round(abs(c - middle), 6), c)):
        if is_free(table, (x, y), others):
            return (x, y)
    return _nearest_anywhere(table, others, (x, middle))


def _along_long_line(table: TableSpec, others: list[Place], start: float, end: float) -> Place | None:
    """The free place on the long line nearest to ``start`` between it and ``end``, both included."""
    y = table.width_mm / 2
    reach = table.ball_diameter_mm + CLEARANCE_MM
    sign = 1.0 if end >= start else -1.0
    x = start
    # Each pass steps past the ball in the way that reaches farthest, so it ends.
    while (end - x) * sign >= -_TOLERANCE_MM:
        steps = []
        for ox, oy in others:
            off = reach**2 - (oy - y) ** 2
            if off > 0 and abs(ox - x) < math.sqrt(off) - _TOLERANCE_MM:
                steps.append(ox + sign * math.sqrt(off))
        if not steps:
            return (x, y)
        x = max(steps) if sign > 0 else min(steps)
    return None


def _nearest_anywhere(table: TableSpec, others: list[Place], spot: Place) -> Place:
    """The line is full: the free place nearest to the spot, on rings around it. The book knows no such case."""
    return next(place for place in _rings(table, spot) if is_free(table, place, others))


def _rings(table: TableSpec, spot: Place) -> Iterator[Place]:
    radius_mm = table.ball_radius_mm
    step = radius_mm / 4
    for ring in range(1, int(table.length_mm / step) + 1):
        for turn in range(72):
            angle = math.radians(5 * turn)
            x, y = spot[0] + ring * step * math.cos(angle), spot[1] + ring * step * math.sin(angle)
            if radius_mm <= x <= table.length_mm - radius_mm and radius_mm <= y <= table.width_mm - radius_mm:
                yield (x, y)


def spot_all(
    table: TableSpec, balls: Iterable[str], places: dict[str, Place], where: Spotter
) -> list[tuple[str, Place]]:
    """Spot these balls one after another; ``places`` holds the balls that lie on the bed and is not changed."""
    lying = [place for ball, place in places.items() if ball not in set(balls)]
    found = []
    for ball in balls:
        place = where(table, lying)
        lying.append(place)
        found.append((ball, place))
    return found
