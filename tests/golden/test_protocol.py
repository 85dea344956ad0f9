"""A whole small-russian match typed in by hand reads like a referee's protocol, word for word.

The texts are renewed with ``VISION_REFEREE_RENEW=1 pytest tests/golden``; read what has changed before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vision_referee.calibration.tables import load_table
from vision_referee.record.adjudication import adjudicate_events, load_events
from vision_referee.record.phrases import LANGUAGES
from vision_referee.record.rule_settings import rules_in_force

HERE = Path(__file__).parent
PLAYERS = ("Сомов", "Юрьев")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_protocol_of_a_match(language: str) -> None:
    path = HERE / "small_russian_match.jsonl"
    rulings = adjudicate_events(
        load_events(path), rules="small-russian", settings=rules_in_force("small-russian", [], None),
        table=load_table("pyramid-12ft"), players=PLAYERS, path=path,
    )  # fmt: skip
    protocol = "".join(f"{ruling.id}. {ruling.text[language]}\n" for ruling in rulings)
    kept = HERE / f"small_russian_protocol_{language}.txt"
    if os.environ.get("VISION_REFEREE_RENEW"):
        kept.write_text(protocol, encoding="utf-8")
    assert protocol == kept.read_text(encoding="utf-8")
    assert not any(ruling.review for ruling in rulings) and rulings[-1].winner == "Сомов"
