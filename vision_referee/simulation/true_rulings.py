"""The rulings that follow from a clip's true events."""

from __future__ import annotations

from pathlib import Path

from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import TableSpec
from vision_referee.record.adjudication import adjudicate_events, load_events
from vision_referee.record.rulings_jsonl import write_rulings
from vision_referee.rules.settings import build_settings
from vision_referee.simulation.scene_file import Scene


def write_true_rulings(truth: Path, scene: Scene, table: TableSpec) -> list[Ruling]:
    """Adjudicate the events of a truth folder by the scene's rules into its rulings.jsonl (none for rules `none`)."""
    if scene.rules == "none":
        (truth / "rulings.jsonl").unlink(missing_ok=True)
        return []
    path = truth / "events.jsonl"
    settings = build_settings(scene.rules, {str(k): v for k, v in scene.settings.items()})
    rulings = adjudicate_events(
        load_events(path), rules=scene.rules, settings=settings, table=table, players=scene.players, path=path
    )
    write_rulings(truth / "rulings.jsonl", rulings)
    return rulings
