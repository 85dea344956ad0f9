"""Tracks as columns, read from Parquet or CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.domain.balls import is_ball_label
from vision_referee.domain.errors import InputError
from vision_referee.tracking.tracks import BallState, TrackRow

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

REQUIRED_COLUMNS = ("t", "ball", "x", "y", "state")
STATES: tuple[str, ...] = tuple(state.value for state in BallState)
MOVING, RESTING, HIDDEN, POCKETED, OFF_TABLE = range(len(STATES))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackTable:
    """n rows in time order, one per ball per frame: ``t`` s, ``x y`` mm, ``vx vy`` mm/s.

    ``ball`` (n,) indexes ``labels``; ``state`` (n,) indexes ``STATES``.
    """

    t: F64
    ball: I64
    x: F64
    y: F64
    vx: F64
    vy: F64
    state: I64
    confidence: F64
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.t)

    @staticmethod
    def from_rows(rows: list[TrackRow]) -> TrackTable:
        """Columns from rows in any order."""
        return _table(
            t=np.array([r.t for r in rows], np.float64),
            balls=[r.ball for r in rows],
            x=np.array([r.x for r in rows], np.float64),
            y=np.array([r.y for r in rows], np.float64),
            vx=np.array([r.vx for r in rows], np.float64),
            vy=np.array([r.vy for r in rows], np.float64),
            states=[r.state.value for r in rows],
            confidence=np.array([r.confidence for r in rows], np.float64),
        )

    def frames(self) -> tuple[F64, I64]:
        """Distinct times (m,) in order, and offsets (m + 1,) of each time's rows."""
        if len(self) == 0:
            return np.zeros(0), np.zeros(1, np.int64)
        # Times within a microsecond are one frame: two writers may round the same stamp differently.
        starts = np.flatnonzero(np.concatenate([[True], np.diff(self.t) > 1e-6]))
        return self.t[starts], np.concatenate([starts, [len(self)]]).astype(np.int64)


def read_tracks(path: Path) -> TrackTable:
    """Read ``tracks.parquet`` or a CSV with the same columns.

    Raises:
        InputError: the file cannot be read, lacks a column, or holds values that are none (text for a number,
            an unknown state or ball, a time that is not finite or negative).
    """
    import pyarrow as pa

    try:
        table = _arrow_table(path)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give the tracks as Parquet or CSV") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{path}: not readable as tracks ({reason}); write it again as Parquet or CSV") from error
    missing = [name for name in REQUIRED_COLUMNS if name not in table.column_names]
    if missing:
        raise InputError(
            f"{path}: lacks the column {', '.join(missing)}; tracks have t frame ball x y vx vy state confidence"
        )

    def numbers(name: str, default: float | None = None) -> F64:
        if default is not None and name not in table.column_names:
            return np.full(table.num_rows, default)
        try:
            column = table.column(name).cast(pa.float64())
        except pa.ArrowException as error:
            raise InputError(
                f"{path}: the column {name} holds something that is no number; mend or remove those rows"
            ) from error
        fill = np.nan if default is None else default
        return np.asarray(column.fill_null(fill).to_numpy(), np.float64)

    t = numbers("t")
    if not np.isfinite(t).all() or (t < 0).any():
        raise InputError(f"{path}: a row has no finite time t >= 0; mend or remove it")
    balls = [str(value) for value in table.column("ball").to_pylist()]
    unknown = next((label for label in dict.fromkeys(balls) if not is_ball_label(label)), None)
    if unknown is not None:
        raise InputError(f"{path}: unknown ball {unknown!r}; a ball is cue, 1 to 15, or u1, u2 and so on")
    states = [str(value) for value in table.column("state").to_pylist()]
    odd = next((state for state in dict.fromkeys(states) if state not in STATES), None)
    if odd is not None:
        raise InputError(f"{path}: unknown state {odd!r}; a state is one of {' '.join(STATES)}")
    return _table(
        t=t,
        balls=balls,
        x=numbers("x"),
        y=numbers("y"),
        vx=numbers("vx", 0.0),
        vy=numbers("vy", 0.0),
        states=states,
        confidence=numbers("confidence", 1.0),
    )


def _arrow_table(path: Path) -> Any:
    if path.suffix.lower() in (".csv", ".txt"):
        from pyarrow import csv

        text = path.read_bytes()
        if not text.strip():
            raise ValueError("the file is empty")
        return csv.read_csv(path)
    from pyarrow import parquet

    return parquet.read_table(path)


def _table(
    *, t: F64, balls: list[str], x: F64, y: F64, vx: F64, vy: F64, states: list[str], confidence: F64
) -> TrackTable:
    labels = tuple(dict.fromkeys(balls))
    code = {label: k for k, label in enumerate(labels)}
    state_code = {state: k for k, state in enumerate(STATES)}
    order = np.argsort(t, kind="stable")
    return TrackTable(
        t=t[order],
        ball=np.array([code[b] for b in balls], np.int64)[order],
        x=x[order],
        y=y[order],
        vx=vx[order],
        vy=vy[order],
        state=np.array([state_code[s] for s in states], np.int64)[order],
        confidence=confidence[order],
        labels=labels,
    )
