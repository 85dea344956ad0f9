"""The house: where a stroke from hand may be made from, and which balls it may play (G-5, G-6, G-12)."""

from __future__ import annotations

from collections.abc import Mapping

from vision_referee.domain.balls import CUE
from vision_referee.domain.rulings import CueBallState
from vision_referee.domain.table import TableSpec
from vision_referee.rules.doubt import Edges
from vision_referee.rules.state import Place


def in_house(table: TableSpec, x_mm: float, side: CueBallState) -> bool:
    """G-12: a centre exactly on the line is outside. ``side`` in_hand_foot is the temporary house (G-6)."""
    if side is CueBallState.IN_HAND_FOOT:
        return x_mm > table.foot_line_mm
    return x_mm < table.house_line_mm


def beyond_line_mm(table: TableSpec, x_mm: float, side: CueBallState) -> float:
    """How far outside the house this is; negative inside."""
    if side is CueBallState.IN_HAND_FOOT:
        return table.foot_line_mm - x_mm
    return x_mm - table.house_line_mm


def house_side(table: TableSpec, places: Mapping[str, Place]) -> CueBallState:
    """G-6, S-11: when all object balls lie in the house, the temporary house at the foot end."""
    xs = [x for ball, (x, _) in places.items() if ball != CUE]
    if xs and all(in_house(table, x, CueBallState.IN_HAND_HOUSE) for x in xs):
        return CueBallState.IN_HAND_FOOT
    return CueBallState.IN_HAND_HOUSE


def side_with_edges(table: TableSpec, places: Mapping[str, Place], edges: Edges, error_mm: float) -> CueBallState:
    """:func:`house_side`, with a ball on the brink of the line as doubt."""
    xs = [x for ball, (x, _) in places.items() if ball != CUE]
    if not xs:
        return CueBallState.IN_HAND_HOUSE
    outermost = max(xs)
    inside = in_house(table, outermost, CueBallState.IN_HAND_HOUSE)
    if edges.decide("all_in_house", inside, outermost - table.house_line_mm, error_mm):
        return CueBallState.IN_HAND_FOOT
    return CueBallState.IN_HAND_HOUSE
