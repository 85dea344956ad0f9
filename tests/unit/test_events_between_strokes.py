"""Hanging balls, hands, racks, cuts: what happens around the strokes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_world import TABLE, World
from test_events_of_a_stroke import of, watched

from vision_referee.domain.table import PocketName
from vision_referee.events.line import MotionStage


def hanging_place() -> tuple[float, float]:
    """On the lip of the foot-right corner: centre 10 mm behind the mouth's line."""
    pocket = TABLE.pocket(PocketName.FOOT_RIGHT)
    x, y = pocket.mouth_mm
    return x - 10 * pocket.inward[0], y - 10 * pocket.inward[1]


def test_a_ball_on_the_lip_hangs_and_its_later_fall_is_a_pot():
    world = World({"cue": (2000.0, 900.0), "a": hanging_place(), "b": (700.0, 400.0)})
    world.strike(1.0, "cue", -500, 150).take(7.5, "a").run(11.0)
    _, events = watched(world.detections())
    hanging = of(events, "hanging")
    assert hanging[-1].pocket == "foot_right"
    assert hanging[-1].t == of(events, "rest")[-1].t
    (fall,) = of(events, "pocketed")
    assert fall.ball == hanging[-1].ball
    assert fall.t == pytest.approx(7.5, abs=0.2)
    assert len(of(events, "rest")) == 2  # a fall alone is no stroke


def test_a_ball_before_the_mouth_does_not_hang():
    pocket = TABLE.pocket(PocketName.FOOT_RIGHT)
    x, y = pocket.mouth_mm
    place = (x + 30 * pocket.inward[0], y + 30 * pocket.inward[1])
    _, events = watched(World({"cue": (2000.0, 900.0), "a": place}).run(2.0).detections())
    assert not of(events, "hanging")


def test_a_ball_put_down_is_placed_and_one_taken_is_picked_up():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)})
    world.put(4.0, "c", 2662.0, 887.0).take(8.0, "a").run(22.0)
    _, events = watched(world.detections())
    (placed,) = of(events, "placed")
    assert (placed.x, placed.y) == pytest.approx((2662, 887), abs=3)
    assert placed.t == pytest.approx(4.0, abs=0.3)
    (taken,) = of(events, "picked_up")
    assert (taken.x, taken.y) == pytest.approx((1600, 960), abs=3)


def test_a_potted_ball_that_is_spotted_keeps_its_name():
    goal, ball = np.array([3550.0, 1775.0]), np.array([3250.0, 1490.0])
    heading = (goal - ball) / np.hypot(*(goal - ball))
    world = World({"a": (900.0, 500.0), "b": (1500.0, 300.0), "cue": tuple(ball)})
    world.strike(1.0, "cue", *(heading * 1500)).put(6.0, "cue", 600.0, 700.0).run(10.0)
    assert world.told("pocketed")
    _, events = watched(world.detections())
    assert of(events, "pocketed")[0].ball == "cue"
    assert of(events, "placed")[0].ball == "cue"


def test_a_nudged_ball_is_touched_not_struck():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)})
    world.drag(3.0, 3.4, "b", 14.0, 6.0).run(7.0)
    _, events = watched(world.detections(sigma_mm=1.0))
    assert not of(events, "strike")
    (touch,) = of(events, "touch")
    assert touch.moved_mm == pytest.approx(15.2, abs=3)
    assert touch.t == pytest.approx(3.0, abs=0.25)


def test_a_rack_is_told_once():
    d = TABLE.ball_diameter_mm
    x0, y0 = TABLE.foot_spot_mm
    balls = {
        f"o{row}{k}": (x0 + row * d * 0.8662, y0 + (row / 2 - k) * (d + 0.1))
        for row in range(5)
        for k in range(row + 1)
    }
    world = World({"cue": (600.0, 800.0), **balls}).run(3.0)
    _, events = watched(world.detections(sigma_mm=1.0))
    (racked,) = of(events, "racked")
    assert len(racked.balls) == 15
    assert (racked.balls[0].x, racked.balls[0].y) == pytest.approx((x0, y0), abs=4)
    assert [e.type for e in events][:2] == ["racked", "rest"]


def test_across_a_cut_nothing_is_struck_or_potted():
    before = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)}).run(3.0)
    after = World({"cue": (900.0, 300.0), "a": (1600.0, 960.0)}).run(3.0)
    first = before.detections(dropout=0.0)
    second = after.detections(dropout=0.0)
    for f in second:
        f.frame += len(first)
        f.t_s += first[-1].t_s + 1 / 30
    _, events = watched([*first, *second], cuts={len(first)})
    assert not of(events, "strike") and not of(events, "pocketed") and not of(events, "touch")
    rests = of(events, "rest")
    assert [len(r.balls) for r in rests] == [3, 2]
    assert rests[1].t == pytest.approx(first[-1].t_s + 1 / 30, abs=0.05)


def test_a_match_with_long_pauses_holds_little_memory():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0)}).run(3.0)
    frames = world.detections()
    stage = MotionStage(TABLE)
    held = []
    for n in range(40):
        for f in frames:
            stage.push(replace(f, frame=f.frame + n * len(frames), t_s=f.t_s + n * len(frames) / 30))
        held.append(
            len(stage._tracker.frames) + len(stage._tracker.stray) + sum(len(t.tracklet) for t in stage._tracker.tracks)
        )
    assert max(held[5:]) <= 400
    assert held[-1] <= 1.5 * held[5] + 50


def test_nothing_seen_is_nothing_told():
    stage = MotionStage(TABLE)
    assert stage.flush().events == []
    empty_table = World({}).run(2.0).detections()
    rows, events = watched(empty_table)
    assert rows == [] and events == []


def test_where_all_balls_look_alike_the_first_one_struck_is_the_cue_ball():
    world = World({"a": (600.0, 880.0), "b": (1600.0, 960.0), "c": (2500.0, 300.0)})
    world.strike(2.0, "b", 700, -420).run(9.0)
    rows, events = watched(world.detections(dropout=0.0))
    assert of(events, "strike")[0].ball == "cue"
    assert "cue" in {b.ball for b in of(events, "rest")[0].balls}
    assert {r.ball for r in rows if r.frame == 0} == {r.ball for r in rows if r.frame == 200}
    assert [r.t for r in rows] == sorted(r.t for r in rows)


def test_a_still_scene_of_look_alikes_is_told_at_the_end_at_the_latest():
    rows, events = watched(World({"a": (600.0, 880.0), "b": (1600.0, 960.0)}).run(3.0).detections())
    assert len(of(events, "rest")) == 1
    assert rows


def test_balls_set_in_a_triangle_one_by_one_are_racked_not_placed():
    d = TABLE.ball_diameter_mm
    x0, y0 = TABLE.foot_spot_mm
    world = World({"cue": (600.0, 800.0)})
    for row in range(5):
        for k in range(row + 1):
            place = (x0 + row * d * 0.8662, y0 + (row / 2 - k) * (d + 0.1))
            world.put(2.0 + 0.1 * row, f"o{row}{k}", *place)
    world.run(6.0)
    _, events = watched(world.detections(sigma_mm=1.0))
    (racked,) = of(events, "racked")
    assert racked.t == pytest.approx(2.3, abs=0.4)
    assert not of(events, "placed")
    assert len(of(events, "rest")) == 1
