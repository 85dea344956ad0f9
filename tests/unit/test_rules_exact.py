"""Just on the edge, just beside it: what exactly decides, who exactly pays, how sure exactly a ruling is."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.rules_match import (
    TABLE,
    Match,
    codes,
    counted,
    following,
    penalty,
    restored,
    spots,
    table_for,
)
from vision_referee.domain.errors import InputError
from vision_referee.record.events_jsonl import event_from_json
from vision_referee.rules.correction import parse_correction
from vision_referee.rules.referee import Referee, replay, replayed
from vision_referee.rules.settings import RuleSettings, build_settings, names_of_players
from vision_referee.rules.spotting import foot_cushion, foot_spot_long_line, spot_all

POT = {"pots": "7 foot_left", "call": "7 foot_left"}
LIP = (3538.0, 1763.0)


def event(dt: float, name: str, /, **fields: Any) -> dict[str, Any]:
    return {"dt": dt, "type": name, **fields}


def hung(match: Match, ball: str = "7", **fields: Any) -> Match:
    """The ball lies on the left lip at the foot since the last rest."""
    return match.at(match.t, "hanging", ball=ball, pocket="foot_left", x=LIP[0], y=LIP[1], **fields)


# --- how sure is sure: 0.9 is, 0.89 is not; 0.5 is taken for true, 0.49 is not ---


@pytest.mark.parametrize(("confidence", "review"), [(0.9, False), (0.89, True)])
def test_ninety_in_a_hundred_is_sure_of_everything_seen_between_strokes(confidence: float, review: bool) -> None:
    touched = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", confidence=confidence)
    moved = (
        table_for("russian")
        .stroke("7", **POT)
        .say("moved", ball="12", x=1, y=1, cause="outsider", confidence=confidence)
    )
    taken = (
        table_for("moscow")
        .stroke("9", pots="cue foot_left")
        .say("picked_up", ball="12", x=2300, y=1500, confidence=confidence)
    )
    fallen = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    fallen.say("pocketed", wait=8, ball="7", pocket="foot_left", confidence=confidence)
    identified = table_for("small-russian").lie(cue=(2700, 1000), u1=(3200, 1450), b9=(1200, 600))
    identified.say("identified", ball="u1", number=7, confidence=confidence)
    identified.stroke("u1", pots="u1 foot_left", call="7 foot_left")
    struck = table_for("russian").stroke("7", **POT, confidence=confidence)
    for match in (touched, moved, taken, fallen, identified, struck):
        assert match.last().review == review, match.values[-1]


@pytest.mark.parametrize("confidence", [0.5, 0.49])
def test_half_is_taken_for_true_and_less_is_not(confidence: float) -> None:
    true = confidence == 0.5
    touched = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", confidence=confidence).last()
    assert codes(touched) == (["ball_touched"] if true else []) and touched.review
    fallen = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    fell = fallen.say("pocketed", wait=8, ball="7", pocket="foot_left", confidence=confidence).last()
    assert (fell.kind.value == "hanging") == true and bool(fell.restored) == true and fell.review
    taken = table_for("moscow").stroke("9", pots="cue foot_left")
    took = taken.say("picked_up", ball="12", x=2300, y=1500, confidence=confidence).last()
    assert took.score == {"A": int(true), "B": 0} and took.review
    rack = Match("moscow", edition="federation").rack()
    rack.values[-1]["confidence"] = confidence
    broke = rack.stroke("4")
    assert bool(broke.last().choice) == true and (broke.rulings()[0].kind.value == "game") == (not true)


@pytest.mark.parametrize(
    ("extra", "confidence"),
    [
        ([event(1, "touch", ball="12", by="hand", confidence=0.6)], 0.6),
        ([event(1, "touch", ball="12", by="hand", confidence=0.3)], 0.7),
        ([event(0.9, "pocketed", ball="9", pocket="foot_left", confidence=0.8),
          event(1, "left_table", ball="12", x=3700, y=9, confidence=0.7)], 0.7),
        ([event(1, "left_table", ball="9", x=3700, y=9),
          event(1.1, "returned", ball="9", x=3500, y=9, touched="unknown")], 0.6),
        ([], 1.0),
    ],
)  # fmt: skip
def test_a_ruling_is_as_sure_as_the_least_sure_of_what_decides_it(
    extra: list[dict[str, Any]], confidence: float
) -> None:
    ruling = table_for("russian").stroke("7", **POT, extra=extra).last()
    assert ruling.confidence == pytest.approx(confidence) and ruling.review == (confidence < 0.9)


def test_a_measure_at_its_edge_is_a_toss_up_and_a_missing_call_is_likelier_right_than_not() -> None:
    match = (
        Match("russian")
        .lie(cue=(2000, 600), b9=(1200, 600), b7=(887.5, 1400))
        .stroke("9", call="9 middle_right", pots="cue foot_right")
    )
    assert match.stroke("7", at=(500, 900), call="7 foot_left").last().confidence == pytest.approx(0.725)
    assert table_for("russian").stroke("7", pots="7 foot_left").last().confidence == pytest.approx(0.75)


def test_two_facts_that_matter_only_together_are_asked_about_where_that_is_likely_enough() -> None:
    def touches(first: float, second: float) -> bool:
        extra = [
            event(0.9, "touch", ball="12", by="hand", confidence=first),
            event(1.0, "tip", ball="cue", kind="double_hit", confidence=second),
        ]
        ruling = table_for("russian").stroke("7", **POT, extra=extra).last()
        assert penalty(ruling) == (5, "B")
        return ruling.review

    assert touches(0.6, 0.6) and touches(0.68, 0.68)
    assert not touches(0.7, 0.7), "that neither happened is likely less than once in ten times"


def test_what_an_unsure_thing_is_called_in_the_doubt() -> None:
    contact = event(0.3, "contact", balls=["cue", "7"], x=3175, y=1427, confidence=0.6)
    assert table_for("russian").stroke(extra=[contact]).last().doubts == ("unsure:contact:cue-7:0.60",)
    touch = event(0.9, "touch", ball="12", by="hand", confidence=0.6)
    assert table_for("russian").stroke("7", extra=[touch]).last().doubts == ("unsure:touch:12:0.60",)


def test_ninety_in_a_hundred_of_what_was_seen_before_the_stroke() -> None:
    def doubts(confidence: float) -> tuple[str, ...]:
        match = hung(table_for("moscow").stroke("7", ends={"7": LIP}), confidence=confidence)
        match.places.pop("7")
        return match.stroke("12", extra=[event(0.9, "pocketed", ball="7", pocket="foot_left")], wait=20).last().doubts

    assert doubts(0.9) == () and doubts(0.89) == ("unsure:hanging:7:0.89",)


def test_a_rest_that_was_likelier_not_one_is_asked_about_in_the_stroke_before_only_where_it_decides() -> None:
    def first(*hits: str) -> tuple[str, ...]:
        match = table_for("russian").stroke(*hits, call="7 foot_left")
        match.values[-1]["confidence"] = 0.4
        return match.stroke("9", call="9 middle_right").rulings()[0].doubts

    assert first() == ("unsure:rest::0.40",), "had the balls been at rest, the cue ball had touched none"
    assert first("7") == ()


# --- hanging balls ---


def test_a_ball_that_has_hung_since_an_earlier_stroke_keeps_its_time() -> None:
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.stroke("12", call="12 middle_left").say("pocketed", wait=2, ball="7", pocket="foot_left")
    last = match.last()
    assert last.kind.value == "hanging" and restored(last) == {"7": LIP} and not last.review
    assert last.notes == ("hung:7:20.0",)


def test_a_hanging_ball_that_the_stroke_touched_hangs_anew() -> None:
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.stroke("7", call="7 foot_left").say("pocketed", wait=2, ball="7", pocket="foot_left")
    last = match.last()
    assert last.kind.value == "stroke" and last.player == "B" and counted(last) == {"7": 7}


def test_a_hanging_ball_that_was_touched_by_hand_or_moved_hangs_no_more() -> None:
    for extra in (
        [event(0.9, "touch", ball="7", by="hand")],
        [event(0.9, "moved", ball="7", x=3500, y=1700, cause="outsider"), event(0.8, "interference", by="outsider")],
    ):
        match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
        match.stroke("12", call="12 middle_left", extra=extra, wait=20).say(
            "pocketed", wait=2, ball="7", pocket="foot_left"
        )
        kinds = [ruling.kind.value for ruling in match.rulings()]
        assert kinds[-1] in ("stroke", "interference"), kinds


@pytest.mark.parametrize(
    ("v", "aimed"),
    [((638.0, 863.0), True), ((638.0, 895.0), True), ((638.0, 960.0), False), ((-638.0, -863.0), False),
     ((1276.0, 1726.0), True), ((863.0, 638.0), False), ((0.0, 0.0), False)],
)  # fmt: skip
def test_within_half_a_ball_of_the_strikes_direction_the_hanging_ball_was_aimed_at(
    v: tuple[float, float], aimed: bool
) -> None:
    match = hung(table_for("moscow").stroke("7", ends={"7": LIP}))
    match.places.pop("7")
    match.stroke(
        "9", at=(2900, 900), v=v, extra=[event(0.2, "pocketed", ball="7", pocket="foot_left")], wait=20
    )  # fmt: skip
    assert match.last().replay == aimed and restored(match.last())["7"] == LIP


def test_a_hanging_ball_that_fell_after_a_contact_of_its_own_fell_by_the_stroke() -> None:
    match = hung(table_for("moscow").stroke("7", ends={"7": LIP}))
    match.places.pop("7")
    extra = [
        event(0.5, "contact", balls=["9", "7"], x=3500, y=1700),
        event(0.6, "pocketed", ball="7", pocket="foot_left"),
    ]
    assert counted(match.stroke("9", extra=extra, wait=20).last()) == {"7": 1}


def test_one_that_hung_less_than_five_seconds_when_the_next_stroke_shook_it_down_is_asked_about() -> None:
    for wait, asked in ((3.0, True), (6.0, False)):
        match = hung(table_for("moscow").stroke("7", ends={"7": LIP}))
        match.places.pop("7")
        match.stroke("9", extra=[event(0.9, "pocketed", ball="7", pocket="foot_left")], wait=wait)
        assert match.last().review == asked and restored(match.last()) == {"7": LIP}


@pytest.mark.parametrize(
    ("shakes", "put_back", "review"),
    [
        ([(2.0, 1.0)], True, False),
        ([(2.0, 0.7)], True, True),
        ([(2.0, 0.4)], False, True),
        ([(1.45, 1.0)], True, True),
        ([(1.35, 1.0)], False, True),
        ([(1.2, 1.0)], False, False),
        ([(1.2, 0.7)], False, False),
        ([(2.6, 1.0)], False, False),
        ([(1.35, 1.0), (2.0, 1.0)], True, False),
    ],
)
def test_a_jolt_by_its_time_and_how_surely_it_was_seen(
    shakes: list[tuple[float, float]], put_back: bool, review: bool
) -> None:
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    for after, confidence in shakes:
        match.at(match.t + after, "shake", confidence=confidence)
    match.say("pocketed", wait=2.4, ball="7", pocket="foot_left")
    last = match.last()
    assert (last.kind.value == "hanging") == put_back and last.review == review
    if put_back:
        assert last.notes == ("jolted:7",)


# --- spotting ---


def test_at_the_foot_cushion_each_ball_lies_as_near_to_the_middle_as_can_be() -> None:
    on_cushion, reach = 3516.0, 68.05
    assert foot_cushion(TABLE, []) == (on_cushion, 887.5)
    assert foot_cushion(TABLE, [(on_cushion, 887.5)]) == pytest.approx((on_cushion, 887.5 - reach))
    assert foot_cushion(TABLE, [(on_cushion, 887.5), (on_cushion, 819.45)]) == pytest.approx(
        (on_cushion, 887.5 + reach)
    )
    # A ball aside of the middle leaves room on its far side; one off the cushion takes less of it.
    assert foot_cushion(TABLE, [(on_cushion, 900.0)]) == pytest.approx((on_cushion, 900 - reach))
    assert foot_cushion(TABLE, [(on_cushion - 60, 887.5)])[1] == pytest.approx(887.5 - (reach**2 - 60**2) ** 0.5)
    assert foot_cushion(TABLE, [(on_cushion - 68.05, 887.5)]) == (on_cushion, 887.5), "just touching nothing"


def test_on_the_long_line_one_ball_after_another_and_toward_the_centre_where_it_is_full() -> None:
    assert foot_spot_long_line(TABLE, [(2662.5, 887.5 + 68.05)]) == pytest.approx((2662.5, 887.5))
    assert foot_spot_long_line(TABLE, [(2662.5, 887.5), (2790.0, 887.5)]) == pytest.approx((2858.05, 887.5))
    full = [(2662.5 + 68.04 * n, 887.5) for n in range(13)]
    assert foot_spot_long_line(TABLE, full) == pytest.approx((2662.5 - 68.05, 887.5))
    aside = foot_spot_long_line(TABLE, [(2662.5, 887.5 + 40)])
    assert aside == pytest.approx((2662.5 + (68.05**2 - 40**2) ** 0.5, 887.5))


def test_where_the_whole_line_is_full_the_ball_lies_near_the_spot_free_and_on_the_table() -> None:
    line = [(34.0 + 68.04 * n, 887.5) for n in range(52)]
    x, y = foot_spot_long_line(TABLE, line)
    assert all(((x - a) ** 2 + (y - b) ** 2) ** 0.5 >= 68 for a, b in line)
    assert abs(x - 2662.5) < 80 and 34 <= y <= 1741
    cushion = [(3516.0, 34.0 + 68.04 * n) for n in range(26)]
    x, y = foot_cushion(TABLE, cushion)
    assert 34 <= x <= 3516 and abs(y - 887.5) < 80 and x > 3400


def test_a_ball_to_be_spotted_does_not_stand_in_its_own_way() -> None:
    assert spot_all(TABLE, ["7"], {"7": (2662.5, 887.5)}, foot_spot_long_line) == [("7", (2662.5, 887.5))]


# --- who meddled ---


@pytest.mark.parametrize(
    ("meddling", "fouls", "replay"),
    [
        ([event(0.9, "interference", by="opponent")], ["interference"], True),
        ([event(0.9, "interference", by="outsider")], [], True),
        ([event(0.9, "moved", ball="9", x=1, y=1, cause="opponent")], ["interference"], True),
        ([event(0.9, "moved", ball="9", x=1, y=1, cause="outsider")], [], True),
        ([event(0.9, "touch", ball="9", by="hand", player="B")], ["interference"], True),
        ([event(0.9, "touch", ball="9", by="hand", player="A")], ["ball_touched"], False),
        ([event(0.9, "touch", ball="9", by="hand", player="B"), event(1, "interference", by="outsider")],
         ["interference"], True),
        ([event(0.9, "touch", ball="9", by="hand", player="A"), event(1, "interference", by="outsider")], [], True),
    ],
)  # fmt: skip
def test_who_meddled_with_a_stroke(meddling: list[dict[str, Any]], fouls: list[str], replay: bool) -> None:
    ruling = table_for("russian").stroke("7", **POT, extra=meddling).last()
    assert codes(ruling) == fouls and ruling.replay == replay
    assert penalty(ruling) == ((5, "A") if fouls == ["interference"] else (5, "B") if fouls else None)


def test_an_incident_is_unsure_only_where_nothing_of_it_is_sure() -> None:
    match = table_for("russian").stroke("7", **POT)
    match.say("touch", ball="12", by="hand", confidence=0.7).say("touch", wait=1, ball="9", by="hand", confidence=0.95)
    assert not match.last().review and codes(match.last()) == ["ball_touched"]
    assert match.last().fouls[0].balls == ("12", "9")


def test_touches_of_two_players_or_far_apart_are_two_incidents() -> None:
    match = table_for("russian").stroke("7", **POT)
    match.say("touch", ball="12", by="hand", player="A").say("touch", wait=1, ball="9", by="hand", player="B")
    assert [penalty(r) for r in match.rulings()[1:]] == [(5, "B"), (5, "A")]
    apart = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand").say("touch", ball="9", by="hand")
    assert len(apart.rulings()) == 2, "five seconds apart they still belong together"
    apart = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand")
    assert len(apart.say("touch", wait=5.1, ball="9", by="hand").rulings()) == 3


@pytest.mark.parametrize(("wait", "player", "asked"), [(0.9, "A", False), (1.0, "A", False), (1.1, "B", True),
                                                       (2.9, "B", True), (3.0, "B", False)])  # fmt: skip
def test_whose_touch_it_is_soon_after_a_miss(wait: float, player: str, asked: bool) -> None:
    ruling = (
        table_for("russian").stroke("7", call="7 foot_left").say("touch", wait=wait, ball="9", by="clothing").last()
    )
    assert ruling.player == player and ruling.review == asked


def test_after_a_pot_the_touch_is_the_players_who_stays_at_the_table() -> None:
    ruling = table_for("russian").stroke("7", **POT).say("touch", wait=2, ball="9", by="clothing").last()
    assert ruling.player == "A" and not ruling.review and following(ruling) == ("B", "in_place")


@pytest.mark.parametrize(("rules", "rule"), [("small-russian", "S-8"), ("russian", "S-8"), ("moscow", "G-20.5")])
def test_the_rule_that_balls_disturbed_by_mistake_break(rules: str, rule: str) -> None:
    ruling = table_for(rules).stroke("7", **POT).say("frame_over_mistake", player="A").last()
    assert ruling.fouls[0].rule == rule and len(ruling.restored) == 3 and following(ruling)[0] == "B"  # type: ignore[index]


# --- the cue ball in hand ---


@pytest.mark.parametrize(("rules", "foul"), [("russian", True), ("moscow", True), ("small-russian", False)])
def test_the_cue_ball_put_down_against_another(rules: str, foul: bool) -> None:
    match = Match(rules).lie(cue=(2000, 600), b9=(1200, 600), b7=(500, 1400), b12=(2300, 1500))
    match.stroke(off="cue", call="9 middle_right").stroke("12", at=(500, 1332), call="12 foot_left")
    ruling = match.last()
    assert ("ball_touched" in codes(ruling)) == foul and ruling.review == foul
    apart = (
        Match(rules)
        .lie(b9=(1200, 600), b7=(500, 1400), b12=(2300, 1500))
        .stroke("12", at=(500, 1330.5), call="12 foot_left")
    )
    assert codes(apart.last()) == [] and not apart.last().review, "a millimetre and a half away"
    near = (
        Match(rules)
        .lie(b9=(1200, 600), b7=(500, 1400), b12=(2300, 1500))
        .stroke("12", at=(500, 1331.5), call="12 foot_left")
    )
    assert codes(near.last()) == [] and near.last().review == foul, "half a millimetre is not told from none"


# --- numbers ---


def test_the_last_number_of_a_full_rack_is_known_when_fourteen_are() -> None:
    def last_number(first: int, known: int) -> dict[str, int]:
        match = Match("small-russian").rack([f"u{n}" for n in range(1, 16)])
        for n in range(known):
            match.say("identified", wait=0.1, ball=f"u{n + 1}", number=first + n)
        return counted(match.stroke("u1", call="15 foot_left", pots="u15 foot_left").last())

    assert last_number(1, 14) == {"u15": 15}
    assert last_number(1, 13) == last_number(2, 13) == {}


# --- matches ---


def won(match: Match) -> Match:
    match.rack([f"u{n}" for n in range(1, 16)])
    return match.stroke("u1", pots=", ".join(f"u{n} foot_left" for n in range(1, 9)))


def test_a_lag_decides_one_break_only() -> None:
    match = Match("moscow").say("starts", player="B")
    players = [ruling.player for ruling in won(won(won(match))).rulings()]
    assert players == ["B", "A", "B"], "then the breaks alternate"


def test_balls_knocked_about_after_the_end_are_asked_about_once_and_not_at_the_matchs_end() -> None:
    match = won(Match("moscow")).stroke("u9", wait=30).stroke("u9", wait=30)
    assert [r.kind.value for r in match.rulings()] == ["stroke", "game"]
    assert match.last().doubts == ("struck_after_game",) and match.last().next is None
    over = won(Match("moscow", race_to=1)).stroke("u9", wait=30)
    assert over.last().match_over and len(over.rulings()) == 1
    again = won(match)
    assert [r.kind.value for r in again.rulings()] == ["stroke", "game", "stroke"] and again.last().player == "B"


def test_a_second_rest_between_strokes_tells_where_the_balls_lie() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    match.places["9"] = (2662.5, 887.5)
    match.say("rest", balls=match._balls())
    ruling = match.stroke("7", call="7 middle_left", pots="7 foot_left").last()
    assert spots(ruling)["7"] == pytest.approx((2730.6, 887.5), abs=0.1)


def test_a_rest_that_lists_only_the_balls_of_a_lag_is_not_the_beginning_of_a_game() -> None:
    match = Match("russian").say(
        "rest", balls=[{"ball": "cue", "x": 900, "y": 800}, {"ball": "7", "x": 3000, "y": 800}]
    )
    assert match.referee().rulings == []
    match.stroke("7", **POT)
    assert counted(match.last())["7"] == 17, "the seven was the last ball of a game that had begun"


# --- settings and players ---


@pytest.mark.parametrize(("rules", "most"), [("small-russian", 4), ("none", 4), ("russian", 2), ("moscow", 2)])
def test_how_many_may_play(rules: str, most: int) -> None:
    names = list("ABCDE")
    assert names_of_players(rules, names[:most], RuleSettings()) == tuple(names[:most])
    with pytest.raises(InputError, match="is played by"):
        names_of_players(rules, names[: most + 1], RuleSettings())
    with pytest.raises(InputError):
        names_of_players(rules, ["A"], RuleSettings())


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("players", ["2", "4"], ["1", "5", "2.5", "true"]),
        ("sure", ["0.5", "1"], ["0.49", "1.01", "nan", "much"]),
        ("hanging_s", ["0", "600"], ["-1", "601"]),
        ("shot_clock_s", ["1", "3600"], ["0.9", "3601"]),
        ("race_to", ["0", "99"], ["-1", "100"]),
        ("penalty_line_mm", ["-200", "200"], ["-201", "201"]),
        ("time_error_s", ["0", "2"], ["-0.1", "2.1"]),
        ("edition", ["1994", "federation"], ["2020"]),
        ("penalty_points_touch", ["true", "false"], ["yes", "1"]),
        ("handicap", ["A:10", "A:-200", "A:200"], ["A", "A:201", ":5", "A:ten"]),
    ],
)
def test_the_values_a_setting_may_have(key: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        build_settings("small-russian", {key: value})
    for value in bad:
        with pytest.raises(InputError, match=key):
            build_settings("small-russian", {key: value})


def test_the_best_of_so_many_games_needs_more_than_half() -> None:
    assert [RuleSettings(games=n).wins_needed for n in (0, 1, 2, 3, 5)] == [0, 1, 2, 2, 3]
    assert RuleSettings(games=5, race_to=4).wins_needed == 4


# --- corrections ---


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"penalty": 5}, 'penalty must be as in a ruling, {"points": 5}'),
        ({"fouls": "push"}, "fouls must be"),
        ({"fouls": ["rudeness"]}, "'rudeness' is not a foul's code"),
        ({"counted": [{"pocket": "foot_left"}]}, "'ball'"),
        ({"counted": [{"ball": "99"}]}, "'99' is not a ball"),
        ({"counted": [7]}, "a field is not as in a ruling"),
        ({"spotted": [{"ball": "7"}]}, "'x'"),
        ({"next": {"player": "B", "cue_ball": "nowhere"}}, "nowhere"),
        ({"score": [1, 2]}, "score must be"),
    ],
)
def test_an_override_that_makes_no_sense_says_why(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        parse_correction(fields)
    assert "\n" not in str(caught.value)


def test_every_player_whom_an_override_names() -> None:
    given = parse_correction(
        {"player": "A", "next": {"player": "B"}, "winner": "C", "penalty": {"points": 5, "to": "D"}, "score": {"E": 1}}
    )
    assert sorted(given.players()) == ["A", "B", "C", "D", "E"]
    assert parse_correction({"fouls": []}).players() == ()


def test_an_override_of_a_ruling_that_was_never_given_is_refused_and_one_that_is_gone_is_not() -> None:
    match = table_for("russian").stroke("7", **POT).say("touch", ball="9", by="hand")
    gone = match.rulings()[-1].id
    touch = int(match.values[-1]["id"])
    match.say("override", ruling=gone, fouls=[]).say("retract", ref=touch)
    replayed(match.events(), rules="russian", players="AB", table=TABLE).check_overrides()
    match.say("override", ruling=77, fouls=[])
    with pytest.raises(InputError, match="never given; the last has the id 2"):
        replayed(match.events(), rules="russian", players="AB", table=TABLE).check_overrides()
    replayed(match.events(), rules="none", players="AB", table=TABLE).check_overrides()


@pytest.mark.parametrize(
    ("fields", "score", "next_player"),
    [
        ({"fouls": []}, {"A": 0, "B": 0}, "B"),
        ({"fouls": ["ball_touched"]}, {"A": -5, "B": 5}, "B"),
        ({"fouls": ["interference"]}, {"A": 5, "B": -5}, "A"),
        ({"penalty": None}, {"A": 0, "B": 0}, "A"),
        ({"penalty": {"points": 10}}, {"A": 10, "B": -10}, "A"),
        ({"replay": False}, {"A": 0, "B": 0}, "B"),
        ({"counted": [{"ball": "7", "points": 7}]}, {"A": 12, "B": -5}, "A"),
    ],
)
def test_an_override_of_interference(fields: dict[str, Any], score: dict[str, int], next_player: str) -> None:
    match = table_for("russian").stroke("7", call="7 foot_left", extra=[event(0.9, "interference", by="opponent")])
    assert match.last().score == {"A": 5, "B": -5}
    match.say("override", ruling=match.last().id, **fields)
    ruling = match.last()
    assert ruling.score == score and following(ruling) == (next_player, "in_place") and ruling.overridden


def test_an_override_puts_balls_where_it_says() -> None:
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.say("pocketed", wait=8, ball="7", pocket="foot_left")
    place = {"ball": "7", "x": 2662.5, "y": 887.5}
    match.say("override", ruling=match.last().id, restored=[place])
    assert restored(match.last()) == {"7": (2662.5, 887.5)}
    match.places.pop("7")
    ruling = match.stroke("9", call="9 middle_right", pots="9 foot_left").last()
    assert spots(ruling)["9"] == pytest.approx((2730.6, 887.5), abs=0.1), "the spot is taken by what he put there"


# --- live: the same however the events come ---


def test_events_without_ids_or_with_the_same_get_their_own() -> None:
    told = table_for("russian").stroke("7", **POT).values
    without = [event_from_json({k: v for k, v in values.items() if k != "id"}) for values in told]
    same = [event_from_json({**values, "id": 1}) for values in told]
    kept = [event_from_json(values) for values in told]
    texts = [
        [replace(r, id=0) for r in replay(events, rules="russian", players="AB", table=TABLE)]
        for events in (without, same, kept)
    ]
    assert texts[0] == texts[1] == texts[2] and len(texts[0]) == 1


def test_an_official_line_bearing_the_id_of_something_seen_gets_one_of_its_own() -> None:
    match = table_for("russian").stroke("7", **POT, extra=[event(1, "touch", ball="12", by="hand")])
    touch = next(int(v["id"]) for v in match.values if v["type"] == "touch")
    match.at(match.t + 1, "starts", player="A")
    match.values[-1] |= {"id": touch, "source": "official"}
    match.at(match.t + 2, "retract", ref=touch)
    assert counted(match.last()) == {"7": 7}, "ref means what was seen"


def test_a_referee_asked_in_between_says_the_same_in_the_end() -> None:
    match = table_for("russian").stroke("7", **POT).stroke("9", call="9 head_left", pots="9 head_left")
    asked = match.referee()
    for one in match.events():
        asked.push(one)
        _ = asked.state, asked.rulings
    asked.flush()
    assert asked.rulings == match.rulings()


def test_of_two_words_on_one_event_and_on_one_ruling_the_later_holds() -> None:
    match = table_for("russian").stroke("7", **POT, extra=[event(1, "touch", ball="12", by="hand", confidence=0.7)])
    touch = next(int(v["id"]) for v in match.values if v["type"] == "touch")
    assert codes(match.say("retract", ref=touch).last()) == []
    assert codes(match.say("confirm", ref=touch).last()) == ["ball_touched"] and not match.last().review
    match.say("override", ruling=1, penalty={"points": 10}).say("override", ruling=1, penalty={"points": 3})
    assert match.last().score == {"A": -3, "B": 3}


def test_an_override_may_itself_be_withdrawn() -> None:
    match = table_for("russian").stroke("7", **POT).say("override", ruling=1, fouls=["push"])
    assert match.last().score == {"A": -5, "B": 5}
    assert match.say("retract", ref=int(match.values[-1]["id"])).last().score == {"A": 7, "B": 0}


def test_what_a_referee_without_rules_says() -> None:
    referee = Referee(rules="none", players="AB", table=TABLE)
    assert referee.rulings == [] and referee.state is None and referee.flush() == []


# --- a ball stopped on its way into a pocket ---


def stopped(ball: str = "7", **fields: Any) -> dict[str, Any]:
    return event(0.9, "interference", by="opponent", stopped_ball=ball, **fields)


def test_beside_a_stopped_ball_that_counts_others_are_dealt_with_as_ever() -> None:
    extra = [stopped(pocket="foot_left"), event(0, "rail_roll", ball="12")]
    match = table_for("russian").stroke(
        "7", "9", call="7 foot_left", pots="12 foot_right", off="9", extra=extra, ends={"7": (3400, 1600)}
    )
    ruling = match.last()
    assert counted(ruling) == {"7": 7} and following(ruling) == ("A", "in_place") and penalty(ruling) == (5, "A")
    assert spots(ruling) == {"9": (2662.5, 887.5), "12": (2730.6, 887.5)}
    assert counted(match.stroke("9", call="9 foot_left", pots="9 foot_left", wait=30).last()) == {"9": 9}


def test_what_the_meddling_displaced_goes_back_though_the_stopped_ball_counts() -> None:
    extra = [stopped(pocket="foot_left"), event(1, "moved", ball="12", x=2000, y=1600, cause="opponent")]
    match = table_for("russian").stroke("7", "9", call="7 foot_left", extra=extra, ends={"7": (3400, 1600)})
    assert counted(match.last()) == {"7": 7} and restored(match.last()) == {"12": (2300, 1500)}
    assert not match.last().replay


def test_a_stopped_ball_needs_the_call_that_it_was_going_to_keep() -> None:
    def last(extra: dict[str, Any], call: str = "7 foot_left") -> tuple[dict[str, int], bool]:
        ruling = table_for("russian").stroke("7", call=call, extra=[extra], ends={"7": (3400, 1600)}).last()
        return counted(ruling), ruling.replay

    assert last(stopped()) == ({"7": 7}, False), "where it was going is taken from the call"
    assert last(stopped(pocket="foot_right")) == ({}, True), "into another pocket"
    assert last(stopped(), call="") == ({}, True), "no call"
    assert last(stopped(ball="cue", pocket="foot_left")) == ({}, True), "the cue ball scores nothing"
    assert last(stopped(ball="9", pocket="foot_left")) == ({}, True), "another ball"


def test_in_a_game_without_calls_the_pocket_need_not_be_known_and_the_struck_ball_counts_in_american() -> None:
    moscow = table_for("moscow").stroke("7", extra=[stopped()]).last()
    assert counted(moscow) == {"7": 1} and moscow.counted[0].pocket is None
    american = table_for("american").stroke("7", extra=[stopped(ball="cue", pocket="foot_left")]).last()
    assert counted(american) == {"cue": 1} and following(american) == ("A", "any")
    faulty = table_for("moscow").stroke("7", extra=[stopped(), event(0.5, "touch", ball="12", by="cue")]).last()
    assert counted(faulty) == {} and faulty.replay, "the stroke was a foul"
    safety = table_for("moscow", edition="federation").stroke("7", extra=[stopped()]).last()
    assert counted(safety) == {"7": 1}, "no safety was asked of it"


@pytest.mark.parametrize("meddling", [event(0.9, "interference", by="opponent"),
                                      event(0.9, "moved", ball="9", x=1, y=1, cause="opponent")])  # fmt: skip
def test_of_three_players_which_one_meddled_is_asked_unless_it_is_said(meddling: dict[str, Any]) -> None:
    asked = table_for("small-russian", players="ABC").stroke("7", **POT, extra=[meddling]).last()
    assert asked.doubts == ("which_opponent",) and penalty(asked) == (5, "A")
    touch = event(0.8, "touch", ball="9", by="hand", player="C")
    said = table_for("small-russian", players="ABC").stroke("7", **POT, extra=[touch, meddling]).last()
    assert not said.review and said.score == {"A": 5, "B": 0, "C": -5}
    assert table_for("russian").stroke("7", **POT, extra=[meddling]).last().doubts == ()


def test_which_balls_an_interference_names_and_how_sure_it_is() -> None:
    extra = [
        event(0.7, "moved", ball="9", x=1, y=1, cause="opponent", confidence=0.95),
        event(0.8, "touch", ball="12", by="hand", player="B", confidence=0.92),
        stopped(ball="7", pocket="foot_right"),
    ]
    foul = table_for("russian").stroke("7", **POT, extra=extra).last().fouls[0]
    assert foul.balls == ("7", "9", "12") and foul.confidence == 1.0 and foul.t == pytest.approx(15.7)


def test_balls_displaced_by_nobody_knows_whom_are_asked_about_unless_an_official_says() -> None:
    moved = event(0.8, "moved", ball="9", x=1, y=1, cause="unknown")
    assert table_for("russian").stroke("7", **POT, extra=[moved]).last().doubts == ("moved_by_unknown",)
    said = [moved, event(0.9, "interference", by="other")]
    assert table_for("russian").stroke("7", **POT, extra=said).last().doubts == ()


# --- one thing each ---


def test_balls_are_spotted_in_ascending_number_where_it_was_read_later() -> None:
    match = Match("small-russian").lie(cue=(2700, 1000), u1=(3200, 1450), u2=(1200, 600), b9=(2300, 1500))
    match.say("identified", wait=0.1, ball="u1", number=12).say("identified", wait=0.1, ball="u2", number=3)
    ruling = match.stroke("u1", "u2", call="9 foot_left", pots="u1 foot_left, u2 foot_left").last()
    assert spots(ruling) == {"u2": (2662.5, 887.5), "u1": (3516.0, 887.5)}


def test_the_place_told_by_a_second_rest_decides_what_lies_in_the_house() -> None:
    match = Match("russian").lie(b7=(2000, 600), b9=(1200, 600))
    match.say("rest", balls=[{"ball": "9", "x": 500, "y": 1400}, {"ball": "u9", "x": 300, "y": 300}])
    ruling = match.stroke("9", at=(600, 800), call="9 head_left").last()
    assert codes(ruling) == ["house_ball_hit"], "the nine lies in the house now"
    assert spots(match.stroke("7", at=(600, 800), call="9 head_left", pots="7 foot_left").last()) == {
        "7": (2662.5, 887.5)
    }


@pytest.mark.parametrize("balls", [15, 6])
def test_a_rack_in_the_middle_of_a_game_that_nobody_ordered_is_asked_about(balls: int) -> None:
    match = table_for("moscow").stroke("7", pots="7 foot_left")
    ruling = match.rack([f"u{n}" for n in range(1, balls + 1)]).last()
    assert ruling.kind.value == "game" and "racked_in_the_middle" in ruling.doubts
    assert ruling.score == ({"A": 0, "B": 0} if balls == 15 else {"A": 1, "B": 0})


def test_the_break_can_be_left_to_the_opponent_until_it_is_made() -> None:
    def player(*, before: bool) -> str | None:
        match = Match("moscow").rack()
        if before:
            match.say("concede_break")
        match.stroke("4")
        if not before:
            match.say("concede_break").stroke("5")
        return match.rulings()[-1].player

    assert player(before=True) == "B" and player(before=False) == "B"
    late = Match("moscow").rack().stroke("4", pots="4 foot_left").say("concede_break").stroke("5", wait=30)
    assert late.last().player == "A", "the break is over"


def test_a_ball_that_fell_from_a_jolt_just_under_five_seconds_fell_from_the_jolt() -> None:
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.at(match.t + 4.1, "shake").say("pocketed", wait=4.6, ball="7", pocket="foot_left")
    assert match.last().notes == ("jolted:7",)
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.at(match.t + 4.6, "shake").say("pocketed", wait=4.95, ball="7", pocket="foot_left")
    assert match.last().kind.value == "hanging" and not match.last().review, "put back either way"
    match = hung(table_for("russian").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.at(match.t + 4.6, "shake", confidence=0.7).say("pocketed", wait=4.95, ball="7", pocket="foot_left")
    assert match.last().doubts == ("edge:hanging_time", "unsure:shake::0.70")


def test_the_ball_that_seventy_all_put_back_is_on_no_shelf() -> None:
    match = Match("russian", seventy_all="respot", handicap="A:70,B:52").lie("B", cue=(1775, 900), b8=(1775, 1400))
    match.stroke("8", call="8 middle_left", pots="8 middle_left")
    referee = match.referee()
    for one in match.events():
        referee.push(one)
    assert referee.state is not None
    assert referee.state.shelves == {"A": (), "B": ()} and dict(referee.state.places) == {"8": (2662.5, 887.5)}


def test_from_hand_another_ball_touched_just_before_the_strike_is_a_foul_of_that_stroke() -> None:
    for ball, foul in (("7", ["ball_touched"]), ("cue", [])):
        match = Match("russian").lie(b7=(2000, 600), b9=(1200, 600)).say("touch", wait=14, ball=ball, by="hand")
        assert codes(match.stroke("9", at=(500, 800), call="9 head_left", wait=1).last()) == foul


def test_what_is_told_before_the_first_strike_is_said_of_it() -> None:
    match = table_for("russian").say("illegal_tip", wait=3).stroke("7", **POT, wait=40)
    assert codes(match.last()) == ["illegal_stroke"]


def test_a_ball_that_was_struck_off_the_lip_and_lay_there_unseen_hangs_no_more() -> None:
    match = hung(table_for("moscow").stroke("7", ends={"7": LIP})).stroke("7", wait=20)
    match.places.pop("7")
    match.stroke("9", extra=[event(0.9, "pocketed", ball="7", pocket="foot_left")], wait=20)
    assert counted(match.last()) == {"7": 1}


def test_two_touches_by_one_player_are_one_incident() -> None:
    match = table_for("russian").stroke("7", **POT)
    match.say("touch", ball="12", by="hand", player="A").say("touch", wait=1, ball="9", by="hand", player="A")
    assert len(match.rulings()) == 2 and match.last().fouls[0].balls == ("12", "9")


@pytest.mark.parametrize(("x", "asked"), [(886.0, False), (887.0, True), (888.0, True), (889.0, False)])
def test_whether_all_balls_lie_in_the_house_may_be_too_near_to_call(x: float, asked: bool) -> None:
    match = Match("russian").lie(cue=(1500, 600), b9=(x, 600), b7=(500, 1400))
    match.stroke("7", call="7 head_right", pots="cue head_right").say("warning", what="house_violation")
    ruling = match.stroke("9", at=(3000, 800), call="9 head_left").last()
    assert ruling.review == asked
    assert codes(ruling) == ([] if x < 887.5 else ["house_violation"])


def test_an_override_counts_the_last_ball_with_its_ten_and_one_that_did_not_fall() -> None:
    match = Match("small-russian").lie(cue=(1775, 900), b5=(1775, 1400)).stroke("5", pots="5 middle_left")
    match.say("override", ruling="stroke 1", counted=["5"])
    assert counted(match.last()) == {"5": 15} and match.last().game_over
    match = table_for("small-russian").stroke("7", call="7 foot_left").say("override", ruling="stroke 1", counted=["7"])
    assert counted(match.last()) == {"7": 7} and match.last().counted[0].pocket is None


def test_a_penalty_ball_given_by_an_override_may_be_taken() -> None:
    match = table_for("moscow", edition="federation").stroke("9")
    match.say("override", ruling="stroke 1", fouls=["push"], penalty={"balls": 1})
    assert match.say("remove", ball="12").last().score == {"A": 0, "B": 1}


def test_a_rest_that_was_likelier_none_leaves_the_ruling_as_sure_as_that() -> None:
    match = table_for("russian").stroke(call="7 foot_left")
    match.values[-1]["confidence"] = 0.4
    assert match.stroke("9", call="9 middle_right").rulings()[0].confidence == pytest.approx(0.6)


def test_from_hand_a_ball_of_unknown_place_may_be_hit() -> None:
    match = Match("russian").lie(b9=(1200, 600))
    match.stroke("9", at=(500, 800), call="9 head_left", extra=[event(0.2, "contact", balls=["cue", "u7"], x=9, y=9)])
    assert codes(match.last()) == []


def test_only_the_cue_ball_off_the_table_is_that_foul_where_there_is_one_cue_ball() -> None:
    struck = table_for("russian").stroke("12", ball="9", call="12 foot_left", off="9").last()
    assert codes(struck) == ["wrong_cue_ball"] and spots(struck) == {"9": (2662.5, 887.5)}
    hit = table_for("russian").stroke("cue", ball="9", call="12 foot_left", off="cue").last()
    assert codes(hit) == ["cue_ball_off_table", "wrong_cue_ball"]


def test_another_balls_contact_does_not_show_that_a_frozen_ball_left_its_cushion() -> None:
    match = Match("moscow", edition="federation").lie(cue=(800, 300), b9=(1300, 34), b7=(1700, 900), b12=(2300, 1500))
    extra = [
        event(0.4, "contact", balls=["cue", "7"], x=1700, y=900),
        event(0.6, "cushion", ball="9", cushion="right", x=1500, y=34),
        event(0.9, "cushion", ball="cue", cushion="left", x=1700, y=1741),
    ]
    assert codes(match.stroke("9", extra=extra).last()) == ["bad_safety"]


def test_the_winner_of_the_lag_at_seventy_all_may_leave_the_stroke() -> None:
    match = Match("russian", seventy_all="respot", handicap="A:70,B:52").lie("B", cue=(1775, 900), b8=(1775, 1400))
    match.stroke("8", call="8 middle_left", pots="8 middle_left")
    t = match.t + 20
    for dt, ball, y, player in ((0.0, "cue", 500, "A"), (0.1, "8", 1275, "B")):
        match.at(t + dt, "strike", ball=ball, x=500, y=y, vx=3300, vy=0, player=player)
    for dt, ball, y in ((1.3, "cue", 500), (1.4, "8", 1275)):
        match.at(t + dt, "cushion", ball=ball, cushion="foot", x=3516, y=y)
    match.at(t + 7, "rest", balls=[{"ball": "cue", "x": 100, "y": 500}, {"ball": "8", "x": 300, "y": 1275}])
    match.t = t + 7
    match.say("concede_break").places = {"8": (2662.5, 887.5)}
    ruling = match.stroke("8", at=(600, 887.5), call="8 foot_left", pots="8 foot_left", wait=20).last()
    assert ruling.player == "B" and ruling.game_over and ruling.winner == "B"


def test_a_strike_said_to_be_another_players_is_asked_about() -> None:
    for player, doubts in (("A", ()), ("B", ("other_player",)), ("Z", ())):
        match = table_for("russian").stroke("7", **POT)
        match.values = [v | {"player": player} if v["type"] == "strike" else v for v in match.values]
        assert match.last().player == "A" and match.last().doubts == doubts


# --- rulings between strokes, corrected and counted exactly ---


def lagged(match: Match, *, names: tuple[str | None, str | None] = ("A", "B"), a: float = 120, b: float = 310) -> Match:
    """A lag of the cue ball on the right and u1 on the left."""
    t = round(match.t + 5, 2)
    for dt, ball, y, name in ((0.0, "cue", 500, names[0]), (0.1, "u1", 1275, names[1])):
        match.at(t + dt, "strike", ball=ball, x=500, y=y, vx=3300, vy=0, **({"player": name} if name else {}))
    for dt, ball, y in ((1.3, "cue", 500), (1.4, "u1", 1275)):
        match.at(t + dt, "cushion", ball=ball, cushion="foot", x=3516, y=y)
    match.at(t + 7, "rest", balls=[{"ball": "cue", "x": a, "y": 500}, {"ball": "u1", "x": b, "y": 1275}])
    match.t = t + 7
    return match


@pytest.mark.parametrize("names", [("A", "B"), ("A", None), (None, "B"), (None, None)])
def test_a_lag_may_be_played_when_the_balls_are_racked_already(names: tuple[str | None, str | None]) -> None:
    match = lagged(Match("moscow").rack([f"u{n}" for n in range(1, 16)]), names=names)
    assert match.last().kind.value == "lag" and match.last().winner == "A"


def test_after_the_break_two_strikes_are_two_strokes() -> None:
    match = Match("moscow").rack([f"u{n}" for n in range(1, 16)]).stroke("u1")
    assert [ruling.kind.value for ruling in lagged(match).rulings()] == ["stroke", "stroke", "stroke"]


def test_an_official_decides_a_lag() -> None:
    match = lagged(Match("russian"), a=300, b=301)
    assert match.last().replay
    match.say("override", ruling=match.last().id, winner="B")
    lag = match.last()
    assert lag.winner == "B" and not lag.replay and following(lag) == ("B", "in_hand_house")
    assert match.rack().stroke("4", call="2 foot_left").last().player == "B"


def test_a_ball_counted_by_an_override_of_interference_scores_its_number() -> None:
    def score(balls: list[str]) -> dict[str, int]:
        match = Match("russian").lie(cue=(2700, 1000), b5=(3200, 1450), u1=(1200, 600))
        match.stroke("5", call="5 foot_left", extra=[event(0.9, "interference", by="opponent")])
        return match.say("override", ruling=match.last().id, counted=balls).last().score

    assert score(["5"]) == {"A": 10, "B": -5} and score(["u1"]) == {"A": 5, "B": -5}
    match = table_for("russian").stroke("7", call="7 foot_left", extra=[event(0.9, "interference", by="opponent")])
    assert not match.say("override", ruling=match.last().id, counted=["7"]).last().replay


def test_a_penalty_given_by_an_override_goes_to_the_next_player() -> None:
    match = hung(table_for("small-russian", players="ABC").stroke("7", call="7 foot_left", ends={"7": LIP}))
    match.say("pocketed", wait=8, ball="7", pocket="foot_left")
    match.say("override", ruling=match.last().id, penalty={"points": 5})
    assert match.last().player == "B" and match.last().score == {"A": 0, "B": -5, "C": 5}


def test_a_debt_goes_with_the_foul_that_an_override_takes_away() -> None:
    match = table_for("moscow").say("touch", ball="9", by="hand").say("override", wait=1, ruling=1, fouls=[])
    match.say("starts", player="A").stroke("7", pots="7 foot_left")
    assert match.last().score == {"A": 1, "B": 0} and spots(match.last()) == {}


def test_a_ball_named_for_the_shelf_that_was_not_due_is_asked_about() -> None:
    assert table_for("russian").say("remove", ball="7").last().doubts == ("remove_not_due:7",)
    due = table_for("moscow", edition="federation").stroke("7", off="9 cue")
    due.values[-1]["balls"] = [ball for ball in due.values[-1]["balls"] if ball["ball"] != "9"]
    assert due.say("remove", ball="u9").last().doubts == ("remove_not_due:u9",)
    over = Match("moscow").lie(cue=(2700, 1000), b7=(3200, 1450)).stroke("7", pots="7 foot_left")
    assert len(over.say("remove", ball="7").rulings()) == 1


def test_a_ball_taken_off_that_was_not_due_is_put_back_and_asked_about() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left").say("picked_up", ball="9", x=1200, y=600)
    taken = match.stroke("7", call="7 foot_left").of_kind("between")[-1]
    assert taken.doubts == ("taken_off:9",) and restored(taken) == {"9": (1200, 600)}
    cue = table_for("russian").stroke("7", call="7 foot_left").say("picked_up", ball="cue", x=2700, y=1000)
    assert cue.stroke("7", call="7 foot_left").of_kind("between") == []


def test_a_ball_surely_put_back_was_surely_not_taken() -> None:
    match = table_for("moscow").stroke("9", pots="cue foot_left").say("picked_up", ball="12", x=2300, y=1500)
    match.say("placed", ball="12", x=2300, y=1500, confidence=0.9).stroke("7", at=(500, 700))
    assert not any(ruling.review for ruling in match.rulings()) and match.last().score == {"A": 0, "B": 0}


@pytest.mark.parametrize(
    ("before_s", "called_before_s", "own"),
    [(3.0, None, True), (3.1, None, False), (6.0, 6.0, True), (6.1, 7.0, False), (5.0, 4.0, False)],
)
def test_how_long_before_the_strike_a_touch_is_of_the_stroke(
    before_s: float, called_before_s: float | None, own: bool
) -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    strike = match.t + 30
    if called_before_s is not None:
        match.at(strike - called_before_s, "call", ball="9", pocket="middle_right")
    match.at(strike - before_s, "touch", ball="12", by="hand")
    match.stroke("9", wait=30)
    assert (len(match.of_kind("between")) == 0) == own and ("ball_touched" in codes(match.last())) == own


def test_an_event_is_known_by_the_id_that_it_came_with() -> None:
    match = table_for("russian").stroke("7", **POT, extra=[event(1, "touch", ball="12", by="hand")])
    match.values = [values | {"id": int(values["id"]) * 100} for values in match.values]
    touch = next(int(v["id"]) for v in match.values if v["type"] == "touch")
    match.at(match.t + 1, "retract", ref=touch)
    match.values[-1]["id"] = 5
    assert counted(match.last()) == {"7": 7}


def test_a_frozen_ball_that_met_another_away_from_its_cushion_had_left_it() -> None:
    match = Match("moscow", edition="federation").lie(cue=(800, 300), b9=(1300, 34), b7=(1700, 900), b12=(2300, 1500))
    extra = [
        event(0.5, "contact", balls=["9", "7"], x=1700, y=900),
        event(0.8, "cushion", ball="9", cushion="right", x=1900, y=34),
        event(0.9, "cushion", ball="cue", cushion="left", x=1700, y=1741),
    ]
    assert codes(match.stroke("9", extra=extra).last()) == []


def test_in_american_a_lone_ball_left_ends_the_game() -> None:
    match = Match("american").lie(cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600)).stroke("7", pots="7 foot_left")
    assert not match.last().game_over
    assert match.stroke("9", pots="9 foot_left").last().game_over


def test_a_rerack_after_a_break_that_was_made_again_is_no_break() -> None:
    labels = [f"u{n}" for n in range(1, 16)]
    match = Match("moscow", edition="federation").rack(labels).stroke("u1").say("rerack")
    match.stroke("u1", at=(600, 887), pots="u3 foot_left")
    assert match.last().notes == ("break",) and match.last().player == "B"
    match.say("warning", what="blocked_position").say("rerack")
    lagged(match).say("racked", balls=[{"ball": "u2", "x": 2662.5, "y": 887.5}])
    match.places = {"u2": (2662.5, 887.5)}
    assert "break" not in match.stroke("u2", at=(600, 887)).last().notes


def test_when_the_balls_run_out_level_nobody_has_won_and_a_person_looks() -> None:
    match = Match("moscow").lie(cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600))
    match.stroke("7", pots="7 foot_left").stroke("9").stroke("9", pots="9 foot_left")
    ruling = match.last()
    assert ruling.score == {"A": 1, "B": 1} and ruling.game_over and ruling.winner is None
    assert ruling.doubts == ("tied",) and ruling.review


def test_a_debt_goes_with_the_penalty_that_an_override_waives() -> None:
    match = table_for("moscow").say("touch", ball="9", by="hand").say("override", wait=1, ruling=1, penalty=None)
    match.stroke("7", pots="7 foot_left")
    match.say("starts", player="A").stroke("9", pots="9 foot_left")
    assert match.last().score == {"A": 1, "B": 1}


def test_a_number_read_before_the_balls_were_racked_holds() -> None:
    match = Match("small-russian").say("identified", ball="u1", number=15).rack([f"u{n}" for n in range(1, 16)])
    assert counted(match.stroke("u1", call="15 foot_left", pots="u1 foot_left").last()) == {"u1": 15}


@pytest.mark.parametrize(("off_axis_deg", "doubts"), [(42.9, ()), (43.1, ("edge:close_angle",)),
                                                      (46.9, ("edge:close_angle",)), (47.1, ())])  # fmt: skip
def test_an_angle_within_two_degrees_of_the_edge_is_asked_about(off_axis_deg: float, doubts: tuple[str, ...]) -> None:
    turned = math.radians(off_axis_deg)
    match = Match("russian").lie(cue=(1000, 800), b7=(1080, 800), b9=(3000, 300))
    ruling = match.stroke(
        "7", call="7 foot_left", v=(1500 * math.cos(turned), 1500 * math.sin(turned)), ends={"cue": (1300, 1200)}
    ).last()  # fmt: skip
    assert ruling.doubts == doubts and codes(ruling) == (["close_ball"] if off_axis_deg < 45 else [])
