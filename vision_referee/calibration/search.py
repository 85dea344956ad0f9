"""Hypotheses of how a picture is to be read: cloth, outline, cushions; the best few, best first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.bow import bow_of_border
from vision_referee.calibration.cloth import ClothMask, cloth_masks
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.cushions import CushionFit, fit_cushions
from vision_referee.calibration.jaws import find_jaws, jaws_in_order
from vision_referee.calibration.outline import Quad, border_lines, quads
from vision_referee.calibration.pose import table_corners
from vision_referee.calibration.strips import smooth_lab
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_CERTAIN_SCORE, _SURE_SCORE = 3.3, 4.3
_CUT_SCORE = 2.2
_LEAST_SCORE = 1.3
_COMPARED, _KEPT = 40, 8
"""Readings of the edges that are held against the jaws, and that are kept to be refined."""


def lens_bow(bgr: U8) -> float:
    """The lens's bow, from the first hypothesis for the cloth that has a clear outline."""
    for count, cloth in enumerate(cloth_masks(bgr)):
        for quad in quads(cloth.mask, border_lines(cloth.mask), keep=1):
            if quad.open_side is None and quad.coverage > 0.93:
                return bow_of_border(cloth.mask, quad)
        if count == 3:
            break
    return 0.0


def search_readings(bgr: U8, table: TableSpec, shape: CushionShape) -> tuple[list[CushionFit], float]:
    """The best readings over all hypotheses for the cloth and its outline, best first, and the unit of sharpness."""
    pixel = max(1.0, bgr.shape[1] / 1000)
    lab = smooth_lab(bgr, 0.7 * pixel)
    fits: list[CushionFit] = []
    tried: list[F64] = []
    cut: list[tuple[ClothMask, Quad]] = []
    any_cloth = False
    colour = 0
    best = -np.inf
    for cloth in cloth_masks(bgr):
        if best > (_CERTAIN_SCORE if cloth.colour != colour else _SURE_SCORE):
            break
        colour = cloth.colour
        any_cloth = True
        for quad in quads(cloth.mask, border_lines(cloth.mask), keep=3):
            here = replace(quad, corners=(quad.corners + 0.5) / cloth.scale - 0.5)
            if quad.open_side is not None:
                cut.append((cloth, here))
                continue
            if any(np.abs(here.corners - other).max() < 4.0 * pixel for other in tried):
                continue
            tried.append(here.corners)
            fits += _readings(lab, cloth, here, table, shape, pixel)
            best = max((fit.score for fit in fits), default=-np.inf)
    if best < _CUT_SCORE:
        for cloth, quad in cut[:3]:
            fits += _readings(lab, cloth, quad, table, shape, pixel)
    fits.sort(key=lambda fit: -fit.score)
    if not fits or fits[0].score < _LEAST_SCORE:
        raise CalibrationError(_why_not(any_cloth, bool(cut), fits[0] if fits else None))
    return _hopeful(lab, fits, table, pixel), pixel


def _readings(
    lab: F32, cloth: ClothMask, quad: Quad, table: TableSpec, shape: CushionShape, pixel: float
) -> list[CushionFit]:
    return [fit for turn in (0, 1) for fit in fit_cushions(lab, cloth, quad, table, shape, turn, pixel, keep=14)]


def _hopeful(lab: F32, fits: list[CushionFit], table: TableSpec, pixel: float) -> list[CushionFit]:
    """The best few that are not one another's likeness, by how well the pockets' jaws fit them as well."""
    size = (lab.shape[1], lab.shape[0])
    corners: list[F64] = []
    ranked: list[tuple[float, CushionFit]] = []
    for fit in fits:
        camera = fit.pose.camera(size)
        here = camera.project(table_corners(table, 0.0, table.nose_height_mm))
        if any(np.abs(here - other).max() < 2.5 * pixel for other in corners):
            continue
        corners.append(here)
        jaws = find_jaws(lab, camera, table, fit.breadth_mm, fit.rise_mm, pixel)
        agree, differ = jaws_in_order(jaws, camera, table, fit.breadth_mm, fit.rise_mm)
        ranked.append((fit.score + 0.15 * agree - 0.15 * differ, fit))
        if len(ranked) == _COMPARED:
            break
    ranked.sort(key=lambda one: -one[0])
    return [fit for _, fit in ranked[:_KEPT]]


def _why_not(any_cloth: bool, cut_off: bool, best: CushionFit | None) -> str:
    if not any_cloth:
        return "no table in view: no large area of one colour; point the camera at the table or mark its corners"
    if best is None and cut_off:
        return "the table is cut off by the picture's edge; move the camera back or mark the corners"
    if best is None:
        return "no table in view: no cloth with four straight sides, twice as long as wide; mark its corners"
    return "a table may be in view, but its cushions cannot be read reliably; mark its corners"
