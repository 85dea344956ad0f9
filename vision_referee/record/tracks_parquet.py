"""tracks.parquet: one row per ball per frame, written part by part: memory stays flat, a live match can be read.

While a match grows the rows lie in ``tracks.parts/000001.parquet`` …, each a whole file; at the end they are joined,
row group by row group, into ``tracks.parquet``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vision_referee.domain.errors import InputError
from vision_referee.tracking.tracks import BallState, TrackRow

TRACKS = "tracks.parquet"
PARTS = "tracks.parts"

SCHEMA = pa.schema(
    [
        ("t", pa.float64()),
        ("frame", pa.int32()),
        ("ball", pa.string()),
        ("x", pa.float32()),
        ("y", pa.float32()),
        ("vx", pa.float32()),
        ("vy", pa.float32()),
        ("state", pa.string()),
        ("confidence", pa.float32()),
    ]
)
_COLUMNS = tuple(SCHEMA.names)
_PART_ROWS = 60_000
"""About two minutes of sixteen balls at 30 frames a second: a few megabytes in memory, a row group on disk."""


class TracksWriter:
    """Rows in, in time order; whole parts on disk. ``flush`` makes what was given so far readable."""

    def __init__(self, folder: Path, *, parts: int = 0) -> None:
        """Go on behind the first ``parts`` parts that are there. Raises FileNotFoundError where they are not."""
        self._folder = folder
        self._parts = folder / PARTS
        self._parts.mkdir(parents=True, exist_ok=True)
        self.parts = parts
        """On the disk."""
        self._rows: list[TrackRow] = []
        kept = {self._part(number) for number in range(1, parts + 1)}
        for lacking in (path for path in kept if not path.exists()):
            raise FileNotFoundError(f"{lacking} is gone")
        (folder / TRACKS).unlink(missing_ok=True)
        for path in set(self._parts.iterdir()) - kept:
            path.unlink()

    def _part(self, number: int) -> Path:
        return self._parts / f"{number:06d}.parquet"

    def add(self, rows: Iterable[TrackRow]) -> None:
        self._rows.extend(rows)
        if len(self._rows) >= _PART_ROWS:
            self.flush()

    def flush(self) -> None:
        """Raises OSError: the rows are kept, to be written by the next flush."""
        if not self._rows:
            return
        part = self._part(self.parts + 1)
        unfinished = part.with_suffix(".tmp")
        with unfinished.open("wb") as file:
            pq.write_table(_table(self._rows), file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(part)
        self.parts += 1
        self._rows = []

    def forget(self) -> None:
        """Drop every row given so far."""
        self._rows, self.parts = [], 0
        for part in self._parts.glob("*.parquet"):
            part.unlink()

    def close(self) -> None:
        """Join the parts and drop them."""
        self.join()
        self.drop_parts()

    def join(self) -> None:
        """Join the parts into ``tracks.parquet`` (an empty one when there was no row); they stay. Raises OSError."""
        self.flush()
        whole = self._folder / TRACKS
        unfinished = whole.with_suffix(".tmp")
        with pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as writer:
            for part in sorted(self._parts.glob("*.parquet")):
                writer.write_table(pq.read_table(part, schema=SCHEMA))
        unfinished.replace(whole)

    def drop_parts(self) -> None:
        shutil.rmtree(self._parts)


def _table(rows: list[TrackRow]) -> pa.Table:
    columns: list[list[Any]] = [[] for _ in _COLUMNS]
    for row in rows:
        values = (row.t, row.frame, row.ball, row.x, row.y, row.vx, row.vy, row.state.value, row.confidence)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    return pa.table(columns, schema=SCHEMA)


def read_tracks(folder: Path, *, t_from_s: float | None = None, t_to_s: float | None = None) -> list[TrackRow]:
    """Rows with ``t_from_s <= t <= t_to_s`` in the order they were written; only the row groups concerned are read.

    Raises:
        InputError: the file is missing or is not a tracks file.
    """
    table = read_tracks_table(folder, t_from_s=t_from_s, t_to_s=t_to_s)
    values = [table.column(name).to_pylist() for name in _COLUMNS]
    return [
        TrackRow(t=t, frame=frame, ball=ball, x=x, y=y, vx=vx, vy=vy, state=BallState(state), confidence=confidence)
        for t, frame, ball, x, y, vx, vy, state, confidence in zip(*values, strict=True)
    ]


def read_tracks_table(folder: Path, *, t_from_s: float | None = None, t_to_s: float | None = None) -> pa.Table:
    """As :func:`read_tracks`, as an Arrow table of the contract's columns."""
    files = _files(folder)
    conditions: list[tuple[str, str, float]] = []
    if t_from_s is not None:
        conditions.append(("t", ">=", t_from_s))
    if t_to_s is not None:
        conditions.append(("t", "<=", t_to_s))
    tables = []
    for path in files:
        try:
            table = pq.read_table(path, columns=list(_COLUMNS), filters=conditions or None)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{path}: not a tracks file ({reason}); analyse the match again") from error
        tables.append(table.select(_COLUMNS).cast(SCHEMA))
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def _files(folder: Path) -> list[Path]:
    whole = folder / TRACKS
    if whole.exists():
        return [whole]
    if (folder / PARTS).is_dir():
        return sorted((folder / PARTS).glob("*.parquet"))
    raise InputError(f"{whole}: no such file; give a match folder that `analyze` has made")
