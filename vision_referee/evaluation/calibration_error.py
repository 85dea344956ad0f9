"""How far the calibration alone puts a ball from where it is: positions can be no better than that."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration

F64 = npt.NDArray[np.float64]
_ALONG, _ACROSS = 13, 7


def calibration_error_mm(found: Calibration, true: Calibration) -> F64:
    """Error (n,) in mm over a grid of resting balls that the true camera has in its picture.

    A ball's true pixel is un-projected by the calibration that was found. Empty where the pictures differ in size.
    """
    if tuple(found.camera.size_px) != tuple(true.camera.size_px):
        return np.zeros(0)
    table, radius = true.table, true.table.ball_radius_mm
    x = np.linspace(radius, table.length_mm - radius, _ALONG)
    y = np.linspace(radius, table.width_mm - radius, _ACROSS)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    pixels = true.camera.project_plane(places, radius)
    width, height = true.camera.size_px
    inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < width) & (pixels[:, 1] < height)
    off = found.balls_mm(pixels[inside]) - places[inside]
    return np.asarray(np.linalg.norm(off, axis=1), np.float64)
