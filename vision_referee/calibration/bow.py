"""How much the lens bows straight lines, told by the cloth's border before anything else is known."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.outline import Line, Quad, border_points

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_TRIED = np.linspace(-0.4, 0.2, 31)
_NEAR_PX = 7.0
_LEAST_SAG_PX = 0.8
_GAIN = 0.75


def bow_of_border(mask: U8, quad: Quad) -> float:
    """The radial bow K of a lens: a point r widths from the picture's middle is seen at r (1 + K r^2).

    From the borders of a cloth mask along a quad found in it. 0 where the borders do not call for one: they are
    straight to a pixel, or too ragged to say.
    """
    height, width = mask.shape
    points, tangents = border_points(mask)
    sides = [side for side in (_near(points, tangents, line) for line in quad.lines) if len(side) > 40]
    if len(sides) < 3:
        return 0.0
    costs = np.array([sum(_crookedness(straightened(side, k, width, height)) for side in sides) for k in _TRIED])
    best = int(np.argmin(costs))
    plain = float(np.interp(0.0, _TRIED, costs))
    if not 0 < best < len(_TRIED) - 1 or costs[best] > _GAIN * plain:
        return 0.0
    left, middle, right = costs[best - 1 : best + 2]
    bend = left - 2 * middle + right
    bow = float(_TRIED[best] + (0.5 * (left - right) / bend if bend > 1e-9 else 0.0) * (_TRIED[1] - _TRIED[0]))
    half = max(float(np.linalg.norm(side.max(axis=0) - side.min(axis=0))) for side in sides) / 2 / width
    sag_px = abs(bow) * half**2 * 0.3 * width
    return bow if sag_px > _LEAST_SAG_PX else 0.0


def _near(points: F64, tangents: F64, line: Line) -> F64:
    close = (np.abs(line.distance(points)) < _NEAR_PX) & (np.abs(tangents @ line.normal) < 0.35)
    return points[close]


def _crookedness(points: F64) -> float:
    """Mean capped squared distance from the points' own straight line."""
    kept = points
    off = np.zeros(len(points))
    for _ in range(3):
        centre = kept.mean(axis=0)
        _, _, axes = np.linalg.svd(kept - centre, full_matrices=False)
        off = (points - centre) @ axes[1]
        kept = points[np.abs(off) < max(2.5 * float(np.median(np.abs(off))), 1.0)]
    return float(np.minimum(off**2, 9.0).mean())


def straightened(points: F64, bow: float, width: float, height: float) -> F64:
    """Picture points (n, 2) where a lens without bow would show them."""
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    seen = (points - centre) / width
    true = seen
    for _ in range(8):
        true = seen / (1 + bow * (true**2).sum(axis=1, keepdims=True))
    return np.asarray(true * width + centre, np.float64)


def bowed(points: F64, bow: float, width: float, height: float) -> F64:
    """The inverse of :func:`straightened`."""
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    true = (points - centre) / width
    return np.asarray(true * (1 + bow * (true**2).sum(axis=1, keepdims=True)) * width + centre, np.float64)


def straight_picture(bgr: U8, bow: float) -> U8:
    """The picture as a lens without bow would show it, same size."""
    height, width = bgr.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    at = bowed(np.column_stack([x.ravel(), y.ravel()]), bow, width, height).astype(np.float32)
    out = cv2.remap(
        bgr, at[:, 0].reshape(height, width), at[:, 1].reshape(height, width), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return out.astype(np.uint8, copy=False)
