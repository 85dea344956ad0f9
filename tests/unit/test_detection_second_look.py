"""Small balls that touch, and doubtful boxes, are looked at again, closer; large and lonely ones are not."""

from __future__ import annotations

import numpy as np

from vision_referee.detection.second_look import BALL_PX, second_looks
from vision_referee.video.frames import Frame

SIZE = (1280, 720)


def _boxes(*middles: tuple[float, float], width: float = 22.0) -> np.ndarray:
    at = np.array(middles, float)
    return np.hstack([at - width / 2, at + width / 2])


def test_a_rack_of_small_balls_gets_one_tile_that_holds_it_all() -> None:
    rack = [(600 + 19 * row, 300 + 22 * (k - row / 2)) for row in range(5) for k in range(row + 1)]
    looks = second_looks(_boxes(*rack), np.full(15, 0.8), 0.5, SIZE)
    assert len(looks) == 1
    tile, core = looks[0]
    middles = np.array(rack)
    assert (middles >= core[:2]).all() and (middles <= core[2:]).all()
    assert tile.x0 <= core[0] and tile.y0 <= core[1] and tile.x1 >= core[2] and tile.y1 >= core[3]
    assert tile.scale * 22.0 > 0.8 * BALL_PX
    assert max(tile.input_px) <= 448


def test_balls_far_apart_and_sure_need_no_second_look() -> None:
    assert second_looks(_boxes((100, 100), (300, 300), (700, 200)), np.full(3, 0.8), 0.5, SIZE) == []


def test_a_doubtful_small_ball_is_looked_at_again_but_a_large_one_is_not() -> None:
    assert len(second_looks(_boxes((100, 100)), np.array([0.3]), 0.5, SIZE)) == 1
    assert second_looks(_boxes((100, 100), width=44.0), np.array([0.3]), 0.5, SIZE) == []


def test_a_tile_at_the_pictures_edge_stays_inside_it() -> None:
    looks = second_looks(_boxes((8, 8), (30, 8)), np.full(2, 0.8), 0.5, SIZE)
    tile, _ = looks[0]
    assert tile.x0 >= 0 and tile.y0 >= 0
    cut = tile.cut(Frame.still(np.zeros((720, 1280, 3), np.uint8)))
    assert cut.shape[0] % 32 == 0 and cut.shape[1] % 32 == 0


def test_there_are_no_more_tiles_than_allowed_and_the_largest_groups_come_first() -> None:
    pairs = (
        [(100.0 + 150 * i, 100.0) for i in range(6)] + [(122.0 + 150 * i, 100.0) for i in range(6)] + [(111.0, 119.0)]
    )
    looks = second_looks(_boxes(*pairs), np.full(13, 0.8), 0.5, SIZE, most=3)
    assert len(looks) == 3
    assert looks[0][0].x0 < 150


def test_no_boxes_no_tiles() -> None:
    assert second_looks(np.zeros((0, 4)), np.zeros(0), 0.5, SIZE) == []
