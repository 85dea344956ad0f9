"""Arms, hands and cues over the table: what is hidden is not gone, and what nothing touched did not move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_world import TABLE, World
from test_events_of_a_stroke import of, watched

from vision_referee.detection.detections import Detections
from vision_referee.domain.events import TouchedBy
from vision_referee.tracking.cover import ClothSeen, CoverLog, ring_cover

SHAPE = (33, 65)
CELL_MM = (TABLE.width_mm / SHAPE[0], TABLE.length_mm / SHAPE[1])
D = TABLE.ball_diameter_mm


def cover_map(*spots: tuple[float, float, float]) -> np.ndarray:
    """A map with discs (x_mm, y_mm, radius_mm) covered."""
    y = (np.arange(SHAPE[0]) + 0.5)[:, None] * CELL_MM[0]
    x = (np.arange(SHAPE[1]) + 0.5)[None, :] * CELL_MM[1]
    found = np.zeros(SHAPE)
    for cx, cy, radius in spots:
        found = np.maximum(found, ((x - cx) ** 2 + (y - cy) ** 2 < radius**2).astype(float))
    return found


def under(frames: list[Detections], spots) -> list[Detections]:
    """The frames with maps: ``spots(t)`` gives what is covered; balls that are seen are left out, as the eye does."""
    out = []
    for seen in frames:
        covered = cover_map(*spots(seen.t_s))
        for x, y in seen.xy_mm:
            covered[cover_map((x, y, 1.1 * D)) > 0] = 0.0
        out.append(replace(seen, occluder=covered))
    return out


def drawn_aside(frames: list[Detections], near, t0: float, t1: float, by_mm: float) -> list[Detections]:
    """A ball at ``near`` half hidden from t0 to t1: its centre is seen farther and farther aside, then not at all."""
    out = []
    for seen in frames:
        if t0 <= seen.t_s < t1:
            xy = seen.xy_mm.copy()
            mine = np.hypot(*(xy - near).T) < 20
            share = (seen.t_s - t0) / (t1 - t0)
            xy[mine] += np.array([0.0, by_mm * share])
            keep = ~mine | (share < 0.7)
            seen = replace(
                seen, xy_mm=xy[keep], xy_px=seen.xy_px[keep], r_px=seen.r_px[keep], confidence=seen.confidence[keep],
                sigma_mm=seen.sigma_mm[keep], number_p=seen.number_p[keep], colour=seen.colour[keep],
                blur_px=seen.blur_px[keep],
            )  # fmt: skip
        out.append(seen)
    return out


def test_a_ball_that_an_arm_slides_over_was_neither_touched_nor_struck_nor_placed():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)})
    world.run(8.0)
    frames = world.detections(dropout=0.0, hidden={"a": (3.5, 5.0)})
    frames = drawn_aside(frames, (1600.0, 960.0), 3.0, 3.5, 26.0)
    frames = under(frames, lambda t: [(1600.0, 960.0, 160.0)] if 2.9 <= t <= 5.3 else [])
    _, events = watched(frames)
    assert not [e for e in events if e.type in ("touch", "strike", "placed", "picked_up", "stopped", "contact")]


def test_a_ball_that_was_covered_from_the_beginning_was_not_placed_when_it_comes_into_view():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)})
    frames = world.run(8.0).detections(dropout=0.0, hidden={"a": (0.0, 4.0)})
    frames = under(frames, lambda t: [(1600.0, 960.0, 170.0)] if t <= 4.0 else [])
    _, events = watched(frames)
    assert not of(events, "placed")


def test_a_ball_put_on_bare_cloth_was_placed():
    world = World({"cue": (600.0, 880.0), "b": (2500.0, 300.0)}).put(4.0, "a", 1600.0, 960.0).run(8.0)
    frames = under(world.detections(dropout=0.0), lambda t: [(1600.0, 960.0, 170.0)] if 3.5 <= t <= 4.2 else [])
    (placed,) = of(watched(frames)[1], "placed")
    assert placed.t == pytest.approx(4.0, abs=0.3)


def test_a_ball_that_a_hand_took_is_told_within_two_seconds_at_the_time_it_went():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)}).take(4.1, "a").run(6.0)
    frames = under(
        world.detections(dropout=0.0, hidden={"a": (4.0, 4.1)}),
        lambda t: [(1600.0, 960.0, 160.0)] if 3.9 <= t <= 4.4 else [],
    )
    (taken,) = of(watched(frames)[1], "picked_up")
    assert taken.t == pytest.approx(4.1, abs=0.1)
    assert taken.confidence >= 0.9


def test_a_ball_hidden_for_long_under_a_body_is_still_there():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)}).run(7.0)
    frames = under(
        world.detections(dropout=0.0, hidden={"a": (2.0, 6.0)}),
        lambda t: [(1600.0, 960.0, 300.0)] if 1.9 <= t <= 6.1 else [],
    )
    _, events = watched(frames)
    assert not of(events, "picked_up")
    assert not of(events, "placed")


def test_a_ball_that_a_hand_pushes_along_was_touched_by_the_hand_and_not_struck():
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)})
    for t, share in ((3.0, 0.1), (3.1, 0.25), (3.2, 0.3), (3.3, 0.25), (3.4, 0.1)):
        world.drag(t, t + 0.1, "a", 180.0 * share, 40.0 * share)
    world.run(6.0)

    def hand(t):
        share = float(np.clip((t - 3.0) / 0.5, 0, 1))
        return [(1600.0 + 180 * share - 90, 960.0 + 40 * share, 70.0)] if 2.6 <= t <= 3.8 else []

    _, events = watched(under(world.detections(dropout=0.0), hand))
    assert not of(events, "strike")
    (touch,) = of(events, "touch")
    assert touch.by is TouchedBy.HAND
    assert touch.moved_mm == pytest.approx(184, abs=10)


def test_a_ball_struck_too_fast_to_be_seen_was_not_taken_away():
    world = World({"cue": (600.0, 880.0), "a": (1500.0, 880.0), "b": (2500.0, 300.0)})
    world.strike(2.0, "cue", 6000.0, 0.0).take(2.3, "cue").run(7.0)
    frames = world.detections(dropout=0.0, hidden={"cue": (2.0, 9.0)})
    cue = [(480.0, 880.0, 50.0)]
    _, events = watched(under(frames, lambda t: cue if 1.5 <= t <= 2.3 else []))
    assert not of(events, "picked_up")
    (strike,) = of(events, "strike")
    assert strike.t == pytest.approx(2.0, abs=0.06)
    assert strike.confidence < 0.9


def test_nothing_near_nothing_touched():
    """A resting ball's centre that shifts by more than noise, with bare cloth all about it, is the eye's doing."""
    world = World({"cue": (600.0, 880.0), "a": (1600.0, 960.0), "b": (2500.0, 300.0)}).run(6.0)
    frames = []
    for seen in under(world.detections(dropout=0.0), lambda t: []):
        xy = seen.xy_mm.copy()
        if seen.t_s > 3.0:
            xy[np.hypot(*(xy - (1600.0, 960.0)).T) < 20] += (12.0, 0.0)
        frames.append(replace(seen, xy_mm=xy))
    _, events = watched(frames)
    assert not [e for e in events if e.type in ("touch", "strike", "stopped")]


def test_the_ring_about_a_ball_tells_an_arm_from_bare_cloth():
    balls = np.array([[1600.0, 960.0], [600.0, 500.0]])
    share, most = ring_cover(cover_map((1600.0, 960.0, 300.0)), TABLE, balls)
    assert share[0] > 0.9
    assert most[1] == 0.0


def test_bare_cloth_is_remembered_and_a_ball_is_no_bare_cloth():
    cloth = ClothSeen(TABLE)
    assert cloth.bare_s(np.array([1600.0, 960.0])) is None
    cloth.note(1.0, cover_map((2500.0, 300.0, 120.0)), np.array([[600.0, 880.0]]))
    assert cloth.bare_s(np.array([1600.0, 960.0])) == 1.0
    assert cloth.bare_s(np.array([600.0, 880.0])) == -np.inf
    assert cloth.bare_s(np.array([2500.0, 300.0])) == -np.inf


def test_without_maps_nobody_can_say_what_was_near():
    assert CoverLog(TABLE).near(np.array([600.0, 880.0]), 0.0, 9.0) is None
