"""Frames of a scene: the one place that puts table, shadows, balls, people and sensor together."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.ballprint import ball_paint
from vision_referee.simulation.look import Look
from vision_referee.simulation.render_background import Background, Rays, camera_rays, draw_background, lamp_light
from vision_referee.simulation.render_balls import draw_ball, lamp_rows, shade_under_ball
from vision_referee.simulation.render_occluders import capsule_shadows, draw_capsule, pieces
from vision_referee.simulation.render_sensor import broadcast_overlay, develop
from vision_referee.simulation.scene import BallPose, Capsule, SceneFrame

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedFrame:
    """``pixels`` (h, w, 3) uint8 BGR; ``visible`` (n,) for each ball of the scene the part of its whole outline that
    can be seen: 0 hidden or out of the picture, 1 whole."""

    pixels: U8
    visible: npt.NDArray[np.float64]


class Renderer:
    """Draws frames of one table, seen by one camera, in one look. The empty table is drawn once and kept."""

    def __init__(self, camera: Camera, table: TableSpec, look: Look) -> None:
        self.camera = camera
        self.table = table
        self.look = look
        self._rays: Rays = camera_rays(camera)
        self._background: Background = draw_background(camera, table, look, self._rays)
        self._lamps = lamp_rows(look, table)
        self._light = lamp_light(look, table)
        width, height = camera.size_px
        self._overlay = broadcast_overlay(look, width, height) if look.overlay else None

    def frame(self, scene: SceneFrame, rng: np.random.Generator, *, exposure_s: float) -> U8:
        """(h, w, 3) uint8 BGR. ``rng`` drives only the noise."""
        return self.frame_with_truth(scene, rng, exposure_s=exposure_s).pixels

    def frame_with_truth(self, scene: SceneFrame, rng: np.random.Generator, *, exposure_s: float) -> RenderedFrame:
        """A frame and how much of each ball can be seen in it."""
        background, look = self._background, self.look
        light = self._shaded(scene, exposure_s)
        if look.projector:
            self._project_rings(light, scene)
        owner = np.full(light.shape[:2], -1, np.int16)
        radius = self.table.ball_radius_mm
        areas = np.zeros((len(scene.balls), 2))
        for _, kind, item in self._by_depth(scene):
            if kind == "ball":
                ball = scene.balls[item]
                areas[item] = draw_ball(
                    light, owner, background, self.camera, self._rays, index=item, ball=ball,
                    paint=ball_paint(ball.number, look.balls), radius_mm=radius, exposure_s=exposure_s,
                    lamps=self._lamps, look=look, lit=self._lit(ball, light),
                )  # fmt: skip
            else:
                piece, first, second = self._pieces[item]
                draw_capsule(
                    light, owner, background, self.camera, piece, (first, second), look, self._capsule_shade(piece)
                )
        owned = np.bincount(owner[owner >= 0].ravel(), minlength=len(scene.balls))[: len(scene.balls)]
        visible = (
            np.clip(np.minimum(owned, areas[:, 1]) / np.maximum(areas[:, 0], 1e-6), 0, 1) if len(areas) else np.zeros(0)
        )
        return RenderedFrame(pixels=develop(light, look, rng, self._overlay), visible=np.asarray(visible, np.float64))

    def _shaded(self, scene: SceneFrame, exposure_s: float) -> F32:
        dark = np.ones(self._background.kind.shape, np.float32)
        for ball in scene.balls:
            shade_under_ball(
                dark, self._background, self.camera, ball, radius_mm=self.table.ball_radius_mm,
                exposure_s=exposure_s, lamps=self._lamps, look=self.look,
            )  # fmt: skip
        cast = capsule_shadows(self._background, scene.occluders, self._lamps, self.look)
        self._cast = cast
        if cast is not None:
            dark *= np.where(self._background.kind < 9, cast, 1.0).astype(np.float32)
        return np.asarray(self._background.light * dark[..., None], np.float32)

    def _by_depth(self, scene: SceneFrame) -> list[tuple[float, str, int]]:
        lens = self.camera.position_mm
        self._pieces = [piece for capsule in scene.occluders for piece in pieces(capsule)]
        order = [(-float(np.linalg.norm(ball.centre_mm - lens)), "ball", i) for i, ball in enumerate(scene.balls)]
        for i, (piece, _, _) in enumerate(self._pieces):
            middle = (np.asarray(piece.a_mm) + np.asarray(piece.b_mm)) / 2
            order.append((-float(np.linalg.norm(middle - lens)), "capsule", i))
        return sorted(order)

    def _lit(self, ball: BallPose, light: F32) -> float:
        """Light at a ball: the lamps' at its place, less the shadow of what is above it."""
        value = self._light_at(ball.centre_mm)
        if self._cast is not None:
            x, y = self.camera.project(np.asarray(ball.centre_mm).reshape(1, 3))[0]
            height, width = light.shape[:2]
            if 0 <= x < width and 0 <= y < height:
                value *= 0.35 + 0.65 * float(self._cast[int(y), int(x)])
        if ball.centre_mm[2] < 0:
            value *= max(0.25, 1 + float(ball.centre_mm[2]) / 120)
        return value

    def _light_at(self, point_mm: npt.NDArray[np.float64]) -> float:
        rows, columns = self._light.shape[:2]
        i = int(np.clip((float(point_mm[1]) + 400) / 50, 0, rows - 1))
        j = int(np.clip((float(point_mm[0]) + 400) / 50, 0, columns - 1))
        return float(self._light[i, j].mean() / np.mean(self.look.light_bgr))

    def _capsule_shade(self, piece: Capsule) -> float:
        middle = (np.asarray(piece.a_mm) + np.asarray(piece.b_mm)) / 2
        inside = -300 < middle[0] < self.table.length_mm + 300 and -300 < middle[1] < self.table.width_mm + 300
        return self._light_at(middle) if inside else max(self.look.hall, 0.15 * self._light_at(middle))

    def _project_rings(self, light: F32, scene: SceneFrame) -> None:
        for ball in scene.balls:
            angles = np.linspace(0, 2 * np.pi, 33)
            ring = np.column_stack([np.cos(angles), np.sin(angles)]) * self.table.ball_radius_mm * 1.7
            px = self.camera.project_plane(ring + np.asarray(ball.centre_mm)[:2], 0.0)
            if np.all(np.abs(px) < 1e4):
                cv2.polylines(light, [np.round(px * 8).astype(np.int32)], True, (1.0, 1.0, 0.7), 1, cv2.LINE_8, 3)


def render_frame(
    scene: SceneFrame, camera: Camera, table: TableSpec, look: Look, rng: np.random.Generator, *, exposure_s: float
) -> U8:
    """One frame, (h, w, 3) uint8 BGR. For many frames of one camera keep a :class:`Renderer`."""
    return Renderer(camera, table, look).frame(scene, rng, exposure_s=exposure_s)
