"""Which rulings a person wants to see: by kind, player and what stands out. Kept in the address: it can be shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends

from vision_referee.domain.rulings import Ruling
from vision_referee.review.report import tone

ONLY = ("all", "noted", "doubts", "fouls", "restored", "decided")
"""What ``only`` may be; anything else shows all. ``noted``: fouls, restorations and doubts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    kind: str = ""
    player: str = ""
    only: str = "all"

    @property
    def query(self) -> str:
        """For an address, with its question mark; empty where everything is shown."""
        given = [(name, value) for name, value in (("kind", self.kind), ("player", self.player)) if value]
        given += [("only", self.only)] if self.only in ONLY[1:] else []
        return f"?{urlencode(given)}" if given else ""

    def wants(self, ruling: Ruling) -> bool:
        if (self.kind and ruling.kind.value != self.kind) or (self.player and ruling.player != self.player):
            return False
        match self.only:
            case "noted":
                return bool(tone(ruling))
            case "doubts":
                return ruling.review
            case "fouls":
                return bool(ruling.fouls)
            case "restored":
                return bool(ruling.restored)
            case "decided":
                return ruling.overridden
            case _:
                return True

    def neighbours(self, rulings: Sequence[Ruling], ruling_id: int) -> tuple[int | None, int | None]:
        """The ids of the wanted rulings before and after one that may itself be wanted no more (it was decided)."""
        at = next(k for k, ruling in enumerate(rulings) if ruling.id == ruling_id)
        before = next((r.id for r in reversed(rulings[:at]) if self.wants(r)), None)
        return before, next((r.id for r in rulings[at + 1 :] if self.wants(r)), None)


def asked_filter(kind: str = "", player: str = "", only: str = "all") -> Filter:
    return Filter(kind=kind, player=player, only=only)


AskedFilter = Annotated[Filter, Depends(asked_filter)]
