"""The match as a line of time: one lane a player, one block a ruling; fouls, doubts and restorations in colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_referee.domain.rulings import Ruling
from vision_referee.review.report import tone

LENGTH = 1000.0
"""Units along the line; the page stretches them to its width."""
_SHORTEST = 5.0
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
_MOST_TICKS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    ruling: Ruling
    lane: int
    x: float
    width: float
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    lanes: tuple[str | None, ...]
    blocks: tuple[Block, ...]
    ticks: tuple[tuple[float, str], ...]
    """Where along the line a round time is, and how it is written."""


def timeline(rulings: Sequence[Ruling], players: Sequence[str], end_s: float) -> Timeline:
    """``end_s``: the match's length so far. The last lane is nobody's (None) where there is such a ruling."""
    lanes: list[str | None] = [*players, *sorted({r.player for r in rulings if r.player and r.player not in players})]
    if any(r.player is None for r in rulings):
        lanes.append(None)
    whole = max(end_s, *(r.t_end for r in rulings), 1e-6) if rulings else 1.0
    blocks = []
    for ruling in rulings:
        x = LENGTH * ruling.t_start / whole
        width = max(_SHORTEST, LENGTH * (ruling.t_end - ruling.t_start) / whole)
        good = "good" if ruling.counted else "plain"
        blocks.append(
            Block(
                ruling=ruling,
                lane=lanes.index(ruling.player),
                x=min(x, LENGTH - width),
                width=width,
                tone=tone(ruling) or good,
            )
        )
    return Timeline(lanes=tuple(lanes), blocks=tuple(blocks), ticks=_ticks(whole))


def _ticks(whole_s: float) -> tuple[tuple[float, str], ...]:
    step = next((s for s in _STEPS_S if whole_s / s <= _MOST_TICKS), _STEPS_S[-1])
    times = range(0, int(whole_s) + 1, step)
    return tuple((LENGTH * t / whole_s, _clock(t)) for t in times if t < 0.97 * whole_s)


def _clock(t_s: int) -> str:
    hours, minutes, seconds = t_s // 3600, t_s // 60 % 60, t_s % 60
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
