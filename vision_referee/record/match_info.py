"""match.json: what the match was made from, by which rules, with which software, and how it ended."""

from __future__ import annotations

import json
import platform
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.domain.table import TableSpec
from vision_referee.record.atomic_write import replace_text
from vision_referee.record.frame_times import FrameTimes
from vision_referee.version import __version__

MATCH = "match.json"
FORMAT = 1

COMPLETE = "complete"
RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A video file of the match; its first frame is frame ``first_frame`` of the match, at ``t_offset_s``."""

    path: str
    t_offset_s: float = 0.0
    first_frame: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchInfo:
    """Everything in match.json.

    ``calibration`` is the calibration's own JSON (camera and residual in mm included) or None; ``table_reason`` says
    why this table; ``settings`` are the rule set's settings in force; ``models`` names each network and its version;
    ``score`` and ``winner`` are those of the last ruling.
    """

    files: tuple[SourceFile, ...]
    width: int
    height: int
    frame_times: FrameTimes
    table: TableSpec
    table_reason: str
    calibration: dict[str, Any] | None
    rules: str
    settings: dict[str, Any] = field(default_factory=dict)
    players: tuple[str, ...] = ("A", "B")
    models: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    score: dict[str, int] = field(default_factory=dict)
    winner: str | None = None
    lang: str = "en"
    """The language of clips and report."""
    status: str = COMPLETE
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    software: dict[str, str] = field(
        default_factory=lambda: {"vision_referee": __version__, "python": platform.python_version()}
    )
    recalibrated: tuple[dict[str, Any], ...] = ()
    """Where the camera was moved: ``{"t": seconds, "calibration": {...}}``, in time order."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further top-level fields, kept as they are."""

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "status": self.status,
            "id": self.id,
            "created": self.created,
            "source": {
                "files": [
                    {"path": f.path, "t_offset_s": f.t_offset_s, "first_frame": f.first_frame} for f in self.files
                ],
                "width": self.width,
                "height": self.height,
            },
            "frame_times": self.frame_times.to_json(),
            "table": {**table_to_json(self.table), "reason": self.table_reason},
            "calibration": self.calibration,
            "recalibrated": list(self.recalibrated),
            "rules": self.rules,
            "settings": self.settings,
            "players": list(self.players),
            "software": self.software,
            "models": self.models,
            "lang": self.lang,
            "warnings": list(self.warnings),
            "score": self.score,
            "winner": self.winner,
            **self.extra,
        }


def table_to_json(table: TableSpec) -> dict[str, Any]:
    return {name: getattr(table, name) for name in TableSpec.__dataclass_fields__}


def _table_from_json(data: dict[str, Any]) -> TableSpec:
    return TableSpec(**{name: data[name] for name in TableSpec.__dataclass_fields__ if name in data})


_KNOWN = frozenset(
    {"format", "status", "id", "created", "source", "frame_times", "table", "calibration", "recalibrated", "rules"}
    | {"settings", "players", "software", "models", "lang", "warnings", "score", "winner"}
)


def match_info_from_json(data: dict[str, Any]) -> MatchInfo:
    """The reverse of :meth:`MatchInfo.to_json`. KeyError, TypeError or ValueError where the data is not that."""
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']} is not known")
    source = data["source"]
    return MatchInfo(
        files=tuple(SourceFile(**f) for f in source["files"]),
        width=int(source["width"]),
        height=int(source["height"]),
        frame_times=FrameTimes.from_json(data["frame_times"]),
        table=_table_from_json(data["table"]),
        table_reason=str(data["table"].get("reason", "")),
        calibration=data["calibration"],
        recalibrated=tuple(data.get("recalibrated", ())),
        rules=str(data["rules"]),
        settings=dict(data["settings"]),
        players=tuple(data["players"]),
        models=dict(data["models"]),
        warnings=tuple(data["warnings"]),
        score=dict(data["score"]),
        winner=data["winner"],
        lang=str(data.get("lang", "en")),
        status=str(data["status"]),
        id=str(data["id"]),
        created=str(data["created"]),
        software=dict(data["software"]),
        extra={key: value for key, value in data.items() if key not in _KNOWN},
    )


def write_match_info(folder: Path, info: MatchInfo) -> None:
    """Replace match.json in one step."""
    replace_text(folder / MATCH, json.dumps(info.to_json(), ensure_ascii=False, indent=1) + "\n")


def read_match_info(folder: Path) -> MatchInfo:
    """match.json of a match folder.

    Raises:
        InputError: it is missing or is not one.
    """
    path = folder / MATCH
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return match_info_from_json(data)
    except FileNotFoundError:
        raise InputError(f"{folder}: not a match folder (no {MATCH} in it); give one that `analyze` has made") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); check its permissions") from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: not a match record ({reason}); analyse the match again") from error
