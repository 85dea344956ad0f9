"""Calibrations saved by name, in the user's data folder: a camera that stays where it is is set up once."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vision_referee.domain.errors import InputError


def cameras_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base).absolute() / "vision-referee" / "cameras"


def saved_cameras() -> list[str]:
    """The names in alphabetical order."""
    return sorted(path.stem for path in cameras_folder().glob("*.json"))


def camera_file(name: str) -> Path:
    """Where the calibration of that name is kept.

    Raises:
        InputError: the name has other characters than a name may have; it is never a path.
    """
    if not re.fullmatch(r"\w[\w .-]{0,39}", name) or ".." in name:
        raise InputError(f"'{name}' is no name for a camera: letters, digits, spaces, - and _ only")
    return cameras_folder() / f"{name.strip().replace(' ', '-')}.json"


def calibration_path(given: Path) -> Path:
    """What ``--calibration`` means: a file, or else the name of a saved camera."""
    if given.exists() or given.name != str(given) or given.suffix:
        return given
    try:
        named = camera_file(str(given))
    except InputError:
        return given
    return named if named.exists() else given
