"""What happens in a stroke is told: struck, met, bounced, fallen, stopped, at rest."""

from __future__ import annotations

import numpy as np
import pytest
from small_world import TABLE, World

from vision_referee.domain.events import VisionEvent
from vision_referee.events.line import MotionStage
from vision_referee.tracking.tracks import BallState, TrackRow

HALF_FRAME_S = 0.017


def watched(frames, *, cuts=(), repeated=(), **kwargs) -> tuple[list[TrackRow], list[VisionEvent]]:
    stage = MotionStage(TABLE, **kwargs)
    rows: list[TrackRow] = []
    events: list[VisionEvent] = []
    for seen in frames:
        out = stage.push(seen, cut=seen.frame in cuts, repeated=seen.frame in repeated)
        rows += out.rows
        events += out.events
    out = stage.flush()
    return rows + out.rows, events + out.events


def of(events, kind):
    return [e for e in events if e.type == kind]


@pytest.fixture(scope="module")
def pot():
    """The cue ball pots a ball into the foot-left corner, another lies aside."""
    goal = np.array([3550.0, 1775.0])
    ball = np.array([3200.0, 1440.0])
    heading = (goal - ball) / np.hypot(*(goal - ball))
    cue = ball - heading * 600
    world = World({"cue": tuple(cue), "a": tuple(ball), "b": (900.0, 500.0)})
    world.strike(1.0, "cue", *(heading * 2500)).run(7.0)
    assert world.told("pocketed"), "the world itself must pot the ball"
    return world, watched(world.detections())


def test_the_position_is_told_before_anything_moves(pot):
    _, (_, events) = pot
    assert events[0].type == "rest"
    assert events[0].t == 0.0
    assert len(events[0].balls) == 3


def test_the_strike_is_timed_between_frames_with_its_first_velocity(pot):
    world, (_, events) = pot
    (strike,) = of(events, "strike")
    assert strike.ball == "cue"
    assert abs(strike.t - world.told("strike")[0].t) < HALF_FRAME_S
    assert np.hypot(strike.vx, strike.vy) == pytest.approx(2500, rel=0.05)
    assert (strike.x, strike.y) == pytest.approx(world.at["cue"], abs=3)


def test_a_contact_names_both_balls_and_lies_between_them(pot):
    world, (_, events) = pot
    contact = of(events, "contact")[0]
    assert contact.balls[0] == "cue"
    assert abs(contact.t - world.told("contact")[0].t) < HALF_FRAME_S
    ball = np.array(world.at["a"])
    assert np.hypot(*(np.array([contact.x, contact.y]) - ball)) == pytest.approx(34, abs=12)


def test_a_pot_is_stamped_when_the_ball_passes_the_lip_and_told_once(pot):
    world, (_, events) = pot
    fallen = world.told("pocketed")[0]
    (told,) = of(events, "pocketed")
    assert told.pocket == "foot_left"
    assert abs(told.t - fallen.t) < 0.05
    assert told.confidence >= 0.9


def test_a_fallen_ball_is_not_in_the_position_at_rest(pot):
    _, (_, events) = pot
    fallen = of(events, "pocketed")[0].ball
    rest = of(events, "rest")[-1]
    assert fallen not in {b.ball for b in rest.balls}
    assert len(rest.balls) == 2


def test_the_stroke_ends_with_the_last_stop(pot):
    world, (_, events) = pot
    assert of(events, "rest")[-1].t == max(e.t for e in of(events, "stopped"))
    truth = max(f.t for f in world.told("stopped"))
    assert of(events, "rest")[-1].t == pytest.approx(truth, abs=0.2)


def test_a_ball_that_nobody_touched_did_nothing(pot):
    _, (_, events) = pot
    still = next(b.ball for b in of(events, "rest")[0].balls if abs(b.x - 900) < 5)
    assert not [e for e in events if getattr(e, "ball", None) == still]
    assert not of(events, "touch")


def test_events_come_in_time_order_and_rows_in_frame_order(pot):
    _, (rows, events) = pot
    assert [e.t for e in events] == sorted(e.t for e in events)
    assert [r.t for r in rows] == sorted(r.t for r in rows)
    assert len({(r.frame, r.ball) for r in rows}) == len(rows)


def test_rows_follow_the_balls_to_millimetres(pot):
    world, (rows, _) = pot
    cue = [r for r in rows if r.ball == "cue"]
    errors = [
        np.hypot(r.x - world.places["cue"][round(r.t * 1000)][0], r.y - world.places["cue"][round(r.t * 1000)][1])
        for r in cue
    ]
    assert np.median(errors) < 2.0
    assert np.quantile(errors, 0.99) < 12.0


@pytest.mark.parametrize("fps", [25.0, 50.0, 60.0])
def test_any_frame_rate_tells_the_same_story(pot, fps):
    world, _ = pot
    _, events = watched(world.detections(fps=fps))
    assert [e.type for e in events if e.type in ("strike", "pocketed", "rest")] == [
        "rest",
        "strike",
        "pocketed",
        "rest",
    ]
    assert abs(of(events, "strike")[0].t - 1.0) < 0.5 / fps


def test_repeated_frames_do_not_look_like_stop_and_go(pot):
    world, _ = pot
    frames = world.detections(repeat=2)
    for repeated in ((), range(1, len(frames), 2)):
        _, events = watched(frames, repeated=set(repeated))
        kinds = [e.type for e in events if e.type in ("strike", "pocketed", "rest")]
        assert kinds == ["rest", "strike", "pocketed", "rest"]
        assert len(of(events, "stopped")) == len(world.told("stopped"))


def test_uneven_timestamps_are_taken_as_they_are(pot):
    world, _ = pot
    rng = np.random.default_rng(5)
    clock = np.cumsum(rng.uniform(0.02, 0.055, 180))
    _, events = watched(world.detections(times_s=clock[clock < 6.9]))
    assert abs(of(events, "strike")[0].t - 1.0) < 0.03
    assert len(of(events, "pocketed")) == 1


def test_two_cushions_are_told_with_their_names_and_times():
    world = World({"cue": (1800.0, 800.0), "a": (500.0, 300.0)}).strike(0.8, "cue", 1500, 1100).run(7.5)
    _, events = watched(world.detections())
    truth = [(f.what, f.t) for f in world.told("cushion")]
    told = [(e.cushion.value, e.t) for e in of(events, "cushion")]
    assert [c for c, _ in told] == [c for c, _ in truth]
    assert max(abs(a[1] - b[1]) for a, b in zip(told, truth, strict=True)) < HALF_FRAME_S
    assert not of(events, "contact")


def test_lines_are_crossed_in_the_right_direction():
    world = World({"cue": (500.0, 400.0), "a": (3000.0, 300.0)}).strike(0.8, "cue", 1000, 700).run(6.0)
    _, events = watched(world.detections())
    crossed = [(e.line.value, e.direction) for e in of(events, "crossed")]
    assert crossed[:2] == [("house", 1), ("long", 1)]


def test_full_hit_of_look_alikes_keeps_them_apart():
    """Equal masses hand on their speed: the ball that goes on is not the one that came."""
    world = World({"a": (800.0, 880.0), "b": (1600.0, 885.0), "cue": (3000.0, 300.0)})
    world.strike(0.8, "a", 900, 0).run(11.0)
    rows, events = watched(world.detections(dropout=0.1))
    (contact,) = of(events, "contact")[:1]
    striker, struck = contact.balls
    assert striker == of(events, "strike")[0].ball
    last = {r.ball: r for r in rows}
    end_a, end_b = world.places["a"][-1], world.places["b"][-1]
    assert (last[striker].x, last[striker].y) == pytest.approx(end_a, abs=6)
    assert (last[struck].x, last[struck].y) == pytest.approx(end_b, abs=6)


def test_a_first_stroke_with_another_ball_than_looks_say_is_in_doubt():
    """Either the striker took the wrong ball, or the ball of another colour is not the cue ball: a person decides."""
    world = World({"cue": (3000.0, 300.0), "a": (800.0, 880.0), "b": (1600.0, 500.0)})
    world.strike(0.8, "a", 900, 0).strike(12.0, "a", 500, 200).run(20.0)
    _, events = watched(world.detections())
    first, second = of(events, "strike")
    assert first.ball != "cue" and first.confidence <= 0.6
    assert second.confidence > 0.9


def test_the_ball_struck_first_is_the_cue_ball_though_another_looks_a_little_different():
    """A yellowed or shaded object ball is no cue ball."""
    world = World({"yellowed": (3000.0, 300.0), "a": (800.0, 880.0), "b": (1600.0, 500.0)})
    world.strike(0.8, "a", 900, 0).run(12.0)
    rows, events = watched(world.detections(colours={"yellowed": np.array([80.0, 4.0, 32.0])}))
    (strike,) = of(events, "strike")
    assert strike.ball == "cue" and strike.confidence > 0.9
    first = {b.ball: (b.x, b.y) for b in of(events, "rest")[0].balls}
    assert len(first) == 3
    assert first["cue"] == pytest.approx((800.0, 880.0), abs=4)
    assert (next(r.x for r in rows if r.ball == "cue")) == pytest.approx(800.0, abs=8)


def test_two_balls_struck_at_once_are_two_strikes():
    """The lag: both players play together."""
    world = World({"cue": (500.0, 450.0), "15": (500.0, 1300.0)})
    world.strike(1.0, "cue", 1500, 0).strike(1.15, "15", 1400, 0).run(18.0)
    _, events = watched(world.detections())
    strikes = of(events, "strike")
    assert [round(e.t, 1) for e in strikes] == [1.0, 1.1] or [e.t for e in strikes] == pytest.approx(
        [1.0, 1.15], abs=0.03
    )
    assert len(of(events, "rest")) == 2


def test_a_near_miss_is_no_contact():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0)}).strike(0.8, "cue", 1500, 0).run(9.0)
    assert not world.told("contact")
    _, events = watched(world.detections())
    assert not of(events, "contact")
    assert not of(events, "touch")


def test_noise_alone_moves_nothing():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)}).run(12.0)
    _, events = watched(world.detections(sigma_mm=4.0, dropout=0.2, false_rate=0.3))
    assert [e.type for e in events] == ["rest"]


def test_a_video_that_begins_in_a_stroke_tells_no_strike():
    world = World({"cue": (600.0, 880.0), "a": (2900.0, 300.0)}).strike(0.0, "cue", 700, -420).run(9.5)
    frames = [f for f in world.detections() if f.t_s > 0.4]
    _, events = watched(frames)
    assert not of(events, "strike")
    assert len(of(events, "rest")) == 1
    assert of(events, "cushion")


def test_a_video_that_ends_in_a_stroke_tells_no_rest():
    world = World({"cue": (600.0, 880.0), "a": (2900.0, 300.0)}).strike(1.0, "cue", 1500, 200).run(2.2)
    _, events = watched(world.detections())
    assert len(of(events, "strike")) == 1
    assert len(of(events, "rest")) == 1  # the one at the beginning
    assert not of(events, "stopped")


def test_the_first_position_can_be_left_out():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0)}).run(2.0)
    _, events = watched(world.detections(), initial_rest=False)
    assert events == []


def test_hidden_resting_ball_is_kept():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)})
    world.strike(3.0, "cue", 800, -500).run(8.0)
    rows, events = watched(world.detections(hidden={"b": (2.0, 5.0)}))
    assert not of(events, "picked_up")
    assert len(of(events, "rest")[-1].balls) == 3
    b = [r for r in rows if abs(r.x - 2500) < 10 and abs(r.y - 300) < 10]
    assert any(r.state is BallState.HIDDEN for r in b)
    assert len({r.ball for r in b}) == 1
