"""Which matches an archive is made of: files, folders, patterns and lists."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vision_referee.archive.job import MatchJob
from vision_referee.domain.errors import InputError
from vision_referee.pipeline.recorded import AnalysisRequest
from vision_referee.record.match_info import MATCH
from vision_referee.record.rule_settings import rules_in_force
from vision_referee.rules.settings import RULE_SETS, names_of_players

VIDEO_ENDINGS = frozenset(
    [".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".ts", ".mts", ".m2ts", ".mpg", ".mpeg", ".wmv", ".flv", ".3gp"]
)
COLUMNS = ("source", "name", "rules", "players", "officials", "table", "head", "calibration", "lang")
PARTS = "|"
"""Between the files of one match in a list's ``source``."""
_HEADS = ("top", "bottom", "left", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is said of every match on the command line; a list may say otherwise of one. ``players``: "A,B"."""

    rules: str
    players: str = ""
    changes: tuple[str, ...] = ()
    settings_file: Path | None = None
    officials: Path | None = None
    table: str | None = None
    head: str | None = None
    calibration: Path | None = None
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    sources: tuple[Path, ...]
    wishes: Wishes
    name: str = ""
    said_in: str = ""
    """Where it was asked for, for messages."""


def jobs_of(inputs: Sequence[str], lists: Sequence[Path], wishes: Wishes, matches: Path) -> list[MatchJob]:
    """The matches asked for, each once, in the order given; ``matches``: the folder that will hold their folders.

    ``inputs``: video files, folders (videos in them, however deep), patterns (``**`` for any depth), or ``@LIST``. A
    video that is not there is a match that will fail; it does not stop the others. ``NAME.officials.jsonl`` beside a
    video NAME is taken as what its officials said.

    Raises:
        InputError: a list cannot be read or says what makes no sense, a pattern or folder holds no video.
    """
    wanted: list[_Wanted] = []
    for text in inputs:
        wanted += _of_list(Path(text[1:]), wishes) if text.startswith("@") else _of_input(text, wishes, matches)
    for path in lists:
        wanted += _of_list(path, wishes)
    jobs: dict[tuple[Path, ...], MatchJob] = {}
    names: dict[str, str] = {}
    for one in wanted:
        job = _job(one, matches)
        key = tuple(path.absolute() for path in one.sources)
        if key not in jobs and job.name in names:
            raise InputError(f"{one.said_in or job.source}: two matches would be named {job.name}; give each its own")
        names[job.name] = job.source
        # What a list says of a match holds over a folder that holds it too.
        if key not in jobs or one.said_in:
            jobs[key] = job
    return list(jobs.values())


def _of_input(text: str, wishes: Wishes, matches: Path) -> Iterator[_Wanted]:
    path = Path(text)
    if path.is_dir():
        found = [video for video in sorted(path.rglob("*")) if _is_footage(video, path, matches)]
        if not found:
            raise InputError(f"{path}: holds no video; give a folder with videos in it")
    elif not path.exists() and any(sign in text for sign in "*?["):
        top = Path(path.anchor)
        found = sorted(match for match in top.glob(str(path.relative_to(top))) if match.is_file())
        if not found:
            raise InputError(f"{text}: no file has a name like that")
    else:
        found = [path]
    for video in found:
        yield _Wanted(sources=(video,), wishes=wishes)


def _is_footage(path: Path, root: Path, matches: Path) -> bool:
    """Whether a file is a video to be looked at: not hidden, not a clip or recording of a match folder."""
    if path.suffix.lower() not in VIDEO_ENDINGS or not path.is_file():
        return False
    inner = path.relative_to(root)
    if any(part.startswith(".") for part in inner.parts) or matches.absolute() in path.absolute().parents:
        return False
    between = [root.joinpath(*inner.parts[:k]) for k in range(len(inner.parts))]
    return not any((folder / MATCH).exists() for folder in between)


def _of_list(path: Path, wishes: Wishes) -> Iterator[_Wanted]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: the list cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the list is no text in UTF-8") from error
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    if "source" in [cell.strip() for cell in re.split("[,;\t]", first)]:
        yield from _of_table(path, text, wishes)
        return
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            sources = tuple(path.parent / part.strip() for part in line.split(PARTS))
            yield _Wanted(sources=sources, wishes=wishes)


def _of_table(path: Path, text: str, wishes: Wishes) -> Iterator[_Wanted]:
    first = next(line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    separator = max(",;\t", key=first.count)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    try:
        rows = csv.DictReader(io.StringIO("\n".join(lines)), delimiter=separator, strict=True)
        columns = [(name or "").strip() for name in rows.fieldnames or ()]
        strange = [name for name in columns if name not in COLUMNS]
        if strange:
            raise InputError(f"{path}: unknown column {strange[0]!r}; a list may have {', '.join(COLUMNS)}")
        rows.fieldnames = columns
        for number, row in enumerate(rows, start=2):
            said = {name: value.strip() for name, value in row.items() if name and isinstance(value, str)}
            if None in row or not said.get("source"):
                raise InputError(f"{path}, line {number}: {'more cells than columns' if None in row else 'no source'}")
            yield _row(path, number, said, wishes)
    except csv.Error as error:
        raise InputError(f"{path}: not a table ({error})") from error


def _row(path: Path, number: int, said: dict[str, str], wishes: Wishes) -> _Wanted:
    beside = {column: path.parent / said[column] for column in ("officials", "calibration") if said.get(column)}
    wishes = replace(
        wishes, rules=said.get("rules") or wishes.rules, players=said.get("players") or wishes.players,
        table=said.get("table") or wishes.table, head=said.get("head") or wishes.head,
        lang=said.get("lang") or wishes.lang, officials=beside.get("officials", wishes.officials),
        calibration=beside.get("calibration", wishes.calibration),
    )  # fmt: skip
    if said.get("name") and not re.fullmatch(r"[\w][\w .-]{0,80}", said["name"]):
        raise InputError(f"{path}, line {number}: {said['name']!r} is no name for a match folder")
    return _Wanted(
        sources=tuple(path.parent / part.strip() for part in said["source"].split(PARTS)), wishes=wishes,
        name=said.get("name", "").strip(), said_in=f"{path}, line {number}",
    )  # fmt: skip


def _job(one: _Wanted, matches: Path) -> MatchJob:
    wishes = one.wishes
    try:
        if wishes.rules not in RULE_SETS:
            raise InputError(f"rules {wishes.rules!r} is not one of {', '.join(RULE_SETS)}")
        if wishes.head is not None and wishes.head not in _HEADS:
            raise InputError(f"head {wishes.head!r} is not one of {', '.join(_HEADS)}")
        if wishes.lang not in ("en", "ru"):
            raise InputError(f"lang {wishes.lang!r} is not en or ru")
        settings = rules_in_force(wishes.rules, wishes.changes, wishes.settings_file)
        players = names_of_players(wishes.rules, wishes.players.split(",") if wishes.players else [], settings)
    except InputError as error:
        raise InputError(f"{one.said_in}: {error}" if one.said_in else str(error)) from None
    name = one.name or name_of(one.sources)
    return MatchJob(
        name=name, lang=wishes.lang,
        request=AnalysisRequest(
            sources=one.sources, rules=wishes.rules, out=matches / name, players=players, settings=settings,
            calibration=wishes.calibration, officials=wishes.officials or _officials_beside(one.sources),
            table=wishes.table, head=wishes.head,
        ),
    )  # fmt: skip


def _officials_beside(sources: Sequence[Path]) -> Path | None:
    beside = sources[0].with_suffix(".officials.jsonl")
    return beside if beside.is_file() else None


def name_of(sources: Sequence[Path]) -> str:
    """A folder's name for a match: the video's, and a mark of where it lies, so that it stays whatever else comes."""
    where = PARTS.join(str(path.absolute()) for path in sources)
    stem = re.sub(r"[^\w.-]+", "-", sources[0].stem).strip("-.")[:60] or "match"
    return f"{stem}-{hashlib.sha256(where.encode()).hexdigest()[:8]}"
