"""The network's maps become boxes in the picture, one a ball."""

from __future__ import annotations

import numpy as np

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.tables import load_table
from vision_referee.detection.network import BINS, boxes_from_maps, suppress
from vision_referee.detection.region import Region, table_region, whole_picture
from vision_referee.domain.table import TableSpec
from vision_referee.video.frames import Frame

TABLE = load_table("pyramid-12ft")


def _overhead(width: int, height: int) -> Camera:
    focal = 0.8 * width
    rotation = np.diag([1.0, -1.0, -1.0])
    lens = np.array([1775.0, 887.5, focal * 4300 / width])
    matrix = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
    return Camera(
        matrix=matrix,
        distortion=np.zeros(5),
        rvec=np.array([np.pi, 0, 0]),
        tvec=-rotation @ lens,
        size_px=(width, height),
    )


def _maps(row: int, column: int, sides: tuple[int, int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    scores = np.zeros((10, 12), np.float32)
    scores[row, column] = 0.9
    edges = np.full((4, BINS, 10, 12), -20.0, np.float32)
    for k, side in enumerate(sides):
        edges[k, side, row, column] = 20.0
    return scores, edges.reshape(4 * BINS, 10, 12)


def test_a_cell_with_its_four_distances_is_a_box_round_it() -> None:
    boxes, scores = boxes_from_maps(*_maps(3, 5, (1, 2, 3, 1)), 0.5)
    assert np.allclose(boxes, [[(5.5 - 1) * 8, (3.5 - 2) * 8, (5.5 + 3) * 8, (3.5 + 1) * 8]])
    assert np.allclose(scores, [0.9])


def test_nothing_above_the_threshold_is_nothing() -> None:
    boxes, scores = boxes_from_maps(*_maps(3, 5, (1, 1, 1, 1)), 0.95)
    assert boxes.shape == (0, 4) and scores.shape == (0,)


def test_two_boxes_on_one_ball_leave_the_better_one() -> None:
    boxes = np.array([[10, 10, 30, 30], [11, 10, 31, 30], [31, 10, 51, 30]], float)
    assert sorted(suppress(boxes, np.array([0.8, 0.9, 0.7])).tolist()) == [1, 2]


def test_balls_that_overlap_in_an_oblique_view_both_stay() -> None:
    boxes = np.array([[10, 10, 30, 30], [12, 20, 32, 40]], float)
    assert len(suppress(boxes, np.array([0.8, 0.9]))) == 2


def test_boxes_go_back_to_the_pictures_own_pixels() -> None:
    region = Region(x0=100, y0=50, x1=740, y1=450, scale=0.5)
    picture = np.zeros((720, 1280, 3), np.uint8)
    picture[200:240, 300:340] = 255
    cut = region.cut(Frame.still(picture))
    assert cut.shape == (224, 320, 3)
    rows, columns = np.nonzero(cut[..., 0] > 128)
    box = np.array([[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]], float)
    assert np.allclose(region.to_picture(box), [[299.5, 199.5, 339.5, 239.5]])


def test_the_region_holds_the_whole_table_and_no_more_than_asked() -> None:
    camera = _overhead(1920, 1080)
    region = table_region(camera, TABLE, pixels=640 * 352, least_ball_px=9.0, most_pixels=960 * 544)
    corners = camera.project_plane([[0, 0], [3550, 1775]], 0.0)
    assert (corners[:, 0] > region.x0).all() and (corners[:, 0] < region.x1).all()
    width, height = region.input_px
    assert width % 32 == 0 and height % 32 == 0
    assert width * height <= 1.2 * 640 * 352


def test_a_far_table_is_scaled_up_until_its_balls_are_large_enough() -> None:
    camera = _overhead(1920, 1080)
    table = TableSpec(
        name="s",
        family="snooker",
        length_mm=3550,
        width_mm=1775,
        ball_diameter_mm=40,
        ball_mass_kg=0.14,
        corner_mouth_mm=86,
        middle_mouth_mm=90,
        nose_height_mm=35,
    )
    small = table_region(camera, table, pixels=320 * 180, least_ball_px=0.0, most_pixels=960 * 544)
    large = table_region(camera, table, pixels=320 * 180, least_ball_px=8.0, most_pixels=960 * 544)
    ball = 2 * float(camera.ball_radius_px([[0, 0]], 20.0)[0])
    assert ball * small.scale < 8.0 <= ball * large.scale * 1.01


def test_a_picture_without_calibration_goes_in_whole() -> None:
    region = whole_picture(1280, 720, pixels=640 * 360)
    assert (region.x0, region.y0, region.x1, region.y1) == (0, 0, 1280, 720)
    assert abs(region.scale - 0.5) < 0.01
