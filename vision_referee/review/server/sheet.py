"""The score sheet of a match as the pages show it: game by game, and what each ruling says in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.review.ruling_words import ruling_text
from vision_referee.review.wording import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """``number`` counts from 1; ``winner`` is None while it is played, or where nobody won."""

    number: int
    rulings: tuple[Ruling, ...]
    winner: str | None


def games_of(rulings: Sequence[Ruling]) -> list[Game]:
    """The rulings game by game; what follows the end of one belongs to the next."""
    games: list[Game] = []
    own: list[Ruling] = []
    for ruling in rulings:
        own.append(ruling)
        if ruling.game_over:
            games.append(Game(number=len(games) + 1, rulings=tuple(own), winner=ruling.winner))
            own = []
    if own or not games:
        games.append(Game(number=len(games) + 1, rulings=tuple(own), winner=None))
    return games


def happened(ruling: Ruling, words: Wording) -> str:
    """What there is to say beside the marks of fouls, doubts and restorations; empty where those say all."""
    if ruling.counted:
        return words("report.counted", balls=words.balls(c.ball for c in ruling.counted))
    if ruling.kind not in (RulingKind.STROKE, RulingKind.LAG):
        return ruling_text(ruling, words)
    if ruling.fouls or ruling.restored or ruling.replay:
        return words("report.replay") if ruling.replay else ""
    return words("report.nothing_counted")
