"""Which detection is which ball: gates and one assignment a frame."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

F64 = npt.NDArray[np.float64]
_FORBIDDEN = 1e6


def assign(cost: F64) -> list[tuple[int, int]]:
    """Pairs (row, column) of least total cost; entries that are not finite are never paired.

    As many pairs as the gates allow are made before cost decides.
    """
    if cost.size == 0:
        return []
    open_ = np.isfinite(cost)
    rows, columns = linear_sum_assignment(np.where(open_, cost, _FORBIDDEN))
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if open_[r, c]]


def gated_cost(predicted_mm: F64, sigma_mm: F64, gate_mm: F64, seen_mm: F64, seen_sigma_mm: F64) -> F64:
    """Cost (n tracks, m detections): squared distance in sigmas plus the spread's log, infinite outside ``gate_mm``
    (n,)."""
    distance = np.linalg.norm(predicted_mm[:, None, :] - seen_mm[None, :, :], axis=2)
    spread = np.hypot(sigma_mm[:, None], seen_sigma_mm[None, :])
    cost = (distance / spread) ** 2 + 2.0 * np.log(spread)
    return np.where(distance <= gate_mm[:, None], cost, np.inf)


def without_duplicates(xy_mm: F64, confidence: F64, nearest_mm: float) -> npt.NDArray[np.int64]:
    """Indices of the detections to keep: of any two nearer than ``nearest_mm`` the surer one."""
    kept: list[int] = []
    for i in np.argsort(-confidence, kind="stable"):
        if all(np.hypot(*(xy_mm[i] - xy_mm[k])) >= nearest_mm for k in kept):
            kept.append(int(i))
    return np.array(sorted(kept), np.int64)
