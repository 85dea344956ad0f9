"""The joint fit of lens, pose and cushions to everything seen of them: Gauss-Newton with priors, and its covariance.

Each observation is a picture point and a point of the table that depends linearly on the cushions: on a nose or a
rail's edge only the distance across the line counts, at a jaw only the distance along it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.edges import NOSE, EdgePoints
from vision_referee.calibration.jaws import Jaw, jaw_mm, jaw_offset_mm
from vision_referee.calibration.pose import FOCAL_SPREAD, USUAL_FOCAL, table_corners
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]

NOSE_SIGMA_PX, RAIL_SIGMA_PX = 0.8, 0.6
LINE_SIGMA_MM = 1.5
"""Cushions are no ruled lines: what a point on one may lie off, besides what its sharpness in the picture says."""
POINTS_A_LINE = 10.0
"""Points along one line share their faults: more than so many say nothing new."""
K1_SPREAD = 0.15
"""Prior on the radial distortion: 0 for a good lens, -0.3 for an action camera."""
BREADTH_SPREAD_MM = 2.5
"""How far the four cushions' breadths may differ."""
JAW_SPREAD_MM = 25.0
"""How far jaws may lie from where the table's specification puts them; all corners alike, both middles alike."""
_CAMERA = 8
_BREADTHS = slice(9, 13)
_RISE, _CORNER, _MIDDLE = 13, 14, 15
_COUNT = 16
_WIDE_MM, _NARROW_MM = 40.0, 15.0
_FIXED_SPREAD = 1e-4
_USUAL_MISFIT, _LEAST_SCATTER, _MOST_SCATTER = 1.5, 0.3, 8.0
"""Chi squared a line at which the sigmas are what they are said to be, and how far it may change the covariance."""
_ROUNDS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Cushions:
    """What the fit knows of the cushions, all in mm.

    ``breadths`` (4,) head left foot right; ``rise`` of the rail's edge above the nose; ``corner`` and ``middle``: how
    far the jaws lie from the corners and from the long sides' middles.
    """

    breadths: F64
    rise: float
    corner: float
    middle: float

    @property
    def breadth(self) -> float:
        return float(self.breadths.mean())

    @staticmethod
    def usual(table: TableSpec, breadth_mm: float, rise_mm: float) -> Cushions:
        corner, middle = jaw_offset_mm(table, breadth_mm)
        return Cushions(breadths=np.full(4, breadth_mm), rise=rise_mm, corner=corner, middle=middle)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFit:
    """``covariance`` (8, 8) of rvec, tvec / ``reach_mm``, log focal length and k1.

    The covariance is as wide as the lines' scatter makes it. ``unusual`` is the priors' chi squared of cushions and
    focal length, ``misfit`` that of the lines; ``jaw_off`` (n,) are the jaws' residuals in their sigmas.
    """

    camera: Camera
    cushions: Cushions
    covariance: F64
    reach_mm: float
    unusual: float
    misfit: float
    jaw_off: F64


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


def values_of(camera: Camera, reach: float) -> F64:
    """The inverse of :func:`camera_of`, (8,)."""
    focal = math.log((camera.matrix[0, 0] + camera.matrix[1, 1]) / 2)
    return np.concatenate([camera.rvec.reshape(3), camera.tvec.reshape(3) / reach, [focal, camera.distortion[0]]])


@dataclass(slots=True)
class _Rows:
    """n observations: the point seen (n, 2), the table point's part that does not change (n, 3), its changes with the
    parameters from 9 on (n, 7, 3), the side's direction (n, 3), whether it slides along the side, the sigma in pixels
    and in mm."""

    seen: F64
    base: F64
    change: F64
    way: F64
    slides: npt.NDArray[np.bool_]
    sigma_px: F64
    sigma_mm: F64
    share: F64

    def points(self, values: F64) -> F64:
        return np.asarray(self.base + np.einsum("nkc,k->nc", self.change, values[9:]), np.float64)


def solve_joint(
    edges: list[EdgePoints], jaws: list[Jaw], camera: Camera, cushions: Cushions, table: TableSpec,
    shape: CushionShape, pixel: float, *, lens_fixed: bool = False,
) -> JointFit:  # fmt: skip
    """The likeliest camera and cushions; ``lens_fixed`` keeps all but the pose."""
    reach = float(np.linalg.norm(camera.tvec))
    size = camera.size_px
    values = np.concatenate(
        [values_of(camera, reach), [cushions.breadth], cushions.breadths, [cushions.rise, cushions.corner,
         cushions.middle]]
    )  # fmt: skip
    centre, spread = _priors(values, table, shape, size, lens_fixed)
    rows = _rows(edges, jaws, cushions, table, camera, pixel)
    cost, normal, gradient, off = _system(rows, values, reach, size, centre, spread)
    damping = 1e-4
    for _ in range(_ROUNDS):
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), -gradient)
        trial = values + step
        trial_cost, trial_normal, trial_gradient, trial_off = _system(rows, trial, reach, size, centre, spread)
        if trial_cost < cost:
            gain = cost - trial_cost
            values, cost, normal, gradient, off = trial, trial_cost, trial_normal, trial_gradient, trial_off
            damping = max(damping / 6, 1e-9)
            if gain < 1e-4 * max(cost, 1.0):
                break
        else:
            damping *= 8
            if damping > 1e5:
                break
    misfit = float((rows.share * 2 * (np.sqrt(1 + off**2) - 1))[rows.slides].sum())
    scatter = float(np.clip(misfit / max(len(edges), 1) / _USUAL_MISFIT, _LEAST_SCATTER, _MOST_SCATTER))
    odd = (values - centre) / spread
    jaws_off = (values - centre)[[_CORNER, _MIDDLE]]
    # Leather and rims make a mouth look wider than it is; nothing makes it look much narrower.
    jaws_odd = jaws_off / np.where(jaws_off > 0, _WIDE_MM, _NARROW_MM)
    unusual = np.concatenate([odd[[6, 8, _RISE]], jaws_odd])
    return JointFit(
        camera=camera_of(values, reach, size),
        cushions=Cushions(
            breadths=values[_BREADTHS].copy(), rise=float(values[_RISE]), corner=float(values[_CORNER]),
            middle=float(values[_MIDDLE]),
        ),
        covariance=np.asarray(scatter * np.linalg.pinv(normal, hermitian=True)[:_CAMERA, :_CAMERA], np.float64),
        reach_mm=reach,
        unusual=0.0 if lens_fixed else float(unusual @ unusual),
        misfit=misfit, jaw_off=off[~rows.slides],
    )  # fmt: skip


def _priors(
    values: F64, table: TableSpec, shape: CushionShape, size: tuple[int, int], lens_fixed: bool
) -> tuple[F64, F64]:
    """Where parameters are expected and how firmly; the breadths hang on the common one (see :func:`_system`)."""
    if lens_fixed:
        spread = np.full(_COUNT, _FIXED_SPREAD)
        spread[:6] = np.inf
        return values.copy(), spread
    corner, middle = jaw_offset_mm(table, shape.breadth_mm)
    centre = np.concatenate(
        [np.zeros(6), [math.log(USUAL_FOCAL * max(size)), 0.0], np.full(5, shape.breadth_mm),
         [shape.rise_mm, corner, middle]]
    )  # fmt: skip
    # A spread of breadth in mm that equals the one of its logarithm near the usual one.
    jaw = JAW_SPREAD_MM * max(1.0, shape.breadth_spread / 0.2)
    spread = np.concatenate(
        [np.full(6, np.inf), [FOCAL_SPREAD, K1_SPREAD, shape.breadth_spread * shape.breadth_mm], np.full(4, np.inf),
         [shape.rise_spread_mm, jaw, 0.6 * jaw]]
    )  # fmt: skip
    return centre, spread


def _rows(
    edges: list[EdgePoints], jaws: list[Jaw], cushions: Cushions, table: TableSpec, camera: Camera, pixel: float
) -> _Rows:
    seen, base, change, way, slides, sigma_px, sigma_mm, share = [], [], [], [], [], [], [], []
    corners = table_corners(table, 0.0, table.nose_height_mm)
    for e in edges:
        start, end = corners[e.side], corners[(e.side + 1) % 4]
        length = float(np.linalg.norm(end - start))
        direction = (end - start) / length
        outward = np.array([-direction[1], direction[0], 0.0])
        change_here = np.zeros((7, 3))
        lift = np.zeros(3)
        if e.kind != NOSE:
            change_here[e.side] = outward
            change_here[4] = [0.0, 0.0, 1.0]
            lift = cushions.breadths[e.side] * outward + np.array([0.0, 0.0, cushions.rise])
        picks = e.points_px[np.unique(np.linspace(0, len(e.points_px) - 1, 40).astype(int))]
        polyline = camera.project(start + lift + np.linspace(0, length, 61)[:, None] * direction)
        # Where along the side each point lies: the nearest of the polyline is near enough to start from.
        nearest = np.linalg.norm(picks[:, None] - polyline[None], axis=2).argmin(axis=1) / 60 * length
        count = len(picks)
        seen.append(picks)
        base.append(start + nearest[:, None] * direction)
        change.append(np.repeat(change_here[None], count, axis=0))
        way.append(np.repeat(direction[None], count, axis=0))
        slides.append(np.ones(count, bool))
        sigma_px.append(np.full(count, (NOSE_SIGMA_PX if e.kind == NOSE else RAIL_SIGMA_PX) * pixel))
        sigma_mm.append(np.full(count, LINE_SIGMA_MM))
        share.append(np.full(count, min(1.0, POINTS_A_LINE / count)))
    for jaw in jaws:
        at = jaw_mm(table, jaw, 0.0, 0.0, 0.0, 0.0)
        change_here = np.zeros((7, 3))
        change_here[jaw.side] = jaw_mm(table, jaw, 0.0, 0.0, 1.0, 0.0) - at
        change_here[4] = jaw_mm(table, jaw, 0.0, 0.0, 0.0, 1.0) - at
        change_here[5] = jaw_mm(table, jaw, 1.0, 0.0, 0.0, 0.0) - at
        change_here[6] = jaw_mm(table, jaw, 0.0, 1.0, 0.0, 0.0) - at
        start, end = corners[jaw.side], corners[(jaw.side + 1) % 4]
        seen.append(jaw.point_px[None])
        base.append(at[None])
        change.append(change_here[None])
        way.append(((end - start) / np.linalg.norm(end - start))[None])
        slides.append(np.zeros(1, bool))
        sigma_px.append(np.array([jaw.sigma_px]))
        sigma_mm.append(np.zeros(1))
        share.append(np.ones(1))
    return _Rows(
        seen=np.vstack(seen), base=np.vstack(base), change=np.concatenate(change), way=np.vstack(way),
        slides=np.concatenate(slides), sigma_px=np.concatenate(sigma_px), sigma_mm=np.concatenate(sigma_mm),
        share=np.concatenate(share),
    )  # fmt: skip


def _system(
    rows: _Rows, values: F64, reach: float, size: tuple[int, int], centre: F64, spread: F64
) -> tuple[float, F64, F64, F64]:
    """Cost, normal matrix, gradient (pseudo-Huber on observations), and the observations' residuals in sigmas."""
    camera = camera_of(values, reach, size)
    rotation, _ = cv2.Rodrigues(camera.rvec)
    for _ in range(2):
        points = rows.points(values)
        px, jac = cv2.projectPoints(
            points.reshape(-1, 1, 3), camera.rvec, camera.tvec, camera.matrix, camera.distortion
        )
        px = np.asarray(px, np.float64).reshape(-1, 2)
        jac = np.asarray(jac, np.float64).reshape(len(px), 2, -1)
        by_point = jac[:, :, 3:6] @ rotation
        tangent = np.einsum("nij,nj->ni", by_point, rows.way)
        scale = np.maximum(np.linalg.norm(tangent, axis=1), 1e-9)
        tangent = tangent / scale[:, None]
        # Slide each line's point along the line to where the seen point is nearest.
        slip = np.where(rows.slides, ((rows.seen - px) * tangent).sum(axis=1) / scale, 0.0)
        rows.base = rows.base + slip[:, None] * rows.way
        if np.abs(slip).max(initial=0.0) < 2.0:
            break
    normal_px = np.column_stack([-tangent[:, 1], tangent[:, 0]])
    look = np.where(rows.slides[:, None], normal_px, tangent)
    # A line's own crookedness in pixels: what a mm across it, on the table, spans.
    across = np.column_stack([-rows.way[:, 1], rows.way[:, 0], np.zeros(len(px))])
    spans = np.abs(np.einsum("ni,nij,nj->n", look, by_point, across))
    sigma = np.hypot(rows.sigma_px, rows.sigma_mm * spans)
    off = ((px - rows.seen) * look).sum(axis=1) / sigma
    weight = rows.share / np.sqrt(1 + off**2)
    jacobian = np.zeros((len(px), _COUNT))
    jacobian[:, :3] = np.einsum("ni,nij->nj", look, jac[:, :, :3])
    jacobian[:, 3:6] = np.einsum("ni,nij->nj", look, jac[:, :, 3:6]) * reach
    jacobian[:, 6] = np.einsum("ni,nij->nj", look, jac[:, :, 6:8]).sum(axis=1) * float(camera.matrix[0, 0])
    jacobian[:, 7] = np.einsum("ni,ni->n", look, jac[:, :, 10])
    jacobian[:, 9:] = np.einsum("ni,nij,nkj->nk", look, by_point, rows.change)
    jacobian /= sigma[:, None]
    cost = float((2 * rows.share * (np.sqrt(1 + off**2) - 1)).sum())
    normal = (jacobian * weight[:, None]).T @ jacobian
    gradient = (jacobian * weight[:, None]).T @ off
    prior = (values - centre) / spread
    cost += float(prior @ prior)
    normal += np.diag(1 / spread**2)
    gradient += prior / spread
    # The four breadths hang on the common one.
    tie = np.zeros((4, _COUNT))
    tie[:, 8] = -1.0
    tie[np.arange(4), 9 + np.arange(4)] = 1.0
    tie /= BREADTH_SPREAD_MM
    apart = tie @ values
    return cost + float(apart @ apart), normal + tie.T @ tie, gradient + tie.T @ apart, off
