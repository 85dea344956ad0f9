"""The eye's error stays for a while and jumps: a slow ball is seen to stand and go, a resting one to shift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_world import TABLE, World
from test_events_of_a_stroke import of, watched

from vision_referee.domain.events import BallAt, Strike
from vision_referee.domain.table import PocketName
from vision_referee.events.racks import find_rack, order_ok
from vision_referee.events.reliability import as_often_as_said
from vision_referee.events.rests import hanging_pocket
from vision_referee.tracking.impacts import is_possible, split_at_impacts
from vision_referee.tracking.legs import fit_leg, noise_mm
from vision_referee.tracking.tracklets import Sightings


def in_steps(frames, step_mm: float, sigma_mm: float):
    """Each ball's centre follows only when it is ``step_mm`` off: what an encoder makes of a small motion."""
    shown: dict[int, np.ndarray] = {}
    out = []
    for seen in frames:
        xy = seen.xy_mm.copy()
        for k, place in enumerate(xy):
            near = min(shown, key=lambda n: float(np.hypot(*(shown[n] - place))), default=None)
            if near is not None and np.hypot(*(shown[near] - place)) < step_mm:
                xy[k] = shown[near]
            elif near is not None and np.hypot(*(shown[near] - place)) < 60:
                shown[near] = place
            else:
                shown[len(shown)] = place
        out.append(replace(seen, xy_mm=xy, sigma_mm=np.full(len(xy), sigma_mm)))
    return out


def test_a_ball_seen_in_steps_stops_once_and_nobody_touched_it():
    world = World({"cue": (600.0, 880.0), "a": (2600.0, 400.0), "b": (2500.0, 1300.0)})
    world.strike(1.0, "cue", 420.0, 30.0).run(8.0)
    _, events = watched(in_steps(world.detections(sigma_mm=0.3, dropout=0.0), 7.0, 4.0))
    assert len(of(events, "strike")) == 1
    assert not of(events, "touch")
    (stop,) = of(events, "stopped")
    assert stop.t == pytest.approx(world.told("stopped")[0].t, abs=0.2)
    assert len(of(events, "rest")) == 2


def sightings(t, xy, sigma):
    return Sightings(t, np.arange(len(t)), xy, np.full(len(t), sigma), np.ones(len(t)))


def test_friction_does_not_send_a_ball_back_so_a_slow_bounce_is_cut_in_two():
    t = np.arange(0, 0.6, 1 / 30)
    x = np.where(t < 0.31, 100 - 160 * t, 100 - 160 * 0.31 + 90 * (t - 0.31))
    xy = np.column_stack([x, 500 + 60 * t]) + np.random.default_rng(4).normal(0, 1.2, (len(t), 2))
    s = sightings(t, xy, 1.5)
    whole = fit_leg(s, noise_mm(s), 0, len(t) - 1, resting=False)
    assert not is_possible(whole)
    before, after = split_at_impacts([whole], s, noise_mm(s))
    assert before.t1_s <= 0.37
    assert after.t0_s >= 0.27
    assert before.velocity(0.2)[0] < -100 < 40 < after.velocity(0.4)[0]


def test_braking_and_sliding_are_possible_and_speeding_up_is_not():
    t = np.arange(0, 0.5, 1 / 30)
    for v0, a, possible in ((900.0, -100.0, True), (900.0, -500.0, True), (300.0, 2500.0, False)):
        s = sightings(t, np.column_stack([v0 * t + a / 2 * t**2, 0 * t]), 1.0)
        leg = fit_leg(s, np.full(len(t), 1.0), 0, len(t) - 1, resting=False)
        assert is_possible(leg) is possible


def test_two_balls_that_collide_softly_on_their_way_touched():
    world = World({"cue": (600.0, 900.0), "a": (900.0, 640.0), "b": (3300.0, 300.0)})
    world.strike(1.0, "cue", 900.0, 0.0).strike(1.0, "a", 500.0, 330.0).run(6.0)
    assert [set(f.balls) for f in world.told("contact")] == [{"cue", "a"}]
    _, events = watched(world.detections(sigma_mm=2.0))
    (contact,) = of(events, "contact")
    assert contact.t == pytest.approx(world.told("contact")[0].t, abs=0.05)


def test_a_ball_knocked_into_a_pocket_unseen_was_met_and_fell():
    mouth = np.array(TABLE.pocket(PocketName.FOOT_LEFT).mouth_mm)
    ball = mouth + 150.0 * np.array(TABLE.pocket(PocketName.FOOT_LEFT).inward)
    heading = (mouth - ball) / np.hypot(*(mouth - ball))
    cue = ball - heading * 900
    world = World({"cue": tuple(cue), "a": tuple(ball), "b": (900.0, 500.0)})
    world.strike(1.0, "cue", *(heading * 3000)).run(6.0)
    hit = world.told("contact")[0].t
    frames = world.detections(dropout=0.0, hidden={"a": (hit, 9.0)})
    _, events = watched(frames)
    (fallen,) = of(events, "pocketed")
    assert fallen.pocket == "foot_left"
    assert fallen.t == pytest.approx(world.told("pocketed")[0].t, abs=0.08)
    assert set(of(events, "contact")[0].balls) == {"cue", fallen.ball}


def rack(count: int = 15, shift_mm: float = 0.0) -> list[BallAt]:
    d, (x0, y0) = TABLE.ball_diameter_mm, TABLE.foot_spot_mm
    places = [(x0 + r * d * 0.8662, y0 + (r / 2 - k) * d) for r in range(5) for k in range(r + 1)]
    rng = np.random.default_rng(2)
    return [
        BallAt(ball=f"u{n}", x=x + rng.normal(0, shift_mm), y=y + rng.normal(0, shift_mm))
        for n, (x, y) in enumerate(places[:count])
    ]


def test_a_rack_is_known_though_two_balls_are_hidden_and_all_are_seen_a_little_off():
    found = find_rack(TABLE, rack(13, shift_mm=5.0))
    assert found is not None
    assert len(found) == 13
    assert order_ok(found) is None


def test_twelve_balls_or_a_loose_crowd_are_no_rack():
    assert find_rack(TABLE, rack(12)) is None
    assert find_rack(TABLE, rack(15, shift_mm=30.0)) is None


def test_what_hangs_on_a_pyramid_table_and_what_may_hang_on_a_pool_table():
    pool = replace(TABLE, family="pool", ball_diameter_mm=57.15)
    mouth = TABLE.pocket(PocketName.MIDDLE_RIGHT)
    before = np.array(mouth.mouth_mm) + 40.0 * np.array(mouth.inward)
    assert hanging_pocket(TABLE, before) is None
    assert hanging_pocket(pool, before) == (PocketName.MIDDLE_RIGHT, 0.55)
    on_the_lip = np.array(mouth.mouth_mm) - 5.0 * np.array(mouth.inward)
    assert hanging_pocket(TABLE, on_the_lip) == (PocketName.MIDDLE_RIGHT, 0.9)


def test_confidences_keep_their_order_and_types_without_a_count_keep_theirs():
    from vision_referee.domain.events import Contact

    said = [as_often_as_said(Contact(t=1.0, balls=("1", "2"), x=0, y=0, confidence=c)).confidence for c in (0.5, 0.9)]
    assert said[0] < said[1]
    strike = Strike(t=1.0, ball="cue", x=0, y=0, vx=1, vy=0, confidence=0.85)
    assert as_often_as_said(strike).confidence == 0.85
