"""The score sheet of a match as report and pages show it: game by game, and what each ruling says in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.record.phrases import called
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
    """What there is to say beside the marks of fouls and doubts; empty where those say all."""
    if ruling.kind in (RulingKind.LAG, RulingKind.BETWEEN, RulingKind.GAME) and not (ruling.counted or ruling.fouls):
        return ruling_text(ruling, words)
    said = [words("report.break")] if "break" in ruling.notes else []
    if ruling.kind in (RulingKind.HANGING, RulingKind.INTERFERENCE):
        said.append(words(f"kind.{ruling.kind.value}"))
    call = called(ruling)
    if ruling.counted:
        said.append(
            words("report.counted", balls=", ".join(_in_pocket(b.ball, b.pocket, words) for b in ruling.counted))
        )
    elif call is not None and not (ruling.fouls or ruling.replay):
        said.append(words("report.not_made", call=_in_pocket(call.ball, call.pocket, words)))
    if ruling.spotted:
        said.append(words("report.spotted", balls=words.balls(b.ball for b in ruling.spotted)))
    if ruling.restored:
        said.append(words("report.restored", balls=words.balls(b.ball for b in ruling.restored)))
    if ruling.replay:
        said.append(words("report.replay"))
    if said or ruling.fouls:
        return ". ".join(part[:1].upper() + part[1:] for part in said)
    return words("report.nothing_counted")


def _in_pocket(ball: str | None, pocket: PocketName | None, words: Wording) -> str:
    where = words(f"pocket.{pocket.value}") if pocket else ""
    named = words.ball(ball) if ball else ""
    return f"{named} ({where})" if named and where else named or where
