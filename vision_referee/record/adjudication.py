"""From events files to rulings with their words: what ``adjudicate`` does, and what re-judging a match does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, FrameOverMistake, Handicap, Override, Starts, Strike, Touch
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import TableSpec
from vision_referee.record.events_jsonl import read_consistent_events
from vision_referee.record.phrases import with_text
from vision_referee.rules.correction import parse_correction
from vision_referee.rules.referee import replayed
from vision_referee.rules.settings import RuleSettings, names_of_players


def load_events(events: Path, officials: Path | None = None) -> list[Event]:
    """The events of a file, with an officials file's lines merged by time. Raises InputError."""
    return sorted(read_consistent_events(events, officials), key=lambda event: event.t)


def players_named(events: Iterable[Event]) -> list[str]:
    """The players that the events name, in order of appearance."""
    names: dict[str, None] = {}
    for event in events:
        if isinstance(event, Starts | Handicap | FrameOverMistake | Strike | Touch) and event.player:
            names[event.player] = None
        elif isinstance(event, Override):
            names |= dict.fromkeys(parse_correction(event.fields).players())
    return list(names)


def players_of(
    rules: str, settings: RuleSettings, given: Sequence[str], events: Sequence[Event], path: Path | str
) -> tuple[str, ...]:
    """The players: those given, else those that the events name, else A and B. Raises InputError."""
    named = players_named(events)
    if given:
        players = names_of_players(rules, list(given), settings)
    elif len(named) >= 2 and len(named) == (settings.players or len(named)):
        players = names_of_players(rules, named, settings)
    else:
        players = names_of_players(rules, [], settings)
        if not set(named) <= set(players):
            others = [name for name in players if name not in named]
            players = names_of_players(rules, [*named, *others][: len(players)], settings)
    stranger = next((name for name in named if name not in players), None)
    if stranger is not None and rules != "none":
        raise InputError(
            f"{path}: it names a player {stranger!r}, who is not among the players {', '.join(players)}; use --players"
        )
    return players


def adjudicate_events(
    events: Sequence[Event], *, rules: str, settings: RuleSettings, table: TableSpec, players: Sequence[str] = (),
    path: Path | str = "events",
) -> list[Ruling]:  # fmt: skip
    """The rulings on these events, each with its text. Raises InputError; ``path`` is for its message."""
    names = players_of(rules, settings, players, events, path)
    try:
        referee = replayed(events, rules=rules, players=names, table=table, settings=settings)
        referee.check_overrides()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return [with_text(ruling, rules, names, table) for ruling in referee.rulings]
