"""Markdown tables, and their place in RESULTS.md."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
_BEGIN = "<!-- newest first -->"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; floats to three significant places, None as a dash."""
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value).replace("|", "/")


def enter(title: str, command: str, body: str, revision: str) -> None:
    """Put a section before the older ones."""
    text = RESULTS.read_text(encoding="utf-8")
    stamp = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    section = f"{_BEGIN}\n\n## {title}, {stamp}, {revision}\n\n`{command}`\n\n{body}\n"
    RESULTS.write_text(text.replace(_BEGIN, section, 1), encoding="utf-8")
