"""Statistics of a match, and what the diagrams show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import handmade_match as handmade
import numpy as np
import pytest

from vision_referee.domain.events import BallAt, Call, Identified
from vision_referee.domain.rulings import CountedBall, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.record.match_folder import MatchFolder
from vision_referee.review.charts import heat_map_svg
from vision_referee.review.diagram import moving_svg, position_svg, stroke_svg
from vision_referee.review.exports import statistics_csv, statistics_json
from vision_referee.review.statistics import match_statistics
from vision_referee.review.stroke_view import simplified, stroke_view

SVG = "{http://www.w3.org/2000/svg}"


def test_figures_of_the_players() -> None:
    anna, boris = match_statistics(handmade.PLAYERS, handmade.rulings(), handmade.events()).players
    assert (anna.strokes, anna.successes, anna.balls, anna.points, anna.fouls) == (2, 1, 1, 7, 1)
    assert (boris.strokes, boris.successes, boris.fouls, boris.safeties) == (1, 0, 1, 0)
    assert anna.success == 0.5
    assert anna.stroke_s == pytest.approx((1.8 + 2.5) / 2)
    assert anna.thinking_s == pytest.approx(4.2)
    assert boris.thinking_s == pytest.approx(9.5)


def test_pots_by_pocket_know_whose_stroke_it_was() -> None:
    stats = match_statistics(handmade.PLAYERS, handmade.rulings(), handmade.events())
    assert stats.pots["Anna"] == {PocketName.FOOT_LEFT: 1, PocketName.HEAD_RIGHT: 1}
    assert stats.pots[""] == {PocketName.MIDDLE_LEFT: 1}
    assert stats.pots_total(PocketName.FOOT_RIGHT) == 0


def test_a_series_runs_over_strokes_until_a_miss() -> None:
    one = handmade.rulings()[0]
    two_balls = (*one.counted, CountedBall(ball="4", pocket=PocketName.FOOT_LEFT, points=4))
    rulings = [one, replace(one, id=2, counted=two_balls), replace(one, id=3, counted=()), replace(one, id=4)]
    (anna, _) = match_statistics(handmade.PLAYERS, rulings, []).players
    assert anna.longest_series == 3


def test_a_repeated_stroke_neither_counts_nor_ends_a_series() -> None:
    one = handmade.rulings()[0]
    rulings = [one, replace(one, id=2, counted=(), replay=True), replace(one, id=3)]
    (anna, _) = match_statistics(handmade.PLAYERS, rulings, []).players
    assert (anna.strokes, anna.longest_series) == (2, 2)


def test_a_series_ends_with_its_game() -> None:
    one = handmade.rulings()[0]
    rulings = [one, replace(one, id=2, game_over=True), replace(one, id=3)]
    (anna, _) = match_statistics(handmade.PLAYERS, rulings, []).players
    assert anna.longest_series == 2


def test_a_ball_taken_between_strokes_counts_as_a_ball_but_is_no_stroke() -> None:
    one = handmade.rulings()[0]
    taken = replace(one, id=2, kind=RulingKind.BETWEEN, counted=(CountedBall(ball="9", pocket=None, points=1),))
    (anna, _) = match_statistics(handmade.PLAYERS, [one, taken], []).players
    assert (anna.strokes, anna.balls, anna.points) == (1, 2, 8)


def test_shots_run_from_the_struck_ball_to_the_first_it_met() -> None:
    first, second, third = match_statistics(handmade.PLAYERS, handmade.rulings(), handmade.events()).shots
    assert (first.start, first.end, first.counted, first.foul) == ((800, 880), (2338, 1300), True, False)
    assert second.foul and not second.counted
    assert third.end == (2900, 1200), "nothing was met: to where the cue ball stopped"


def _balls(svg: str, group: str = "ball") -> dict[str, str]:
    root = ET.fromstring(svg)
    return {g.get("data-ball", ""): g.get("transform", "") for g in root.iter(f"{SVG}g") if group in g.get("class", "")}


def test_the_diagram_has_the_head_at_the_left_and_the_left_cushion_at_the_top() -> None:
    svg = position_svg(handmade.TABLE, [BallAt(ball="7", x=100, y=1700)], title="t", numbers={})
    assert _balls(svg)["7"] == "translate(100.0 75.0)"


def test_the_diagram_shows_where_moved_balls_began_and_where_all_lie() -> None:
    match = MatchFolder(handmade.shared_match().folder)
    view = stroke_view(match, match.rulings()[0], match.events())
    assert {p.ball for p in view.paths} == {"cue", "7"}
    assert {b.ball for b in view.start} == {"cue", "7", "3", "11", "u1"}
    assert {b.ball for b in view.end} == {"cue", "3", "11", "u1"}, "ball 7 is in the pocket"
    assert [m.kind for m in view.marks] == ["contact", "pocketed"]
    svg = stroke_svg(match.info.table, view, title="Stroke 1")
    assert set(_balls(svg, "ghost")) == {"cue", "7"}
    root = ET.fromstring(svg)
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    assert root.find(f"{SVG}title").text == "Stroke 1"  # type: ignore[union-attr]


def test_a_number_learned_later_is_written_on_the_ball() -> None:
    match = MatchFolder(handmade.shared_match().folder)
    events = [*match.events(), Identified(t=25.0, ball="u1", number=14)]
    view = stroke_view(match, match.rulings()[0], events)
    assert view.shown("u1") == "14"
    assert ">14</text>" in moving_svg(match.info.table, view, title="t")


def test_without_tracks_the_position_comes_from_the_last_rest(tmp_path) -> None:  # type: ignore[no-untyped-def]
    copy = handmade.copied_match(tmp_path / "match")
    match = MatchFolder(copy.folder)
    late = replace(match.rulings()[0], t_start=100.0, t_end=101.0)
    view = stroke_view(match, late, match.events())
    assert {b.ball for b in view.start} == {"cue", "11", "u1"}


def test_simplifying_keeps_corners_and_drops_the_rest() -> None:
    t = np.linspace(0, 1, 50)[:, None]
    a, b, c = np.array([0.0, 0]), np.array([1000.0, 300]), np.array([400.0, 900])
    line = np.vstack([a + (b - a) * t, b + (c - b) * t])
    assert simplified(line).tolist() == [a.tolist(), b.tolist(), c.tolist()]


def test_the_heat_map_is_brightest_where_most_balls_stopped() -> None:
    places = [BallAt(ball="1", x=3400, y=150)] * 2 + [BallAt(ball="2", x=120, y=1600)]
    root = ET.fromstring(heat_map_svg(handmade.TABLE, places, title="t"))

    def brightness(x: float, y: float) -> float:
        for r in root.iter(f"{SVG}rect"):
            left, top, wide, high = (float(r.get(name, "nan")) for name in ("x", "y", "width", "height"))
            inside = left <= x < left + wide and top <= handmade.TABLE.width_mm - y < top + high
            if r.get("class") == "heat" and inside:
                return float(r.get("fill-opacity", "nan"))
        return 0.0

    assert brightness(3400, 150) == pytest.approx(0.85, abs=0.01)
    assert brightness(120, 1600) == pytest.approx(0.425, abs=0.06)
    assert 0 < brightness(3400, 330) < brightness(3400, 240) < 0.85, "it fades with the distance"
    assert brightness(1775, 887) == 0


def test_no_ball_ever_rested_and_the_map_is_still_a_table() -> None:
    root = ET.fromstring(heat_map_svg(handmade.TABLE, [], title="t"))
    assert not [r for r in root.iter(f"{SVG}rect") if r.get("class") == "heat"]


def test_where_calls_are_made_an_attempt_is_a_stroke_with_a_call() -> None:
    one, *_ = handmade.rulings()
    missed = replace(one, id=2, t_start=10.0, t_end=12.0, counted=())
    safe = replace(one, id=3, t_start=20.0, t_end=22.0, counted=())
    calls = [Call(t=t, ball="7", pocket=PocketName.FOOT_LEFT) for t in (1.0, 9.0)]
    stats = match_statistics(handmade.PLAYERS, [one, missed, safe], calls)
    anna = stats.players[0]
    assert stats.called and (anna.strokes, anna.attempts, anna.successes, anna.safeties) == (3, 2, 1, 1)
    assert anna.success == 0.5
    uncalled = match_statistics(handmade.PLAYERS, [one, missed, safe], [])
    assert not uncalled.called
    assert (uncalled.players[0].attempts, uncalled.players[0].safeties) == (3, 2)


def test_every_table_names_the_players_in_the_same_order() -> None:
    rulings = [replace(handmade.rulings()[0], player="Zoë"), replace(handmade.rulings()[1], player="Adam")]
    stats = match_statistics(("Zoë", "Adam"), rulings, handmade.events())
    assert [p.player for p in stats.players] == ["Zoë", "Adam"]
    assert list(stats.pots) == ["Zoë", "Adam", ""]


def test_a_spreadsheet_gets_the_pots_too() -> None:
    stats = match_statistics(handmade.PLAYERS, handmade.rulings(), handmade.events())
    lines = dict(line.split(",", 1) for line in statistics_csv(stats).splitlines())
    assert (lines["figure"], lines["fell foot_left"], lines["fell head_left"]) == ("Anna,Boris", "1,0", "0,0")
    assert {"player": None, "pocket": "middle_left", "balls": 1} in statistics_json(stats)["pots"]
