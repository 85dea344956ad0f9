"""Cushion edges to a fraction of a pixel: along each predicted line, where the colour changes most."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushions import side_points
from vision_referee.calibration.strips import relative_colour
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

NOSE, RAIL = 0, 1
_STEP = 0.25


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


def find_edges(
    lab: F32, camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float, reach_px: float, count: int = 80
) -> list[EdgePoints]:
    """Edge points near the eight lines (nose and rail edge of four sides) that ``camera`` predicts."""
    found = []
    for side in range(4):
        nose = camera.project(side_points(table, side, count=count))
        rail = camera.project(side_points(table, side, breadth_mm, rise_mm, count=count))
        count_used = min(len(nose), len(rail))
        apart = float(np.median(np.linalg.norm(nose[:count_used] - rail[:count_used], axis=1)))
        for kind, line in ((NOSE, nose), (RAIL, rail)):
            # Never reach for the other line: half the way between them is the limit.
            reach = min(reach_px, max(0.45 * apart, 1.0))
            points = _along_line(lab, line, side, kind, reach)
            if points is not None:
                found.append(points)
    return found


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
    # The line's own step of colour: the strongest mean direction over a small common shift.
    unit = change / (np.linalg.norm(change, axis=2, keepdims=True) + 2.0)
    mean = np.where(inside[:, None], unit.mean(axis=0), 0.0)
    strength = np.linalg.norm(mean, axis=1)
    centre = int(np.argmax(strength))
    coherence = float(strength[centre])
    if coherence < 0.08:
        return None
    step = np.median(change[:, centre], axis=0)
    if np.linalg.norm(step) < 0.3:
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
    if kind == NOSE and not _cloth_outside(np.asarray(colour, np.float32), offsets, best, free):
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


def _cloth_outside(colour: F32, offsets: F64, best: npt.NDArray[np.intp], free: npt.NDArray[np.bool_]) -> bool:
    """Whether cloth lies just outside the edge: a rail's edge right on the bed is no nose."""
    rows = np.flatnonzero(free)
    out = np.maximum(best[rows] - round(1.5 / _STEP), 0)
    inn = np.minimum(best[rows] + round(1.5 / _STEP), len(offsets) - 1)
    off = relative_colour(colour[rows, out]) - relative_colour(colour[rows, inn])
    chroma, light = np.median(np.hypot(off[..., 0], off[..., 1])), np.median(off[..., 2])
    # Inward of a nose lies its shade, so the cushion's top is often brighter, seldom much darker.
    return float(chroma / 0.3 + max(-float(light) - 0.5, 0.0) / 0.5 + max(float(light) - 1.3, 0.0) / 0.5) < 1.0
