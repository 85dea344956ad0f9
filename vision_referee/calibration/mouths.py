"""How wide the middle pockets' mouths are in the picture: what tells a pyramid table from a pool table."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.strips import relative_colour, unlike_cloth
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

_REACH = 0.06  # of the table's length, to either side of the middle
_WIDEST = 0.09


def middle_mouth_mm(lab: F32, camera: Camera, table: TableSpec, breadth_mm: float) -> float | None:
    """The middle pockets' mouth in mm of this table, as seen (mean of the two, if both); None where it cannot be seen.

    Measured where the cushion's cloth ends, just behind the nose.
    """
    widths = [w for w in (_one_side(lab, camera, table, breadth_mm, y) for y in (0.0, table.width_mm)) if w is not None]
    return float(np.mean(widths)) if widths else None


def _one_side(lab: F32, camera: Camera, table: TableSpec, breadth_mm: float, nose_y_mm: float) -> float | None:
    outward = -1.0 if nose_y_mm == 0 else 1.0
    offsets = np.linspace(-_REACH, _REACH, 241) * table.length_mm
    rows = []
    for share in (0.15, 0.25, 0.35):
        y = nose_y_mm + outward * share * breadth_mm
        x = table.length_mm / 2 + offsets
        points = np.column_stack([x, np.full(len(x), y), np.full(len(x), table.nose_height_mm)])
        px = camera.project(points).astype(np.float32)
        height, width = lab.shape[:2]
        if (px < 1).any() or (px[:, 0] > width - 2).any() or (px[:, 1] > height - 2).any():
            return None
        rows.append(relative_colour(cv2.remap(lab, px[None, :, 0], px[None, :, 1], cv2.INTER_LINEAR)[0]))
    row = np.median(np.stack(rows), axis=0).astype(np.float32)
    cushion = np.median(np.vstack([row[:50], row[-50:]]), axis=0).astype(np.float32)
    unlike = unlike_cloth(row, cushion)
    # Half the way from cushion to pocket, whatever the pocket's colour: robust to its lining.
    inner = float(np.median(unlike[100:141]))
    if inner < 0.8 or float(np.median(np.hstack([unlike[:50], unlike[-50:]]))) > 0.4:
        return None
    gap = unlike > min(0.5 * inner, 1.0)
    left = 120 - int(np.argmin(gap[120::-1]))
    right = 120 + int(np.argmin(gap[120:]))
    if not gap[120] or left <= 2 or right >= 238:
        return None
    width_mm = float(offsets[right] - offsets[left])
    return width_mm if width_mm < _WIDEST * table.length_mm else None
