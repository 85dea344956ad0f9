"""How a ball's outline looks: the perspective image of a sphere, not a circle."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera

F64 = npt.NDArray[np.float64]


def sphere_outline(camera: Camera, centres_mm: npt.ArrayLike, radius_mm: float, count: int = 36) -> F64:
    """Outline points (n, count, 2) in pixels of spheres with centres (n, 3) in the table frame.

    The outline is the image of the circle where the cone of sight touches the sphere.
    """
    centres = np.asarray(centres_mm, np.float64).reshape(-1, 3)
    if len(centres) == 0:
        return np.zeros((0, count, 2))
    rotation, _ = cv2.Rodrigues(camera.rvec)
    axis = centres - camera.position_mm
    distance = np.linalg.norm(axis, axis=1, keepdims=True)
    axis = axis / distance
    ratio = np.minimum(radius_mm / distance, 0.9)
    first = rotation[0] - axis * (axis @ rotation[0])[:, None]
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(axis, first)
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    ring = np.cos(angles)[None, :, None] * first[:, None] + np.sin(angles)[None, :, None] * second[:, None]
    middle = centres - axis * radius_mm * ratio
    points = middle[:, None] + (radius_mm * np.sqrt(1 - ratio**2))[:, None] * ring
    return np.asarray(camera.project(points.reshape(-1, 3)).reshape(len(centres), count, 2), np.float64)


def circles(radius_px: F64, count: int = 36) -> F64:
    """Outlines (n, count, 2) round (0, 0) of balls of which no camera is known."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.asarray(np.asarray(radius_px, np.float64)[:, None, None] * ring[None], np.float64)
