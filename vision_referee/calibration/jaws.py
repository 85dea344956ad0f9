"""Where the cushions end: the jaws of the pockets, which fix the corners along their sides where the lines cannot.

Four lines of noses leave a camera nearly free: a line taken for its neighbour is made good by focal length and tilt.
The ends of the cushions cannot be talked away so: all corners' jaws lie equally far from their corners, both jaws of a
middle pocket equally far from the side's middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.pose import table_corners
from vision_referee.calibration.strips import relative_colour, unlike_cloth
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

START, BEFORE_MIDDLE, AFTER_MIDDLE, END = range(4)
"""Which jaw of a side, going along it from its first corner."""

_ROWS = (0.2, 0.32, 0.44)
"""Where on the cushion's top it is read, in shares of its breadth from the nose."""
_LASTS = 0.004
"""What is no cushion must go on for so long, in shares of the table's length."""
_SIGMA_MM, _SIGMA_PX = 4.0, 1.0
_APART_MM = 14.0
"""Jaws farther from where the others say are no jaws, or the camera is wrong."""
_FAR_MM = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Jaw:
    """``point_px`` (2,) where a cushion's top ends; ``way`` (2,) the side's direction there; ``sigma_px``."""

    side: int
    which: int
    point_px: F64
    way: F64
    sigma_px: float


def jaw_offset_mm(table: TableSpec, breadth_mm: float) -> tuple[float, float]:
    """How far corner jaws lie from their corner along a side, and middle jaws from the middle, where they are read.

    The corner pockets' facets lead outward toward the corner; the middle ones' hardly widen.
    """
    outward = float(np.mean(_ROWS)) * breadth_mm
    corner = table.corner_mouth_mm / np.sqrt(2) - 0.8 * outward
    return max(corner, 0.3 * table.corner_mouth_mm), table.middle_mouth_mm / 2


def jaw_mm(table: TableSpec, jaw: Jaw, corner_mm: float, middle_mm: float, breadth_mm: float, rise_mm: float) -> F64:
    """(3,) where on the table a jaw lies that is ``corner_mm`` from its corner or ``middle_mm`` from the middle."""
    start, way, length, outward = _side(table, jaw.side)
    along = {
        START: corner_mm, BEFORE_MIDDLE: length / 2 - middle_mm, AFTER_MIDDLE: length / 2 + middle_mm,
        END: length - corner_mm,
    }[jaw.which]  # fmt: skip
    share = float(np.mean(_ROWS))
    return np.asarray(
        start + along * way + share * breadth_mm * outward + np.array([0, 0, share * rise_mm]), np.float64
    )


def find_jaws(lab: F32, camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float, pixel: float) -> list[Jaw]:
    """The jaws seen near where ``camera`` has them; those hidden, or like their cushion in colour, are left out."""
    found: list[Jaw] = []
    corner, middle = jaw_offset_mm(table, breadth_mm)
    for side in range(4):
        profile = _profile(lab, camera, table, side, breadth_mm, rise_mm, pixel)
        if profile is None:
            continue
        along, unlike, px = profile
        length = _side(table, side)[2]
        size = table.length_mm
        places = [(START, corner, -1), (END, length - corner, 1)]
        if side % 2 == 1:
            places += [(BEFORE_MIDDLE, length / 2 - middle, 1), (AFTER_MIDDLE, length / 2 + middle, -1)]
        for which, expected, outward in places:
            inner, outer = (0.022, 0.018) if which in (START, END) else (0.018, 0.009)
            at = _end_of_cushion(along, unlike, expected, outward, inner * size, outer * size, _LASTS * size)
            if at is None:
                continue
            point = np.array([np.interp(at, along, px[:, 0]), np.interp(at, along, px[:, 1])])
            index = int(np.clip(np.searchsorted(along, at), 1, len(along) - 2))
            way = px[index + 1] - px[index - 1]
            scale = float(np.linalg.norm(way)) / float(along[index + 1] - along[index - 1])
            found.append(
                Jaw(
                    side=side, which=which, point_px=point, way=way / np.linalg.norm(way),
                    sigma_px=float(np.hypot(_SIGMA_PX * pixel, _SIGMA_MM * scale)),
                )
            )  # fmt: skip
    return found


def jaws_in_order(
    jaws: list[Jaw], camera: Camera, table: TableSpec, breadth_mm: float, rise_mm: float
) -> tuple[int, int]:
    """How many jaws agree with the rest on how far they lie from the corners and the middles, and how many do not."""
    if not jaws:
        return 0, 0
    corner, middle = jaw_offset_mm(table, breadth_mm)
    here = camera.project(np.array([jaw_mm(table, j, corner, middle, breadth_mm, rise_mm) for j in jaws]))
    there = camera.project(np.array([jaw_mm(table, j, corner + 10, middle + 10, breadth_mm, rise_mm) for j in jaws]))
    seen, ways = np.array([j.point_px for j in jaws]), np.array([j.way for j in jaws])
    off = 10 * ((seen - here) * ways).sum(axis=1) / ((there - here) * ways).sum(axis=1)
    corners = np.array([j.which in (START, END) for j in jaws])
    agree = 0
    for group in (off[corners], off[~corners]):
        if len(group):
            usual = np.clip(np.median(group), -_FAR_MM, 2 * _FAR_MM)
            agree += int((np.abs(group - usual) < _APART_MM).sum())
    return agree, len(jaws) - agree


def _side(table: TableSpec, side: int) -> tuple[F64, F64, float, F64]:
    """A side's first corner (3,), its direction (3,), its length, and the way outward (3,)."""
    corners = table_corners(table, 0.0, table.nose_height_mm)
    start, end = corners[side], corners[(side + 1) % 4]
    length = float(np.linalg.norm(end - start))
    way = (end - start) / length
    return start, way, length, np.array([-way[1], way[0], 0.0])


def _profile(
    lab: F32, camera: Camera, table: TableSpec, side: int, breadth_mm: float, rise_mm: float, pixel: float
) -> tuple[F64, F64, F64] | None:
    """Along the cushion's top: places (n,) in mm, how unlike the cushion it is there (n,), the places in pixels."""
    start, way, length, outward = _side(table, side)
    ends = camera.project(np.stack([start, start + length * way]))
    count = int(np.clip(2.0 * np.linalg.norm(ends[1] - ends[0]) / pixel, 120, 1600))
    margin = 0.02 * table.length_mm
    along = np.linspace(-margin, length + margin, count)
    height, width = lab.shape[:2]
    lift = breadth_mm * outward + np.array([0.0, 0.0, rise_mm])
    points = start + along[None, :, None] * way + np.array(_ROWS)[:, None, None] * lift
    px = camera.project(points.reshape(-1, 3)).reshape(len(_ROWS), count, 2)
    middle_px = px[1]
    places = px.astype(np.float32)
    rows = cv2.remap(lab, places[..., 0], places[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    seen = (
        (middle_px[:, 0] > 1) & (middle_px[:, 1] > 1) & (middle_px[:, 0] < width - 2) & (middle_px[:, 1] < height - 2)
    )
    if seen.mean() < 0.4:
        return None
    colour = relative_colour(np.median(rows, axis=0).astype(np.float32))
    unlike = unlike_cloth(colour, _cushion_colour(along, colour, length, table.length_mm))
    return along, np.where(seen, unlike, np.nan), middle_px


def _cushion_colour(along: F64, colour: F32, length_mm: float, size_mm: float) -> F32:
    """The cushion's own colour along it (n, 3): medians over stretches clear of the pockets, interpolated."""
    clear, half = 0.035 * size_mm, 0.06 * size_mm
    knots = np.linspace(clear + half, length_mm - clear - half, max(2, round(length_mm / (0.12 * size_mm))))
    medians = []
    for knot in knots:
        near = np.abs(along - knot) < half
        medians.append(np.median(colour[near], axis=0))
    values = np.array(medians)
    out = np.stack([np.interp(along, knots, values[:, c]) for c in range(3)], axis=1)
    return out.astype(np.float32)


def _end_of_cushion(
    along: F64, unlike: F64, expected: float, outward: int, inner_mm: float, outer_mm: float, lasts_mm: float
) -> float | None:
    """Where, going ``outward`` (+1 or -1 along the side), cushion gives way to something else that goes on a while."""
    reach = (along * outward > (expected * outward) - inner_mm) & (along * outward < expected * outward + outer_mm)
    index = np.flatnonzero(reach)
    if len(index) < 8:
        return None
    order = index if outward > 0 else index[::-1]
    step = float(along[1] - along[0])
    values = unlike[order]
    if np.isnan(values).any():
        return None
    run = max(2, round(lasts_mm / step))
    if len(values) <= run + 3:
        return None
    ahead = np.median(np.lib.stride_tricks.sliding_window_view(values[1:], run), axis=1)
    other = float(np.quantile(ahead, 0.9))
    limit = 0.5 * min(other, 2.0)
    if other < 0.7 or float(np.median(values[:4])) > limit:
        return None
    crossing = np.flatnonzero((values[: len(ahead)] <= limit) & (values[1 : len(ahead) + 1] > limit) & (ahead > limit))
    if len(crossing) == 0:
        return None
    i = int(crossing[0])
    share = (limit - values[i]) / max(float(values[i + 1] - values[i]), 1e-6)
    return float(along[order[i]] + outward * step * np.clip(share, 0.0, 1.0))
