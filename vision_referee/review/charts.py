"""Shot chart and heat map, drawn on the table as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from vision_referee.domain.events import BallAt
from vision_referee.domain.table import TableSpec
from vision_referee.review.diagram import table_svg
from vision_referee.review.statistics import Shot

_CELL_MM = 50.0
_SPREAD_MM = 130.0
"""About two balls: places nearer than that are one place to a player."""
_LEVELS = 8


def shot_chart_svg(table: TableSpec, shots: Iterable[Shot], *, title: str) -> Markup:
    """A line a stroke from the struck ball to the first ball it met; ends of strokes that counted are filled."""
    parts = []
    for shot in shots:
        (x0, y0), (x1, y1) = shot.start, shot.end
        kind = "foul" if shot.foul else ("counted" if shot.counted else "plain")
        parts.append(
            f'<g class="shot {kind}"><line x1="{x0:.0f}" y1="{table.width_mm - y0:.0f}" x2="{x1:.0f}" '
            f'y2="{table.width_mm - y1:.0f}"/><circle cx="{x1:.0f}" cy="{table.width_mm - y1:.0f}" r="20"/></g>'
        )
    return table_svg(table, parts, title=title)


def heat_map_svg(table: TableSpec, places: Iterable[BallAt], *, title: str) -> Markup:
    """Where balls came to rest, each place spread out as a Gaussian; brighter means more often, in steps."""
    columns, rows = (max(1, round(size / _CELL_MM)) for size in (table.length_mm, table.width_mm))
    wide, high = table.length_mm / columns, table.width_mm / rows
    x_mm, y_mm = (np.arange(columns) + 0.5) * wide, (np.arange(rows) + 0.5) * high
    density = np.zeros((rows, columns))
    for place in places:
        across, along = (np.exp(-(((c - at) / _SPREAD_MM) ** 2) / 2) for c, at in ((y_mm, place.y), (x_mm, place.x)))
        density += np.outer(across, along)
    level = np.floor(_LEVELS * density / (density.max() or 1.0) + 0.5).astype(int)
    parts = [
        f'<rect class="heat" x="{begin * wide:.1f}" y="{table.width_mm - (row + 1) * high:.1f}" '
        f'width="{(end - begin) * wide:.1f}" height="{high:.1f}" '
        f'fill-opacity="{0.85 * level[row, begin] / _LEVELS:.2f}"/>'
        for row in range(rows)
        for begin, end in _runs(level[row])
        if level[row, begin]
    ]
    return table_svg(table, parts, title=title)


def _runs(values: npt.NDArray[np.int_]) -> list[tuple[int, int]]:
    """Where equal neighbours begin and end: one rectangle each keeps the drawing small."""
    edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return list(pairwise(edges))
