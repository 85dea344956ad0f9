"""Moscow and American pyramid: balls, shelves, safeties and breaks."""

from __future__ import annotations

import pytest

from tests.unit.rules_match import FOOT_SPOT, Match, codes, counted, following, penalty, spots, table_for

LABELS = [f"u{n}" for n in range(1, 16)]


def _cushion(ball: str, cushion: str, dt: float, x: float = 1500, y: float = 1741) -> dict[str, object]:
    return {"dt": dt, "type": "cushion", "ball": ball, "cushion": cushion, "x": x, "y": y}


def _crossed(ball: str, dt: float) -> dict[str, object]:
    return {"dt": dt, "type": "crossed", "ball": ball, "line": "centre", "direction": 1}


@pytest.mark.rule("M-1", broken=False)
def test_moscow_counts_every_ball_one_and_eight_win() -> None:
    pots = ", ".join(f"u{n} foot_left" for n in range(1, 9))
    ruling = Match("moscow").rack(LABELS).stroke("u1", pots=pots).last()
    assert ruling.game_over and ruling.winner == "A" and ruling.score == {"A": 8, "B": 0}


@pytest.mark.rule("M-1", broken=True)
def test_seven_are_not_enough() -> None:
    pots = ", ".join(f"u{n} foot_left" for n in range(1, 8))
    assert not Match("moscow").rack(LABELS).stroke("u1", pots=pots).last().game_over


@pytest.mark.rule("M-2", broken=False)
@pytest.mark.parametrize("take", ["remove", "picked_up"])
def test_the_fallen_cue_ball_gives_a_ball_of_choice(take: str) -> None:
    match = table_for("moscow").stroke("7", pots="7 foot_left, cue foot_left")
    assert codes(match.last()) == [] and counted(match.last()) == {"7": 1}
    assert following(match.last()) == ("A", "in_hand_house") and match.last().score == {"A": 1, "B": 0}
    place = {"x": 1200, "y": 600} if take == "picked_up" else {}
    match.say(take, ball="9", **place)
    assert match.last().kind.value == "between" and match.last().score == {"A": 2, "B": 0}
    assert counted(match.last()) == {"9": 1} and following(match.last()) == ("A", "in_hand_house")
    if take == "remove":
        match.say("picked_up", ball="9", x=1200, y=600)  # the hand that the official's word announced
        assert match.last().score == {"A": 2, "B": 0}


@pytest.mark.rule("M-2", broken=True)
def test_a_ball_not_taken_before_the_next_stroke_is_not_scored() -> None:
    match = table_for("moscow").stroke("7", pots="cue foot_left")
    ruling = match.stroke("9", at=(500, 500)).last()
    assert ruling.score == {"A": 0, "B": 0} and not ruling.review


def test_the_ball_taken_may_win_the_game_and_one_put_back_was_not_taken() -> None:
    match = _to(table_for("moscow"), 7).stroke("7", pots="cue foot_left")
    assert not match.last().game_over
    assert match.say("remove", ball="9").last().game_over and match.last().winner == "A"
    match = table_for("moscow").stroke("7", pots="cue foot_left")
    match.say("picked_up", ball="9", x=1200, y=600).say("placed", ball="9", x=1200, y=600)
    assert [r.kind.value for r in match.rulings()] == ["stroke"]


def _to(match: Match, a: int) -> Match:
    return match.at(0, "handicap", player="A", points=a)


@pytest.mark.rule("M-3", broken=True)
def test_the_cue_ball_that_falls_without_a_contact_is_a_foul() -> None:
    ruling = table_for("moscow").stroke(pots="cue foot_left").last()
    assert codes(ruling) == ["no_contact"] and following(ruling) == ("B", "in_hand_house")
    off = table_for("moscow").stroke("7", off="cue").last()
    assert codes(off) == ["cue_ball_off_table"] and following(off) == ("B", "in_hand_house")


@pytest.mark.rule("M-3", broken=False)
def test_with_a_contact_it_is_none() -> None:
    assert codes(table_for("moscow").stroke("7", pots="cue foot_left").last()) == []


@pytest.mark.rule("M-4", broken=True)
@pytest.mark.rule("A-4", broken=True)
@pytest.mark.parametrize("rules", ["moscow", "american"])
def test_today_the_opponent_takes_a_ball(rules: str) -> None:
    match = table_for(rules, edition="federation").stroke(pots="9 head_left")
    assert penalty(match.last()) == (1, "B") and spots(match.last()) == {"9": FOOT_SPOT} and not match.last().review
    match.say("remove", ball="9")
    assert match.last().score == {"A": 0, "B": 1} and match.last().player == "B"
    assert following(match.last()) in (("B", "in_place"), ("B", "any"))


def test_a_penalty_ball_not_taken_counts_all_the_same_and_is_looked_at() -> None:
    match = (
        table_for("moscow", edition="federation")
        .stroke()
        .stroke("7", extra=[_cushion("7", "left", 0.8), _cushion("7", "head", 1.5)])
    )
    foul, owed, stroke = match.rulings()
    assert not foul.review and owed.review and owed.score == {"A": 0, "B": 1} and owed.kind.value == "between"
    assert stroke.score == {"A": 0, "B": 1} and not stroke.review


@pytest.mark.rule("M-4", broken=False)
def test_by_the_old_book_a_ball_goes_back_or_is_owed() -> None:
    match = table_for("moscow").stroke("7", pots="7 foot_left").stroke()
    assert spots(match.last()) == {"7": (3516.0, 887.5)} and match.last().score == {"A": 0, "B": 0}
    match.stroke("9").stroke()  # B plays on, A fouls again with an empty shelf
    assert match.last().score == {"A": 0, "B": 0} and spots(match.last()) == {} and penalty(match.last()) == (1, None)
    match.stroke("9").stroke("9", pots="9 head_left, 12 foot_right")  # A scores two and pays one
    ruling = match.last()
    assert counted(ruling) == {"9": 1, "12": 1} and ruling.score == {"A": 1, "B": 0}
    assert spots(ruling) == {"12": (3516.0, 955.6)} or spots(ruling) == {"12": (3516.0, 819.5)}
    assert following(ruling) == ("A", "in_place")
    assert spots(match.stroke().last()).keys() == {"9"} and match.last().score == {"A": 0, "B": 0}


@pytest.mark.rule("M-5", broken=True)
@pytest.mark.rule("M-5", broken=False)
def test_moscow_spots_at_the_cushion_by_the_old_book_and_on_the_spot_today() -> None:
    assert spots(table_for("moscow").stroke("7", off="9").last()) == {"9": (3516.0, 887.5)}
    today = table_for("moscow", edition="federation").stroke("7", pots="12 foot_left", off="9").last()
    assert spots(today) == {"9": FOOT_SPOT}


@pytest.mark.rule("M-7", broken=False)
@pytest.mark.rule("A-3", broken=False)
@pytest.mark.rule("G-20.14", broken=False)
@pytest.mark.parametrize("rules", ["moscow", "american"])
@pytest.mark.parametrize(
    "extra",
    [
        [_cushion("7", "left", 0.8), _cushion("7", "head", 1.5)],
        [_cushion("7", "left", 0.8), _cushion("7", "left", 1.5)],
        [_cushion("7", "left", 0.8), _cushion("cue", "right", 1.5)],
        [_cushion("7", "left", 0.8), _crossed("cue", 1.5)],
        [_crossed("7", 0.8), _cushion("9", "right", 1.5)],
    ],
)
def test_a_good_safety(rules: str, extra: list[dict[str, object]]) -> None:
    assert codes(table_for(rules, edition="federation").stroke("7", extra=extra).last()) == []


@pytest.mark.rule("M-7", broken=True)
@pytest.mark.rule("A-3", broken=True)
@pytest.mark.rule("G-20.14", broken=True)
@pytest.mark.parametrize("rules", ["moscow", "american"])
@pytest.mark.parametrize(
    "extra",
    [
        [],
        [_cushion("7", "left", 0.8)],
        [_crossed("7", 0.8), _crossed("9", 1.2)],
        [_cushion("cue", "left", 0.1), _cushion("7", "left", 0.8)],  # before the contact
        [_crossed("cue", 0.1), _cushion("7", "left", 0.8)],
    ],
)
def test_a_faulty_safety(rules: str, extra: list[dict[str, object]]) -> None:
    ruling = table_for(rules, edition="federation").stroke("7", extra=extra).last()
    assert codes(ruling) == ["bad_safety"] and penalty(ruling) == (1, "B")


def test_a_ball_off_the_table_counts_as_a_cushion_and_another_foul_stands_alone() -> None:
    assert (
        codes(table_for("moscow", edition="federation").stroke("7", off="9", extra=[_cushion("7", "left", 0.8)]).last())
        == []
    )
    touch = {"dt": 0.4, "type": "touch", "ball": "12", "by": "hand"}
    assert codes(table_for("moscow", edition="federation").stroke("7", extra=[touch]).last()) == ["ball_touched"]


def test_a_ball_at_a_cushion_must_leave_it_first() -> None:
    def frozen(*extra: dict[str, object]) -> list[str]:
        match = Match("moscow", edition="federation").lie(cue=(2700, 1000), b7=(3000, 1741), b9=(1200, 600))
        return codes(match.stroke("7", extra=list(extra)).last())

    assert frozen(_cushion("7", "left", 0.35, 3000), _cushion("cue", "right", 1.2, 2000, 34)) == ["bad_safety"]
    assert frozen(_cushion("7", "right", 0.9, 3000, 34), _cushion("7", "left", 1.6, 2800)) == []


def test_the_safety_is_not_asked_for_where_a_ball_fell_or_the_setting_is_off() -> None:
    assert codes(table_for("moscow", edition="federation").stroke("7", pots="9 middle_left").last()) == []
    assert codes(table_for("moscow").stroke("7").last()) == []
    assert codes(table_for("american", legal_safety=False).stroke("7").last()) == []
    assert codes(table_for("moscow", legal_safety=True).stroke("7").last()) == ["bad_safety"]


@pytest.mark.rule("M-8", broken=False)
@pytest.mark.parametrize("rules", ["moscow", "american"])
@pytest.mark.parametrize(
    "extra",
    [
        [_cushion("u2", "left", 0.8), _cushion("u3", "right", 1.0), _cushion("u4", "foot", 1.1)],
        [_cushion("u2", "left", 0.8), _cushion("u3", "right", 1.0), _crossed("u4", 1.1)],
    ],
)
def test_a_good_break(rules: str, extra: list[dict[str, object]]) -> None:
    ruling = Match(rules, edition="federation").rack(LABELS).stroke("u1", extra=extra).last()
    assert codes(ruling) == [] and ruling.choice == () and following(ruling) in (("B", "in_place"), ("B", "any"))


@pytest.mark.rule("M-8", broken=True)
@pytest.mark.parametrize("rules", ["moscow", "american"])
@pytest.mark.parametrize(
    "extra",
    [
        [],
        [_cushion("u2", "left", 0.8), _cushion("u2", "head", 1.0), _cushion("cue", "foot", 1.1)],
        [_cushion("u2", "left", 0.8), _cushion("u3", "right", 1.0), _crossed("cue", 1.1)],
    ],
)
def test_a_poor_break_gives_the_opponent_the_choice(rules: str, extra: list[dict[str, object]]) -> None:
    match = Match(rules, edition="federation").rack(LABELS).stroke("u1", extra=extra)
    assert match.last().choice == ("play_on", "rerack") and match.last().penalty is None and codes(match.last()) == []
    match.say("rerack")
    assert match.last().kind.value == "game" and following(match.last()) == ("B", "in_hand_house")
    match.rack(LABELS).stroke("u1")
    assert match.last().player == "B" and match.last().choice == ("play_on", "rerack")  # as often as it happens
    match.say("rerack").say("starts", player="B").rack(LABELS).stroke("u1", pots="u4 foot_left")
    assert match.last().player == "B" and match.last().choice == () and match.last().score == {"A": 0, "B": 1}


def test_the_choice_may_be_to_play_on() -> None:
    match = Match("moscow", edition="federation").rack(LABELS).stroke("u1")
    ruling = match.stroke("u2").last()
    assert ruling.player == "B" and codes(ruling) == ["bad_safety"]  # the break is over
    assert Match("moscow").rack(LABELS).stroke("u1").last().choice == ()  # the old book asks nothing
    assert Match("moscow", break_rule=True).rack(LABELS).stroke("u1").last().choice


@pytest.mark.rule("A-2", broken=True)
def test_the_struck_ball_that_falls_without_a_contact_is_spotted() -> None:
    ruling = table_for("american").stroke(ball="9", pots="9 head_left").last()
    assert codes(ruling) == ["no_contact"] and spots(ruling) == {"9": FOOT_SPOT} and counted(ruling) == {}


@pytest.mark.rule("A-2", broken=False)
def test_with_a_contact_the_struck_ball_counts() -> None:
    assert counted(table_for("american").stroke("7", ball="9", pots="9 head_left").last()) == {"9": 1}


@pytest.mark.rule("A-4", broken=False)
def test_by_the_old_book_the_opponent_may_not_play_the_ball_that_went_back_at_once() -> None:
    def after_penalty() -> Match:
        match = table_for("american", legal_safety=False).stroke("7", pots="7 foot_left").stroke()
        match.places["7"] = (3516.0, 887.5)
        return match

    assert codes(after_penalty().stroke("7").last()) == ["illegal_stroke"]
    assert codes(after_penalty().stroke("9", ball="7").last()) == ["illegal_stroke"]
    assert codes(after_penalty().stroke("9", "7").last()) == []
    assert codes(after_penalty().stroke("9").stroke("7").last()) == []  # only with the next stroke
    match = Match("american", legal_safety=False).lie(cue=(900, 300), b7=(3200, 1450), b9=(1200, 600))
    match.stroke("7", pots="7 foot_left, 9 head_left").stroke()
    match.places["9"] = (3516.0, 887.5)
    assert codes(match.stroke("9").last()) == []  # nothing else is left to play


@pytest.mark.rule("A-5", broken=False)
def test_another_ball_off_the_table_costs_nothing() -> None:
    ruling = table_for("american", legal_safety=False).stroke("7", pots="7 foot_left", off="9").last()
    assert codes(ruling) == [] and counted(ruling) == {"7": 1} and spots(ruling) == {"9": FOOT_SPOT}


@pytest.mark.rule("A-5", broken=True)
def test_the_struck_ball_off_the_table_costs() -> None:
    assert codes(table_for("american").stroke("7", off="cue").last()) == ["cue_ball_off_table"]


@pytest.mark.rule("A-6", broken=False)
@pytest.mark.rule("A-6", broken=True)
def test_seven_each_may_be_agreed_a_draw_and_nothing_else() -> None:
    def agreed(a: int, b: int, rules: str = "american") -> Match:
        match = table_for(rules)
        match.at(0, "handicap", player="A", points=a).at(0, "handicap", player="B", points=b)
        return match.say("agree_draw")

    draw = agreed(7, 7).last()
    assert draw.game_over and draw.winner is None and draw.next is None and draw.kind.value == "game"
    for match in (agreed(7, 6), agreed(7, 7, "moscow")):
        assert not match.last().game_over and match.last().review
