"""Camera poses from a table's four corners: closed form over a few focal lengths, then Gauss-Newton with priors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]

USUAL_FOCAL = 1.1
"""Focal length over picture width of the usual camera: a phone or webcam has 0.7 to 0.9, a broadcast lens 1.2 to 3."""
FOCAL_SPREAD = 0.5
"""One standard deviation of its logarithm: what keeps a plane seen head-on from running off with the focal length."""
_FOCALS = (0.55, 0.75, 1.0, 1.4, 2.0, 3.0, 4.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """A distortion-free camera: focal length in pixels, ``rvec`` ``tvec`` (3,), and the fit's cost (sigma units)."""

    focal_px: float
    rvec: F64
    tvec: F64
    cost: float

    def camera(self, size_px: tuple[int, int], k1: float = 0.0) -> Camera:
        width, height = size_px
        matrix = np.array([[self.focal_px, 0, (width - 1) / 2], [0, self.focal_px, (height - 1) / 2], [0, 0, 1.0]])
        return Camera(
            matrix=matrix, distortion=np.array([k1, 0, 0, 0, 0.0]), rvec=self.rvec, tvec=self.tvec, size_px=size_px
        )


def table_corners(table: TableSpec, margin_mm: float, z_mm: float) -> F64:
    """(4, 3): head-right, head-left, foot-left, foot-right corners of the surface grown by ``margin_mm``."""
    length, width, m = table.length_mm, table.width_mm, margin_mm
    return np.array(
        [[-m, -m, z_mm], [-m, width + m, z_mm], [length + m, width + m, z_mm], [length + m, -m, z_mm]], np.float64
    )


def pose_from_corners(
    corners_mm: F64, corners_px: F64, size_px: tuple[int, int], sigma_px: float, start: Pose | None = None
) -> Pose | None:
    """The likeliest pose that takes coplanar points (n, 3) to pixels (n, 2), focal length free under its prior.

    None when no camera above the cloth does.
    """
    starts = [start] if start is not None else _starts(corners_mm, corners_px, size_px)
    best: Pose | None = None
    for one in starts:
        pose = _polished(one, corners_mm, corners_px, size_px, sigma_px)
        if pose is not None and (best is None or pose.cost < best.cost):
            best = pose
    return best


def _starts(corners_mm: F64, corners_px: F64, size_px: tuple[int, int]) -> list[Pose]:
    width, height = size_px
    height_mm = corners_mm[0, 2]
    flat = corners_mm - [0, 0, height_mm]
    found: list[tuple[float, Pose]] = []
    for share in _FOCALS:
        focal = share * max(width, height)
        matrix = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1.0]])
        count, rvecs, tvecs, errors = cv2.solvePnPGeneric(
            flat.reshape(-1, 1, 3), corners_px.reshape(-1, 1, 2), matrix, np.zeros(5), flags=cv2.SOLVEPNP_IPPE
        )
        for index in range(count):
            rvec = np.asarray(rvecs[index], np.float64).reshape(3)
            rotation, _ = cv2.Rodrigues(rvec)
            tvec = np.asarray(tvecs[index], np.float64).reshape(3) - rotation[:, 2] * height_mm
            eye = -rotation.T @ tvec
            if eye[2] <= height_mm or not np.isfinite(tvec).all():
                continue
            error = float(np.asarray(errors[index]).reshape(-1)[0])
            found.append((error, Pose(focal_px=focal, rvec=rvec, tvec=tvec, cost=math.inf)))
    found.sort(key=lambda pair: pair[0])
    return [pose for _, pose in found[:9]]


def _polished(start: Pose, points_mm: F64, points_px: F64, size_px: tuple[int, int], sigma_px: float) -> Pose | None:
    """Levenberg-Marquardt over rotation, translation and log focal length, with OpenCV's analytic Jacobian."""
    width, height = size_px
    usual = math.log(USUAL_FOCAL * max(width, height))
    reach = float(np.linalg.norm(start.tvec))
    values = np.concatenate([start.rvec, start.tvec / reach, [math.log(start.focal_px)]])

    def evaluate(v: F64) -> tuple[F64, F64]:
        focal = math.exp(v[6])
        matrix = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1.0]])
        px, jac = cv2.projectPoints(points_mm.reshape(-1, 1, 3), v[:3], v[3:6] * reach, matrix, np.zeros(5))
        residual = (px.reshape(-1) - points_px.reshape(-1)) / sigma_px
        jacobian = np.column_stack([jac[:, :3], jac[:, 3:6] * reach, (jac[:, 6:8].sum(axis=1)) * focal]) / sigma_px
        prior = (v[6] - usual) / FOCAL_SPREAD
        row = np.array([0, 0, 0, 0, 0, 0, 1 / FOCAL_SPREAD])
        return np.append(residual, prior), np.vstack([jacobian, row])

    damping = 1e-3
    residual, jacobian = evaluate(values)
    cost = float(residual @ residual)
    for _ in range(25):
        normal = jacobian.T @ jacobian
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), -jacobian.T @ residual)
        step = np.clip(step, -0.5, 0.5)
        trial_residual, trial_jacobian = evaluate(values + step)
        trial = float(trial_residual @ trial_residual)
        if trial < cost:
            gain = cost - trial
            values, residual, jacobian, cost = values + step, trial_residual, trial_jacobian, trial
            damping = max(damping / 5, 1e-9)
            if gain < 1e-5 * (cost + 1e-9):
                break
        else:
            damping *= 6
            if damping > 1e6:
                break
    rotation, _ = cv2.Rodrigues(values[:3])
    tvec = values[3:6] * reach
    eye = -rotation.T @ tvec
    depth = points_mm @ rotation[2] + tvec[2]
    if not np.isfinite(cost) or eye[2] <= points_mm[:, 2].max() or depth.min() <= 0:
        return None
    return Pose(focal_px=math.exp(values[6]), rvec=values[:3].copy(), tvec=tvec, cost=cost)
