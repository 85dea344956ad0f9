"""Confidence that can be taken at its word: a detection said at c is right c of the time.

A detector's raw scores are too modest for good boxes and too bold for doubtful ones. A straight line through their
log-odds (Platt's scaling), fitted on rendered validation scenes, mends that; it is folded into the network's last
layer, so that whoever runs the exported graph gets mended scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

F64 = npt.NDArray[np.float64]

_SCORES = "cv3.0.2"
"""The last layer of the branch that scores cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Log-odds of being right = ``slope`` * raw log-odds + ``offset``."""

    slope: float = 1.0
    offset: float = 0.0

    def of(self, raw: F64) -> F64:
        """Mended confidences for raw scores 0..1."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * _log_odds(raw) + self.offset))), np.float64)


def fit_reliability(raw: F64, right: npt.NDArray[np.bool_]) -> Reliability:
    """By greatest likelihood over detections with raw scores (n,) of which ``right`` (n,) were balls.

    Raises ValueError where all or none were right: nothing can be fitted to that.
    """
    if right.all() or not right.any():
        raise ValueError("reliability needs right and wrong detections")
    x, sign = _log_odds(np.asarray(raw, np.float64)), np.where(right, 1.0, -1.0)

    def loss(v: F64) -> float:
        return float(np.logaddexp(0.0, -sign * (v[0] * x + v[1])).mean())

    best = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return Reliability(slope=round(float(best[0]), 4), offset=round(float(best[1]), 4))


def folded(weights: Mapping[str, Any], reliability: Reliability) -> dict[str, Any]:
    """The detector's weights by name, with the scaling folded into the layer that gives the scores."""
    out = dict(weights)
    (weight,) = (key for key in out if key.endswith(f"{_SCORES}.weight"))
    (bias,) = (key for key in out if key.endswith(f"{_SCORES}.bias"))
    out[weight] = out[weight] * reliability.slope
    out[bias] = out[bias] * reliability.slope + reliability.offset
    return out


def _log_odds(p: F64) -> F64:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(p / (1 - p)), np.float64)
