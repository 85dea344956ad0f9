"""The table from above as pixels, for pictures that are printed or carried to the table: balls with millimetres."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PIL import Image, ImageDraw

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import BallAt
from vision_referee.domain.table import TableSpec
from vision_referee.review.overlay import font

_SMOOTH = 2
"""Drawn this many times larger and reduced: Pillow's shapes have no smooth edges of their own."""

CLOTH = (38, 106, 84)
CLOTH_LINE = (90, 150, 130)
WOOD = (70, 48, 36)
RUBBER = (28, 82, 64)
HOLE = (14, 14, 16)
IVORY = (246, 240, 226)
CUE_COLOUR = (196, 58, 44)
HIGHLIGHT = (255, 196, 60)
INK = (24, 24, 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBall:
    """A ball to draw: ``text`` on it, ``important`` with a ring and its coordinates."""

    at: BallAt
    text: str
    important: bool


def table_picture(table: TableSpec, balls: Iterable[ShownBall], *, width_px: int = 1600) -> Image.Image:
    """RGB picture ``width_px`` wide, head cushion at the left, y up, coordinates beside the important balls."""
    margin = table.rail_width_mm
    scale = width_px * _SMOOTH / (table.length_mm + 2 * margin)
    size = (width_px * _SMOOTH, round((table.width_mm + 2 * margin) * scale))
    image = Image.new("RGB", size, WOOD)
    draw = ImageDraw.Draw(image)

    def at(x_mm: float, y_mm: float) -> tuple[float, float]:
        return ((x_mm + margin) * scale, (table.width_mm - y_mm + margin) * scale)

    def disc(x_mm: float, y_mm: float, r_mm: float, **how: object) -> None:
        x, y = at(x_mm, y_mm)
        r = r_mm * scale
        draw.ellipse((x - r, y - r, x + r, y + r), **how)  # type: ignore[arg-type]

    cushion = min(45.0, margin * 0.4)
    draw.rectangle((*at(-cushion, table.width_mm + cushion), *at(table.length_mm + cushion, -cushion)), fill=RUBBER)
    draw.rectangle((*at(0, table.width_mm), *at(table.length_mm, 0)), fill=CLOTH)
    for pocket in table.pockets():
        radius = max(pocket.width_mm, table.ball_diameter_mm) * 0.66
        x, y = pocket.mouth_mm
        disc(x - pocket.inward[0] * radius * 0.62, y - pocket.inward[1] * radius * 0.62, radius, fill=HOLE)
    for x_mm in (table.house_line_mm, table.length_mm / 2, table.foot_line_mm):
        draw.line((*at(x_mm, 0), *at(x_mm, table.width_mm)), fill=CLOTH_LINE, width=max(1, round(3 * scale)))
    for x_mm, y_mm in (table.head_spot_mm, table.centre_spot_mm, table.foot_spot_mm):
        disc(x_mm, y_mm, 7, fill=CLOTH_LINE)

    shown = sorted(balls, key=lambda b: b.important)
    for ball in shown:
        radius = table.ball_radius_mm
        if ball.important:
            disc(ball.at.x, ball.at.y, radius * 1.5, outline=HIGHLIGHT, width=max(2, round(10 * scale)))
        disc(ball.at.x, ball.at.y, radius, fill=CUE_COLOUR if ball.at.ball == CUE else IVORY)
        if ball.at.ball != CUE:
            face = font(round(radius * scale), True)
            draw.text(at(ball.at.x, ball.at.y), ball.text, font=face, fill=INK, anchor="mm")
    for ball in shown:
        if ball.important:
            _coordinates(draw, ball.at, table, at, scale)
    return image.resize((width_px, size[1] // _SMOOTH), Image.Resampling.LANCZOS)


def _coordinates(draw: ImageDraw.ImageDraw, ball: BallAt, table: TableSpec, at: object, scale: float) -> None:
    """Dashed lines to the head and right cushions with the distances on them, and both numbers beside the ball."""
    assert callable(at)
    x, y = at(ball.x, ball.y)
    x0, _ = at(0, 0)
    _, y0 = at(0, 0)
    width = max(1, round(4 * scale))
    for a, b in (((x0, y), (x, y)), ((x, y0), (x, y))):
        _dashed(draw, a, b, width, dash_px=18 * scale)
    face = font(max(16, round(52 * scale)), True)
    text = f"{ball.x:.0f} / {ball.y:.0f}"
    reach = table.ball_radius_mm * 1.8 * scale
    rightmost = at(table.length_mm, 0)[0]
    anchor, tx = ("lm", x + reach) if x + reach + face.getlength(text) < rightmost else ("rm", x - reach)
    draw.text((tx, y - reach * 0.4), text, font=face, fill=HIGHLIGHT, anchor=anchor, stroke_width=3, stroke_fill=INK)


def _dashed(
    draw: ImageDraw.ImageDraw, a: tuple[float, float], b: tuple[float, float], width: int, *, dash_px: float
) -> None:
    length = ((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5
    count = int(length / (2 * dash_px))
    for k in range(count + 1):
        s, e = 2 * k * dash_px / max(length, 1e-9), min(1.0, (2 * k + 1) * dash_px / max(length, 1e-9))
        if s < 1.0:
            p, q = ((a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f) for f in (s, e))
            draw.line((*p, *q), fill=HIGHLIGHT, width=width)
