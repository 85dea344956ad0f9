"""The words of rulings: both books say the same things, and a ruling reads as a referee would announce it."""

from __future__ import annotations

import pytest

from tests.unit.rules_match import TABLE, Match, table_for
from vision_referee.domain.rulings import CueBallState, FoulCode
from vision_referee.domain.table import PocketName
from vision_referee.record.phrases import LANGUAGES, phrase_book, with_text

POT = {"pots": "7 foot_left", "call": "7 foot_left"}


def _said(match: Match, language: str = "en") -> str:
    return with_text(match.last(), match.rules, match.players, TABLE).text[language]


def test_both_books_have_the_same_phrases_with_the_same_gaps() -> None:
    books = [phrase_book(language).sections for language in LANGUAGES]
    assert [{s: set(book[s]) for s in book} for book in books[:1]] == [
        {s: set(book[s]) for s in book} for book in books[1:]
    ]
    for section, phrases in books[0].items():
        for key, words in phrases.items():
            other = books[1][section][key]
            gaps = [{gap.split("}")[0] for gap in str(text).split("{")[1:]} for text in (words, other)]
            assert gaps[0] == gaps[1], f"{section}.{key}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_pocket_and_next_stroke_has_its_words(language: str) -> None:
    book = phrase_book(language)
    assert all(book("foul", code.value) for code in FoulCode)
    assert all(book("into", name.value) for name in PocketName)
    assert all(book("from", state.value) for state in CueBallState)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "1 очко"),
        (2, "2 очка"),
        (5, "5 очков"),
        (11, "11 очков"),
        (12, "12 очков"),
        (21, "21 очко"),
        (24, "24 очка"),
    ],
)
def test_russian_numbers_take_their_forms(number: int, words: str) -> None:
    assert phrase_book("ru").counted(number, "points") == words


def test_a_foul_says_who_what_by_which_rule_where_the_ball_goes_who_plays_and_the_score() -> None:
    match = table_for("russian").stroke("7", pots="7 foot_left, cue foot_left", call="7 foot_left")
    assert _said(match) == (
        "Foul by A: the cue ball was pocketed (G-20.13). Penalty, 5 points: A −5, B +5. "
        "Spotted: the 7 on the foot spot. The turn passes to B, from hand from the house. Score A – B −5 : 5."
    )
    assert _said(match, "ru") == (
        "A: нарушение — падение битка в лузу (G-20.13). Штраф 5 очков: A −5, B +5. "
        "Выставить: шар «7» на заднюю отметку. Право удара переходит: B, с руки из дома. Счёт A – B −5 : 5."
    )


def test_a_counted_ball_a_doubt_and_a_warning_are_said() -> None:
    assert _said(table_for("russian").stroke("7", **POT)).startswith(
        "A pockets the 7 in the left pocket at the foot, 7 points"
    )
    missing = _said(table_for("russian").stroke("7", pots="7 foot_left"))
    assert missing.endswith("For the referee to decide: no complete call is on record.")
    called = _said(table_for("russian").stroke("7", call="7 foot_left"), "ru")
    assert called.startswith("A: заказ (шар «7» в левую угловую у заднего борта) не сыгран.")
    warned = _said(Match("russian").rack().stroke("4", at=(900, 800), call="4 foot_left"))
    assert "a warning is proposed" in warned and "G-20.15" in warned


def test_the_end_of_a_game_is_said_and_an_officials_words_stay() -> None:
    match = Match("moscow").lie(cue=(2700, 1000), b7=(3200, 1450)).stroke("7", pots="7 foot_left")
    assert _said(match).endswith("Score A – B 1 : 0. A wins the game. Games A – B 1 : 0.")
    match.say("override", ruling="stroke 1", text={"en": "As I saw it."})
    assert _said(match) == "As I saw it."


def test_a_pure_call_says_its_way_and_a_game_of_balls_counts_no_points() -> None:
    pure = table_for("small-russian", call="pure").stroke("7", **POT, how="off the left cushion")
    assert "Called: the 7 in the left pocket at the foot, off the left cushion." in _said(pure)
    assert _said(table_for("moscow").stroke("7", pots="7 foot_left"), "ru").startswith(
        "A: сыгран шар «7» в левую угловую у заднего борта (M-1). Продолжает A."
    )


def test_a_ball_that_goes_back_from_the_shelf_and_one_that_is_owed() -> None:
    owing = table_for("american").stroke("7", off="cue")
    assert "A has no ball to give back; it is owed." in _said(owing)
    giving = table_for("moscow").stroke("7", pots="7 foot_left").stroke(wait=20)
    assert "A gives a ball back from the shelf. Spotted: the 7 at the foot cushion." in _said(giving)


def test_what_the_protocol_says_between_strokes() -> None:
    match = table_for("russian").say("warning", what="slow_play")
    assert _said(match, "ru") == "Предупреждение, A: затягивание игры (G-19)."
    assert (
        _said(match.say("warning", what="blocked_position"))
        == "Warning to the players: the position is blocked (G-18)."
    )
    assert _said(match.say("warning", what="push")) == "Warning to A: push."
    assert _said(match.say("warning", what="rudeness")) == "Warning to A: rudeness."
    assert _said(match.say("shot_clock", on=True), "ru") == "Время на удар ограничено: 60 с (G-19)."
    assert _said(match.say("shot_clock", on=False)) == "The time for a stroke is no longer limited."


def test_a_hanging_ball_says_how_long_it_hung() -> None:
    match = table_for("russian").stroke("7", call="7 foot_left", ends={"7": (3538, 1763)})
    match.say("pocketed", wait=8.2, ball="7", pocket="foot_left")
    assert _said(match, "ru").startswith(
        "Шар «7» завис и упал через 8,2 с после окончания удара (G-16). Вернуть на место"
    )
