"""The words of a ruling, as a referee would announce it, in English and Russian (en.toml, ru.toml)."""

from __future__ import annotations

from vision_referee.record.phrases.announce import CalledShot, announce, called, with_text
from vision_referee.record.phrases.book import LANGUAGES, PhraseBook, phrase_book

__all__ = ["LANGUAGES", "CalledShot", "PhraseBook", "announce", "called", "phrase_book", "with_text"]
