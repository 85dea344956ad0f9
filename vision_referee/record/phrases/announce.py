"""A ruling announced: who, what, by which rule, what becomes of the balls, who plays next and from where, the score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import BallAt
from vision_referee.domain.rulings import CountedBall, CueBallState, Foul, FoulCode, Ruling, RulingKind
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.record.phrases.book import LANGUAGES, PhraseBook, phrase_book

_COUNTING_RULE = {"small-russian": "S-7", "russian": "R-2", "moscow": "M-1", "american": "A-1"}
_POINTS = ("small-russian", "russian")
_NAMING_BALLS = (FoulCode.BALL_TOUCHED, FoulCode.CLOSE_BALL, FoulCode.HOUSE_BALL_HIT, FoulCode.WRONG_CUE_BALL)
_WORDS = ("warned", "clock_on", "clock_off")
_NEAR_MM = 1.0
_MANY = 6
"""From so many balls on, the whole position is said to be restored."""


def with_text(ruling: Ruling, rules: str, players: Sequence[str], table: TableSpec) -> Ruling:
    """The ruling with its announcement in every language; words that an official gave stay."""
    words = {language: announce(ruling, phrase_book(language), rules, players, table) for language in LANGUAGES}
    return replace(ruling, text=words | dict(ruling.text))


def announce(ruling: Ruling, book: PhraseBook, rules: str, players: Sequence[str], table: TableSpec) -> str:
    """The announcement in the book's language."""
    parts = [
        *([book("say", "break")] if "break" in ruling.notes else []),
        *_what_happened(ruling, book, rules),
        *_penalty(ruling, book, rules),
        *_balls(ruling, book, rules, table),
        *(_notes(ruling, book) if ruling.kind is not RulingKind.HANGING else ()),
        *_what_next(ruling, book, players),
        *_doubts(ruling, book),
    ]
    return " ".join(_capital(part) for part in parts if part)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _what_happened(ruling: Ruling, book: PhraseBook, rules: str) -> Iterable[str]:
    player = ruling.player or ""
    match ruling.kind:
        case RulingKind.LAG:
            yield book("say", "lag_won", winner=ruling.winner) if ruling.winner else book("say", "lag_again")
            return
        case RulingKind.HANGING:
            yield from _notes(ruling, book)
            return
        case RulingKind.INTERFERENCE:
            by_opponent = any(foul.code is FoulCode.INTERFERENCE for foul in ruling.fouls)
            yield book("say", "interfered" if by_opponent else "interfered_outsider", player=player)
        case _ if ruling.fouls:
            yield book("say", "foul", player=player, fouls="; ".join(_foul(foul, book) for foul in ruling.fouls))
        case RulingKind.STROKE:
            yield _clean_stroke(ruling, book, rules)
        case RulingKind.BETWEEN if ruling.counted:
            rule = next((note.partition(":")[2] for note in ruling.notes if note.startswith("taken:")), "M-2")
            yield book("say", "taken", player=player, balls=_names((b.ball for b in ruling.counted), book), rule=rule)
        case RulingKind.BETWEEN if "penalty_ball_not_taken" in ruling.doubts:
            yield book("say", "awarded", player=player)
        case _:
            pass


def _foul(foul: Foul, book: PhraseBook) -> str:
    what = book("foul", foul.code.value)
    others = [ball for ball in foul.balls if ball != CUE]
    if foul.code in _NAMING_BALLS and others:
        return book("say", "foul_one_balls", what=what, balls=_names(others, book), rule=foul.rule)
    return book("say", "foul_one", what=what, rule=foul.rule)


def _clean_stroke(ruling: Ruling, book: PhraseBook, rules: str) -> str:
    player = ruling.player or ""
    if ruling.replay:
        return book("say", "replay_hanging", player=player)
    if ruling.counted:
        rule = _COUNTING_RULE.get(rules, "G-7")
        key = "stroke_counts" if len(ruling.counted) == 1 else "stroke_counts_many"
        said = book("say", key, player=player, balls=_counted(ruling.counted, book, rules), rule=rule)
        call = called(ruling)
        return f"{said} {book('say', 'the_call', call=_called(ruling, book))}" if call and call.how else said
    if rules == "moscow" and ruling.next and ruling.next.player == player and ruling.next.cue_ball.value != "in_place":
        return book("say", "stroke_cue_ball", player=player)
    outcome = "not_counted" if ruling.spotted else "nothing"
    the_call = _called(ruling, book)
    if the_call is None:
        return book("say", f"stroke_{outcome}", player=player)
    return book("say", f"call_{outcome}", player=player, call=the_call, rule=_COUNTING_RULE.get(rules, "G-7"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledShot:
    """What was called before a stroke (S-6); of the last ball the pocket alone may be."""

    ball: str | None
    pocket: PocketName
    how: str


def called(ruling: Ruling) -> CalledShot | None:
    """The call of a ruling's stroke; None where there was no complete one."""
    note = next((note for note in ruling.notes if note.startswith("called:")), None)
    if note is None:
        return None
    _, ball, pocket, how = note.split(":", 3)
    return CalledShot(ball=ball or None, pocket=PocketName(pocket), how=how)


def _called(ruling: Ruling, book: PhraseBook) -> str | None:
    """The call in words; None where there was none."""
    call = called(ruling)
    if call is None:
        return None
    where = book("into", call.pocket.value)
    said = book("say", "called_one", ball=book.ball(call.ball), pocket=where) if call.ball else where
    return book("say", "called_how", call=said, how=call.how) if call.how else said


def _names(balls: Iterable[str], book: PhraseBook) -> str:
    return ", ".join(book.ball(ball) for ball in balls)


def _counted(balls: Iterable[CountedBall], book: PhraseBook, rules: str) -> str:
    said = []
    for ball in balls:
        where = f" {book('into', ball.pocket.value)}" if ball.pocket else ""
        points = f", {book.counted(ball.points, 'points')}" if rules in _POINTS or ball.points != 1 else ""
        said.append(f"{book.ball(ball.ball)}{where}{points}")
    return "; ".join(said)


def _penalty(ruling: Ruling, book: PhraseBook, rules: str) -> Iterable[str]:
    penalty = ruling.penalty
    if penalty is None:
        if ruling.fouls and rules in _POINTS and not ruling.overridden:
            agreed = any(foul.code in (FoulCode.BALL_TOUCHED, FoulCode.ILLEGAL_STROKE) for foul in ruling.fouls)
            yield book("say", "no_points", rule="S-9" if agreed else "S-10")
        return
    offender = penalty.offender or ruling.player or ""
    if penalty.points:
        points = book.counted(penalty.points, "points")
        yield book("say", "penalty_points", points=points, n=penalty.points, offender=offender, to=penalty.to or "")
    elif penalty.balls and penalty.to is not None:
        yield book("say", "penalty_take", to=penalty.to)
    elif penalty.balls:
        owed = "ball_owed" in ruling.notes
        yield book("say", "penalty_owed" if owed else "penalty_back", offender=offender)


def _balls(ruling: Ruling, book: PhraseBook, rules: str, table: TableSpec) -> Iterable[str]:
    said_already = ruling.kind in (RulingKind.STROKE, RulingKind.BETWEEN) and not ruling.fouls
    if ruling.counted and not said_already:
        yield book("say", "counts_too", balls=_counted(ruling.counted, book, rules))
    if ruling.spotted:
        spots = [
            book("say", "spotted_one", ball=book.ball(b.ball), place=_place(b, book, table)) for b in ruling.spotted
        ]
        yield book("say", "spotted", balls="; ".join(spots))
    if len(ruling.restored) >= _MANY:
        yield book("say", "restored_all")
    elif ruling.restored:
        yield book("say", "restored", balls=_names((b.ball for b in ruling.restored), book))
    if ruling.replay and ruling.kind is not RulingKind.LAG:
        yield book("say", "replay_fined" if ruling.penalty else "replay")


def _place(ball: BallAt, book: PhraseBook, table: TableSpec) -> str:
    spot_x, middle = table.foot_spot_mm
    if abs(ball.x - spot_x) < _NEAR_MM and abs(ball.y - middle) < _NEAR_MM:
        return book("place", "foot_spot")
    from_foot = table.length_mm - ball.x
    if abs(from_foot - table.ball_radius_mm) < _NEAR_MM:
        return book("place", "foot_cushion")
    if abs(ball.y - middle) < _NEAR_MM:
        return book("place", "long_line", mm=round(from_foot))
    return book("place", "anywhere", x=round(ball.x), y=round(ball.y))


def _notes(ruling: Ruling, book: PhraseBook) -> Iterable[str]:
    for note in ruling.notes:
        key, *values = note.split(":")
        if key == "warned":
            yield _warned(values[0], ruling.player, book)
        elif book.has("note", key):
            words = {"ball": book.ball(values[0]) if values else "", "player": ruling.player or ""}
            yield str(book.sections["note"][key]).format(*map(book.decimal, values), **words)


def _warned(what: str, player: str | None, book: PhraseBook) -> str:
    section = "warned" if book.has("warned", what) else "foul"
    words = book(section, what) if book.has(section, what) else what
    return book("say", "warned", player=player, what=words) if player else book("say", "warned_both", what=words)


def _what_next(ruling: Ruling, book: PhraseBook, players: Sequence[str]) -> Iterable[str]:
    if _is_a_word_only(ruling):
        return
    if ruling.next is not None:
        place = book("from", ruling.next.cue_ball.value)
        yield book("say", _next_key(ruling), **{"player": ruling.next.player, "from": place})
    names = [name for name in players if name in ruling.score]
    if names and ruling.kind is not RulingKind.LAG:
        yield book("say", "score", score=_score(ruling.score, names))
    if ruling.game_over:
        if ruling.winner is not None:
            yield book("say", "won", winner=ruling.winner)
        else:
            yield book("say", "over_tied" if "tied" in ruling.doubts else "drawn")
    if sum(ruling.match.values()) and ruling.game_over:
        yield book("say", "match", score=_score(ruling.match, [n for n in players if n in ruling.match]))
    if ruling.match_over and ruling.game_over and ruling.winner is not None:
        yield book("say", "match_won", winner=ruling.winner)
    if ruling.overridden:
        yield book("say", "corrected")


def _is_a_word_only(ruling: Ruling) -> bool:
    """A warning or the like: neither the turn nor the score is said again."""
    return ruling.kind is RulingKind.BETWEEN and any(note.partition(":")[0] in _WORDS for note in ruling.notes)


def _next_key(ruling: Ruling) -> str:
    assert ruling.next is not None
    if ruling.choice:
        return "next_choice"
    if ruling.kind is not RulingKind.STROKE or ruling.replay:
        return "next"
    if ruling.next.player != ruling.player:
        return "next_over"
    return "next_on" if ruling.next.cue_ball in (CueBallState.IN_PLACE, CueBallState.ANY) else "next_on_from"


def _score(score: dict[str, int], names: Sequence[str]) -> str:
    points = " : ".join(str(score[name]).replace("-", "−") for name in names)
    return f"{' – '.join(names)} {points}"


def _doubts(ruling: Ruling, book: PhraseBook) -> Iterable[str]:
    if ruling.review and ruling.doubts:
        yield book("say", "doubt", doubts="; ".join(_doubt(doubt, book) for doubt in ruling.doubts))


def _doubt(doubt: str, book: PhraseBook) -> str:
    key, *values = doubt.split(":")
    if key == "unsure":
        kind, ball, confidence = values
        what = book("event", kind if book.has("event", kind) else "other")
        named = f" ({', '.join(book.ball(b) for b in ball.split('-'))})" if ball else ""
        return book("doubt", "unsure", event=what, ball=named, confidence=book.decimal(confidence))
    if key == "edge":
        return book("doubt", "edge", edge=book("edge", values[0]))
    return book("doubt", key, ball=book.ball(values[0]) if values else "")
