"""Events: what counts as the same event, what as missed or false, and what is said of each error."""

from __future__ import annotations

import pytest
from evaluation_cases import still, track_rows, tracks

from vision_referee.domain.events import (
    BallAt,
    Call,
    Contact,
    Crossed,
    CushionHit,
    Event,
    Identified,
    Pocketed,
    Rest,
    Shake,
    Source,
    Stopped,
    Strike,
    Tip,
    TipKind,
)
from vision_referee.domain.table import Cushion, Line, PocketName
from vision_referee.evaluation.event_scores import EventMatches, match_events
from vision_referee.evaluation.facts import SCORED_TYPES, vision_facts
from vision_referee.evaluation.identity import IdentityMap
from vision_referee.evaluation.labels import Labels
from vision_referee.evaluation.positions import pair_frames
from vision_referee.evaluation.reliability import reliability_to_json
from vision_referee.evaluation.track_table import TrackTable

BALL_MM = 68.0
TRUE_TRACKS = tracks(track_rows("7", still(500, 500)), track_rows("9", still(2000, 900)))


def matched(
    truth: list[Event], seen: list[Event], true_tracks: TrackTable | None = None, seen_tracks: TrackTable | None = None
) -> EventMatches:
    frames = pair_frames(true_tracks, seen_tracks, BALL_MM) if true_tracks and seen_tracks else []
    facts = vision_facts(seen)
    labels = Labels.of(IdentityMap(true_tracks, seen_tracks, frames), facts)
    return match_events(vision_facts(truth), facts, labels, BALL_MM)


def counts(matches: EventMatches, kind: str) -> tuple[int, int, int]:
    score = matches.scores[kind]
    return score.counts.right, score.counts.missed, score.counts.false


def pocketed(t: float, ball: str = "7", pocket: PocketName = PocketName.FOOT_LEFT, **more: float) -> Pocketed:
    return Pocketed(t=t, ball=ball, pocket=pocket, **more)


@pytest.mark.parametrize(("late_s", "right"), [(0.0, 1), (0.10, 1), (-0.10, 1), (0.11, 0), (-0.11, 0)])
def test_a_pot_may_be_a_tenth_of_a_second_off(late_s: float, right: int):
    assert counts(matched([pocketed(5.0)], [pocketed(5.0 + late_s)]), "pocketed") == (right, 1 - right, 1 - right)


@pytest.mark.parametrize(("late_s", "right"), [(0.20, 1), (-0.20, 1), (0.21, 0)])
def test_a_stop_and_a_rest_may_be_two_tenths_off(late_s: float, right: int):
    lying = (BallAt(ball="7", x=500, y=500),)
    stop = matched([Stopped(t=5.0, ball="7", x=500, y=500)], [Stopped(t=5.0 + late_s, ball="7", x=500, y=500)])
    rest = matched([Rest(t=5.0, balls=lying)], [Rest(t=5.0 + late_s, balls=lying)])
    assert counts(stop, "stopped")[0] == counts(rest, "rest")[0] == right


@pytest.mark.parametrize(("off_mm", "right"), [(0, 1), (68, 1), (69, 0)])
def test_a_place_may_be_one_ball_diameter_off(off_mm: float, right: int):
    truth = Contact(t=1.0, balls=("cue", "7"), x=500, y=500)
    seen = Contact(t=1.0, balls=("7", "cue"), x=500 + off_mm, y=500)
    assert counts(matched([truth], [seen]), "contact") == (right, 1 - right, 1 - right)


def test_the_words_must_agree():
    pairs: list[tuple[Event, Event]] = [
        (pocketed(1.0), pocketed(1.0, pocket=PocketName.FOOT_RIGHT)),
        (
            CushionHit(t=1.0, ball="7", cushion=Cushion.HEAD, x=0, y=0),
            CushionHit(t=1.0, ball="7", cushion=Cushion.RIGHT, x=0, y=0),
        ),
        (
            Crossed(t=1.0, ball="7", line=Line.HOUSE, direction=1),
            Crossed(t=1.0, ball="7", line=Line.HOUSE, direction=-1),
        ),
        (Tip(t=1.0, ball="cue", kind=TipKind.PUSH), Tip(t=1.0, ball="cue", kind=TipKind.DOUBLE_HIT)),
    ]
    for truth, seen in pairs:
        assert counts(matched([truth], [seen]), truth.type) == (0, 1, 1)
        assert counts(matched([truth], [truth]), truth.type) == (1, 0, 0)


def test_an_unnumbered_ball_is_the_true_ball_whose_track_it_follows():
    seen_tracks = tracks(track_rows("u3", still(501, 500)), track_rows("u4", still(2000, 900)))
    found = matched([pocketed(1.9)], [pocketed(1.9, ball="u3")], TRUE_TRACKS, seen_tracks)
    other = matched([pocketed(1.9)], [pocketed(1.9, ball="u4")], TRUE_TRACKS, seen_tracks)
    assert counts(found, "pocketed") == (1, 0, 0)
    assert found.scores["pocketed"].number_unknown == 1
    assert counts(other, "pocketed") == (0, 1, 1)


def test_a_wrong_number_on_the_right_ball_is_the_right_event_with_a_wrong_number():
    seen_tracks = tracks(track_rows("9", still(501, 500)), track_rows("7", still(2000, 900)))
    matches = matched([pocketed(1.9)], [pocketed(1.9, ball="9")], TRUE_TRACKS, seen_tracks)
    assert counts(matches, "pocketed") == (1, 0, 0)
    assert matches.scores["pocketed"].number_wrong == 1


def test_a_number_read_later_names_the_ball():
    seen_tracks = tracks(track_rows("u3", still(501, 500)))
    seen: list[Event] = [pocketed(1.9, ball="u3"), Identified(t=2.5, ball="u3", number=7)]
    score = matched([pocketed(1.9)], seen, TRUE_TRACKS, seen_tracks).scores["pocketed"]
    assert (score.number_wrong, score.number_unknown) == (0, 0)


def test_without_tracks_labels_speak_for_themselves():
    truth = [pocketed(1.0)]
    assert counts(matched(truth, [pocketed(1.0, ball="9")]), "pocketed") == (0, 1, 1)
    assert counts(matched(truth, [pocketed(1.0, ball="u1")]), "pocketed") == (1, 0, 0)


def test_one_pot_said_in_every_frame_is_right_once():
    seen = [pocketed(5.0 + k / 30) for k in range(-3, 4)]
    assert counts(matched([pocketed(5.0)], seen), "pocketed") == (1, 0, 6)


def test_two_close_events_keep_their_own_partners():
    truth = [Contact(t=1.00, balls=("cue", "7"), x=0, y=0), Contact(t=1.09, balls=("cue", "7"), x=0, y=0)]
    seen = [Contact(t=1.08, balls=("cue", "7"), x=0, y=0), Contact(t=1.17, balls=("cue", "7"), x=0, y=0)]
    score = matched(truth, seen).scores["contact"]
    assert score.counts.right == 2
    assert score.dt_s == pytest.approx([0.08, 0.08])


def test_what_an_official_said_is_not_scored():
    truth: list[Event] = [Call(t=1.0, ball="7", pocket=PocketName.FOOT_LEFT, source=Source.OFFICIAL), Shake(t=2.0)]
    seen: list[Event] = [Pocketed(t=3.0, ball="7", pocket=PocketName.FOOT_LEFT, source=Source.OFFICIAL)]
    matches = matched(truth, seen)
    assert set(matches.scores) == {"shake"}


def test_reading_a_number_is_not_an_event_to_be_found_in_time():
    assert "identified" not in SCORED_TYPES
    assert matched([], [Identified(t=1.0, ball="u1", number=3)]).scores == {}


def test_an_error_says_what_was_wrong_with_its_nearest_counterpart():
    late = matched([pocketed(5.0)], [pocketed(5.3)]).scores["pocketed"].errors
    assert {(e.kind, e.reason) for e in late} == {("missed", "late by 0.30 s"), ("false", "late by 0.30 s")}
    wrong = matched([pocketed(5.0)], [pocketed(5.0, pocket=PocketName.FOOT_RIGHT)]).scores["pocketed"].errors
    assert wrong[0].reason == "pocket foot_right for foot_left"
    alone = matched([Strike(t=5.0, ball="cue", x=0, y=0, vx=1, vy=0)], []).scores["strike"].errors
    assert alone[0].reason == "nothing like it was said"


def test_many_strokes_are_matched_quickly_and_right():
    truth = [Contact(t=k * 0.5, balls=("cue", "7"), x=k, y=0) for k in range(4000)]
    seen = [Contact(t=k * 0.5 + 0.02, balls=("cue", "7"), x=k, y=0) for k in range(4000) if k % 10]
    score = matched(truth, seen).scores["contact"]
    assert (score.counts.right, score.counts.missed, score.counts.false) == (3600, 400, 0)
    assert score.to_json()["timing"]["median_abs_s"] == pytest.approx(0.02)


def test_reliability_tells_honest_from_boastful():
    honest = [(0.9, k % 10 != 0) for k in range(1000)]
    boastful = [(0.9, k % 2 == 0) for k in range(1000)]
    assert reliability_to_json(honest)["expected_error"] == pytest.approx(0.0)
    assert reliability_to_json(boastful)["expected_error"] == pytest.approx(0.4)
    nine = next(b for b in reliability_to_json(boastful)["bins"] if b["n"])
    assert (nine["low"], nine["high"], nine["right"]) == (0.8, 0.9, 0.5)
    assert reliability_to_json([])["expected_error"] is None
    assert sum(b["n"] for b in reliability_to_json([(0.0, False), (1.0, True)])["bins"]) == 2
