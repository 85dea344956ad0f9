"""Crops of rendered balls with the number that is on them, for the number reader. Deterministic by seed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision_referee.detection.number_crops import UNNUMBERED, number_crops
from vision_referee.simulation.look import random_look
from vision_referee.simulation.render import Renderer
from vision_referee.simulation.scene import BallPose, SceneFrame
from vision_referee.training.people import random_occluders
from vision_referee.training.scenes import FAMILIES, Split, random_rotation, random_table, window_camera

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

WINDOW_PX = 400
FRAMES_PER_SEED = 4


def number_seed(seed: int, split: Split) -> tuple[U8, I64, F64]:
    """Crops (n, 40, 40, 3) BGR, labels (n,) 0 cue, 1..15, 16 a ball without a number, and the balls' widths in px."""
    rng = np.random.default_rng(split.first_seed + 500_000 + seed)
    family = str(rng.choice(FAMILIES, p=[0.75, 0.17, 0.08]))
    table = random_table(rng, family)
    look = random_look(rng, family=family, extremes=0.5)
    look = replace(look, defocus_px=min(look.defocus_px, 1.3), overlay=False)
    ball_px = float(np.exp(rng.uniform(np.log(16), np.log(60))))
    focus = rng.uniform((300, 300), (table.length_mm - 300, table.width_mm - 300))
    camera = window_camera(rng, table, split=split, side_px=WINDOW_PX, ball_px=ball_px, centre_mm=focus)
    renderer = Renderer(camera, table, look)
    bare = family == "pyramid" and rng.random() < 0.12
    crops, labels, sizes = [], [], []
    for _ in range(FRAMES_PER_SEED):
        balls = _spread(rng, table.ball_diameter_mm, ball_px, focus, bare, family)
        occluders = random_occluders(rng, table, balls, focus) if rng.random() < 0.3 else ()
        exposure = float(rng.choice([1 / 60, 1 / 100, 1 / 200]))
        frame = renderer.frame_with_truth(
            SceneFrame(t_s=0.0, balls=balls, occluders=occluders), rng, exposure_s=exposure
        )
        places = np.array([ball.centre_mm for ball in balls])
        centres = camera.project(places)
        radius = camera.ball_radius_px(places[:, :2], table.ball_radius_mm)
        keep = np.all((centres > radius[:, None]) & (centres < WINDOW_PX - radius[:, None]), axis=1) & (
            frame.visible > 0.7
        )
        # The detector's centres and sizes are not exact: neither are these.
        centres = centres + rng.normal(0, 0.04, centres.shape) * radius[:, None]
        wrong = radius * np.exp(rng.normal(0, 0.04, len(radius)))
        crops.append(number_crops(frame.pixels, centres[keep], wrong[keep]))
        labels.append(np.array([_label(ball, family) for ball in balls])[keep])
        sizes.append(2 * radius[keep])
    return np.concatenate(crops), np.concatenate(labels), np.concatenate(sizes)


def _spread(
    rng: np.random.Generator, diameter_mm: float, ball_px: float, focus: F64, bare: bool, family: str
) -> tuple[BallPose, ...]:
    reach = 0.45 * WINDOW_PX / ball_px * diameter_mm
    places: list[F64] = []
    for _ in range(60):
        place = focus + rng.uniform(-reach, reach, 2)
        if len(places) < 16 and all(np.linalg.norm(place - other) > diameter_mm for other in places):
            places.append(place)
    numbers = rng.integers(0, 22 if family == "snooker" else 16, len(places))
    made = []
    for i, (place, number) in enumerate(zip(places, numbers.tolist(), strict=True)):
        moving = rng.random() < 0.2
        velocity = np.array([*rng.normal(0, 300, 2), 0.0]) if moving else np.zeros(3)
        spin = np.array([-velocity[1], velocity[0], 0.0]) * 2 / diameter_mm
        made.append(
            BallPose(
                label=f"u{i + 1}", number=None if bare and number else number, rotation=random_rotation(rng),
                centre_mm=np.array([*place, diameter_mm / 2]), velocity_mm_s=velocity, spin_rad_s=spin,
            )
        )  # fmt: skip
    return tuple(made)


def _label(ball: BallPose, family: str) -> int:
    if ball.number is None or (family == "snooker" and ball.number != 0):
        return UNNUMBERED
    return ball.number


def write_number_seeds(folder: Path, first: int, count: int, split: Split) -> Path:
    """One compressed file with the crops of ``count`` seeds from ``first``; left alone when it is there already."""
    path = folder / f"numbers-{first:06d}-{count:04d}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = [number_seed(seed, split) for seed in range(first, first + count)]
        crops, labels, sizes = (np.concatenate(part) for part in zip(*made, strict=True))
        part = path.with_suffix(".part.npz")
        np.savez(part, crops=crops, labels=labels.astype(np.int64), sizes=sizes)
        part.replace(path)
    return path
