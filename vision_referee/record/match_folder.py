"""A match folder, written as the match goes and read back (CONTRACT: A match folder).

Recorded work (``analyze``) is written in a hidden sibling ``.NAME.part`` and renamed to NAME by ``publish``, so a
failed or killed analysis leaves no folder that looks whole. Live work (``watch``) is written in place, match.json
saying ``"status": "running"`` until the end, so that the browser app can read the match while it is played.
Events and rulings are on the disk (fsync) when the call that gave a ruling returns. A ruling issued anew is one more
line while the match runs; readers take the last of an id, and ``finish`` leaves one line an id.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.atomic_write import replace_text, settle
from vision_referee.record.event_ids import EventIds
from vision_referee.record.events_jsonl import event_from_json, event_to_json
from vision_referee.record.match_info import COMPLETE, MATCH, MatchInfo, read_match_info, write_match_info
from vision_referee.record.rulings_jsonl import read_rulings, ruling_to_json
from vision_referee.record.tracks_parquet import PARTS, TRACKS, TracksWriter, read_tracks
from vision_referee.tracking.tracks import TrackRow

EVENTS = "events.jsonl"
RULINGS = "rulings.jsonl"
CLIPS = "clips"
RESTORE = "restore"
REPORT = "report.html"

_OURS = frozenset({MATCH, TRACKS, PARTS, EVENTS, RULINGS, CLIPS, RESTORE, REPORT})


class MatchFolderWriter:
    """Writes one match. A context manager: leaving it by an error before ``publish`` removes what was written.

    ``folder`` is where the files are now; ``out`` is where the match will be.
    """

    def __init__(self, out: Path, *, live: bool = False) -> None:
        """Begin a match folder.

        Raises:
            InputError: ``out`` is a file, a folder with other things in it, or cannot be written.
        """
        self.out = out.absolute()
        self.live = live
        self.folder = self.out if live else self.out.with_name(f".{self.out.name}.part")
        self._published = False
        self._last_t_s = float("-inf")
        self._out_of_order = False
        self._ids = EventIds()
        _refuse_other_folder(self.out)
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            if live:
                _clear_match(self.out)
            else:
                shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(exist_ok=True)
            self._tracks = TracksWriter(self.folder)
            self._events: IO[str] = (self.folder / EVENTS).open("w", encoding="utf-8", newline="\n")
            self._rulings: IO[str] = (self.folder / RULINGS).open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{out}: cannot be written ({error.strerror or error}); give another --out") from error

    def add_rows(self, rows: Iterable[TrackRow]) -> None:
        self._tracks.add(rows)

    def add_events(self, events: Iterable[Event]) -> list[Event]:
        """Append events; each gets an id (its place in the file) unless it has one. Returned as written."""
        written = self._ids.given(events)
        for event in written:
            self._out_of_order |= event.t < self._last_t_s
            self._last_t_s = max(self._last_t_s, event.t)
        self._events.write("".join(json_line(event_to_json(event)) for event in written))
        self._events.flush()
        return written

    def reserve_event_ids(self, count: int) -> int:
        """The first of ``count`` ids that no other event will get."""
        return self._ids.reserve(count)

    def rewrite(self, events: Iterable[Event], rulings: Iterable[Ruling]) -> None:
        """Put all events and rulings anew, each file in one step: something was withdrawn."""
        self._close_texts()
        write_events(self.folder, events)
        write_rulings(self.folder, rulings)
        self._events = (self.folder / EVENTS).open("a", encoding="utf-8", newline="\n")
        self._rulings = (self.folder / RULINGS).open("a", encoding="utf-8", newline="\n")

    def start_again(self, events: Iterable[Event]) -> None:
        """A live match set up anew before its first stroke: forget tracks, rulings and all other events."""
        self._tracks.forget()
        self.rewrite(events, ())

    def abandon(self) -> None:
        """A live match that never began: remove what was written, and the folder if nothing else is in it."""
        self._close_texts()
        _clear_match(self.folder)
        with suppress(OSError):
            self.folder.rmdir()

    def add_ruling(self, ruling: Ruling) -> None:
        """Append a ruling, new or issued anew; it and every event before it are on the disk when this returns."""
        settle(self._events)
        self._rulings.write(json_line(ruling_to_json(ruling)))
        settle(self._rulings)
        if self.live:
            self._tracks.flush()

    def write_info(self, info: MatchInfo) -> None:
        """Write match.json as it is now (a live match: with ``status="running"``)."""
        write_match_info(self.folder, info)

    def finish(self, info: MatchInfo) -> Path:
        """Close the files: tracks joined, events in time order, one line a ruling, match.json last. Returns ``folder``.

        ``score`` and ``winner`` of match.json are taken from the last ruling.
        """
        self._tracks.close()
        self._close_texts()
        if self._out_of_order:
            write_events(self.folder, sorted(read_match_events(self.folder), key=lambda e: e.t))
        rulings = read_rulings_latest(self.folder)
        write_rulings(self.folder, rulings)
        if rulings:
            info = replace(info, score=dict(rulings[-1].score), winner=rulings[-1].winner)
        self.write_info(replace(info, status=COMPLETE))
        return self.folder

    def publish(self) -> Path:
        """Give the finished folder its name, replacing an older match there. Returns ``out``."""
        if not self.live:
            try:
                old = self.out.with_name(f".{self.out.name}.old")
                shutil.rmtree(old, ignore_errors=True)
                if self.out.exists():
                    self.out.rename(old)
                self.folder.rename(self.out)
                shutil.rmtree(old, ignore_errors=True)
            except OSError as error:
                raise InputError(f"{self.out}: cannot be written ({error.strerror or error})") from error
            self.folder = self.out
        self._published = True
        return self.out

    def discard(self) -> None:
        """Remove an unpublished recording's files; what a live match has on disk stays, marked as it is."""
        self._close_texts()
        if not self.live and not self._published:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _close_texts(self) -> None:
        for file in (self._events, self._rulings):
            if not file.closed:
                settle(file)
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._published:
            self.discard()


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


def write_events(folder: Path, events: Iterable[Event]) -> None:
    """Replace events.jsonl in one step."""
    replace_text(folder / EVENTS, "".join(json_line(event_to_json(e)) for e in events))


def write_rulings(folder: Path, rulings: Iterable[Ruling]) -> None:
    """Replace rulings.jsonl in one step."""
    replace_text(folder / RULINGS, "".join(json_line(ruling_to_json(r)) for r in rulings))


def json_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


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
