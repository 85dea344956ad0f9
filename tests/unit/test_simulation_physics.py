"""Strokes computed for the simulator obey what every player knows of balls, cushions and pockets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision_referee.calibration.tables import load_table
from vision_referee.domain.errors import InputError
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.simulation import pooltool_table
from vision_referee.simulation.physics import Motion, Roll, roll, strike_motion
from vision_referee.simulation.physics_params import PhysicsParams
from vision_referee.simulation.pocket_shape import depth_and_side_mm
from vision_referee.simulation.rack import rack_places
from vision_referee.simulation.rack_burst import burst

PARAMS = PhysicsParams()


@pytest.fixture(scope="module")
def table() -> TableSpec:
    pytest.importorskip("pooltool", reason="pooltool is not installed: run `make sim`")
    return load_table("pyramid-12ft")


def struck(table: TableSpec, x: float, y: float, toward: tuple[float, float], speed: float, **spin: float) -> Motion:
    at = Motion.at_rest(x, y, table.ball_radius_mm)
    angle = math.degrees(math.atan2(toward[1] - y, toward[0] - x))
    return strike_motion(
        at, direction_deg=angle, speed_mm_s=speed, side=spin.get("side", 0.0), top=spin.get("top", 0.0),
        radius_mm=table.ball_radius_mm,
    )  # fmt: skip


def resting(table: TableSpec, x: float, y: float) -> Motion:
    return Motion.at_rest(x, y, table.ball_radius_mm)


def fallen(outcome: Roll) -> list[tuple[str, str]]:
    return [(i.balls[0], i.what) for i in outcome.impacts if i.kind == "hole"]


def test_a_rolling_ball_slows_by_friction_times_gravity(table: TableSpec) -> None:
    # Struck at 0.4 R above the middle the ball rolls at once.
    outcome = roll({"cue": struck(table, 300, 887, (3000, 887), 500, top=0.4)}, table, PARAMS)
    piece = outcome.pieces["cue"]
    fast, slow = (float(np.hypot(*piece.at(t).velocity_mm_s[:2])) for t in (1.0, 3.0))
    assert (fast - slow) / 2 == pytest.approx(PARAMS.rolling_friction * 9810, rel=0.01)
    assert outcome.t1_s == pytest.approx(500 / (PARAMS.rolling_friction * 9810), rel=0.02)


def test_after_a_full_stun_hit_the_cue_ball_stays_and_the_object_ball_goes(table: TableSpec) -> None:
    balls = {"cue": struck(table, 1000, 887, (3000, 887), 3000), "1": resting(table, 1150, 887)}
    outcome = roll(balls, table, PARAMS)
    after = outcome.impacts[0].t_s + 1e-4
    cue, one = (float(np.hypot(*outcome.pieces[b].at(after).velocity_mm_s[:2])) for b in ("cue", "1"))
    assert one > 0.9 * 2800
    assert cue < 0.1 * one


def test_a_cushion_is_met_one_radius_from_its_nose_and_turns_the_ball_back(table: TableSpec) -> None:
    outcome = roll({"cue": struck(table, 1000, 600, (1000, 0), 1500)}, table, PARAMS)
    hit = outcome.impacts[0]
    assert hit.kind == "nose"
    assert hit.what.startswith("right")
    assert hit.xy_mm[0][1] == pytest.approx(table.ball_radius_mm, abs=0.1)
    assert outcome.pieces["cue"].at(hit.t_s + 1e-4).velocity_mm_s[1] > 500


@pytest.mark.parametrize("name", list(PocketName))
@pytest.mark.parametrize("spec", ["pyramid-12ft", "pyramid-8ft", "pool-9ft", "snooker-12ft"])
def test_a_ball_rolled_at_the_middle_of_a_mouth_falls_between_its_jaws(
    table: TableSpec, spec: str, name: PocketName
) -> None:
    other = load_table(spec)
    pocket = other.pocket(name)
    goal = pocket.mouth_mm
    start = (goal[0] + 500 * pocket.inward[0], goal[1] + 500 * pocket.inward[1])
    outcome = roll({"cue": struck(other, *start, goal, 900)}, other, PARAMS)
    assert fallen(outcome) == [("cue", str(name))]
    hole = next(i for i in outcome.impacts if i.kind == "hole")
    depth, side = depth_and_side_mm(pocket, *hole.xy_mm[0])
    assert 0 < depth < 40
    assert side < pocket.width_mm / 2


def test_a_ball_rolled_a_hand_beside_the_mouth_does_not_fall(table: TableSpec) -> None:
    pocket = table.pocket(PocketName.MIDDLE_LEFT)
    x = pocket.mouth_mm[0] + 90
    outcome = roll({"cue": struck(table, x, 1200, (x, 1775), 900)}, table, PARAMS)
    assert fallen(outcome) == []


def test_tight_jaws_refuse_what_a_pool_pocket_takes(table: TableSpec) -> None:
    # The same miss, 20 mm off the axis: a 73 mm mouth leaves a 68 mm ball 2.5 mm a side.
    answers = {}
    for name in ("pyramid-12ft", "pool-9ft"):
        spec = load_table(name)
        pocket = spec.pocket(PocketName.FOOT_LEFT)
        ix, iy = pocket.inward
        goal = (pocket.mouth_mm[0] - 20 * iy, pocket.mouth_mm[1] + 20 * ix)
        start = (goal[0] + 500 * ix, goal[1] + 500 * iy)
        answers[name] = fallen(roll({"cue": struck(spec, *start, goal, 2500)}, spec, PARAMS))
    assert answers["pyramid-12ft"] == []
    assert answers["pool-9ft"] == [("cue", "foot_left")]


def test_a_driven_rack_spreads_and_keeps_its_momentum(table: TableSpec) -> None:
    places = list(rack_places(table, gap_mm=0.2).values())
    radius = table.ball_radius_mm
    apex = places[0]
    at = np.array([(apex[0] - 2 * radius - 0.01, apex[1] + 3.0), *places]) / 1000
    speed = np.zeros_like(at)
    speed[0] = (8.0, 0.0)
    after = burst(at, speed, radius_m=radius / 1000, mass_kg=0.285, restitution=0.95, movers=range(16))
    end = after.velocities_m_s[-1]
    assert np.allclose(end.sum(axis=0), (8.0, 0.0), atol=1e-6)
    assert 0.5 * 64 < (end**2).sum() < 64
    # No two corner balls take nearly all, as in a chain of single collisions.
    assert (np.hypot(*end.T) > 0.4).sum() >= 8


def test_balls_side_by_side_at_even_pace_do_not_collide(table: TableSpec) -> None:
    balls = {"cue": struck(table, 1100, 450, (3500, 450), 2800), "15": struck(table, 500, 1300, (3500, 1300), 3300)}
    outcome = roll(balls, table, PARAMS)
    assert [i for i in outcome.impacts if i.kind == "ball"] == []


def test_top_and_side_set_the_spin(table: TableSpec) -> None:
    rolling = struck(table, 500, 500, (1500, 500), 1000, top=0.4)
    # v = w R about the axis to the left of the motion.
    assert rolling.spin_rad_s[1] * table.ball_radius_mm == pytest.approx(1000)
    right_english = struck(table, 500, 500, (1500, 500), 1000, side=0.3)
    assert right_english.spin_rad_s[2] > 0


def test_balls_in_each_other_are_refused(table: TableSpec) -> None:
    with pytest.raises(InputError, match="in each other"):
        roll({"cue": struck(table, 500, 500, (900, 500), 900), "1": resting(table, 520, 500)}, table, PARAMS)


def test_without_pooltool_the_user_is_told_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_name: str) -> None:
        raise ImportError("No module named 'pooltool'")

    monkeypatch.setattr(pooltool_table.importlib, "import_module", gone)
    with pytest.raises(InputError, match="make sim"):
        roll({"cue": resting(load_table("pyramid-12ft"), 500, 500)}, load_table("pyramid-12ft"), PARAMS)
