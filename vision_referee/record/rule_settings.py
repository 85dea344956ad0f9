"""Rule settings from the command line: ``--set KEY=VALUE`` over a TOML file's ``[rules]`` table."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.rules.settings import RuleSettings, build_settings, split_set


def read_settings_file(path: Path) -> dict[str, Any]:
    """The ``[rules]`` table of a TOML file. Raises InputError."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such settings file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not a readable TOML file ({error})") from None
    table = values.get("rules")
    if not isinstance(table, dict):
        raise InputError(f"{path}: has no [rules] table; put the settings under one")
    return {str(key).replace("-", "_"): value for key, value in table.items()}


def rules_in_force(rules: str, changes: Sequence[str], settings_file: Path | None) -> RuleSettings:
    """The settings of a rule set: defaults, then the file, then ``--set``. Raises InputError."""
    values: dict[str, Any] = {}
    if settings_file is not None:
        values |= read_settings_file(settings_file)
        try:
            build_settings(rules, values)
        except InputError as error:
            raise InputError(f"{settings_file}: {error}") from None
    values |= split_set(list(changes))
    return build_settings(rules, values)
