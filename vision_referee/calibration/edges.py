"""Cushion edges to a fraction of a pixel: along each predicted line, where the colour changes most."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.cushions import side_points
from vision_referee.calibration.strips import relative_colour
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

NOSE, RAIL = 0, 1
_STEP = 0.25
_RISING = 0.45
"""Worth of an edge at which light rises inward against one at which it falls: only the latter looks like a nose."""
_UNUSUAL = 0.06
_FAINTEST = 0.10
_NOSE_REACH_PX = 1.6


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
    """How strongly an edge that may be a nose runs along one side.

    ``out_mm`` (k,) is the distance outward of the nose that the camera has, at the noses' height; ``rail_mm`` where the
    rail's edge lies on that scale, moved outward by ``lift`` mm for each mm that it stands above the nose;
    ``grain_mm`` what a pixel spans.
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
        middle = side_points(table, side, count=5)[2]
        corners = side_points(table, side, count=2)
        way = (corners[-1] - corners[0]) / np.linalg.norm(corners[-1] - corners[0])
        outward = np.array([-way[1], way[0], 0.0])
        ray = middle - camera.position_mm
        lift = float(outward @ ray / max(-ray[2], 1e-6))
        across = camera.px_per_mm(middle[None, :2], table.nose_height_mm)[0] @ outward[:2]
        tangent = camera.px_per_mm(middle[None, :2], table.nose_height_mm)[0] @ way[:2]
        tangent /= np.linalg.norm(tangent)
        grain = 1.0 / max(abs(float(across[0] * tangent[1] - across[1] * tangent[0])), 1e-6)
        rail = breadth_mm + lift * rise_mm
        step = 0.4 * grain * pixel
        out = np.arange(rail + 2 * step, rail - 2.4 * breadth_mm - 12 * step, -step)
        px = np.stack([camera.project(side_points(table, side, float(o), 0.0, count=count)) for o in out], axis=1)
        height, width = lab.shape[:2]
        inside = (px[..., 0] > 1) & (px[..., 1] > 1) & (px[..., 0] < width - 2) & (px[..., 1] < height - 2)
        px = px.astype(np.float32)
        colour = cv2.remap(lab, px[..., 0], px[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        half = 2
        change = np.zeros_like(colour)
        change[:, half:-half] = (colour[:, 2 * half :] - colour[:, : -2 * half]) / (2 * half * 0.4)
        unit = change / (np.linalg.norm(change, axis=2, keepdims=True) + 2.0) * inside[..., None]
        mean = unit.sum(axis=0) / max(int(inside.sum(axis=0).max()), 1)
        strength = np.linalg.norm(mean, axis=1) * np.where(mean[:, 0] < 0, 1.0, _RISING)
        # The rail's own edge is no nose, nor are its flanks.
        clear = 1.5 * pixel * grain + 4.0
        strength = np.where(out < rail - clear, strength, 0.0)
        return _Profile(
            out_mm=out[::-1].copy(), strength=strength[::-1].copy(), rail_mm=rail, lift=lift, grain_mm=grain * pixel
        )

    def strength_at(self, out_mm: F64) -> F64:
        """(n,) the strength of the strongest edge within half a pixel."""
        near = [np.interp(out_mm + shift * self.grain_mm, self.out_mm, self.strength) for shift in (-0.5, 0.0, 0.5)]
        return np.asarray(np.max(near, axis=0), np.float64)

    def peak_near(self, out_mm: float) -> float | None:
        """Where, near a place, the strength has its top; None where there is none worth the name."""
        near = np.abs(self.out_mm - out_mm) < max(1.2 * self.grain_mm, 4.0)
        if not near.any():
            return None
        index = int(np.argmax(np.where(near, self.strength, -1.0)))
        inner = 0 < index < len(self.out_mm) - 1
        if not inner or self.strength[index] < _FAINTEST:
            return None
        if self.strength[index] < max(self.strength[index - 1], self.strength[index + 1]):
            return None
        return float(self.out_mm[index])


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
