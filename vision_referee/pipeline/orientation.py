"""Which end is the head: told by the rack, whose apex stands on the foot spot and points to the head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.detections import Detections

_RACK_BALLS = 11
"""Balls of a rack that must be seen; frozen balls hide one another from a low camera."""
_OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}


def head_from_rack(calibration: Calibration, looks: Sequence[Detections]) -> str | None:
    """The side of the picture where the head is, or None where no frame shows a rack.

    ``looks`` are detections in ``calibration``'s table frame (whose head may be the wrong end).
    """
    table = calibration.table
    side = calibration.head_side
    if side is None:
        return None
    votes = 0
    for seen in looks:
        xy = seen.xy_mm[seen.confidence > 0.3]
        for x_spot, vote in ((table.length_mm * 3 / 4, 1), (table.length_mm / 4, -1)):
            if _is_rack(xy, np.array([x_spot, table.width_mm / 2]), table.ball_diameter_mm, vote):
                votes += vote
    if votes == 0:
        return None
    return side if votes > 0 else _OPPOSITE[side]


def _is_rack(xy_mm: npt.NDArray[np.float64], spot_mm: npt.NDArray[np.float64], ball_mm: float, toward: int) -> bool:
    """Whether most of a triangle of fifteen stands with its apex on the spot and its base ``toward`` +x or -x."""
    pitch = ball_mm * np.sqrt(3) / 2
    places = [
        spot_mm + np.array([toward * row * pitch, (k - row / 2) * ball_mm]) for row in range(5) for k in range(row + 1)
    ]
    if len(xy_mm) < _RACK_BALLS:
        return False
    distance = np.linalg.norm(np.array(places)[:, None] - xy_mm[None], axis=2).min(axis=1)
    return int((distance < 0.45 * ball_mm).sum()) >= _RACK_BALLS
