"""From a rough camera to the fitted one: edges and jaws are looked for where it predicts them, closer and closer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.cushions import side_points
from vision_referee.calibration.edges import NOSE, EdgePoints, find_nose_edges, find_rail_edges
from vision_referee.calibration.jaws import Jaw, find_jaws
from vision_referee.calibration.joint_fit import Cushions, JointFit, solve_joint
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

_ON_LINE_PX = 1.2
_JAW_AGREES = 2.5
"""Sigmas within which a jaw lies where the fit has it."""


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
    noses_seen: tuple[float, float, float, float]
    """Per side, the share of the nose's samples that lie on the fitted line."""
    rails_seen: tuple[float, float, float, float]
    jaws_agree: int = 0
    jaws_differ: int = 0
    fit: JointFit | None = None
    """None where a person's marks alone made the camera."""

    @property
    def plausibility(self) -> float:
        """How much of what is seen this camera explains, less how odd it makes the table; to choose among readings."""
        seen = 0.5 * sum(self.noses_seen) + 0.5 * sum(self.rails_seen)
        odd = 0.15 * self.fit.unusual + 0.05 * self.fit.misfit if self.fit is not None else 0.0
        return seen + 0.25 * self.jaws_agree - 0.25 * self.jaws_differ - odd


def refine(
    lab: F32, camera: Camera, table: TableSpec, shape: CushionShape, breadth_mm: float, rise_mm: float, pixel: float,
    *, rounds: int = 3, lens_fixed: bool = False, reach_px: tuple[float, ...] = (5.0, 3.0, 2.0),
) -> Refined | None:  # fmt: skip
    """Fits the camera to the edges near where it predicts them, in a few rounds of closer search; None when too few.

    ``reach_px`` says how far each round looks (the last goes on for further rounds). ``lens_fixed`` keeps focal length,
    distortion and cushions as they are: only the pose is solved, on the lines alone.
    """
    cushions = Cushions.usual(table, breadth_mm, rise_mm)
    edges: list[EdgePoints] = []
    fit: JointFit | None = None
    for turn in range(rounds):
        reach = pixel * reach_px[min(turn, len(reach_px) - 1)]
        edges = find_rail_edges(lab, camera, table, cushions.breadth, cushions.rise, reach)
        edges += find_nose_edges(lab, camera, table, shape, cushions.breadth, cushions.rise, pixel)
        if len({e.side for e in edges}) < 3:
            return None
        jaws: list[Jaw] = []
        if not lens_fixed:
            jaws = find_jaws(lab, camera, table, cushions.breadth, cushions.rise, pixel)
        fit = solve_joint(edges, jaws, camera, cushions, table, shape, pixel, lens_fixed=lens_fixed)
        camera, cushions = fit.camera, fit.cushions
    assert fit is not None
    return _judged(edges, fit, table, pixel)


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


def _judged(edges: list[EdgePoints], fit: JointFit, table: TableSpec, pixel: float) -> Refined:
    noses, rails = [0.0] * 4, [0.0] * 4
    any_nose = any(e.kind == NOSE for e in edges)
    squares: list[F64] = []
    squares_mm: list[F64] = []
    for e in edges:
        lift = (0.0, 0.0) if e.kind == NOSE else (float(fit.cushions.breadths[e.side]), fit.cushions.rise)
        off = line_residuals(e.points_px, fit.camera.project(side_points(table, e.side, *lift, count=12)))
        near = np.abs(off) < 2.5 * pixel
        share = float((np.abs(off) < _ON_LINE_PX * pixel).mean()) * e.share
        if e.kind == NOSE:
            noses[e.side] = share
        else:
            rails[e.side] = share
        if near.any() and (e.kind == NOSE or not any_nose):
            middle = side_points(table, e.side, count=5)[2:3, :2]
            jacobian = fit.camera.px_per_mm(middle, table.nose_height_mm)[0]
            across = jacobian[:, 0] if e.side % 2 == 0 else jacobian[:, 1]
            squares.append(off[near] ** 2)
            squares_mm.append(off[near] ** 2 / max(float(across @ across), 1e-12))
    residual_px = math.sqrt(float(np.concatenate(squares).mean())) if squares else float("inf")
    residual_mm = math.sqrt(float(np.concatenate(squares_mm).mean())) if squares_mm else float("inf")
    agree = int((np.abs(fit.jaw_off) < _JAW_AGREES).sum())
    return Refined(
        camera=fit.camera, breadth_mm=fit.cushions.breadth, rise_mm=fit.cushions.rise, residual_px=residual_px,
        residual_mm=residual_mm, noses_seen=(noses[0], noses[1], noses[2], noses[3]),
        rails_seen=(rails[0], rails[1], rails[2], rails[3]), jaws_agree=agree,
        jaws_differ=len(fit.jaw_off) - agree, fit=fit,
    )  # fmt: skip
