"""Whole files or none: text that replaces a file in one step, and lines that are on the disk when the call returns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` (UTF-8) so that a reader sees the old file or the new one, never a part."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        settle(file)
    unfinished.replace(path)


def settle(file: IO[str]) -> None:
    """Flush and fsync: after this a power cut loses nothing of the file."""
    file.flush()
    os.fsync(file.fileno())
