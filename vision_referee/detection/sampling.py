"""Colours along rays from balls' centres outward."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]

_MOST_ROWS = 16_000
"""Frame.sample takes fewer than 32768 rows."""


def polar_samples(frame: Frame, centre: F64, outlines: F64, rho: F64) -> F32:
    """BGR colours (n, k, len(rho), 3) along the outline's points (n, k, 2) at fractions ``rho`` of their distance from
    the centre (n, 2)."""
    n, k = outlines.shape[:2]
    away = outlines.astype(np.float32)[:, :, None, :] * rho.astype(np.float32)[None, None, :, None]
    flat = (centre.astype(np.float32)[:, None, None, :] + away).reshape(n * k, len(rho), 2)
    rows = [frame.sample(flat[start : start + _MOST_ROWS]) for start in range(0, len(flat), _MOST_ROWS)]
    return np.concatenate(rows).reshape(n, k, len(rho), 3)
