"""The rulings that follow from a clip's true events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vision_referee.domain.events import Event
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.scene_file import Scene


def write_true_rulings(truth: Path, scene: Scene, table: TableSpec, events: Sequence[Event]) -> None:
    """Adjudicate the true events by the scene's rules into rulings.jsonl (none for rules `none`)."""
