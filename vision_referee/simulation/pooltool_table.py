"""A table specification as pooltool's cushion segments and pockets, in metres, in our own table frame."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from vision_referee.domain.errors import InputError
from vision_referee.domain.table import Cushion, TableSpec
from vision_referee.simulation.pocket_shape import hole_mm, jaw_cushions, pocket_cut

MM = 1e-3

Vec2 = tuple[float, float]


def load_pooltool() -> Any:
    """The pooltool package, imported only when a stroke is to be computed.

    Raises :class:`InputError` where it is not installed.
    """
    try:
        return importlib.import_module("pooltool")
    except ImportError as error:
        raise InputError(
            f"strokes are computed by pooltool, which is not installed here ({error}): run `make sim` first"
        ) from None


def _unit(v: Vec2) -> Vec2:
    n = math.hypot(*v)
    return (v[0] / n, v[1] / n)


def _turn(v: Vec2, angle_rad: float) -> Vec2:
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return (c * v[0] - s * v[1], s * v[0] + c * v[1])


def _along(cushion: Cushion, away_from: Vec2, table: TableSpec) -> Vec2:
    """Unit vector along a cushion's nose, from a jaw point into the cushion."""
    x, y = away_from
    if cushion in (Cushion.RIGHT, Cushion.LEFT):
        if abs(x - table.length_mm / 2) < table.middle_mouth_mm:
            return (math.copysign(1.0, x - table.length_mm / 2), 0.0)
        return (math.copysign(1.0, table.length_mm / 2 - x), 0.0)
    return (0.0, math.copysign(1.0, table.width_mm / 2 - y))


def build_table(pt: Any, table: TableSpec) -> Any:
    """A ``pooltool.Table`` whose noses, jaws and mouths are those of ``table``.

    Segment ids say what was met: ``nose:CUSHION:n``, ``tip:POCKET:a|b``, ``facet:POCKET:a|b``.
    """
    from pooltool.objects.table import components as parts

    cut = pocket_cut(table)
    height = table.nose_height_mm * MM
    linear: dict[str, Any] = {}
    circular: dict[str, Any] = {}
    pockets: dict[str, Any] = {}
    nose_ends: dict[Cushion, list[Vec2]] = {c: [] for c in Cushion}

    def point(p: Vec2) -> Any:
        return np.array([p[0] * MM, p[1] * MM, height])

    def add_line(name: str, p: Vec2, q: Vec2) -> None:
        linear[name] = parts.LinearCushionSegment(name, p1=point(p), p2=point(q), direction=parts.CushionDirection.BOTH)

    for pocket in table.pockets():
        out = (-pocket.inward[0], -pocket.inward[1])
        jaws = (pocket.jaw_a_mm, pocket.jaw_b_mm)
        for letter, jaw, cushion in zip("ab", jaws, jaw_cushions(pocket.name), strict=True):
            nose = _along(cushion, jaw, table)
            # The facet leans toward the axis: turn `out` toward the side where the other jaw is.
            to_axis = (pocket.mouth_mm[0] - jaw[0], pocket.mouth_mm[1] - jaw[1])
            sign = math.copysign(1.0, out[0] * to_axis[1] - out[1] * to_axis[0])
            facet = _turn(out, sign * math.radians(cut.facet_deg))
            half = math.acos(max(-1.0, min(1.0, nose[0] * facet[0] + nose[1] * facet[1]))) / 2
            bisector = _unit((nose[0] + facet[0], nose[1] + facet[1]))
            reach = cut.tip_radius_mm / math.tan(half)
            centre_at = cut.tip_radius_mm / math.sin(half)
            centre = (jaw[0] + bisector[0] * centre_at, jaw[1] + bisector[1] * centre_at)
            name = f"tip:{pocket.name}:{letter}"
            circular[name] = parts.CircularCushionSegment(name, center=point(centre), radius=cut.tip_radius_mm * MM)
            near = (jaw[0] + facet[0] * reach, jaw[1] + facet[1] * reach)
            far = (jaw[0] + facet[0] * cut.facet_length_mm, jaw[1] + facet[1] * cut.facet_length_mm)
            add_line(f"facet:{pocket.name}:{letter}", near, far)
            nose_ends[cushion].append((jaw[0] + nose[0] * reach, jaw[1] + nose[1] * reach))
        (hx, hy), radius = hole_mm(pocket, table)
        pockets[str(pocket.name)] = parts.Pocket(
            id=str(pocket.name), center=np.array([hx * MM, hy * MM, 0.0]), radius=radius * MM
        )
    for cushion, ends in nose_ends.items():
        ordered = sorted(ends)
        for n in range(0, len(ordered), 2):
            add_line(f"nose:{cushion}:{n // 2}", ordered[n], ordered[n + 1])
    return pt.Table(
        cushion_segments=parts.CushionSegments(linear=linear, circular=circular),
        pockets=pockets,
        table_type=pt.TableType.POCKET,
    )
