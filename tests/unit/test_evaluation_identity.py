"""Who is who: TrackEval's figures on cases whose answer is known, and the map from labels to true balls."""

from __future__ import annotations

import pytest
from evaluation_cases import still, track_rows, tracks

from vision_referee.evaluation.identity import IdentityMap, identities_kept, score_identity
from vision_referee.evaluation.positions import pair_frames
from vision_referee.evaluation.track_table import TrackTable

BALL_MM = 68.0

TRUTH = tracks(track_rows("7", still(500, 500)), track_rows("9", still(2000, 900)))
SWAPPED = tracks(
    track_rows("u1", still(500, 500), stop=30),
    track_rows("u2", still(2000, 900), stop=30),
    track_rows("u2", still(500, 500), start=30),
    track_rows("u1", still(2000, 900), start=30),
)


def figures(truth: TrackTable, seen: TrackTable) -> dict[str, float]:
    return score_identity(truth, seen, pair_frames(truth, seen, BALL_MM), BALL_MM).to_json()


def test_other_names_for_the_same_balls_are_perfect():
    data = figures(TRUTH, tracks(track_rows("u4", still(500, 500)), track_rows("cue", still(2000, 900))))
    assert data["hota"] == pytest.approx(1.0)
    assert data["idf1"] == pytest.approx(1.0)


def test_two_balls_exchanged_half_way_halve_idf1_and_leave_detection_whole():
    data = figures(TRUTH, SWAPPED)
    assert data["idf1"] == pytest.approx(0.5)
    assert data["deta"] == pytest.approx(1.0)
    assert data["assa"] == pytest.approx(1 / 3)
    assert data["hota"] == pytest.approx((1 / 3) ** 0.5)


def test_one_ball_diameter_is_the_limit_of_an_identity():
    near = tracks(track_rows("u1", still(500 + 67, 500)), track_rows("u2", still(2000, 900)))
    far = tracks(track_rows("u1", still(500 + 69, 500)), track_rows("u2", still(2000, 900)))
    assert figures(TRUTH, near)["idf1"] == pytest.approx(1.0)
    assert figures(TRUTH, far)["idf1"] == pytest.approx(0.5)


def test_nothing_said_or_nothing_true():
    assert figures(TRUTH, tracks())["idf1"] == 0.0
    assert figures(tracks(), TRUTH)["hota"] == 0.0
    assert figures(tracks(), tracks())["hota"] is None


def test_the_map_follows_an_exchange():
    labels = IdentityMap(TRUTH, SWAPPED, pair_frames(TRUTH, SWAPPED, BALL_MM))
    assert labels.candidates("u1", 0.2) == {"7"}
    assert labels.candidates("u1", 1.8) == {"9"}
    assert labels.candidates("u1", 1.0) == {"7", "9"}
    assert labels.candidates("u8", 1.0) == frozenset()
    assert (labels.at("u1", 0.2), labels.at("u1", 1.8)) == ("7", "9")


def test_a_ball_gone_before_the_event_keeps_its_last_identity():
    truth = tracks(track_rows("7", still(500, 500), stop=10), track_rows("9", still(2000, 900)))
    seen = tracks(track_rows("u1", still(500, 500), stop=10), track_rows("u2", still(2000, 900)))
    labels = IdentityMap(truth, seen, pair_frames(truth, seen, BALL_MM))
    assert labels.candidates("u1", 1.9) == {"7"}


def test_an_exchange_within_a_stroke_is_noticed():
    frames = pair_frames(TRUTH, SWAPPED, BALL_MM)
    assert identities_kept(TRUTH, SWAPPED, frames, [(0.6, 1.4)]) == 0
    assert identities_kept(TRUTH, SWAPPED, frames, [(0.2, 0.4), (1.4, 1.6), (0.6, 1.4)]) == 2


def test_clips_are_combined_by_their_balls_not_by_their_number():
    one = score_identity(TRUTH, SWAPPED, pair_frames(TRUTH, SWAPPED, BALL_MM), BALL_MM)
    one.add(score_identity(TRUTH, TRUTH, pair_frames(TRUTH, TRUTH, BALL_MM), BALL_MM))
    assert one.to_json()["idf1"] == pytest.approx(0.75)
