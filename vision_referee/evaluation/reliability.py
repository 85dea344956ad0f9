"""Does a confidence mean what it says: of the events said at 0.9, nine in ten should be true."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

BIN_EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Narrow near one, where an assertion is either trusted without a person or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Events said with a confidence in (``low``, ``high``]; None where there were none."""

    low: float
    high: float
    n: int
    said: float | None
    right: float | None


def reliability_bins(said: list[tuple[float, bool]]) -> list[ReliabilityBin]:
    """Mean confidence said and share that was right, by bins of confidence."""
    confidence = np.clip(np.array([c for c, _ in said], np.float64), 0.0, 1.0)
    right = np.array([r for _, r in said], np.float64)
    bins = []
    for low, high in pairwise(BIN_EDGES):
        inside = (confidence > low) & (confidence <= high) if low > 0 else confidence <= high
        n = int(inside.sum())
        bins.append(
            ReliabilityBin(
                low=low,
                high=high,
                n=n,
                said=float(confidence[inside].mean()) if n else None,
                right=float(right[inside].mean()) if n else None,
            )
        )
    return bins


def reliability_to_json(said: list[tuple[float, bool]]) -> dict[str, Any]:
    """Bins, expected calibration error (mean gap between said and right) and Brier score (mean squared error)."""
    bins = reliability_bins(said)
    n = len(said)
    error = sum(b.n * abs(b.said - b.right) for b in bins if b.said is not None and b.right is not None)
    return {
        "n": n,
        "expected_error": error / n if n else None,
        "brier": sum((c - float(r)) ** 2 for c, r in said) / n if n else None,
        "bins": [{"low": b.low, "high": b.high, "n": b.n, "said": b.said, "right": b.right} for b in bins],
    }
