"""Small Russian and Russian pyramid: points, calls, penalties, spotting."""

from __future__ import annotations

import pytest

from tests.unit.rules_match import (
    CALLED,
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
SPREAD = {f"b{n}": (400.0 + 180 * n, 300.0 + 70 * n) for n in range(1, 16)}


def spread(rules: str, players: str = "AB", **settings: object) -> Match:
    match = Match(rules, players, **settings)
    return match.lie(cue=(2500, 300), **SPREAD)


@pytest.mark.rule("S-1", broken=False)
@pytest.mark.rule("S-3", broken=False)
@pytest.mark.rule("R-1", broken=False)
@pytest.mark.parametrize("rules", CALLED)
@pytest.mark.parametrize("number", [1, 2, 3, 9, 15])
def test_a_ball_scores_its_number_and_the_ace_eleven(rules: str, number: int) -> None:
    ruling = spread(rules).stroke(str(number), pots=f"{number} foot_left", call=f"{number} foot_left").last()
    assert counted(ruling) == {str(number): 11 if number == 1 else number}


@pytest.mark.rule("S-1", broken=True)
def test_striking_a_numbered_ball_is_striking_the_wrong_one() -> None:
    assert codes(spread("small-russian").stroke("7", ball="9", call="7 foot_left").last()) == ["wrong_cue_ball"]


@pytest.mark.rule("S-2", broken=True)
@pytest.mark.rule("S-2", broken=False)
def test_the_order_of_the_rack_is_checked_where_the_numbers_can_be_read() -> None:
    assert Match("small-russian").rack(order_ok=None).rulings() == []
    wrong = [*("4", "5", "6", "7", "15", "8", "9", "14", "12", "10", "2", "1", "13", "11", "3")]
    assert Match("small-russian").rack(wrong, order_ok=None).last().notes == ("rack_order",)
    assert Match("small-russian").rack(order_ok=False).last().kind.value == "between"
    assert Match("moscow").rack(order_ok=False).rulings() == []  # numbers mean nothing
    assert Match("small-russian").rack([f"u{n}" for n in range(1, 16)], order_ok=None).rulings() == []


@pytest.mark.rule("S-3", broken=True)
@pytest.mark.rule("R-1", broken=True)
@pytest.mark.parametrize("rules", CALLED)
def test_the_last_ball_is_worth_ten_more_and_of_two_by_one_stroke_the_later(rules: str) -> None:
    match = Match(rules).lie(cue=(2700, 1000), b5=(3200, 1450), b1=(1200, 600))
    ruling = match.stroke("5", pots="1 foot_left, 5 foot_left", call="5 foot_left").last()
    assert counted(ruling) == {"1": 11, "5": 15} and ruling.game_over
    match = Match(rules).lie(cue=(2700, 1000), b5=(3200, 1450), b1=(1200, 600))
    ruling = match.stroke("5", pots="5 foot_left", off="1", call="5 foot_left").last()
    assert counted(ruling) == {"5": 5} and spots(ruling) == {"1": FOOT_SPOT}  # the ace is still to come


def _to(match: Match, a: int, b: int) -> Match:
    match.at(0, "handicap", player="A", points=a)
    return match.at(0, "handicap", player="B", points=b)


@pytest.mark.rule("S-4", broken=False)
@pytest.mark.rule("S-12", broken=False)
@pytest.mark.parametrize("rules", CALLED)
def test_seventy_one_wins(rules: str) -> None:
    ruling = _to(spread(rules), 64, 0).stroke("7", **POT).last()
    assert ruling.game_over and ruling.winner == "A" and ruling.next is None and ruling.score == {"A": 71, "B": 0}


@pytest.mark.rule("S-4", broken=True)
@pytest.mark.parametrize("rules", CALLED)
def test_seventy_does_not_and_seventy_all_is_a_draw(rules: str) -> None:
    assert not _to(spread(rules), 63, 0).stroke("7", **POT).last().game_over
    match = Match(rules).lie(cue=(2700, 1000), b7=(3200, 1450))
    ruling = _to(match, 53, 70).stroke("7", **POT).last()
    assert ruling.score == {"A": 70, "B": 70} and ruling.game_over and ruling.winner is None and not ruling.review


def test_penalty_points_may_win_the_game_for_the_opponent() -> None:
    ruling = _to(spread("russian"), 0, 66).stroke(call="7 foot_left").last()
    assert ruling.game_over and ruling.winner == "B" and ruling.score == {"A": -5, "B": 71}


@pytest.mark.rule("S-5", broken=False)
def test_three_and_four_players_have_dearer_balls_and_lower_goals() -> None:
    def points(players: str, number: int) -> int:
        match = spread("small-russian", players)
        return counted(match.stroke(str(number), pots=f"{number} foot_left", call=f"{number} foot_left").last())[
            str(number)
        ]

    assert [points("ABC", n) for n in (1, 2, 3)] == [11, 12, 3]
    assert [points("ABCD", n) for n in (1, 2, 3)] == [11, 12, 13]
    three = _to(spread("small-russian", "ABC"), 44, 0).stroke("7", **POT).last()
    assert three.game_over and three.winner == "A"
    assert _to(spread("small-russian", "ABCD"), 34, 0).stroke("7", **POT).last().winner == "A"


@pytest.mark.rule("S-5", broken=True)
def test_fifty_each_is_a_draw_and_fifty_alone_is_nothing() -> None:
    match = Match("small-russian", "ABC").lie(cue=(2700, 1000), b7=(3200, 1450))
    _to(match, 33, 50).at(0, "handicap", player="C", points=50)
    ruling = match.stroke("7", **POT).last()
    assert ruling.game_over and ruling.winner is None and set(ruling.score.values()) == {50}
    assert not _to(spread("small-russian", "ABC"), 43, 0).stroke("7", **POT).last().game_over


@pytest.mark.rule("S-8", broken=True)
def test_with_three_players_the_points_go_to_the_next() -> None:
    match = spread("small-russian", "ABC").stroke("7", call="7 foot_left").stroke("7", call="7 foot_left")
    ruling = match.stroke(call="7 foot_left").last()
    assert ruling.player == "C" and penalty(ruling) == (5, "A") and ruling.score == {"A": 5, "B": 0, "C": -5}


# --- calls ---


@pytest.mark.rule("S-6", broken=False)
@pytest.mark.rule("S-7", broken=False)
@pytest.mark.rule("R-2", broken=False)
@pytest.mark.parametrize("rules", CALLED)
def test_a_good_call_counts_every_ball_that_fell(rules: str) -> None:
    ruling = table_for(rules).stroke("7", pots="9 middle_right, 7 foot_left", call="7 foot_left").last()
    assert counted(ruling) == {"7": 7, "9": 9} and following(ruling) == ("A", "in_place")


@pytest.mark.rule("S-7", broken=True)
@pytest.mark.rule("R-2", broken=True)
@pytest.mark.parametrize("rules", CALLED)
@pytest.mark.parametrize("call", ["7 foot_right", "12 foot_left"])
def test_the_wrong_pocket_or_ball_counts_nothing_and_costs_nothing(rules: str, call: str) -> None:
    ruling = table_for(rules).stroke("7", pots="7 foot_left", call=call).last()
    assert counted(ruling) == {} and spots(ruling) == {"7": FOOT_SPOT} and ruling.penalty is None
    assert codes(ruling) == [] and following(ruling) == ("B", "in_place") and not ruling.review


@pytest.mark.rule("S-6", broken=True)
@pytest.mark.parametrize("fields", [{"ball": "7"}, {"pocket": "foot_left"}, {}])
def test_an_incomplete_call_is_a_missing_one(fields: dict[str, str]) -> None:
    ruling = table_for("small-russian").say("call", **fields).stroke("7", pots="7 foot_left").last()
    assert counted(ruling) == {} and ruling.review and ruling.doubts == ("missing_call",)


def test_a_missing_call_is_no_doubt_where_nothing_falls_or_there_is_a_foul() -> None:
    assert not table_for("russian").stroke("7").last().review
    assert not table_for("russian").stroke("7", pots="7 foot_left, cue foot_left").last().review


def test_a_call_belongs_to_the_first_strike_after_it() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    assert match.stroke("7", pots="7 foot_left").last().review
    late = table_for("russian")
    late.stroke("7", pots="7 foot_left").at(late.t, "call", ball="7", pocket="foot_left")
    assert late.last().review


def test_of_the_last_ball_the_pocket_is_enough() -> None:
    match = Match("russian").lie(cue=(2700, 1000), b7=(3200, 1450)).say("call", pocket="foot_left")
    assert counted(match.stroke("7", pots="7 foot_left").last()) == {"7": 17}
    match = Match("russian").lie(cue=(2700, 1000), b7=(3200, 1450))
    assert counted(match.stroke("7", pots="7 foot_left", call="9 foot_left").last()) == {"7": 17}  # whatever he named
    match = Match("russian").lie(cue=(2700, 1000), b7=(3200, 1450)).say("call", pocket="foot_right")
    assert counted(match.stroke("7", pots="7 foot_left").last()) == {} and not match.last().review


def test_a_pure_call_waits_for_the_official() -> None:
    match = table_for("small-russian", call="pure").stroke("7", **POT, how="off the nine")
    assert counted(match.last()) == {"7": 7} and match.last().review
    call = next(v["id"] for v in match.values if v["type"] == "call")
    match.say("confirm", ref=call)
    assert counted(match.last()) == {"7": 7} and not match.last().review
    without_way = table_for("small-russian", call="pure").stroke("7", **POT).last()
    assert counted(without_way) == {} and without_way.doubts == ("missing_call",)
    missed = table_for("small-russian", call="pure").stroke("7", call="7 foot_left", how="off the nine")
    assert not missed.last().review


# --- penalties ---


@pytest.mark.rule("S-8", broken=False)
def test_scores_are_kept_where_there_is_no_offence() -> None:
    assert table_for("small-russian").stroke("7", **POT).last().score == {"A": 7, "B": 0}


@pytest.mark.rule("S-8", broken=True)
@pytest.mark.parametrize("rules", CALLED)
def test_balls_disturbed_in_the_belief_that_the_game_was_over(rules: str) -> None:
    match = table_for(rules).stroke("7", **POT).say("touch", wait=2, ball="9", by="hand", moved_mm=300)
    match.say("touch", wait=1, ball="12", by="hand").say("frame_over_mistake", player="A", wait=1)
    stroke, between = match.rulings()
    assert counted(stroke) == {"7": 7} and penalty(between) == (5, "B") and between.score == {"A": 2, "B": 5}
    assert restored(between)["9"] == (1200, 600) and following(between) == ("B", "in_place")


@pytest.mark.rule("S-9", broken=True)
@pytest.mark.parametrize("rules", CALLED)
def test_points_for_touch_and_butt_may_be_switched_off(rules: str) -> None:
    touch = [{"dt": 0.5, "type": "touch", "ball": "12", "by": "hand"}]
    ruling = table_for(rules, penalty_points_touch=False).stroke("7", **POT, extra=touch).last()
    assert codes(ruling) == ["ball_touched"] and ruling.penalty is None and counted(ruling) == {}
    assert ruling.score == {"A": 0, "B": 0} and following(ruling) == ("B", "in_place")
    butt = [{"dt": 0.1, "type": "illegal_tip"}]
    assert table_for(rules, penalty_points_butt=False).stroke("7", **POT, extra=butt).last().penalty is None
    assert penalty(table_for(rules, penalty_points_touch=False).stroke("7", **POT, extra=butt).last()) == (5, "B")


@pytest.mark.rule("S-9", broken=False)
def test_where_the_foot_spot_is_taken_the_ball_goes_behind_the_pyramid() -> None:
    match = Match("small-russian").lie(cue=(2700, 1000), b7=(3200, 1450), b12=FOOT_SPOT, b9=(1200, 600), b3=(700, 700))
    ruling = match.stroke("7", pots="9 foot_left, 7 foot_left, cue head_left", call="7 foot_left").last()
    assert spots(ruling)["7"] == (3516.0, 887.5)
    assert spots(ruling)["9"][0] == 3516.0 and abs(abs(spots(ruling)["9"][1] - 887.5) - 68.05) < 0.1


@pytest.mark.rule("S-10", broken=True)
@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"type": "tip", "ball": "cue", "kind": "push"}, "push"),
        ({"type": "tip", "ball": "cue", "kind": "squeeze"}, "squeeze"),
        ({"type": "feet_off_floor"}, "feet_off_floor"),
    ],
)
def test_three_faults_cost_the_ball_but_no_points_in_the_small_game_and_five_in_russian(
    event: dict[str, str], code: str
) -> None:
    small = table_for("small-russian").stroke("7", **POT, extra=[{"dt": 0.1, **event}]).last()
    assert codes(small) == [code] and small.penalty is None and spots(small) == {"7": FOOT_SPOT}
    assert following(small) == ("B", "in_place")
    big = table_for("russian").stroke("7", **POT, extra=[{"dt": 0.1, **event}]).last()
    assert codes(big) == [code] and penalty(big) == (5, "B")


@pytest.mark.rule("S-10", broken=False)
@pytest.mark.rule("R-7", broken=True)
@pytest.mark.rule("R-7", broken=False)
def test_the_body_beyond_the_cushion_costs_the_ball_in_the_small_game_and_is_warned_in_russian() -> None:
    def from_hand(rules: str, *, warned: bool = False) -> Match:
        match = Match(rules).lie(b7=(3200, 1450), b9=(1200, 600))
        if warned:
            match.say("warning", what="house_violation")
        return match.stroke("7", at=(500, 500), **POT, extra=[{"dt": 0.0, "type": "body_out"}])

    small = from_hand("small-russian").last()
    assert codes(small) == ["house_violation"] and small.penalty is None and counted(small) == {}
    assert counted(from_hand("russian").last()) == {"7": 7}
    big = from_hand("russian", warned=True).last()
    assert codes(big) == ["house_violation"] and penalty(big) == (5, "B")
    with_points = [{"dt": 0.1, "type": "tip", "ball": "cue", "kind": "push"}, {"dt": 0.2, "type": "illegal_tip"}]
    both = table_for("small-russian").stroke("7", **POT, extra=with_points).last()
    assert penalty(both) == (5, "B")  # the free fault does not make the other free


@pytest.mark.rule("S-11", broken=False)
@pytest.mark.rule("S-11", broken=True)
def test_with_all_balls_in_the_house_the_temporary_house_is_at_the_foot() -> None:
    match = Match("small-russian").lie(cue=(1500, 600), b7=(500, 1400), b9=(700, 600))
    match.stroke("9", off="cue", call="9 head_left")
    assert following(match.last()) == ("B", "in_hand_foot")
    one_out = Match("small-russian").lie(cue=(1500, 600), b7=(500, 1400), b9=(887.5, 600))
    assert following(one_out.stroke("9", off="cue", call="9 head_left").last()) == ("B", "in_hand_house")


@pytest.mark.rule("S-12", broken=False)
def test_in_the_small_game_the_winner_starts_the_next() -> None:
    def game(match: Match) -> Match:
        match.rack()
        return match.stroke(
            "4",
            pots="15 foot_left, 14 foot_left, 13 foot_left, 12 foot_right, 11 foot_right, 10 foot_left",
            call="15 foot_left",
        )

    match = game(Match("small-russian"))
    assert match.last().winner == "A"
    assert game(match).last().player == "A"


@pytest.mark.rule("S-12", broken=True)
def test_a_handicap_stands_before_the_first_stroke_of_each_game() -> None:
    match = Match("small-russian", handicap="B:10").rack()
    assert match.stroke("4", call="4 foot_left").last().score == {"A": 0, "B": 10}
    match = Match("russian").say("handicap", player="A", points=15).rack()
    assert match.stroke("4", call="4 foot_left").last().score == {"A": 15, "B": 0}


# --- what Russian changes ---


@pytest.mark.rule("R-4", broken=False)
@pytest.mark.rule("R-4", broken=True)
def test_russian_spots_on_the_long_line_toward_the_foot_cushion_then_toward_the_centre() -> None:
    match = Match("russian").lie(cue=(2700, 1000), b7=(3200, 1450), b12=FOOT_SPOT, b9=(1200, 600), b3=(2740, 890))
    ruling = match.stroke("7", pots="9 foot_left, 7 foot_left, cue head_left", call="7 foot_left").last()
    x7, y7 = spots(ruling)["7"]
    x9, y9 = spots(ruling)["9"]
    assert y7 == y9 == 887.5 and 2807 < x7 < 2809 and 2875 < x9 < 2877
    full = {f"b{n}": (2662.5 + 72 * i, 887.5) for i, n in enumerate((1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13, 14))}
    match = Match("russian").lie(cue=(700, 300), b7=(3200, 1450), **full)
    x7, y7 = spots(match.stroke("7", pots="7 foot_left, cue head_left", call="7 foot_left").last())["7"]
    assert y7 == 887.5 and 2594 < x7 < 2595


@pytest.mark.rule("R-5", broken=True)
def test_seventy_all_may_be_played_off() -> None:
    match = Match("russian", seventy_all="respot").lie(cue=(2700, 1000), b7=(3200, 1450))
    ruling = _to(match, 53, 70).stroke("7", **POT).last()
    assert not ruling.game_over and ruling.next is None and spots(ruling) == {"7": FOOT_SPOT}
    t = match.t + 5
    match.at(t, "strike", ball="cue", x=500, y=500, vx=3300, vy=0, player="A")
    match.at(t + 0.1, "strike", ball="u1", x=500, y=1275, vx=3300, vy=0, player="B")
    match.at(t + 1, "cushion", ball="cue", cushion="foot", x=3516, y=500)
    match.at(t + 1, "cushion", ball="u1", cushion="foot", x=3516, y=1275)
    match.at(t + 6, "rest", balls=[{"ball": "cue", "x": 400, "y": 500}, {"ball": "u1", "x": 100, "y": 1275}])
    match.t = t + 6
    match.places = {"cue": (500, 800), "7": FOOT_SPOT}
    ruling = match.stroke("7", **POT).last()
    assert ruling.player == "B" and ruling.winner == "B" and ruling.score["B"] == 87


@pytest.mark.rule("R-5", broken=False)
def test_by_default_seventy_all_is_a_draw() -> None:
    match = Match("russian").lie(cue=(2700, 1000), b7=(3200, 1450))
    assert _to(match, 53, 70).stroke("7", **POT).last().game_over


# --- numbers ---


def test_an_unknown_number_is_settled_when_it_is_identified_even_later() -> None:
    match = Match("small-russian").lie(cue=(2700, 1000), u3=(3200, 1450), b9=(1200, 600))
    match.stroke("u3", pots="u3 foot_left", call="7 foot_left")
    assert match.last().review and counted(match.last()) == {}
    first = match.last().id
    match.say("identified", ball="u3", number=7)
    assert counted(match.last()) == {"u3": 7} and match.last().id == first and not match.last().review
    assert following(match.last()) == ("A", "in_place")


def test_a_ball_known_to_lie_elsewhere_cannot_be_the_unknown_one() -> None:
    match = Match("small-russian").lie(cue=(2700, 1000), u3=(3200, 1450), b7=(1200, 600))
    ruling = match.stroke("u3", pots="u3 foot_left", call="7 foot_left").last()
    assert counted(ruling) == {} and not ruling.review


def test_a_number_read_without_being_sure_is_doubt() -> None:
    match = Match("small-russian").lie(cue=(2700, 1000), u3=(3200, 1450), b9=(1200, 600))
    match.say("identified", ball="u3", number=7, confidence=0.7).stroke("u3", pots="u3 foot_left", call="7 foot_left")
    assert counted(match.last()) == {"u3": 7} and match.last().doubts == ("unsure_number:u3",)


def test_the_only_number_left_of_a_full_rack_is_known() -> None:
    order = ["4", "5", "6", "7", "15", "8", "9", "14", "13", "10", "2", "1", "12", "11", "u3"]
    match = Match("small-russian").rack(order)
    assert counted(match.stroke("4", pots="u3 foot_left", call="3 foot_left").last()) == {"u3": 3}


def test_numbers_read_before_the_break_hold_and_those_of_the_game_before_do_not() -> None:
    labels = [f"u{n}" for n in range(1, 16)]
    match = Match("small-russian").rack(labels, order_ok=None).say("identified", ball="u1", number=4)
    match.stroke("u1", pots="u1 foot_left", call="4 foot_left")
    assert counted(match.last()) == {"u1": 4}
    match.at(0, "handicap", player="A", points=67)
    assert match.last().game_over
    match.rack(labels, order_ok=None).stroke("u1", pots="u1 foot_left", call="4 foot_left")
    assert match.last().doubts == ("unknown_number",)


def test_a_pure_call_is_confirmed_by_the_call_the_strike_or_the_called_balls_fall_only() -> None:
    def confirmed(kind: str, n: int = 0) -> bool:
        match = table_for("small-russian", call="pure")
        match.stroke("7", pots="7 foot_left, 9 head_right", call="7 foot_left", how="straight")
        match.say("confirm", ref=[values for values in match.values if values["type"] == kind][n]["id"])
        return not match.last().review

    assert confirmed("call") and confirmed("strike") and confirmed("pocketed")
    assert not confirmed("pocketed", 1) and not confirmed("contact")
