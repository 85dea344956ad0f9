"""The score sheet: games one after the other, what a stroke says in a few words, and only what is asked for."""

from __future__ import annotations

from dataclasses import replace

import handmade_match as handmade
import pytest

from vision_referee.domain.events import BallAt, Crossed, CushionHit, Touch, TouchedBy
from vision_referee.domain.rulings import RulingKind
from vision_referee.domain.table import Cushion, Line
from vision_referee.review.event_words import event_words
from vision_referee.review.server.filters import Filter
from vision_referee.review.server.timeline import timeline
from vision_referee.review.sheet import games_of, happened
from vision_referee.review.wording import wording

RULINGS = handmade.rulings()


def test_each_game_has_a_sheet_of_its_own() -> None:
    first, second, third, fourth = RULINGS
    games = games_of([first, replace(second, game_over=True, winner="Boris"), third, fourth])
    assert [(g.number, [r.id for r in g.rulings], g.winner) for g in games] == [(1, [1, 2], "Boris"), (2, [3, 4], None)]


def test_a_game_that_ended_leaves_no_empty_one_behind() -> None:
    assert len(games_of([replace(RULINGS[0], game_over=True, winner="Anna")])) == 1
    assert [g.rulings for g in games_of([])] == [()]


def test_what_happened_in_a_few_words() -> None:
    words = wording("en")
    pot, foul, hanging, _ = RULINGS
    assert happened(pot, words) == "Counted: 7 (foot left corner)"
    assert happened(foul, words) == "", "the foul's mark says all"
    assert happened(replace(foul, spotted=(BallAt(ball="7", x=1, y=1),)), words) == "Spotted: 7"
    assert happened(replace(pot, counted=()), words) == "no ball counted"
    missed = replace(pot, counted=(), notes=("break", "called:7:foot_left:"))
    assert happened(missed, words) == "The break. Not made: 7 (foot left corner)"
    assert happened(replace(missed, notes=("called::foot_left:",)), words) == "Not made: foot left corner"
    assert happened(hanging, words) == "Hanging ball. Put back: 3"
    assert happened(replace(foul, replay=True), words) == "The stroke is repeated"
    warning = replace(hanging, kind=RulingKind.BETWEEN, restored=(), text={"en": "Warning to Boris."})
    assert happened(warning, words) == "Warning to Boris."


@pytest.mark.parametrize(
    ("only", "ids"),
    [
        ("all", [1, 2, 3, 4]),
        ("noted", [2, 3, 4]),
        ("doubts", [4]),
        ("fouls", [2, 4]),
        ("restored", [3]),
        ("decided", []),
        ("nonsense", [1, 2, 3, 4]),
    ],
)
def test_only_what_is_asked_for(only: str, ids: list[int]) -> None:
    assert [r.id for r in RULINGS if Filter(only=only).wants(r)] == ids


def test_kind_and_player_narrow_it_further() -> None:
    assert [r.id for r in RULINGS if Filter(kind="stroke", player="Anna", only="fouls").wants(r)] == [2]


def test_one_goes_from_foul_to_foul_and_past_one_that_was_just_decided() -> None:
    fouls = Filter(only="fouls")
    assert fouls.neighbours(RULINGS, 2) == (None, 4)
    decided = [replace(r, fouls=()) if r.id == 2 else r for r in RULINGS]
    assert fouls.neighbours(decided, 2) == (None, 4), "the one before one's eyes is no foul any more"
    assert Filter().neighbours(RULINGS, 3) == (2, 4)


def test_the_filter_is_kept_in_the_address() -> None:
    assert Filter(player="Анна & Co", only="doubts").query == ("?player=%D0%90%D0%BD%D0%BD%D0%B0+%26+Co&only=doubts")
    assert Filter().query == Filter(only="nonsense").query == ""


def test_the_line_of_time_is_marked_at_round_times() -> None:
    ticks = timeline(RULINGS, handmade.PLAYERS, 26.0).ticks
    assert [label for _, label in ticks] == ["0:00", "0:05", "0:10", "0:15", "0:20", "0:25"]
    assert ticks[2][0] == pytest.approx(1000 * 10 / 26)
    assert timeline([replace(RULINGS[0], t_end=3 * 3600.0)], ["Anna"], 0.0).ticks[-1][1] == "2:40:00"
    assert timeline([], ["Anna"], 0.0).ticks == ((0.0, "0:00"),)


def test_an_event_says_which_cushion_which_line_and_which_way() -> None:
    en, ru = wording("en"), wording("ru")
    cushion = CushionHit(t=1, ball="u3", cushion=Cushion.FOOT, x=0, y=0)
    assert event_words(cushion, en) == "cushion: unknown ball u3, foot cushion"
    assert event_words(cushion, ru, {"u3": "7"}) == "борт: 7, задний борт", "a number learned later is told"
    house = Crossed(t=1, ball="cue", line=Line.HOUSE, direction=1)
    assert event_words(house, en) == "crossed: cue ball, house line, toward the foot"
    assert event_words(replace(house, line=Line.LONG, direction=-1), en) == "crossed: cue ball, long line, to the right"
    assert event_words(Touch(t=1, ball="4", by=TouchedBy.HAND, moved_mm=12.3), en).endswith("4, hand, 12 mm")


def test_every_kind_of_ruling_says_something() -> None:
    for kind in RulingKind:
        assert happened(replace(RULINGS[2], kind=kind, restored=(), counted=()), wording("ru"))
