"""Strokes at the edges of the rules: close balls, safeties, hanging balls, doubt; what is the book's word on each."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.rules_match import TABLE, Match, codes, counted, restored, spots, table_for
from vision_referee.domain.events import Pocketed, Shake
from vision_referee.domain.rulings import CueBallState, Foul, FoulCode, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.rules.doubt import Edges, joint_cases
from vision_referee.rules.draft import Draft
from vision_referee.rules.house import beyond_line_mm, in_house
from vision_referee.rules.jolt import jolted
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.spotting import is_free
from vision_referee.rules.state import GameState

POT = {"pots": "7 foot_left", "call": "7 foot_left"}
LIP = (3538.0, 1763.0)


def event(dt: float, name: str, /, **fields: Any) -> dict[str, Any]:
    return {"dt": dt, "type": name, **fields}


def state_of(match: Match) -> GameState:
    referee = match.referee()
    for one in match.events():
        referee.push(one)
    assert referee.state is not None
    return referee.state


# --- G-14: the close ball ---


def close(
    upright: bool, *, ends: float, v: float = 1500, extra: list[dict[str, Any]] | None = None, **told: Any
) -> Any:
    """The seven stands 80 mm beyond the cue ball, along x or along y; its line is 80 from the cue ball's place."""
    turn = (lambda a, b: (600 + b, 700 + a)) if upright else (lambda a, b: (1000 + a, 600 + b))
    placed = [
        {**one, **dict(zip("xy", turn(one.pop("a"), one.pop("b")), strict=True))} if "a" in one else one
        for one in [dict(one) for one in extra or []]
    ]
    match = Match("moscow").lie(cue=turn(0, 0), b7=turn(80, 0), b9=turn(150, 0), b12=(3000, 1600))
    velocity = (0.0, v) if upright else (v, 0.0)
    return match.stroke("7", v=velocity, ends={"cue": turn(ends, 0)}, extra=placed, **told).last()


@pytest.mark.parametrize("upright", [False, True])
@pytest.mark.parametrize(
    ("ends", "extra", "told", "crossed"),
    [
        (100, [], {}, True),
        (60, [], {}, False),
        (0, [], {}, False),  # it stopped where it was
        (60, [event(0.1, "cushion", ball="cue", cushion="left", a=500, b=0)], {}, False),  # before the contact
        (60, [event(0.5, "cushion", ball="7", cushion="foot", a=500, b=0)], {}, False),  # another ball's
        (-90, [event(0.3, "cushion", ball="cue", cushion="foot", a=500, b=0)], {}, True),
        (-90, [event(0.5, "cushion", ball="cue", cushion="foot", a=500, b=0),
               event(0.9, "cushion", ball="cue", cushion="head", a=-300, b=0)], {}, True),
        (200, [event(0.5, "cushion", ball="cue", cushion="head", a=-50, b=0),
               event(0.9, "cushion", ball="cue", cushion="foot", a=500, b=-400)], {}, False),
        (60, [], {"pots": "7 foot_left"}, False),
        (60, [], {"off": "7"}, False),
        (60, [], {"pots": "cue foot_left"}, True),
        (60, [], {"off": "cue"}, True),
        # The centre is a radius behind the point of contact, while the other ball stands where it stood.
        (200, [event(0.5, "contact", balls=["cue", "9"], a=110, b=0)], {}, False),
        (200, [event(0.4, "contact", balls=["7", "9"], a=110, b=0),
               event(0.5, "contact", balls=["cue", "9"], a=110, b=0)], {}, True),
        (-90, [event(0.3, "contact", balls=["cue", "12"], a=200, b=0)], {}, True),
        (200, [event(0.5, "contact", balls=["cue", "u44"], a=60, b=0)], {}, False),
    ],
)  # fmt: skip
def test_where_the_cue_ball_was_when_it_first_met_something_after_a_close_ball(
    upright: bool, ends: float, extra: list[dict[str, Any]], told: dict[str, Any], crossed: bool
) -> None:
    ruling = close(upright, ends=ends, extra=extra, **told)
    assert ("close_ball" in codes(ruling)) == crossed


def test_a_close_ball_is_named_with_the_moment_of_the_contact() -> None:
    ruling = close(False, ends=100)
    assert ruling.fouls[0].balls == ("7",) and ruling.fouls[0].t == pytest.approx(15.3)
    match = Match("moscow").lie(cue=(1000, 600), b7=(1080, 600), b9=(3000, 1600))
    both_ways = [event(0.3, "contact", balls=["7", "cue"], x=1046, y=600)]
    assert match.stroke(v=(1500, 0), ends={"cue": (1300, 600)}, extra=both_ways).last().fouls[0].balls == ("7",)


@pytest.mark.parametrize(("reached", "foul"), [((1154, 738), True), ((974, 978), True), ((1054, 848), False)])
def test_the_penalty_line_is_square_to_the_line_of_centres(reached: tuple[float, float], foul: bool) -> None:
    match = Match("moscow").lie(cue=(1000, 800), b7=(1064, 848), b9=(3000, 1600))
    assert ("close_ball" in codes(match.stroke("7", v=(1200, 900), ends={"cue": reached}).last())) == foul


@pytest.mark.parametrize(("ends", "foul"), [(1090, False), (1110, True)])
def test_the_penalty_line_may_be_agreed_farther_off(ends: float, foul: bool) -> None:
    match = Match("moscow", penalty_line_mm=20).lie(cue=(1000, 600), b7=(1080, 600), b9=(3000, 1600))
    assert ("close_ball" in codes(match.stroke("7", v=(1500, 0), ends={"cue": (ends, 600)}).last())) == foul


def test_forty_five_degrees_are_enough_and_a_hidden_direction_is_the_way_to_the_contact() -> None:
    match = Match("moscow").lie(cue=(1000, 600), b7=(1080, 600), b9=(3000, 1600))
    assert codes(match.stroke("7", v=(1500, 1500), ends={"cue": (1300, 700)}).last()) == []
    for x, y, foul in ((1010, 700, False), (1046, 605, True)):
        match = Match("moscow").lie(cue=(1000, 600), b7=(1080, 600), b9=(3000, 1600))
        met = [event(0.3, "contact", balls=["cue", "7"], x=x, y=y)]
        ruling = match.stroke(v=(0.0, 0.0), ends={"cue": (1300, 700)}, extra=met).last()
        assert ("close_ball" in codes(ruling)) == foul


def test_a_straight_stroke_at_a_close_ball_in_any_direction_is_a_foul() -> None:
    for turned in range(1, 90, 2):
        c, s = math.cos(math.radians(turned)), math.sin(math.radians(turned))
        match = Match("moscow").lie(cue=(1000, 500), b7=(1000 + 75 * c, 500 + 75 * s), b9=(3000, 1600))
        ruling = match.stroke("7", v=(997 * c, 997 * s), ends={"cue": (1000 + 300 * c, 500 + 300 * s)}).last()
        assert codes(ruling) == ["close_ball"]


def test_a_close_ball_whose_line_of_centres_the_measure_rounds() -> None:
    match = Match("moscow").lie(cue=(1000, 500), b7=(1040, 558), b9=(3000, 1600))
    assert codes(match.stroke("7", v=(400, 580), ends={"cue": (1080, 616)}).last()) == ["close_ball"]
    there = Match("moscow").lie(cue=(1000, 600), b7=(1000, 600), b9=(3000, 1600))
    assert codes(there.stroke("7", v=(1000, 0), ends={"cue": (1300, 600)}).last()) == []


# --- M-7: a ball that stood at a cushion must have left it ---

_COMMON = event(0.95, "cushion", ball="cue", cushion="left", x=1700, y=1741)


def safety(nine: tuple[float, float], extra: list[dict[str, Any]], **told: Any) -> list[str]:
    cue = told.pop("cue", (1200, 700))
    match = Match("moscow", edition="federation").lie(cue=cue, b9=nine, b7=(1700, 900), b12=(2300, 1200))
    return codes(match.stroke("9", extra=[*extra, _COMMON], **told).last())


@pytest.mark.parametrize(
    ("cushion", "at_it", "beside_it"),
    [("head", (34, 900), (36.5, 900)), ("foot", (3516, 900), (3513.5, 900)),
     ("right", (1300, 36), (1300, 36.5)), ("left", (1300, 1741), (1300, 1738.5))],
)  # fmt: skip
def test_within_two_millimetres_a_ball_stands_at_its_cushion(
    cushion: str, at_it: tuple[float, float], beside_it: tuple[float, float]
) -> None:
    hit = event(0.8, "cushion", ball="9", cushion=cushion, x=1500, y=900)
    assert safety(at_it, [hit]) == ["bad_safety"]
    assert safety(beside_it, [hit]) == []
    assert safety(at_it, [hit], v=(1000, 300)) == ["bad_safety"]  # which way the cue ball went says nothing of the nine


@pytest.mark.parametrize(
    ("nine", "cushion", "meanwhile", "left_it"),
    [
        ((1300, 34), "right", event(0.6, "crossed", direction=1, ball="9", line="long", x=1300, y=887), True),
        ((1300, 34), "right", event(0.6, "crossed", direction=1, ball="9", line="house", x=887, y=60), False),
        ((1300, 34), "right", event(0.6, "crossed", direction=1, ball="cue", line="long", x=1300, y=887), False),
        ((1300, 34), "right", event(0.9, "crossed", direction=1, ball="9", line="long", x=1300, y=887), False),
        ((3516, 900), "foot", event(0.6, "crossed", direction=1, ball="9", line="foot", x=2662, y=900), True),
        ((34, 900), "head", event(0.6, "crossed", direction=1, ball="9", line="house", x=887, y=900), True),
        ((3516, 900), "foot", event(0.6, "crossed", direction=1, ball="9", line="long", x=3500, y=887), False),
        ((1300, 1741), "left", event(0.6, "crossed", direction=1, ball="9", line="long", x=1300, y=887), True),
        ((1300, 34), "right", event(0.6, "contact", balls=["9", "7"], x=1500, y=90), True),
        ((1300, 34), "right", event(0.6, "contact", balls=["9", "7"], x=1500, y=70), False),
        ((1300, 34), "right", event(0.9, "contact", balls=["9", "7"], x=1500, y=900), False),
    ],
)
def test_what_shows_that_a_ball_had_left_its_cushion(
    nine: tuple[float, float], cushion: str, meanwhile: dict[str, Any], left_it: bool
) -> None:
    hit = event(0.8, "cushion", ball="9", cushion=cushion, x=1500, y=900)
    assert safety(nine, [meanwhile, hit]) == ([] if left_it else ["bad_safety"])


@pytest.mark.parametrize(("vy", "away"), [(200.0, True), (50.0, False), (0.0, False), (-300.0, False)])
def test_a_cue_ball_at_the_cushion_leaves_it_when_it_is_struck_away(vy: float, away: bool) -> None:
    hit = event(0.8, "cushion", ball="cue", cushion="right", x=2000, y=34)
    match = Match("moscow", edition="federation").lie(cue=(800, 34), b9=(1300, 60), b7=(1700, 900))
    nine = event(0.9, "cushion", ball="9", cushion="left", x=1700, y=1741)
    assert codes(match.stroke("9", v=(1000, vy), extra=[hit, nine]).last()) == ([] if away else ["bad_safety"])


def test_whether_a_ball_crossed_the_centre_line_may_be_in_doubt() -> None:
    crossed = event(0.7, "crossed", direction=1, ball="9", line="centre", x=1775, y=900, confidence=0.6)
    match = Match("moscow", edition="federation").lie(cue=(1200, 700), b9=(1500, 700), b7=(1700, 900))
    ruling = match.stroke("9", extra=[crossed, _COMMON]).last()
    assert ruling.doubts == ("unsure:crossed:9:0.60",) and codes(ruling) == []


# --- single fouls ---


def test_a_foul_done_twice_bears_the_time_of_the_first() -> None:
    twice = [event(0.1, "tip", ball="cue", kind="double_hit"), event(0.2, "tip", ball="cue", kind="double_hit")]
    assert [one.t for one in table_for("moscow").stroke("9", extra=twice).last().fouls] == [15.1]


def test_half_a_second_over_the_time_is_over_the_time() -> None:
    match = table_for("moscow").stroke("9").say("shot_clock", wait=1, on=True)
    assert match.last().notes == ("clock_on:60",)
    late = match.stroke("9", wait=60.5)
    assert "time_over" in codes(late.last())
    assert late.say("shot_clock", on=False).last().notes == ("clock_off",)


@pytest.mark.parametrize("rules", ["russian", "moscow", "american"])
def test_the_body_over_the_line_is_a_foul_only_after_a_warning(rules: str) -> None:
    labels = [f"u{n}" for n in range(1, 16)]
    for warned in (False, True):
        match = Match(rules).rack(labels if rules != "russian" else None)
        if warned:
            match.say("warning", what="house_violation")
        ruling = match.stroke(
            "u1" if rules != "russian" else "4", at=(600, 887.5), extra=[event(0.1, "body_out")]
        ).last()
        assert ("house_violation" in codes(ruling)) == warned
        if warned:
            assert ruling.fouls[0].balls == ()
        else:
            assert "propose_house_warning" in ruling.notes


def test_a_cue_ball_beyond_the_line_is_named_in_the_foul() -> None:
    match = Match("moscow").rack([f"u{n}" for n in range(1, 16)]).say("warning", what="house_violation")
    ruling = match.stroke("u1", at=(1000, 887.5), confidence=0.95, extra=[event(0.1, "body_out")]).last()
    assert ruling.fouls[0].balls == ("cue",) and ruling.fouls[0].confidence == 0.95


def test_in_small_russian_the_body_over_the_line_costs_no_points_warned_or_not() -> None:
    for warned in (False, True):
        match = Match("small-russian").rack()
        if warned:
            match.say("warning", what="house_violation")
        ruling = match.stroke("4", at=(600, 887.5), call="4 foot_left", extra=[event(0.1, "body_out")]).last()
        assert codes(ruling) == ["house_violation"] and ruling.penalty is None and ruling.fouls[0].rule == "S-10"
        assert "propose_house_warning" not in ruling.notes


@pytest.mark.parametrize(
    ("contact_s", "own_s", "other_s", "missed"),
    [(0.8, 0.8, None, False), (0.3, 0.2, None, True), (0.3, None, 0.1, False), (0.3, 0.8, None, False)],
)
def test_a_cue_ball_that_fell_before_it_met_a_ball_met_none(
    contact_s: float, own_s: float | None, other_s: float | None, missed: bool
) -> None:
    told = [event(contact_s, "contact", balls=["cue", "7"], x=3200, y=1450)]
    told += [event(own_s, "pocketed", ball="cue", pocket="foot_left")] if own_s else []
    told += [event(other_s, "pocketed", ball="9", pocket="foot_left")] if other_s else []
    ruling = table_for("moscow").stroke(extra=told).last()
    assert ("no_contact" in codes(ruling)) == missed


def test_a_stroke_that_met_nothing_and_fell_bears_the_time_of_the_fall() -> None:
    ruling = table_for("moscow").stroke(pots="cue foot_left").last()
    assert [one.t for one in ruling.fouls] == [15.8]


def test_in_american_the_house_binds_only_the_break() -> None:
    match = table_for("american").say("warning", what="house_violation")
    assert codes(match.stroke("7", pots="7 foot_left").last()) == []
    broken = Match("american").rack([f"u{n}" for n in range(1, 16)]).stroke("u2", ball="u1", pots="u2 foot_left").last()
    assert codes(broken) == ["wrong_cue_ball"] and "propose_house_warning" not in broken.notes


@pytest.mark.parametrize("touch_after", [False, True])
def test_in_american_the_ball_that_went_back_may_not_be_played_next(touch_after: bool) -> None:
    match = Match("american").lie(cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600))
    match.stroke("7", pots="7 foot_left").stroke()
    match.places["7"] = (3516.0, 887.5)
    if touch_after:  # a second fine with nothing on the shelf leaves the bar as it is
        match.say("touch", wait=0.5, ball="9", by="hand", player="A")
    assert "illegal_stroke" in codes(match.stroke("7", wait=20).last())


def test_in_american_no_ball_is_taken_for_a_fallen_cue_ball() -> None:
    match = table_for("american").stroke("7", pots="cue foot_left")
    assert counted(match.last()) == {"cue": 1}
    assert match.say("remove", ball="9").last().doubts == ("remove_not_due:9",)


# --- hanging balls ---


@pytest.mark.parametrize(
    ("cue", "v", "lip", "aimed", "asked"),
    [
        ((1500, 1000), (1000, -10), (2500, 1010), True, False),
        ((1000, 300), (-10, 1000), (1010, 1300), True, False),
        ((1500, 1000), (-1000, 0), (2500, 1000), False, False),
        ((1500, 1000), (1000, 0), (2500, 1034), True, True),
        ((1500, 1000), (1000, 0), (2500, 1034.5), False, True),
    ],
)
def test_at_which_hanging_ball_the_cue_ball_was_played(
    cue: tuple[float, float], v: tuple[float, float], lip: tuple[float, float], aimed: bool, asked: bool
) -> None:
    match = Match("moscow").lie(cue=cue, b7=lip, b9=(300, 300)).at(0.0, "hanging", ball="7", pocket="foot_left",
                                                                   x=lip[0], y=lip[1])  # fmt: skip
    ruling = match.stroke("9", v=v, extra=[event(0.1, "pocketed", ball="7", pocket="foot_left")]).last()
    assert ruling.replay == aimed and ("edge:aim:7" in ruling.doubts) == asked


def hung(match: Match, ball: str = "7") -> Match:
    return match.at(match.t, "hanging", ball=ball, pocket="foot_left", x=LIP[0], y=LIP[1])


def test_a_hanging_ball_met_at_the_moment_of_its_fall_fell_by_the_stroke() -> None:
    match = hung(table_for("moscow").stroke("9"))
    told = [
        event(0.8, "contact", balls=["9", "7"], x=3500, y=1700),
        event(0.8, "pocketed", ball="7", pocket="foot_left"),
    ]
    assert counted(match.stroke("9", extra=told, wait=20).last()) == {"7": 1}


def test_five_seconds_are_long_enough_on_the_lip() -> None:
    match = hung(table_for("moscow").stroke("9", ends={"7": LIP}))
    fall = event(0.8, "pocketed", ball="7", pocket="foot_left")
    assert match.t == 18.0
    assert "hanging_fell_in_next_stroke" not in match.stroke("9", extra=[fall], wait=4.2).last().doubts
    late = hung(table_for("moscow").stroke("9")).say("pocketed", wait=5, ball="7", pocket="foot_left").last()
    assert late.notes == ("hung:7:5.0",) and restored(late) == {"7": LIP}


def test_a_hanging_ball_that_the_player_touched_during_the_stroke_hangs_no_more() -> None:
    match = hung(table_for("moscow").stroke("9")).stroke("9", wait=20, extra=[event(0.5, "touch", ball="7", by="hand")])
    assert dict(state_of(match).hanging) == {}


@pytest.mark.parametrize(
    ("dt", "confidence", "likely", "doubts"),
    [
        (0.0, 1.0, True, ()), (0.75, 0.9, True, ()), (0.75, 0.89, True, ("unsure:shake::0.89",)),
        (0.875, 0.9, True, ("edge:jolt_time",)), (1.0, 1.0, True, ("edge:jolt_time",)),
        (1.125, 0.5, False, ("edge:jolt_time",)), (1.25, 1.0, False, ()), (0.75, 0.5, True, ("unsure:shake::0.50",)),
        (0.25, 0.4, False, ("unsure:shake::0.40",)), (-0.25, 1.0, False, ()),
        (0.875, 0.4, False, ("unsure:shake::0.40",)),
    ],
)  # fmt: skip
def test_what_a_jolt_explains(dt: float, confidence: float, likely: bool, doubts: tuple[str, ...]) -> None:
    fall = Pocketed(t=8.0, ball="7", pocket=PocketName.FOOT_LEFT)
    found = jolted([Shake(t=8.0 - dt, confidence=confidence)], fall, RuleSettings(shake_s=1.0, time_error_s=0.25))
    assert (found.likely, found.doubts) == (likely, doubts)


# --- doubt ---


def test_a_measure_just_as_far_from_its_edge_as_its_error_is_no_doubt() -> None:
    edges = Edges()
    assert edges.decide("gap", True, 2.0, 2.0) and not edges.met
    assert edges.decide("gap", True, 1.9, 2.0) and edges.met == {"gap": "edge:gap"}
    assert edges.believe("hanging", "7", 0.5, 0.9) and not edges.believe("hanging", "7", 0.49, 0.9)
    assert joint_cases([0.8] * 6, 0.9) and joint_cases([0.68] * 2, 0.9) and not joint_cases([0.8], 0.9)


def test_two_decisions_are_the_same_where_one_foul_holds_in_both_or_none_in_either() -> None:
    push, hit = (Foul(code=code, rule="", t=0.0) for code in (FoulCode.PUSH, FoulCode.DOUBLE_HIT))
    none = Draft(kind=RulingKind.STROKE, t_start=0, t_end=1, player="A", next_player="B",
                 cue_ball=CueBallState.IN_PLACE, places={})  # fmt: skip
    one, other, both = (replace(none, fouls=fouls) for fouls in ((push,), (hit,), (push, hit)))
    assert none.same_decision(none) and one.same_decision(one) and one.same_decision(both)
    assert not none.same_decision(one) and not one.same_decision(none) and not one.same_decision(other)
    assert not one.same_decision(replace(one, next_player="A"))


def test_two_doubts_make_a_ruling_no_surer_than_one() -> None:
    alone = table_for("russian").stroke("7", pots="7 foot_left").last()
    both = table_for("russian").stroke("7", pots="7 foot_left", confidence=0.8).last()
    assert (alone.confidence, both.confidence) == (0.75, 0.75)
    assert both.doubts == ("missing_call", "unsure:strike:cue:0.80")


@pytest.mark.parametrize(
    ("sure", "doubts", "confidence"),
    [((0.6, 0.6), ("unsure:touch:12:0.60",), 0.84), ((0.65, 0.65, 0.65), (), 1.0),
     ((0.6, 0.6, 0.6), ("unsure:touch:12:0.60",), 0.936)],
)  # fmt: skip
def test_facts_that_matter_only_together_and_how_sure_they_leave_the_ruling(
    sure: tuple[float, ...], doubts: tuple[str, ...], confidence: float
) -> None:
    told = [
        event(0.9, "touch", ball="12", by="hand"),
        event(1.0, "tip", ball="cue", kind="double_hit"),
        event(1.1, "tip", ball="cue", kind="push"),
    ]
    extra = [one | {"confidence": confidence} for one, confidence in zip(told, sure, strict=False)]
    ruling = table_for("russian").stroke("7", **POT, extra=extra).last()
    assert ruling.doubts == doubts and ruling.confidence == pytest.approx(confidence)


def test_a_return_that_changes_nothing_is_not_asked_about() -> None:
    told = [
        event(0.5, "left_table", ball="12", x=3700.0, y=900.0),
        event(0.7, "returned", ball="12", x=3000.0, y=900.0, touched="unknown"),
        event(0.9, "pocketed", ball="12", pocket="foot_left"),
    ]
    ruling = table_for("russian").stroke("7", call="7 foot_left", extra=told).last()
    assert "returned_from_unknown" not in ruling.doubts and list(spots(ruling)) == ["12"]


def test_in_a_stroke_cut_short_only_an_unsure_rest_is_asked_about_as_one() -> None:
    match = table_for("russian").stroke("7", **POT, rest=False, extra=[event(0.5, "touch", ball="12", by="hand",
                                                                             confidence=0.4)])  # fmt: skip
    ruling = match.stroke("9", call="9 foot_left", wait=2).rulings()[0]
    assert ruling.doubts == ("unsure:touch:12:0.40",)


@pytest.mark.parametrize(("confidence", "review"), [(0.9, False), (0.89, True)])
def test_how_sure_the_rest_must_be(confidence: float, review: bool) -> None:
    match = table_for("russian").stroke("7", **POT)
    match.values[-1]["confidence"] = confidence
    assert match.stroke("9", call="9 middle_right").last().review == review


def test_only_a_whole_call_is_repeated_by_the_referee() -> None:
    match = table_for("russian").say("call", ball="7").stroke("7", pots="7 foot_left")
    assert match.last().notes == () and match.last().doubts == ("missing_call",)


def test_a_ball_called_by_its_label_may_fall_under_its_number() -> None:
    match = (
        Match("russian").lie(cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600)).say("identified", ball="u2", number=7)
    )
    assert counted(match.stroke("7", call="u2 foot_left", pots="7 foot_left").last()) == {"7": 7}


# --- numbers, places ---


def test_a_foot_line_is_outside_the_temporary_house() -> None:
    assert not in_house(TABLE, 2662.5, CueBallState.IN_HAND_FOOT) and in_house(TABLE, 2663, CueBallState.IN_HAND_FOOT)
    assert beyond_line_mm(TABLE, 2660.0, CueBallState.IN_HAND_FOOT) == 2.5
    assert not is_free(TABLE, (0, 0), [(68.02, 0)]) and is_free(TABLE, (0, 0), [(68.06, 0)])


def test_the_last_number_of_a_full_rack_is_deduced_and_never_guessed() -> None:
    places = {f"b{n}": (300.0 + 80 * n, 400.0) for n in range(2, 16)}
    state = state_of(Match("small-russian").lie(cue=(300, 900), u1=(2000, 1000), **places))
    assert state.number_of("u1") == 1
    del places["b9"]
    state = state_of(Match("small-russian").lie(cue=(300, 900), u1=(2000, 1000), u2=(2200, 1000), **places))
    assert state.number_of("u1") is None and state.number_of("u2") is None


def test_a_ball_of_unknown_number_beside_the_called_one_scores_nothing_yet() -> None:
    match = Match("small-russian").lie(cue=(2700, 1000), b7=(3200, 1450), u1=(1200, 600), b12=(300, 300))
    ruling = match.stroke("7", call="7 foot_left", pots="7 foot_left, u1 foot_left").last()
    assert counted(ruling) == {"7": 7, "u1": 0} and ruling.doubts == ("unknown_number",)


def test_a_racked_ball_alone_is_the_last_ball() -> None:
    match = Match("small-russian").say("racked", balls=[{"ball": "7", "x": 2662.5, "y": 887.5}])
    match.places = {"7": (2662.5, 887.5)}
    assert counted(match.stroke("7", at=(600, 887), call="7 foot_left", pots="7 foot_left").last()) == {"7": 17}
