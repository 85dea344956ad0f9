"""What one look at the machine found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    """Something is missing that some work needs."""
    FAIL = "fail"
    """Recorded matches cannot be refereed here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``name``: what was looked at; ``text``: what is so and, where it is not well, what to do."""

    name: str
    level: Level
    text: str


def ok(name: str, text: str) -> Finding:
    return Finding(name=name, level=Level.OK, text=text)


def warn(name: str, text: str) -> Finding:
    return Finding(name=name, level=Level.WARN, text=text)


def fail(name: str, text: str) -> Finding:
    return Finding(name=name, level=Level.FAIL, text=text)
