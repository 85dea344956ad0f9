"""A match folder, written as the match goes and read back (CONTRACT: A match folder).

Recorded work (``analyze``) is written in a hidden sibling ``.NAME.part`` and renamed to NAME by ``publish``, so a
failed or killed analysis leaves no folder that looks whole; from a ``FolderMark`` it can be written on. Live work
(``watch``) is written in place, match.json saying ``"status": "running"`` until the end, so that the browser app can
read the match while it is played.
Events and rulings are on the disk (fsync) when the call that gave a ruling returns. A ruling issued anew is one more
line while the match runs; readers take the last of an id, and ``finish`` leaves one line an id.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from vision_referee.domain.errors import InputError, RecordStopped
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.being_watched import WatchMark, is_watched
from vision_referee.record.event_ids import EventIds
from vision_referee.record.events_jsonl import event_from_json, event_lines, write_events
from vision_referee.record.line_file import LineFile
from vision_referee.record.match_info import COMPLETE, MATCH, MatchInfo, read_match_info, write_match_info
from vision_referee.record.rulings_jsonl import read_rulings, ruling_line, write_rulings
from vision_referee.record.tracks_parquet import PARTS, TRACKS, TracksWriter, read_tracks
from vision_referee.tracking.tracks import TrackRow

EVENTS = "events.jsonl"
RULINGS = "rulings.jsonl"
CLIPS = "clips"
RESTORE = "restore"
REPORT = "report.html"
CHECKPOINT = "checkpoint"
"""Where the stages stood (``pipeline.checkpoint``); not in a finished folder."""

_OURS = frozenset({MATCH, TRACKS, PARTS, EVENTS, RULINGS, CLIPS, RESTORE, REPORT, CHECKPOINT})


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMark:
    """How far a folder was written: what lies behind that is forgotten when it is written on.

    ``all_told``: nothing will be added, only ``finish`` is due (it may have begun).
    """

    events_bytes: int
    rulings_bytes: int
    track_parts: int
    next_event_id: int
    last_t_s: float
    out_of_order: bool
    all_told: bool = False


class MatchFolderWriter:
    """Writes one match. A context manager: leaving it by an error before ``publish`` removes what was written.

    ``folder`` is where the files are now; ``out`` is where the match will be. What the disk refuses ends a recorded
    match (RecordStopped); a live one goes on, says so in ``failure``, and writes it as soon as the disk takes it.
    """

    def __init__(self, out: Path, *, live: bool = False, after: FolderMark | None = None) -> None:
        """Begin a match folder, or with ``after`` write on where one was left.

        Raises:
            InputError: ``out`` is a file, a folder with other things in it, or cannot be written; or what was left is
                not there any more.
        """
        self.out = out.absolute()
        self.live = live
        self.folder = self.out if live else part_of(self.out)
        self.failure: str | None = None
        self._published = False
        self._last_t_s = after.last_t_s if after else float("-inf")
        self._out_of_order = after.out_of_order if after else False
        self._ids = EventIds(next_id=after.next_event_id) if after else EventIds()
        _refuse_other_folder(self.out)
        if is_watched(self.folder):
            raise InputError(f"{out}: another program is writing this match now; wait for it, or give another --out")
        self._held: WatchMark | None = None
        try:
            if after is None:
                self._clear()
            self.folder.mkdir(exist_ok=True)
            self._held = WatchMark(self.folder) if not live else None
            self._tracks = TracksWriter(self.folder, parts=after.track_parts if after else 0)
            self._events = self._lines(EVENTS, after, after.events_bytes if after else 0)
            self._rulings = self._lines(RULINGS, after, after.rulings_bytes if after else 0)
        except OSError as error:
            self._release()
            raise InputError(f"{out}: cannot be written ({error.strerror or error}); give another --out") from error
        except InputError:
            self._release()
            raise

    def _clear(self) -> None:
        self.out.parent.mkdir(parents=True, exist_ok=True)
        if self.live:
            _clear_match(self.out)
        elif self.folder.exists():
            shutil.rmtree(self.folder)

    def _lines(self, name: str, after: FolderMark | None, size: int) -> LineFile:
        path = self.folder / name
        there = path.stat().st_size if path.exists() else 0
        if after is not None and there < size:
            raise InputError(f"{path}: is shorter than it was; begin the match anew (without --resume)")
        return LineFile(path, size=there if after is not None and after.all_told else size)

    def add_rows(self, rows: Iterable[TrackRow]) -> None:
        self._on_disk(lambda: self._tracks.add(rows))

    def add_events(self, events: Iterable[Event]) -> list[Event]:
        """Append events; each gets an id (its place in the file) unless it has one. Returned as written."""
        written = self._ids.given(events)
        for event in written:
            self._out_of_order |= event.t < self._last_t_s
            self._last_t_s = max(self._last_t_s, event.t)
        self._on_disk(lambda: self._events.write(event_lines(written)))
        return written

    def reserve_event_ids(self, count: int) -> int:
        """The first of ``count`` ids that no other event will get."""
        return self._ids.reserve(count)

    def rewrite(self, events: Iterable[Event], rulings: Iterable[Ruling]) -> None:
        """Put all events and rulings anew, each file in one step: something was withdrawn."""
        self._events.abandon()
        self._rulings.abandon()
        self._on_disk(
            lambda: write_events(self.folder / EVENTS, events), lambda: write_rulings(self.folder / RULINGS, rulings)
        )
        self._events, self._rulings = (
            LineFile(self.folder / name, size=(self.folder / name).stat().st_size) for name in (EVENTS, RULINGS)
        )

    def start_again(self, events: Iterable[Event]) -> None:
        """A live match set up anew before its first stroke: forget tracks, rulings and all other events."""
        self._tracks.forget()
        self.rewrite(events, ())

    def abandon(self) -> None:
        """A live match that never began: remove what was written, and the folder if nothing else is in it."""
        self._events.abandon()
        self._rulings.abandon()
        _clear_match(self.folder)
        with suppress(OSError):
            self.folder.rmdir()

    def add_ruling(self, ruling: Ruling) -> None:
        """Append a ruling, new or issued anew; it and every event before it are on the disk when this returns."""
        self._rulings.hold(ruling_line(ruling) + "\n")
        self._on_disk(self._events.settle, self._rulings.settle)
        if self.live:
            self._on_disk(self._tracks.flush)

    def write_info(self, info: MatchInfo) -> None:
        """Write match.json as it is now (a live match: with ``status="running"``)."""
        self._on_disk(lambda: write_match_info(self.folder, info))

    def mark(self, *, all_told: bool = False) -> FolderMark:
        """Everything given so far is on the disk, and this is how far that is."""
        self._on_disk(self._tracks.flush, self._events.settle, self._rulings.settle)
        return FolderMark(
            events_bytes=self._events.size, rulings_bytes=self._rulings.size, track_parts=self._tracks.parts,
            next_event_id=self._ids.next_id, last_t_s=self._last_t_s, out_of_order=self._out_of_order,
            all_told=all_told,
        )  # fmt: skip

    def finish(self, info: MatchInfo) -> Path:
        """Close the files: tracks joined, events in time order, one line a ruling, match.json last. Returns ``folder``.

        ``score`` and ``winner`` of match.json are taken from the last ruling. Broken off at any moment, it can be done
        again. Raises RecordStopped, for a live match too.
        """
        try:
            self._tracks.join()
            self._events.close()
            self._rulings.close()
            if self._out_of_order:
                write_events(self.folder / EVENTS, sorted(read_match_events(self.folder), key=lambda e: e.t))
            rulings = read_rulings_latest(self.folder)
            write_rulings(self.folder / RULINGS, rulings)
            if rulings:
                info = replace(info, score=dict(rulings[-1].score), winner=rulings[-1].winner)
            write_match_info(self.folder, replace(info, status=COMPLETE))
            self._tracks.drop_parts()
            self._release()
            (self.folder / CHECKPOINT).unlink(missing_ok=True)
        except OSError as error:
            raise self._stopped(error) from error
        return self.folder

    def publish(self) -> Path:
        """Give the finished folder its name, replacing an older match there. Returns ``out``."""
        if not self.live:
            self.folder = publish(self.out)
        self._published = True
        return self.out

    def keep(self) -> None:
        """Stop here; what is on the disk stays, to be written on."""
        self._events.abandon()
        self._rulings.abandon()
        self._release()

    def discard(self) -> None:
        """Remove an unpublished recording's files; what a live match has on disk stays, marked as it is."""
        self.keep()
        if not self.live and not self._published:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _release(self) -> None:
        if self._held is not None:
            self._held.release()

    def _on_disk(self, *steps: Callable[[], None]) -> None:
        try:
            for step in steps:
                step()
        except OSError as error:
            stopped = self._stopped(error)
            if not self.live:
                raise stopped from error
            self.failure = str(stopped)
        else:
            if not (self._events.holds or self._rulings.holds):
                self.failure = None

    def _stopped(self, error: OSError) -> RecordStopped:
        return RecordStopped(f"{self.out}: cannot be written on ({error.strerror or error}); make room on the disk")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._published:
            self.discard()


def part_of(out: Path) -> Path:
    """Where a recorded match is written until it is whole."""
    return out.with_name(f".{out.name}.part")


def publish(out: Path) -> Path:
    """Give a finished folder its name, replacing an older match there. Returns ``out``. Raises InputError."""
    try:
        # What was being written when an earlier attempt was killed.
        for leftover in part_of(out).rglob(".*.tmp*"):
            leftover.unlink()
        old = out.with_name(f".{out.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if out.exists():
            out.rename(old)
        part_of(out).rename(out)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror or error})") from error
    return out


class MatchFolder:
    """Reading a match folder, finished or still growing."""

    def __init__(self, folder: Path) -> None:
        """Raises InputError when ``folder`` is no match folder."""
        self.path = folder.absolute()
        self.info: MatchInfo = read_match_info(self.path)

    def reload(self) -> None:
        self.info = read_match_info(self.path)

    def events(self) -> list[Event]:
        """All events in the file's order. InputError when the file is unusable."""
        return read_match_events(self.path)

    def rulings(self) -> list[Ruling]:
        """The last word on each ruling, in the order in which they were first given."""
        return read_rulings_latest(self.path)

    def tracks(self, *, t_from_s: float | None = None, t_to_s: float | None = None) -> list[TrackRow]:
        return read_tracks(self.path, t_from_s=t_from_s, t_to_s=t_to_s)


def read_match_events(folder: Path) -> list[Event]:
    """The events of a match as written: none is an answer, and vision may contradict itself.

    (`adjudicate` is stricter: it must refuse an empty or contradictory file that a person gave it.)

    Raises:
        InputError: a line is no event.
    """
    path = folder / EVENTS
    if not path.exists():
        return []
    events: list[Event] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                event = event_from_json(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: not an event ({error}); analyse the match again") from None
            events.append(event if event.id is not None else replace(event, id=number))
    return events


def read_rulings_latest(folder: Path) -> list[Ruling]:
    """One ruling an id: where it was issued anew, the last."""
    path = folder / RULINGS
    latest: dict[int, Ruling] = {}
    if path.exists():
        for ruling in read_rulings(path):
            latest[ruling.id] = ruling
    return list(latest.values())


def _refuse_other_folder(out: Path) -> None:
    """An existing folder is written over only if it is empty or is a match folder itself: nobody's files are lost."""
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError(f"{out}: is a file; give a folder for --out")
    try:
        names = {p.name for p in out.iterdir()}
    except OSError as error:
        raise InputError(f"{out}: cannot be read ({error.strerror or error}); give another --out") from error
    if names and MATCH not in names:
        raise InputError(f"{out}: holds other files and no match; give a new folder for --out")


def _clear_match(folder: Path) -> None:
    for name in _OURS:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
