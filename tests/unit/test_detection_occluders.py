"""A hand over the cloth is seen as something in the way; balls, shadows and the bare cloth are not."""

from __future__ import annotations

import cv2
import numpy as np

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.tables import load_table
from vision_referee.detection.occlusion import OccluderMap
from vision_referee.video.frames import Frame

TABLE = load_table("pyramid-12ft")
SCALE = 0.25
"""Pixels a millimetre of the test's overhead view."""


def _calibration() -> Calibration:
    height = 4000.0
    rotation = np.diag([1.0, -1.0, -1.0])
    lens = np.array([1775.0, 887.5, height])
    matrix = np.array([[SCALE * height, 0, 479.5], [0, SCALE * height, 269.5], [0, 0, 1]])
    camera = Camera(
        matrix=matrix, distortion=np.zeros(5), rvec=np.array([np.pi, 0, 0]), tvec=-rotation @ lens, size_px=(960, 540)
    )
    corners = camera.project_plane([[0, 0], [0, 1775], [3550, 1775], [3550, 0]], 0.0)
    return Calibration(table=TABLE, camera=camera, residual_mm=0.5, residual_px=0.2, corners_px=corners)


def _cloth() -> np.ndarray:
    rng = np.random.default_rng(0)
    light = 1.0 - 0.25 * np.linspace(-1, 1, 960)[None, :, None] ** 2
    return np.clip(np.array([50.0, 130.0, 40.0]) * light + rng.normal(0, 3, (540, 960, 3)), 0, 255).astype(np.uint8)


def _px(calibration: Calibration, x: float, y: float) -> tuple[int, int]:
    u, v = calibration.camera.project_plane([[x, y]], 0.0)[0]
    return round(u), round(v)


def _at(covered: np.ndarray, x: float, y: float) -> float:
    rows, columns = covered.shape
    return float(covered[int(y / 1775 * rows), int(x / 3550 * columns)])


def test_bare_cloth_under_uneven_light_is_free() -> None:
    covered = OccluderMap(_calibration()).update(Frame.still(np.repeat(_cloth(), 1, axis=0)), np.zeros((0, 2)))
    assert covered.mean() < 0.02 and covered.max() < 0.3


def test_an_arm_covers_what_is_under_it_and_nothing_else() -> None:
    calibration = _calibration()
    picture = _cloth()
    a, b = _px(calibration, 1000, 0), _px(calibration, 1200, 800)
    cv2.line(picture, a, b, (120, 150, 210), 25)
    covered = OccluderMap(calibration).update(Frame.still(picture), np.zeros((0, 2)))
    assert _at(covered, 1100, 400) > 0.8
    assert _at(covered, 2500, 400) < 0.1


def test_a_shadow_and_a_known_ball_are_not_in_the_way() -> None:
    calibration = _calibration()
    picture = _cloth()
    ball = np.array([[2000.0, 900.0]])
    shadow = picture.copy()
    cv2.circle(shadow, _px(calibration, 800, 900), 60, (0, 0, 0), -1)
    picture = cv2.addWeighted(picture, 0.55, shadow, 0.45, 0).astype(np.uint8)
    cv2.circle(picture, _px(calibration, 2000, 900), 9, (230, 240, 240), -1)
    known = OccluderMap(calibration).update(Frame.still(picture), ball)
    unknown = OccluderMap(calibration).update(Frame.still(picture), np.zeros((0, 2)))
    assert _at(known, 800, 900) < 0.3
    assert _at(known, 2000, 900) < 0.1 < _at(unknown, 2000, 900)


def test_what_stays_for_long_becomes_part_of_the_table() -> None:
    calibration = _calibration()
    picture = _cloth()
    cv2.rectangle(picture, _px(calibration, 1500, 300), _px(calibration, 1700, 100), (90, 90, 160), -1)
    follower = OccluderMap(calibration)
    first = follower.update(Frame.still(picture), np.zeros((0, 2)))
    for _ in range(1500):
        last = follower.update(Frame.still(picture), np.zeros((0, 2)))
    assert _at(first, 1600, 200) > 0.8 and _at(last, 1600, 200) < 0.3
