"""How a pocket is cut, derived from a table's mouths: jaws, facets and the lip a ball falls over.

The specification says where the cushion noses end (the mouth). Behind the mouth the jaws' facets lead outward, and
the slate is cut: a ball whose centre passes the cut's edge, the lip, has lost its support and falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vision_referee.domain.table import Cushion, Pocket, PocketName, TableSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class PocketCut:
    """``lip_depth_mm``: from the mouth's line outward to where the centre's support ends, on the pocket's axis.

    ``facet_deg``: how far each facet leans into the throat (0: parallel walls); ``tip_radius_mm`` rounds the jaws.
    """

    lip_depth_mm: float
    facet_deg: float
    tip_radius_mm: float
    facet_length_mm: float


PYRAMID_CUT = PocketCut(lip_depth_mm=24.0, facet_deg=0.0, tip_radius_mm=6.0, facet_length_mm=75.0)
POOL_CUT = PocketCut(lip_depth_mm=18.0, facet_deg=7.0, tip_radius_mm=5.0, facet_length_mm=60.0)
SNOOKER_CUT = PocketCut(lip_depth_mm=8.0, facet_deg=4.0, tip_radius_mm=22.0, facet_length_mm=50.0)


def pocket_cut(table: TableSpec) -> PocketCut:
    """The usual cut of a family's pockets."""
    return {"pool": POOL_CUT, "snooker": SNOOKER_CUT}.get(table.family, PYRAMID_CUT)


def hole_mm(pocket: Pocket, table: TableSpec) -> tuple[tuple[float, float], float]:
    """Centre (x_mm, y_mm) and radius of the circle that a falling ball's centre enters."""
    radius = max(0.62 * pocket.width_mm, 1.2 * table.ball_radius_mm)
    out = pocket_cut(table).lip_depth_mm + radius
    mx, my = pocket.mouth_mm
    return (mx - pocket.inward[0] * out, my - pocket.inward[1] * out), radius


def jaw_cushions(name: PocketName) -> tuple[Cushion, Cushion]:
    """The cushions that end at ``jaw_a`` and ``jaw_b`` of a pocket (the order of ``TableSpec.pockets``)."""
    return {
        PocketName.HEAD_RIGHT: (Cushion.RIGHT, Cushion.HEAD),
        PocketName.HEAD_LEFT: (Cushion.HEAD, Cushion.LEFT),
        PocketName.FOOT_RIGHT: (Cushion.FOOT, Cushion.RIGHT),
        PocketName.FOOT_LEFT: (Cushion.LEFT, Cushion.FOOT),
        PocketName.MIDDLE_RIGHT: (Cushion.RIGHT, Cushion.RIGHT),
        PocketName.MIDDLE_LEFT: (Cushion.LEFT, Cushion.LEFT),
    }[name]


def depth_and_side_mm(pocket: Pocket, x_mm: float, y_mm: float) -> tuple[float, float]:
    """How far a point lies behind the mouth's line (positive: in the pocket) and off its axis (absolute)."""
    dx, dy = x_mm - pocket.mouth_mm[0], y_mm - pocket.mouth_mm[1]
    ix, iy = pocket.inward
    return -(dx * ix + dy * iy), abs(dx * iy - dy * ix)


def nearest_pocket(table: TableSpec, x_mm: float, y_mm: float) -> Pocket:
    return min(table.pockets(), key=lambda p: math.dist(p.mouth_mm, (x_mm, y_mm)))
