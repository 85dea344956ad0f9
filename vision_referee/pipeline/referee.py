"""The referee at the end of the line: events in, rulings with their words out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import TableSpec
from vision_referee.record.phrases import with_text
from vision_referee.rules.referee import Referee
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.state import GameState


class LineReferee:
    """Wraps the rules' referee for the line: a batch of events at a time."""

    def __init__(self, rules: str, players: Sequence[str], table: TableSpec, settings: RuleSettings) -> None:
        self._rules, self._players, self._table = rules, tuple(players), table
        self._referee = Referee(rules=rules, players=players, table=table, settings=settings)

    def push(self, events: Iterable[Event]) -> list[Ruling]:
        """The rulings that these events make new or change, the last word on each."""
        changed: dict[int, Ruling] = {}
        for event in events:
            for ruling in self._referee.push(event):
                changed[ruling.id] = ruling
        return [self._worded(ruling) for ruling in changed.values()]

    @property
    def rulings(self) -> list[Ruling]:
        """Every ruling as it stands now."""
        return [self._worded(ruling) for ruling in self._referee.rulings]

    @property
    def state(self) -> GameState | None:
        """The state of the match after all that can be ruled on now; None where no rules are asked for."""
        return self._referee.state

    def flush(self) -> list[Ruling]:
        """No more events will come."""
        return [self._worded(ruling) for ruling in self._referee.flush()]

    def _worded(self, ruling: Ruling) -> Ruling:
        return with_text(ruling, self._rules, self._players, self._table)
