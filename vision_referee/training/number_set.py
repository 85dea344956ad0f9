"""Crops of rendered balls with the number that is on them, for the number reader. Deterministic by seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision_referee.detection.number_crops import BALL_PX, UNNUMBERED, number_crops
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.look import BallLook, random_look
from vision_referee.simulation.scene import BallPose
from vision_referee.training.ball_tiles import TileRenderer, TileView
from vision_referee.training.scenes import FAMILIES, Split, random_rotation, random_table, window_camera

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

VIEWS_PER_SEED = 64
LEAST_PX, MOST_PX = 14.0, 60.0
_FIELD_BALLS = 16
"""Side of the camera's field in ball diameters: perspective and the lamps' mirror images differ from view to view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberViews:
    """Views of balls of one set: ``crops`` (n, CROP_PX, CROP_PX, 3) BGR, ``labels`` (n,) 0 cue, 1..15, 16 a ball
    without a number, ``sizes_px`` (n,) the balls' widths, ``faces`` (n, 6, 3) where each printed face's middle lies,
    in crop px right and down of the middle, and the cosine at which it is seen; ``look`` how they are printed."""

    crops: U8
    labels: I64
    sizes_px: F64
    faces: F32
    look: BallLook


def number_seed(seed: int, split: Split) -> NumberViews:
    """The views of one seed: one set of balls, hall and camera."""
    rng = np.random.default_rng(split.first_seed + 500_000 + seed)
    family = str(rng.choice(FAMILIES, p=[0.80, 0.13, 0.07]))
    table = random_table(rng, family)
    look = replace(random_look(rng, family=family, extremes=0.5), overlay=False)
    ball_px = float(np.exp(rng.uniform(math.log(LEAST_PX), math.log(MOST_PX))))
    sharpness = float(rng.uniform(0.7, 1.1)) * min(1.0, 30.0 / ball_px)
    look = replace(look, defocus_px=min(look.defocus_px, 1.6) * sharpness)
    focus = rng.uniform((300, 300), (table.length_mm - 300, table.width_mm - 300))
    side = round(_FIELD_BALLS * ball_px)
    camera = window_camera(rng, table, split=split, side_px=side, ball_px=ball_px, centre_mm=focus)
    renderer = TileRenderer(camera, table, look)
    bare = family == "pyramid" and rng.random() < 0.1
    views = [_view(rng, table, focus, bare=bare, family=family) for _ in range(VIEWS_PER_SEED)]
    exposure = float(rng.choice([1 / 60, 1 / 100, 1 / 200]))
    sheet = renderer.sheet(views, rng, exposure_s=exposure)
    # The detector's centres and sizes are not exact: neither are these.
    centres = sheet.centres_px + rng.normal(0, 0.03, sheet.centres_px.shape) * sheet.radius_px[:, None]
    wrong = sheet.radius_px * np.exp(rng.normal(0, 0.035, len(views)))
    faces = sheet.faces.copy()
    faces[..., :2] *= BALL_PX / 2
    return NumberViews(
        crops=number_crops(sheet.pixels, centres, wrong),
        labels=np.array([label_of(view.ball, family) for view in views], np.int64),
        sizes_px=2 * sheet.radius_px, faces=faces.astype(np.float32), look=look.balls,
    )  # fmt: skip


def _view(rng: np.random.Generator, table: TableSpec, focus: F64, *, bare: bool, family: str) -> TileView:
    diameter = table.ball_diameter_mm
    reach = 0.3 * _FIELD_BALLS * diameter
    place = focus + rng.uniform(-reach, reach, 2)
    moving = rng.random() < 0.25
    velocity = np.array([*rng.normal(0, 350, 2), 0.0]) if moving else np.zeros(3)
    spin = np.array([-velocity[1], velocity[0], 0.0]) * 2 / diameter
    ball = BallPose(
        label="u1", number=_number(rng, bare=bare, family=family), rotation=random_rotation(rng),
        centre_mm=np.array([*place, diameter / 2]), velocity_mm_s=velocity, spin_rad_s=spin,
    )  # fmt: skip
    beside = []
    for angle in rng.uniform(0, 2 * math.pi, 1) if rng.random() < 0.25 else ():
        gap = diameter * float(rng.choice([1.0, rng.uniform(1.0, 1.4)]))
        other = place + gap * np.array([math.cos(angle), math.sin(angle)])
        beside.append(
            BallPose(
                label="u2", number=_number(rng, bare=bare, family=family), rotation=random_rotation(rng),
                centre_mm=np.array([*other, diameter / 2]),
            )
        )  # fmt: skip
    return TileView(
        ball=ball, beside=tuple(beside), covered=bool(rng.random() < 0.05),
        dark=float(rng.uniform(0.4, 1.0)) if rng.random() < 0.12 else 1.0,
    )  # fmt: skip


def _number(rng: np.random.Generator, *, bare: bool, family: str) -> int | None:
    number = int(rng.integers(0, 22 if family == "snooker" else 16))
    return None if bare and number else number


def label_of(ball: BallPose, family: str) -> int:
    """The reader's class for a ball: 0 cue, 1..15, UNNUMBERED."""
    if ball.number is None or (family == "snooker" and ball.number != 0):
        return UNNUMBERED
    return ball.number


def write_number_seeds(folder: Path, first: int, count: int, split: Split) -> Path:
    """One file with the views of ``count`` seeds from ``first``; left alone when it is there already."""
    path = folder / f"numbers-{first:06d}-{count:04d}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = [number_seed(seed, split) for seed in range(first, first + count)]
        part = path.with_suffix(".part.npz")
        np.savez(
            part, crops=np.concatenate([m.crops for m in made]), labels=np.concatenate([m.labels for m in made]),
            sizes=np.concatenate([m.sizes_px for m in made]), faces=np.concatenate([m.faces for m in made]),
        )  # fmt: skip
        part.replace(path)
    return path
