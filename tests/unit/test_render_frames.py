"""Rendered frames show what the scene says, where the camera puts it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

pytest.importorskip("numba", reason="the renderer needs numba (extra 'train')")

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.tables import load_table
from vision_referee.domain.errors import InputError
from vision_referee.simulation.ballprint import ball_paint
from vision_referee.simulation.look import BallLook, Look, named_look, random_look
from vision_referee.simulation.render import Renderer, render_frame
from vision_referee.simulation.scene import BallPose, Capsule, SceneFrame

TABLE = load_table("pyramid-12ft")
CLEAN = replace(
    Look(seed=5),
    noise=0.0,
    jpeg_quality=100,
    sharpen=0.0,
    defocus_px=0.0,
    marks=0.0,
    cloth_wear=0.0,
    house_line=False,
    bloom=0.0,
    vignette=0.0,
)


def _camera(tilt_deg: float = 90.0, size: tuple[int, int] = (640, 384)) -> Camera:
    target = np.array([1775.0, 887.5, 0.0])
    angle = np.radians(tilt_deg)
    lens = target + 4200 * np.array([0.0, -np.cos(angle), np.sin(angle)])
    forward = (target - lens) / np.linalg.norm(target - lens)
    right = np.array([1.0, 0.0, 0.0])
    rotation = np.stack([right, np.cross(forward, right), forward])
    focal = 600.0 * size[0] / 640
    matrix = np.array([[focal, 0, (size[0] - 1) / 2], [0, focal, (size[1] - 1) / 2], [0, 0, 1]])
    return Camera(
        matrix=matrix,
        distortion=np.array([-0.1, 0.02, 0, 0, 0]),
        rvec=cv2.Rodrigues(rotation)[0].ravel(),
        tvec=-rotation @ lens,
        size_px=size,
    )


def _ball(x: float, y: float, number: int | None = None, **more: object) -> BallPose:
    return BallPose(label="u1", number=number, centre_mm=np.array([x, y, 34.0]), rotation=np.eye(3), **more)  # type: ignore[arg-type]


def _frame(
    look: Look, camera: Camera, *balls: BallPose, occluders: tuple[Capsule, ...] = (), exposure_s: float = 0.001
) -> np.ndarray:
    scene = SceneFrame(t_s=0.0, balls=balls, occluders=occluders)
    return render_frame(scene, camera, TABLE, look, np.random.default_rng(0), exposure_s=exposure_s).astype(int)


@pytest.mark.parametrize("tilt_deg", [90.0, 45.0, 22.0])
def test_a_ball_is_drawn_where_the_camera_projects_it(tilt_deg: float) -> None:
    camera = _camera(tilt_deg)
    still = replace(CLEAN, shadow=0.0)
    ball = _ball(1400.0, 700.0)
    changed = np.abs(_frame(still, camera, ball) - _frame(still, camera)).sum(axis=2) > 20
    rows, columns = np.nonzero(changed)
    middle = [(columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2]
    assert np.linalg.norm(middle - camera.project(ball.centre_mm[None])[0]) < 0.8
    width = columns.max() - columns.min() + 1
    assert width == pytest.approx(2 * camera.ball_radius_px([[1400.0, 700.0]], 34.0)[0], abs=1.6)


def test_the_playing_surface_is_cloth_and_the_floor_is_not() -> None:
    camera = _camera()
    picture = _frame(replace(CLEAN, cloth_bgr=(0.2, 0.7, 0.1)), camera)
    inside = camera.project_plane([[900, 500], [2600, 1200]], 0.0).round().astype(int)
    for x, y in inside:
        b, g, r = picture[y, x]
        assert g > 1.5 * b and g > 1.5 * r
    assert np.abs(picture[2, 2] - picture[inside[0][1], inside[0][0]]).sum() > 60


def test_a_moving_ball_leaves_a_streak_as_long_as_its_way_in_the_exposure() -> None:
    camera = _camera()
    still = replace(CLEAN, shadow=0.0)
    ball = _ball(1500.0, 800.0, velocity_mm_s=np.array([6000.0, 0.0, 0.0]))
    empty = _frame(still, camera)
    streak = np.abs(_frame(still, camera, ball, exposure_s=1 / 60) - empty).sum(axis=2) > 12
    sharp = np.abs(_frame(still, camera, _ball(1500.0, 800.0)) - empty).sum(axis=2) > 12
    longer = np.ptp(np.nonzero(streak)[1]) - np.ptp(np.nonzero(sharp)[1])
    a, b = camera.project_plane([[1450, 800], [1550, 800]], 34.0)
    assert longer == pytest.approx(b[0] - a[0], abs=3.0)


def test_a_ball_throws_a_shadow_and_an_arm_hides_the_ball() -> None:
    camera = _camera()
    ball = _ball(1500.0, 800.0)
    empty, with_ball = _frame(CLEAN, camera), _frame(CLEAN, camera, ball)
    angles = np.linspace(0, 2 * np.pi, 24)
    ring = np.column_stack([1500 + 48 * np.cos(angles), 800 + 48 * np.sin(angles)])
    columns, rows = camera.project_plane(ring, 0.0).round().astype(int).T
    darker = with_ball[rows, columns].sum(axis=1) / empty[rows, columns].sum(axis=1)
    assert darker.min() < 0.9 and darker.max() < 1.02
    arm = Capsule(
        a_mm=np.array([1300.0, 800, 150]),
        b_mm=np.array([1700.0, 800, 150]),
        radius_a_mm=60,
        radius_b_mm=60,
        colour_bgr=(0.1, 0.1, 0.1),
        kind="arm",
    )
    scene = SceneFrame(t_s=0.0, balls=(ball, _ball(2500.0, 800.0)), occluders=(arm,))
    shown = Renderer(camera, TABLE, CLEAN).frame_with_truth(scene, np.random.default_rng(0), exposure_s=0.001)
    assert shown.visible[0] < 0.2 and shown.visible[1] > 0.95


def test_the_near_cushion_hides_the_foot_of_a_ball_in_a_low_view() -> None:
    camera = _camera(20.0, (1280, 720))
    scene = SceneFrame(t_s=0.0, balls=(_ball(1300.0, 34.0), _ball(1300.0, 900.0)))
    shown = Renderer(camera, TABLE, CLEAN).frame_with_truth(scene, np.random.default_rng(0), exposure_s=0.001)
    assert 0.4 < shown.visible[0] < 0.85 and shown.visible[1] > 0.95


def test_the_printed_number_turns_with_the_ball() -> None:
    camera = _camera(90.0, (1920, 1080))
    look = replace(CLEAN, balls=BallLook(number_deg=30.0, gloss=0.0))
    straight = _ball(1775.0, 887.5, 8)
    quarter = replace(straight, rotation=np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    plain = replace(straight, number=None)
    a, b, none = (_frame(look, camera, ball) for ball in (straight, quarter, plain))
    window = (slice(528, 552), slice(948, 972))  # the ball lies in the very middle of the picture
    assert np.abs(a[window] - none[window]).sum() > 2000
    assert np.abs(a[window] - b[window]).sum() > 1000
    assert np.abs(np.rot90(a[window], 1) - b[window]).mean() < 0.5 * np.abs(a[window] - b[window]).mean()


def test_one_look_draws_the_same_table_each_time_and_another_seed_another() -> None:
    camera = _camera()
    look = random_look(np.random.default_rng(4))
    assert np.array_equal(_frame(look, camera), _frame(look, camera))
    assert not np.array_equal(_frame(look, camera), _frame(random_look(np.random.default_rng(5)), camera))


def test_pool_stripes_have_a_band_and_solids_do_not() -> None:
    look = BallLook(family="pool")
    assert ball_paint(11, look).band_cos > 0 and ball_paint(3, look).band_cos == 0
    assert ball_paint(3, look).faces == 2 and ball_paint(0, look).faces == 0


def test_an_unknown_look_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match="club_green"):
        named_look("moonlight")
