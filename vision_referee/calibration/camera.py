"""The camera: pixels <-> millimetres. The only place, with the rest of this package, that knows both."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def undistorted_rays(xy_px: npt.ArrayLike, matrix: F64, distortion: F64) -> F64:
    """Pixels (n, 2) to normalised coordinates (n, 2) of an ideal lens: x / z and y / z in the camera frame."""
    px = np.asarray(xy_px, np.float64).reshape(-1, 1, 2)
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 40, 1e-9)
    # OpenCV 4 takes the criteria in a function of its own; OpenCV 5 in the general one.
    solve = getattr(cv2, "undistortPointsIter", cv2.undistortPoints)
    rays = solve(px, matrix, distortion, R=np.eye(3), P=np.eye(3), criteria=criteria)
    return np.asarray(rays, np.float64).reshape(-1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """Pinhole camera with Brown-Conrady distortion and a pose over the table.

    ``matrix`` (3, 3), ``distortion`` (5,) k1 k2 p1 p2 k3 (OpenCV's order and model), ``rvec`` (3,) and ``tvec`` (3,)
    take table-frame points (mm) to the camera frame; ``size_px`` is (width, height) of the picture it holds for.
    """

    matrix: F64
    distortion: F64
    rvec: F64
    tvec: F64
    size_px: tuple[int, int]

    def project(self, points_mm: npt.ArrayLike) -> F64:
        """Table-frame points (n, 3) in mm to pixels (n, 2)."""
        points = np.asarray(points_mm, np.float64).reshape(-1, 1, 3)
        if len(points) == 0:
            return np.zeros((0, 2))
        px, _ = cv2.projectPoints(points, self.rvec, self.tvec, self.matrix, self.distortion)
        return np.asarray(px, np.float64).reshape(-1, 2)

    def project_plane(self, xy_mm: npt.ArrayLike, z_mm: float) -> F64:
        """Points (n, 2) at height ``z_mm`` above the cloth to pixels (n, 2)."""
        xy = np.asarray(xy_mm, np.float64).reshape(-1, 2)
        return self.project(np.column_stack([xy, np.full(len(xy), z_mm)]))

    def unproject(self, xy_px: npt.ArrayLike, z_mm: float) -> F64:
        """Pixels (n, 2) to the points (n, 2) where their rays meet the plane ``z_mm`` above the cloth."""
        px = np.asarray(xy_px, np.float64).reshape(-1, 1, 2)
        if len(px) == 0:
            return np.zeros((0, 2))
        rays = undistorted_rays(px.reshape(-1, 2), self.matrix, self.distortion)
        rotation, _ = cv2.Rodrigues(self.rvec)
        origin = -rotation.T @ self.tvec.reshape(3)
        directions = np.column_stack([rays, np.ones(len(rays))]) @ rotation
        scale = (z_mm - origin[2]) / directions[:, 2]
        return np.asarray(origin[:2] + directions[:, :2] * scale[:, None], np.float64)

    @property
    def position_mm(self) -> F64:
        """The lens's place in the table frame, (3,)."""
        rotation, _ = cv2.Rodrigues(self.rvec)
        return np.asarray(-rotation.T @ self.tvec.reshape(3), np.float64)

    def px_per_mm(self, xy_mm: npt.ArrayLike, z_mm: float) -> F64:
        """Image Jacobian (n, 2, 2) d(px)/d(mm) at points (n, 2) of the plane ``z_mm``."""
        xy = np.asarray(xy_mm, np.float64).reshape(-1, 2)
        step = 1.0
        right, left = np.array([step, 0.0]), np.array([0.0, step])
        dx = (self.project_plane(xy + right, z_mm) - self.project_plane(xy - right, z_mm)) / (2 * step)
        dy = (self.project_plane(xy + left, z_mm) - self.project_plane(xy - left, z_mm)) / (2 * step)
        return np.stack([dx, dy], axis=2)

    def ball_radius_px(self, xy_mm: npt.ArrayLike, radius_mm: float) -> F64:
        """Apparent radius (n,) in pixels of balls at rest at points (n, 2)."""
        xy = np.asarray(xy_mm, np.float64).reshape(-1, 2)
        centres = np.column_stack([xy, np.full(len(xy), radius_mm)])
        rotation, _ = cv2.Rodrigues(self.rvec)
        depth = centres @ rotation.T + self.tvec.reshape(3)
        distance = np.linalg.norm(depth, axis=1)
        focal = (self.matrix[0, 0] + self.matrix[1, 1]) / 2
        # A sphere's outline is a cone of half-angle asin(r/d); near the axis the disc's radius is f * r / z.
        slant = radius_mm / np.sqrt(np.maximum(distance**2 - radius_mm**2, 1.0))
        return np.asarray(focal * slant * distance / depth[:, 2])
