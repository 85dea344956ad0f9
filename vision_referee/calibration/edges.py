"""Cushion edges to a fraction of a pixel: along each predicted line, where the colour changes most."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.cushions import side_points
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

NOSE, RAIL = 0, 1
_STEP = 0.25
_RISING = 0.45
"""Worth of an edge at which light rises inward against one at which it falls: only the latter looks like a nose."""
_UNUSUAL = 0.06
_FAINTEST = 0.10
_NOSE_REACH_PX = 1.2
_LEAST_STEP = {NOSE: 0.15, RAIL: 0.3}
"""Lab units a pixel: what changes less is no edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgePoints:
    """Edge points (n, 2) in pixels of one line: ``side`` 0 head, 1 left, 2 foot, 3 right; ``kind`` NOSE or RAIL.

    ``coherence`` 0..1: how alike the colour step is along the line; ``share`` of the samples in the picture that gave a
    point.
    """

    side: int
    kind: int
    points_px: F64
    coherence: float
    share: float


def find_rail_edges(
    lab: F32, camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float, reach_px: float, count: int = 80
) -> list[EdgePoints]:
    """Edge points near the four inner edges of the rails that ``camera`` predicts."""
    found = []
    for side in range(4):
        nose = camera.project(side_points(table, side, count=count))
        rail = camera.project(side_points(table, side, breadth_mm, rise_mm, count=count))
        used = min(len(nose), len(rail))
        apart = float(np.median(np.linalg.norm(nose[:used] - rail[:used], axis=1)))
        # Never reach for the nose: half the way to it is the limit.
        points = _along_line(lab, rail, side, RAIL, min(reach_px, max(0.45 * apart, 1.0)))
        if points is not None:
            found.append(points)
    return found


def find_nose_edges(
    lab: F32, camera: Camera, table: TableSpec, shape: CushionShape, breadth_mm: float, rise_mm: float, pixel: float,
    count: int = 80,
) -> list[EdgePoints]:  # fmt: skip
    """Edge points of the noses, on the sides where the edges seen agree on one breadth of the cushions.

    Between a rail and the bed run more edges than the nose: the face's foot, the end of its shade. Which is the nose
    cannot be told on one side; but all cushions are equally broad, and the nose is where light falls off, going inward.
    ``camera`` must hold for the rails' edges with ``breadth_mm`` and ``rise_mm``.
    """
    profiles = [_Profile.of(lab, camera, table, side, breadth_mm, rise_mm, pixel, count) for side in range(4)]
    best, chosen = -np.inf, (breadth_mm, rise_mm)
    breadths = shape.breadth_mm * np.exp(np.linspace(-2.2, 2.2, 45) * shape.breadth_spread)
    for rise in np.linspace(0.0, shape.rise_mm + 2.0 * shape.rise_spread_mm, 6):
        unusual = (np.log(breadths / shape.breadth_mm) / shape.breadth_spread) ** 2
        unusual = unusual + ((rise - shape.rise_mm) / shape.rise_spread_mm) ** 2
        score = sum(p.strength_at(p.rail_mm - breadths - p.lift * rise) for p in profiles) - _UNUSUAL * unusual
        top = int(np.argmax(score))
        if score[top] > best:
            best, chosen = float(score[top]), (float(breadths[top]), float(rise))
    found = []
    for side, profile in enumerate(profiles):
        at = profile.peak_near(profile.rail_mm - chosen[0] - profile.lift * chosen[1])
        if at is None:
            continue
        line = camera.project(side_points(table, side, at, 0.0, count=count))
        points = _along_line(lab, line, side, NOSE, _NOSE_REACH_PX * pixel)
        if points is not None:
            found.append(points)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Profile:
    """The edges along one side that may be its nose.

    ``out_mm`` (k,) is their distance outward of the nose that the camera has, at the noses' height, ``strength`` (k,)
    how well each does as a nose, 0..1; ``rail_mm`` where the rail's edge lies on that scale, moved outward by ``lift``
    mm for each mm that it stands above the nose; ``grain_mm`` what a pixel spans.
    """

    out_mm: F64
    strength: F64
    rail_mm: float
    lift: float
    grain_mm: float

    @staticmethod
    def of(
        lab: F32, camera: Camera, table: TableSpec, side: int, breadth_mm: float, rise_mm: float, pixel: float,
        count: int,
    ) -> _Profile:  # fmt: skip
        lift, grain = _lift_and_grain(camera, table, side)
        grain *= pixel
        rail = breadth_mm + lift * rise_mm
        step = 0.4 * grain
        out = np.arange(rail + 3 * step, rail - 2.4 * breadth_mm - 12 * step, -step)
        # Straight lines of the table, point by point between the innermost and the outermost of them.
        ends = [side_points(table, side, float(o), 0.0, count=count) for o in (out[0], out[-1])]
        count = min(len(ends[0]), len(ends[1]))
        share = ((out - out[0]) / (out[-1] - out[0]))[None, :, None]
        points = ends[0][:count, None] + share * (ends[1][:count, None] - ends[0][:count, None])
        px = camera.project(points.reshape(-1, 3)).reshape(count, len(out), 2)
        height, width = lab.shape[:2]
        inside = (px[..., 0] > 1) & (px[..., 1] > 1) & (px[..., 0] < width - 2) & (px[..., 1] < height - 2)
        seen = inside.all(axis=1)
        if seen.sum() < 12:
            return _Profile(out_mm=np.zeros(0), strength=np.zeros(0), rail_mm=rail, lift=lift, grain_mm=grain)
        px = px[seen].astype(np.float32)
        colour = cv2.remap(lab, px[..., 0], px[..., 1], cv2.INTER_LINEAR)
        half = 2
        change = (colour[:, 2 * half :] - colour[:, : -2 * half]) / (2 * half * 0.4)
        usual = np.median(change, axis=0)
        height_of = np.linalg.norm(usual, axis=1)
        unit = (change / (np.linalg.norm(change, axis=2, keepdims=True) + 2.0)).mean(axis=0)
        worth = np.linalg.norm(unit, axis=1) * np.where(usual[:, 0] < 0, 1.0, _RISING)
        out = out[half:-half]
        # Only where the change has its top runs an edge: the flanks of the rail's own edge are none.
        top = np.zeros(len(out), bool)
        top[1:-1] = (height_of[1:-1] >= height_of[:-2]) & (height_of[1:-1] > height_of[2:])
        top &= (out < rail - grain - 2.0) & (worth > _FAINTEST)
        return _Profile(out_mm=out[top], strength=worth[top], rail_mm=rail, lift=lift, grain_mm=grain)

    def strength_at(self, out_mm: F64) -> F64:
        """(n,) the strength of the edges near places (n,), less by how far they are."""
        if len(self.out_mm) == 0:
            return np.zeros(len(out_mm))
        off = (out_mm[:, None] - self.out_mm[None]) / (0.7 * self.grain_mm + 1.5)
        return np.asarray((self.strength * np.exp(-(off**2) / 2)).max(axis=1), np.float64)

    def peak_near(self, out_mm: float) -> float | None:
        """The edge near a place; None where there is none."""
        off = np.abs(self.out_mm - out_mm)
        if len(off) == 0 or off.min() > 1.5 * self.grain_mm + 3.0:
            return None
        return float(self.out_mm[int(np.argmin(off))])


def _lift_and_grain(camera: Camera, table: TableSpec, side: int) -> tuple[float, float]:
    """How far a mm of height moves the middle of a side outward, at the nose's height; mm a pixel across it there."""
    middle = side_points(table, side, count=5)[2]
    ends = side_points(table, side, count=2)
    way = (ends[-1] - ends[0]) / np.linalg.norm(ends[-1] - ends[0])
    outward = np.array([-way[1], way[0], 0.0])
    ray = middle - camera.position_mm
    jacobian = camera.px_per_mm(middle[None, :2], table.nose_height_mm)[0]
    across, along = jacobian @ outward[:2], jacobian @ way[:2]
    apart = abs(float(across[0] * along[1] - across[1] * along[0])) / max(float(np.linalg.norm(along)), 1e-9)
    return float(outward @ ray / max(-ray[2], 1e-6)), 1.0 / max(apart, 1e-6)


def _along_line(lab: F32, line: F64, side: int, kind: int, reach: float) -> EdgePoints | None:
    height, width = lab.shape[:2]
    way = np.gradient(line, axis=0)
    way /= np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]
    inward = np.column_stack([-way[:, 1], way[:, 0]])
    margin = 1.5
    offsets = np.arange(-reach - margin, reach + margin + 1e-9, _STEP)
    grid = line[:, None, :] + offsets[None, :, None] * inward[:, None, :]
    visible = (
        (grid[..., 0] > 1).all(axis=1) & (grid[..., 1] > 1).all(axis=1)
        & (grid[..., 0] < width - 2).all(axis=1) & (grid[..., 1] < height - 2).all(axis=1)
    )  # fmt: skip
    if visible.sum() < 12:
        return None
    line, inward = line[visible], inward[visible]
    grid = grid[visible].astype(np.float32)
    colour = cv2.remap(lab, grid[..., 0], grid[..., 1], cv2.INTER_LINEAR)
    width_px = round(0.75 / _STEP)
    change = np.zeros_like(colour)
    change[:, width_px:-width_px] = (colour[:, 2 * width_px :] - colour[:, : -2 * width_px]) / (2 * width_px * _STEP)
    inside = np.abs(offsets) <= reach
    # The line's own step of colour: where, over a small common shift, it changes most.
    unit = change / (np.linalg.norm(change, axis=2, keepdims=True) + 2.0)
    strength = np.linalg.norm(unit.mean(axis=0), axis=1)
    usual_step = np.median(change, axis=0)
    centre = int(np.argmax(np.where(inside, strength if kind == RAIL else np.linalg.norm(usual_step, axis=1), -1.0)))
    coherence = float(strength[centre])
    if coherence < 0.08:
        return None
    step = usual_step[centre]
    if np.linalg.norm(step) < _LEAST_STEP[kind]:
        return None
    step /= np.linalg.norm(step)
    along = change @ step
    search = np.where(inside[None, :], along, -np.inf)
    best = np.argmax(search, axis=1)
    rows = np.arange(len(line))
    peak = along[rows, best]
    usual = float(np.median(peak))
    free = (best > 0) & (best < len(offsets) - 1) & (peak > max(0.45 * usual, 0.4)) & (peak < 4 * usual + 1)
    left, right = along[rows, np.maximum(best - 1, 0)], along[rows, np.minimum(best + 1, len(offsets) - 1)]
    bend = left - 2 * peak + right
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.where(np.abs(bend) > 1e-6, 0.5 * (left - right) / bend, 0.0)
    at = offsets[best] + np.clip(np.nan_to_num(fraction), -0.5, 0.5) * _STEP
    free &= np.abs(at) < reach - 0.01
    free = _straight(at, free)
    if free.sum() < 8:
        return None
    points = line[free] + at[free, None] * inward[free]
    return EdgePoints(side=side, kind=kind, points_px=points, coherence=coherence, share=float(free.mean()))


def _straight(at: F64, free: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Keeps the samples that follow one smooth line: a quadratic, fitted robustly."""
    if free.sum() < 8:
        return free
    x = np.linspace(-1.0, 1.0, len(at))
    kept = free.copy()
    for _ in range(4):
        fit = np.polyfit(x[kept], at[kept], 2 if kept.sum() > 25 else 1)
        off = np.abs(at - np.polyval(fit, x))
        spread = 1.4826 * float(np.median(off[kept]))
        kept = free & (off < max(2.5 * spread, 0.25))
        if kept.sum() < 8:
            break
    return kept
