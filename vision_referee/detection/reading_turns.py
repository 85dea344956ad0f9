"""Whose number is read in a frame: reading costs about a millisecond a ball, and most looks would show nothing new.

A ball that has rolled on shows another side: it is read at once. One that lies still is read a few times, for the noise
differs, and then only now and then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_SAME_SIDE = 0.22
"""Moved by this part of its radius a ball shows nearly the same side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """``most_a_frame`` bounds the cost of a frame, ``resting_a_frame`` that of a still one."""

    most_a_frame: int = 6
    resting_a_frame: int = 2
    resting_reads: int = 8
    again_after: int = 45
    """Frames after which a ball that has had its reads is read once more: something may have been in the way."""
    forgotten_after: int = 90
    """Frames after which a place at which no ball was seen is forgotten."""


class ReadingTurns:
    """Remembers where balls were read. Pixels only: it needs neither calibration nor tracks."""

    def __init__(self, settings: TurnSettings | None = None) -> None:
        self.settings = settings or TurnSettings()
        self._frame = 0
        self._spots = np.zeros((0, 2))
        self._reads = np.zeros(0, np.int64)
        self._read_at = np.zeros(0, np.int64)
        self._seen_at = np.zeros(0, np.int64)

    def choose(self, centres_px: F64, radius_px: F64) -> I64:
        """Indices of the balls (n, 2) to be read in this frame, the most telling first."""
        s = self.settings
        self._frame += 1
        keep = self._frame - self._seen_at <= s.forgotten_after
        self._spots, self._reads = self._spots[keep], self._reads[keep]
        self._read_at, self._seen_at = self._read_at[keep], self._seen_at[keep]
        if len(centres_px) == 0:
            return np.zeros(0, np.int64)
        spot = self._spot_of(centres_px, radius_px)
        known = spot >= 0
        self._seen_at[spot[known]] = self._frame
        fresh = np.flatnonzero(~known)[: s.most_a_frame]
        reads, waited = np.zeros(len(spot), np.int64), np.full(len(spot), self._frame)
        reads[known], waited[known] = self._reads[spot[known]], self._frame - self._read_at[spot[known]]
        due = np.flatnonzero(known & ((reads < s.resting_reads) | (waited >= s.again_after)))
        due = due[np.lexsort((-waited[due], reads[due]))]
        chosen = np.concatenate([fresh, due[: min(s.resting_a_frame, s.most_a_frame - len(fresh))]])
        old = spot[chosen[len(fresh) :]]
        self._reads[old] += 1
        self._read_at[old] = self._frame
        self._spots = np.concatenate([self._spots, centres_px[fresh]])
        now = np.full(len(fresh), self._frame, np.int64)
        self._reads = np.concatenate([self._reads, np.ones(len(fresh), np.int64)])
        self._read_at, self._seen_at = np.concatenate([self._read_at, now]), np.concatenate([self._seen_at, now])
        return np.asarray(chosen, np.int64)

    def _spot_of(self, centres_px: F64, radius_px: F64) -> I64:
        """(n,) index of the place where each ball was read before and still lies, else -1."""
        if len(self._spots) == 0:
            return np.full(len(centres_px), -1, np.int64)
        away = np.linalg.norm(centres_px[:, None] - self._spots[None], axis=2)
        nearest = away.argmin(axis=1)
        here = away[np.arange(len(away)), nearest] < _SAME_SIDE * radius_px
        return np.where(here, nearest, -1)
