"""The general rules, G-1 to G-19: what a referee says of every game."""

from __future__ import annotations

import pytest

from tests.unit.rules_match import (
    ALL_GAMES,
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


def lag(match: Match, a_end: float = 120, b_end: float = 310, *, named: bool = True, **changes: object) -> Match:
    """A lag: A on the right half with the cue ball, B on the left with u1."""
    t = match.t + 5
    names = [{"player": "A"}, {"player": "B"}] if named else [{}, {}]
    match.at(t, "strike", ball="cue", x=500, y=500, vx=3300, vy=0, **names[0])
    match.at(t + 0.1, "strike", ball="u1", x=500, y=1275, vx=3300, vy=0, **names[1])
    for dt, ball, y in ((1.3, "cue", 500), (1.4, "u1", 1275)):
        if changes.get("missed") != ball and changes.get("missed") != "both":
            match.at(t + dt, "cushion", ball=ball, cushion="foot", x=3516, y=y)
    if "crossed" in changes:
        match.at(t + 3, "crossed", ball=changes["crossed"], line="long", direction=1)
    if "pocketed" in changes:
        match.at(t + 4, "pocketed", ball=changes["pocketed"], pocket="head_left")
    if "left" in changes:
        match.at(t + 4, "left_table", ball=changes["left"], x=-90, y=500)
    gone = {changes.get("pocketed"), changes.get("left")}
    ends = [{"ball": "cue", "x": a_end, "y": 500}, {"ball": "u1", "x": b_end, "y": 1275}]
    match.at(t + 6, "rest", balls=[ball for ball in ends if ball["ball"] not in gone])
    match.t = t + 6
    return match


@pytest.mark.rule("G-1", broken=True)
@pytest.mark.rule("G-20.6", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_a_stroke_with_the_side_of_the_tip_is_a_foul(rules: str) -> None:
    ruling = table_for(rules).stroke("7", **POT, extra=[{"dt": 0, "type": "illegal_tip"}]).last()
    assert codes(ruling) == ["illegal_stroke"]
    assert counted(ruling) == {} and "7" in spots(ruling)
    assert ruling.fouls[0].rule == "G-20.6"


@pytest.mark.rule("G-1", broken=False)
@pytest.mark.rule("G-20.6", broken=False)
@pytest.mark.rule("G-20.4", broken=False)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_a_stroke_of_which_nothing_is_told_is_legal(rules: str) -> None:
    ruling = table_for(rules).stroke("7", **POT).last()
    assert codes(ruling) == [] and counted(ruling) and not ruling.review


@pytest.mark.rule("G-20.4", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
@pytest.mark.parametrize("late", [False, True])
def test_no_foot_on_the_floor_is_a_foul_told_during_the_stroke_or_after_it(rules: str, late: bool) -> None:
    match = table_for(rules)
    if late:
        match.stroke("7", **POT).say("feet_off_floor", wait=2)
    else:
        match.stroke("7", **POT, extra=[{"dt": 0.2, "type": "feet_off_floor"}])
    ruling = match.of_kind("stroke")[-1]
    assert codes(ruling) == ["feet_off_floor"] and counted(ruling) == {}
    assert penalty(ruling) == (None if rules == "small-russian" else penalty(ruling))
    assert ruling.next is not None and ruling.next.player == "B"


def test_what_is_told_just_before_a_strike_is_said_of_that_stroke() -> None:
    match = table_for("russian").stroke("7", **POT)
    match.say("illegal_tip", wait=13).stroke("9", call="9 middle_right", wait=1)
    first, second = match.of_kind("stroke")
    assert codes(first) == [] and codes(second) == ["illegal_stroke"]


# --- the lag ---


@pytest.mark.rule("G-2", broken=False)
@pytest.mark.parametrize("named", [True, False])
def test_the_ball_nearer_the_head_cushion_wins_the_lag(named: bool) -> None:
    ruling = lag(Match("russian"), 120, 126, named=named).last()
    assert ruling.kind.value == "lag" and ruling.winner == "A" and following(ruling) == ("A", "in_hand_house")
    assert lag(Match("russian"), 400, 126, named=named).last().winner == "B"


@pytest.mark.rule("G-2", broken=True)
@pytest.mark.parametrize(
    ("changes", "winner"),
    [
        ({"missed": "cue"}, "B"),
        ({"missed": "u1"}, "A"),
        ({"missed": "both"}, None),
        ({"crossed": "cue"}, "B"),
        ({"crossed": "u1"}, "A"),
        ({"pocketed": "cue"}, "B"),
        ({"left": "cue"}, "B"),
        ({"pocketed": "cue", "missed": "u1"}, None),
        ({"b_end": 125.0}, None),
        ({"b_end": 124.0}, None),
    ],
)
def test_a_lag_is_lost_by_a_fault_and_repeated_when_both_are_at_fault_or_equal(
    changes: dict[str, object], winner: str | None
) -> None:
    ruling = lag(Match("russian"), **changes).last()  # type: ignore[arg-type]
    assert ruling.winner == winner and ruling.replay == (winner is None) and not ruling.game_over


def test_a_repeated_lag_is_a_second_ruling() -> None:
    match = lag(lag(Match("moscow"), missed="both"), 500, 100)
    assert [ruling.winner for ruling in match.of_kind("lag")] == [None, "B"]


def test_a_lag_whose_cushion_is_unsure_goes_to_a_person() -> None:
    match = lag(Match("russian"))
    for values in match.values:
        if values["type"] == "cushion" and values["ball"] == "cue":
            values["confidence"] = 0.6
    assert match.last().review and match.last().winner == "A"


@pytest.mark.rule("G-3", broken=False)
def test_the_winner_of_the_lag_breaks() -> None:
    match = lag(Match("moscow"), 500, 100).rack()
    assert match.stroke("4").of_kind("stroke")[0].player == "B"


@pytest.mark.rule("G-3", broken=True)
def test_the_winner_of_the_lag_may_concede_the_break() -> None:
    match = lag(Match("moscow"), 500, 100).say("concede_break").rack()
    assert match.stroke("4").of_kind("stroke")[0].player == "A"


def _won_game(match: Match) -> Match:
    """A game that the breaker wins by one stroke."""
    balls = [*"45678", "9", "10", "11"]
    pots = ", ".join(f"{ball} foot_left" for ball in balls)
    return match.rack().stroke("4", pots=pots)


@pytest.mark.rule("G-3", broken=False)
def test_breaks_alternate_and_the_match_has_its_score() -> None:
    match = Match("moscow", race_to=3)
    for _ in range(2):
        _won_game(match)
    games = [ruling for ruling in match.rulings() if ruling.game_over]
    assert [(r.player, r.winner, r.match) for r in games] == [
        ("A", "A", {"A": 1, "B": 0}),
        ("B", "B", {"A": 1, "B": 1}),
    ]
    assert not games[-1].match_over


def test_a_match_ends_with_the_race_won() -> None:
    match = Match("moscow", race_to=1)
    _won_game(match)
    assert match.last().match_over
    assert len(_won_game(match).rulings()) == 1


@pytest.mark.rule("G-3", broken=True)
def test_before_the_deciding_game_the_lag_is_played_again() -> None:
    match = Match("moscow", race_to=2)
    _won_game(_won_game(match))
    without = _won_game(Match("moscow", race_to=2))
    _won_game(without)
    assert _won_game(without).last().review  # no lag was seen
    lag(match, 500, 100)
    _won_game(match)
    assert match.last().player == "B" and match.last().winner == "B" and match.last().match_over
    assert not match.last().review


# --- rack, break, house ---


@pytest.mark.rule("G-4", broken=True)
def test_a_rack_six_millimetres_off_is_reported_before_the_break() -> None:
    match = Match("moscow").rack(dx=6)
    assert match.last().kind.value == "between" and match.last().notes == ("rack_off:6.0",)
    assert match.stroke("4").of_kind("stroke")[0].review is False


@pytest.mark.rule("G-4", broken=False)
def test_a_rack_four_millimetres_off_is_let_stand() -> None:
    assert Match("moscow").rack(dx=4).rulings() == []


@pytest.mark.rule("G-5", broken=False)
def test_all_that_falls_from_hand_counts_whichever_pocket() -> None:
    ruling = Match("moscow").rack().stroke("4", pots="2 middle_left, 3 head_right").last()
    assert counted(ruling) == {"2": 1, "3": 1} and ruling.notes == ("break",)


@pytest.mark.rule("G-5", broken=True)
def test_breaking_from_outside_the_house_is_warned_first() -> None:
    ruling = Match("moscow").rack().stroke("4", at=(900, 887.5), pots="2 middle_left").last()
    assert codes(ruling) == [] and counted(ruling) == {"2": 1}
    assert ruling.notes == ("break", "propose_house_warning") and not ruling.review


@pytest.mark.rule("G-12", broken=True)
@pytest.mark.rule("G-20.15", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
@pytest.mark.parametrize("x", [887.5, 900.0, 3000.0])
def test_from_hand_on_the_line_beyond_it_or_from_the_other_end_is_a_foul_after_a_warning(rules: str, x: float) -> None:
    match = Match(rules).rack().say("warning", what="house_violation")
    ruling = match.stroke("4", at=(x, 887.5), call="4 foot_left").last()
    assert codes(ruling) == ["house_violation"] and penalty(ruling) is not None
    assert following(ruling) in (("B", "in_place"), ("B", "any"))


@pytest.mark.rule("G-12", broken=False)
@pytest.mark.rule("G-20.15", broken=False)
def test_inside_the_line_no_warning_makes_a_foul() -> None:
    match = Match("russian").rack().say("warning", what="house_violation")
    assert codes(match.stroke("4", at=(886.0, 887.5)).last()) == []


def test_the_warning_is_for_the_one_who_broke_the_bounds() -> None:
    match = Match("moscow").rack().stroke("4", at=(900, 887.5))
    match.say("warning", what="house_violation")
    match.places["cue"] = (500, 500)
    match.stroke("4", pots="cue foot_left").say("remove", ball="5")  # B
    assert codes(match.stroke("6", at=(900, 300)).last()) == []  # B from hand: not warned yet
    match.stroke("7", pots="cue foot_left").say("remove", ball="8")
    assert "house_violation" in codes(match.stroke("6", at=(900, 300)).last())  # A: warned


def test_body_out_is_only_asked_for_from_hand() -> None:
    ruling = table_for("russian").stroke("7", **POT, extra=[{"dt": 0.1, "type": "body_out"}]).last()
    assert codes(ruling) == [] and ruling.notes == ("called:7:foot_left:",)


@pytest.mark.rule("G-6", broken=True)
@pytest.mark.rule("G-20.11", broken=True)
@pytest.mark.parametrize("rules", ["small-russian", "russian", "moscow"])
def test_from_hand_a_ball_in_the_house_may_not_be_hit_first(rules: str) -> None:
    match = Match(rules).lie(b7=(500, 1400), b9=(1200, 600))  # the cue ball is in hand
    ruling = match.stroke("7", "9", at=(700, 900), call="7 head_left").last()
    assert codes(ruling) == ["house_ball_hit"]


@pytest.mark.rule("G-6", broken=False)
@pytest.mark.rule("G-20.11", broken=False)
def test_from_hand_a_later_contact_with_a_ball_in_the_house_is_free() -> None:
    match = Match("moscow").lie(b7=(500, 1400), b9=(1200, 600))
    assert codes(match.stroke("9", "7", at=(700, 900)).last()) == []
    match = Match("moscow").lie(b7=(887.5, 1400), b9=(1200, 600))
    assert codes(match.stroke("7", at=(700, 900)).last()) == []  # on the line is outside
    match = Match("moscow").lie(cue=(700, 900), b7=(500, 1400), b9=(1200, 600))
    assert codes(match.stroke("7").last()) == []  # not from hand


def test_with_all_balls_in_the_house_the_stroke_comes_from_the_foot_end() -> None:
    match = Match("moscow").lie(cue=(1500, 600), b7=(500, 1400), b9=(700, 600))
    match.stroke("9", off="cue")
    assert following(match.last()) == ("B", "in_hand_foot")
    match.say("warning", what="house_violation")
    inside = match.stroke("7", at=(2700, 800), wait=20)
    assert codes(inside.last()) == []


def test_from_the_temporary_house_the_head_end_is_the_other_end() -> None:
    match = Match("moscow").lie(cue=(1500, 600), b7=(500, 1400), b9=(700, 600)).stroke("9", off="cue")
    match.say("warning", what="house_violation")
    assert codes(match.stroke("7", at=(600, 800), wait=20).last()) == ["house_violation"]


# --- pots, off the table, spotting ---


@pytest.mark.rule("G-7", broken=False)
@pytest.mark.rule("G-15", broken=False)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_a_ball_that_falls_by_a_legal_stroke_counts_and_the_turn_stays(rules: str) -> None:
    ruling = table_for(rules).stroke("7", **POT).last()
    assert list(counted(ruling)) == ["7"] and ruling.next is not None and ruling.next.player == "A"


@pytest.mark.rule("G-7", broken=True)
@pytest.mark.rule("G-15", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_a_ball_back_from_the_pocket_stays_in_play_and_the_turn_passes(rules: str) -> None:
    rebound = [{"dt": 0.9, "type": "pocket_rebound", "ball": "7", "pocket": "foot_left"}]
    ruling = (
        table_for(rules, **({"legal_safety": False} if rules == "american" else {}))
        .stroke("7", call="7 foot_left", extra=rebound)
        .last()
    )
    assert counted(ruling) == {} and spots(ruling) == {} and codes(ruling) == []
    assert ruling.next is not None and ruling.next.player == "B"


@pytest.mark.rule("G-8", broken=True)
@pytest.mark.rule("G-11", broken=True)
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_a_ball_rolled_along_the_rail_is_spotted_without_penalty(rules: str) -> None:
    ruling = (
        table_for(rules, edition="federation")
        .stroke("7", **POT, extra=[{"dt": 0.1, "type": "rail_roll", "ball": "7"}])
        .last()
    )
    assert codes(ruling) == [] and ruling.penalty is None and counted(ruling) == {}
    assert spots(ruling) == {"7": FOOT_SPOT} and ruling.next is not None and ruling.next.player == "B"


@pytest.mark.rule("G-8", broken=False)
@pytest.mark.rule("G-11", broken=False)
def test_another_ball_counts_beside_the_one_rolled_along_the_rail() -> None:
    ruling = (
        table_for("moscow")
        .stroke("7", pots="7 foot_left, 9 middle_right", extra=[{"dt": 0.1, "type": "rail_roll", "ball": "7"}])
        .last()
    )
    assert counted(ruling) == {"9": 1} and list(spots(ruling)) == ["7"] and following(ruling) == ("A", "in_place")


def test_a_rail_roll_that_vision_only_suspects_goes_to_a_person() -> None:
    seen = {"dt": 0.9, "type": "rail_roll", "ball": "7", "confidence": 0.4, "source": "vision"}
    ruling = table_for("moscow").stroke("7", pots="7 foot_left", extra=[seen]).last()
    assert counted(ruling) == {"7": 1} and ruling.review


def _returned(touched: str, ball: str = "7") -> list[dict[str, object]]:
    return [
        {"dt": 1.0, "type": "left_table", "ball": ball, "x": 3700, "y": 900},
        {"dt": 1.3, "type": "returned", "ball": ball, "x": 3400, "y": 900, "touched": touched},
    ]


@pytest.mark.rule("G-9", broken=True)
def test_a_ball_off_a_person_is_off_the_table_even_if_it_returns() -> None:
    ruling = table_for("russian").stroke("7", call="7 foot_left", extra=_returned("other")).last()
    assert spots(ruling) == {"7": FOOT_SPOT} and codes(ruling) == [] and not ruling.review


@pytest.mark.rule("G-9", broken=False)
def test_a_ball_off_fixed_equipment_stays_in_play_and_one_of_which_it_is_not_known_is_doubt() -> None:
    ruling = table_for("russian").stroke("7", call="7 foot_left", extra=_returned("equipment")).last()
    assert spots(ruling) == {} and not ruling.review
    unknown = table_for("russian").stroke("7", call="7 foot_left", extra=_returned("unknown")).last()
    assert spots(unknown) == {} and unknown.review and unknown.doubts == ("returned_from_unknown",)


@pytest.mark.rule("G-10", broken=True)
@pytest.mark.rule("G-20.2", broken=True)
@pytest.mark.parametrize("rules", ["small-russian", "russian", "moscow"])
def test_the_cue_ball_off_the_table_is_a_foul_and_is_played_from_hand(rules: str) -> None:
    ruling = table_for(rules).stroke("7", **POT, off="cue").last()
    assert codes(ruling) == ["cue_ball_off_table"] and counted(ruling) == {}
    assert following(ruling) == ("B", "in_hand_house")


def test_in_american_the_struck_ball_off_the_table_is_spotted() -> None:
    ruling = table_for("american").stroke("7", ball="9", off="9").last()
    assert codes(ruling) == ["cue_ball_off_table"] and spots(ruling) == {"9": FOOT_SPOT}
    assert following(ruling) == ("B", "any")


@pytest.mark.rule("G-10", broken=False)
@pytest.mark.rule("G-20.2", broken=False)
def test_the_cue_ball_back_off_the_lamp_is_no_foul() -> None:
    ruling = table_for("russian").stroke("7", **POT, extra=_returned("equipment", "cue")).last()
    assert codes(ruling) == [] and counted(ruling) == {"7": 7}


# --- bounds of a stroke, close balls ---


@pytest.mark.rule("G-13", broken=True)
@pytest.mark.rule("G-20.3", broken=True)
def test_a_ball_that_spins_in_place_still_moves() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left", rest=False)
    match.at(match.t - 1, "stopped", ball="cue", x=2700, y=1000).at(match.t - 1, "stopped", ball="7", x=3200, y=1450)
    ruling = match.stroke("9", call="9 middle_right", wait=2).last()
    assert ruling.player == "B" and codes(ruling) == ["stroke_before_rest"]


@pytest.mark.rule("G-13", broken=False)
@pytest.mark.rule("G-20.3", broken=False)
def test_after_the_rest_the_next_stroke_is_in_order() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    assert codes(match.stroke("9", call="9 middle_right", wait=3.5).last()) == []


def test_who_had_scored_so_far_strikes_too_early_himself_and_later_falls_count_for_nobody() -> None:
    match = table_for("moscow").stroke("7", pots="9 middle_right", rest=False)
    ruling = match.stroke("7", pots="7 foot_left, 12 foot_right", wait=0.5).last()
    assert ruling.player == "A" and codes(ruling) == ["stroke_before_rest"] and counted(ruling) == {}
    assert set(spots(ruling)) == {"7", "12", "9"}  # the nine goes back from the shelf (M-4)


def _close(gap: float, **changes: object) -> Match:
    match = Match("russian").lie(cue=(1400, 900), b7=(1400 + 68 + gap, 900), b12=(2600, 1500))
    return match.stroke("7", **changes)  # type: ignore[arg-type]


THROUGH = {"cue": (2100.0, 900.0), "7": (2600.0, 900.0)}


@pytest.mark.rule("G-14", broken=True)
@pytest.mark.rule("G-20.7", broken=True)
@pytest.mark.parametrize("gap", [0.0, 10.0, 17.0])
def test_following_a_close_ball_over_the_penalty_line_is_a_foul(gap: float) -> None:
    assert codes(_close(gap, v=(1500, 0), ends=THROUGH).last()) == ["close_ball"]
    assert codes(_close(gap, v=(1500, 1400), ends=THROUGH).last()) == ["close_ball"]  # 43°


@pytest.mark.rule("G-14", broken=False)
@pytest.mark.rule("G-20.7", broken=False)
def test_a_close_ball_may_be_cut_or_the_cue_ball_may_stop_come_back_or_go_aside() -> None:
    assert codes(_close(10, v=(1500, 1600), ends=THROUGH).last()) == []  # 46.8°
    assert codes(_close(10, v=(1500, 0), ends={"cue": (1450.0, 900.0)}).last()) == []  # stops
    assert codes(_close(10, v=(1500, 0), ends={"cue": (1100.0, 900.0)}).last()) == []  # comes back
    assert codes(_close(10, v=(1500, 0), ends={"cue": (1460.0, 1300.0)}).last()) == []  # goes aside
    assert codes(_close(20, v=(1500, 0), ends=THROUGH).last()) == []  # not close


def test_what_the_cue_ball_does_after_a_cushion_or_another_ball_is_free() -> None:
    back = [{"dt": 1.0, "type": "cushion", "ball": "cue", "cushion": "right", "x": 1450, "y": 34}]
    assert codes(_close(10, v=(1500, 0), ends=THROUGH, extra=back).last()) == []
    beyond = [{"dt": 1.0, "type": "cushion", "ball": "cue", "cushion": "right", "x": 1600, "y": 34}]
    assert codes(_close(10, v=(1500, 0), ends={"cue": (1300.0, 500.0)}, extra=beyond).last()) == ["close_ball"]


def test_the_penalty_line_may_be_moved_and_a_measure_at_the_edge_is_doubt() -> None:
    match = Match("russian", penalty_line_mm=100).lie(cue=(1400, 900), b7=(1478, 900), b12=(2600, 1500))
    assert codes(match.stroke("7", v=(1500, 0), ends={"cue": (1550.0, 900.0)}).last()) == []
    edge = _close(17.5, v=(1500, 0), ends=THROUGH).last()
    assert codes(edge) == [] and edge.review and edge.doubts == ("edge:close_gap:7",)
    harmless = _close(17.5, v=(1500, 0), ends={"cue": (1450.0, 900.0)}).last()
    assert not harmless.review


# --- hanging balls ---


def _hangs(rules: str = "moscow", **settings: object) -> Match:
    match = table_for(rules, **settings)
    lip = (3538.0, 1763.0)
    match.stroke("7", ends={"7": lip, "cue": (2900, 900)}, call="7 foot_left")
    return match.at(match.t, "hanging", ball="7", pocket="foot_left", x=lip[0], y=lip[1])


@pytest.mark.rule("G-16", broken=True)
def test_a_ball_that_hung_five_seconds_is_put_back() -> None:
    match = _hangs().say("pocketed", wait=5.0, ball="7", pocket="foot_left")
    assert [r.kind.value for r in match.rulings()] == ["stroke", "hanging"]
    assert restored(match.last()) == {"7": (3538.0, 1763.0)} and following(match.last()) == ("B", "in_place")


@pytest.mark.rule("G-16", broken=False)
@pytest.mark.parametrize("rules", [*CALLED, "moscow"])
def test_a_ball_that_falls_sooner_fell_by_the_stroke(rules: str) -> None:
    match = _hangs(rules).say("pocketed", wait=4.0, ball="7", pocket="foot_left")
    (ruling,) = match.rulings()
    assert list(counted(ruling)) == ["7"] and following(ruling) == ("A", "in_place")


def test_a_ball_that_falls_soon_after_a_foul_is_spotted() -> None:
    match = table_for("russian").stroke(
        "7",
        ends={"7": (3538, 1763)},
        call="7 foot_left",
        extra=[{"dt": 1, "type": "touch", "ball": "12", "by": "hand"}],
    )
    match.say("pocketed", wait=2, ball="7", pocket="foot_left")
    assert counted(match.last()) == {} and spots(match.last()) == {"7": FOOT_SPOT}


@pytest.mark.parametrize(("shake", "put_back"), [(1.0, True), (2.5, False)])
def test_a_jolt_within_a_second_puts_it_back(shake: float, put_back: bool) -> None:
    match = _hangs()
    t = match.t + 3
    match.at(t - shake, "shake").at(t, "pocketed", ball="7", pocket="foot_left")
    assert (match.last().kind.value == "hanging") == put_back


def test_an_unsure_jolt_is_doubt_only_where_it_decides() -> None:
    match = _hangs()
    match.at(match.t + 2.5, "shake", confidence=0.6).at(match.t + 3, "pocketed", ball="7", pocket="foot_left")
    assert match.last().kind.value == "hanging" and match.last().review
    match = _hangs()
    match.at(match.t + 6.5, "shake", confidence=0.6).at(match.t + 7, "pocketed", ball="7", pocket="foot_left")
    assert match.last().kind.value == "hanging" and not match.last().review


def test_a_ball_that_hung_long_and_falls_unaimed_in_a_later_stroke_is_restored() -> None:
    match = _hangs().stroke("9", pots="7 foot_left")
    ruling = match.of_kind("stroke")[-1]
    assert restored(ruling) == {"7": (3538.0, 1763.0)} and counted(ruling) == {} and not ruling.replay
    assert following(ruling) == ("A", "in_place")


@pytest.mark.rule("G-17", broken=True)
@pytest.mark.parametrize("rules", ["russian", "moscow"])
def test_a_hanging_ball_that_falls_before_the_contact_repeats_the_stroke(rules: str) -> None:
    match = _hangs(rules)
    aim = (3538.0 - 2900, 1763.0 - 900)
    match.stroke(pots="7 foot_left", v=aim, call="7 foot_left")
    ruling = match.last()
    assert ruling.replay and codes(ruling) == [] and ruling.penalty is None and following(ruling) == ("B", "in_place")
    assert "7" in restored(ruling)


@pytest.mark.rule("G-17", broken=False)
def test_the_call_says_what_was_aimed_at_and_a_ball_touched_falls_by_the_stroke() -> None:
    match = _hangs("russian")
    match.stroke(pots="7 foot_left", v=(638, 863), call="12 middle_left")
    assert not match.last().replay and "no_contact" in codes(match.last())
    match = _hangs("russian").stroke("7", pots="7 foot_left", call="7 foot_left")
    assert counted(match.last()) == {"7": 7} and not match.last().replay


# --- blocked positions, interference, the clock ---


@pytest.mark.rule("G-18", broken=False)
def test_after_a_warning_the_rest_is_racked_again_and_a_lag_decides() -> None:
    match = table_for("moscow").stroke("7", pots="7 foot_left").say("warning", what="blocked_position").say("rerack")
    game = match.last()
    assert game.kind.value == "game" and game.next is None and not game.review and game.score == {"A": 1, "B": 0}
    match.say("picked_up", ball="9", x=1200, y=600)
    lag(match, 500, 100)
    match.say("racked", balls=[{"ball": "9", "x": 2662.5, "y": 887.5}, {"ball": "12", "x": 2721.4, "y": 921.5}])
    match.places = {"9": FOOT_SPOT, "12": (2721.4, 921.5), "cue": (500, 800)}
    ruling = match.stroke("9").last()
    assert ruling.player == "B" and codes(ruling) == [] and ruling.score == {"A": 1, "B": 0} and not ruling.review
    assert [r.kind.value for r in match.rulings()] == ["stroke", "between", "game", "lag", "stroke"]


@pytest.mark.rule("G-18", broken=True)
def test_a_rerack_without_a_warning_is_for_a_person() -> None:
    assert table_for("moscow").stroke("7").say("rerack").last().review


@pytest.mark.rule("G-19", broken=True)
@pytest.mark.parametrize("by", ["outsider", "other"])
@pytest.mark.parametrize("rules", ALL_GAMES)
def test_an_outsider_during_the_stroke_has_it_repeated(rules: str, by: str) -> None:
    extra = [
        {"dt": 0.4, "type": "interference", "by": by, "intentional": False},
        {"dt": 0.5, "type": "moved", "ball": "12", "x": 2100, "y": 1300, "cause": "outsider"},
    ]
    ruling = table_for(rules).stroke("7", **POT, extra=extra, ends={"12": (2100, 1300)}).last()
    assert ruling.kind.value == "interference" and ruling.player == "A" and ruling.replay and ruling.penalty is None
    assert restored(ruling)["12"] == (2300, 1500) and restored(ruling)["7"] == (3200, 1450)
    assert ruling.next is not None and ruling.next.player == "A" and sum(ruling.score.values()) == 0


@pytest.mark.rule("G-20.16", broken=True)
def test_an_opponent_during_the_stroke_pays_and_the_stroke_is_repeated() -> None:
    extra = [{"dt": 0.4, "type": "interference", "by": "opponent", "intentional": False}]
    ruling = table_for("russian").stroke("7", **POT, extra=extra).last()
    assert codes(ruling) == ["interference"] and penalty(ruling) == (5, "A") and ruling.replay
    assert ruling.score == {"A": 5, "B": -5} and following(ruling) == ("A", "in_place")


@pytest.mark.rule("G-20.16", broken=False)
def test_a_stopped_ball_counts_only_where_it_was_the_called_one() -> None:
    def stops(ball: str, rules: str = "russian") -> Match:
        stop = {
            "dt": 0.7,
            "type": "interference",
            "by": "opponent",
            "intentional": False,
            "stopped_ball": ball,
            "pocket": "foot_left",
        }
        return table_for(rules).stroke("7", call="7 foot_left", extra=[stop])

    assert counted(stops("7").last()) == {"7": 7} and not stops("7").last().replay
    assert counted(stops("12").last()) == {} and stops("12").last().replay
    assert counted(stops("12", "moscow").last()) == {"12": 1}
    assert following(stops("12", "moscow").last()) == ("A", "in_place")


def test_deliberate_interference_is_for_the_official() -> None:
    extra = [{"dt": 0.4, "type": "interference", "by": "opponent", "intentional": True}]
    ruling = table_for("russian").stroke("7", **POT, extra=extra).last()
    assert ruling.review and ruling.doubts == ("unsporting_conduct",)


@pytest.mark.rule("G-19", broken=False)
def test_between_strokes_the_position_is_restored_and_play_goes_on() -> None:
    match = table_for("russian").stroke("7", **POT)
    match.say("moved", ball="12", x=2000, y=1200, cause="outsider")
    ruling = match.last()
    assert ruling.kind.value == "interference" and restored(ruling) == {"12": (2300, 1500)}
    assert ruling.penalty is None and following(ruling) == ("A", "in_place")
    match.say("interference", by="opponent", intentional=False, wait=20)
    match.say("moved", ball="9", x=1000, y=600, cause="opponent", wait=1)
    ruling = match.last()
    assert penalty(ruling) == (5, "A") and ruling.score == {"A": 12, "B": -5} and following(ruling) == ("A", "in_place")
    assert len(match.of_kind("interference")) == 2


@pytest.mark.parametrize(("wait", "foul"), [(59.0, []), (62.0, ["time_over"])])
def test_once_the_clock_is_on_a_stroke_takes_no_more_than_a_minute(wait: float, foul: list[str]) -> None:
    match = (
        table_for("russian")
        .stroke("7", **POT)
        .say("warning", what="slow_play", wait=1)
        .say("shot_clock", on=True, wait=1)
    )
    ruling = match.stroke("9", call="9 middle_right", wait=wait).last()
    assert codes(ruling) == foul and (penalty(ruling) == (5, "B")) == bool(foul)


def test_without_the_clock_or_with_it_switched_off_a_stroke_may_take_its_time() -> None:
    match = table_for("russian").say("shot_clock", on=True).say("shot_clock", on=False)
    assert codes(match.stroke("7", call="7 foot_left", wait=200).last()) == []


def test_the_clock_starts_anew_with_each_rest() -> None:
    match = table_for("moscow", shot_clock_s=30).say("shot_clock", on=True).stroke("7", wait=20)
    assert codes(match.stroke("9", wait=29).last()) == []
    assert codes(match.stroke("9", wait=33).last()) == ["time_over"]


def test_who_comes_to_the_table_by_a_ruling_between_strokes_has_his_minute() -> None:
    match = table_for("russian").say("shot_clock", on=True).stroke("7", **POT, wait=20)
    match.say("touch", wait=50, ball="12", by="hand")
    ruling = match.stroke("9", call="9 middle_right", wait=40).last()
    assert ruling.player == "B" and codes(ruling) == []


def test_at_a_contact_it_is_the_cue_balls_centre_that_has_or_has_not_crossed_the_penalty_line() -> None:
    def then_meets(x12: float) -> list[str]:
        match = Match("russian").lie(cue=(1400, 900), b7=(1478, 900), b12=(x12, 940))
        met = {"dt": 0.6, "type": "contact", "balls": ["cue", "12"], "x": x12 - 34, "y": 940}
        return codes(match.stroke("7", v=(1500, 0), ends={"cue": (1600.0, 1300.0)}, extra=[met]).last())

    assert then_meets(1538) == []  # its centre is at 1470, the point of contact at 1504
    assert then_meets(1560) == ["close_ball"]


def test_an_angle_about_45_degrees_is_doubt_where_it_decides() -> None:
    near = _close(10, v=(1000, 980), ends=THROUGH).last()  # 44.4°
    assert codes(near) == ["close_ball"] and near.doubts == ("edge:close_angle",)
    wide = _close(10, v=(1000, 1020), ends=THROUGH).last()  # 45.6°
    assert codes(wide) == [] and wide.doubts == ("edge:close_angle",)
    assert not _close(10, v=(1000, 900), ends=THROUGH).last().review  # 42°


def test_a_place_near_the_penalty_line_is_doubt() -> None:
    short = _close(10, v=(1500, 0), ends={"cue": (1477.5, 900.0)}).last()
    assert codes(short) == [] and short.doubts == ("edge:penalty_line",)


@pytest.mark.parametrize(
    ("by", "intentional", "doubts", "notes"),
    [
        ("opponent", False, (), ()),
        ("opponent", True, ("unsporting_conduct",), ()),
        ("outsider", False, (), ()),
        ("outsider", True, (), ("stop_until_gone",)),
    ],
)
@pytest.mark.parametrize("during", [True, False])
def test_what_is_deliberate_is_said(
    by: str, intentional: bool, doubts: tuple[str, ...], notes: tuple[str, ...], during: bool
) -> None:
    event = {"type": "interference", "by": by, "intentional": intentional}
    if during:
        ruling = table_for("russian").stroke("7", **POT, extra=[{"dt": 0.4, **event}]).last()
    else:
        ruling = table_for("russian").stroke("7", **POT).say("interference", by=by, intentional=intentional).last()
    assert ruling.kind.value == "interference" and ruling.doubts == doubts
    assert ruling.notes == (("called:7:foot_left:", *notes) if during else notes)


def test_a_difference_in_the_lag_about_five_millimetres_is_doubt() -> None:
    assert lag(Match("russian"), 120, 125.5).last().doubts == ("edge:lag_equal",)
    assert not lag(Match("russian"), 120, 127).last().review


def test_the_angle_is_from_the_line_of_centres_whatever_way_it_points() -> None:
    def played(vx: float, vy: float) -> list[str]:
        match = Match("russian").lie(cue=(1400, 900), b7=(1455, 955), b12=(2600, 1500))  # 77.8 mm: a gap of 9.8
        return codes(match.stroke("7", v=(vx, vy), ends={"cue": (1900.0, 1400.0)}).last())

    assert played(1000, 1000) == ["close_ball"] and played(1000, 100) == ["close_ball"]
    assert played(1000, -100) == [] and played(-100, 1000) == []


def test_the_best_of_three_ends_with_two_won_or_three_played() -> None:
    match = Match("moscow", games=3)
    _won_game(_won_game(match))
    assert not match.last().match_over
    match.say("starts", player="A")
    assert _won_game(match).last().match_over and match.last().match == {"A": 2, "B": 1}
    assert not match.last().review  # the official said who starts


def test_the_last_ball_alone_ends_the_game_and_two_do_not() -> None:
    match = Match("moscow").lie(cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600)).stroke("7", pots="7 foot_left")
    assert not match.last().game_over
    assert match.stroke("9", pots="9 foot_left").last().game_over and match.last().winner == "A"


def test_strikes_that_are_not_at_once_or_not_from_both_halves_are_no_lag() -> None:
    def kinds(dt: float, y: float, x: float = 500) -> list[str]:
        match = Match("moscow")
        match.at(1, "strike", ball="cue", x=500, y=500, vx=3300, vy=0)
        match.at(1 + dt, "strike", ball="u1", x=x, y=y, vx=3300, vy=0)
        match.at(20, "rest", balls=[{"ball": "cue", "x": 100, "y": 500}, {"ball": "u1", "x": 300, "y": y}])
        return [ruling.kind.value for ruling in match.rulings()]

    assert kinds(1, 1275) == ["lag"]
    assert kinds(5, 1275) == ["stroke", "stroke"] and kinds(1, 600) == ["stroke", "stroke"]
    assert kinds(1, 1275, x=1200) == ["stroke", "stroke"]
