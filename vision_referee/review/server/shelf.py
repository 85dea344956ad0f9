"""The match folders that the app shows, each under a key of its own: no path ever comes from an address."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from vision_referee.domain.errors import InputError
from vision_referee.record.match_folder import MatchFolder
from vision_referee.record.match_info import MATCH
from vision_referee.review.server.desk import LiveMatch, MatchDesk, Record
from vision_referee.review.server.store import Store

OnChange = Callable[[MatchDesk, Record, Record], None]


class Shelf:
    """Folders given on the command line: match folders, or folders of match folders (read again each time)."""

    def __init__(self, folders: Iterable[Path], store: Store, *, on_change: OnChange | None = None) -> None:
        """Raises InputError when a folder is missing or holds no match."""
        self._roots = [folder.absolute() for folder in folders]
        self._store = store
        self._on_change = on_change
        self._desks: dict[Path, MatchDesk] = {}
        self._keys: dict[str, Path] = {}
        self._lock = threading.Lock()
        for root in self._roots:
            if not root.is_dir():
                raise InputError(f"{root}: no such folder; give a match folder that `analyze` has made")
            found = _matches_in(root)
            if not found:
                raise InputError(f"{root}: holds no match (no {MATCH}); give a match folder that `analyze` has made")
            problems = [problem for problem in map(self._problem, found) if problem is not None]
            if len(problems) == len(found):
                raise problems[0]

    def desks(self) -> list[MatchDesk]:
        """Every match that can be read, newest first."""
        for root in self._roots:
            for path in _matches_in(root):
                self._problem(path)
        with self._lock:
            desks = [desk for path, desk in self._desks.items() if (path / MATCH).exists()]
        return sorted(desks, key=lambda desk: desk.folder.info.created, reverse=True)

    def desk(self, key: str) -> MatchDesk | None:
        found = self._known(key)
        if found is None:
            # A match may have come since the folders were last looked through.
            self.desks()
            found = self._known(key)
        return found

    def _known(self, key: str) -> MatchDesk | None:
        with self._lock:
            path = self._keys.get(key)
            return self._desks.get(path) if path is not None and (path / MATCH).exists() else None

    def connect(self, folder: Path, live: LiveMatch) -> MatchDesk:
        """Say who runs a match that is being played: its corrections go there."""
        desk = self._desk(folder.absolute())
        desk.live = live
        return desk

    def _problem(self, path: Path) -> InputError | None:
        """Why this match cannot be shown, if so. One that cannot be read does not keep the others from view."""
        try:
            self._desk(path)
        except InputError as error:
            return error
        return None

    def _desk(self, path: Path) -> MatchDesk:
        with self._lock:
            if path not in self._desks:
                folder = MatchFolder(path)
                key = self._free_key(path.name)
                self._keys[key] = path
                self._desks[path] = MatchDesk(key, folder, self._store, on_change=self._on_change)
            return self._desks[path]

    def _free_key(self, name: str) -> str:
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "match"
        key, number = base, 2
        while key in self._keys:
            key, number = f"{base}-{number}", number + 1
        return key


def _matches_in(root: Path) -> list[Path]:
    if (root / MATCH).exists():
        return [root]
    try:
        return sorted(path.parent for path in root.glob(f"*/{MATCH}") if not path.parent.name.startswith("."))
    except OSError:
        return []
