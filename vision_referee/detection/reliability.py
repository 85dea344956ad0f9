"""Confidence that can be taken at its word: a detection said at c is right c of the time.

A network's raw scores are too modest for good boxes and too bold for doubtful ones. A straight line through their
log-odds (Platt's scaling), fitted on rendered validation scenes and kept beside the model, mends that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Log-odds of being right = ``slope`` * raw log-odds + ``offset``."""

    slope: float = 1.0
    offset: float = 0.0

    def of(self, raw: F64) -> F64:
        """Confidences for raw scores 0..1."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * log_odds(raw) + self.offset))), np.float64)


def log_odds(p: F64) -> F64:
    """Of probabilities, kept finite."""
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(p / (1 - p)), np.float64)


def read_reliability(record: Path) -> Reliability:
    """The scaling in a model's record (``ball_detector.json``); none where there is no record."""
    if not record.is_file():
        return Reliability()
    return Reliability(**json.loads(record.read_text(encoding="utf-8")).get("reliability", {}))
