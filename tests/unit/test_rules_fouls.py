"""The fouls of G-20, in every game that has them."""

from __future__ import annotations

import pytest

from tests.unit.rules_match import (
    ALL_GAMES,
    FOOT_SPOT,
    Match,
    codes,
    counted,
    following,
    penalty,
    restored,
    spots,
    table_for,
)

POT = {"pots": "7 foot_left", "call": "7 foot_left"}


def _pays(rules: str) -> object:
    """The penalty of a foul by A in this game, with nothing on A's shelf."""
    return (5, "B") if rules in ("small-russian", "russian") else (1, None)


@pytest.mark.rule("G-20", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_of_several_fouls_all_are_listed_and_one_is_paid(rules: str) -> None:
    extra = [{"dt": 0.4, "type": "touch", "ball": "12", "by": "hand"}, {"dt": 0.1, "type": "illegal_tip"}]
    ruling = table_for(rules).stroke("7", **POT, extra=extra, off="9").last()
    assert codes(ruling) == ["ball_touched", "illegal_stroke"] and penalty(ruling) == _pays(rules)
    assert counted(ruling) == {} and set(spots(ruling)) == {"7", "9"}


@pytest.mark.rule("G-20", broken=False)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_without_a_foul_there_is_no_penalty(rules: str) -> None:
    assert table_for(rules).stroke("7", **POT).last().penalty is None


@pytest.mark.rule("G-20.1", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_touching_no_ball_is_a_foul(rules: str) -> None:
    ruling = table_for(rules).stroke(call="7 foot_left").last()
    assert codes(ruling) == ["no_contact"] and penalty(ruling) == _pays(rules)


@pytest.mark.rule("G-20.1", broken=False)
def test_a_contact_between_other_balls_does_not_help_but_one_of_the_cue_ball_does() -> None:
    others = [{"dt": 0.4, "type": "contact", "balls": ["9", "12"], "x": 1200, "y": 600}]
    assert codes(table_for("russian").stroke(call="7 foot_left", extra=others).last()) == ["no_contact"]
    assert codes(table_for("russian").stroke("9", call="7 foot_left", extra=others).last()) == []


@pytest.mark.rule("G-20.5", broken=True)
@pytest.mark.parametrize("by", ["cue", "hand", "clothing", "rest", "unknown"])
def test_a_ball_touched_during_the_stroke_by_anything_is_a_foul(by: str) -> None:
    ruling = table_for("russian").stroke("7", **POT, extra=[{"dt": 1, "type": "touch", "ball": "12", "by": by}]).last()
    assert codes(ruling) == ["ball_touched"] and following(ruling) == ("B", "in_place")


@pytest.mark.rule("G-20.5", broken=True)
def test_a_ball_touched_between_strokes_has_its_own_ruling_and_what_counted_stays() -> None:
    match = table_for("small-russian").stroke("7", **POT).say("touch", ball="12", by="clothing", moved_mm=20)
    stroke, between = match.rulings()
    assert counted(stroke) == {"7": 7} and between.kind.value == "between" and between.player == "A"
    assert codes(between) == ["ball_touched"] and penalty(between) == (5, "B")
    assert between.score == {"A": 2, "B": 5} and following(between) == ("B", "in_place")


def test_the_player_whose_stroke_has_just_ended_may_be_named_and_the_turn_stays_passed() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left").say("touch", ball="12", by="hand", player="A")
    ruling = match.last()
    assert ruling.player == "A" and codes(ruling) == ["ball_touched"] and following(ruling) == ("B", "in_place")
    assert ruling.score == {"A": -5, "B": 5}


def test_a_touch_right_before_the_strike_is_of_that_stroke() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left").say("touch", wait=14, ball="12", by="clothing")
    match.stroke("9", call="9 middle_right", wait=1)
    first, second = match.rulings()
    assert codes(first) == [] and second.player == "B" and codes(second) == ["ball_touched"]
    assert second.kind.value == "stroke"


@pytest.mark.rule("G-20.5", broken=False)
def test_the_cue_ball_in_hand_may_be_touched() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left", off="cue").say("touch", ball="cue", by="hand")
    assert len(match.rulings()) == 1


@pytest.mark.rule("R-6", broken=True)
def test_a_ball_touched_while_placing_the_cue_ball_passes_the_hand_on() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left", off="cue").say("touch", ball="9", by="hand")
    assert codes(match.last()) == ["ball_touched"] and following(match.last()) == ("A", "in_hand_house")
    assert match.last().score == {"A": 0, "B": 0}


@pytest.mark.rule("R-6", broken=False)
@pytest.mark.rule("M-6", broken=False)
def test_placing_the_cue_ball_in_the_house_is_in_order() -> None:
    match = table_for("moscow").stroke("7", off="cue").say("placed", ball="cue", x=500, y=500)
    assert codes(match.stroke("9", at=(500, 500), pots="9 head_right").last()) == []
    assert counted(match.last()) == {"9": 1}


@pytest.mark.rule("M-6", broken=True)
def test_in_moscow_too_the_house_has_its_bounds() -> None:
    match = table_for("moscow").stroke("7", off="cue").say("warning", what="house_violation")
    assert codes(match.stroke("9", at=(887.5, 500), pots="9 head_right").last()) == ["house_violation"]


@pytest.mark.parametrize("kind", ["push", "double_hit", "squeeze"])
@pytest.mark.rule("G-20.8", broken=True)
@pytest.mark.rule("G-20.9", broken=True)
@pytest.mark.rule("G-20.10", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_what_the_tip_did_is_a_foul(rules: str, kind: str) -> None:
    ruling = table_for(rules).stroke("7", **POT, extra=[{"dt": 0.1, "type": "tip", "ball": "cue", "kind": kind}]).last()
    free = rules == "small-russian" and kind != "double_hit"
    assert codes(ruling) == [kind] and counted(ruling) == {}
    assert penalty(ruling) == (None if free else _pays(rules))


@pytest.mark.rule("G-20.8", broken=False)
@pytest.mark.rule("G-20.9", broken=False)
@pytest.mark.rule("G-20.10", broken=False)
def test_a_push_is_asked_of_balls_more_than_half_a_radius_away() -> None:
    push = [{"dt": 0.1, "type": "tip", "ball": "cue", "kind": "push"}]
    near = Match("russian").lie(cue=(1400, 900), b7=(1478, 900), b12=(2600, 1500))
    assert codes(near.stroke("7", v=(1500, 0), extra=push, ends={"cue": (1420.0, 900.0)}).last()) == []
    unsure = [{"dt": 0.1, "type": "tip", "ball": "cue", "kind": "push", "confidence": 0.4}]
    ruling = table_for("russian").stroke("7", **POT, extra=unsure).last()
    assert codes(ruling) == [] and ruling.review


@pytest.mark.rule("G-20.12", broken=True)
@pytest.mark.parametrize("rules", ["small-russian", "russian", "moscow"])
def test_striking_another_ball_is_a_foul(rules: str) -> None:
    ruling = table_for(rules).stroke("7", ball="9", **POT).last()
    assert codes(ruling) == ["wrong_cue_ball"] and spots(ruling).keys() == {"7"}
    assert following(ruling) == ("B", "in_place")


@pytest.mark.rule("G-20.12", broken=False)
@pytest.mark.rule("A-1", broken=False)
def test_in_american_any_ball_may_be_struck() -> None:
    ruling = table_for("american").stroke("7", ball="9", pots="7 foot_left, 9 foot_left").last()
    assert codes(ruling) == [] and counted(ruling) == {"7": 1, "9": 1} and following(ruling) == ("A", "any")


@pytest.mark.rule("A-1", broken=True)
def test_in_american_the_break_is_made_with_the_coloured_ball() -> None:
    match = Match("american").rack([f"u{n}" for n in range(1, 16)])
    assert codes(match.stroke("u2", ball="u11").last()) == ["wrong_cue_ball"]
    match = Match("american").rack([f"u{n}" for n in range(1, 16)])
    ruling = match.stroke("u1", pots="cue foot_left").last()
    assert codes(ruling) == [] and counted(ruling) == {"cue": 1}


def test_the_wrong_ball_struck_leaves_the_cue_ball_in_hand() -> None:
    match = Match("russian").lie(b7=(3200, 1450), b9=(1200, 600))
    assert following(match.stroke("7", ball="9").last()) == ("B", "in_hand_house")


@pytest.mark.rule("G-20.13", broken=True)
@pytest.mark.rule("R-3", broken=True)
@pytest.mark.parametrize("rules", ["small-russian", "russian"])
def test_the_cue_ball_pocketed_is_a_foul_in_russian(rules: str) -> None:
    ruling = table_for(rules).stroke("7", pots="7 foot_left, cue foot_left", call="7 foot_left").last()
    assert codes(ruling) == ["cue_ball_pocketed"] and penalty(ruling) == (5, "B")
    assert spots(ruling) == {"7": FOOT_SPOT} and following(ruling) == ("B", "in_hand_house")


@pytest.mark.rule("G-20.13", broken=False)
@pytest.mark.rule("R-3", broken=False)
def test_the_cue_ball_that_stays_up_is_played_from_its_place() -> None:
    rebound = [{"dt": 1, "type": "pocket_rebound", "ball": "cue", "pocket": "foot_left"}]
    ruling = table_for("russian").stroke("7", **POT, extra=rebound).last()
    assert codes(ruling) == [] and following(ruling) == ("A", "in_place")


def test_an_opponent_named_in_a_touch_has_interfered() -> None:
    extra = [{"dt": 1, "type": "touch", "ball": "12", "by": "hand", "moved_mm": 30, "player": "B"}]
    ruling = table_for("russian").stroke("7", **POT, extra=extra).last()
    assert codes(ruling) == ["interference"] and penalty(ruling) == (5, "A") and ruling.replay
    match = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", moved_mm=30, player="B")
    assert codes(match.last()) == ["interference"] and following(match.last()) == ("A", "in_place")
    assert restored(match.last()) == {"12": (2300, 1500)}


def test_one_code_is_listed_once_and_the_dearer_reading_stands() -> None:
    match = Match("small-russian").rack().say("warning", what="house_violation")
    ruling = match.stroke("4", at=(900, 800), call="4 foot_left", extra=[{"dt": 0, "type": "body_out"}]).last()
    assert codes(ruling) == ["house_violation"] and penalty(ruling) == (5, "B") and ruling.fouls[0].rule == "G-20.15"
