"""The rendered training set: square windows with their boxes, made on disk, ever growing, deterministic by seed.

Each file ``NNNNNNN.jpg`` holds a window, ``NNNNNNN.txt`` a line per ball: ``x0 y0 x1 y1 visible`` in pixels (the whole
outline over the exposure, hidden parts included) and the part of it that can be seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.detection.outline import sphere_outline
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.look import Look, random_look
from vision_referee.simulation.render import Renderer
from vision_referee.simulation.scene import SceneFrame
from vision_referee.training.people import random_occluders
from vision_referee.training.scenes import FAMILIES, Split, random_balls, random_table, window_camera

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

WINDOW_PX = 432
FRAMES_PER_SEED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """``pixels`` (s, s, 3) BGR; ``boxes`` (n, 5) x0 y0 x1 y1 visible; ``centres_px`` (n, 2) the projected centres;
    ``ball_px`` (n,) widths; ``outlines_px`` (n, k, 2); ``moving_px`` (n,) way during the exposure."""

    pixels: U8
    boxes: F64
    centres_px: F64
    ball_px: F64
    outlines_px: F64
    moving_px: F64


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedScene:
    """The windows of one seed with the table, camera and look they show."""

    table: TableSpec
    camera: Camera
    look: Look
    samples: list[Sample]

    @property
    def elevation_deg(self) -> float:
        """Angle of the line of sight to the table's middle above the cloth."""
        eye = self.camera.position_mm
        flat = math.hypot(eye[0] - self.table.length_mm / 2, eye[1] - self.table.width_mm / 2)
        return math.degrees(math.atan2(float(eye[2]), flat))


def rendered_scene(seed: int, split: Split, *, window_px: int = WINDOW_PX) -> RenderedScene:
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
    samples = [_one(rng, renderer, table, look, focus, scale, window_px) for _ in range(FRAMES_PER_SEED)]
    return RenderedScene(table=table, camera=camera, look=look, samples=samples)


def _one(
    rng: np.random.Generator, renderer: Renderer, table: TableSpec, look: Look, focus: F64, scale: float, window_px: int
) -> Sample:
    balls = random_balls(rng, table, focus)
    scene = SceneFrame(t_s=0.0, balls=balls, occluders=random_occluders(rng, table, balls, focus))
    exposure = float(rng.choice([1 / 40, 1 / 60, 1 / 100, 1 / 200, 1 / 500]))
    frame = renderer.frame_with_truth(scene, rng, exposure_s=exposure)
    camera, radius = renderer.camera, table.ball_radius_mm
    places = np.array([ball.centre_mm for ball in balls]).reshape(-1, 3)
    half = np.array([ball.velocity_mm_s for ball in balls]).reshape(-1, 3) * exposure / 2
    ends = np.concatenate(
        [sphere_outline(camera, places - half, radius), sphere_outline(camera, places + half, radius)], axis=1
    )
    boxes = np.hstack([ends.min(axis=1, initial=np.inf), ends.max(axis=1, initial=-np.inf)])
    outlines = sphere_outline(camera, places, radius)
    centres = camera.project(places)
    sizes = 2 * camera.ball_radius_px(places[:, :2], radius)
    moving = np.linalg.norm(camera.project(places + half) - camera.project(places - half), axis=1)
    pixels = frame.pixels
    if scale != 1.0:
        pixels = cv2.resize(pixels, (window_px, window_px), interpolation=cv2.INTER_LINEAR).astype(np.uint8)
    return Sample(
        pixels=pixels, boxes=np.column_stack([(boxes + 0.5) / scale - 0.5, frame.visible]),
        centres_px=(centres + 0.5) / scale - 0.5, ball_px=sizes / scale,
        outlines_px=(outlines + 0.5) / scale - 0.5, moving_px=moving / scale,
    )  # fmt: skip


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
    for name, sample in zip(names, rendered_scene(seed, split).samples, strict=True):
        cv2.imwrite(str(name.with_suffix(".jpg")), sample.pixels, [cv2.IMWRITE_JPEG_QUALITY, 96])
        rows = np.column_stack([sample.boxes, sample.centres_px, sample.ball_px])
        part = name.with_suffix(".part")
        np.savetxt(part, rows, fmt="%.3f")
        part.replace(name.with_suffix(".txt"))
    return FRAMES_PER_SEED
