"""Reading the edges round the cloth: which is a cushion's nose and which the rail's edge, on all sides at once.

Every side shows up to four parallel lines: rail to cushion top, nose, and the nose's shade on the bed. Which is which
cannot be told from one side. But all noses form a 2:1 rectangle, and all rail edges run one cushion breadth outside:
few readings agree with a camera, and the one whose lines are best seen is taken.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.batch_pose import project_batch, solve_batch
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.cloth import ClothMask
from vision_referee.calibration.cushion_shape import CushionShape
from vision_referee.calibration.outline import Quad
from vision_referee.calibration.pose import USUAL_FOCAL, Pose, pose_from_corners, table_corners
from vision_referee.calibration.strips import LineMap, Strip, cut_strip
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

MARGIN = 0.035
"""Share of the length left out at each corner, and half of it at the middle pockets: mouths are no noses."""
_PEAKS = 4
_HIDDEN_STEPS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Where a near side's hidden nose may run inward of its rail's edge, in units of 0.02 L as they look there."""
_HIDDEN_STRENGTH = 0.2
_READINGS_TRIED = 700
_READINGS_SCORED = 300
_NOTCH_SPREAD = 0.012
_COLOURED = 0.8
"""What it costs a reading to take the cushions for another colour than the bed: rare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CushionFit:
    """One reading. ``turn`` says which corner of the quad is head-right; ``supports`` (4): head, left, foot, right."""

    quad: Quad
    turn: int
    pose: Pose
    breadth_mm: float
    rise_mm: float
    supports: tuple[float, float, float, float]
    score: float
    pocket_contrast: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    strip: Strip
    map: LineMap
    peaks: list[tuple[float, float, float]]
    rails: list[tuple[float, float, float]]
    notch_px: float
    """Where along the strip the cushion's top is broken by what may be the middle pocket."""
    notch_contrast: float


def side_points(table: TableSpec, side: int, breadth_mm: float = 0.0, rise_mm: float = 0.0, count: int = 48) -> F64:
    """Points (count, 3) along a side, clear of the pockets; 0 head, 1 left, 2 foot, 3 right, clockwise from above."""
    corners = table_corners(table, breadth_mm, table.nose_height_mm + rise_mm)
    start, end = corners[side], corners[(side + 1) % 4]
    size = float(np.linalg.norm(end - start))
    clear = (MARGIN * table.length_mm + breadth_mm) / size
    share = np.linspace(clear, 1 - clear, count)
    if side % 2 == 1:
        share = share[np.abs(share - 0.5) > 0.6 * MARGIN]
    return np.asarray(start + share[:, None] * (end - start), np.float64)


def fit_cushions(
    lab: F32, cloth: ClothMask, quad: Quad, table: TableSpec, shape: CushionShape, turn: int, pixel: float,
    keep: int = 3,
) -> list[CushionFit]:  # fmt: skip
    """The best readings of the edges near the quad with its corner ``turn`` as head-right; empty when no camera fits.

    ``quad`` in the pixels of ``lab``; ``pixel`` the unit of sharpness in them.
    """
    height, width = lab.shape[:2]
    size = (width, height)
    corners = np.roll(quad.corners, -turn, axis=0)
    rough = table_corners(table, 0.6 * shape.breadth_mm, table.nose_height_mm)
    cut = None if quad.open_side is None else (quad.open_side - turn) % 4
    middle = pose_from_corners(rough, corners, size, 4.0 * pixel)
    if cut is not None:
        beyond = [corners, *(_extended(corners, cut, a, a) for a in (0.1, 0.25, 0.5, 0.8, 1.2))]
        poses = [pose_from_corners(rough, c, size, 4.0 * pixel) for c in beyond]
        middle = min((p for p in poses if p is not None), key=lambda p: p.cost, default=None)
    if middle is None or middle.cost > 120:
        return []
    sides = [_read_side(lab, corners, side, middle.camera(size), table, pixel) for side in range(4)]
    if cut is not None:
        unseen = _unseen_lines(corners, cut, sides[cut].strip)
        sides[cut] = replace(sides[cut], peaks=unseen, rails=unseen, notch_contrast=0.0)
    strips = [s.strip for s in sides]
    noses, rails = [s.peaks for s in sides], [s.rails for s in sides]
    at_noses = table_corners(table, 0.0, table.nose_height_mm)
    # Where cushions are of another colour than the bed, the cloth ends at the noses.
    tries = [_poses(strips, lines, at_noses, middle, table, size, pixel) for lines in (noses, rails)]
    for breadth in shape.few_breadths_mm():
        places = table_corners(table, breadth, table.nose_height_mm + shape.rise_mm)
        tries.append(_poses(strips, rails, places, middle, table, size, pixel))
    readings = [found for found in tries if found is not None]
    if not readings:
        return []
    scored = _scored(sides, _joined(readings), table, shape, size)
    fits = []
    for score, pose, breadth, rise, supports in scored:
        contrast = middle_pocket_contrast(lab, pose.camera(size), table, breadth)
        missing, outside = cloth_mismatch(cloth, pose.camera(size), table, breadth, rise)
        fits.append(
            CushionFit(
                quad=quad,
                turn=turn,
                pose=pose,
                breadth_mm=breadth,
                rise_mm=rise,
                supports=(supports[0], supports[1], supports[2], supports[3]),
                score=score + contrast - 5.0 * (missing + outside),
                pocket_contrast=contrast,
            )
        )
    return sorted(fits, key=lambda fit: -fit.score)[:keep]


def _extended(corners: F64, side: int, start: float, end: float) -> F64:
    """The quad with one side pushed out along its neighbours, by shares of their visible lengths at its two ends."""
    out = corners.copy()
    i, j = side, (side + 1) % 4
    out[i] = corners[i] + start * (corners[i] - corners[i - 1])
    out[j] = corners[j] + end * (corners[j] - corners[(j + 1) % 4])
    return out


def _unseen_lines(corners: F64, side: int, strip: Strip) -> list[tuple[float, float, float]]:
    """Where a side that the picture cuts off may run: lines beyond the picture's edge, none likelier than another."""
    lines = []
    i, j = side, (side + 1) % 4
    for start in (0.02, 0.06, 0.12, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2):
        for skew in (0.55, 0.75, 1.0, 1.33, 1.8):
            moved = _extended(corners, side, start, start * skew)
            along, across = strip.locate(moved[[i, j]])
            slope = (across[1] - across[0]) / max(along[1] - along[0], 1e-6)
            first = across[0] - slope * along[0]
            lines.append((float(first), float(first + slope * strip.along_px[-1]), 0.2))
    return lines


def cloth_mismatch(
    cloth: ClothMask, camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float
) -> tuple[float, float]:
    """Shares of the playing surface that are no cloth, and of the cloth that lies beyond the rails' edges."""
    height, width = cloth.mask.shape
    ways = []
    for breadth, lift in ((0.0, 0.0), (breadth_mm, rise_mm)):
        corners = camera.project(table_corners(table, breadth, table.nose_height_mm + lift))
        drawn = np.zeros((height, width), np.uint8)
        cv2.fillConvexPoly(drawn, np.round((corners + 0.5) * cloth.scale - 0.5).astype(np.int32), (255.0,))
        ways.append(drawn > 0)
    inner, outer = ways
    mask = cloth.mask > 0
    missing = float((inner & ~mask).sum()) / max(int(inner.sum()), 1)
    outside = float((mask & ~outer).sum()) / max(int(mask.sum()), 1)
    return missing, outside


def _read_side(lab: F32, corners: F64, side: int, camera: Camera, table: TableSpec, pixel: float) -> _Side:
    start, end = corners[side], corners[(side + 1) % 4]
    length = table.length_mm
    # Local scale across the side at its two ends: how far 50 mm inward reach in the picture.
    nose = table_corners(table, 0.0, table.nose_height_mm)
    inner = table_corners(table, -0.02 * length, table.nose_height_mm)
    way = (end - start) / np.linalg.norm(end - start)
    normal = np.array([-way[1], way[0]])
    reach = (camera.project(inner) - camera.project(nose)) @ normal
    first, last = max(float(reach[side]), 0.5), max(float(reach[(side + 1) % 4]), 0.5)
    # The quad's line may be the rail's edge or the foot of the cushion's face: the flatter the view, the farther off.
    raised = table_corners(table, 0.0, 2 * table.nose_height_mm)
    face = np.abs((camera.project(raised) - camera.project(nose)) @ normal)[[side, (side + 1) % 4]].max()
    outward = max(2.2 * max(first, last) + 1.3 * float(face), 8 * pixel)
    inward = max(2.4 * max(first, last), 8 * pixel)
    strip = cut_strip(lab, start, end, outward, inward, pixel)
    share = strip.along_px / strip.along_px[-1]
    # Perspective: the pockets' places along the side as the rough camera has them.
    a, b = nose[side], nose[(side + 1) % 4]
    size = float(np.linalg.norm(b - a))
    marks = np.array([MARGIN * length / size * 1.5, 1 - MARGIN * length / size * 1.5, 0.5 - 0.02, 0.5 + 0.02])
    along, _ = strip.locate(camera.project(a + marks[:, None] * (b - a)))
    spots = along / strip.along_px[-1]
    used = (share > spots[0]) & (share < spots[1])
    if side % 2 == 1:
        used &= (share < spots[2]) | (share > spots[3])
    lines = int(np.clip((outward + inward) / (0.8 * pixel), 31, 81))
    ratio = float(np.clip(last / first, 0.25, 4.0))
    votes = strip.vote(used, ratio, (0.6 * first + 4.0 * pixel) * max(ratio, 1.0), lines)
    peaks = votes.peaks(votes.nose, _PEAKS, 0.05)
    # Where the cushion's top looks unlike the bed, cloth cannot tell noses: the strongest edges are let in as well.
    for line in votes.peaks(votes.strength, 3, 0.12):
        if all(abs(line[0] - a) + abs(line[1] - b) > 3 * pixel for a, b, _ in peaks):
            height = votes.look_up(votes.nose, np.array(line[:1]), np.array(line[1:2]))[0]
            peaks.append((line[0], line[1], float(height)))
    eye = camera.position_mm
    beyond = {0: -eye[0], 1: eye[1] - table.width_mm, 2: eye[0] - length, 3: -eye[1]}[side]
    if beyond > 0.5 * float(eye[2]) and peaks:
        # A near rail that stands higher than the cushion hides the nose, or nose and bed look alike there.
        for edge in votes.peaks(votes.rail, 1, 0.1):
            peaks += [(edge[0] + k * first, edge[1] + k * last, _HIDDEN_STRENGTH) for k in _HIDDEN_STEPS]
    rails = votes.peaks(votes.rail, 2, 0.1)
    for line in votes.peaks(votes.strength, 2, 0.12):
        if all(abs(line[0] - a) + abs(line[1] - b) > 3 * pixel for a, b, _ in rails):
            rails.append((line[0], line[1], 0.5 * line[2]))
    place, contrast = _notch(strip, min(first, last), spots)
    return _Side(strip=strip, map=votes, peaks=peaks, rails=rails, notch_px=place, notch_contrast=contrast)


def _notch(strip: Strip, reach_px: float, spots: F64) -> tuple[float, float]:
    """Where along the strip, and how clearly (0..1), something unlike its neighbourhood breaks the cushion's top."""
    band = np.abs(strip.across_px + 0.2 * reach_px) < 0.5 * max(reach_px, 2.0)
    row = np.median(strip.lab[:, band], axis=1)
    share = strip.along_px / strip.along_px[-1]
    length = spots[1] - spots[0]
    local = np.stack([_running_median(row[:, c], max(9, int(0.22 * len(row)) | 1)) for c in range(3)], axis=1)
    unlike = np.minimum(np.linalg.norm(row - local, axis=1), 40.0)
    unlike = np.where((share > spots[0]) & (share < spots[1]), unlike, 0.0)
    wide = max(3, round(0.035 * length * len(row)))
    smooth = np.convolve(unlike, np.ones(wide) / wide, mode="same")
    middle = (share > spots[2] - 0.1) & (share < spots[3] + 0.1)
    if not middle.any():
        return float(strip.along_px[-1] / 2), 0.0
    index = int(np.argmax(np.where(middle, smooth, -1.0)))
    near = np.abs(np.arange(len(row)) - index) <= wide
    weight = unlike * near
    place = float((weight * strip.along_px).sum() / max(float(weight.sum()), 1e-6))
    usual = float(np.median(smooth[(share > spots[0]) & (share < spots[1])])) if middle.any() else 0.0
    return place, float(np.clip((smooth[index] - usual - 3.0) / 15.0, 0.0, 1.0))


def _running_median(values: npt.NDArray[np.floating], window: int) -> F64:
    half = window // 2
    padded = np.pad(values, half, mode="reflect")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=1), np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Readings:
    rotation: F64
    tvec: F64
    focal: F64
    cost: F64


def _joined(readings: list[_Readings]) -> _Readings:
    return _Readings(
        rotation=np.concatenate([r.rotation for r in readings]), tvec=np.concatenate([r.tvec for r in readings]),
        focal=np.concatenate([r.focal for r in readings]), cost=np.concatenate([r.cost for r in readings]),
    )  # fmt: skip


def _poses(
    strips: list[Strip], peaks: list[list[tuple[float, float, float]]], places_mm: F64, start: Pose, table: TableSpec,
    size: tuple[int, int], pixel: float,
) -> _Readings | None:  # fmt: skip
    """A camera for every reading: each side's line is one of its ``peaks``; they meet at ``places_mm`` (4, 3)."""
    if any(not side for side in peaks):
        return None
    lines = [_picture_lines(strip, side) for strip, side in zip(strips, peaks, strict=True)]
    choices = np.array(list(itertools.product(*[range(len(side)) for side in peaks])))
    strength = sum(np.array([p[2] for p in side])[choices[:, i]] for i, side in enumerate(peaks))
    picked = [lines[i][choices[:, i]] for i in range(4)]
    meeting = np.stack([_meet(picked[i - 1], picked[i]) for i in range(4)], axis=1)
    fine = np.isfinite(meeting).all(axis=(1, 2))
    meeting, strength = meeting[fine], strength[fine]
    if not len(meeting):
        return None
    limit = _READINGS_TRIED * (8 if any(len(side) > 4 * _PEAKS for side in peaks) else 1)
    seen = meeting[np.argsort(-strength)[:limit]]
    every = np.repeat(places_mm[None], len(seen), axis=0)
    rotation, tvec, focal, cost = solve_batch(every, seen, start, size, 1.5 * pixel, rounds=8)
    usual = USUAL_FOCAL * max(size)
    if start.focal_px > 1.6 * usual or start.focal_px < usual / 1.6:
        # Lines taken for what they are not drive the focal length far off: try from the usual one as well.
        near = start.tvec * np.array([1.0, 1.0, usual / start.focal_px])
        again = replace(start, focal_px=usual, tvec=near)
        rotation2, tvec2, focal2, cost2 = solve_batch(every, seen, again, size, 1.5 * pixel, rounds=8)
        better = cost2 < cost
        rotation = np.where(better[:, None, None], rotation2, rotation)
        tvec, focal = np.where(better[:, None], tvec2, tvec), np.where(better, focal2, focal)
        cost = np.minimum(cost, cost2)
    eye_z = -np.einsum("ni,ni->n", rotation[:, :, 2], tvec)
    good = np.isfinite(cost) & (cost < 60) & (eye_z > table.nose_height_mm)
    if not good.any():
        return None
    return _Readings(rotation=rotation[good], tvec=tvec[good], focal=focal[good], cost=cost[good])


def _picture_lines(strip: Strip, peaks: list[tuple[float, float, float]]) -> F64:
    """(k, 3) homogeneous picture lines of a side's peaks."""
    ends = np.array([strip.along_px[0], strip.along_px[-1]])
    lines = []
    for first, last, _ in peaks:
        a, b = strip.place(ends, np.array([first, last]))
        lines.append(np.cross([a[0], a[1], 1.0], [b[0], b[1], 1.0]))
    return np.array(lines)


def _meet(a: F64, b: F64) -> F64:
    """(n, 2) crossings of homogeneous lines (n, 3)."""
    cross = np.cross(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(cross[:, :2] / cross[:, 2:], np.float64)


def _scored(
    sides: list[_Side], readings: _Readings, table: TableSpec, shape: CushionShape, size: tuple[int, int]
) -> list[tuple[float, Pose, float, float, list[float]]]:
    """Readings with their best breadth and rise, best first: how well noses and rail edges are seen, side by side."""

    def seen(kind: str, breadth: float, rise: float, of: _Readings) -> F64:
        return np.stack(
            [_strength(s, i, of, table, size, breadth, rise, getattr(s.map, kind)) for i, s in enumerate(sides)], axis=1
        )

    notches = _notch_scores(sides, readings, table, size)
    few = shape.few_breadths_mm()
    rough = -0.05 * readings.cost + notches
    rough = rough + np.maximum(
        0.6 * seen("nose", 0.0, 0.0, readings).sum(1)
        + 0.5 * np.max([seen("rail", b, shape.rise_mm, readings).sum(1) for b in few], axis=0),
        0.6 * seen("rail", 0.0, 0.0, readings).sum(1)
        + 0.5 * np.max([seen("strength", b, shape.rise_mm, readings).sum(1) for b in few], axis=0)
        - _COLOURED,
    )
    hopeful = np.argsort(-rough)[:_READINGS_SCORED]
    notches = notches[hopeful]
    readings = _Readings(
        rotation=readings.rotation[hopeful], tvec=readings.tvec[hopeful], focal=readings.focal[hopeful],
        cost=readings.cost[hopeful],
    )  # fmt: skip
    count = len(readings.cost)
    best = np.full(count, -np.inf)
    chosen = np.zeros((count, 2))
    supports = np.zeros((count, 4))
    for nose_kind, rail_kind, odd in (("nose", "rail", 0.0), ("rail", "strength", _COLOURED)):
        nose = seen(nose_kind, 0.0, 0.0, readings)
        for rise in shape.rises_mm().tolist():
            for breadth in shape.breadths_mm().tolist():
                rail = seen(rail_kind, breadth, rise, readings)
                off_breadth = math.log(breadth / shape.breadth_mm) / shape.breadth_spread
                unusual = (off_breadth**2 + ((rise - shape.rise_mm) / shape.rise_spread_mm) ** 2) / 2
                score = 0.6 * nose.sum(1) + 0.5 * rail.sum(1) - 0.35 * unusual - 0.05 * readings.cost - odd
                better = score > best
                best = np.where(better, score, best)
                chosen[better] = [breadth, rise]
                supports[better] = (0.55 * nose + 0.45 * rail)[better]
    best = best + notches
    order = np.argsort(-best)
    out: list[tuple[float, Pose, float, float, list[float]]] = []
    taken: list[F64] = []
    for index in order[:150]:
        corners = project_batch(
            table_corners(table, 0.0, table.nose_height_mm)[None], readings.rotation[index : index + 1],
            readings.tvec[index : index + 1], readings.focal[index : index + 1], size,
        )[0]  # fmt: skip
        if any(np.abs(corners - other).max() < 0.004 * max(size) for other in taken):
            continue
        taken.append(corners)
        rvec, _ = cv2.Rodrigues(readings.rotation[index])
        pose = Pose(
            focal_px=float(readings.focal[index]), rvec=np.asarray(rvec, np.float64).reshape(3),
            tvec=readings.tvec[index].copy(), cost=float(readings.cost[index]),
        )  # fmt: skip
        out.append(
            (float(best[index]), pose, float(chosen[index, 0]), float(chosen[index, 1]), supports[index].tolist())
        )
        if len(out) == 14:
            break
    return out


def _notch_scores(sides: list[_Side], readings: _Readings, table: TableSpec, size: tuple[int, int]) -> F64:
    """(n,) how well the middle of the long sides falls on the notches seen there; 0..1."""
    total = np.zeros(len(readings.cost))
    length, z = table.length_mm, table.nose_height_mm
    for index, y in ((1, table.width_mm), (3, 0.0)):
        side = sides[index]
        points = np.array([[[length / 2, y, z], [length / 2 + 0.02 * length, y, z]]])
        px = project_batch(points, readings.rotation, readings.tvec, readings.focal, size)
        along = (px - side.strip.origin) @ side.strip.tangent
        scale = np.abs(along[:, 1] - along[:, 0]) / 0.02  # pixels a table length, here
        off = (along[:, 0] - side.notch_px) / np.maximum(scale, 1e-6)
        total += 0.5 * side.notch_contrast * np.exp(-((off / _NOTCH_SPREAD) ** 2) / 2)
    return total


def _strength(
    side: _Side, index: int, readings: _Readings, table: TableSpec, size: tuple[int, int],
    breadth: float, rise: float, strength: F32,
) -> F64:  # fmt: skip
    """(n,) one of the side's maps where each camera puts its nose (0, 0) or rail edge."""
    corners = table_corners(table, breadth, table.nose_height_mm + rise)
    ends = corners[[index, (index + 1) % 4]]
    # Well inside the side: its ends may lie outside the picture or behind the horizon.
    ends = ends[0] + np.array([[0.1], [0.9]]) * (ends[1] - ends[0])
    px = project_batch(ends[None], readings.rotation, readings.tvec, readings.focal, size)
    off = px - side.strip.origin
    along, across = off @ side.strip.tangent, off @ side.strip.normal
    run = along[:, 1] - along[:, 0]
    slope = (across[:, 1] - across[:, 0]) / np.where(np.abs(run) < 1, 1, run)
    first = across[:, 0] - slope * along[:, 0]
    last = first + slope * side.strip.along_px[-1]
    return side.map.look_up(strength, first, last)


def middle_pocket_contrast(lab: F32, camera: Camera, table: TableSpec, breadth_mm: float) -> float:
    """How much more the cushion's middle differs from its neighbourhood on the long sides than on the short; -1..1."""
    contrasts = []
    corners = table_corners(table, 0.45 * breadth_mm, table.nose_height_mm)
    height, width = lab.shape[:2]
    for side in range(4):
        start, end = corners[side], corners[(side + 1) % 4]
        size = float(np.linalg.norm(end - start))
        offsets = np.linspace(-0.075, 0.075, 61) * table.length_mm / size
        px = camera.project(start + (0.5 + offsets)[:, None] * (end - start)).astype(np.float32)
        if (px < 0).any() or (px[:, 0] > width - 1).any() or (px[:, 1] > height - 1).any():
            contrasts.append(0.3)
            continue
        row = cv2.remap(lab, px[None, :, 0], px[None, :, 1], cv2.INTER_LINEAR)[0]
        around = np.median(np.vstack([row[:15], row[-15:]]), axis=0)
        centre = np.linalg.norm(row[26:35] - around, axis=1)
        rest = np.linalg.norm(np.vstack([row[:12], row[-12:]]) - around, axis=1)
        contrasts.append(float(np.clip((np.median(centre) - np.median(rest)) / 20.0, 0.0, 1.0)))
    # Short sides have no pocket, but logos and plates on the rail may look like one.
    return (contrasts[1] + contrasts[3]) / 2 - 0.25 * (contrasts[0] + contrasts[2])
