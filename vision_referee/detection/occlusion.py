"""What covers the cloth that is neither cloth nor ball: a coarse map against a slowly learned picture of the table.

A shadow keeps the cloth's colour and is let pass; a hand, a sleeve or a cue does not.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]

_PER_CELL = 3
_CELL_IN_BALLS = 0.8
_COLOUR_STEP = 12.0
"""Distance in CIELAB's colour plane at which a sample is half held to be covered."""
_BRIGHTER_STEP = 28.0
_DARKER_STEP = 75.0
"""A deep shadow takes about half the light; what is darker than that by far is no shadow."""
_LEARN_PER_FRAME = 0.08


class OccluderMap:
    """Follows one calibrated view. About a millisecond a frame."""

    def __init__(self, calibration: Calibration) -> None:
        table = calibration.table
        self._ball_mm = table.ball_diameter_mm
        cell = _CELL_IN_BALLS * table.ball_diameter_mm
        self.shape = (max(8, round(table.width_mm / cell)), max(16, round(table.length_mm / cell)))
        rows, columns = self.shape[0] * _PER_CELL, self.shape[1] * _PER_CELL
        x = (np.arange(columns) + 0.5) / columns * table.length_mm
        y = (np.arange(rows) + 0.5) / rows * table.width_mm
        self._grid_mm = np.stack(np.meshgrid(x, y), axis=-1)
        px = calibration.camera.project_plane(self._grid_mm.reshape(-1, 2), 0.0).astype(np.float32)
        self._where = px.reshape(rows, columns, 2)
        self._cloth: F32 | None = None

    def update(self, frame: Frame, balls_mm: F64) -> F64:
        """The map (rows = y, columns = x), 0..1, for a picture and the balls (n, 2) found in it."""
        seen = frame.sample(self._where).astype(np.uint8)
        lab = cv2.cvtColor(seen, cv2.COLOR_BGR2Lab).astype(np.float32)
        if self._cloth is None:
            self._cloth = _even_cloth(lab)
        difference = lab - self._cloth
        light = difference[..., 0]
        # Less of the same light takes CIELAB's a and b down with (L + 16): the colour a shadow would have here.
        dimmed = np.clip((lab[..., :1] + 40.8) / (self._cloth[..., :1] + 40.8), 0.2, 1.0)
        off = lab[..., 1:] - 128 - dimmed * (self._cloth[..., 1:] - 128)
        colour = np.hypot(off[..., 0], off[..., 1])
        strength = np.maximum(colour / _COLOUR_STEP, np.where(light > 0, light / _BRIGHTER_STEP, -light / _DARKER_STEP))
        covered = 1.0 / (1.0 + np.exp(-6.0 * (strength - 1.0)))
        balls = self._ball_mask(balls_mm)
        covered[balls] = 0.0
        self._learn(difference, covered, balls)
        return np.asarray(cv2.resize(covered, (self.shape[1], self.shape[0]), interpolation=cv2.INTER_AREA), np.float64)

    def _ball_mask(self, balls_mm: F64) -> npt.NDArray[np.bool_]:
        """Samples on or close to a ball: its own pixels rise above the cloth, and its shadow is deepest there."""
        mask = np.zeros(self._where.shape[:2], np.uint8)
        rows, columns = mask.shape
        step = self._grid_mm[0, 1, 0] - self._grid_mm[0, 0, 0]
        for x, y in balls_mm:
            at = (round(float(x) / step - 0.5), round(float(y) / step - 0.5))
            if -5 <= at[0] < columns + 5 and -5 <= at[1] < rows + 5:
                cv2.circle(mask, at, round(1.1 * self._ball_mm / step), 1, -1)
        return np.asarray(mask > 0)

    def _learn(self, difference: F32, covered: F64, balls: npt.NDArray[np.bool_]) -> None:
        """A running median: each sample of the cloth's picture follows by small, equal steps."""
        assert self._cloth is not None
        step = np.where(covered < 0.5, 5.0, 1.0)[..., None] * _LEARN_PER_FRAME
        step = np.where(balls[..., None], 0.0, step)
        self._cloth += np.clip(difference, -step, step).astype(np.float32)


def _even_cloth(lab: F32) -> F32:
    """A smooth cloth through the samples of its most frequent colour: quadratic in x and y, fitted robustly."""
    rows, columns = lab.shape[:2]
    v, u = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    design = np.stack([np.ones_like(u), u, v, u * u, v * v, u * v], axis=-1).reshape(-1, 6)
    flat = lab.reshape(-1, 3).astype(np.float64)
    weight = np.exp(-0.5 * (np.linalg.norm((flat - np.median(flat, axis=0))[:, 1:], axis=1) / 12.0) ** 2)
    fitted = np.zeros_like(flat)
    for _ in range(4):
        scaled = design * weight[:, None]
        solution = np.linalg.lstsq(scaled.T @ design + 1e-3 * np.eye(6), scaled.T @ flat, rcond=None)[0]
        fitted = design @ solution
        away = np.linalg.norm((flat - fitted) * (0.6, 1.0, 1.0), axis=1)
        weight = np.exp(-0.5 * (away / 14.0) ** 2)
    return fitted.reshape(lab.shape).astype(np.float32)
