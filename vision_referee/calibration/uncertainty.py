"""How far a camera may be off, and what that does to places on the table.

A camera's error is a small change (8,): a turn and a shift of the whole scene in the camera's frame (rad, mm), the
logarithm of the focal length, k1. So written it does not depend on which end of the table is called the head.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from vision_referee.calibration.camera import Camera

F64 = npt.NDArray[np.float64]

_STEP = 1e-5


def changed(camera: Camera, change: F64) -> Camera:
    """The camera after a small change (8,)."""
    # Not cv2.Rodrigues: it takes the smallest turns for none and loses digits near half a turn.
    turn = Rotation.from_rotvec(change[:3])
    rvec = (turn * Rotation.from_rotvec(camera.rvec.reshape(3))).as_rotvec()
    matrix = camera.matrix.copy()
    matrix[[0, 1], [0, 1]] *= np.exp(change[6])
    distortion = camera.distortion.copy()
    distortion[0] += change[7]
    return replace(
        camera, matrix=matrix, distortion=distortion, rvec=np.asarray(rvec, np.float64).reshape(3),
        tvec=np.asarray(turn.apply(camera.tvec.reshape(3)) + change[3:6], np.float64),
    )  # fmt: skip


def change_between(before: Camera, after: Camera) -> F64:
    """The change (8,) that makes one camera of another."""
    first, _ = cv2.Rodrigues(before.rvec)
    second, _ = cv2.Rodrigues(after.rvec)
    turn = second @ first.T
    shift = after.tvec.reshape(3) - turn @ before.tvec.reshape(3)
    lens = [np.log(after.matrix[0, 0] / before.matrix[0, 0]), after.distortion[0] - before.distortion[0]]
    return np.concatenate([Rotation.from_matrix(turn).as_rotvec(), shift, lens])


def change_covariance(camera: Camera, covariance: F64, reach_mm: float) -> F64:
    """(8, 8) covariance of the change, from one of rvec, tvec / ``reach_mm``, log focal length and k1."""
    jacobian = np.zeros((8, 8))
    for k in range(3):
        other = camera.rvec.reshape(3).copy()
        other[k] += _STEP
        jacobian[:, k] = change_between(camera, replace(camera, rvec=other)) / _STEP
    jacobian[3:6, 3:6] = reach_mm * np.eye(3)
    jacobian[6, 6] = jacobian[7, 7] = 1.0
    return np.asarray(jacobian @ covariance @ jacobian.T, np.float64)


def covariance_from_points(
    camera: Camera, points_mm: F64, sigma_px: float, focal_spread: float, k1_spread: float
) -> F64:
    """(8, 8) covariance of a camera that was made from points (n, 3) known to ``sigma_px`` in the picture."""
    at = camera.project(points_mm)
    reach = float(np.linalg.norm(camera.tvec))
    scale = np.array([1.0, 1.0, 1.0, reach, reach, reach, 1.0, 1.0])
    columns = [(changed(camera, _STEP * unit * scale).project(points_mm) - at).ravel() / _STEP for unit in np.eye(8)]
    jacobian = np.stack(columns, axis=1) / sigma_px
    normal = jacobian.T @ jacobian
    normal[6, 6] += 1 / focal_spread**2
    normal[7, 7] += 1 / k1_spread**2
    return np.asarray(np.linalg.pinv(normal, hermitian=True) * np.outer(scale, scale), np.float64)


def change_for_places(camera: Camera, xy_mm: F64, moved_mm: F64, z_mm: float) -> F64:
    """The change (8,) that, taken as linear, moves places (n, 2) read from the picture as nearly by ``moved_mm``."""
    columns, scale = _place_jacobian(camera, xy_mm, z_mm)
    solved = np.linalg.lstsq(columns, moved_mm.ravel(), rcond=1e-6)[0]
    return np.asarray(solved * scale, np.float64)


def place_covariance_mm2(camera: Camera, covariance: F64, xy_mm: npt.ArrayLike, z_mm: float) -> F64:
    """Covariances (n, 2, 2) of places (n, 2) in the plane ``z_mm``, read from the picture by a camera so uncertain."""
    places = np.asarray(xy_mm, np.float64).reshape(-1, 2)
    columns, scale = _place_jacobian(camera, places, z_mm)
    jacobian = (columns / scale).reshape(len(places), 2, 8)
    return np.asarray(jacobian @ covariance @ jacobian.transpose(0, 2, 1), np.float64)


def _place_jacobian(camera: Camera, xy_mm: F64, z_mm: float) -> tuple[F64, F64]:
    """Change (2 n, 8) of places read from the picture, for changes in units of a scale (8,) that makes them alike."""
    px = camera.project_plane(xy_mm, z_mm)
    reach = float(np.linalg.norm(camera.tvec))
    scale = np.array([1.0, 1.0, 1.0, reach, reach, reach, 1.0, 1.0])
    columns = []
    for unit in np.eye(8):
        ahead = changed(camera, _STEP * unit * scale).unproject(px, z_mm)
        behind = changed(camera, -_STEP * unit * scale).unproject(px, z_mm)
        columns.append((ahead - behind).ravel() / (2 * _STEP))
    return np.stack(columns, axis=1), scale
