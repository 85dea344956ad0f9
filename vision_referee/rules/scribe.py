"""Ids of rulings, kept for as long as the event that gave rise to the ruling stands, and what officials replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vision_referee.domain.events import Event
from vision_referee.rules.correction import NONE, Correction


@dataclass(slots=True)
class Scribe:
    """Gives a ruling its id: the same one however often it is issued anew."""

    ids: dict[tuple[str, int], int] = field(default_factory=dict)
    fixes: Mapping[int, Correction] = field(default_factory=dict)

    def id_of(self, kind: str, event: Event) -> int:
        """The id for what this event began; ``kind`` keeps two rulings from one event apart."""
        key = (kind, event.id or 0)
        if key not in self.ids:
            self.ids[key] = len(self.ids) + 1
        return self.ids[key]

    def fix_of(self, ruling_id: int) -> Correction:
        return self.fixes.get(ruling_id, NONE)
