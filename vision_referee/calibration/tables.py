"""Table specifications: the shipped ones by name, or a TOML file of the same shape."""

from __future__ import annotations

import math
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.domain.table import TableSpec
from vision_referee.resources import data_folder

DEFAULT_TABLE = "pyramid-12ft"
"""What a table is taken for where nothing says otherwise (CONTRACT: Rulings)."""


def table_names() -> tuple[str, ...]:
    """The names of the shipped tables, in order."""
    return tuple(sorted(path.stem for path in (data_folder("calibration") / "tables").glob("*.toml")))


def load_table(name_or_path: str | Path) -> TableSpec:
    """The table of this name, or of this TOML file.

    Raises InputError where there is neither, or where the file does not describe a table.
    """
    text = str(name_or_path)
    path = Path(text)
    if text in table_names():
        path = data_folder("calibration") / "tables" / f"{text}.toml"
    elif not path.is_file():
        raise InputError(f"{text}: no such table and no such file; tables are {', '.join(table_names())}")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not a readable TOML file ({error}); give a table like pyramid-12ft.toml") from error
    return _table(path, values)


def _table(path: Path, values: dict[str, Any]) -> TableSpec:
    accepted: dict[str, Any] = {}
    for field in fields(TableSpec):
        value = values.get(field.name)
        if value is None:
            if field.default is MISSING:
                raise InputError(f"{path}: {field.name} is missing; a table needs it")
            continue
        if field.name in ("name", "family"):
            accepted[field.name] = str(value)
        elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise InputError(f"{path}: {field.name} must be a number above zero, not {value!r}")
        else:
            accepted[field.name] = float(value)
    return TableSpec(**accepted)
