"""Every rule scenario, ours and those given, through the code path of ``vision-referee adjudicate``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.scenario_files import HERE, Json, Scenario, disagreement, events_text, load, shared_folder
from vision_referee.calibration.tables import load_table
from vision_referee.domain.errors import InputError
from vision_referee.record.adjudication import adjudicate_events, load_events
from vision_referee.record.rule_settings import rules_in_force
from vision_referee.record.rulings_jsonl import ruling_to_json

OURS = load(HERE / "data")
GIVEN = load(shared_folder()) if shared_folder().is_dir() else []


def _changes(scenario: Scenario) -> list[str]:
    settings = scenario.values.get("settings", {})
    return [f"{key}={str(v).lower() if isinstance(v, bool) else v}" for key, v in settings.items()]


def _judged(scenario: Scenario, text: str, folder: Path) -> list[Json]:
    path = folder / "events.jsonl"
    if not ("file" in scenario.values and scenario.values["file"] is None):
        path.write_text(text, encoding="utf-8")
    rules = scenario.values["rules"]
    settings = rules_in_force(rules, _changes(scenario), None)
    rulings = adjudicate_events(
        load_events(path),
        rules=rules,
        settings=settings,
        table=load_table(scenario.values.get("table", "pyramid-12ft")),
        players=scenario.players,
        path=path,
    )
    return [ruling_to_json(ruling) for ruling in rulings]


def _without_corrections(scenario: Scenario) -> Scenario:
    events = [event for event in scenario.values["events"] if event["type"] != "override"]
    return Scenario(id=scenario.id, values={**scenario.values, "events": events}, file=scenario.file)


def _named_rulings(rulings: list[Json]) -> dict[str, int]:
    names: dict[str, int] = {}
    counts: dict[str, int] = {}
    for ruling in rulings:
        counts[ruling["kind"]] = counts.get(ruling["kind"], 0) + 1
        names[f"{ruling['kind']} {counts[ruling['kind']]}"] = ruling["id"]
    return names


def check(scenario: Scenario, folder: Path) -> None:
    if "error" in scenario.values:
        with pytest.raises(InputError) as caught:
            _judged(scenario, events_text(scenario), folder)
        message = str(caught.value)
        assert "events.jsonl" in message and "\n" not in message
        if "line" in scenario.values["error"]:
            assert f"line {scenario.values['error']['line']}" in message
        return
    names = _named_rulings(_judged(scenario, events_text(_without_corrections(scenario)), folder))
    rulings = _judged(scenario, events_text(scenario, names), folder)
    wrong = disagreement(scenario, rulings)
    assert wrong is None, f"{scenario.values.get('title', '')}: {wrong}"
    for ruling in rulings:
        assert ruling["text"]["en"] and ruling["text"]["ru"]
        assert (ruling["next"] is None) or not ruling["game_over"]


@pytest.mark.parametrize("scenario", OURS, ids=lambda s: s.id)
def test_our_scenario(scenario: Scenario, tmp_path: Path) -> None:
    check(scenario, tmp_path)


@pytest.mark.skipif(not GIVEN, reason="the folder shared/scenarios is not beside this checkout")
@pytest.mark.parametrize("scenario", GIVEN, ids=lambda s: s.id)
def test_given_scenario(scenario: Scenario, tmp_path: Path) -> None:
    check(scenario, tmp_path)
