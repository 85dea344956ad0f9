"""What tracking says: one row per ball per frame (CONTRACT: tracks.parquet)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BallState(StrEnum):
    MOVING = "moving"
    RESTING = "resting"
    HIDDEN = "hidden"
    POCKETED = "pocketed"
    OFF_TABLE = "off_table"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRow:
    """``t`` seconds, ``x y`` mm, ``vx vy`` mm/s, ``confidence`` 0..1 that this ball is here."""

    t: float
    frame: int
    ball: str
    x: float
    y: float
    vx: float
    vy: float
    state: BallState
    confidence: float
