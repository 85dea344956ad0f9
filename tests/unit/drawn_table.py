"""A plain picture of a table, drawn for tests: rails, cushion tops, their shade, bed, pockets, balls, noise."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
_SHIFT = 6


def camera_over(
    table: TableSpec, *, elevation_deg: float, azimuth_deg: float = -90.0, focal: float = 1.1, k1: float = 0.0,
    size: tuple[int, int] = (1280, 720), fill: float = 0.8, aim: tuple[float, float] = (0.5, 0.5),
) -> Camera:  # fmt: skip
    """A camera that looks at the table from a direction, as near as lets the table take ``fill`` of the picture."""
    width, height = size
    target = np.array([aim[0] * table.length_mm, aim[1] * table.width_mm, 0.0])
    e, a = math.radians(elevation_deg), math.radians(azimuth_deg)
    away = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    up_hint = np.array([0.0, 1.0, 0.0]) if elevation_deg > 89.9 else np.array([0.0, 0.0, 1.0])
    right = np.cross(-away, up_hint)
    right /= np.linalg.norm(right)
    down = np.cross(-away, right)
    rotation = np.stack([right, down, -away])
    rvec, _ = cv2.Rodrigues(rotation)
    matrix = np.array([[focal * width, 0, (width - 1) / 2], [0, focal * width, (height - 1) / 2], [0, 0, 1.0]])
    low, high = 0.3 * table.length_mm, 30 * table.length_mm
    rails = _ring(table, table.rail_width_mm, 0.0)
    for _ in range(40):
        distance = math.sqrt(low * high)
        camera = Camera(
            matrix=matrix, distortion=np.array([k1, 0, 0, 0, 0.0]), rvec=np.asarray(rvec, np.float64).reshape(3),
            tvec=-rotation @ (target + distance * away), size_px=size,
        )  # fmt: skip
        off = np.abs(camera.project(rails) - [width / 2, height / 2]) / [width / 2, height / 2]
        depth = (rails @ rotation.T + camera.tvec)[:, 2]
        fits = depth.min() > 0 and off.max() < fill
        low, high = (low, distance) if fits else (distance, high)
    return camera


def _ring(table: TableSpec, margin: float, z: float, count: int = 40) -> F64:
    length, width = table.length_mm, table.width_mm
    far_x, far_y = length + margin, width + margin
    corners = np.array([[-margin, -margin], [-margin, far_y], [far_x, far_y], [far_x, -margin]])
    steps = np.arange(count)[:, None] / count
    flat = np.vstack([a + (b - a) * steps for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    return np.column_stack([flat, np.full(len(flat), z)])


def draw_table(
    camera: Camera, table: TableSpec, *, cloth: tuple[int, int, int] = (60, 130, 40),
    rail: tuple[int, int, int] = (30, 45, 80), floor: tuple[int, int, int] = (70, 70, 75), cushion_top_mm: float = 45.0,
    noise: float = 2.0, seed: int = 1, balls: int = 8, person: bool = False,
) -> U8:  # fmt: skip
    """(h, w, 3) BGR. Colours are BGR 0..255; ``person`` puts a dark shape over a stretch of one long cushion."""
    width, height = camera.size_px
    big = 2
    out = np.full((height * big, width * big, 3), floor, np.uint8)
    rng = np.random.default_rng(seed)

    def fill(points: F64, colour: tuple[float, ...]) -> None:
        px = (camera.project(points) + 0.5) * big - 0.5
        cv2.fillPoly(out, [np.round(px * (1 << _SHIFT)).astype(np.int32)], colour, cv2.LINE_AA, _SHIFT)

    nose = table.nose_height_mm
    tone = np.array(cloth, float)
    fill(_ring(table, table.rail_width_mm, nose), rail)
    fill(_ring(table, cushion_top_mm, nose), tuple(np.clip(tone * 1.12, 0, 255)))
    # The bed is seen through the noses' opening: faces and shade first, then the bed where the opening shows it.
    fill(_ring(table, 0.0, nose), tuple(tone * 0.6))
    opening = np.zeros(out.shape[:2], np.uint8)
    px = (camera.project(_ring(table, 0.0, nose)) + 0.5) * big - 0.5
    cv2.fillPoly(opening, [np.round(px * (1 << _SHIFT)).astype(np.int32)], 255, cv2.LINE_AA, _SHIFT)
    bed = out.copy()
    px = (camera.project(_ring(table, -18.0, 0.0)) + 0.5) * big - 0.5
    cv2.fillPoly(bed, [np.round(px * (1 << _SHIFT)).astype(np.int32)], tuple(tone), cv2.LINE_AA, _SHIFT)
    share = opening[..., None].astype(np.float32) / 255
    out[:] = (bed * share + out * (1 - share)).astype(np.uint8)
    for pocket in table.pockets():
        middle = np.array(pocket.mouth_mm) - 0.35 * pocket.width_mm * np.array(pocket.inward)
        turn = np.linspace(0, 2 * np.pi, 40)
        hole = middle + 0.6 * pocket.width_mm * np.column_stack([np.cos(turn), np.sin(turn)])
        fill(np.column_stack([hole, np.full(40, nose)]), (12, 12, 12))
    for _ in range(balls):
        x, y = rng.uniform([150, 150], [table.length_mm - 150, table.width_mm - 150])
        centre = camera.project([[x, y, table.ball_radius_mm]])[0] * big
        radius = float(camera.ball_radius_px([[x, y]], table.ball_radius_mm)[0]) * big
        cv2.circle(out, (int(centre[0]), int(centre[1])), max(2, int(radius)), (205, 225, 235), -1, cv2.LINE_AA)
    if person:
        spot = camera.project([[0.7 * table.length_mm, table.width_mm, nose]])[0] * big
        cv2.ellipse(out, (int(spot[0]), int(spot[1])), (130, 110), 0, 0, 360, (25, 22, 30), -1, cv2.LINE_AA)
    small = cv2.resize(out, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    y, x = np.mgrid[0:height, 0:width]
    light = 1.0 - 0.25 * (((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2)
    noisy = small * light[..., None] + rng.normal(0, noise, small.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)
