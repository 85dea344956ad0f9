"""What holds of every match, whatever happens in it (hypothesis)."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.rules_match import ALL_GAMES, TABLE
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.record.events_jsonl import event_from_json
from vision_referee.record.phrases import with_text
from vision_referee.record.rulings_jsonl import ruling_from_json, ruling_to_json
from vision_referee.rules.referee import Referee, replay
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.spotting import foot_cushion, foot_spot_long_line, foot_spot_then_cushion, spot_all

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NUMBERS = [str(n) for n in range(1, 16)]
LABELS = ["cue", *NUMBERS]
POCKETS = ["head_right", "head_left", "middle_right", "middle_left", "foot_right", "foot_left"]
CUSHIONS = ["head", "foot", "right", "left"]

x_mm = st.floats(34, 3516, allow_nan=False).map(lambda v: round(v, 1))
y_mm = st.floats(34, 1741, allow_nan=False).map(lambda v: round(v, 1))
ball = st.sampled_from(LABELS)
pocket = st.sampled_from(POCKETS)
confidence = st.sampled_from([1.0, 1.0, 1.0, 0.95, 0.7, 0.4])
player = st.sampled_from(["A", "B"])
placed_ball = st.fixed_dictionaries({"ball": ball, "x": x_mm, "y": y_mm})
lying = st.lists(placed_ball, unique_by=lambda at: at["ball"], max_size=16)


def _kind(name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(name), **fields})


at_place = {"ball": ball, "x": x_mm, "y": y_mm}
ANY_EVENT = st.one_of(
    _kind("racked", balls=lying, order_ok=st.sampled_from([True, False, None])),
    _kind("placed", **at_place),
    _kind("picked_up", **at_place),
    _kind("strike", **at_place, vx=st.just(900.0), vy=st.just(100.0), player=st.sampled_from([None, None, "A", "B"])),
    _kind("strike", **at_place, vx=st.just(900.0), vy=st.just(100.0)),
    _kind("contact", balls=st.lists(ball, min_size=2, max_size=2, unique=True), x=x_mm, y=y_mm),
    _kind("contact", balls=st.tuples(st.just("cue"), st.sampled_from(NUMBERS)).map(list), x=x_mm, y=y_mm),
    _kind("cushion", **at_place, cushion=st.sampled_from(CUSHIONS)),
    _kind(
        "crossed",
        ball=ball,
        line=st.sampled_from(["house", "centre", "foot", "long"]),
        direction=st.sampled_from([1, -1]),
    ),
    _kind("pocketed", ball=ball, pocket=pocket),
    _kind("pocketed", ball=ball, pocket=pocket),
    _kind("pocket_rebound", ball=ball, pocket=pocket),
    _kind("left_table", **at_place),
    _kind("returned", **at_place, touched=st.sampled_from(["equipment", "other", "unknown"])),
    _kind("stopped", **at_place),
    _kind("rest", balls=lying),
    _kind("rest", balls=lying),
    _kind("hanging", **at_place, pocket=pocket),
    _kind("shake"),
    _kind(
        "touch",
        ball=ball,
        by=st.sampled_from(["cue", "hand", "unknown"]),
        moved_mm=st.just(3.0),
        player=st.sampled_from([None, "A", "B"]),
    ),
    _kind("moved", **at_place, cause=st.sampled_from(["opponent", "outsider", "unknown"])),
    _kind("tip", ball=ball, kind=st.sampled_from(["double_hit", "push", "squeeze"])),
    _kind("identified", ball=ball, number=st.integers(1, 15)),
    _kind("call", ball=ball, pocket=pocket),
    _kind("call", ball=ball),
    _kind("feet_off_floor"),
    _kind("illegal_tip"),
    _kind("body_out"),
    _kind("rail_roll", ball=ball),
    _kind("warning", what=st.sampled_from(["house_violation", "blocked_position", "slow_play"])),
    _kind(
        "interference",
        by=st.sampled_from(["opponent", "outsider", "other"]),
        intentional=st.booleans(),
        stopped_ball=st.one_of(st.none(), ball),
        pocket=st.one_of(st.none(), pocket),
    ),
    _kind("shot_clock", on=st.booleans()),
    _kind("rerack"),
    _kind("concede_break"),
    _kind("handicap", player=player, points=st.integers(-5, 35)),
    _kind("frame_over_mistake", player=player),
    _kind("remove", ball=ball),
    _kind("agree_draw"),
    _kind("starts", player=player),
    _kind("retract", ref=st.integers(1, 40)),
    _kind("confirm", ref=st.integers(1, 40)),
    _kind("override", ruling=st.integers(1, 12), fouls=st.just([])),
    _kind("override", ruling=st.integers(1, 12), counted=st.just([{"ball": "7"}])),
    _kind("override", ruling=st.integers(1, 12), score=st.just({"A": 3})),
    _kind("override", ruling=st.just("stroke 1"), next=st.just({"player": "B"})),
)


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Any valid events in order of time."""
    t = 0.0
    events = []
    for number, values in enumerate(draw(st.lists(ANY_EVENT, max_size=40)), start=1):
        t = round(t + draw(st.sampled_from([0.0, 0.1, 0.5, 2.0, 8.0])), 3)
        events.append(event_from_json({"t": t, "id": number, "confidence": draw(confidence), **values}))
    return events


GAME = st.sampled_from(ALL_GAMES)
EDITION = st.sampled_from(["1994", "federation"])


def _judge(events: list[Event], rules: str, edition: str = "1994") -> list[Ruling]:
    return replay(events, rules=rules, players=("A", "B"), table=TABLE, settings=RuleSettings(edition=edition))


@QUICK
@given(streams(), GAME, EDITION)
def test_any_ordered_stream_of_valid_events_is_judged(events: list[Event], rules: str, edition: str) -> None:
    rulings = _judge(events, rules, edition)
    assert len({ruling.id for ruling in rulings}) == len(rulings)
    for ruling in rulings:
        written = ruling_to_json(ruling)
        assert ruling_to_json(ruling_from_json(written)) == written
        words = with_text(ruling, rules, ("A", "B"), TABLE).text
        assert words["en"].strip() and words["ru"].strip()
        assert not (ruling.game_over and ruling.next is not None)
        assert not ruling.review or ruling.doubts


@QUICK
@given(streams(), GAME)
def test_live_and_recorded_work_give_the_same_rulings(events: list[Event], rules: str) -> None:
    live = Referee(rules=rules, players=("A", "B"), table=TABLE)
    seen: dict[int, Ruling] = {}
    for event in events:
        for ruling in live.push(event):
            seen[ruling.id] = ruling
    for ruling in live.flush():
        seen[ruling.id] = ruling
    recorded = _judge(events, rules)
    assert [_without_id(r) for r in live.rulings] == [_without_id(r) for r in recorded]
    assert all(seen[ruling.id] == ruling for ruling in live.rulings)


def _without_id(ruling: Ruling) -> dict[str, Any]:
    values = ruling_to_json(ruling)
    del values["id"]
    return values


# --- whole games, as a table would see them ---


@st.composite
def games(draw: st.DrawFn, players: int = 2) -> list[dict[str, Any]]:
    """A game from rack to end: calls, falls, misses, fouls; balls are where they are put."""
    events: list[dict[str, Any]] = [{"t": 0.0, "type": "starts", "player": "A"}]
    spots = [(2662.5 + 59 * r, 887.5 + 34 * (r - 2 * i)) for r in range(5) for i in range(r + 1)]
    events.append(
        {
            "t": 1.0,
            "type": "racked",
            "order_ok": True,
            "balls": [{"ball": b, "x": x, "y": y} for b, (x, y) in zip(NUMBERS, spots, strict=True)],
        }
    )
    t = 1.0
    for _ in range(draw(st.integers(1, 12))):
        t += 30
        called, where = draw(st.sampled_from(NUMBERS)), draw(pocket)
        events.append({"t": t - 3, "type": "call", "ball": called, "pocket": where})
        events.append({"t": t, "type": "strike", "ball": "cue", "x": 600, "y": 800, "vx": 900, "vy": 0})
        if draw(st.integers(0, 9)):
            events.append({"t": t + 0.2, "type": "contact", "balls": ["cue", called], "x": 900, "y": 800})
        for dt, fallen in enumerate(draw(st.lists(st.sampled_from(LABELS), unique=True, max_size=4))):
            if fallen == "cue" and draw(st.booleans()):
                continue
            into = where if fallen == called and draw(st.booleans()) else draw(pocket)
            events.append({"t": t + 1 + dt / 10, "type": "pocketed", "ball": fallen, "pocket": into})
        if not draw(st.integers(0, 4)):
            events.append({"t": t + 2, "type": "touch", "ball": draw(ball), "by": "hand"})
        events.append({"t": t + 4, "type": "rest", "balls": [{"ball": "cue", "x": 600, "y": 800}]})
    return events


def _only_what_lies(
    events: list[dict[str, Any]], rules: str, players: tuple[str, ...]
) -> tuple[list[dict[str, Any]], list[Ruling]]:
    """The events without falls and contacts of balls that are on a shelf, and the rulings on them."""
    referee = Referee(rules=rules, players=players, table=TABLE)
    told = []
    for number, values in enumerate(events, start=1):
        state = referee.state
        assert state is not None
        on_shelf = {b for shelf in state.shelves.values() for b in shelf}
        balls = {values.get("ball"), *[b for b in values.get("balls", []) if isinstance(b, str)]}
        if values["type"] in ("pocketed", "contact") and balls & on_shelf:
            continue
        told.append(values)
        referee.push(event_from_json({**values, "id": number}))
    referee.flush()
    return told, referee.rulings


@QUICK
@given(games(), st.sampled_from([2, 3, 4]))
def test_points_are_conserved(events: list[dict[str, Any]], players: int) -> None:
    _, rulings = _only_what_lies(events, "small-russian", ("A", "B", "C", "D")[:players])
    so_far: list[Any] = []
    for ruling in rulings:
        so_far += ruling.counted
        assert sum(ruling.score.values()) == sum(b.points for b in so_far)  # penalties only move points
        assert len({b.ball for b in so_far}) == len(so_far)  # a ball is scored once
        whole = 140 + 10 * (players - 2)
        assert sum(b.points for b in so_far) == whole if len(so_far) == 15 else sum(b.points for b in so_far) < whole


@QUICK
@given(games(), GAME)
def test_every_fallen_ball_is_counted_or_spotted_and_one_penalty_is_paid(
    events: list[dict[str, Any]], rules: str
) -> None:
    told, rulings = _only_what_lies(events, rules, ("A", "B"))
    for ruling in rulings:
        assert ruling.penalty is None or (ruling.penalty.points in (5, None) and ruling.penalty.balls in (1, None))
        if ruling.kind is not RulingKind.STROKE:
            continue
        fallen = {e["ball"] for e in told if e["type"] == "pocketed" and ruling.t_start <= e["t"] <= ruling.t_end}
        counted, spotted = {b.ball for b in ruling.counted}, {b.ball for b in ruling.spotted}
        assert counted <= fallen
        assert fallen - (set() if rules == "american" else {"cue"}) <= counted | spotted
        went_back = any(note.startswith("debt_paid") for note in ruling.notes)
        assert not counted & spotted or went_back


@QUICK
@given(st.lists(st.tuples(x_mm, y_mm), max_size=16), st.integers(1, 6))
def test_spotted_balls_touch_nothing_and_lie_on_the_table(places: list[tuple[float, float]], number: int) -> None:
    lying: dict[str, tuple[float, float]] = {}
    for index, place in enumerate(places):
        if all(math.dist(place, other) >= 68 for other in lying.values()):
            lying[f"u{index + 20}"] = place
    for where in (foot_cushion, foot_spot_long_line, foot_spot_then_cushion):
        spotted = spot_all(TABLE, [f"u{n}" for n in range(1, number + 1)], lying, where)
        everything = [*lying.values(), *(place for _, place in spotted)]
        for _, (x, y) in spotted:
            assert 34 <= x <= 3516 and 34 <= y <= 1741
            assert sorted(math.dist((x, y), other) for other in everything)[1:2] > [68.0] or len(everything) == 1
