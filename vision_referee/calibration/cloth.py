"""Which pixels may be cloth: a few hypotheses, by the picture's own dominant colours, whatever colour the cloth has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]

_WORK_WIDTH = 640
_BINS = 240
_SPAN = 3.0  # half-width of the chroma-to-lightness histogram: Lab a and b over lightness
_LIGHT_FLOOR = 14.0  # Lab lightness (0..100) below which chroma is noise


@dataclass(frozen=True, slots=True, kw_only=True)
class ClothMask:
    """``mask`` (h, w) 0/255 at the working size; ``scale`` is working pixels a picture pixel."""

    mask: U8
    scale: float
    area_share: float
    tolerance: float
    colour: int = 0
    """Which of the picture's dominant colours this is; 0 the most frequent."""


def working_picture(bgr: U8) -> tuple[U8, float]:
    """The picture at a size that is quick to search, and its scale."""
    height, width = bgr.shape[:2]
    scale = min(1.0, _WORK_WIDTH / max(width, height))
    if scale < 1.0:
        small = cv2.resize(bgr, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
        return small.astype(np.uint8, copy=False), scale
    return bgr, 1.0


def _features(bgr: U8) -> tuple[F32, F32]:
    """Chroma relative to lightness (h, w, 2), which light and shade change little, and lightness (h, w)."""
    smooth = cv2.medianBlur(bgr, 5)
    lab = cv2.cvtColor(smooth.astype(np.float32) / 255.0, cv2.COLOR_BGR2LAB)
    light = lab[..., 0]
    relative = lab[..., 1:] / np.maximum(light, _LIGHT_FLOOR)[..., None]
    return relative.astype(np.float32), light.astype(np.float32)


def _modes(relative: F32, light: F32, count: int) -> list[tuple[float, float]]:
    """The most frequent relative chromas, weighted toward the picture's middle and toward smooth areas."""
    height, width = light.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    central = np.exp(-(((x / width - 0.5) / 0.3) ** 2 + ((y / height - 0.52) / 0.3) ** 2) / 2) + 0.08
    grad = cv2.magnitude(cv2.Sobel(light, cv2.CV_32F, 1, 0), cv2.Sobel(light, cv2.CV_32F, 0, 1))
    weight = central / (1.0 + (grad / 8.0) ** 2)
    weight = np.where(light > 6.0, weight, weight * 0.15)
    index = np.clip(((relative + _SPAN) / (2 * _SPAN) * _BINS).astype(int), 0, _BINS - 1)
    flat = index[..., 0] * _BINS + index[..., 1]
    counts = np.bincount(flat.ravel(), weights=weight.ravel(), minlength=_BINS * _BINS).reshape(_BINS, _BINS)
    histogram = np.asarray(cv2.GaussianBlur(counts.astype(np.float32), (0, 0), 1.2), np.float64)
    found: list[tuple[float, float]] = []
    for _ in range(count):
        i, j = np.unravel_index(int(np.argmax(histogram)), histogram.shape)
        if histogram[i, j] <= 0:
            break
        found.append(((i + 0.5) / _BINS * 2 * _SPAN - _SPAN, (j + 0.5) / _BINS * 2 * _SPAN - _SPAN))
        histogram[max(0, i - 4) : i + 5, max(0, j - 4) : j + 5] = 0
    return found


def _component(mask: U8) -> U8 | None:
    """The largest connected part, weighted toward the middle, with its holes (balls, hands) filled."""
    count, labels, stats, centres = cv2.connectedComponentsWithStats(mask, connectivity=4)
    if count < 2:
        return None
    height, width = mask.shape
    offset = (centres[1:] - [width / 2, height / 2]) / [width, height]
    worth = stats[1:, cv2.CC_STAT_AREA] * np.exp(-2.0 * (offset**2).sum(axis=1))
    best = int(np.argmax(worth)) + 1
    one = (labels == best).astype(np.uint8) * 255
    contours, _ = cv2.findContours(one, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(one, contours, -1, (255.0,), cv2.FILLED)
    return np.asarray(one, np.uint8)


def _grown(seed: U8, relative: F32, log_light: F32, chroma_tolerance: float, light_tolerance: float) -> U8:
    """The seed grown over smooth changes of light and colour: a pixel joins when it is like the cloth near it.

    Works on half the size: each round takes the cloth's mean within some 25 px as the reference, so a vignette or a
    coloured lamp is followed, while a rail, a step of colour, is not.
    """
    half = (seed.shape[1] // 2, seed.shape[0] // 2)
    features = cv2.resize(np.dstack([relative, log_light]), half, interpolation=cv2.INTER_AREA)
    inside = (cv2.resize(seed, half, interpolation=cv2.INTER_AREA) > 127).astype(np.float32)
    size = (25, 25)
    for _ in range(30):
        weight = cv2.blur(inside, size)
        mean = cv2.blur(features * inside[..., None], size) / np.maximum(weight, 1e-4)[..., None]
        off = features - mean
        near = weight > 0.04
        chroma = np.hypot(off[..., 0], off[..., 1])
        like = (chroma < chroma_tolerance) & (off[..., 2] > -1.6 * light_tolerance) & (off[..., 2] < light_tolerance)
        grown = cv2.morphologyEx((near & like).astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
        change = float(np.abs(grown - inside).mean())
        inside = grown.astype(np.float32)
        if change < 0.0015:
            break
    weight = cv2.blur(inside, size)
    mean = cv2.blur(features * inside[..., None], size) / np.maximum(weight, 1e-4)[..., None]
    full = (seed.shape[1], seed.shape[0])
    mean_full = np.asarray(cv2.resize(mean, full, interpolation=cv2.INTER_LINEAR), np.float32)
    near_full = cv2.resize(weight, full, interpolation=cv2.INTER_LINEAR) > 0.04
    off_full = np.dstack([relative, log_light]) - mean_full
    chroma = np.hypot(off_full[..., 0], off_full[..., 1])
    light = off_full[..., 2]
    like = (chroma < chroma_tolerance) & (light > -1.6 * light_tolerance) & (light < light_tolerance)
    return np.asarray(near_full & like, np.uint8) * np.uint8(255)


def cloth_masks(bgr: U8) -> Iterator[ClothMask]:
    """Hypotheses for the cloth's area, likeliest colours first, each at several tolerances.

    ``bgr`` (h, w, 3) uint8 of any size. Wide tolerances bridge vignettes and coloured lamps; narrow ones keep apart
    a cloth and a floor of like colour. Nothing is yielded that covers less than 3 % of the picture.
    """
    small, scale = working_picture(bgr)
    relative, light = _features(small)
    log_light = np.log(np.maximum(light, 3.0)).astype(np.float32)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    reach = max(5, round(0.014 * small.shape[1])) | 1
    bridge = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    seen: list[U8] = []
    for colour, mode in enumerate(_modes(relative, light, 4)):
        distance = np.hypot(relative[..., 0] - mode[0], relative[..., 1] - mode[1])
        core = distance < 0.06
        if core.sum() < 200:
            continue
        chroma = float(np.hypot(*mode))
        usual = float(np.median(light[core]))
        # A grey cloth has no colour to follow: lightness must tell it from a grey floor.
        low, high = (0.45, 1.6) if chroma > 0.2 else (0.65, 1.4)
        base = max(0.08, 0.25 * chroma)
        inside = (distance < base) & (light > usual * low) & (light < usual * high)
        seed = _component(cv2.morphologyEx(inside.astype(np.uint8) * 255, cv2.MORPH_OPEN, kernel).astype(np.uint8))
        if seed is None or (seed > 0).mean() < 0.01:
            continue
        for share in (1.0, 0.6, 1.5, 0.0):
            mask = seed
            if share > 0:
                pixels = ((seed > 0) & inside).astype(np.uint8) * 255
                mask = _grown(pixels, relative, log_light, base * share, 0.3 * share + 0.05)
            opened = cv2.morphologyEx(mask, cv2.MORPH_OPEN, kernel)
            # The shadow under a nose may cut the cushion's top off the bed: bridge it.
            bridged = cv2.morphologyEx(opened, cv2.MORPH_CLOSE, bridge)
            one = _component(bridged.astype(np.uint8, copy=False))
            if one is None:
                continue
            area = float((one > 0).mean())
            if area < 0.03 or any(_overlap(one, other) > 0.985 for other in seen):
                continue
            seen.append(one)
            yield ClothMask(mask=one, scale=scale, area_share=area, tolerance=base * share, colour=colour)


def _overlap(a: U8, b: U8) -> float:
    both = int(((a > 0) & (b > 0)).sum())
    either = int(((a > 0) | (b > 0)).sum())
    return both / max(either, 1)
