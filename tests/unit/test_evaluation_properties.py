"""What must hold of the scores whatever the match: on cases that nobody thought of."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from evaluation_cases import track_rows, tracks
from hypothesis import given, settings
from hypothesis import strategies as st

from vision_referee.domain.events import Contact, Event, Pocketed, Stopped
from vision_referee.domain.table import PocketName
from vision_referee.evaluation.event_scores import match_events
from vision_referee.evaluation.facts import vision_facts
from vision_referee.evaluation.identity import IdentityMap, score_identity
from vision_referee.evaluation.labels import Labels
from vision_referee.evaluation.matching import align_times, one_to_one
from vision_referee.evaluation.positions import pair_frames, score_positions

BALL_MM = 68.0
LABELS = ["cue", "1", "7", "15", "u2"]

places = st.floats(0, 3550, allow_nan=False)
times = st.floats(0, 30, allow_nan=False)
events: st.SearchStrategy[list[Event]] = st.lists(
    st.one_of(
        st.builds(
            lambda t, b, p: Pocketed(t=t, ball=b, pocket=p), times, st.sampled_from(LABELS), st.sampled_from(PocketName)
        ),
        st.builds(lambda t, b, x, y: Stopped(t=t, ball=b, x=x, y=y), times, st.sampled_from(LABELS), places, places),
        st.builds(
            lambda t, p, x: Contact(t=t, balls=p, x=x, y=x),
            times,
            st.sampled_from([("cue", "7"), ("7", "cue"), ("1", "u2")]),
            places,
        ),
    ),
    max_size=25,
)


def scored(truth: list[Event], seen: list[Event]):
    facts = vision_facts(seen)
    labels = Labels.of(IdentityMap(None, None, []), facts)
    return match_events(vision_facts(truth), facts, labels, BALL_MM)


@settings(max_examples=60, deadline=None)
@given(events)
def test_the_truth_scores_itself_perfectly(truth: list[Event]):
    matches = scored(truth, truth)
    assert sum(s.counts.right for s in matches.scores.values()) == len(truth)
    assert all(s.counts.f1 == 1.0 and not s.errors for s in matches.scores.values())
    assert all(abs(dt) < 1e-9 for s in matches.scores.values() for dt in s.dt_s)


@settings(max_examples=60, deadline=None)
@given(events, events)
def test_what_is_missed_one_way_is_false_the_other_way(a: list[Event], b: list[Event]):
    # A label that tells nothing may be any ball on either side, so both directions allow the same pairs.
    there, back = scored(a, b).scores, scored(b, a).scores
    assert there.keys() == back.keys()
    for kind, score in there.items():
        assert score.counts.right == back[kind].counts.right
        assert (score.counts.missed, score.counts.false) == (back[kind].counts.false, back[kind].counts.missed)
        assert len(score.errors) == score.counts.missed + score.counts.false


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10_000))
def test_matching_is_the_best_there_is(n: int, m: int, seed: int):
    rng = np.random.default_rng(seed)
    cost, allowed = rng.random((n, m)) * 100, rng.random((n, m)) < 0.6
    pairs = one_to_one(cost, allowed)
    found = (-len(pairs), sum(cost[i, k] for i, k in pairs))
    wide = max(n, m)
    best = min(
        (
            -sum(1 for i in range(n) if order[i] < m and allowed[i, order[i]]),
            sum(cost[i, order[i]] for i in range(n) if order[i] < m and allowed[i, order[i]]),
        )
        for order in permutations(range(wide), n)
    )
    assert found[0] == best[0]
    assert found[1] == pytest.approx(best[1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=1, max_size=80, unique=True), st.data())
def test_frames_are_used_once_and_none_is_forgotten(stamps: list[int], data: st.DataObject):
    truth = np.sort(np.array(stamps)) * 0.033
    kept = data.draw(st.lists(st.sampled_from(range(len(truth))), unique=True))
    seen = truth[np.sort(np.array(kept, np.int64))] if kept else np.zeros(0)
    pairs, left, extra = align_times(truth, seen)
    assert len({i for i, _ in pairs}) == len({k for _, k in pairs}) == len(pairs)
    assert all(abs(truth[i] - seen[k]) < 1e-9 for i, k in pairs)
    assert len(pairs) == len(seen) and not extra
    assert not {i for i, _ in pairs} & set(left)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(places, places), min_size=1, max_size=8), st.integers(0, 1000))
def test_names_do_not_matter_to_position_detection_and_identity(spots: list[tuple[float, float]], seed: int):
    rng = np.random.default_rng(seed)
    names = [f"u{k + 1}" for k in rng.permutation(len(spots))]
    truth = tracks(*[track_rows(str(k + 1), lambda t, s=s: s, stop=5) for k, s in enumerate(spots)])
    seen = tracks(*[track_rows(name, lambda t, s=s: s, stop=5) for name, s in zip(names, spots, strict=True)])
    frames = pair_frames(truth, seen, BALL_MM)
    _, counts = score_positions(truth, seen, frames)
    assert (counts.right, counts.false, counts.missed) == (5 * len(spots), 0, 0)
    assert score_identity(truth, seen, frames, BALL_MM).to_json()["idf1"] > 0.99
