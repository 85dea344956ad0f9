"""Shot chart and heat map, drawn on the table as SVG."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from markupsafe import Markup

from vision_referee.domain.events import BallAt
from vision_referee.domain.table import TableSpec
from vision_referee.review.diagram import table_svg
from vision_referee.review.statistics import Shot

_CELL_MM = 118.0
"""About thirty cells along a 12 ft table: finer cells would be empty in one match."""


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
    """Square cells, the more opaque the more often a ball came to rest in them."""
    columns, rows = (max(1, round(size / _CELL_MM)) for size in (table.length_mm, table.width_mm))
    wide, high = table.length_mm / columns, table.width_mm / rows
    counts = np.zeros((rows, columns))
    for place in places:
        if 0 <= place.x <= table.length_mm and 0 <= place.y <= table.width_mm:
            counts[min(int(place.y / high), rows - 1), min(int(place.x / wide), columns - 1)] += 1
    most = counts.max() or 1.0
    parts = [
        f'<rect class="heat" x="{c * wide:.1f}" y="{table.width_mm - (r + 1) * high:.1f}" width="{wide:.1f}" '
        f'height="{high:.1f}" fill-opacity="{0.15 + 0.75 * counts[r, c] / most:.2f}"/>'
        for r, c in zip(*np.nonzero(counts), strict=True)
    ]
    return table_svg(table, parts, title=title)
