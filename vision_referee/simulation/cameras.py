"""Cameras over a table: named mountings, any angle, and random ones. The whole table is always in the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.errors import InputError
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounting:
    """How a camera hangs.

    ``elevation_deg``: line of sight above the cloth, 90 straight down. ``azimuth_deg``: where it stands, seen from
    the table's middle; 0 beyond the foot cushion, 90 at the left long side, 180 beyond the head. ``fov_deg``
    horizontal. ``roll_deg`` turns the picture. ``k1 k2 p1 p2`` Brown-Conrady distortion. ``aim`` is the point looked
    at, as fractions of length and width. ``fill``: how much of the picture the table with its rails takes.
    """

    elevation_deg: float = 90.0
    azimuth_deg: float = -90.0
    fov_deg: float = 60.0
    roll_deg: float = 0.0
    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    aim: tuple[float, float] = (0.5, 0.5)
    fill: float = 0.95


MOUNTINGS: dict[str, Mounting] = {
    "overhead": Mounting(),
    "overhead_turned": Mounting(azimuth_deg=90.0, fov_deg=70.0, roll_deg=1.5),
    "overhead_wide": Mounting(fov_deg=95.0, k1=-0.18, k2=0.03, elevation_deg=87.0, azimuth_deg=-84.0),
    "ceiling_corner": Mounting(elevation_deg=62.0, azimuth_deg=-90.0, fov_deg=65.0, k1=-0.08),
    "side_high": Mounting(elevation_deg=50.0, azimuth_deg=-90.0, fov_deg=55.0),
    "side_low": Mounting(elevation_deg=32.0, azimuth_deg=90.0, fov_deg=50.0),
    "foot_high": Mounting(elevation_deg=45.0, azimuth_deg=0.0, fov_deg=45.0),
    "head_high": Mounting(elevation_deg=40.0, azimuth_deg=180.0, fov_deg=48.0, k1=-0.05),
    "corner": Mounting(elevation_deg=42.0, azimuth_deg=-38.0, fov_deg=60.0, k1=-0.1),
    "broadcast": Mounting(elevation_deg=24.0, azimuth_deg=180.0, fov_deg=32.0),
}
"""Mountings by name."""


def camera_for(mounting: Mounting, table: TableSpec, size_px: tuple[int, int]) -> Camera:
    """The camera as near as it can be with the whole table, rails and all, in the picture.

    Raises :class:`InputError` when that cannot be (a distortion that folds the picture, an angle below the cloth).
    """
    if not 8.0 <= mounting.elevation_deg <= 90.0:
        raise InputError(f"a camera's elevation must be 8 to 90 degrees, not {mounting.elevation_deg:g}")
    width, height = size_px
    focal = width / 2 / math.tan(math.radians(mounting.fov_deg) / 2)
    matrix = np.array([[focal, 0.0, (width - 1) / 2], [0.0, focal, (height - 1) / 2], [0.0, 0.0, 1.0]])
    distortion = np.array([mounting.k1, mounting.k2, mounting.p1, mounting.p2, 0.0])
    target = np.array([mounting.aim[0] * table.length_mm, mounting.aim[1] * table.width_mm, 0.0])
    near, far = 300.0, 60_000.0
    if not _fits(_placed(mounting, target, far, matrix, distortion, size_px), table, mounting.fill):
        raise InputError("no distance brings the whole table into this camera's picture: widen fov_deg or lessen k1")
    for _ in range(40):
        middle = math.sqrt(near * far)
        if _fits(_placed(mounting, target, middle, matrix, distortion, size_px), table, mounting.fill):
            far = middle
        else:
            near = middle
    return _placed(mounting, target, far, matrix, distortion, size_px)


def _placed(
    mounting: Mounting, target: F64, distance_mm: float, matrix: F64, distortion: F64, size_px: tuple[int, int]
) -> Camera:
    e, a = math.radians(mounting.elevation_deg), math.radians(mounting.azimuth_deg)
    back = np.array([math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e)])
    position = target + back * distance_mm
    forward = -back
    # Up in the picture is away from where the camera stands; that also settles a camera straight overhead.
    away = np.array([-math.cos(a), -math.sin(a), 0.0])
    up = away - np.dot(away, forward) * forward
    if np.linalg.norm(up) < 1e-9:
        up = np.array([0.0, 0.0, 1.0]) - forward[2] * forward
    up /= np.linalg.norm(up)
    right = np.cross(forward, up)
    r = math.radians(mounting.roll_deg)
    right, up = math.cos(r) * right + math.sin(r) * up, -math.sin(r) * right + math.cos(r) * up
    rotation = np.array([right, -up, forward])
    rvec, _ = cv2.Rodrigues(rotation)
    return Camera(
        matrix=matrix, distortion=distortion, rvec=np.asarray(rvec, np.float64).reshape(3),
        tvec=np.asarray(-rotation @ position, np.float64), size_px=size_px,
    )  # fmt: skip


def _fits(camera: Camera, table: TableSpec, fill: float) -> bool:
    m = table.rail_width_mm
    border = np.array(
        [(x, y, z) for z in (0.0, table.nose_height_mm + 10) for x in np.linspace(-m, table.length_mm + m, 9)
         for y in (-m, table.width_mm + m)]
        + [(x, y, z) for z in (0.0, table.nose_height_mm + 10) for y in np.linspace(-m, table.width_mm + m, 9)
           for x in (-m, table.length_mm + m)]
    )  # fmt: skip
    rotation, _ = cv2.Rodrigues(camera.rvec)
    seen = border @ rotation.T + camera.tvec
    if seen[:, 2].min() < 100.0:
        return False
    rays = seen[:, :2] / seen[:, 2:]
    r2 = (rays**2).sum(axis=1)
    k1, k2 = camera.distortion[0], camera.distortion[1]
    # Where the distortion's radius no longer grows, the picture folds over itself.
    if np.any(1 + 3 * k1 * r2 + 5 * k2 * r2**2 <= 0.05):
        return False
    px = camera.project(border)
    width, height = camera.size_px
    half = np.array([width, height]) / 2
    return bool(np.all(np.abs(px - half) <= half * fill))


def random_mounting(rng: np.random.Generator, *, overhead: bool | None = None) -> Mounting:
    """From straight overhead to low and oblique; ``overhead`` True or False settles which."""
    if overhead is None:
        overhead = bool(rng.random() < 0.55)
    side = float(rng.choice([-90.0, 90.0]))
    fov = float(rng.uniform(40, 85))
    k1 = float(rng.uniform(-0.14, 0.02)) if rng.random() < 0.6 else 0.0
    if overhead:
        return Mounting(
            elevation_deg=float(rng.uniform(78, 90)), azimuth_deg=side + float(rng.normal(0, 6)), fov_deg=fov,
            roll_deg=float(rng.normal(0, 1.5)), k1=k1, fill=float(rng.uniform(0.82, 0.98)),
        )  # fmt: skip
    end = float(rng.choice([0.0, 180.0]))
    azimuth = (side if rng.random() < 0.6 else end) + float(rng.normal(0, 14))
    return Mounting(
        elevation_deg=float(rng.uniform(24, 70)), azimuth_deg=azimuth, fov_deg=float(rng.uniform(35, 70)),
        roll_deg=float(rng.normal(0, 1.0)), k1=k1, fill=float(rng.uniform(0.85, 0.98)),
    )  # fmt: skip
