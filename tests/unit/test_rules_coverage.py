"""Every id of the rule book has a test on both sides of its edge: where the rule is broken (or bites) and where not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scenarios.scenario_files import shared_folder
from vision_referee.rules.ids import RULE_IDS
from vision_referee.rules.settings import SETTINGS

_MARK = re.compile(r"mark\.rule\(\s*\"([^\"]+)\",\s*broken=(True|False)")


def _marked() -> set[tuple[str, bool]]:
    files = Path(__file__).parent.glob("test_rules_*.py")
    return {(rule, side == "True") for file in files for rule, side in _MARK.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("side", [True, False], ids=["broken", "kept"])
def test_no_id_lacks_a_test(side: bool) -> None:
    assert [rule for rule in RULE_IDS if (rule, side) not in _marked()] == []


def test_no_test_names_an_id_that_is_not_in_the_book() -> None:
    assert {rule for rule, _ in _marked()} <= set(RULE_IDS)
    assert {setting.rule for setting in SETTINGS} <= set(RULE_IDS)


@pytest.mark.skipif(not shared_folder().is_dir(), reason="the rule book's list is not beside this checkout")
def test_the_list_of_ids_is_the_rule_books() -> None:
    text = (shared_folder().parent / "design" / "RULES.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| ([GSRMA]-[\d.]+) \|", text, re.MULTILINE)) == set(RULE_IDS)
