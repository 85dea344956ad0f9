"""Fits the scaling that makes a detector's confidences true."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from vision_referee.detection.reliability import Reliability, log_odds

F64 = npt.NDArray[np.float64]


def fit_reliability(raw: F64, right: npt.NDArray[np.bool_]) -> Reliability:
    """By greatest likelihood over detections with raw scores (n,) of which ``right`` (n,) were balls.

    Raises ValueError where all or none were right: nothing can be fitted to that.
    """
    if right.all() or not right.any():
        raise ValueError("reliability needs right and wrong detections")
    x, sign = log_odds(np.asarray(raw, np.float64)), np.where(right, 1.0, -1.0)

    def loss(v: F64) -> float:
        return float(np.logaddexp(0.0, -sign * (v[0] * x + v[1])).mean())

    best = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return Reliability(slope=round(float(best[0]), 4), offset=round(float(best[1]), 4))
