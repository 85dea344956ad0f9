"""One match of an archive: what is to be done, whether it has been done, and how it went."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from vision_referee.pipeline.checkpoint import fingerprint_of
from vision_referee.pipeline.recorded import AnalysisRequest
from vision_referee.record.atomic_write import replace_text


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchJob:
    """``name``: the match's folder in the archive; ``request`` says where that is; ``lang``: of report and clips."""

    name: str
    request: AnalysisRequest
    lang: str = "en"

    @property
    def source(self) -> str:
        return " | ".join(str(path) for path in self.request.sources)

    def size_bytes(self) -> int:
        """Of the videos; 0 for those that are not there."""
        return sum(path.stat().st_size for path in self.request.sources if path.is_file())

    def fingerprint(self) -> str:
        """Differs when a video, a file beside it or a setting has changed: then the match is done again."""
        return fingerprint_of([self.request.stamp(), self.lang])


class Status(StrEnum):
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """How a match went, kept in the archive as ``jobs/NAME.json``. ``problem``: one line; ``wall_s``: of the attempt
    that ended it; ``at``: when (UTC); ``warnings``: what could not be made."""

    name: str
    source: str
    status: Status
    fingerprint: str
    problem: str = ""
    attempts: int = 1
    video_s: float = 0.0
    wall_s: float = 0.0
    warnings: tuple[str, ...] = ()
    host: str = field(default_factory=lambda: os.uname().nodename if hasattr(os, "uname") else "")
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


class JobBook:
    """The records of an archive."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, record: JobRecord) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_text(self._path(record.name), json.dumps(asdict(record), ensure_ascii=False) + "\n")

    def get(self, name: str) -> JobRecord | None:
        """None where there is none, or none that can be read: then the match is done again."""
        try:
            values = json.loads(self._path(name).read_text(encoding="utf-8"))
            values["status"], values["warnings"] = Status(values["status"]), tuple(values["warnings"])
            return JobRecord(**values)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def all(self) -> list[JobRecord]:
        """Every record that can be read, by name."""
        found = (self.get(path.stem) for path in sorted(self._folder.glob("*.json")))
        return [record for record in found if record is not None]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
