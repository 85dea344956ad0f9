"""Every rule id that a ruling, a setting or a test may name: the rule book's list."""

from __future__ import annotations


def _numbered(prefix: str, last: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{n}" for n in range(1, last + 1))


GENERAL = _numbered("G-", 20) + _numbered("G-20.", 16)
SMALL_RUSSIAN = _numbered("S-", 12)
RUSSIAN = _numbered("R-", 7)
MOSCOW = _numbered("M-", 8)
AMERICAN = _numbered("A-", 6)
RULE_IDS = GENERAL + SMALL_RUSSIAN + RUSSIAN + MOSCOW + AMERICAN
