"""Many small pose problems at once: thousands of ways to read the edges, each a table of four corners, in one go."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.pose import FOCAL_SPREAD, USUAL_FOCAL, Pose

F64 = npt.NDArray[np.float64]


def project_batch(points_mm: F64, rotation: F64, tvec: F64, focal_px: F64, size_px: tuple[int, int]) -> F64:
    """Points (n, k, 3) through n pinhole cameras (n, 3, 3), (n, 3), (n,) to pixels (n, k, 2)."""
    seen = points_mm @ rotation.transpose(0, 2, 1) + tvec[:, None, :]
    depth = np.maximum(seen[..., 2:], 1e-6)
    centre = np.array([(size_px[0] - 1) / 2, (size_px[1] - 1) / 2])
    return np.asarray(focal_px[:, None, None] * seen[..., :2] / depth + centre, np.float64)


def _rotations(omega: F64) -> F64:
    """Rotation vectors (n, 3) to matrices (n, 3, 3) by Rodrigues' formula."""
    angle = np.linalg.norm(omega, axis=1)
    axis = omega / np.maximum(angle, 1e-12)[:, None]
    cross = np.zeros((len(omega), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    cross[:, 1, 0], cross[:, 2, 0], cross[:, 2, 1] = axis[:, 2], -axis[:, 1], axis[:, 0]
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.asarray(np.eye(3) + sine * cross + (1 - cosine) * (cross @ cross), np.float64)


def solve_batch(
    points_mm: F64, points_px: F64, start: Pose, size_px: tuple[int, int], sigma_px: float, rounds: int = 10
) -> tuple[F64, F64, F64, F64]:
    """Gauss-Newton for n problems of k points (n, k, 3) -> (n, k, 2), all begun at ``start``.

    Returns rotations (n, 3, 3), translations (n, 3), focal lengths (n,) and costs (n,) in sigma units, the prior on the
    focal length in them.
    """
    import cv2

    count, k = points_mm.shape[:2]
    first, _ = cv2.Rodrigues(start.rvec)
    rotation = np.repeat(np.asarray(first, np.float64)[None], count, axis=0)
    tvec = np.repeat(start.tvec.reshape(1, 3), count, axis=0)
    log_focal = np.full(count, math.log(start.focal_px))
    usual = math.log(USUAL_FOCAL * max(size_px))
    centre = np.array([(size_px[0] - 1) / 2, (size_px[1] - 1) / 2])
    reach = float(np.linalg.norm(start.tvec))
    cost = np.full(count, np.inf)
    damping = np.full(count, 1e-3)
    kept = (rotation, tvec, log_focal)
    for step_index in range(rounds + 1):
        turned = points_mm @ rotation.transpose(0, 2, 1)
        seen = turned + tvec[:, None, :]
        depth = seen[..., 2]
        focal = np.exp(log_focal)[:, None]
        safe = np.where(depth > 1.0, depth, 1.0)
        px = focal[..., None] * seen[..., :2] / safe[..., None] + centre
        residual = (px - points_px).reshape(count, 2 * k) / sigma_px
        prior = (log_focal - usual) / FOCAL_SPREAD
        trial = (residual**2).sum(axis=1) + prior**2
        trial = np.where((depth > 1.0).all(axis=1), trial, np.inf)
        better = trial < cost
        cost = np.where(better, trial, cost)
        damping = np.where(better, np.maximum(damping / 5, 1e-8), np.minimum(damping * 8, 1e6))
        kept = (
            np.where(better[:, None, None], rotation, kept[0]),
            np.where(better[:, None], tvec, kept[1]),
            np.where(better, log_focal, kept[2]),
        )
        if step_index == rounds:
            break
        if not better.all():
            # Those that got worse go on from their best place, more cautiously.
            rotation, tvec, log_focal = kept
            turned = points_mm @ rotation.transpose(0, 2, 1)
            seen = turned + tvec[:, None, :]
            safe = np.maximum(seen[..., 2], 1.0)
            focal = np.exp(log_focal)[:, None]
            px = focal[..., None] * seen[..., :2] / safe[..., None] + centre
            residual = (px - points_px).reshape(count, 2 * k) / sigma_px
            prior = (log_focal - usual) / FOCAL_SPREAD
        a, bx, by = focal / safe, focal * seen[..., 0] / safe**2, focal * seen[..., 1] / safe**2
        jac = np.zeros((count, k, 2, 7))
        x, y, z = turned[..., 0], turned[..., 1], turned[..., 2]
        # d(seen)/d(omega) = -[turned]x : columns (0, z, -y) ... by axis
        jac[..., 0, 0], jac[..., 0, 1], jac[..., 0, 2] = -bx * y, a * z + bx * x, -a * y
        jac[..., 1, 0], jac[..., 1, 1], jac[..., 1, 2] = -a * z - by * y, by * x, a * x
        jac[..., 0, 3], jac[..., 0, 5] = a * reach, -bx * reach
        jac[..., 1, 4], jac[..., 1, 5] = a * reach, -by * reach
        jac[..., :, 6] = px - centre
        flat = jac.reshape(count, 2 * k, 7) / sigma_px
        normal = flat.transpose(0, 2, 1) @ flat
        gradient = (flat.transpose(0, 2, 1) @ residual[..., None])[..., 0]
        normal[:, 6, 6] += 1 / FOCAL_SPREAD**2
        gradient[:, 6] += prior / FOCAL_SPREAD
        diagonal = np.einsum("nii->ni", normal)
        normal = normal + damping[:, None, None] * (np.eye(7) * (diagonal[:, None, :] + 1e-9))
        step = -np.linalg.solve(normal, gradient[..., None])[..., 0]
        step = np.clip(step, -0.4, 0.4)
        rotation = _rotations(step[:, :3]) @ rotation
        tvec = tvec + step[:, 3:6] * reach
        log_focal = log_focal + step[:, 6]
    return kept[0], kept[1], np.exp(kept[2]), cost
