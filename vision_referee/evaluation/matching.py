"""One-to-one matching: as many pairs as can be, and of those the closest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


def one_to_one(cost: F64, allowed: Bool) -> list[tuple[int, int]]:
    """Pairs (row, column) among the ``allowed`` (n, m), most pairs first, then the least total ``cost`` (n, m)."""
    if cost.size == 0 or not allowed.any():
        return []
    # A price for a pair that is not allowed, above all allowed costs together: no cheap pairing can buy it.
    price = 1.0 + float(np.sum(cost[allowed]))
    rows, columns = linear_sum_assignment(np.where(allowed, cost, price))
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if allowed[r, c]]


def align_times(truth_s: F64, seen_s: F64) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Which frame of the one is which frame of the other: nearest in time, within half a frame, each used once.

    Where one side is sampled more coarsely (truth typed by hand once a second, or simulated at 240 Hz for a 30 Hz
    video), only the coarse side's instants are compared: what lies between says nothing. What is seen beyond the
    truth's ends is not compared either; what the truth has beyond the seen ends was missed.

    Args:
        truth_s: rising times (n,) of the truth's frames.
        seen_s: rising times (m,) of the frames that were analysed.

    Returns:
        pairs (truth index, seen index); truth frames without partner; seen frames without partner (both to be counted).
    """
    if len(truth_s) == 0:
        # An empty truth with something seen: everything seen is false.
        return [], [], list(range(len(seen_s)))
    if len(seen_s) == 0:
        return [], list(range(len(truth_s))), []
    period_truth, period_seen = _period_s(truth_s), _period_s(seen_s)
    finer = min(p for p in (period_truth, period_seen) if p > 0) if max(period_truth, period_seen) > 0 else 0.04
    half = 0.5 * (period_seen if period_seen > 0 else finer) + 1e-6
    after = np.clip(np.searchsorted(truth_s, seen_s), 1, max(len(truth_s) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(truth_s) - 1)
    nearest = np.where(np.abs(truth_s[after] - seen_s) < np.abs(truth_s[before] - seen_s), after, before)
    gap = np.abs(truth_s[nearest] - seen_s)
    best: dict[int, int] = {}
    for k in np.argsort(gap, kind="stable"):
        if gap[k] > half:
            break
        best.setdefault(int(nearest[k]), int(k))
    pairs = sorted(best.items())
    truth_used, seen_used = set(best), set(best.values())
    truth_left = [i for i in range(len(truth_s)) if i not in truth_used]
    first, last = truth_s[0] - half, truth_s[-1] + half
    seen_left = [k for k in range(len(seen_s)) if k not in seen_used and first <= seen_s[k] <= last]
    if period_truth > 0 and period_seen > 0:
        if period_truth < 0.75 * period_seen:
            truth_left = _one_a_period(truth_left, truth_s, seen_s, period_seen)
        elif period_truth > 1.5 * period_seen:
            seen_left = []
    return pairs, truth_left, seen_left


def _one_a_period(truth_left: list[int], truth_s: F64, seen_s: F64, period_s: float) -> list[int]:
    """Of a finer truth's frames without partner, those the video should have had: beyond its ends, one a period."""
    kept: list[int] = []
    last_s = float(seen_s[-1])
    ahead_s = float(seen_s[0])
    for i in truth_left:
        t_s = float(truth_s[i])
        if t_s <= ahead_s - period_s + 1e-6 and (not kept or t_s >= truth_s[kept[-1]] + period_s - 1e-6):
            kept.append(i)
        elif t_s >= last_s + period_s - 1e-6:
            kept.append(i)
            last_s = t_s
    return kept


def _period_s(times_s: F64) -> float:
    return float(np.median(np.diff(times_s))) if len(times_s) > 1 else 0.0
