"""The words of a ruling, as a referee would announce it, in English and Russian."""

from __future__ import annotations

from collections.abc import Sequence

from vision_referee.domain.rulings import Ruling


def with_text(ruling: Ruling, rules: str, players: Sequence[str]) -> Ruling:
    return ruling
