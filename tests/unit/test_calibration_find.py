"""The table is found without clicks, in any colour and from any usual angle; what cannot be trusted is refused."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from drawn_table import camera_over, draw_table
from video_files import picture

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.find import calibrate_frames, calibrate_image
from vision_referee.calibration.pose import table_corners
from vision_referee.calibration.tables import load_table
from vision_referee.domain.errors import CalibrationError, InputError
from vision_referee.domain.table import TableSpec

PYRAMID = load_table("pyramid-12ft")
POOL = load_table("pool-9ft")


def corner_error_px(found: Calibration, camera: Camera, table: TableSpec) -> float:
    """Largest corner error; which end is the head is not asked."""
    true = camera.project(table_corners(table, 0.0, table.nose_height_mm))
    return min(float(np.linalg.norm(c.corners_px - true, axis=1).max()) for c in (found, found.turned()))


def ball_error_mm(found: Calibration, camera: Camera, table: TableSpec) -> float:
    """Median error of balls' places over the table, whichever end is the head."""
    x, y = np.meshgrid(np.linspace(0.1, 0.9, 7) * table.length_mm, np.linspace(0.15, 0.85, 4) * table.width_mm)
    places = np.column_stack([x.ravel(), y.ravel()])
    px = camera.project_plane(places, table.ball_radius_mm)
    return min(float(np.median(np.linalg.norm(c.balls_mm(px) - places, axis=1))) for c in (found, found.turned()))


@pytest.mark.parametrize(
    ("cloth", "rail"),
    [((60, 130, 40), (30, 45, 80)), ((170, 110, 40), (25, 25, 28)), ((45, 40, 150), (60, 80, 110)),
     ((150, 140, 60), (190, 190, 195)), ((125, 122, 118), (30, 45, 80)), ((60, 90, 120), (20, 20, 25))],
    ids=["green", "blue", "red", "teal-metal-rails", "grey", "brown"],
)  # fmt: skip
def test_any_cloth_colour_from_overhead(cloth: tuple[int, int, int], rail: tuple[int, int, int]) -> None:
    camera = camera_over(PYRAMID, elevation_deg=86)
    found = calibrate_image(draw_table(camera, PYRAMID, cloth=cloth, rail=rail), table=PYRAMID)
    assert corner_error_px(found, camera, PYRAMID) < 2.0
    assert ball_error_mm(found, camera, PYRAMID) < 6.0
    assert found.residual_px < 1.0
    assert found.camera.position_mm[2] > 1000


@pytest.mark.parametrize(
    ("elevation", "azimuth"), [(65, -90), (40, -80), (45, 0), (32, 180), (38, -40)],
    ids=["steep side", "side", "foot end", "low head end", "corner"],
)  # fmt: skip
def test_oblique_views(elevation: float, azimuth: float) -> None:
    camera = camera_over(POOL, elevation_deg=elevation, azimuth_deg=azimuth, focal=1.2)
    found = calibrate_image(draw_table(camera, POOL), table=POOL)
    assert corner_error_px(found, camera, POOL) < 4.0
    assert abs(found.elevation_deg - elevation) < 2.0


def ball_rms_mm(found: Calibration, camera: Camera, table: TableSpec) -> float:
    """Root mean square error of balls' places over the table, whichever end is the head."""
    x, y = np.meshgrid(np.linspace(0.05, 0.95, 7) * table.length_mm, np.linspace(0.05, 0.95, 5) * table.width_mm)
    places = np.column_stack([x.ravel(), y.ravel()])
    px = camera.project_plane(places, table.ball_radius_mm)
    return min(float(np.sqrt(((c.balls_mm(px) - places) ** 2).sum(axis=1).mean())) for c in (found, found.turned()))


@pytest.mark.parametrize(
    ("elevation", "azimuth", "cushion_mm"), [(22, -80, 38.0), (26, 180, 45.0), (30, -40, 60.0)],
    ids=["from the side", "from the head end", "from a corner"],
)  # fmt: skip
def test_low_views_put_balls_right_and_say_how_surely(elevation: float, azimuth: float, cushion_mm: float) -> None:
    camera = camera_over(PYRAMID, elevation_deg=elevation, azimuth_deg=azimuth, focal=1.2)
    found = calibrate_image(draw_table(camera, PYRAMID, cushion_top_mm=cushion_mm), table=PYRAMID)
    rms = ball_rms_mm(found, camera, PYRAMID)
    assert rms < 7.0
    assert found.cushion_top_mm == pytest.approx(cushion_mm, abs=6.0)
    assert 0.5 < found.expected_error_mm < 12.0
    assert rms < 3.0 * found.expected_error_mm


def test_what_cannot_be_read_well_is_said_to_be_unsure() -> None:
    camera = camera_over(PYRAMID, elevation_deg=40, azimuth_deg=-80, focal=1.2)
    clear = draw_table(camera, PYRAMID)
    fog = cv2.GaussianBlur(clear, (0, 0), 6.0)
    sharp = calibrate_image(clear, table=PYRAMID)
    try:
        blurred = calibrate_image(fog, table=PYRAMID)
    except CalibrationError:
        return
    assert blurred.expected_error_mm > 1.5 * sharp.expected_error_mm
    assert ball_rms_mm(blurred, camera, PYRAMID) < 3.0 * blurred.expected_error_mm


def test_lens_distortion_is_found_with_the_pose() -> None:
    camera = camera_over(PYRAMID, elevation_deg=85, focal=0.8, k1=-0.08)
    found = calibrate_image(draw_table(camera, PYRAMID), table=PYRAMID)
    assert found.camera.distortion[0] < -0.03
    assert corner_error_px(found, camera, PYRAMID) < 3.0


def test_a_person_over_one_cushion_does_not_matter() -> None:
    camera = camera_over(PYRAMID, elevation_deg=80)
    found = calibrate_image(draw_table(camera, PYRAMID, person=True), table=PYRAMID)
    assert corner_error_px(found, camera, PYRAMID) < 2.5


def test_one_end_out_of_the_picture_is_made_good_and_said() -> None:
    camera = camera_over(POOL, elevation_deg=86)
    whole = draw_table(camera, POOL)
    cut = 1040
    found = calibrate_image(np.ascontiguousarray(whole[:, :cut]), table=POOL)
    true = camera.project(table_corners(POOL, 0.0, POOL.nose_height_mm))
    error = min(np.linalg.norm(c.corners_px - true, axis=1).max() for c in (found, found.turned()))
    assert (true[:, 0] > cut).any()
    assert error < 12.0
    assert any("out of the picture" in hint for hint in found.hints)


def test_many_frames_take_the_people_away() -> None:
    camera = camera_over(PYRAMID, elevation_deg=75)
    frames = [draw_table(camera, PYRAMID, person=k < 2, seed=k) for k in range(5)]
    assert corner_error_px(calibrate_frames(frames, table=PYRAMID), camera, PYRAMID) < 2.5


def test_marked_corners_in_any_order_are_the_fallback() -> None:
    camera = camera_over(PYRAMID, elevation_deg=50, focal=1.2)
    true = camera.project(table_corners(PYRAMID, 0.0, PYRAMID.nose_height_mm))
    marked = true[[2, 0, 3, 1]] + [[1, -1], [0, 1], [-1, 0], [1, 1]]
    blank = np.full((720, 1280, 3), 90, np.uint8)
    found = calibrate_image(blank, table=PYRAMID, corners_px=marked)
    assert corner_error_px(found, camera, PYRAMID) < 4.0
    assert "marked" in found.method
    sharpened = calibrate_image(draw_table(camera, PYRAMID), table=PYRAMID, corners_px=marked)
    assert corner_error_px(sharpened, camera, PYRAMID) < 1.5


def test_head_side_is_given_or_by_default_left_or_top() -> None:
    camera = camera_over(PYRAMID, elevation_deg=86)
    picture = draw_table(camera, PYRAMID)
    usual = calibrate_image(picture, table=PYRAMID)
    assert (usual.head_side, usual.head_known) == ("left", False)
    given = calibrate_image(picture, table=PYRAMID, head="right")
    assert (given.head_side, given.head_known) == ("right", True)
    assert given.corners_px[0, 0] > given.corners_px[3, 0]
    with pytest.raises(InputError, match="left and right"):
        calibrate_image(picture, table=PYRAMID, head="top")


def test_no_table_in_view_is_refused_with_a_reason() -> None:
    rng = np.random.default_rng(3)
    rubbish = cv2.GaussianBlur(rng.integers(0, 255, (480, 640, 3)).astype(np.uint8), (0, 0), 3)
    with pytest.raises(CalibrationError, match=r"table|cushions"):
        calibrate_image(rubbish)
    square = np.full((480, 640, 3), 60, np.uint8)
    cv2.circle(square, (320, 240), 180, (60, 140, 40), -1)
    with pytest.raises(CalibrationError):
        calibrate_image(square)
    with pytest.raises(CalibrationError, match="small"):
        calibrate_image(np.zeros((60, 80, 3), np.uint8))


@pytest.mark.parametrize("index", [24, 36, 60])
def test_coloured_bars_are_no_table(index: int) -> None:
    with pytest.raises(CalibrationError):
        calibrate_image(picture(index, (640, 384)), table=PYRAMID)


def test_corners_that_are_no_table_are_refused() -> None:
    blank = np.full((720, 1280, 3), 90, np.uint8)
    with pytest.raises(CalibrationError, match="twice as long"):
        calibrate_image(blank, corners_px=[(100, 100), (300, 690), (1200, 100), (700, 150)])
    with pytest.raises(CalibrationError, match="four corners"):
        calibrate_image(blank, corners_px=[(100, 100), (1200, 110), (1190, 180)])
