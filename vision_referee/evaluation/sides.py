"""The two sides of a comparison, read from files: a match folder, and the truth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vision_referee.calibration.calibration import Calibration, calibration_from_json
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.evaluation.track_table import TrackTable, read_tracks
from vision_referee.record.events_jsonl import read_event_lines
from vision_referee.record.rulings_jsonl import read_rulings

_TRACKS = ("tracks.parquet", "tracks.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one side holds; a part that has no file is None (a file that is empty is an empty part)."""

    name: str
    path: Path
    events: tuple[Event, ...] | None = None
    tracks: TrackTable | None = None
    rulings: tuple[Ruling, ...] | None = None
    rules: str | None = None
    players: tuple[str, ...] = ()
    ball_diameter_mm: float | None = None
    table_size_mm: tuple[float, float] | None = None
    videos: tuple[tuple[Path, float], ...] = ()
    """Source files and the match times of their first frames."""
    calibration: Calibration | None = None


def read_match(folder: Path) -> Side:
    """A match folder as ``analyze`` writes it.

    Raises:
        InputError: it is no folder, or lacks tracks or events, or one of them cannot be read.
    """
    if not folder.exists():
        raise InputError(f"{folder}: no such match folder; give one that `analyze` has made")
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; give the match folder first and the truth second")
    side = _read_folder(folder)
    if side.tracks is None or side.events is None:
        lacking = "tracks.parquet" if side.tracks is None else "events.jsonl"
        raise InputError(f"{folder}: not a whole match folder (it has no {lacking}); analyse the match again")
    return side


def read_truth(path: Path) -> Side:
    """A truth folder, or one file: events (JSONL) or tracks (CSV or Parquet).

    Raises:
        InputError: nothing there, nothing in it to compare with, or a file that cannot be read.
    """
    if not path.exists():
        raise InputError(f"{path}: no such truth; give a folder with events.jsonl and tracks, or one of these files")
    if path.is_dir():
        side = _read_folder(path)
        if side.tracks is None and side.events is None:
            raise InputError(
                f"{path}: holds neither events.jsonl nor tracks.parquet or tracks.csv; nothing to compare with"
            )
        return side
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return Side(name=path.stem, path=path, events=_events(path))
    return Side(name=path.stem, path=path, tracks=read_tracks(path))


def _read_folder(folder: Path) -> Side:
    tracks = next((folder / name for name in _TRACKS if (folder / name).exists()), None)
    events, rulings = folder / "events.jsonl", folder / "rulings.jsonl"
    match = _match_json(folder / "match.json")
    table = match.get("table")
    table = table if isinstance(table, dict) else {}
    length, width = table.get("length_mm"), table.get("width_mm")
    size = (float(length), float(width)) if isinstance(length, int | float) and isinstance(width, int | float) else None
    diameter = table.get("ball_diameter_mm")
    players = match.get("players")
    rules = match.get("rules")
    return Side(
        name=folder.name.removesuffix(".truth"),
        path=folder,
        events=_events(events) if events.exists() else None,
        tracks=read_tracks(tracks) if tracks is not None else None,
        rulings=_rulings(rulings) if rulings.exists() else None,
        rules=rules if isinstance(rules, str) else None,
        players=tuple(str(p) for p in players) if isinstance(players, list) else (),
        ball_diameter_mm=float(diameter) if isinstance(diameter, int | float) and diameter > 0 else None,
        table_size_mm=size,
        videos=_videos(match, folder),
        calibration=_calibration(match, folder),
    )


def _videos(match: dict[str, Any], folder: Path) -> tuple[tuple[Path, float], ...]:
    source = match.get("source")
    files = source.get("files") if isinstance(source, dict) else None
    return tuple(
        (folder / str(file["path"]), float(file.get("t_offset_s", 0.0)))
        for file in (files if isinstance(files, list) else [])
        if isinstance(file, dict) and "path" in file
    )


def _calibration(match: dict[str, Any], folder: Path) -> Calibration | None:
    """Only pictures of errors need it: a folder without one, or with one of another make, is scored all the same."""
    beside = folder / "calibration.json"
    data = match.get("calibration") or (_match_json(beside) if beside.exists() else None)
    if not isinstance(data, dict):
        return None
    try:
        return calibration_from_json(data, str(folder / "match.json"))
    except InputError:
        return None


def _events(path: Path) -> tuple[Event, ...]:
    """Events as they stand: that some contradict others (a ball pocketed twice) is an error to count, not to refuse."""
    return tuple(line.event for line in read_event_lines(path)) if _has_text(path) else ()


def _rulings(path: Path) -> tuple[Ruling, ...]:
    """The last word on each ruling: one issued anew takes its first's place."""
    latest: dict[int, Ruling] = {}
    for ruling in read_rulings(path) if _has_text(path) else ():
        latest[ruling.id] = ruling
    return tuple(latest.values())


def _has_text(path: Path) -> bool:
    try:
        return bool(path.read_bytes().strip())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check its permissions") from error


def _match_json(path: Path) -> dict[str, Any]:
    """match.json, or nothing: a truth made by hand has none."""
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error}); mend or remove it") from error
    return data if isinstance(data, dict) else {}
