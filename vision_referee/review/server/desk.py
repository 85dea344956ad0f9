"""A match under review: its events and rulings now, and the corrections that people make to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.atomic_write import replace_text
from vision_referee.record.being_watched import is_watched
from vision_referee.record.events_jsonl import event_from_json, event_to_json, write_events
from vision_referee.record.match_folder import EVENTS, RULINGS, MatchFolder
from vision_referee.record.match_info import MATCH, RUNNING, MatchInfo
from vision_referee.record.rulings_jsonl import write_rulings
from vision_referee.review.server.rejudge import rejudge
from vision_referee.review.server.store import Change, Store


class LiveMatch(Protocol):
    """A match that is being played: who runs it takes official events and writes the folder itself."""

    def reserve_ids(self, count: int) -> int:
        """The first of ``count`` event ids that nothing else will get."""

    def submit(self, events: Sequence[Event]) -> None:
        """Judge with these official events too, from now on. Raises InputError where they make no sense."""

    def withdraw(self, event_ids: Sequence[int]) -> None:
        """Judge without them again."""


@dataclass(frozen=True, slots=True)
class Record:
    """What the folder holds at one moment."""

    stamp: str
    info: MatchInfo
    events: tuple[Event, ...]
    rulings: tuple[Ruling, ...]

    def ruling(self, ruling_id: int) -> Ruling | None:
        return next((r for r in self.rulings if r.id == ruling_id), None)


class MatchDesk:
    """One match folder in the app. ``key`` names it in addresses; threads may share it."""

    def __init__(
        self,
        key: str,
        folder: MatchFolder,
        store: Store,
        *,
        live: LiveMatch | None = None,
        on_change: Callable[[MatchDesk, Record, Record], None] | None = None,
    ) -> None:
        self.key = key
        self.folder = folder
        self.live = live
        self._store = store
        self._on_change = on_change
        self._lock = threading.RLock()
        self._record: Record | None = None

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def playing(self) -> bool:
        """Whether the match is being played: some program watches it at this moment."""
        return self.record().info.status == RUNNING and (self.live is not None or is_watched(self.path))

    @property
    def cut_short(self) -> bool:
        """Whether the program that watched it ended without a word: what it had ruled is there."""
        return self.record().info.status == RUNNING and not self.playing

    def stamp(self) -> str:
        """A text that differs whenever the folder's files or the log of changes do."""
        parts = []
        for name in (MATCH, EVENTS, RULINGS):
            try:
                stat = (self.path / name).stat()
                parts.append(f"{stat.st_mtime_ns:x}.{stat.st_size:x}")
            except FileNotFoundError:
                parts.append("0")
        return "-".join([*parts, self._store.version(self.folder.info.id)])

    def record(self) -> Record:
        """The match as it is on disk now; read again only when it has changed."""
        with self._lock:
            stamp = self.stamp()
            if self._record is None or self._record.stamp != stamp:
                self.folder.reload()
                self._record = Record(
                    stamp, self.folder.info, tuple(self.folder.events()), tuple(self.folder.rulings())
                )
            return self._record

    def changes(self) -> list[Change]:
        return self._store.changes(self.folder.info.id)

    def change(self, *, who: str, what: str, ruling_id: int | None, events: Sequence[Event]) -> Change:
        """Add official events, judge the match again, and write both down.

        Raises:
            InputError: the events do not fit the match; nothing is changed then.
        """
        with self._lock:
            self._refuse_foreign_live()
            before = self.record()
            live = self.live
            first_id = self._free_id(before.events) if live is None else live.reserve_ids(len(events))
            numbered = [_sound(replace(event, id=first_id + k)) for k, event in enumerate(events)]
            change = self._store.add(
                match_id=before.info.id,
                who=who,
                what=what,
                ruling_id=ruling_id,
                events=[event_to_json(e) for e in numbered],
            )
            try:
                if self.live is not None:
                    self.live.submit(numbered)
                else:
                    self._judge_again(before)
            except BaseException:
                self._store.discard(change.id)
                raise
            self._tell(before)
            return change

    def undo(self, *, who: str, change_id: int) -> Change | None:
        """Take a change back and judge again; None when it is not in force (any more).

        Raises:
            InputError: the match cannot be judged without it (a later change builds on it); nothing is changed then.
        """
        with self._lock:
            self._refuse_foreign_live()
            before = self.record()
            change = self._store.undo(match_id=before.info.id, change_id=change_id, who=who)
            if change is None:
                return None
            try:
                if self.live is not None:
                    self.live.withdraw([int(e["id"]) for e in change.events])
                else:
                    self._judge_again(before)
            except BaseException:
                self._store.reinstate(change.id)
                raise
            self._tell(before)
            return change

    def _refuse_foreign_live(self) -> None:
        if self.live is None and self.playing:
            raise InputError(
                f"{self.path.name}: the match is being played; correct it on the page of the program that watches it"
            )

    def _free_id(self, events: Sequence[Event]) -> int:
        ours = [int(e["id"]) for change in self.changes() for e in change.events]
        return max([0, *ours, *(e.id or 0 for e in events)]) + 1

    def _judge_again(self, before: Record) -> None:
        changes = self.changes()
        ours = {int(e["id"]) for change in changes for e in change.events}
        base = [e for e in before.events if e.id not in ours]
        added = [event_from_json(e) for change in changes if change.in_force for e in change.events]
        rulings = rejudge(before.info, base, added)
        # Stable: at one instant what was seen comes before what a person says of it.
        write_events(self.path / EVENTS, sorted([*base, *added], key=lambda e: e.t))
        write_rulings(self.path / RULINGS, rulings)
        _write_outcome(self.path, rulings)

    def _tell(self, before: Record) -> None:
        after = self.record()
        if self._on_change is not None:
            self._on_change(self, before, after)


def _sound(event: Event) -> Event:
    """The event as a file would give it back. Raises InputError where a file with it could not be read."""
    try:
        return event_from_json(event_to_json(event))
    except ValueError as error:
        raise InputError(f"{event.type}: {error}") from error


def _write_outcome(folder: Path, rulings: Sequence[Ruling]) -> None:
    """Score and winner of match.json; every other field stays as it is."""
    path = folder / MATCH
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if rulings:
        data["score"], data["winner"] = dict(rulings[-1].score), rulings[-1].winner
    replace_text(path, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
