"""Where the network should look again, closer: small balls that touch, and boxes it was not sure of.

At the first look a ball may be ten pixels wide, little more than one cell of the network's grid; a rack of such balls
runs together. A small tile round the group, scaled until a ball is wide enough, costs a tenth of a whole picture.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.detection.region import Region

F64 = npt.NDArray[np.float64]

BALL_PX = 24.0
"""A ball's width in a tile."""
ENOUGH_PX = 17.0
"""Balls this wide at the first look need no second one."""
_TILE_SIDES = (96, 160, 224, 320, 416)
_CLOSE = 1.45
"""Centres nearer than this many ball widths are a group's."""
_JOIN = 2.4
_DOUBTFUL = 0.45
_MARGIN = 1.4
"""Ball widths round a group's outermost centres that the tile shows."""


def second_looks(
    boxes: F64, scores: F64, scale: float, size_px: tuple[int, int], *, most: int = 4
) -> list[tuple[Region, F64]]:
    """Tiles to look at again, and for each the part x0 y0 x1 y1 of the picture that it then answers for.

    ``boxes`` (n, 4) and ``scores`` (n,) of the first look in picture pixels, doubtful ones included; ``scale`` is the
    first look's; ``size_px`` the picture's (width, height).
    """
    if len(boxes) == 0:
        return []
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    width = np.sqrt(np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 1.0), axis=1))
    found: list[tuple[float, Region, F64]] = []
    for members in _groups(middle, width):
        ball = float(np.percentile(width[members], 30))
        if ball * scale >= ENOUGH_PX:
            continue
        apart = np.linalg.norm(middle[members][:, None] - middle[members][None], axis=2)
        apart[np.eye(len(members), dtype=bool)] = np.inf
        touching = int((apart.min(axis=1) < _CLOSE * ball).sum())
        if not touching and scores[members].min() >= _DOUBTFUL:
            continue
        low, high = middle[members].min(axis=0), middle[members].max(axis=0)
        made = _tile(low, high, ball, size_px)
        if made is not None and made[0].scale > 1.15 * scale:
            found.append((touching + 0.5, *made))
    found.sort(key=lambda one: -one[0])
    return [(region, core) for _, region, core in found[:most]]


def _groups(middle: F64, width: F64) -> list[npt.NDArray[np.intp]]:
    """Indices of boxes that hang together, each a step of at most _JOIN widths from the next."""
    near = np.linalg.norm(middle[:, None] - middle[None], axis=2) < _JOIN * np.minimum(width[:, None], width[None])
    label = np.arange(len(middle))
    for _ in range(len(middle)):
        spread = np.where(near, label[None], len(middle)).min(axis=1)
        if np.array_equal(spread, label):
            break
        label = spread
    return [np.flatnonzero(label == one) for one in np.unique(label)]


def _tile(low: F64, high: F64, ball: float, size_px: tuple[int, int]) -> tuple[Region, F64] | None:
    span = float((high - low).max()) + 2 * _MARGIN * ball
    scale = BALL_PX / ball
    side = next((s for s in _TILE_SIDES if s >= span * scale), _TILE_SIDES[-1])
    scale = min(scale, side / span)
    reach = side / scale
    corner = np.round((low + high - reach) / 2)
    corner = np.clip(corner, 0, np.maximum(np.array(size_px) - reach, 0))
    x0, y0 = int(corner[0]), int(corner[1])
    x1, y1 = min(size_px[0], round(x0 + reach)), min(size_px[1], round(y0 + reach))
    if x1 - x0 < 8 or y1 - y0 < 8:
        return None
    inner = np.array([*(low - 0.9 * ball), *(high + 0.9 * ball)])
    return Region(x0=x0, y0=y0, x1=x1, y1=y1, scale=scale), inner
