"""Several readings of one picture refined, one chosen, and what the others say of how surely."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.cushions import CushionFit
from vision_referee.calibration.pose import Pose, pose_from_corners, table_corners
from vision_referee.calibration.refine import Refined, refine
from vision_referee.calibration.strips import smooth_lab
from vision_referee.calibration.uncertainty import change_covariance, change_for_places
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_SHIFT_ROUNDS, _ENOUGH_JAWS = 3, 10
"""How often neighbours of a reading are tried, where fewer jaws than this agree with it or one does not."""
_RIVAL_FALL = 3.0
"""How fast, by a reading's score, its likelihood falls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The reading chosen."""

    fit: CushionFit
    refined: Refined
    covariance: F64
    """(8, 8) of the camera's change: the fit's own, and how far the other readings lie, as far as they are likely."""


def chosen_reading(
    bgr: U8, small: U8, fits: list[CushionFit], table: TableSpec, shape: CushionShape, scale: float, pixel: float,
    bow: float,
) -> Found:  # fmt: skip
    """Refines the search's readings on the small picture, and the one that then explains most on the full one."""
    lab = smooth_lab(small, 0.7 * pixel)
    size = (small.shape[1], small.shape[0])
    found: list[tuple[float, CushionFit, Refined]] = []
    for fit in fits:
        start = fit.pose.camera(size, bow * (fit.pose.focal_px / size[0]) ** 2)
        refined = refine(lab, start, table, shape, fit.breadth_mm, fit.rise_mm, pixel)
        if refined is not None:
            found.append((refined.plausibility + 0.3 * fit.score, fit, refined))
    if not found:
        raise CalibrationError("the cushions are hidden on too many sides; move people away or mark the corners")
    for _ in range(_SHIFT_ROUNDS):
        best = max(found, key=lambda one: one[0])
        if best[2].jaws_agree >= _ENOUGH_JAWS and best[2].jaws_differ == 0:
            break
        found += _shifted(lab, best, table, shape, pixel)
        if max(found, key=lambda one: one[0]) is best:
            break
    _, fit, refined = max(found, key=lambda one: one[0])
    covariance = _rivals(found, refined.camera, table)
    if scale < 1.0:
        full_pixel = max(1.0, bgr.shape[1] / 1000)
        camera = _scaled(refined.camera, 1 / scale, (bgr.shape[1], bgr.shape[0]))
        sharper = refine(
            smooth_lab(bgr, 0.7 * full_pixel), camera, table, shape, refined.breadth_mm, refined.rise_mm, full_pixel,
            rounds=2,
        )  # fmt: skip
        if sharper is None:
            raise CalibrationError("the cushions are hidden on too many sides; move people away or mark the corners")
        refined = sharper
    assert refined.fit is not None
    own = change_covariance(refined.camera, refined.fit.covariance, refined.fit.reach_mm)
    return Found(fit=fit, refined=refined, covariance=covariance + own)


def _shifted(
    lab: F32, best: tuple[float, CushionFit, Refined], table: TableSpec, shape: CushionShape, pixel: float
) -> list[tuple[float, CushionFit, Refined]]:
    """The readings next to one: one side's lines taken for those a cushion's breadth farther in or out."""
    _, fit, refined = best
    size = refined.camera.size_px
    noses = table_corners(table, 0.0, table.nose_height_mm)
    outward = np.array([[-1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0], [0, -1.0, 0]])
    start_pose = Pose(
        focal_px=float(refined.camera.matrix[0, 0]), rvec=refined.camera.rvec, tvec=refined.camera.tvec, cost=np.inf
    )
    out: list[tuple[float, CushionFit, Refined]] = []
    for side in range(4):
        for step in (-shape.breadth_mm, shape.breadth_mm):
            moved = noses.copy()
            moved[[side, (side + 1) % 4]] += step * outward[side]
            px = refined.camera.project(moved)
            pose = pose_from_corners(noses, px, size, 2.0 * pixel, start=start_pose)
            if pose is None:
                continue
            camera = pose.camera(size, float(refined.camera.distortion[0]))
            other = refine(lab, camera, table, shape, shape.breadth_mm, shape.rise_mm, pixel)
            if other is not None:
                out.append((other.plausibility + 0.3 * fit.score, fit, other))
    return out


def _rivals(found: list[tuple[float, CushionFit, Refined]], camera: Camera, table: TableSpec) -> F64:
    """(8, 8) spread of the readings round the chosen one, each counted by how nearly it would have been chosen."""
    best = max(score for score, _, _ in found)
    share = np.array([[x, y] for x in (0.05, 0.35, 0.65, 0.95) for y in (0.05, 0.5, 0.95)])
    places = share * [table.length_mm, table.width_mm]
    px = camera.project_plane(places, table.ball_radius_mm)
    total = np.zeros((8, 8))
    weights = 0.0
    for score, _, refined in found:
        weight = float(np.exp(_RIVAL_FALL * (score - best)))
        moved = refined.camera.unproject(px, table.ball_radius_mm) - places
        change = change_for_places(camera, places, moved, table.ball_radius_mm)
        total += weight * np.outer(change, change)
        weights += weight
    return total / weights


def _scaled(camera: Camera, factor: float, size_px: tuple[int, int]) -> Camera:
    matrix = camera.matrix.copy()
    matrix[:2, :2] *= factor
    matrix[0, 2], matrix[1, 2] = (size_px[0] - 1) / 2, (size_px[1] - 1) / 2
    return replace(camera, matrix=matrix, size_px=size_px)
