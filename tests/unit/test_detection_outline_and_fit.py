"""A ball's centre is found to a fraction of a pixel, whatever its colour, and the fit says when it is not sure."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision_referee.calibration.camera import Camera
from vision_referee.detection.outline import circles, sphere_outline
from vision_referee.detection.refine import fit_outlines
from vision_referee.video.frames import Frame

GREEN = (60, 120, 40)


def _camera(tilt_deg: float = 60.0) -> Camera:
    rvec = np.array([np.pi - np.radians(90 - tilt_deg), 0.0, 0.0])
    rotation, _ = cv2.Rodrigues(rvec)
    lens = np.array([1775.0, -800.0, 2500.0])
    matrix = np.array([[900.0, 0, 640], [0, 900, 360], [0, 0, 1]])
    return Camera(matrix=matrix, distortion=np.zeros(5), rvec=rvec, tvec=-rotation @ lens, size_px=(1280, 720))


def _disc(
    centre: tuple[float, float],
    radius: float,
    colour: tuple[int, int, int],
    cloth: tuple[int, int, int] = GREEN,
    side: int = 80,
) -> np.ndarray:
    """A disc with smooth edges, drawn at eight times the size."""
    scale = 8
    big = np.full((side * scale, side * scale, 3), cloth, np.uint8)
    at = tuple(round(((c + 0.5) * scale - 0.5) * 16) for c in centre)
    cv2.circle(big, at, round(radius * scale * 16), colour, -1, cv2.LINE_AA, 4)
    return np.asarray(cv2.resize(big, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


@pytest.mark.parametrize(
    ("colour", "cloth"),
    [
        ((235, 240, 240), GREEN),
        ((20, 20, 20), GREEN),
        ((30, 30, 190), (180, 110, 30)),
        ((230, 235, 235), (150, 160, 150)),
    ],
)
def test_the_centre_of_a_plain_ball_is_found_to_a_tenth_of_a_pixel(
    colour: tuple[int, int, int], cloth: tuple[int, int, int]
) -> None:
    truth = (38.37, 41.81)
    picture = _disc(truth, 12.0, colour, cloth)
    fit = fit_outlines(Frame.still(picture), np.array([[39.6, 40.9]]), circles(np.array([12.0])))
    assert np.linalg.norm(fit.centre_px[0] - truth) < 0.1
    assert fit.support[0] > 0.6


def test_a_wrong_expected_size_is_noticed_and_does_not_move_the_centre() -> None:
    picture = _disc((40.2, 39.7), 12.0, (235, 240, 240))
    fit = fit_outlines(Frame.still(picture), np.array([[40.0, 40.0]]), circles(np.array([11.2])))
    assert fit.scale[0] == pytest.approx(12.0 / 11.2, abs=0.02)
    assert np.linalg.norm(fit.centre_px[0] - (40.2, 39.7)) < 0.1


def test_a_shadow_beside_the_ball_moves_the_centre_little() -> None:
    picture = _disc((40.0, 40.0), 12.0, (230, 235, 235))
    shadow = _disc((46.0, 44.0), 12.0, (30, 60, 20))
    ball = np.abs(picture.astype(int) - GREEN).sum(axis=2, keepdims=True) > 30
    both = np.where(ball, picture, shadow).astype(np.uint8)
    fit = fit_outlines(Frame.still(both), np.array([[40.8, 40.5]]), circles(np.array([12.0])))
    assert np.linalg.norm(fit.centre_px[0] - (40.0, 40.0)) < 0.4


def test_two_touching_balls_keep_their_own_centres() -> None:
    picture = _disc((30.0, 40.0), 12.0, (230, 235, 235))
    other = _disc((54.0, 40.0), 12.0, (225, 230, 235))
    both = np.where(np.arange(80)[None, :, None] < 42, picture, other).astype(np.uint8)
    fit = fit_outlines(Frame.still(both), np.array([[31.0, 40.4], [53.2, 39.5]]), circles(np.array([12.0, 12.0])))
    assert np.abs(fit.centre_px - [[30.0, 40.0], [54.0, 40.0]]).max() < 0.3


def test_bare_cloth_gives_no_support() -> None:
    rng = np.random.default_rng(0)
    picture = np.clip(np.full((80, 80, 3), GREEN) + rng.normal(0, 1.0, (80, 80, 3)), 0, 255).astype(np.uint8)
    ball = _disc((40.0, 40.0), 12.0, (235, 240, 240))
    sure = fit_outlines(Frame.still(ball), np.array([[40.0, 40.0]]), circles(np.array([12.0])))
    bare = fit_outlines(Frame.still(picture), np.array([[40.0, 40.0]]), circles(np.array([12.0])))
    assert bare.support[0] < 0.6 * sure.support[0]
    assert bare.sigma_px[0] > sure.sigma_px[0]


def test_no_balls_is_no_error() -> None:
    fit = fit_outlines(Frame.still(np.zeros((40, 40, 3), np.uint8)), np.zeros((0, 2)), circles(np.zeros(0)))
    assert fit.centre_px.shape == (0, 2)


def test_a_sphere_seen_obliquely_is_longer_than_wide_and_not_quite_round_its_projected_centre() -> None:
    camera = _camera()
    centre = np.array([[3300.0, 900.0, 34.0]])
    outline = sphere_outline(camera, centre, 34.0, count=360)[0]
    middle = (outline.max(axis=0) + outline.min(axis=0)) / 2
    extent = outline.max(axis=0) - outline.min(axis=0)
    assert extent[0] > extent[1] * 1.03  # far to the right of the axis: stretched sideways
    assert 0.0 < np.linalg.norm(middle - camera.project(centre)[0]) < 1.0


def test_every_outline_point_is_where_a_ray_grazes_the_sphere() -> None:
    camera = _camera()
    centre = np.array([2000.0, 600.0, 34.0])
    outline = sphere_outline(camera, centre[None], 34.0)[0]
    near = camera.unproject(outline, 0.0)
    lens = camera.position_mm
    for x, y in near:
        ray = np.array([x, y, 0.0]) - lens
        ray /= np.linalg.norm(ray)
        miss = np.linalg.norm(np.cross(centre - lens, ray))
        assert miss == pytest.approx(34.0, abs=0.05)
