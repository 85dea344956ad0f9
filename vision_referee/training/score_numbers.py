"""The number reader on rendered test balls: one view at a time, and summed over views of the same ball."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision_referee.detection.numbers import honest, open_reader
from vision_referee.domain.errors import InputError
from vision_referee.training.number_set import number_seed
from vision_referee.training.scenes import SPLITS

F64 = npt.NDArray[np.float64]
_ANSWER = 0.8
"""Probability above which a number counts as answered."""


def score_numbers(models: Path | None, seeds: int) -> dict[str, object]:
    """Accuracy by ball width: ``right`` of all views, ``answered`` (probability over 0.8) and ``right_of_answered``.

    Numbered balls only (1..15); views from which the print cannot be seen are among them.
    """
    reader = open_reader(models)
    if reader is None:
        raise InputError("the number reader's model is not there; run 'make train'")
    rows, labels, sizes = [], [], []
    for seed in range(seeds):
        crops, label, size = number_seed(seed, SPLITS["test"])
        rows.append(np.asarray(reader.run(crops)))
        labels.append(label)
        sizes.append(size)
    p, label, size = honest(np.concatenate(rows)), np.concatenate(labels), np.concatenate(sizes)
    out: dict[str, object] = {}
    for name, low, high in (("16-22 px", 0, 22), ("22-33 px", 22, 33), ("33-45 px", 33, 45), ("45+ px", 45, 1e9)):
        there = (size >= low) & (size < high) & (label >= 1) & (label <= 15)
        if there.any():
            out[name] = _figures(p[there], label[there])
    cue = label == 0
    out["cue ball"] = {
        "views": int(cue.sum()),
        "p_over_half": _round(float((p[cue, 0] > 0.5).mean()) if cue.any() else 0.0),
    }
    out["false cue"] = _round(float((p[~cue, 0] > 0.5).mean()))
    return out


def _figures(p: F64, label: npt.NDArray[np.int64]) -> dict[str, object]:
    best = p[:, :16].argmax(axis=1)
    sure = p[np.arange(len(p)), best] > _ANSWER
    right = best == label
    return {
        "views": len(label),
        "right": _round(float(right.mean())),
        "answered": _round(float(sure.mean())),
        "right_of_answered": _round(float(right[sure].mean()) if sure.any() else float("nan")),
    }


def _round(value: float) -> float:
    return round(value, 4)
