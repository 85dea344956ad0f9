"""Times of frames, kept exactly but briefly: an hour of steady video is one run, not a hundred thousand numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

_SAME_S = 2e-6
"""Times are written to the microsecond, so a steady stream drifts from its own line by no more than this."""


class FrameTimes:
    """Collects the time of every frame (seconds from the first frame's timestamp); eight bytes a frame."""

    def __init__(self, times_s: Iterable[float] = ()) -> None:
        self._times = array("d", times_s)

    def __len__(self) -> int:
        return len(self._times)

    def append(self, t_s: float) -> None:
        self._times.append(t_s)

    @property
    def last_s(self) -> float:
        """Of the last frame; 0 before the first."""
        return self._times[-1] if self._times else 0.0

    def as_array(self) -> F64:
        """(n,) seconds."""
        return np.array(self._times, np.float64)

    def to_json(self) -> dict[str, Any]:
        """Runs of steady steps ``{"first", "count", "t", "step_s"}``; a plain list where the steps are not steady."""
        times = self.as_array()
        runs = _steady_runs(times)
        if len(runs) > max(4, len(times) // 8):
            return {"count": len(times), "times_s": [round(t, 6) for t in times.tolist()]}
        return {"count": len(times), "runs": runs}

    @staticmethod
    def from_json(data: dict[str, Any]) -> FrameTimes:
        """The times that :meth:`to_json` wrote, each right to a few microseconds."""
        if "times_s" in data:
            return FrameTimes(data["times_s"])
        times = FrameTimes()
        for run in data.get("runs", []):
            times._times.extend(run["t"] + run["step_s"] * np.arange(run["count"]))
        return times


def _steady_runs(times: F64) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = []
    first = 0
    while first < len(times):
        count = _steady_count(times, first)
        step = (times[first + count - 1] - times[first]) / (count - 1) if count > 1 else 0.0
        runs.append(
            {"first": first, "count": count, "t": round(float(times[first]), 6), "step_s": round(float(step), 12)}
        )
        first += count
    return runs


def _steady_count(times: F64, first: int) -> int:
    """How many times from ``first`` on lie on one straight line: doubled until they do not, then halved back."""

    def steady(count: int) -> bool:
        part = times[first : first + count]
        line = np.linspace(part[0], part[-1], count)
        return bool(np.max(np.abs(part - line)) <= _SAME_S)

    left = len(times) - first
    good = min(2, left)
    step = good
    while step:
        if good + step <= left and steady(good + step):
            good += step
            step *= 2
        else:
            step //= 2
    return good
