"""Textures of a look: cloth with wear and markings, wood, floor. All follow from the look's seed."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import TableSpec
from vision_referee.simulation.look import Look

F32 = npt.NDArray[np.float32]

CLOTH_MM_PER_TEXEL = 2.5
FLOOR_SPAN_MM = 9000.0
FLOOR_TEXELS = 1024
_LINEAR = np.power(np.arange(256) / 255, 2.2).astype(np.float32)


def octaves(rng: np.random.Generator, height: int, width: int, *, coarse: int, levels: int) -> F32:
    """Smooth noise (height, width), mean 0 and standard deviation about 1, from ``coarse`` cells downward."""
    total = np.zeros((height, width), np.float32)
    weight = 1.0
    cells = coarse
    for _ in range(levels):
        shape = (max(2, min(height, cells * height // max(height, width) + 1)), max(2, min(width, cells)))
        grid = rng.standard_normal(shape).astype(np.float32)
        total += weight * cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
        weight *= 0.6
        cells *= 3
    return np.asarray(total / max(float(total.std()), 1e-6), np.float32)


def cloth_texture(look: Look, table: TableSpec) -> F32:
    """Linear BGR (rows y, columns x) of the playing surface, ``CLOTH_MM_PER_TEXEL`` a texel, origin at (0, 0) mm."""
    rng = np.random.default_rng(look.seed)
    width = int(table.length_mm / CLOTH_MM_PER_TEXEL)
    height = int(table.width_mm / CLOTH_MM_PER_TEXEL)
    shade = 1 + look.cloth_grain * octaves(rng, height, width, coarse=300, levels=2)
    shade += look.cloth_blotch * octaves(rng, height, width, coarse=5, levels=3)
    tint = 1 + 0.15 * look.cloth_blotch * octaves(rng, height, width, coarse=4, levels=2)
    encoded = np.power(np.clip(shade, 0.3, 2.0), 1 / 2.2) * 255
    picture = np.empty((height, width, 3), np.uint8)
    for channel, value in enumerate(look.cloth_bgr):
        picture[..., channel] = np.clip(encoded * (value * tint if channel == 2 else value), 0, 255)
    _draw_marks(picture, look, rng)
    _draw_lines(picture, look, table, rng)
    return np.asarray(_LINEAR[cv2.flip(picture, 0)], np.float32)


def _draw_marks(picture: npt.NDArray[np.uint8], look: Look, rng: np.random.Generator) -> None:
    height, width = picture.shape[:2]
    layer = picture.copy()
    for _ in range(int(look.cloth_wear * 60)):  # worn tracks and burns of breaking strokes
        a = rng.uniform((0, 0), (width, height))
        b = a + rng.normal(0, 60, 2)
        light = rng.uniform(-25, 45)
        colour = np.clip(np.asarray(look.cloth_bgr) * 255 + light, 0, 255).tolist()
        cv2.line(layer, _at(a), _at(b), colour, int(rng.integers(1, 3)), cv2.LINE_AA)
    for _ in range(int(look.marks * 22)):  # chalk dust, spots, stains
        a = rng.uniform((0, 0), (width, height))
        grey = float(rng.choice([0, 30, 220, 255]))
        blue = [min(255.0, grey + 60), grey, grey * 0.9] if rng.random() < 0.4 else [grey, grey, grey]
        cv2.circle(layer, _at(a), int(rng.integers(1, 9)), blue, -1, cv2.LINE_AA)
    alpha = float(rng.uniform(0.05, 0.4))
    cv2.addWeighted(layer, alpha, picture, 1 - alpha, 0, dst=picture)


def _draw_lines(picture: npt.NDArray[np.uint8], look: Look, table: TableSpec, rng: np.random.Generator) -> None:
    height, width = picture.shape[:2]
    layer = picture.copy()
    colour = (np.asarray(look.line_bgr) * 255).tolist()
    thick = int(rng.integers(1, 4))
    spot = int(rng.integers(2, 7))
    stickers: list[tuple[tuple[int, int], int, list[float], list[float]]] = []
    if look.house_line:
        x = width // 4 if rng.random() < 0.7 else int(width * 0.2)
        cv2.line(layer, (x, 0), (x, height), colour, thick, cv2.LINE_AA)
        if look.house_arc:
            cv2.ellipse(layer, (x, height // 2), (height // 6, height // 6), 0, 90, 270, colour, thick, cv2.LINE_AA)
    for fx in (0.25, 0.5, 0.75):
        if rng.random() < 0.7:
            dark = [10.0, 10.0, 10.0] if rng.random() < 0.6 else colour
            middle = (int(width * fx), height // 2)
            sticker = rng.random() < 0.4  # a printed disc with a ring or a pale dot: much like a small ball from above
            radius = int(rng.uniform(0.25, 0.6) * table.ball_radius_mm / CLOTH_MM_PER_TEXEL) if sticker else spot
            cv2.circle(layer, middle, max(2, radius), dark, -1, cv2.LINE_AA)
            if sticker:
                pale = rng.integers(90, 256, 3).tolist()
                cv2.circle(layer, middle, max(1, radius // int(rng.integers(2, 5))), pale, -1, cv2.LINE_AA)
                stickers.append((middle, max(2, radius), dark, pale))
    if look.logo:
        _draw_logo(layer, rng)
    opaque = rng.random() < 0.6
    cv2.addWeighted(layer, look.line_strength, picture, 1 - look.line_strength, 0, dst=picture)
    for middle, radius, dark, pale in stickers if opaque else []:
        cv2.circle(picture, middle, radius, dark, -1, cv2.LINE_AA)
        cv2.circle(picture, middle, max(1, radius // 3), pale, -1, cv2.LINE_AA)
    if look.projector:
        points = rng.uniform((0, 0), (width, height), (int(rng.integers(2, 7)), 2)).astype(np.int32)
        cv2.polylines(picture, [points], False, (255, 255, 190), 2, cv2.LINE_AA)


def _draw_logo(layer: npt.NDArray[np.uint8], rng: np.random.Generator) -> None:
    height, width = layer.shape[:2]
    for _ in range(int(rng.integers(1, 3))):
        x, y = int(rng.uniform(0.1, 0.8) * width), int(rng.uniform(0.2, 0.9) * height)
        colour = rng.integers(0, 256, 3).tolist()
        text = "".join(chr(int(c)) for c in rng.integers(65, 91, int(rng.integers(4, 10))))
        cv2.putText(
            layer,
            text,
            (x, y),
            int(rng.integers(0, 5)),
            float(rng.uniform(1, 4)),
            colour,
            int(rng.integers(2, 9)),
            cv2.LINE_AA,
        )
        cv2.circle(layer, (x - 40, y - 20), int(rng.integers(10, 40)), colour, int(rng.choice([-1, 3])), cv2.LINE_AA)


def rail_texture(look: Look) -> F32:
    """Linear BGR (64, 1024, 3) along the rail."""
    rng = np.random.default_rng(look.seed + 1)
    grain = octaves(rng, 64, 1024, coarse=12, levels=2) * 0.6
    stretched = cv2.resize(rng.standard_normal((64, 16)).astype(np.float32), (1024, 64), interpolation=cv2.INTER_LINEAR)
    shade = np.clip(1 + look.rail_grain * (grain + stretched) * 0.6, 0.15, 2.2)
    return np.asarray(shade[..., None] * np.power(np.asarray(look.rail_bgr, np.float32), 2.2), np.float32)


def floor_texture(look: Look) -> F32:
    """Linear BGR (FLOOR_TEXELS, FLOOR_TEXELS, 3) of the floor and what lies on it; spans FLOOR_SPAN_MM."""
    rng = np.random.default_rng(look.seed + 2)
    n = FLOOR_TEXELS
    base = np.asarray(look.floor_bgr, np.float32)
    shade = 1 + 0.1 * octaves(rng, n, n, coarse=6, levels=4)
    picture = np.ascontiguousarray(np.clip(shade[..., None] * base * 255, 0, 255).astype(np.uint8))
    if look.floor_busy > 0.25:
        _draw_carpet(picture, look, rng)
    for _ in range(int(look.floor_busy * 25)):
        _draw_clutter(picture, rng)
    return np.asarray((_LINEAR * np.float32(look.hall))[cv2.flip(picture, 0)], np.float32)


def _draw_carpet(picture: npt.NDArray[np.uint8], look: Look, rng: np.random.Generator) -> None:
    n = len(picture)
    kind = int(rng.integers(0, 5))
    colours = np.clip(np.asarray(look.floor_bgr) * 255 + rng.normal(0, 60, (5, 3)), 0, 255)
    if kind == 0:  # dots: what most looks like balls
        for _ in range(int(rng.integers(100, 700))):
            at = _at(rng.uniform(0, n, 2))
            radius = int(rng.integers(2, 8))
            cv2.circle(picture, at, radius, colours[int(rng.integers(5))].tolist(), -1, cv2.LINE_AA)
            if rng.random() < 0.5:
                cv2.circle(picture, at, max(1, radius // 2), colours[int(rng.integers(5))].tolist(), -1, cv2.LINE_AA)
    elif kind == 1:
        step = int(rng.integers(20, 120))
        for left in range(0, n, step):
            cv2.line(
                picture,
                (left, 0),
                (left + int(rng.integers(-200, 200)), n),
                colours[left // step % 5].tolist(),
                int(rng.integers(1, step // 2)),
                cv2.LINE_AA,
            )
    elif kind == 2:
        step = int(rng.integers(30, 90))
        for i in range(0, n, step):
            for j in range(0, n, step):
                if (i // step + j // step) % 2:
                    cv2.rectangle(picture, (i, j), (i + step, j + step), colours[0].tolist(), -1)
    elif kind == 3:
        for _ in range(200):
            points = (rng.uniform(0, n, 2) + rng.normal(0, 40, (4, 2))).astype(np.int32)
            cv2.fillPoly(picture, [points], colours[int(rng.integers(5))].tolist(), cv2.LINE_AA)
    else:
        for _ in range(120):
            a = rng.uniform(0, n, 2)
            cv2.line(
                picture,
                _at(a),
                _at(a + rng.normal(0, 150, 2)),
                colours[int(rng.integers(5))].tolist(),
                int(rng.integers(1, 7)),
                cv2.LINE_AA,
            )


def _draw_clutter(picture: npt.NDArray[np.uint8], rng: np.random.Generator) -> None:
    n = len(picture)
    at = rng.uniform(0, n, 2)
    colour = rng.integers(0, 256, 3).tolist()
    kind = rng.random()
    if kind < 0.35:
        size = rng.uniform(20, 200, 2)
        box = cv2.boxPoints((at.tolist(), size.tolist(), float(rng.uniform(0, 90)))).astype(np.int32)
        cv2.fillPoly(picture, [box], colour, cv2.LINE_AA)
    elif kind < 0.6:
        cv2.circle(picture, _at(at), int(rng.integers(5, 70)), colour, int(rng.choice([-1, -1, 2, 6])), cv2.LINE_AA)
    elif kind < 0.8:
        text = "".join(chr(int(c)) for c in rng.integers(48, 91, int(rng.integers(2, 9))))
        cv2.putText(
            picture,
            text,
            _at(at),
            int(rng.integers(0, 5)),
            float(rng.uniform(0.6, 4)),
            colour,
            int(rng.integers(1, 8)),
            cv2.LINE_AA,
        )
    else:
        axes = rng.uniform(10, 120, 2).astype(int)
        cv2.ellipse(
            picture, _at(at), (int(axes[0]), int(axes[1])), float(rng.uniform(0, 180)), 0, 360, colour, -1, cv2.LINE_AA
        )


def _at(point: npt.NDArray[np.float64]) -> tuple[int, int]:
    return (int(point[0]), int(point[1]))
