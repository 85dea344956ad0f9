"""Which small pictures to cut for the network round what changed, so that all of it costs least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_referee.detection.attention import Spot
from vision_referee.detection.region import Region

_CLOSE_SIDES, _WIDE_SIDES = (96, 160), (256, 384)
"""Sides of the network's square inputs: few, since each is a graph to compile, a tenth of a second once."""
_CLOSE_BALL_PX, _WIDE_BALL_PX = 28.0, 18.0
"""A ball's width in a small tile and in a wide one. Of the same ball the network says 0.3 to 0.8 where it is 18 px wide
in a tile of 96 px, 0.85 to 0.95 where it is 28 px wide: the less it sees around, the closer it must look."""
_MOST_SCALE = 3.0
_TOO_WIDE = 4096
"""A tile of this side costs more than a look at everything."""
_MARGIN_BALLS = 0.85
"""Ball widths round what changed that a tile shows at least."""
_OVERHEAD_PX = 2500.0
"""What a tile costs beyond its pixels, in network pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """``region`` of the picture to look at, and the ``labels`` of the spots that it answers for."""

    region: Region
    labels: frozenset[int]

    @property
    def cost(self) -> float:
        """In pixels of the network's input."""
        width, height = self.region.input_px
        return width * height + _OVERHEAD_PX


def tiles_of(spots: Sequence[Spot], size_px: tuple[int, int]) -> list[Tile]:
    """Tiles that cover all spots. ``size_px``: the picture's (width, height)."""
    boxes = [_grown(spot) for spot in spots]
    tiles = [_tile(box, spot.ball_px, {spot.label}, size_px) for box, spot in zip(boxes, spots, strict=True)]
    balls = [spot.ball_px for spot in spots]
    merged = True
    while merged:
        merged = False
        for i in range(len(tiles)):
            for k in range(len(tiles) - 1, i, -1):
                box = _around(boxes[i], boxes[k])
                ball = (balls[i] + balls[k]) / 2
                both = _tile(box, ball, set(tiles[i].labels | tiles[k].labels), size_px)
                if both.cost < tiles[i].cost + tiles[k].cost:
                    boxes[i], balls[i], tiles[i] = box, ball, both
                    del boxes[k], balls[k], tiles[k]
                    merged = True
    return tiles


Box = tuple[float, float, float, float]


def _grown(spot: Spot) -> Box:
    margin = _MARGIN_BALLS * spot.ball_px
    return (spot.x0 - margin, spot.y0 - margin, spot.x1 + margin, spot.y1 + margin)


def _around(a: Box, b: Box) -> Box:
    return (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))


def _tile(box: Box, ball_px: float, labels: set[int], size_px: tuple[int, int]) -> Tile:
    close = min(_CLOSE_BALL_PX / ball_px, _MOST_SCALE)
    longest = max(box[2] - box[0], box[3] - box[1])
    scale, sides = close, _CLOSE_SIDES
    if longest * close > _CLOSE_SIDES[-1]:
        scale, sides = min(_WIDE_BALL_PX / ball_px, _MOST_SCALE), _WIDE_SIDES
    side = next((s for s in sides if s >= longest * scale), _TOO_WIDE)
    x0, x1 = _span(box[0], box[2], int(side / scale), size_px[0])
    y0, y1 = _span(box[1], box[3], int(side / scale), size_px[1])
    return Tile(region=Region(x0=x0, y0=y0, x1=x1, y1=y1, scale=scale), labels=frozenset(labels))


def _span(low: float, high: float, length: int, size: int) -> tuple[int, int]:
    """``length`` pixels with low to high in their middle, as far as the picture has room."""
    start = max(0, min(int((low + high - length) / 2), size - length))
    return start, min(size, start + length)
