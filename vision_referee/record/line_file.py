"""A file of lines that grows: what is settled survives a power cut, and a full disk loses nothing that was given."""

from __future__ import annotations

import os
from pathlib import Path


class LineFile:
    """Append-only. What the disk refuses is kept in memory and written by the next call that succeeds."""

    def __init__(self, path: Path, *, size: int = 0) -> None:
        """Opens ``path`` and keeps its first ``size`` bytes. Raises OSError."""
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        os.ftruncate(self._fd, size)
        self._size = size
        self._held = b""

    @property
    def size(self) -> int:
        """Bytes written, whole lines."""
        return self._size

    @property
    def holds(self) -> bool:
        """Whether something is still to be written."""
        return bool(self._held)

    @property
    def closed(self) -> bool:
        return self._fd < 0

    def hold(self, text: str) -> None:
        """Take whole lines, to be written by the next ``write`` or ``settle``."""
        self._held += text.encode()

    def write(self, text: str) -> None:
        """Append whole lines; readers see them when this returns. Raises OSError: they are held."""
        self.hold(text)
        self._put()

    def settle(self) -> None:
        """After this a power cut loses nothing that was given. Raises OSError."""
        self._put()
        os.fsync(self._fd)

    def close(self) -> None:
        """Settle and close. Raises OSError; then it stays open."""
        if not self.closed:
            self.settle()
            os.close(self._fd)
            self._fd = -1

    def abandon(self) -> None:
        """Close as it is."""
        if not self.closed:
            os.close(self._fd)
            self._fd = -1

    def _put(self) -> None:
        if not self._held:
            return
        try:
            written = 0
            while written < len(self._held):
                written += os.pwrite(self._fd, self._held[written:], self._size + written)
        except OSError:
            # Never half a line for readers to stumble over.
            os.ftruncate(self._fd, self._size)
            raise
        self._size += len(self._held)
        self._held = b""
