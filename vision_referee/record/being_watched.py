"""Whether a live match is still being watched: a mark in its folder that vanishes with the program, however it ends.

A program that was killed, or whose power failed, leaves ``status: running`` behind; a lock on the mark it cannot.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_MARK = ".watched"


class WatchMark:
    """Held while a match is watched; ``release`` it at the end."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _MARK
        self._file: int | None = None
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError:
            return
        try:
            _lock(file)
        except OSError:
            # Another holds it, or the file system knows no locks: then the match is taken for one that nobody watches.
            os.close(file)
        else:
            self._file = file

    def release(self) -> None:
        """Let go and remove the mark; again and again does no harm."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


def is_watched(folder: Path) -> bool:
    """Whether some program watches the match in ``folder`` at this moment."""
    try:
        file = os.open(folder / _MARK, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(file)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        """OSError where another holds it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
