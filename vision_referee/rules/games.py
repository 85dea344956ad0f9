"""The rule sets by name."""

from __future__ import annotations

from vision_referee.domain.errors import InputError
from vision_referee.rules.american import American
from vision_referee.rules.game import Game
from vision_referee.rules.moscow import Moscow
from vision_referee.rules.russian import Russian
from vision_referee.rules.settings import RULE_SETS, RuleSettings, resolved
from vision_referee.rules.small_russian import SmallRussian

_GAMES: dict[str, type[Game]] = {game.name: game for game in (SmallRussian, Russian, Moscow, American)}


def game_of(rules: str, settings: RuleSettings) -> Game | None:
    """The game of this name with its settings; None for ``none``. Raises InputError for an unknown name."""
    if rules == "none":
        return None
    if rules not in _GAMES:
        raise InputError(f"{rules}: no such rule set; choose one of {', '.join(RULE_SETS)}")
    return _GAMES[rules](settings=resolved(rules, settings))
