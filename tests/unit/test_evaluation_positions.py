"""Position error and detection: what a ball found, missed, invented or hidden does to the figures."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation_cases import rolling, still, track_rows, tracks

from vision_referee.evaluation.matching import align_times, one_to_one
from vision_referee.evaluation.positions import pair_frames, score_positions
from vision_referee.evaluation.track_table import TrackTable
from vision_referee.tracking.tracks import BallState

BALL_MM = 68.0


def scored(truth: TrackTable, seen: TrackTable):
    return score_positions(truth, seen, pair_frames(truth, seen, BALL_MM))


def test_balls_a_known_distance_off_give_that_error_resting_and_moving_apart():
    truth = tracks(
        track_rows("cue", rolling(500, 500, 900, 0), state=BallState.MOVING), track_rows("7", still(2000, 900))
    )
    seen = tracks(
        track_rows("cue", rolling(500, 506, 900, 0), state=BallState.MOVING), track_rows("u1", still(2003, 904))
    )
    positions, counts = scored(truth, seen)
    data = positions.to_json()
    assert data["resting"]["median"] == pytest.approx(5.0)
    assert data["moving"]["median"] == pytest.approx(6.0)
    assert data["moving"]["n"] == data["resting"]["n"] == 60
    assert (counts.right, counts.false, counts.missed) == (120, 0, 0)


def test_percentiles_are_over_every_ball_in_every_frame():
    truth = tracks(track_rows("1", still(500, 500), stop=100))
    seen = tracks(
        track_rows("1", still(501, 500), stop=90),
        track_rows("1", still(530, 500), start=90, stop=100),
    )
    data = scored(truth, seen)[0].to_json()["resting"]
    assert data["median"] == pytest.approx(1.0)
    assert data["p95"] == pytest.approx(30.0)
    assert data["max"] == pytest.approx(30.0)


def test_a_ball_more_than_its_diameter_off_is_both_missed_and_false():
    _, counts = scored(tracks(track_rows("1", still(500, 500))), tracks(track_rows("1", still(500 + 69, 500))))
    assert (counts.right, counts.false, counts.missed) == (0, 60, 60)
    assert counts.precision == 0.0 and counts.recall == 0.0
    _, close = scored(tracks(track_rows("1", still(500, 500))), tracks(track_rows("1", still(500 + 67, 500))))
    assert close.right == 60


def test_each_ball_is_matched_once_even_where_two_are_near():
    truth = tracks(track_rows("1", still(500, 500)), track_rows("2", still(568, 500)))
    seen = tracks(track_rows("u1", still(530, 500)))
    _, counts = scored(truth, seen)
    assert (counts.right, counts.false, counts.missed) == (60, 0, 60)


def test_frozen_balls_are_paired_as_many_as_can_be():
    # The nearest to u2 is ball 1; greedy matching would leave ball 2 and u1 alone.
    truth = tracks(track_rows("1", still(500, 500)), track_rows("2", still(568, 500)))
    seen = tracks(track_rows("u1", still(440, 500)), track_rows("u2", still(510, 500)))
    _, counts = scored(truth, seen)
    assert (counts.right, counts.false, counts.missed) == (120, 0, 0)


def test_a_hidden_ball_need_not_be_found_and_may_be():
    truth = tracks(track_rows("1", still(500, 500), state=BallState.HIDDEN))
    _, nothing = scored(truth, tracks())
    _, found = scored(truth, tracks(track_rows("1", still(510, 500))))
    assert (nothing.missed, nothing.false) == (0, 0)
    assert (found.right, found.missed, found.false) == (0, 0, 0)


def test_calling_a_ball_hidden_that_is_in_view_misses_it_but_invents_nothing():
    seen = tracks(
        track_rows("1", still(503, 500), state=BallState.HIDDEN),
        track_rows("9", still(2000, 900), state=BallState.HIDDEN),
    )
    positions, counts = scored(tracks(track_rows("1", still(500, 500))), seen)
    assert (counts.right, counts.false, counts.missed) == (0, 0, 60)
    assert positions.to_json()["hidden"]["median"] == pytest.approx(3.0)
    assert positions.to_json()["resting"]["n"] == 0


def test_pocketed_balls_are_not_on_the_table():
    truth = tracks(track_rows("1", still(500, 500), state=BallState.POCKETED))
    _, counts = scored(truth, tracks(track_rows("1", still(500, 500))))
    assert (counts.right, counts.false) == (0, 60)


def test_times_a_little_off_are_the_same_frame_and_the_motion_between_is_not_an_error():
    path = rolling(200, 500, 3000, 0)
    truth = tracks(track_rows("cue", path, state=BallState.MOVING))
    seen = tracks(track_rows("cue", lambda t: path(t + 0.01), state=BallState.MOVING, late_s=0.01))
    positions, counts = scored(truth, seen)
    assert counts.right == 60
    assert positions.to_json()["moving"]["p99"] == pytest.approx(0.0, abs=1e-6)


def test_a_frame_left_out_is_missed_and_one_beyond_the_truth_is_not_judged():
    truth = tracks(track_rows("1", still(500, 500), start=0, stop=60))
    seen = tracks(
        track_rows("1", still(500, 500), start=0, stop=20), track_rows("1", still(500, 500), start=30, stop=90)
    )
    _, counts = scored(truth, seen)
    assert (counts.right, counts.missed, counts.false) == (50, 10, 0)


def test_truth_sampled_finer_or_coarser_than_the_video_counts_only_where_both_are():
    fine = tracks(track_rows("1", still(500, 500), stop=480, fps=240.0))
    coarse = tracks(track_rows("1", still(500, 500), stop=3, fps=1.0))
    seen = tracks(track_rows("1", still(500, 500), stop=60))
    _, counts = scored(fine, seen)
    assert (counts.right, counts.missed, counts.false) == (60, 0, 0)
    _, counts = scored(coarse, seen)
    # The third instant of the coarse truth lies at 2.0 s, beyond the video's last frame at 1.967 s.
    assert (counts.right, counts.missed, counts.false) == (2, 1, 0)


def test_nothing_on_either_side_gives_no_figures_rather_than_wrong_ones():
    positions, counts = scored(tracks(), tracks())
    assert positions.to_json()["all"] == {"n": 0, "median": None, "p95": None, "p99": None, "max": None}
    assert counts.precision is None and counts.recall is None and counts.f1 is None


def test_a_position_that_is_no_number_matches_nothing():
    seen = tracks(track_rows("1", lambda t: (float("nan"), 500.0)))
    _, counts = scored(tracks(track_rows("1", still(500, 500))), seen)
    assert (counts.right, counts.false, counts.missed) == (0, 60, 60)


def test_uneven_frame_times_find_their_own_partners():
    rng = np.random.default_rng(4)
    times = np.cumsum(rng.uniform(0.02, 0.05, 200))
    seen = np.sort(rng.permutation(200)[:150])
    pairs, left, extra = align_times(times, times[seen])
    assert pairs == [(int(i), k) for k, i in enumerate(seen)]
    assert sorted(left + [int(i) for i in seen]) == list(range(200)) and extra == []
    pairs, left, extra = align_times(times, times)
    assert pairs == [(k, k) for k in range(200)] and left == [] and extra == []


def test_more_pairs_are_better_than_closer_ones():
    cost = np.array([[1.0, 60.0], [0.0, 100.0]])
    allowed = np.array([[True, True], [True, False]])
    assert sorted(one_to_one(cost, allowed)) == [(0, 1), (1, 0)]
    assert one_to_one(np.zeros((0, 3)), np.zeros((0, 3), bool)) == []
