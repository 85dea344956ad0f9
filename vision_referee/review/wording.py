"""The words that people read in clips, report and browser app, in the languages of ``texts/``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from vision_referee.domain.errors import InputError

LANGUAGES = ("en", "ru")
_TEXTS = Path(__file__).parent / "texts"


class Wording:
    """One language's words: ``words("report.title", name="…")``."""

    def __init__(self, lang: str, texts: dict[str, str]) -> None:
        self.lang = lang
        self._texts = texts

    def __call__(self, key: str, /, **values: object) -> str:
        """The text of ``key`` with its ``{names}`` filled in. KeyError when there is no such text."""
        text = self._texts[key]
        return text.format(**values) if values else text

    def get(self, key: str, default: str) -> str:
        return self._texts.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def keys(self) -> set[str]:
        return set(self._texts)

    def group(self, name: str) -> dict[str, str]:
        """The texts below ``name.``, by their last part, for a page's script."""
        return {key[len(name) + 1 :]: text for key, text in self._texts.items() if key.startswith(f"{name}.")}

    def ball(self, label: str) -> str:
        """``cue`` in words; numbers as they are; ``u3`` as an unknown ball."""
        if label == "cue":
            return self("ball.cue")
        return self("ball.unknown", label=label) if label.startswith("u") else label

    def balls(self, labels: Iterable[str]) -> str:
        return ", ".join(self.ball(label) for label in labels)

    def clock(self, t_s: float) -> str:
        """Minutes and seconds, with hours when there are any: 1:02:03.4."""
        tenths = round(max(0.0, t_s) * 10)
        hours, rest = divmod(tenths, 36000)
        minutes, rest = divmod(rest, 600)
        seconds = f"{rest // 10:02d}.{rest % 10}"
        return f"{hours}:{minutes:02d}:{seconds}" if hours else f"{minutes}:{seconds}"


@lru_cache
def wording(lang: str) -> Wording:
    """Raises InputError for a language that is not there."""
    if lang not in LANGUAGES:
        raise InputError(f"language '{lang}' is not known; choose one of {', '.join(LANGUAGES)}")
    texts = dict(_flat(_toml(f"{lang}.toml"), ""))
    rulebook = {f"rule.{rule}": str(text) for rule, text in _toml(f"rulebook_{lang}.toml").items()}
    return Wording(lang, texts | rulebook)


def _toml(name: str) -> dict[str, object]:
    return tomllib.loads((_TEXTS / name).read_text(encoding="utf-8"))


def _flat(data: dict[str, object], prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
