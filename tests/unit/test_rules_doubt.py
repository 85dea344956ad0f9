"""Doubt, corrections by an official, and live work: the same rulings under the same ids."""

from __future__ import annotations

import pytest

from tests.unit.rules_match import Match, codes, counted, following, penalty, table_for

POT = {"pots": "7 foot_left", "call": "7 foot_left"}


def _touch(confidence: float, **fields: object) -> list[dict[str, object]]:
    return [{"dt": 1, "type": "touch", "ball": "12", "by": "hand", "confidence": confidence, **fields}]


def _id(match: Match, kind: str, n: int = 0) -> int:
    return int([values for values in match.values if values["type"] == kind][n]["id"])


@pytest.mark.parametrize(
    ("confidence", "foul", "review"),
    [(0.3, [], True), (0.49, [], True), (0.5, ["ball_touched"], True), (0.89, ["ball_touched"], True),
     (0.9, ["ball_touched"], False), (1.0, ["ball_touched"], False)],
)  # fmt: skip
def test_an_unsure_fact_that_decides_goes_to_a_person_with_the_likelier_outcome(
    confidence: float, foul: list[str], review: bool
) -> None:
    ruling = table_for("russian").stroke("7", **POT, extra=_touch(confidence)).last()
    assert codes(ruling) == foul and ruling.review == review and bool(ruling.doubts) == review


def test_how_sure_is_sure_can_be_set() -> None:
    assert not table_for("russian", sure=0.6).stroke("7", **POT, extra=_touch(0.7)).last().review


def test_an_unsure_fact_beside_a_sure_one_changes_nothing() -> None:
    extra = [*_touch(0.6), {"dt": 0.1, "type": "touch", "ball": "12", "by": "hand"}]
    assert not table_for("russian").stroke("7", **POT, extra=extra).last().review
    fallen = table_for("russian").stroke("7", "9", pots="cue foot_left", call="7 foot_left", extra=_touch(0.6)).last()
    assert codes(fallen) == ["ball_touched", "cue_ball_pocketed"]


def test_two_unsure_contacts_are_no_doubt_together_where_one_of_them_surely_happened() -> None:
    def contacts(confidence: float) -> list[dict[str, object]]:
        return [
            {
                "dt": 0.3 + n / 10,
                "type": "contact",
                "balls": ["cue", ball],
                "x": 3000,
                "y": 1300,
                "confidence": confidence,
            }
            for n, ball in enumerate(("7", "9"))
        ]

    assert not table_for("russian").stroke(call="7 foot_left", extra=contacts(0.85)).last().review
    assert table_for("russian").stroke(call="7 foot_left", extra=contacts(0.6)).last().review


def test_an_unsure_touch_between_strokes_is_asked_about() -> None:
    likely = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", confidence=0.7).last()
    assert codes(likely) == ["ball_touched"] and likely.review
    unlikely = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", confidence=0.3).last()
    assert codes(unlikely) == [] and unlikely.review and unlikely.score == {"A": 7, "B": 0}


def test_a_stroke_whose_end_was_not_seen_is_asked_about() -> None:
    match = table_for("russian").stroke("7", **POT, rest=False)
    assert match.last().review and match.last().doubts == ("end_not_seen",)


def test_an_unsure_rest_before_the_strike_is_asked_about() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    match.values[-1]["confidence"] = 0.7
    assert match.stroke("9", call="9 middle_right").last().review
    match = table_for("russian").stroke("7", call="7 foot_left")
    match.values[-1]["confidence"] = 0.3
    assert codes(match.stroke("9", call="9 middle_right").last()) == ["stroke_before_rest"]


def test_when_the_balls_run_out_the_higher_score_wins() -> None:
    match = Match("moscow").lie(cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600))
    ruling = match.stroke("7", pots="7 foot_left, 9 head_left").last()
    assert ruling.game_over and ruling.winner == "A" and ruling.score == {"A": 2, "B": 0}


# --- corrections ---


def test_a_retracted_event_did_not_happen_and_what_follows_is_derived_anew() -> None:
    match = table_for("russian").stroke("7", **POT, extra=_touch(1.0)).stroke("9", call="9 middle_right")
    assert [r.player for r in match.rulings()] == ["A", "B"]
    ids = [r.id for r in match.rulings()]
    match.say("retract", ref=_id(match, "touch"))
    assert [r.player for r in match.rulings()] == ["A", "A"] and [r.id for r in match.rulings()] == ids
    assert match.rulings()[0].score == {"A": 7, "B": 0}
    match.say("confirm", ref=_id(match, "touch"))  # the last word holds
    assert [r.player for r in match.rulings()] == ["A", "B"]


def test_a_confirmed_event_is_sure() -> None:
    match = table_for("russian").stroke("7", **POT, extra=_touch(0.3))
    match.say("confirm", ref=_id(match, "touch"))
    assert codes(match.last()) == ["ball_touched"] and not match.last().review


def test_an_override_replaces_its_fields_and_the_rest_follows_from_them() -> None:
    match = table_for("russian").stroke("7", **POT, extra=_touch(1.0)).stroke("9", call="9 middle_right")
    match.say("override", ruling="stroke 1", fouls=[])
    first, second = match.rulings()
    assert counted(first) == {"7": 7} and first.penalty is None and first.score == {"A": 7, "B": 0}
    assert following(first) == ("A", "in_place") and first.overridden and not first.review and second.player == "A"


@pytest.mark.parametrize(
    ("fields", "score", "turn"),
    [
        ({"counted": []}, {"A": 0, "B": 0}, "B"),
        ({"fouls": ["ball_touched"]}, {"A": -5, "B": 5}, "B"),
        ({"fouls": [{"code": "push"}], "penalty": None}, {"A": 0, "B": 0}, "B"),
        ({"penalty": {"points": 5, "to": "B"}}, {"A": 2, "B": 5}, "A"),
        ({"score": {"A": 20}}, {"A": 20, "B": 0}, "A"),
        ({"next": {"player": "B"}}, {"A": 7, "B": 0}, "B"),
        ({"counted": [{"ball": "7", "pocket": "foot_left", "points": 11}]}, {"A": 11, "B": 0}, "A"),
        ({"replay": True}, {"A": 0, "B": 0}, "A"),
        ({"player": "B"}, {"A": 0, "B": 7}, "B"),
    ],
)
def test_each_field_of_an_override(fields: dict[str, object], score: dict[str, int], turn: str) -> None:
    match = table_for("russian").stroke("7", **POT).say("override", ruling="stroke 1", **fields)
    ruling = match.last()
    assert ruling.score == score and ruling.next is not None and ruling.next.player == turn
    assert match.stroke("9", call="9 middle_right").last().player == turn


def test_an_override_may_end_the_game() -> None:
    match = table_for("russian").stroke("7", **POT).say("override", ruling="stroke 1", game_over=True, winner="B")
    assert match.last().game_over and match.last().winner == "B" and match.last().next is None


def test_an_override_of_a_touch_between_strokes_takes_its_penalty_away() -> None:
    match = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand")
    match.say("override", ruling="between 1", fouls=[], next={"player": "A"})
    assert match.last().score == {"A": 7, "B": 0} and following(match.last()) == ("A", "in_place")
    assert penalty(match.last()) is None


def test_replaying_with_an_override_is_the_same_as_a_fresh_run() -> None:
    match = (
        table_for("russian").stroke("7", **POT).stroke("9", call="9 middle_right").stroke("12", call="12 middle_left")
    )
    match.say("override", ruling="stroke 1", counted=[])
    live = match.referee()
    for event in match.events():
        live.push(event)
    assert live.rulings == match.rulings()


def test_a_late_official_line_takes_its_place_in_time() -> None:
    match = table_for("russian").stroke("7", pots="7 foot_left").stroke("9", call="9 middle_right")
    assert match.rulings()[0].review and match.last().player == "B"
    strike = next(values["t"] for values in match.values if values["type"] == "strike")
    match.at(strike - 2, "call", ball="7", pocket="foot_left")
    assert not match.rulings()[0].review and counted(match.rulings()[0]) == {"7": 7}
    assert match.last().player == "A"


def test_live_rulings_come_at_the_rest_and_are_issued_anew_under_their_ids() -> None:
    match = table_for("moscow").stroke("7", ends={"7": (3538, 1763)})
    match.say("hanging", ball="7", pocket="foot_left", x=3538, y=1763, wait=0)
    match.say("pocketed", ball="7", pocket="foot_left", wait=3)
    live = match.referee()
    given = [live.push(event) for event in match.events()]
    assert [len(rulings) for rulings in given] == [0, 0, 0, 0, 1, 0, 1]
    assert given[4][0].id == given[6][0].id and counted(given[4][0]) == {} and counted(given[6][0]) == {"7": 1}


def test_events_that_come_late_within_the_turn_do_not_matter() -> None:
    match = table_for("russian").stroke("7", **POT).stroke("9", call="9 middle_right", extra=_touch(1.0))
    events = match.events()
    live = match.referee()
    for event in [*events[:-3], *reversed(events[-3:])]:
        live.push(event)
    assert [(codes(r), r.player, r.score) for r in live.rulings] == [
        (codes(r), r.player, r.score) for r in match.rulings()
    ]


def test_without_rules_there_are_no_rulings() -> None:
    match = table_for("moscow").stroke("7")
    match.rules = "none"
    assert match.rulings() == [] and match.referee().push(match.events()[0]) == []


def test_an_override_may_let_a_stroke_stand_that_was_to_be_repeated() -> None:
    extra = [{"dt": 0.5, "type": "moved", "ball": "12", "x": 2100, "y": 1300, "cause": "outsider"}]
    match = table_for("russian").stroke("7", **POT, extra=extra)
    assert match.last().replay
    match.say("override", ruling="interference 1", replay=False)
    assert not match.last().replay and counted(match.last()) == {"7": 7}


def test_an_override_that_keeps_the_foul_keeps_its_penalty() -> None:
    match = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand")
    match.say("override", ruling="between 1", fouls=["ball_touched"])
    assert penalty(match.last()) == (5, "B") and match.last().score == {"A": 2, "B": 5}
    match.say("override", ruling="between 1", penalty=None)
    assert penalty(match.last()) is None and codes(match.last()) == ["ball_touched"]
    assert match.last().score == {"A": 7, "B": 0}


def test_a_counted_ball_of_an_override_keeps_what_was_seen_of_it() -> None:
    match = table_for("russian").stroke("7", pots="7 foot_left, 9 head_right", call="12 foot_left")
    match.say("override", ruling="stroke 1", counted=[{"ball": "7"}, {"ball": "9", "pocket": "head_left"}])
    pockets = {ball.ball: ball.pocket.value for ball in match.last().counted if ball.pocket}
    assert counted(match.last()) == {"7": 7, "9": 9} and pockets == {"7": "foot_left", "9": "head_left"}
