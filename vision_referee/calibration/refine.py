"""The joint fit: focal length, distortion, pose and the cushions' breadth on all edge points at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushions import USUAL_RISE, side_points
from vision_referee.calibration.edges import NOSE, EdgePoints, find_edges
from vision_referee.calibration.pose import FOCAL_SPREAD, USUAL_FOCAL
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

NOSE_SIGMA_PX = 0.6
RAIL_SIGMA_PX = 1.2
K1_SPREAD = 0.15
"""Prior on the radial distortion: 0 for a good lens, -0.3 for an action camera."""
BREADTH_SPREAD = 0.0015
"""How far the four cushions' breadths may differ, as a share of the table's length."""
RISE_SPREAD = 0.002
SEARCH_SPREAD = 0.003
"""How far the common breadth may stray from what the search found."""
MIDDLE_SIGMA = 0.008


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """The camera and what the fit says of itself.

    Residuals are root mean squares over the nose points kept; over the rails' edges where no nose can be seen.
    """

    camera: Camera
    breadth_mm: float
    rise_mm: float
    residual_px: float
    residual_mm: float
    edges: list[EdgePoints]
    noses_seen: tuple[float, float, float, float]
    """Per side, the share of the nose's samples that lie on the fitted line."""
    rails_seen: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MiddleMark:
    """Where the middle pocket of a long side (1 left, 3 right) seems to lie in the picture, and how surely (0..1)."""

    side: int
    point_px: F64
    weight: float


def refine(
    lab: F32, camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float, pixel: float,
    marks: list[MiddleMark] | None = None, rounds: int = 3, lens_fixed: bool = False,
    reach_px: tuple[float, ...] = (5.0, 3.0, 2.0),
) -> Refined | None:  # fmt: skip
    """Fits the camera to the edges near where it predicts them, in a few rounds of closer search; None when too few.

    ``reach_px`` says how far each round looks (the last goes on for further rounds). ``lens_fixed`` keeps focal length,
    distortion and cushions as they are: only the pose is solved.
    """
    edges: list[EdgePoints] = []
    for turn in range(rounds):
        reach = pixel * reach_px[min(turn, len(reach_px) - 1)]
        edges = find_edges(lab, camera, table, breadth_mm, rise_mm, reach)
        if len({e.side for e in edges}) < 3:
            return None
        camera, breadth_mm, rise_mm = _solve(edges, camera, table, breadth_mm, rise_mm, pixel, marks or [], lens_fixed)
    return _judged(edges, camera, table, breadth_mm, rise_mm, pixel)


def camera_of(values: F64, reach: float, size_px: tuple[int, int]) -> Camera:
    """The camera of a parameter vector: rvec, tvec / reach, log focal length, k1, …"""
    width, height = size_px
    focal = math.exp(float(values[6]))
    return Camera(
        matrix=np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1.0]]),
        distortion=np.array([float(values[7]), 0, 0, 0, 0.0]),
        rvec=np.asarray(values[:3], np.float64).copy(),
        tvec=np.asarray(values[3:6] * reach, np.float64),
        size_px=size_px,
    )


def line_residuals(points_px: F64, line_px: F64) -> F64:
    """Signed distances (n,) of points (n, 2) from a nearly straight polyline (k, 2)."""
    start, middle, end = line_px[0], line_px[len(line_px) // 2], line_px[-1]
    way = end - start
    size = max(math.hypot(way[0], way[1]), 1e-9)
    way = way / size
    normal = np.array([-way[1], way[0]])
    # A parabola through three points: distortion bows a side by a smooth arc.
    at, height = float((middle - start) @ way), float((middle - start) @ normal)
    bow = height / (at * (at - size)) if 0.05 * size < at < 0.95 * size else 0.0
    u, v = (points_px - start) @ way, (points_px - start) @ normal
    return np.asarray(v - bow * u * (u - size), np.float64)


def _solve(
    edges: list[EdgePoints], camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float, pixel: float,
    marks: list[MiddleMark], lens_fixed: bool,
) -> tuple[Camera, float, float]:  # fmt: skip
    size = camera.size_px
    length = table.length_mm
    reach = float(np.linalg.norm(camera.tvec))
    usual = math.log(USUAL_FOCAL * max(size))
    focal = math.log((camera.matrix[0, 0] + camera.matrix[1, 1]) / 2)
    breadth = breadth_mm / length
    first = np.concatenate(
        [camera.rvec.reshape(3), camera.tvec.reshape(3) / reach, [focal, camera.distortion[0]], [breadth] * 5,
         [rise_mm / length]]
    )  # fmt: skip
    weights = [1.0 / ((NOSE_SIGMA_PX if e.kind == NOSE else RAIL_SIGMA_PX) * pixel) for e in edges]
    # Points along one line share its systematic error: past some thirty they say nothing new.
    weights = [w * math.sqrt(min(1.0, 30.0 / len(e.points_px))) for w, e in zip(weights, edges, strict=True)]
    middles = np.array([[length / 2, table.width_mm if m.side == 1 else 0.0, table.nose_height_mm] for m in marks])
    noses = [side_points(table, s, count=12) for s in range(4)]

    def priors(v: F64) -> F64:
        if lens_fixed:
            return np.asarray((v[6:] - first[6:]) / 1e-4, np.float64)
        return np.array(
            [
                (v[6] - usual) / FOCAL_SPREAD,
                v[7] / K1_SPREAD,
                *((v[9:13] - v[8]) / BREADTH_SPREAD),
                (v[13] - USUAL_RISE) / RISE_SPREAD,
                (v[8] - breadth) / SEARCH_SPREAD,
            ]
        )

    def residuals(v: F64) -> F64:
        seen = camera_of(v, reach, size)
        lines = [
            noses[e.side] if e.kind == NOSE
            else side_points(table, e.side, float(v[9 + e.side]) * length, float(v[13]) * length, count=12)
            for e in edges
        ]  # fmt: skip
        px = seen.project(np.vstack([*lines, *([middles] if len(marks) else [])]))
        parts = []
        at = 0
        for e, line, weight in zip(edges, lines, weights, strict=True):
            off = line_residuals(e.points_px, px[at : at + len(line)]) * weight
            at += len(line)
            parts.append(np.sign(off) * np.sqrt(2 * (np.sqrt(1 + np.minimum(off**2, 1e6)) - 1)))
        if len(marks):
            ahead = seen.project(middles + np.array([0.02 * length, 0, 0]))
            for mark, here, there in zip(marks, px[at:], ahead, strict=True):
                way = (there - here) / 0.02
                off_l = float((mark.point_px - here) @ way) / max(float(way @ way), 1e-9)
                parts.append(np.array([mark.weight * math.tanh(off_l / MIDDLE_SIGMA / 3.0) * 3.0]))
        parts.append(priors(v))
        return np.concatenate(parts)

    solved = least_squares(residuals, first, method="trf", x_scale="jac", max_nfev=25)
    values = np.asarray(solved.x, np.float64)
    return camera_of(values, reach, size), float(np.mean(values[9:13])) * length, float(values[13]) * length


def _judged(
    edges: list[EdgePoints], camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float, pixel: float
) -> Refined:
    noses, rails = [0.0] * 4, [0.0] * 4
    any_nose = any(e.kind == NOSE for e in edges)
    squares: list[F64] = []
    squares_mm: list[F64] = []
    for e in edges:
        lift = (0.0, 0.0) if e.kind == NOSE else (breadth_mm, rise_mm)
        off = line_residuals(e.points_px, camera.project(side_points(table, e.side, *lift, count=12)))
        near = np.abs(off) < 2.5 * pixel
        share = float(near.mean()) * e.share
        if e.kind == NOSE:
            noses[e.side] = share
        else:
            rails[e.side] = share
        if near.any() and (e.kind == NOSE or not any_nose):
            middle = side_points(table, e.side, count=5)[2:3, :2]
            jacobian = camera.px_per_mm(middle, table.nose_height_mm)[0]
            across = jacobian[:, 0] if e.side % 2 == 0 else jacobian[:, 1]
            squares.append(off[near] ** 2)
            squares_mm.append(off[near] ** 2 / max(float(across @ across), 1e-12))
    residual_px = math.sqrt(float(np.concatenate(squares).mean())) if squares else float("inf")
    residual_mm = math.sqrt(float(np.concatenate(squares_mm).mean())) if squares_mm else float("inf")
    return Refined(
        camera=camera, breadth_mm=breadth_mm, rise_mm=rise_mm, residual_px=residual_px, residual_mm=residual_mm,
        edges=edges, noses_seen=(noses[0], noses[1], noses[2], noses[3]),
        rails_seen=(rails[0], rails[1], rails[2], rails[3]),
    )  # fmt: skip
