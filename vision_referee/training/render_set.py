"""The rendered training set: square windows with their boxes, made on disk, ever growing, deterministic by seed.

Each file ``NNNNNNN.jpg`` holds a window, ``NNNNNNN.txt`` a line per ball: ``x0 y0 x1 y1 visible`` in pixels (the whole
outline over the exposure, hidden parts included) and the part of it that can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.look import Look, random_look
from vision_referee.simulation.render import Renderer
from vision_referee.simulation.render_balls import exposure_poses
from vision_referee.simulation.scene import BallPose, SceneFrame
from vision_referee.training.people import random_occluders
from vision_referee.training.scenes import FAMILIES, Split, random_balls, random_table, window_camera

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

WINDOW_PX = 432
FRAMES_PER_SEED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """``pixels`` (s, s, 3) BGR; ``boxes`` (n, 5) x0 y0 x1 y1 visible; ``centres_px`` (n, 2); ``ball_px`` (n,)."""

    pixels: U8
    boxes: F64
    centres_px: F64
    ball_px: F64


def outline_box(camera: Camera, ball: BallPose, radius_mm: float, exposure_s: float) -> F64:
    """(4,) x0 y0 x1 y1 of a sphere's outline over the exposure."""
    centres, _ = exposure_poses(ball, exposure_s, 2 if np.any(ball.velocity_mm_s) else 1)
    lens = camera.position_mm
    points = []
    for centre in centres:
        axis = centre - lens
        distance = float(np.linalg.norm(axis))
        axis = axis / distance
        ring = radius_mm * np.sqrt(max(1 - (radius_mm / distance) ** 2, 0.01))
        first = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
        first /= np.linalg.norm(first)
        second = np.cross(axis, first)
        angles = np.linspace(0, 2 * np.pi, 25)[:-1]
        near = centre - axis * radius_mm**2 / distance
        points.append(near + ring * (np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second))
    px = camera.project(np.concatenate(points))
    return np.asarray([*px.min(axis=0), *px.max(axis=0)], np.float64)


def render_seed(seed: int, split: Split, *, window_px: int = WINDOW_PX) -> list[Sample]:
    """The windows of one seed: one table, camera and look; FRAMES_PER_SEED positions of balls and people."""
    rng = np.random.default_rng(split.first_seed + seed)
    family = str(rng.choice(FAMILIES, p=[0.5, 0.3, 0.2]))
    table = random_table(rng, family)
    look = random_look(rng, family=family)
    ball_px = float(np.exp(rng.uniform(np.log(8.5), np.log(56))))
    scale = 1.6 if ball_px < 26 and rng.random() < 0.25 else 1.0
    focus = _focus(rng, table)
    camera = window_camera(
        rng, table, split=split, side_px=round(window_px * scale), ball_px=ball_px * scale, centre_mm=focus
    )  # fmt: skip
    if ball_px < 14:  # a distant table is not also badly out of focus
        look = replace(look, defocus_px=min(look.defocus_px, 1.0))
    renderer = Renderer(camera, table, look)
    return [_one(rng, renderer, table, look, focus, scale, window_px) for _ in range(FRAMES_PER_SEED)]


def _one(
    rng: np.random.Generator, renderer: Renderer, table: TableSpec, look: Look, focus: F64, scale: float, window_px: int
) -> Sample:
    balls = random_balls(rng, table, focus)
    scene = SceneFrame(t_s=0.0, balls=balls, occluders=random_occluders(rng, table, balls, focus))
    exposure = float(rng.choice([1 / 40, 1 / 60, 1 / 100, 1 / 200, 1 / 500]))
    frame = renderer.frame_with_truth(scene, rng, exposure_s=exposure)
    camera, radius = renderer.camera, table.ball_radius_mm
    boxes = np.array([outline_box(camera, ball, radius, exposure) for ball in balls]).reshape(-1, 4)
    centres = camera.project(np.array([ball.centre_mm for ball in balls]).reshape(-1, 3))
    sizes = 2 * camera.ball_radius_px(np.array([ball.centre_mm[:2] for ball in balls]).reshape(-1, 2), radius)
    pixels = frame.pixels
    if scale != 1.0:
        pixels = cv2.resize(pixels, (window_px, window_px), interpolation=cv2.INTER_LINEAR).astype(np.uint8)
        boxes = (boxes + 0.5) / scale - 0.5
        centres = (centres + 0.5) / scale - 0.5
        sizes = sizes / scale
    return Sample(
        pixels=pixels, boxes=np.column_stack([boxes, frame.visible]), centres_px=centres, ball_px=np.asarray(sizes, np.float64)
    )


def _focus(rng: np.random.Generator, table: TableSpec) -> F64:
    """Where the window looks: pockets and rails oftener than their area would give."""
    kind = rng.random()
    if kind < 0.3:
        pocket = table.pockets()[int(rng.integers(6))]
        return np.asarray(pocket.mouth_mm) + np.asarray(pocket.inward) * rng.uniform(0, 250)
    low, high = (-150.0, 150.0) if kind < 0.45 else (100.0, -100.0)
    return np.asarray(rng.uniform((low, low), (table.length_mm + high, table.width_mm + high)), np.float64)


def write_seed(folder: Path, seed: int, split: Split) -> int:
    """Render a seed's windows into ``folder``; returns how many. A seed already there is left alone."""
    names = [folder / f"{seed * FRAMES_PER_SEED + i:07d}" for i in range(FRAMES_PER_SEED)]
    if all(name.with_suffix(".txt").exists() for name in names):
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, sample in zip(names, render_seed(seed, split), strict=True):
        cv2.imwrite(str(name.with_suffix(".jpg")), sample.pixels, [cv2.IMWRITE_JPEG_QUALITY, 96])
        rows = np.column_stack([sample.boxes, sample.centres_px, sample.ball_px])
        part = name.with_suffix(".part")
        np.savetxt(part, rows, fmt="%.3f")
        part.replace(name.with_suffix(".txt"))
    return FRAMES_PER_SEED
