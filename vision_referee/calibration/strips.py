"""A strip of picture along one side of the table, straightened, and how strongly an edge runs along a line in it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_HALF = 4.0  # noise units at which a sample's vote is half of what it can be: one bright cue must not outvote a cushion
_NOISE_FLOOR = 0.35  # Lab units a pixel


def smooth_lab(bgr: U8, sigma_px: float) -> F32:
    """(h, w, 3) float CIELAB, slightly smoothed."""
    lab = cv2.cvtColor(bgr.astype(np.float32) / 255.0, cv2.COLOR_BGR2LAB)
    return cv2.GaussianBlur(lab, (0, 0), sigma_px).astype(np.float32, copy=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """``along_px`` (n,) and ``across_px`` (m,) are the sample places from ``origin`` along ``tangent`` and ``normal``.

    ``normal`` points into the table. ``lab`` and ``gradient`` (n, m, 3): colour, and its change per pixel inward.
    ``inside`` (n, m): whether the sample lies in the picture.
    """

    origin: F64
    tangent: F64
    normal: F64
    along_px: F64
    across_px: F64
    lab: F32
    gradient: F32
    noise: F64
    inside: npt.NDArray[np.bool_]
    clothness: F32
    """(n, m) 0..1: how like the bed nearby (the strip's inner part) the colour is, whatever its lightness."""
    pixel: float

    def locate(self, points_px: F64) -> tuple[F64, F64]:
        """Picture points (n, 2) as (along, across)."""
        off = points_px - self.origin
        return off @ self.tangent, off @ self.normal

    def place(self, along: F64, across: F64) -> F64:
        """(along, across) as picture points (n, 2)."""
        return np.asarray(self.origin + along[:, None] * self.tangent + across[:, None] * self.normal, np.float64)

    def vote(self, used: npt.NDArray[np.bool_], ratio: float, slack_px: float, lines: int = 61) -> LineMap:
        """How strongly an edge follows each straight line that is nearly parallel, on the table, to the strip.

        ``used`` (n,) leaves samples out (pocket mouths are no edge). ``ratio`` is by how much the picture's scale
        across the strip grows from its start to its end: parallels have last = ratio * first, give or take
        ``slack_px``. An edge is the same step of colour all along: what crosses the line by chance averages out.
        """
        rows = np.flatnonzero(used)
        rows = rows[:: max(1, len(rows) // 72)]
        first = np.linspace(self.across_px[0], self.across_px[-1], lines)
        grain = first[1] - first[0]
        tilts = np.linspace(-slack_px, slack_px, max(9, 2 * round(slack_px / grain) + 1))
        step = self.across_px[1] - self.across_px[0]
        share = self.along_px[rows] / self.along_px[-1]
        unit = self.gradient[rows] / self.noise.astype(np.float32)
        unit = unit / (np.linalg.norm(unit, axis=2, keepdims=True) + _HALF)
        # Let a line count the edge half a grid step away: lines between the grid's must not fall through.
        blur = max(1, round(grain / step)) | 1
        unit = cv2.blur(unit, (blur, 1), borderType=cv2.BORDER_REPLICATE)
        # What lies two samples' blur outside a line tells a nose (cushion top: cloth) from a rail's edge (wood).
        shift = round(2.5 * self.pixel / step)
        outer = np.pad(self.clothness[rows], ((0, 0), (shift, 0)), mode="edge")[:, : unit.shape[1]]
        outer = np.asarray(cv2.blur(outer, (max(1, shift) | 1, 1), borderType=cv2.BORDER_REPLICATE), np.float32)
        inner = np.pad(self.clothness[rows], ((0, 0), (0, shift)), mode="edge")[:, shift:]
        inner = np.asarray(cv2.blur(inner, (max(1, shift) | 1, 1), borderType=cv2.BORDER_REPLICATE), np.float32)
        seen = self.inside[rows].astype(np.float32)
        votes = np.dstack([unit * seen[..., None], outer * seen, inner * seen, seen]).astype(np.float32)
        total = np.zeros((lines, len(tilts), 6), np.float32)
        start = first[:, None] - self.across_px[0]
        drift = (ratio - 1.0) * first[:, None] + tilts[None, :]
        last_column = votes.shape[1] - 1
        for index in range(len(rows)):
            column = ((start + drift * share[index]) / step + 0.5).astype(np.intp)
            total += votes[index][np.clip(column, 0, last_column)]
        count = total[..., 5]
        mean = total[..., :5] / np.maximum(count, 1.0)[..., None]
        strength = np.minimum(np.linalg.norm(mean[..., :3], axis=2), 1.0) * np.sqrt(count / max(len(rows), 1))
        falls = mean[..., 0] < 0
        outside, within = mean[..., 3], mean[..., 4]
        # Inward of a nose lies its own shade: light falls; the other way (coloured or low lamps) counts less.
        nose = strength * np.where(falls, 1.0, 0.75) * np.clip(1.6 * outside - 0.1, 0.1, 1.0)
        rail = strength * np.clip(1.5 - 1.4 * outside, 0.15, 1.0) * np.clip(2.0 * within - 0.2, 0.15, 1.0)
        return LineMap(
            first_px=first, tilt_px=tilts, ratio=ratio, strength=strength.astype(np.float32),
            nose=nose.astype(np.float32), rail=rail.astype(np.float32),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMap:
    """Edges along lines of a strip. A line has offset ``first`` at the start and ratio * first + tilt at the end.

    ``first_px`` (k,) and ``tilt_px`` (m,) span the map; ``strength`` (k, m) 0..1 of an edge of any kind, ``nose`` and
    ``rail`` (k, m) how well it does as one: outside a nose lies cloth, outside a rail's edge something else and cloth
    inside.
    """

    first_px: F64
    tilt_px: F64
    ratio: float
    strength: F32
    nose: F32
    rail: F32

    def look_up(self, strength: F32, first_px: F64, last_px: F64) -> F64:
        """One of the maps' values (n,) at lines of any offsets (n,), (n,); 0 outside the map."""
        tilt = last_px - self.ratio * first_px
        i = (first_px - self.first_px[0]) / (self.first_px[1] - self.first_px[0])
        j = (tilt - self.tilt_px[0]) / (self.tilt_px[1] - self.tilt_px[0])
        inside = (i >= 0) & (j >= 0) & (i <= len(self.first_px) - 1) & (j <= len(self.tilt_px) - 1)
        ii = np.where(inside, i + 0.5, 0).astype(np.intp)
        jj = np.where(inside, j + 0.5, 0).astype(np.intp)
        return np.where(inside, strength[ii, jj], 0.0)

    def peaks(self, strength: F32, count: int, least: float) -> list[tuple[float, float, float]]:
        """The strongest distinct lines of one of the maps: (first_px, last_px, strength)."""
        allowed = np.where(np.abs(self.tilt_px)[None, :] <= 0.55 * self.tilt_px[-1], strength, 0.0).astype(np.float32)
        widened = cv2.dilate(allowed, np.ones((3, 3), np.uint8))
        tops = np.argwhere((allowed >= widened) & (allowed > least))
        ranked = sorted(((float(allowed[i, j]), int(i), int(j)) for i, j in tops), reverse=True)
        chosen: list[tuple[float, float, float]] = []
        grain = float(self.first_px[1] - self.first_px[0])
        for height, i, j in ranked:
            a = float(self.first_px[i])
            b = self.ratio * a + float(self.tilt_px[j])
            if all(abs(a - c) + abs(b - d) > 4 * grain for c, d, _ in chosen):
                chosen.append((a, b, height))
            if len(chosen) == count:
                break
        return chosen


def cut_strip(lab: F32, start_px: F64, end_px: F64, outward_px: float, inward_px: float, pixel: float) -> Strip:
    """Straightens the picture along the line start -> end (clockwise: the table lies to the right of the way).

    ``pixel`` is the sampling unit in picture pixels.
    """
    way = end_px - start_px
    size = float(np.linalg.norm(way))
    tangent = way / size
    normal = np.array([-tangent[1], tangent[0]])  # y is down: right of the way in the picture
    along = np.linspace(0.0, size, max(40, min(200, int(size / (3.0 * pixel)))))
    across = np.arange(-outward_px, inward_px + 1e-6, 0.5 * pixel)
    grid = start_px + along[:, None, None] * tangent + across[None, :, None] * normal
    height, width = lab.shape[:2]
    x, y = grid[..., 0].astype(np.float32), grid[..., 1].astype(np.float32)
    inside = (x >= 1) & (y >= 1) & (x <= width - 2) & (y <= height - 2)
    colour = cv2.remap(lab, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    gradient = cv2.sepFilter2D(
        colour, cv2.CV_32F, np.array([-0.25, -0.5, 0.0, 0.5, 0.25]) / (0.75 * pixel), np.array([1.0]),
        borderType=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    clothness = _clothness(np.asarray(colour, np.float32), across, inside)
    spread = np.median(np.abs(gradient[inside]), axis=0) if inside.any() else np.ones(3)
    noise = np.maximum(1.5 * spread, _NOISE_FLOOR)
    return Strip(
        origin=start_px.astype(np.float64), tangent=tangent, normal=normal, along_px=along, across_px=across,
        lab=colour.astype(np.float32, copy=False), gradient=gradient.astype(np.float32, copy=False),
        noise=noise.astype(np.float64), inside=inside, clothness=clothness, pixel=pixel,
    )  # fmt: skip


def relative_colour(lab: F32) -> F32:
    """(..., 3): chroma over lightness (twice) and log lightness: light and shade change the first two little."""
    light = np.maximum(lab[..., :1], 10.0)
    return np.concatenate([lab[..., 1:] / light, np.log(light)], axis=-1).astype(np.float32)


def unlike_cloth(colour: F32, bed: F32) -> F32:
    """How far relative colours are from the bed's: below 1 is cloth in some light, above 1 something else."""
    off = colour - bed
    chroma = np.hypot(off[..., 0], off[..., 1])
    darker, brighter = np.maximum(-off[..., 2] - 0.5, 0.0) / 0.5, np.maximum(off[..., 2] - 0.4, 0.0) / 0.4
    return np.asarray(chroma / 0.25 + darker + brighter, np.float32)


def _clothness(lab: F32, across: F64, inside: npt.NDArray[np.bool_]) -> F32:
    colour = relative_colour(lab)
    inner = across > across[0] + 0.72 * (across[-1] - across[0])
    bed_row = np.median(colour[:, inner], axis=1)
    window = max(5, len(bed_row) // 5) | 1
    half = window // 2
    padded = np.pad(bed_row, ((half, half), (0, 0)), mode="reflect")
    every = max(1, len(bed_row) // 40)
    coarse = np.median(np.lib.stride_tricks.sliding_window_view(padded, window, axis=0)[::every], axis=-1)
    bed = np.repeat(coarse, every, axis=0)[: len(bed_row)]
    like = np.clip(1.5 - unlike_cloth(colour, bed[:, None, :].astype(np.float32)), 0.0, 1.0)
    return np.where(inside, like, 0.0).astype(np.float32)
