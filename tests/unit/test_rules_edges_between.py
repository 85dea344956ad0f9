"""Between strokes, at the edges of the rules: lags, racks, hands, officials' words, whole matches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.rules_match import Match, codes, counted, following, restored, spots, table_for
from vision_referee.domain.errors import InputError
from vision_referee.rules.settings import RuleSettings, names_of_players, parse_setting, split_set
from vision_referee.rules.state import GameState, Phase

POT = {"pots": "7 foot_left", "call": "7 foot_left"}
LIP = (3538.0, 1763.0)
UNREAD = [f"u{n}" for n in range(1, 16)]


def event(dt: float, name: str, /, **fields: Any) -> dict[str, Any]:
    return {"dt": dt, "type": name, **fields}


def state_of(match: Match) -> GameState:
    referee = match.referee()
    for one in match.events():
        referee.push(one)
    assert referee.state is not None
    return referee.state


def hung(match: Match, ball: str = "7") -> Match:
    return match.at(match.t, "hanging", ball=ball, pocket="foot_left", x=LIP[0], y=LIP[1])


def lag(
    match: Match, *, names: tuple[str | None, str | None] = ("A", "B"), y: tuple[float, float] = (500, 1275),
    ends: tuple[tuple[float, float], tuple[float, float]] | None = None, x: tuple[float, float] = (500, 500),
    apart_s: float = 0.125, cushions: tuple[str, str] = ("foot", "foot"), extra: list[dict[str, Any]] | None = None,
    confidence: float = 1.0,
) -> Match:  # fmt: skip
    """The cue ball and u1; by default the cue ball comes to lie nearer the head cushion."""
    t = round(match.t + 5, 3)
    for n, ball in enumerate(("cue", "u1")):
        named = {"player": names[n]} if names[n] else {}
        match.at(t + n * apart_s, "strike", ball=ball, x=x[n], y=y[n], vx=3300, vy=0, confidence=confidence, **named)
    for n, ball in enumerate(("cue", "u1")):
        match.at(t + 4 + n / 10, "cushion", ball=ball, cushion=cushions[n], x=3516, y=y[n])
    for one in extra or []:
        match.at(t + one["dt"], one["type"], **{key: value for key, value in one.items() if key not in ("dt", "type")})
    lie = ends or ((120, y[0]), (310, y[1]))
    match.at(
        t + 8, "rest", balls=[{"ball": b, "x": px, "y": py} for b, (px, py) in zip(("cue", "u1"), lie, strict=True)]
    )
    match.t = t + 8
    return match


# --- G-2: the lag ---


@pytest.mark.parametrize(
    ("told", "winner"),
    [
        ({}, "A"),
        ({"names": ("B", "A")}, "B"),
        ({"names": ("B", "A"), "y": (1275, 500)}, "B"),
        ({"names": ("A", "B"), "y": (500, 520)}, "A"),  # the strikes say whose they are
        ({"names": (None, None), "y": (700, 1275)}, "A"),
        ({"names": (None, None), "y": (1275, 700)}, "B"),
        ({"names": (None, None), "y": (1000, 700)}, "B"),
        ({"names": (None, None), "y": (700, 1000)}, "A"),
        ({"names": ("Z", "Y")}, "A"),
        ({"names": (None, None), "apart_s": 3.0}, "A"),
        ({"ends": ((120, 700), (310, 1275))}, "A"),
        ({"ends": ((120, 1000), (310, 1275))}, "B"),
        ({"cushions": ("left", "foot")}, "B"),
        ({"cushions": ("left", "head")}, None),
        ({"extra": [event(2, "crossed", ball="cue", line="centre", x=1775, y=500, direction=1)]}, "A"),
        ({"extra": [event(2, "crossed", ball="cue", line="long", x=1775, y=887, direction=1)]}, "B"),
    ],
)
def test_who_wins_the_lag(told: dict[str, Any], winner: str | None) -> None:
    ruling = lag(Match("russian"), **told).last()
    assert ruling.kind.value == "lag" and ruling.winner == winner and ruling.replay == (winner is None)
    assert (ruling.t_start, ruling.t_end, ruling.confidence) == (5.0, 13.0, 1.0)


@pytest.mark.parametrize(
    "told",
    [{"names": (None, None), "apart_s": 3.5}, {"names": (None, None), "x": (887.5, 500)},
     {"names": (None, None), "x": (500, 887.5)}, {"names": ("A", None), "x": (2000, 500)},
     {"names": (None, "B"), "y": (500, 520)}],
)  # fmt: skip
def test_two_strikes_that_are_no_lag(told: dict[str, Any]) -> None:
    match = lag(Match("moscow").rack(UNREAD), **told)
    assert [ruling.kind.value for ruling in match.of_kind("lag")] == []


def test_in_the_middle_of_a_game_no_lag_is_played() -> None:
    assert [ruling.kind.value for ruling in lag(table_for("moscow")).rulings()] == ["stroke", "stroke"]


@pytest.mark.parametrize(("confidence", "sureness", "asked"), [(0.9, 1.0, False), (0.89, 0.7, True)])
def test_how_sure_the_strikes_of_a_lag_must_be(confidence: float, sureness: float, asked: bool) -> None:
    ruling = lag(Match("russian"), confidence=confidence).last()
    assert (ruling.confidence, ruling.review) == (sureness, asked)


def test_a_lag_of_which_one_strike_was_seen_is_a_lag_still() -> None:
    match = Match("russian").at(5.0, "strike", ball="cue", x=500, y=500, vx=3300, vy=0, player="A")
    match.at(13.0, "rest", balls=[{"ball": "cue", "x": 120, "y": 500}])
    assert match.last().kind.value == "lag" and "lag_one_strike" in match.last().doubts
    reracked = Match("moscow").lie(cue=(900, 800), b7=(3000, 800)).stroke("7").say("rerack")
    reracked.at(reracked.t + 5, "strike", ball="cue", x=500, y=500, vx=3300, vy=0, player="A")
    reracked.at(reracked.t + 13, "rest", balls=[{"ball": "cue", "x": 120, "y": 500}])
    assert reracked.last().kind.value == "lag"


def test_after_a_lag_only_a_rest_of_more_than_its_two_balls_is_a_game_in_the_middle() -> None:
    two = [{"ball": "cue", "x": 120, "y": 500}, {"ball": "u1", "x": 310, "y": 1275}]
    match = lag(Match("russian"))
    assert state_of(match.say("rest", balls=two)).phase is Phase.BEFORE
    assert state_of(match.say("rest", balls=[*two, {"ball": "u2", "x": 900, "y": 900}])).phase is Phase.PLAY


def test_a_lag_beside_the_rack_leaves_the_rack() -> None:
    match = Match("moscow").rack([f"u{n}" for n in range(2, 17)])
    assert len(state_of(lag(match)).places) == 15


def test_a_hit_in_a_lag_that_is_told_late_is_the_lags() -> None:
    match = lag(Match("russian"))
    events = match.events()
    referee = match.referee()
    for one in (*events[:2], events[3], events[2], *events[4:]):
        referee.push(one)
    assert referee.rulings == match.rulings() and referee.rulings[-1].winner == "A"


def test_an_official_may_write_under_a_lag_without_changing_it() -> None:
    match = lag(Match("russian"))
    ruling = match.say("override", ruling=1, text={"en": "seen by both"}).last()
    assert ruling.winner == "A" and ruling.confidence == 1.0 and ruling.overridden


# --- G-4: racks, games, matches ---


def test_racks_set_before_any_stroke_and_the_game_that_they_begin() -> None:
    assert Match("russian").lie(cue=(900, 800), b7=(3000, 800)).rack().rulings() == []
    late = table_for("russian").stroke("7", **POT).rack()
    assert late.last().doubts == ("racked_in_the_middle",) and state_of(late).game == 2


def test_a_rack_set_anew_before_the_break_is_looked_at_as_the_first() -> None:
    assert Match("russian").rack().rack(order_ok=False).last().notes == ("rack_order",)


def test_a_ball_where_a_sixth_row_would_be_is_off() -> None:
    match = Match("moscow").rack(UNREAD)
    far = next(v for v in match.values if v["type"] == "racked")
    far["balls"][0].update(x=2662.5 + 5 * 34 * 3**0.5, y=887.5 + 170)
    assert match.last().notes[0].startswith("rack_off:")


@pytest.mark.parametrize("began", [False, True])
def test_an_unsure_rack_is_asked_about_only_where_one_is_due(began: bool) -> None:
    match = table_for("moscow").stroke("7") if began else Match("moscow")
    match.say("racked", balls=[], confidence=0.4)
    assert len(match.of_kind("game")) == (0 if began else 1)
    over = Match("moscow", race_to=1, handicap="A:7").lie(cue=(900, 800), b7=(3000, 800), b9=(300, 300))
    over.stroke("7", pots="7 foot_left").say("racked", balls=[], confidence=0.4)
    assert over.rulings()[-1].match_over and len(over.rulings()) == 1


def test_each_games_numbers_are_its_own() -> None:
    match = Match("russian").rack(UNREAD).say("identified", ball="u1", number=15)
    match.stroke("u1", call="15 foot_left", pots="u1 foot_left", wait=20)
    for number in (3, 9):
        match.rack(UNREAD).say("identified", ball="u1", number=number)
        match.stroke("u1", call=f"{number} foot_left", pots="u1 foot_left", wait=20)
    assert [counted(ruling) for ruling in match.of_kind("stroke")] == [{"u1": 15}, {"u1": 3}, {"u1": 9}]


def test_numbers_read_before_a_rack_is_set_anew_hold_and_half_is_enough() -> None:
    match = Match("russian").rack(UNREAD).stroke("u1", call="15 foot_left", pots="u1 foot_left")
    match.rack(UNREAD).say("identified", ball="u1", number=9, confidence=0.5).rack(UNREAD)
    assert counted(match.stroke("u1", call="9 foot_left", pots="u1 foot_left").last()) == {"u1": 9}


def test_a_rack_as_likely_as_not_begins_the_numbers_anew() -> None:
    match = Match("russian").rack(UNREAD).say("identified", ball="u1", number=15).stroke("u1", call="15 foot_left")
    match.rack(UNREAD).values[-1]["confidence"] = 0.5
    match.stroke("u1", call="15 foot_left", pots="u1 foot_left", wait=20)
    assert counted(match.last()) == {} and "unknown_number" in match.last().doubts


def test_after_a_full_rack_set_by_the_official_in_a_blocked_position_the_numbers_begin_anew() -> None:
    match = Match("russian").rack(UNREAD).say("identified", ball="u1", number=15).stroke("u1", call="15 foot_left")
    match.say("warning", what="blocked_position").say("rerack")
    lag(match).rack(UNREAD).say("identified", ball="u1", number=3)
    match.stroke("u1", call="3 foot_left", pots="u1 foot_left", wait=20)
    assert counted(match.last()) == {"u1": 3}
    match.rack(UNREAD).say("identified", ball="u1", number=9)
    assert counted(match.stroke("u1", call="9 foot_left", pots="u1 foot_left", wait=20).last()) == {"u1": 9}


def test_the_first_game_of_a_match_of_one_needs_no_lag() -> None:
    assert Match("moscow", race_to=1).rack(UNREAD).stroke("u1", pots="u1 foot_left").last().doubts == ()


def test_the_match_is_over_after_its_games_and_each_end_is_asked_about() -> None:
    def one(match: Match) -> Match:
        return match.rack(UNREAD).stroke("u1", pots=", ".join(f"u{n} foot_left" for n in range(1, 9)), wait=20)

    assert one(Match("moscow", games=1)).last().match_over
    drawn = table_for("moscow", games=1).stroke("9").say("override", ruling=1, game_over=True)
    assert drawn.last().match_over and drawn.last().winner is None
    match = one(Match("moscow")).stroke("u9", wait=30)
    assert state_of(one(match)).game == 2
    assert match.stroke("u9", wait=30).last().doubts == ("struck_after_game",)


def test_after_a_failed_break_the_one_who_may_break_again_may_leave_it() -> None:
    match = Match("moscow", edition="federation").rack(UNREAD).stroke("u1").say("rerack").rack(UNREAD)
    match.say("concede_break")
    assert match.last().player == "B" and match.stroke("u1", pots="u3 foot_left", wait=20).last().player == "A"


def test_who_conceded_the_break_is_put_down() -> None:
    assert Match("moscow").rack(UNREAD).say("concede_break").last().player == "A"


def test_each_rerack_needs_its_warning() -> None:
    match = table_for("moscow").stroke("9").say("warning", what="blocked_position").say("rerack")
    assert match.last().doubts == ()
    lag(match).say("racked", balls=[{"ball": "7", "x": 2662.5, "y": 887.5}])
    match.stroke("7", at=(500, 887)).say("rerack")
    assert match.last().doubts == ("rerack_without_warning",)


def test_a_rerack_without_a_lag_or_a_rack_seen_is_asked_about_once() -> None:
    match = table_for("moscow").stroke("9").say("warning", what="blocked_position").say("rerack")
    first = match.stroke("9", at=(500, 887)).last()
    assert "lag_missing" in first.doubts and "break" not in first.notes
    assert "lag_missing" not in match.stroke("9").last().doubts


def test_a_game_begun_in_the_middle_with_all_its_balls_knows_its_last_number() -> None:
    places = {f"b{n}": (300.0 + 150 * n, 400.0) for n in range(1, 15)}
    match = Match("small-russian").lie(cue=(300, 900), u1=(2000, 1000), **places)
    assert counted(match.stroke("u1", call="15 foot_left", pots="u1 foot_left").last()) == {"u1": 15}


@pytest.mark.parametrize(("confidence", "taken"), [(0.5, True), (0.49, False)])
def test_half_is_enough_for_what_lies_where(confidence: float, taken: bool) -> None:
    begun = Match("moscow").say("rest", balls=[{"ball": "7", "x": 9.0, "y": 9.0}], confidence=confidence)
    assert ("7" in state_of(begun).places) == taken
    put = table_for("moscow").stroke("7").say("placed", ball="u9", x=500, y=500, confidence=confidence)
    assert ("u9" in state_of(put).places) == taken
    struck = Match("moscow").lie(cue=(900, 800), b7=(3000, 800)).stroke("7", confidence=confidence)
    assert len(struck.of_kind("stroke")) == taken
    rest = table_for("moscow").stroke("7")
    rest.values[-1]["confidence"] = confidence
    assert ("end_not_seen" not in rest.last().doubts) == taken


def test_a_strike_that_likelier_did_not_happen_is_asked_about_while_a_game_is_on() -> None:
    ghost = {"ball": "cue", "x": 900, "y": 800, "vx": 900, "vy": 0, "confidence": 0.4}
    assert table_for("russian").stroke("7", **POT).say("strike", **ghost).last().doubts == ("unsure:strike:cue:0.40",)
    assert Match("russian").say("strike", **ghost).rulings() == []


def test_a_rest_between_strokes_brings_no_ball_but_the_cue_ball() -> None:
    match = table_for("moscow").stroke("7", pots="cue foot_left")
    told = [{"ball": "cue", "x": 500, "y": 500}, {"ball": "u44", "x": 1, "y": 1}, {"ball": "9", "x": 1210, "y": 600}]
    places = state_of(match.say("rest", balls=told)).places
    assert places["cue"] == (500, 500) and "u44" not in places and places["9"] == (1210, 600)


def test_a_stroke_that_is_repeated_begins_where_the_ball_was_struck() -> None:
    outsider = [event(0.5, "interference", by="outsider")]
    for rules, ball, at in (("moscow", "cue", (500, 800)), ("american", "9", (1210, 605))):
        match = table_for(rules).stroke("7", ball="cue", pots="cue foot_left") if ball == "cue" else table_for(rules)
        match.stroke("7", ball=ball, at=at, extra=list(outsider), wait=20)
        assert match.last().replay and state_of(match).places[ball] == at


# --- balls taken off by hand ---


@pytest.mark.parametrize(
    ("taken", "back", "doubts"),
    [(0.8, 0.9, ()), (0.5, 0.6, ("unsure:picked_up:12:0.50", "unsure:placed:12:0.60")),
     (1.0, 0.5, ("unsure:placed:12:0.50",))],
)  # fmt: skip
def test_a_ball_put_back_was_not_taken(taken: float, back: float, doubts: tuple[str, ...]) -> None:
    match = table_for("moscow").stroke("9", pots="cue foot_left")
    match.say("picked_up", ball="12", x=2300, y=1500, confidence=taken)
    match.say("placed", ball="12", x=2300, y=1500, confidence=back)
    assert sum(match.last().score.values()) == 0
    assert tuple(d for ruling in match.of_kind("between") for d in ruling.doubts) == doubts


@pytest.mark.parametrize(("confidence", "asked"), [(0.5, True), (0.49, False)])
def test_a_ball_likelier_not_taken_off_is_not_asked_about(confidence: float, asked: bool) -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    match.say("picked_up", ball="9", x=1200, y=600, confidence=confidence).stroke("7", call="7 foot_left")
    assert len(match.of_kind("between")) == asked


def test_the_ball_taken_up_and_struck_was_only_placed() -> None:
    match = table_for("american").stroke("7").say("picked_up", ball="9", x=1200, y=600)
    assert match.stroke("7", ball="9").of_kind("between") == []


def test_of_the_hanging_balls_only_the_one_taken_hangs_no_more() -> None:
    match = hung(hung(table_for("moscow").stroke("9", pots="cue foot_left"), "7"), "12").say("remove", ball="12")
    assert list(state_of(match).hanging) == ["7"]


def test_what_falls_between_strokes_and_was_not_on_the_table_is_nothing() -> None:
    match = table_for("moscow").stroke("9").say("pocketed", wait=9, ball="u77", pocket="foot_left")
    assert len(match.rulings()) == 1
    lies = table_for("moscow").stroke("9").say("pocketed", wait=9, ball="7", pocket="foot_left").last()
    assert restored(lies) == {"7": (3200, 1450)}


# --- touches and interference between strokes ---


@pytest.mark.parametrize(("before_s", "rulings"), [(30.0, 1), (30.5, 2)])
def test_how_long_before_it_is_said_the_balls_were_scattered_by_mistake(before_s: float, rulings: int) -> None:
    match = table_for("moscow").stroke("9").say("touch", wait=10, ball="7", by="hand")
    match.say("frame_over_mistake", wait=before_s, player="B")
    assert len(match.of_kind("between")) == rulings
    assert len(table_for("moscow").stroke("9").say("frame_over_mistake", player="Z").rulings()) == 1


def test_the_cue_ball_in_hand_is_touched_as_one_likes() -> None:
    match = table_for("moscow").stroke("7", pots="cue foot_left").say("touch", ball="cue", by="hand", confidence=0.5)
    assert len(match.rulings()) == 1


def test_one_sure_touch_is_enough_and_an_unsure_one_is_named() -> None:
    match = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", confidence=0.9)
    assert match.say("touch", wait=1, ball="12", by="hand", confidence=0.6).last().doubts == ()
    alone = table_for("russian").stroke("7", **POT).say("touch", ball="12", by="hand", confidence=0.6)
    assert alone.last().doubts == ("unsure:touch:12:0.60",)


def test_who_pays_for_a_touch_just_after_his_stroke() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left").say("touch", wait=0.5, ball="12", by="hand")
    assert match.last().penalty is not None and match.last().penalty.offender == "A"


def test_a_ball_moved_by_an_outsider_between_strokes_costs_nobody() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left")
    moved = match.say("moved", wait=0.5, ball="12", x=1, y=1, cause="outsider").last()
    assert moved.penalty is None and moved.doubts == ()
    unknown = table_for("russian").stroke("7", **POT).say("moved", ball="12", x=1, y=1, cause="unknown")
    assert unknown.last().doubts == ("moved_by_unknown",)
    assert unknown.say("interference", wait=1, by="outsider").last().doubts == ()


@pytest.mark.parametrize(("players", "asked"), [("AB", False), ("ABC", True)])
def test_of_two_opponents_which_one_meddled_is_asked(players: str, asked: bool) -> None:
    match = table_for("small-russian", players=players).stroke("7", **POT).say("interference", wait=9, by="opponent")
    assert ("which_opponent" in match.last().doubts) == asked
    named = table_for("small-russian", players=players).stroke("7", **POT)
    assert named.say("touch", wait=9, ball="12", by="hand", player=players[-1]).last().doubts == ()


def test_the_strikers_own_touch_does_not_name_the_opponent_who_meddled() -> None:
    told = [event(0.4, "touch", ball="12", by="cue", player="A"), event(0.9, "touch", ball="9", by="hand", player="C")]
    ruling = table_for("small-russian", players="ABC").stroke("7", call="7 foot_left", extra=told).last()
    assert ruling.penalty is not None and ruling.penalty.offender == "C"


def test_only_an_object_ball_that_the_opponent_stopped_can_count() -> None:
    cue = [event(0.9, "interference", by="opponent", stopped_ball="cue", pocket="foot_left")]
    assert table_for("moscow").stroke("7", extra=cue).last().replay
    told = [event(0.8, "interference", by="outsider", stopped_ball="7", pocket="foot_left"),
            event(0.9, "moved", ball="12", x=1, y=1, cause="opponent")]  # fmt: skip
    assert table_for("moscow").stroke("7", extra=told).last().replay


def test_of_what_was_displaced_only_what_lay_out_of_the_way_goes_back() -> None:
    told = [event(0.8, "moved", ball=ball, x=1700.0, y=800.0, cause="opponent") for ball in ("7", "12", "u99")]
    told.append(event(0.9, "interference", by="opponent", stopped_ball="9", pocket="foot_left"))
    ruling = table_for("moscow").stroke("9", "7", extra=told).last()
    assert restored(ruling) == {"12": (2300, 1500)} and counted(ruling) == {"9": 1}


def test_a_ball_that_was_only_touched_is_among_those_put_back() -> None:
    told = [event(0.8, "touch", ball="12", by="hand", player="B")]
    assert restored(table_for("moscow").stroke("9", extra=told).last())["12"] == (2300, 1500)


@pytest.mark.parametrize(("after_s", "of_stroke"), [(15.0, True), (15.5, False)])
@pytest.mark.parametrize(("player", "seen"), [("B", True), (None, False)])
def test_how_late_an_officials_word_on_interference_is_of_the_stroke(
    after_s: float, of_stroke: bool, player: str | None, seen: bool
) -> None:
    named = {"player": player} if player else {}
    match = table_for("moscow").stroke("9", extra=[event(0.8, "touch", ball="12", by="hand", **named)])
    match.say("interference", wait=after_s, by="outsider")
    assert len(match.of_kind("interference")) == (1 if of_stroke and seen else 2 if seen else 1)
    assert (len(match.rulings()) == 1) == (of_stroke and seen)


@pytest.mark.parametrize(("gone_s", "before_s", "own"), [(1.0, 1.5, False), (2.0, 1.5, True)])
def test_a_touch_is_of_the_stroke_that_it_is_nearer_to(gone_s: float, before_s: float, own: bool) -> None:
    match = table_for("moscow").stroke("9").say("touch", wait=gone_s, ball="12", by="hand")
    match.stroke("9", wait=before_s)
    assert ("ball_touched" in codes(match.of_kind("stroke")[-1])) == own


@pytest.mark.parametrize(("gone_s", "first"), [(2.0, True), (12.0, False)])
def test_a_word_on_a_stroke_is_of_the_stroke_that_it_is_nearer_to(gone_s: float, first: bool) -> None:
    match = table_for("moscow").stroke("9").say("illegal_tip", wait=gone_s)
    strokes = match.stroke("9", wait=15 - gone_s).of_kind("stroke")
    assert [("illegal_stroke" in codes(ruling)) for ruling in strokes] == [first, not first]


# --- officials' words ---


def test_a_handicap_said_twice_is_the_last_one() -> None:
    match = table_for("moscow").say("handicap", player="B", points=3).say("handicap", player="B", points=2)
    assert match.stroke("9").last().score == {"A": 0, "B": 2}


@pytest.mark.parametrize(
    ("fields", "over", "winner"),
    [({"winner": "B"}, True, "B"), ({"game_over": True, "winner": "B"}, True, "B"),
     ({"game_over": True}, True, None), ({"game_over": False}, False, None), ({"text": {"en": "so"}}, False, None)],
)  # fmt: skip
def test_an_override_ends_the_game_or_does_not(fields: dict[str, Any], over: bool, winner: str | None) -> None:
    ruling = table_for("moscow").stroke("9").say("override", ruling="stroke 1", **fields).last()
    assert (ruling.game_over, ruling.winner, ruling.confidence) == (over, winner, 1.0)
    assert following(ruling) == (None if over else ("B", "in_place"))


def test_an_override_leaves_the_doubt_only_where_it_says_so() -> None:
    for fields, doubts in (({"review": True}, ("missing_call",)), ({"text": {"en": "so"}}, ())):
        match = table_for("russian").stroke("7", pots="7 foot_left").say("override", ruling="1", **fields)
        assert match.last().doubts == doubts


def test_the_choice_after_a_failed_break_may_be_taken_away() -> None:
    for fields, choice in (({"choice": []}, ()), ({"text": {"en": "so"}}, ("play_on", "rerack"))):
        match = Match("moscow", edition="federation").rack(UNREAD).stroke("u1").say("override", ruling=1, **fields)
        assert match.last().choice == choice


def test_what_an_override_of_a_ruling_between_strokes_does_not_name_stands() -> None:
    match = table_for("moscow").stroke("7", pots="7 foot_left").say("touch", ball="9", by="hand")
    assert spots(match.last()) == {"7": (3516.0, 887.5)}
    assert spots(match.say("override", ruling=2, text={"en": "so"}).last()) == {"7": (3516.0, 887.5)}
    moved = match.say("override", ruling=2, spotted=[{"ball": "7", "x": 3516, "y": 700}])
    assert spots(moved.last()) == {"7": (3516.0, 700.0)} and state_of(moved).places["7"] == (3516.0, 700.0)
    again = table_for("moscow").stroke("7", extra=[event(0.5, "interference", by="outsider")])
    assert again.say("override", ruling=1, text={"en": "so"}).last().replay


def test_a_ball_that_an_override_between_strokes_counts_is_off_the_table() -> None:
    match = hung(table_for("moscow").stroke("9")).say("pocketed", wait=8, ball="7", pocket="foot_left")
    places = state_of(match.say("override", ruling=2, counted=["7"])).places
    assert sorted(places) == ["12", "9", "cue"]


def test_an_override_counts_a_ball_of_unknown_number_for_nothing_and_may_spot_the_cue_ball() -> None:
    match = Match("russian").lie(cue=(2700, 1000), u1=(3200, 1450), b9=(1200, 600)).stroke("u1", pots="u1 foot_left")
    assert counted(match.say("override", ruling=1, counted=["u1"]).last()) == {"u1": 0}
    stood = Match("russian").lie(cue=(2700, 1000), u1=(3200, 1450), b9=(1200, 600)).stroke("u1", call="9 foot_left")
    assert counted(stood.say("override", ruling=1, counted=["u1"]).last()) == {"u1": 0}
    cue = table_for("moscow").stroke("7", off="cue")
    cue.say("override", ruling=1, spotted=[{"ball": "cue", "x": 900, "y": 887.5}])
    assert following(cue.last()) == ("B", "in_place")


@pytest.mark.parametrize("ruling", ["stroke 2", "stroke 9", "9", "nonsense", "stroke x", "stroke 0"])
def test_an_override_of_no_ruling_changes_none_and_is_refused(ruling: str) -> None:
    match = table_for("moscow").stroke("9").say("override", ruling=ruling, fouls=["push"])
    assert codes(match.last()) == []
    referee = match.referee()
    for one in match.events():
        referee.push(one)
    with pytest.raises(InputError, match="the last has the id 1"):
        referee.check_overrides()


def test_an_override_where_no_ruling_was_given_is_refused() -> None:
    referee = Match("moscow").referee()
    referee.push(Match("moscow").say("override", ruling=1, fouls=[]).events()[0])
    with pytest.raises(InputError, match="never given; the last has the id 0"):
        referee.check_overrides()


def test_a_call_that_is_withdrawn_was_not_made() -> None:
    match = table_for("russian").stroke("7", **POT)
    call = next(v["id"] for v in match.values if v["type"] == "call")
    match.values = [values | {"id": int(values["id"]) * 100} for values in match.values]
    match.say("retract", ref=int(call) * 100)
    match.values[-1]["id"] = 7
    assert match.last().doubts == ("missing_call",)


def test_a_call_that_arrives_just_after_the_strike_was_made_before_it() -> None:
    match = table_for("russian").stroke("7", **POT)
    events = match.events()
    strike = next(i for i, v in enumerate(match.values) if v["type"] == "strike")
    referee = match.referee()
    for one in (*events[: strike - 1], events[strike], events[strike - 1], *events[strike + 1 :]):
        referee.push(one)
    assert referee.rulings == match.rulings() and counted(referee.rulings[-1]) == {"7": 7}


def test_an_event_without_an_id_gets_one_that_no_other_bears() -> None:
    match = table_for("moscow").stroke("9", extra=[event(0.9, "touch", ball="7", by="hand"),
                                                   event(1.0, "touch", ball="12", by="hand")])  # fmt: skip
    events = match.events()
    last = next(i for i, v in enumerate(match.values) if v.get("ball") == "12" and v["type"] == "touch")
    referee = match.referee()
    for one in (*events[:last], replace(events[last], id=None), *events[last + 1 :]):
        referee.push(one)
    retract = table_for("moscow").say("retract", ref=match.values[last - 2]["id"]).events()[-1]
    referee.push(replace(retract, t=match.t + 1, id=99))
    assert referee.rulings[-1].fouls[0].balls == ("7", "12")


# --- seventy all ---


def test_at_seventy_all_the_ball_that_fell_last_is_put_back() -> None:
    match = Match("russian", seventy_all="respot", handicap="A:70,B:47").lie("B", cue=(1775, 900), b8=(1775, 1400),
                                                                            b5=(1800, 300))  # fmt: skip
    ruling = match.stroke("5", call="5 middle_left", pots="5 middle_left, 8 foot_left").last()
    assert ruling.score == {"A": 70, "B": 70} and list(spots(ruling)) == ["8"]
    match = Match("russian", seventy_all="respot", handicap="A:58,B:47")
    match.lie("A", cue=(1775, 900), b8=(1775, 1400), b5=(1800, 300), b12=(900, 900))
    match.stroke("12", call="12 head_left", pots="12 head_left").stroke("5", call="5 middle_left")
    assert list(spots(match.stroke("5", call="5 middle_left", pots="5 middle_left, 8 foot_left").last())) == ["8"]
    early = Match("russian", seventy_all="respot", handicap="A:70,B:62").lie("B", cue=(1775, 900), b8=(1775, 1400),
                                                                            b5=(1800, 300))  # fmt: skip
    assert spots(early.stroke("8", call="8 middle_left", pots="8 middle_left").last()) == {}


# --- settings and names ---


def test_a_setting_that_another_game_has_is_refused() -> None:
    for rules, key in (("moscow", "seventy_all"), ("moscow", "nothing")):
        with pytest.raises(InputError, match="no such setting of the rule set moscow; its settings are edition"):
            parse_setting(rules, key, "draw")
    assert split_set(["edition=1994", "edition=federation"]) == {"edition": "federation"}
    assert split_set(["handicap=A:5", "handicap=B:7"]) == {"handicap": "A:5,B:7"}
    for text in ("edition", "=5"):
        with pytest.raises(InputError, match="KEY=VALUE"):
            split_set([text])


def test_the_number_of_names_must_be_that_of_the_players() -> None:
    assert names_of_players("small-russian", ["A", "B", "C"], RuleSettings(players=3)) == ("A", "B", "C")
    with pytest.raises(InputError, match="players=3, but 2 are named"):
        names_of_players("small-russian", ["A", "B"], RuleSettings(players=3))
    with pytest.raises(InputError, match="played by 2 players, not 3"):
        names_of_players("moscow", ["A", "B", "C"], RuleSettings())
    with pytest.raises(InputError, match="played by 2 to 4 players, not 5"):
        names_of_players("small-russian", ["A", "B", "C", "D", "E"], RuleSettings())
