"""Which match folders are compared with which truths."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from vision_referee.domain.errors import InputError


def pairs_from_arguments(paths: Sequence[Path]) -> list[tuple[Path, Path]]:
    """DIR TRUTH DIR TRUTH … as pairs.

    Raises:
        InputError: an odd number of paths.
    """
    if len(paths) % 2:
        raise InputError(f"{paths[-1]}: a match folder without its truth; give DIR TRUTH, or several such pairs")
    return [(paths[k], paths[k + 1]) for k in range(0, len(paths), 2)]


def pairs_from_list(path: Path) -> list[tuple[Path, Path]]:
    """Pairs from a text file: ``DIR TRUTH`` a line, relative to the file's folder; quotes and # comments as in a shell.

    Raises:
        InputError: the file cannot be read, a line has not two paths, or there is no line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: the list cannot be read ({error}); give a text file with DIR TRUTH a line"
        ) from error
    pairs = []
    for number, line in enumerate(lines, 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise InputError(f"{path}: line {number}: {error}; write DIR TRUTH") from error
        if not words:
            continue
        if len(words) != 2:
            raise InputError(
                f"{path}: line {number}: {len(words)} paths where DIR TRUTH was expected; quote paths with spaces"
            )
        pairs.append((path.parent / words[0], path.parent / words[1]))
    if not pairs:
        raise InputError(f"{path}: the list names no pair; write DIR TRUTH a line")
    return pairs
