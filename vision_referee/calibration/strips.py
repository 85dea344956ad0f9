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

    def vote(self, used: npt.NDArray[np.bool_], lines: int = 61) -> LineMap:
        """How strongly an edge follows each straight line of a grid, by its offsets at the strip's two ends.

        ``used`` (n,) leaves samples out (pocket mouths are no edge). An edge is the same step of colour all along:
        what crosses the line by chance averages out.
        """
        rows = np.flatnonzero(used)
        rows = rows[:: max(1, len(rows) // 110)]
        offsets = np.linspace(self.across_px[0], self.across_px[-1], lines)
        step = self.across_px[1] - self.across_px[0]
        share = self.along_px[rows] / self.along_px[-1]
        unit = self.gradient[rows] / self.noise.astype(np.float32)
        unit = unit / (np.linalg.norm(unit, axis=2, keepdims=True) + _HALF)
        # Let a line count the edge half a grid step away: lines between the grid's must not fall through.
        blur = max(1, round((offsets[1] - offsets[0]) / step)) | 1
        unit = cv2.blur(unit, (blur, 1), borderType=cv2.BORDER_REPLICATE)
        seen = self.inside[rows]
        # What lies two samples' blur outside a line tells a nose (cushion top: cloth) from a rail's edge (wood).
        shift = round(2.5 * self.pixel / step)
        outer = np.pad(self.clothness[rows], ((0, 0), (shift, 0)), mode="edge")[:, : unit.shape[1]]
        outer = cv2.blur(outer, (max(1, shift) | 1, 1), borderType=cv2.BORDER_REPLICATE)
        cloth = np.zeros((lines, lines), np.float32)
        total = np.zeros((lines, lines, 3), np.float32)
        count = np.zeros((lines, lines), np.float32)
        first, last = np.meshgrid(offsets, offsets, indexing="ij")
        for index in range(len(rows)):
            line = first + (last - first) * share[index]
            column = np.clip(np.round((line - self.across_px[0]) / step).astype(int), 0, unit.shape[1] - 1)
            visible = seen[index][column]
            total += unit[index][column] * visible[..., None]
            cloth += outer[index][column] * visible
            count += visible
        mean = total / np.maximum(count, 1.0)[..., None]
        strength = np.minimum(np.linalg.norm(mean, axis=2), 1.0) * np.sqrt(count / max(len(rows), 1))
        falls = mean[..., 0] < 0
        cloth /= np.maximum(count, 1.0)
        return LineMap(
            offsets_px=offsets, strength=strength.astype(np.float32), falls=falls, cloth_outside=cloth.astype(np.float32)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMap:
    """``strength`` (k, k), 0..1, of the edge from offset i at the strip's start to offset j at its end; ``falls`` (k, k)
    whether it darkens inward. ``offsets_px`` (k,)."""

    offsets_px: F64
    strength: F32
    falls: npt.NDArray[np.bool_]
    cloth_outside: F32
    """(k, k) 0..1: how much of what lies just outside the line is cloth."""

    def look_up(self, first_px: F64, last_px: F64, nose: bool) -> F64:
        """Strengths (n,) as a nose or as a rail's edge, at lines of any offsets (n,), (n,); 0 outside the map.

        Inward of a nose lies its own shade: light falls; the other way counts less. Outside a nose lies cloth, outside
        a rail's edge something else.
        """
        step = self.offsets_px[1] - self.offsets_px[0]
        i = (first_px - self.offsets_px[0]) / step
        j = (last_px - self.offsets_px[0]) / step
        top = len(self.offsets_px) - 1
        inside = (i >= 0) & (j >= 0) & (i <= top) & (j <= top)
        ii = np.clip(np.round(np.nan_to_num(i)).astype(int), 0, top)
        jj = np.clip(np.round(np.nan_to_num(j)).astype(int), 0, top)
        strength = np.where(inside, self.strength[ii, jj], 0.0)
        cloth = self.cloth_outside[ii, jj]
        if nose:
            return np.asarray(strength * np.where(self.falls[ii, jj], 1.0, 0.75) * np.clip(1.6 * cloth - 0.1, 0.1, 1.0))
        return np.asarray(strength * np.clip(1.5 - 1.4 * cloth, 0.15, 1.0))

    def peaks(self, count: int, ratio: float, slack_px: float, least: float = 0.12) -> list[tuple[float, float, float]]:
        """The strongest distinct lines: (first_px, last_px, strength).

        ``ratio`` is by how much the picture's scale grows from the strip's start to its end: lines parallel to the
        strip on the table have last = ratio * first, give or take ``slack_px``.
        """
        first, last = np.meshgrid(self.offsets_px, self.offsets_px, indexing="ij")
        parallel = np.abs(last - ratio * first) < slack_px * max(ratio, 1.0)
        allowed = np.where(parallel, self.strength, 0.0).astype(np.float32)
        widened = cv2.dilate(allowed, np.ones((3, 3), np.uint8))
        ranked = sorted(((float(allowed[i, j]), int(i), int(j)) for i, j in np.argwhere((allowed >= widened) & (allowed > least))), reverse=True)
        chosen: list[tuple[float, float, float]] = []
        step = self.offsets_px[1] - self.offsets_px[0]
        for strength, i, j in ranked:
            a, b = float(self.offsets_px[i]), float(self.offsets_px[j])
            if all(abs(a - c) + abs(b - d) > 4 * step for c, d, _ in chosen):
                chosen.append((a, b, strength))
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
    along = np.linspace(0.0, size, max(40, min(320, int(size / (2.5 * pixel)))))
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
    clothness = _clothness(colour, across, inside)
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
    return np.asarray(chroma / 0.25 + np.maximum(np.abs(off[..., 2]) - 0.5, 0.0) / 0.5, np.float32)


def _clothness(lab: F32, across: F64, inside: npt.NDArray[np.bool_]) -> F32:
    colour = relative_colour(lab)
    inner = across > across[0] + 0.72 * (across[-1] - across[0])
    bed_row = np.median(colour[:, inner], axis=1)
    window = max(5, len(bed_row) // 5) | 1
    half = window // 2
    padded = np.pad(bed_row, ((half, half), (0, 0)), mode="reflect")
    bed = np.median(np.lib.stride_tricks.sliding_window_view(padded, window, axis=0), axis=-1)
    like = np.clip(1.5 - unlike_cloth(colour, bed[:, None, :].astype(np.float32)), 0.0, 1.0)
    return np.where(inside, like, 0.0).astype(np.float32)
