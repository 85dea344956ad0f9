"""The table from above as SVG: pockets, house line, spots, balls with their numbers, paths, what was met.

The head cushion is at the left, the left long cushion at the top, as the head player sees them with the head turned
left: x to the right, y up. One SVG unit is one millimetre. Colours come from the style classes in ``diagram.css``,
so a page decides how a table looks on screen and on paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from markupsafe import Markup, escape

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import BallAt
from vision_referee.domain.table import TableSpec
from vision_referee.review.stroke_view import F64, Mark, StrokeView, simplified

_CUSHION_MM = 45.0
"""Drawn depth of the cushion's rubber, from the nose to the rail's wood."""


def stroke_svg(table: TableSpec, view: StrokeView, *, title: str, labels: dict[str, str] | None = None) -> Markup:
    """The stroke: ghosts where moved balls began, their paths, contacts, and balls where they lay at the end.

    ``labels``: words for ``spotted`` and ``restored`` (tool tips).
    """
    words = labels or {}
    moved = {path.ball for path in view.paths}
    parts: list[str] = []
    parts += [_path(path.ball, path.xy_mm, table) for path in view.paths]
    parts += [_ball(b, table, view.shown(b.ball), "ghost") for b in view.start if b.ball in moved]
    parts += [_mark(mark, table) for mark in view.marks]
    ringed = {ball for foul in view.ruling.fouls for ball in foul.balls}
    for b in view.end:
        parts.append(_ball(b, table, view.shown(b.ball), "foul" if b.ball in ringed else ""))
    for kind, balls in (("spotted", view.ruling.spotted), ("restored", view.ruling.restored)):
        parts += [_place(b, table, view.shown(b.ball), kind, words.get(kind, kind)) for b in balls]
    return table_svg(table, parts, title=title)


def moving_svg(table: TableSpec, view: StrokeView, *, title: str) -> Markup:
    """The same stroke for a page whose script moves the balls: every ball that is ever on the bed, where it began.

    Balls are ``<g class="ball" data-ball="7">``, to be moved by their ``transform``.
    """
    here = {b.ball: b for b in view.end} | {b.ball: b for b in view.start}
    parts = [_path(path.ball, path.xy_mm, table) for path in view.paths]
    parts += [_mark(mark, table) for mark in view.marks]
    parts += [_ball(b, table, view.shown(b.ball), "") for b in here.values()]
    return table_svg(table, parts, title=title)


def position_svg(table: TableSpec, balls: Iterable[BallAt], *, title: str, numbers: dict[str, str]) -> Markup:
    """A position: the balls where they lie."""
    return table_svg(table, [_ball(b, table, numbers.get(b.ball, b.ball), "") for b in balls], title=title)


def table_svg(table: TableSpec, parts: Iterable[str], *, title: str) -> Markup:
    """An empty table with ``parts`` (SVG fragments made by this module) on it."""
    rail = table.rail_width_mm
    box = f"{-rail:g} {-rail:g} {table.length_mm + 2 * rail:g} {table.width_mm + 2 * rail:g}"
    return Markup(
        f'<svg class="table" viewBox="{box}" role="img" aria-label="{escape(title)}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>'
        f"{_bed(table)}{''.join(parts)}</svg>"
    )


def _bed(table: TableSpec) -> str:
    length, width, rail = table.length_mm, table.width_mm, table.rail_width_mm
    cushion = min(_CUSHION_MM, rail * 0.4)
    wood = (
        f'<rect class="rail" x="{-rail:g}" y="{-rail:g}" width="{length + 2 * rail:g}" height="{width + 2 * rail:g}" '
        f'rx="{rail * 0.5:g}"/>'
        f'<rect class="rubber" x="{-cushion:g}" y="{-cushion:g}" width="{length + 2 * cushion:g}" '
        f'height="{width + 2 * cushion:g}"/>'
        f'<rect class="cloth" x="0" y="0" width="{length:g}" height="{width:g}"/>'
    )
    holes = "".join(_hole(table, pocket.mouth_mm, pocket.inward, pocket.width_mm) for pocket in table.pockets())
    lines = "".join(
        f'<line class="line{extra}" x1="{x:g}" y1="0" x2="{x:g}" y2="{width:g}"/>'
        for x, extra in ((table.house_line_mm, ""), (table.foot_line_mm, " faint"), (length / 2, " faint"))
    )
    spots = "".join(
        f'<circle class="spot" cx="{x:g}" cy="{width - y:g}" r="{table.ball_radius_mm * 0.2:.4g}"/>'
        for x, y in (table.head_spot_mm, table.centre_spot_mm, table.foot_spot_mm)
    )
    return wood + holes + lines + spots


def _hole(table: TableSpec, mouth: tuple[float, float], inward: tuple[float, float], width: float) -> str:
    radius = max(width, table.ball_diameter_mm) * 0.66
    back = radius * 0.62
    x, y = mouth[0] - inward[0] * back, mouth[1] - inward[1] * back
    return f'<circle class="hole" cx="{x:.1f}" cy="{table.width_mm - y:.1f}" r="{radius:.1f}"/>'


def _ball(ball: BallAt, table: TableSpec, shown: str, extra: str) -> str:
    kind = "cue" if ball.ball == CUE else ("unknown" if shown.startswith("u") else "object")
    text = "" if shown == CUE else (shown if kind == "object" else "")
    radius = table.ball_radius_mm
    return (
        f'<g class="ball {kind} {extra}" data-ball="{escape(ball.ball)}" '
        f'transform="translate({ball.x:.1f} {table.width_mm - ball.y:.1f})"><title>{escape(shown)}</title>'
        f'<circle r="{radius:g}"/>'
        f'<text dy="{radius * 0.36:.3g}" font-size="{radius * 1.05:.3g}">{escape(text)}</text></g>'
    )


def _place(ball: BallAt, table: TableSpec, shown: str, kind: str, word: str) -> str:
    x, y, r = ball.x, table.width_mm - ball.y, table.ball_radius_mm
    text = "" if shown == CUE else shown
    return (
        f'<g class="place {kind}" transform="translate({x:.1f} {y:.1f})"><title>{escape(word)}: {escape(shown)}</title>'
        f'<circle r="{r * 1.35:.4g}"/><circle class="core" r="{r:g}"/>'
        f'<text dy="{r * 0.36:.3g}" font-size="{r * 1.05:.3g}">{escape(text)}</text></g>'
    )


def _path(ball: str, xy_mm: F64, table: TableSpec) -> str:
    flipped = np.column_stack([xy_mm[:, 0], table.width_mm - xy_mm[:, 1]])
    points = simplified(flipped)
    text = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    kind = "cue" if ball == CUE else "object"
    return f'<polyline class="path {kind}" data-ball="{escape(ball)}" points="{text}"/>{_arrow(points, kind)}'


def _arrow(points: F64, kind: str) -> str:
    """An arrow head in the middle of the longest straight piece: which way the ball went."""
    if len(points) < 2:
        return ""
    steps = np.diff(points, axis=0)
    longest = int(np.argmax(np.hypot(*steps.T)))
    if np.hypot(*steps[longest]) < 120:
        return ""
    x, y = points[longest] + steps[longest] * 0.55
    turn = math.degrees(math.atan2(steps[longest, 1], steps[longest, 0]))
    place = f"translate({x:.0f} {y:.0f}) rotate({turn:.0f})"
    return f'<path class="arrow {kind}" d="M34 0L-22 -22L-8 0L-22 22Z" transform="{place}"/>'


def _mark(mark: Mark, table: TableSpec) -> str:
    x, y = mark.x_mm, table.width_mm - mark.y_mm
    radius = table.ball_radius_mm * (0.75 if mark.kind == "pocketed" else 0.42)
    return (
        f'<circle class="mark {mark.kind}" data-t="{mark.t_s:.3f}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.3g}">'
        f"<title>{escape(' – '.join(mark.balls))}, {mark.t_s:.2f} s</title></circle>"
    )
