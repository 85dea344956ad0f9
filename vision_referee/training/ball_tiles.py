"""Single balls drawn cheaply: each on a tile of its own, many tiles to a sheet that goes through the sensor at once.

A number reader sees a ball and a rim of cloth. Drawing whole tables for that costs four times as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.ballprint import ball_paint, linear
from vision_referee.simulation.look import Look
from vision_referee.simulation.render_background import LIGHT_MARGIN_MM, Background, camera_rays, lamp_light
from vision_referee.simulation.render_balls import camera_rotation, draw_ball, lamp_rows
from vision_referee.simulation.render_sensor import develop
from vision_referee.simulation.scene import BallPose

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

SIDE_BALLS = 1.45
"""A tile's side in ball diameters."""
TABLE_BALLS_AT_1280 = 22.0
"""Width in px of a ball where a 12 ft table fills a picture 1280 px wide: there a look's defocus is as it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TileView:
    """One ball as a camera sees it. ``beside``: balls near it, whose edges come into the tile. ``covered``: something
    lies over its edge. ``dark``: the part of the lamps' light that reaches it."""

    ball: BallPose
    beside: tuple[BallPose, ...] = ()
    covered: bool = False
    dark: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """``pixels`` (h, w, 3) BGR; ``centres_px`` (n, 2) the balls' projected centres in it; ``radius_px`` (n,);
    ``faces`` (n, 6, 3): for each printed face, where its middle lies, in ball radii right and down of the centre, and
    the cosine of the angle at which it is seen (0 where there is no such face or it points away)."""

    pixels: U8
    centres_px: F64
    radius_px: F64
    faces: F64


class TileRenderer:
    """Draws balls of one set under one camera and look."""

    def __init__(self, camera: Camera, table: TableSpec, look: Look) -> None:
        self.camera = camera
        self.table = table
        self.look = look
        self._lamps = lamp_rows(look, table)
        self._light = lamp_light(look, table).mean(axis=2) / float(np.mean(look.light_bgr))

    def sheet(
        self, views: Sequence[TileView], rng: np.random.Generator, *, exposure_s: float, columns: int = 8
    ) -> Sheet:
        """All views side by side, developed as one picture."""
        places = np.array([view.ball.centre_mm for view in views], np.float64)
        centres = self.camera.project(places)
        radius = self.camera.ball_radius_px(places[:, :2], self.table.ball_radius_mm)
        side = 4 * math.ceil(float(radius.max()) * SIDE_BALLS / 2) + 4
        rows = math.ceil(len(views) / columns)
        light = np.empty((rows * side, columns * side, 3), np.float32)
        light[:] = linear(self.look.cloth_bgr)
        corners = np.round(centres - side / 2).astype(np.int64)
        origins = np.array([[(i % columns) * side, (i // columns) * side] for i in range(len(views))])
        for view, corner, (x, y) in zip(views, corners, origins, strict=True):
            tile = np.ascontiguousarray(light[y : y + side, x : x + side])
            light[y : y + side, x : x + side] = self._tile(tile, view, corner, rng, exposure_s)
        # The look's blur is that of a picture with the whole table in it; so is this sheet's.
        shown = max(light.shape[1] / 1280, 0.4)
        whole = float(np.median(2 * radius)) / TABLE_BALLS_AT_1280
        look = replace(self.look, defocus_px=self.look.defocus_px * whole / shown, vignette=0.0)
        return Sheet(
            pixels=develop(light, look, rng, None), centres_px=centres - corners + origins, radius_px=radius,
            faces=np.array([self._faces(view.ball) for view in views]),
        )  # fmt: skip

    def _tile(
        self, light: F32, view: TileView, corner: npt.NDArray[np.int64], rng: np.random.Generator, exposure_s: float
    ) -> F32:
        side = light.shape[0]
        matrix = self.camera.matrix.copy()
        matrix[:2, 2] -= corner
        camera = replace(self.camera, matrix=matrix, size_px=(side, side))
        rays = camera_rays(camera)
        lit = self._light_at(view.ball.centre_mm) * view.dark
        light *= lit * np.asarray(self.look.light_bgr, np.float32) * rng.uniform(0.8, 1.1)
        light *= np.float32(1) + self.look.cloth_grain * rng.standard_normal((side, side, 1)).astype(np.float32)
        balls = [view.ball, *view.beside]
        places = np.array([ball.centre_mm for ball in balls], np.float64)
        dark = np.ones((side, side), np.float32)
        reach = self.camera.ball_radius_px(places[:1, :2], self.table.ball_radius_mm)[0]
        for at in camera.project(places):
            shift = rng.normal(0, 0.25, 2) * reach
            cv2.circle(
                dark, (int(at[0] + shift[0]), int(at[1] + shift[1])), int(1.2 * reach), 1 - 0.7 * self.look.shadow, -1
            )
        light *= cv2.GaussianBlur(dark, (0, 0), 0.3 * reach + 0.3)[..., None]
        background = Background(
            light=light, depth_mm=np.full((side, side), 1e9, np.float32), kind=np.zeros((side, side), np.uint8),
            cloth_mm=np.zeros((side, side, 2), np.float32),
        )  # fmt: skip
        owner = np.full((side, side), -1, np.int16)
        lens = self.camera.position_mm
        for ball in sorted(balls, key=lambda b: -float(np.linalg.norm(b.centre_mm - lens))):
            draw_ball(
                light, owner, background, camera, rays, index=0, ball=ball,
                paint=ball_paint(ball.number, self.look.balls), radius_mm=self.table.ball_radius_mm,
                exposure_s=exposure_s, lamps=self._lamps, look=self.look, lit=lit,
            )  # fmt: skip
        if view.covered:
            _cover(light, float(reach), lit, rng)
        return light

    def _light_at(self, point_mm: F64) -> float:
        rows, columns = self._light.shape
        i = int(np.clip((float(point_mm[1]) + LIGHT_MARGIN_MM) / 50, 0, rows - 1))
        j = int(np.clip((float(point_mm[0]) + LIGHT_MARGIN_MM) / 50, 0, columns - 1))
        return float(self._light[i, j])

    def _faces(self, ball: BallPose) -> F64:
        out = np.zeros((6, 3))
        printed = ball_paint(ball.number, self.look.balls).faces if ball.number else 0
        axes = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float64)[:printed]
        if printed:
            away = ball.centre_mm - self.camera.position_mm
            forward = away / np.linalg.norm(away)
            turn = camera_rotation(self.camera)
            # Right and down as the ball is seen, square to the line of sight.
            right = turn[0] - (turn[0] @ forward) * forward
            right /= np.linalg.norm(right)
            normals = axes @ ball.rotation.T
            out[:printed] = np.column_stack([normals @ right, normals @ np.cross(forward, right), -normals @ forward])
            out[out[:, 2] <= 0] = 0.0
        return out


def _cover(light: F32, radius: float, lit: float, rng: np.random.Generator) -> None:
    """A cue, a finger, a sleeve over a part of the ball."""
    side = light.shape[0]
    angle = float(rng.uniform(0, 2 * math.pi))
    width = float(rng.uniform(0.25, 0.9)) * radius
    away = float(rng.uniform(0.45, 1.0)) * radius + width / 2
    middle = side / 2 + away * np.array([math.cos(angle), math.sin(angle)])
    along = 2 * side * np.array([-math.sin(angle), math.cos(angle)])
    ends = [tuple(int(v) for v in middle + s * along) for s in (-1, 1)]
    colour = linear(tuple(rng.uniform((0.1, 0.2, 0.3), (0.7, 0.75, 0.85)))) * lit
    cv2.line(light, ends[0], ends[1], tuple(float(v) for v in colour), max(1, int(width)), cv2.LINE_8)
