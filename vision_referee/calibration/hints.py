"""What would make a view better: plain sentences for the person who mounts the camera."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.domain.table import PocketName

U8 = npt.NDArray[np.uint8]

_DARK = 38.0  # mean brightness of the cloth (0..255)
_GLARE_SHARE = 0.01
_FLAT_MM_PER_PX = 8.0
_SMALL_BALL_PX = 12.0


def view_hints(bgr: U8, calibration: Calibration) -> list[str]:
    """Sentences, most important first; empty for a good view."""
    table, camera = calibration.table, calibration.camera
    width, height = camera.size_px
    hints: list[str] = []
    mouths = np.array([table.pocket(name).mouth_mm for name in PocketName])
    px = camera.project_plane(mouths, 0.0)
    for name, (x, y) in zip(PocketName, px, strict=True):
        if not (0 <= x < width and 0 <= y < height):
            hints.append(f"the {name.value.replace('_', ' ')} pocket is out of the picture: move the camera back")
    ends = np.array([[0.0, table.width_mm / 2], [table.length_mm, table.width_mm / 2]])
    worst = calibration.mm_per_px(ends)
    if worst.max() > _FLAT_MM_PER_PX:
        hints.append(
            f"at the far end one pixel spans {worst.max():.0f} mm: "
            "raise the camera, bring it closer or use a higher resolution"
        )
    grid = np.array([[x, y] for x in (0.1, 0.5, 0.9) for y in (0.2, 0.8)]) * [table.length_mm, table.width_mm]
    diameter = 2 * float(camera.ball_radius_px(grid, table.ball_radius_mm).min())
    if diameter < _SMALL_BALL_PX:
        hints.append(f"the farthest balls are {diameter:.0f} px wide (12 or more are needed): use a higher resolution")
    grey = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    mask = calibration.mask(-2 * table.ball_radius_mm) > 0
    if mask.any():
        cloth = grey[mask]
        if float(cloth.mean()) < _DARK:
            hints.append("the cloth is too dark: more light or a longer exposure")
        if float((cloth > 250).mean()) > _GLARE_SHARE:
            hints.append("parts of the cloth are burnt out by glare: shade the lamp or lower the exposure")
        if _blurred(np.asarray(grey, np.uint8), calibration):
            hints.append("the picture is blurred: focus the camera on the cloth and clean the lens")
    return hints


def _blurred(grey: U8, calibration: Calibration) -> bool:
    """Whether even the sharpest edges round the table spread over several pixels."""
    ring = (calibration.mask(120.0) > 0) & ~(calibration.mask(-60.0) > 0)
    if ring.sum() < 400:
        return False
    fine = grey.astype(np.float32)
    step_1 = np.hypot(cv2.Sobel(fine, cv2.CV_32F, 1, 0), cv2.Sobel(fine, cv2.CV_32F, 0, 1))[ring] / 8
    coarse = cv2.GaussianBlur(fine, (0, 0), 2.0)
    step_2 = np.hypot(cv2.Sobel(coarse, cv2.CV_32F, 1, 0), cv2.Sobel(coarse, cv2.CV_32F, 0, 1))[ring] / 8
    # Blurring a sharp edge by 2 px lowers its steepest slope to a third; a blurred one hardly changes.
    return float(np.quantile(step_2, 0.995)) > 0.72 * float(np.quantile(step_1, 0.995))
