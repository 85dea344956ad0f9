"""What the officials wrote down beforehand or beside the table, merged with what vision sees, in time order."""

from __future__ import annotations

from collections.abc import Sequence

from vision_referee.domain.events import Event


class OfficialLines:
    """Official events waiting for their time."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._waiting = sorted(events, key=lambda e: e.t)

    def merged(self, seen: Sequence[Event]) -> list[Event]:
        """``seen`` with every waiting official event up to the last of them in its place (before one of equal time)."""
        if not seen:
            return []
        until = max(event.t for event in seen)
        due = [event for event in self._waiting if event.t <= until]
        self._waiting = self._waiting[len(due) :]
        keyed = [(event.t, 0, event) for event in due] + [(event.t, 1, event) for event in seen]
        return [event for _, _, event in sorted(keyed, key=lambda k: k[:2])]

    def rest(self) -> list[Event]:
        """Everything that is still waiting."""
        left, self._waiting = self._waiting, []
        return left
