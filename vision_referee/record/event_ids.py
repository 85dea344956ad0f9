"""The ids of a match's events: each event's place among all that were given, unless it came with one of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from vision_referee.domain.events import Event


@dataclass(slots=True)
class EventIds:
    """Gives ids; ``next_id`` is the one that the next event without an id gets."""

    next_id: int = 1

    def given(self, events: Iterable[Event]) -> list[Event]:
        """The events, each with an id."""
        numbered: list[Event] = []
        for event in events:
            if event.id is None:
                event = replace(event, id=self.next_id)
            self.next_id = max(self.next_id, event.id or 0) + 1
            numbered.append(event)
        return numbered

    def reserve(self, count: int) -> int:
        """The first of ``count`` ids that no other event will get."""
        first, self.next_id = self.next_id, self.next_id + count
        return first
