"""A phrase book: one language's words by section and key."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "ru")


@dataclass(frozen=True, slots=True)
class PhraseBook:
    """The words of one language."""

    language: str
    sections: dict[str, dict[str, Any]]

    def __call__(self, section: str, key: str, /, **values: object) -> str:
        """A phrase with its gaps filled. Raises KeyError for a phrase that the book lacks."""
        return str(self.sections[section][key]).format(**values)

    def has(self, section: str, key: str) -> bool:
        return key in self.sections[section]

    def decimal(self, number: str) -> str:
        """A number with the language's decimal sign; other texts stay."""
        is_number = number.replace(".", "", 1).isdigit()
        return number.replace(".", ",") if self.language == "ru" and is_number else number

    def counted(self, number: int, key: str) -> str:
        """A number and its noun in the form that goes with it: 1 очко, 2 очка, 5 очков."""
        forms = self.sections["plural"][key]
        return f"{number} {forms[self._form(abs(number))]}"

    def _form(self, number: int) -> int:
        if self.language != "ru":
            return 0 if number == 1 else 1
        if number % 100 in range(11, 15):
            return 2
        return 0 if number % 10 == 1 else 1 if number % 10 in (2, 3, 4) else 2

    def ball(self, label: str) -> str:
        if label == "cue":
            return self("ball", "cue")
        if label.isdigit():
            return self("ball", "numbered", number=label)
        return self("ball", "unknown", label=label)


@lru_cache(maxsize=len(LANGUAGES))
def phrase_book(language: str) -> PhraseBook:
    """The book of ``en`` or ``ru``."""
    text = (files("vision_referee.record.phrases") / f"{language}.toml").read_text(encoding="utf-8")
    return PhraseBook(language=language, sections=tomllib.loads(text))
