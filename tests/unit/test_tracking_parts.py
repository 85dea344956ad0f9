"""The parts of tracking, each by itself: legs, stops, repeats, new tracklets, numbers, the ball book."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_world import TABLE

from vision_referee.tracking.breaks import break_between
from vision_referee.tracking.identity import BallBook
from vision_referee.tracking.initiation import Leftover, triples
from vision_referee.tracking.legs import without_outliers
from vision_referee.tracking.linking import _straight_cost
from vision_referee.tracking.paths import build_path
from vision_referee.tracking.pieces import EndState
from vision_referee.tracking.repeats import is_repeat
from vision_referee.tracking.settings import TrackingSettings
from vision_referee.tracking.stillness import is_still
from vision_referee.tracking.tracklets import Sightings, Tracklet


def sightings(t: np.ndarray, xy: np.ndarray, sigma: float = 1.5) -> Sightings:
    n = len(t)
    return Sightings(t, np.arange(n), xy, np.full(n, sigma), np.ones(n))


def bounce(t: np.ndarray, rng: np.random.Generator, sigma: float) -> np.ndarray:
    """At rest until 1.013 s, then 1500 mm/s along x, sent back at 2.0 s with three quarters of its speed."""
    out = np.clip(t - 1.013, 0, None)
    speed = 1500 - 100 * 0.987
    back = np.clip(t - 2.0, 0, None)
    x = np.where(t < 2.0, 200 + 1500 * out - 50 * out**2, 0)
    at = 200 + 1500 * 0.987 - 50 * 0.987**2
    x = np.where(t >= 2.0, at - 0.75 * speed * back + 50 * back**2, x)
    return np.column_stack([x, np.full_like(t, 500)]) + rng.normal(0, sigma, (len(t), 2))


@pytest.mark.parametrize("fps", [25, 30, 60])
def test_rest_roll_and_rebound_are_three_legs_with_their_times_between_frames(fps):
    t = np.arange(0, 5, 1 / fps)
    s = sightings(t, bounce(t, np.random.default_rng(3), 1.5))
    path = build_path(ball=0, label="cue", known=True, alive=True, parts=[s], braking_mm_s2=100.0)
    legs = path.legs
    assert [leg.resting for leg in legs[:3]] == [True, False, False]
    assert break_between(legs, 0).t_s == pytest.approx(1.013, abs=0.006)
    turn = break_between(legs, 1)
    assert turn.t_s == pytest.approx(2.0, abs=0.006)
    assert turn.is_impact
    assert turn.before_mm_s[0] > 0 > turn.after_mm_s[0]


def test_one_wild_sighting_is_left_out():
    t = np.arange(0, 2, 1 / 30)
    xy = np.column_stack([800 * t, np.full_like(t, 300)]) + np.random.default_rng(1).normal(0, 1, (len(t), 2))
    xy[25] += [40, -30]
    kept = without_outliers(sightings(t, xy))
    assert len(kept) == len(t) - 1
    assert 25 not in kept.frame


def test_a_stop_is_fitted_though_the_last_centimetre_cannot_be_seen():
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        t = np.arange(0, 5, 1 / 30)
        stop = 3.0 + rng.uniform(-0.1, 0.1)
        left = np.clip(stop - t, 0, None)
        xy = np.column_stack([1500 - 50 * left**2, np.full_like(t, 700)]) + rng.normal(0, 1.5, (len(t), 2))
        path = build_path(
            ball=0,
            label="cue",
            known=True,
            alive=True,
            parts=[sightings(t, xy)],
            braking_mm_s2=100.0,
            still_at_end=True,
        )
        assert len(path.stops) == 1
        errors.append(abs(next(iter(path.stops.values())).t_s - stop))
    assert np.median(errors) < 0.08
    assert max(errors) < 0.2


def test_a_ball_that_lies_still_never_moves_whatever_the_noise():
    rng = np.random.default_rng(0)
    for sigma in (0.1, 1.0, 3.0, 6.0):
        t = np.arange(0, 10, 1 / 30)
        xy = np.array([900.0, 400.0]) + rng.normal(0, sigma, (len(t), 2))
        path = build_path(
            ball=0, label="u1", known=True, alive=True, parts=[sightings(t, xy, max(sigma, 0.5))], braking_mm_s2=100.0
        )
        assert not path.moved


def test_slow_rolling_is_not_still_and_rest_is():
    settings = TrackingSettings()
    t = np.arange(0, 1.2, 1 / 30)
    noise = np.random.default_rng(2).normal(0, 0.5, (len(t), 2))
    still = np.array([500.0, 500.0]) + noise
    rolling = still + np.column_stack([30 * t, 0 * t])
    assert is_still(t, still, settings)
    assert not is_still(t, rolling, settings)
    assert not is_still(t[:3], still[:3], settings)


def test_a_repeated_picture_is_found_and_a_stopped_ball_among_moving_ones_is_not():
    before = np.array([[100.0, 100.0], [900.0, 300.0], [1500.0, 700.0]])
    rolling, step = before[1:], np.array([30.0, 25.0])
    assert is_repeat(before, before + 0.1, rolling, step, least_step_mm=3.0)
    one_went_on = before + np.array([[0, 0], [0, 0], [25.0, 0]])
    assert not is_repeat(before, one_went_on, rolling, step, least_step_mm=3.0)
    assert not is_repeat(before, before, rolling, np.array([1.0, 1.0]), least_step_mm=3.0)
    # A ball that nobody follows yet has come by: the others' standing still is no sign.
    newcomer = np.vstack([before, [[400.0, 900.0]]])
    assert not is_repeat(before, newcomer, rolling, step, least_step_mm=3.0)


def test_three_sightings_in_line_begin_a_tracklet_and_scattered_ones_do_not():
    def seen(slot: int, x: float, y: float) -> Leftover:
        return Leftover(slot=slot, index=0, t_s=slot / 30, xy_mm=(x, y), sigma_mm=2.0)

    line = [seen(0, 100, 100), seen(1, 350, 180), seen(2, 600, 262)]
    noise = [seen(0, 2000, 900), seen(1, 1500, 300), seen(2, 2600, 1200)]
    found = triples([*line, *noise], newest_slot=2, top_speed_mm_s=13000, slack_mm=4.0)
    assert found == [(0, 1, 2)]


def reading(number: int | None, n: int, rng: np.random.Generator, right: float = 0.85) -> Tracklet:
    tracklet = Tracklet(key=int(rng.integers(1 << 30)))
    for k in range(n):
        p = np.full(17, 0.01)
        p[16] = 0.3
        if number is not None:
            said = number if rng.random() < right else int(rng.integers(1, 16))
            p[said] = 0.6
        tracklet.add(
            t_s=k / 30,
            frame=k,
            xy_mm=np.array([20.0 * k, 0.0]),  # it rolls: every look shows another side
            sigma_mm=1.0,
            confidence=0.9,
            number_p=p / p.sum(),
            colour=np.zeros(3),
        )
    return tracklet


def book_of(numbers: list[int | None], n: int = 30, right: float = 0.85) -> tuple[BallBook, list[int]]:
    rng, book, ids = np.random.default_rng(4), BallBook(), []
    for number in numbers:
        ball = book.new(np.zeros(2), 0.0)
        ball.absorb(reading(number, n, rng, right))
        ids.append(ball.id)
    return book, ids


def test_numbers_are_read_over_the_set_and_given_once():
    book, ids = book_of([4, 7, 11, 15])
    assert book.solve_numbers() == dict(zip(ids, [4, 7, 11, 15], strict=True))
    book.name(None)
    assert sorted(b.label for b in book.balls.values()) == ["11", "15", "4", "7"]
    assert book.newly_identified() == []


def test_two_balls_that_read_alike_stay_unknown():
    book, _ = book_of([9, 9], right=1.0)
    assert len(book.solve_numbers()) <= 1


def test_what_cannot_be_read_stays_unknown_and_is_identified_later_under_its_label():
    book, (first,) = book_of([None])
    book.name(None)
    ball = book.balls[first]
    assert ball.label == "u1"
    ball.absorb(reading(6, 30, np.random.default_rng(1)))
    assert book.newly_identified() == [("u1", 6)]
    assert book.newly_identified() == []
    assert ball.label == "u1"


def test_the_ball_of_another_colour_is_the_cue_ball():
    book = BallBook()
    for k in range(6):
        ball = book.new(np.array([500.0 + 200 * k, 800.0]), 0.0)
        ball.colour_n = 20
        ball.colour_sum = 20 * (np.array([45.0, 45, 25]) if k == 3 else np.array([84.0, 1, 8 + 0.3 * k]))
    cue = book.cue(TABLE)
    assert cue is not None and cue.id == 3
    book.name(cue)
    assert book.balls[3].label == "cue"


def test_without_a_ball_that_differs_no_cue_ball_is_guessed():
    book = BallBook()
    for k in range(6):
        ball = book.new(np.array([500.0 + 200 * k, 800.0]), 0.0)
        ball.colour_n, ball.colour_sum = 20, 20 * np.array([84.0, 1, 8 + 0.3 * k])
    assert book.cue(TABLE) is None


def test_a_ball_in_the_shade_is_no_cue_ball():
    """Lab colours of six blue balls under one lamp; the last lies at the cushion."""
    colours = [(80, -10, -23), (68, -4, -28), (71, -6, -21), (65, -4, -25), (63, -5, -24), (37, -4, -18)]
    book = BallBook()
    for k, colour in enumerate(colours):
        ball = book.new(np.array([500.0 + 200 * k, 800.0]), 0.0)
        ball.colour_n, ball.colour_sum = 20, 20 * np.array(colour, float)
    assert book.cue(TABLE) is None


def test_what_shows_in_a_pocket_names_no_cue_ball_by_its_colour():
    book = BallBook()
    for k in range(4):
        ball = book.new(np.array([15.0, 15.0]) if k == 3 else np.array([500.0 + 200 * k, 800.0]), 0.0)
        ball.colour_n = 20
        ball.colour_sum = 20 * (np.array([45.0, 0, 0]) if k == 3 else np.array([84.0, 1, 8 + 0.3 * k]))
    assert book.cue(TABLE) is None


def test_evidence_of_a_growing_tracklet_is_counted_once():
    book, (first,) = book_of([None])
    ball, tracklet = book.balls[first], reading(6, 10, np.random.default_rng(1))
    before = ball.number_log.copy()
    ball.absorb(tracklet)
    ball.absorb(tracklet)
    assert np.allclose(ball.number_log - before, tracklet.number_log)


def test_what_lies_elsewhere_a_second_later_is_not_the_ball_that_lay_here():
    """Nothing moved in between: time alone does not make two resting places one."""
    here = EndState(t_s=0.3, xy_mm=np.array([620.0, 806.0]), velocity_mm_s=np.zeros(2), place_sigma_mm=1.0,
                    speed_sigma_mm_s=0.0, resting=True)  # fmt: skip
    there = replace(here, t_s=1.8, xy_mm=np.array([274.0, 758.0]))
    assert _straight_cost(here, there, 57.0) == float("inf")
    assert _straight_cost(here, replace(there, xy_mm=here.xy_mm + 1.0), 57.0) < 1.0
