"""The cue ball is told by its colour: the odd one of a white set, the white one of a coloured set."""

from __future__ import annotations

import numpy as np

from vision_referee.detection.colour import CueBallColour, mean_lab


def _set(colours: list[tuple[float, float, float]]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    lab = np.array(colours) + rng.normal(0, 1.5, (len(colours), 3))
    return lab, np.ones(len(colours), bool)


def test_the_yellow_ball_among_white_ones_is_the_cue_ball() -> None:
    p = CueBallColour().probability(*_set([(88, 0, 8)] * 9 + [(70, 12, 65)]))
    assert p[9] > 0.8 and p[:9].max() < 0.3


def test_the_white_ball_of_a_pool_set_is_the_cue_ball() -> None:
    colours = [(45, 60, 40), (35, 20, -50), (75, 15, 70), (15, 0, 0), (40, -30, 20), (92, 0, 6), (60, 45, 60)]
    p = CueBallColour().probability(*_set(colours))
    assert int(p.argmax()) == 5 and p[5] > 0.6
    assert np.delete(p, 5).max() < 0.3


def test_sixteen_white_balls_hold_no_sure_cue_ball() -> None:
    p = CueBallColour().probability(*_set([(88, 0, 8)] * 16))
    assert p.max() < 0.5


def test_what_was_learned_holds_when_only_two_balls_are_left() -> None:
    colour = CueBallColour()
    for _ in range(5):
        colour.probability(*_set([(88, 0, 8)] * 9 + [(45, 55, 35)]))
    p = colour.probability(*_set([(88, 0, 8), (45, 55, 35)]))
    assert p[1] > 0.8 and p[0] < 0.3


def test_a_lamps_reflection_does_not_change_the_colour() -> None:
    plain = np.full((1, 100, 3), (40.0, 40.0, 180.0), np.float32)
    shiny = plain.copy()
    shiny[0, :10] = 255.0
    assert np.linalg.norm(mean_lab(plain) - mean_lab(shiny)) < 1.0


def test_on_a_pool_table_two_balls_are_enough() -> None:
    p = CueBallColour("pool").probability(*_set([(92, 0, 6), (50, 60, 45)]))
    assert p[0] > 0.6 and p[1] < 0.2


def test_two_balls_on_an_unknown_table_say_nothing() -> None:
    p = CueBallColour().probability(*_set([(92, 0, 6), (70, 10, 60)]))
    assert p.max() < 0.3
