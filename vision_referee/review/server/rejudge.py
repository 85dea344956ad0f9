"""Judging a match again: the same rules, settings, players and table, with what people have said since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_info import MatchInfo
from vision_referee.record.phrases import with_text
from vision_referee.rules.referee import Referee
from vision_referee.rules.settings import build_settings


def rejudge(info: MatchInfo, seen: Sequence[Event], said: Sequence[Event]) -> list[Ruling]:
    """The rulings on ``seen`` (the analysis, in time order) with ``said`` (corrections, in the order people made them).

    What was ruled on ``seen`` alone keeps its ids: people refer to rulings by the ids that they see.

    Raises:
        InputError: a correction makes no sense, or match.json's settings are unusable.
    """
    try:
        return _judged(info, seen, said)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"the rules cannot take this correction: {error}") from error


def _judged(info: MatchInfo, seen: Sequence[Event], said: Sequence[Event]) -> list[Ruling]:
    settings = build_settings(info.rules, _given(info.settings))
    referee = Referee(rules=info.rules, players=info.players, table=info.table, settings=settings)
    for event in sorted(seen, key=lambda e: e.t):
        referee.add(event)
    referee.flush()
    for event in said:
        referee.add(event)
    referee.flush()
    return [with_text(ruling, info.rules, info.players, info.table) for ruling in referee.rulings]


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """match.json lists every setting in force; those that hold nothing are left to their default."""
    return {key: value for key, value in settings.items() if value not in (None, "", {}, [], ())}
