"""Small made-up matches for the tests of the scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vision_referee.evaluation.track_table import TrackTable
from vision_referee.tracking.tracks import BallState, TrackRow

Path2D = Callable[[float], tuple[float, float]]

FPS = 30.0


def still(x: float, y: float) -> Path2D:
    return lambda t: (x, y)


def rolling(x: float, y: float, vx: float, vy: float) -> Path2D:
    return lambda t: (x + vx * t, y + vy * t)


def track_rows(
    ball: str,
    path: Path2D,
    *,
    start: int = 0,
    stop: int = 60,
    state: BallState = BallState.RESTING,
    fps: float = FPS,
    late_s: float = 0.0,
) -> list[TrackRow]:
    """Rows of one ball for frames ``start`` to ``stop``; ``late_s`` shifts the stamps, not the motion."""
    rows = []
    for k in range(start, stop):
        t = k / fps
        (x, y), (x1, y1) = path(t), path(t + 1e-3)
        rows.append(
            TrackRow(
                t=t + late_s,
                frame=k,
                ball=ball,
                x=x,
                y=y,
                vx=(x1 - x) * 1e3,
                vy=(y1 - y) * 1e3,
                state=state,
                confidence=1.0,
            )
        )
    return rows


def tracks(*parts: Iterable[TrackRow]) -> TrackTable:
    return TrackTable.from_rows([row for part in parts for row in part])
