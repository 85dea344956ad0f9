"""How the value of a setting is read, from a text of ``--set`` or from TOML; each raises ValueError in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any


def choice(*allowed: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        text = str(value).replace("-", "_") if str(value) not in allowed else str(value)
        if text not in allowed:
            raise ValueError(f"must be {' or '.join(allowed)}")
        return text

    return parse


def yes_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError("must be true or false")


def number_within(low: float, high: float) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not low <= number <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return number

    return parse


def whole_within(low: int, high: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        try:
            number = None if isinstance(value, bool | float) else int(value)
        except (TypeError, ValueError):
            number = None
        if number is None or not low <= number <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return number

    return parse


def player_name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a player's name")
    return value.strip()


def points_ahead(value: Any) -> tuple[tuple[str, int], ...]:
    """``A:10,B:5``, or a TOML table of names and points."""
    parts = value.items() if isinstance(value, Mapping) else [p.rpartition(":")[::2] for p in str(value).split(",")]
    found: dict[str, int] = {}
    for name, points in parts:
        try:
            found[player_name(name)] = found.get(player_name(name), 0) + whole_within(-200, 200)(points)
        except ValueError:
            raise ValueError("must be a player and points, such as A:10") from None
    return tuple(found.items())
