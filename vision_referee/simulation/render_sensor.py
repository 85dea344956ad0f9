"""From linear light to the file's pixels: lens blur, exposure, noise, sharpening, overlays, compression."""

from __future__ import annotations

import functools

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.simulation.look import Look

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]

_LEVELS = 4096
_NOISE_SIDE = 1024


@functools.lru_cache(maxsize=64)
def _curve(gain: float, gamma: float, contrast: float) -> F32:
    """8-bit value (as float) for each of _LEVELS linear levels over 0..2, with a soft shoulder."""
    x = np.linspace(0, 2, _LEVELS) * gain
    x = np.where(x > 0.8, 0.8 + 0.2 * (1 - np.exp(-(x - 0.8) / 0.2)), x)
    y = np.power(np.clip(x, 0, 1), 1 / gamma)
    y = np.clip((y - 0.5) * contrast + 0.5, 0, 1)
    return np.asarray(y * 255, np.float32)


@functools.lru_cache(maxsize=8)
def _noise(grain_px: float) -> F32:
    noise = np.random.default_rng(11).standard_normal((_NOISE_SIDE, _NOISE_SIDE, 3)).astype(np.float32)
    if grain_px > 0.3:
        noise = np.asarray(cv2.GaussianBlur(noise, (0, 0), grain_px * 0.6), np.float32)
        noise /= noise.std()
    return np.asarray(noise, np.float32)


@functools.lru_cache(maxsize=8)
def _vignette(width: int, height: int, strength: float) -> F32:
    x = np.linspace(-1, 1, width)[None, :]
    y = np.linspace(-1, 1, height)[:, None]
    return np.asarray(1 - strength * (x * x + y * y) / 1.6, np.float32)[..., None]


def develop(light: F32, look: Look, rng: np.random.Generator, overlay: F32 | None) -> U8:
    """(h, w, 3) linear light to (h, w, 3) uint8 BGR as this camera would store it.

    ``overlay`` (h, w, 4): broadcast graphics as 8-bit BGR values and coverage 0..1.
    """
    height, width = light.shape[:2]
    scale = width / 1280
    sigma = look.defocus_px * max(scale, 0.4)
    picture = light
    if look.vignette > 0.01:
        picture = picture * _vignette(width, height, round(look.vignette, 2))
    if look.bloom > 0.02:
        small = cv2.resize(np.maximum(picture - 0.8, 0), (width // 4, height // 4), interpolation=cv2.INTER_AREA)
        glow = cv2.resize(cv2.GaussianBlur(small, (0, 0), 6), (width, height))
        picture = picture + look.bloom * glow
    if sigma > 0.25:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), np.float32)
    curve = _curve(round(look.gain, 3), round(look.gamma, 2), round(look.contrast, 2))
    levels = np.clip(picture * ((_LEVELS - 1) / 2), 0, _LEVELS - 1).astype(np.uint16)
    pixels = np.asarray(curve[levels], np.float32)
    if abs(look.saturation - 1) > 0.02:
        grey = pixels @ np.array([0.114, 0.587, 0.299], np.float32)
        pixels = grey[..., None] * np.float32(1 - look.saturation) + pixels * np.float32(look.saturation)
    if look.noise > 0.05:
        pixels += look.noise * _noise_patch(rng, height, width, look.noise_grain_px)
    if look.sharpen > 0.05:
        soft = cv2.GaussianBlur(pixels, (0, 0), 1.2)
        pixels = pixels + look.sharpen * (pixels - soft)
    if overlay is not None:
        pixels = pixels * (1 - overlay[..., 3:]) + overlay[..., :3] * overlay[..., 3:]
    return compress(np.asarray(np.clip(pixels + 0.5, 0, 255), np.uint8), look.jpeg_quality)


def _noise_patch(rng: np.random.Generator, height: int, width: int, grain: float) -> F32:
    noise = _noise(round(grain, 1))
    rows = (np.arange(height) + int(rng.integers(_NOISE_SIDE))) % _NOISE_SIDE
    if width <= _NOISE_SIDE and height <= _NOISE_SIDE:
        y = int(rng.integers(_NOISE_SIDE - height + 1))
        x = int(rng.integers(_NOISE_SIDE - width + 1))
        return noise[y : y + height, x : x + width]
    columns = (np.arange(width) + int(rng.integers(_NOISE_SIDE))) % _NOISE_SIDE
    return np.asarray(noise[rows[:, None], columns[None, :]], np.float32)


def compress(pixels: U8, quality: int) -> U8:
    """Store and load as JPEG with halved colour, as video does. 100 or more: leave as it is."""
    if quality >= 100:
        return pixels
    done, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, int(np.clip(quality, 15, 99))])
    if not done:
        return pixels
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def broadcast_overlay(look: Look, width: int, height: int) -> F32:
    """(h, w, 4) score boxes, captions and logos of a broadcast: 8-bit BGR and coverage."""
    rng = np.random.default_rng(look.seed + 3)
    picture = np.zeros((height, width, 3), np.uint8)
    mask = np.zeros((height, width), np.uint8)
    unit = width / 1280
    if rng.random() < 0.7:
        tall = int(rng.uniform(22, 48) * unit)
        y = int(height - tall - rng.uniform(0, 40) * unit)
        x0 = int(rng.choice([0.0, 0.02, 0.2]) * width)
        x1 = int(rng.uniform(0.2, 1.0) * width)
        for colour, a, b in zip(rng.integers(0, 256, (3, 3)).tolist(), (0.0, 0.3, 0.6), (0.3, 0.6, 1.0), strict=True):
            left, right = int(x0 + a * (x1 - x0)), int(x0 + b * (x1 - x0))
            cv2.rectangle(picture, (left, y), (right, y + tall), colour, -1)
            cv2.rectangle(mask, (left, y), (right, y + tall), int(rng.uniform(180, 255)), -1)
            text = "".join(chr(int(c)) for c in rng.integers(48, 91, int(rng.integers(1, 9))))
            cv2.putText(
                picture,
                text,
                (left + 4, y + tall - 5),
                0,
                tall / 34,
                (255, 255, 255),
                max(1, int(2 * unit)),
                cv2.LINE_AA,
            )
    for _ in range(int(rng.integers(0, 4))):
        x, y = int(rng.uniform(0, 0.9) * width), int(rng.choice([0.06, 0.1, 0.9, 0.95]) * height)
        colour = rng.integers(0, 256, 3).tolist()
        if rng.random() < 0.5:
            radius = int(rng.uniform(6, 30) * unit)
            cv2.circle(picture, (x, y), radius, colour, -1, cv2.LINE_AA)
            cv2.circle(mask, (x, y), radius, 230, -1, cv2.LINE_AA)
        else:
            text = "".join(chr(int(c)) for c in rng.integers(65, 91, int(rng.integers(3, 12))))
            size, thick = float(rng.uniform(0.5, 1.6) * unit), max(1, int(rng.uniform(1, 4) * unit))
            cv2.putText(picture, text, (x, y), int(rng.integers(0, 5)), size, colour, thick, cv2.LINE_AA)
            cv2.putText(mask, text, (x, y), 0, size, 220, thick, cv2.LINE_AA)
    return np.dstack([picture.astype(np.float32), mask.astype(np.float32) / 255])
