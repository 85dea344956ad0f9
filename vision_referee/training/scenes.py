"""Scenes to learn from: random tables, cameras, positions of balls and people. Deterministic by seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.scene import BallPose

F64 = npt.NDArray[np.float64]

FAMILIES = ("pyramid", "pool", "snooker")
_SIZES: dict[str, tuple[tuple[float, float, float], ...]] = {
    # length mm, ball mm, corner mouth in balls
    "pyramid": (
        (3550, 68, 1.07),
        (3200, 68, 1.07),
        (2840, 68, 1.08),
        (2540, 60, 1.1),
        (2240, 60, 1.12),
        (1960, 57, 1.15),
    ),
    "pool": ((2540, 57.2, 2.0), (2340, 57.2, 2.1), (2240, 57.2, 2.1), (1980, 57.2, 2.2), (1880, 52.3, 1.9)),
    "snooker": ((3569, 52.5, 1.65), (2743, 52.5, 1.6), (1830, 47.6, 1.7)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What keeps training, validation and test scenes apart: seeds, elevation ranges and the sets' proportions."""

    name: str
    first_seed: int
    elevation_deg: tuple[float, float]
    azimuth_deg: tuple[float, float]


SPLITS = {
    "train": Split(name="train", first_seed=1_000_000, elevation_deg=(14, 90), azimuth_deg=(0, 360)),
    "val": Split(name="val", first_seed=5_000_000, elevation_deg=(17, 88), azimuth_deg=(0, 360)),
    "test": Split(name="test", first_seed=9_000_000, elevation_deg=(15, 89), azimuth_deg=(0, 360)),
}


def random_table(rng: np.random.Generator, family: str) -> TableSpec:
    """A table of the family; every size varies a little, since makers' do."""
    length, ball, mouth = _SIZES[family][int(rng.integers(len(_SIZES[family])))]
    ball *= float(rng.uniform(0.97, 1.03))
    corner = ball * mouth * float(rng.uniform(0.97, 1.12))
    return TableSpec(
        name=f"random-{family}", family=family, length_mm=length, width_mm=length / 2, ball_diameter_mm=ball,
        ball_mass_kg=0.2, corner_mouth_mm=corner, middle_mouth_mm=corner * float(rng.uniform(1.08, 1.2)),
        nose_height_mm=ball * float(rng.uniform(0.58, 0.68)), rail_width_mm=float(rng.uniform(90, 190)),
    )  # fmt: skip


def window_camera(
    rng: np.random.Generator, table: TableSpec, *, split: Split, side_px: int, ball_px: float, centre_mm: F64
) -> Camera:
    """A camera whose picture is a square window on the table: ``centre_mm`` (2,) lies near its middle and balls there
    are ``ball_px`` wide. The window may lie anywhere in the lens's field, so perspective and distortion are as in
    any part of a larger picture."""
    low, high = split.elevation_deg
    kind = rng.random()
    if kind < 0.4:
        elevation = float(rng.uniform(70, high))
    elif kind < 0.75:
        elevation = float(rng.uniform(35, 70))
    else:
        elevation = float(rng.uniform(low, 35))
    azimuth = float(rng.uniform(*split.azimuth_deg))
    if rng.random() < 0.6:  # cameras mostly stand at an end or a side
        azimuth = float(rng.choice([0, 90, 180, 270]) + rng.normal(0, 6))
    distance = float(table.length_mm * rng.uniform(0.75, 2.2))
    e, a = math.radians(elevation), math.radians(azimuth)
    aim = np.array([table.length_mm * rng.uniform(0.35, 0.65), table.width_mm * rng.uniform(0.35, 0.65), 0.0])
    lens = aim + distance * np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    rotation = _facing(lens, aim, roll_deg=float(rng.normal(0, 2)))
    tvec = -rotation @ lens
    rvec = np.asarray(cv2.Rodrigues(rotation)[0], np.float64).ravel()
    target = np.array([centre_mm[0], centre_mm[1], table.ball_radius_mm])
    depth = float((rotation @ target + tvec)[2])
    focal = ball_px * depth / table.ball_diameter_mm
    k1 = float(rng.normal(-0.06, 0.1))
    distortion = np.array([k1, -0.3 * k1 * abs(k1), 0.0, 0.0, 0.0])
    plain = Camera(
        matrix=np.array([[focal, 0, 0], [0, focal, 0], [0, 0, 1.0]]), distortion=distortion, rvec=rvec, tvec=tvec,
        size_px=(side_px, side_px),
    )  # fmt: skip
    at = plain.project(target[None])[0]
    shift = side_px * (0.5 + rng.uniform(-0.3, 0.3, 2)) - at
    matrix = np.array([[focal, 0, shift[0]], [0, focal * rng.uniform(0.99, 1.01), shift[1]], [0, 0, 1.0]])
    return Camera(matrix=matrix, distortion=distortion, rvec=rvec, tvec=tvec, size_px=(side_px, side_px))


def _facing(lens: F64, aim: F64, *, roll_deg: float) -> F64:
    forward = (aim - lens) / np.linalg.norm(aim - lens)
    up = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.995 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    roll = math.radians(roll_deg)
    turned = math.cos(roll) * right + math.sin(roll) * down
    return np.stack([turned, np.cross(forward, turned), forward])


def random_rotation(rng: np.random.Generator) -> F64:
    """A rotation (3, 3), uniform over all."""
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def random_balls(rng: np.random.Generator, table: TableSpec, focus_mm: F64) -> tuple[BallPose, ...]:
    """Balls on the table, in racks, touching, on lips, in pockets, on rails; some of them moving fast.

    ``focus_mm`` (2,): where the camera looks; half of the balls are laid near it.
    """
    radius = table.ball_radius_mm
    places: list[F64] = []
    if rng.random() < 0.16:
        places += _rack(rng, table)
    if rng.random() < 0.35:
        places += _cluster(rng, table, focus_mm)
    for _ in range(int(rng.integers(0, 5)) if rng.random() < 0.45 else 0):
        places.append(_near_pocket(rng, table))
    for _ in range(int(rng.choice([0, 1, 2, 4, 7, 10, 14]))):
        near = rng.random() < 0.5
        point = focus_mm + rng.normal(0, 350, 2) if near else rng.uniform((0, 0), (table.length_mm, table.width_mm))
        if rng.random() < 0.2:  # frozen to a cushion
            side = int(rng.integers(4))
            point[side // 2] = radius if side % 2 else (table.length_mm, table.width_mm)[side // 2] - radius
        inside = np.clip(point, radius, (table.length_mm - radius, table.width_mm - radius))
        places.append(np.array([*inside, radius]))
    if rng.random() < 0.07:  # on the rail
        edge = -(table.rail_width_mm - 40) * float(rng.uniform(0.5, 1))
        places.append(np.array([rng.uniform(0, table.length_mm), edge, table.nose_height_mm + radius]))
    kept: list[F64] = []
    for place in places:
        if len(kept) < 22 and all(np.linalg.norm(place - other) > 1.96 * radius for other in kept):
            kept.append(place)
    numbers = rng.permutation(22)[: len(kept)] if table.family == "snooker" else rng.permutation(16)[: len(kept)]
    action = rng.random() < 0.45
    blank = rng.random() < 0.12
    balls = []
    for i, place in enumerate(kept):
        velocity, spin = np.zeros(3), np.zeros(3)
        if action and rng.random() < 0.35:
            speed = float(np.exp(rng.uniform(math.log(100), math.log(9000))))
            angle = float(rng.uniform(0, 2 * math.pi))
            velocity = speed * np.array([math.cos(angle), math.sin(angle), 0.0])
            spin = np.array([-velocity[1], velocity[0], 0.0]) / radius
        number = int(numbers[i]) if i < len(numbers) else None
        if blank and number and table.family == "pyramid":
            number = None
        balls.append(
            BallPose(
                label=f"u{i + 1}", number=number, centre_mm=place, rotation=random_rotation(rng),
                velocity_mm_s=velocity, spin_rad_s=spin,
            )
        )  # fmt: skip
    return tuple(balls)


def _rack(rng: np.random.Generator, table: TableSpec) -> list[F64]:
    gap = table.ball_diameter_mm * float(rng.uniform(1.0, 1.01))
    x0, y0 = table.foot_spot_mm if rng.random() < 0.7 else (rng.uniform(500, table.length_mm - 700), table.width_mm / 2)
    out = []
    for row in range(5):
        for k in range(row + 1):
            if rng.random() < 0.97:
                place = [x0 + row * gap * math.sqrt(3) / 2, y0 + (k - row / 2) * gap]
                out.append(np.array([*(np.asarray(place) + rng.normal(0, 0.5, 2)), table.ball_radius_mm]))
    return out


def _cluster(rng: np.random.Generator, table: TableSpec, focus_mm: F64) -> list[F64]:
    d = table.ball_diameter_mm
    at = focus_mm + rng.normal(0, 200, 2)
    out = [at]
    for _ in range(int(rng.integers(1, 7))):
        base = out[int(rng.integers(len(out)))]
        angle = rng.uniform(0, 2 * math.pi)
        gap = d * (1.0 + (0.0 if rng.random() < 0.6 else rng.uniform(0, 0.6)))
        out.append(base + gap * np.array([math.cos(angle), math.sin(angle)]))
    low, high = table.ball_radius_mm, (table.length_mm - table.ball_radius_mm, table.width_mm - table.ball_radius_mm)
    return [np.array([*np.clip(p, low, high), table.ball_radius_mm]) for p in out]


def _near_pocket(rng: np.random.Generator, table: TableSpec) -> F64:
    """On the lip, between the jaws, falling, or lying in the pocket."""
    pocket = table.pockets()[int(rng.integers(6))]
    mouth, inward = np.asarray(pocket.mouth_mm), np.asarray(pocket.inward)
    radius = table.ball_radius_mm
    room = max((pocket.width_mm - 2 * radius) / 2, 0.0)
    side = np.array([-inward[1], inward[0]]) * float(rng.uniform(-room, room))
    kind = rng.random()
    if kind < 0.45:
        return np.array([*(mouth + side + inward * rng.uniform(0.0, 2.0) * radius), radius])
    if kind < 0.65:
        return np.array([*(mouth + side - inward * rng.uniform(0.0, 0.5) * radius), radius])
    deep = float(rng.uniform(-1.2, 1.0)) * radius
    return np.array([*(mouth - inward * rng.uniform(0.6, 1.2) * radius), deep])
