"""The Kalman filter of one ball in the table plane: state (x, y, vx, vy) in mm and mm/s, with a rest and a rolling
mode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from filterpy.kalman import KalmanFilter

from vision_referee.tracking.tracklets import Mode

F64 = npt.NDArray[np.float64]


class BallFilter:
    """Constant velocity with white acceleration while rolling; a fixed point while at rest."""

    def __init__(self, xy_mm: F64, velocity_mm_s: F64, sigma_mm: float, velocity_sigma_mm_s: float, mode: Mode) -> None:
        kf = KalmanFilter(dim_x=4, dim_z=2)
        kf.x = np.concatenate([xy_mm, velocity_mm_s]).reshape(4, 1)
        kf.P = np.diag([sigma_mm**2, sigma_mm**2, velocity_sigma_mm_s**2, velocity_sigma_mm_s**2])
        kf.H = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
        self._kf = kf
        self.mode = mode

    @property
    def xy_mm(self) -> F64:
        return np.asarray(self._kf.x[:2, 0], np.float64)

    @property
    def velocity_mm_s(self) -> F64:
        return np.asarray(self._kf.x[2:, 0], np.float64)

    @property
    def position_sigma_mm(self) -> float:
        return float(np.sqrt(max(self._kf.P[0, 0], self._kf.P[1, 1])))

    def predict(self, dt_s: float, acceleration_mm_s2: float) -> None:
        """One step on. A resting ball stays; its place is let loose by a hair so that a long rest can still drift."""
        kf = self._kf
        if self.mode is Mode.REST:
            kf.P[0, 0] += 1e-4
            kf.P[1, 1] += 1e-4
            return
        f = np.eye(4)
        f[0, 2] = f[1, 3] = dt_s
        q = acceleration_mm_s2**2
        a, b, c = dt_s**4 / 4 * q, dt_s**3 / 2 * q, dt_s**2 * q
        noise = np.array([[a, 0, b, 0], [0, a, 0, b], [b, 0, c, 0], [0, b, 0, c]])
        kf.predict(F=f, Q=noise)

    def update(self, xy_mm: F64, sigma_mm: float) -> None:
        self._kf.update(xy_mm.reshape(2, 1), R=np.eye(2) * sigma_mm**2)
        if self.mode is Mode.REST:
            self._kf.x[2:] = 0.0

    def set_rolling(self, xy_mm: F64, velocity_mm_s: F64, sigma_mm: float, velocity_sigma_mm_s: float) -> None:
        """Something set the ball going: its velocity is a guess until the next sightings."""
        self._kf.x = np.concatenate([xy_mm, velocity_mm_s]).reshape(4, 1)
        self._kf.P = np.diag([sigma_mm**2, sigma_mm**2, velocity_sigma_mm_s**2, velocity_sigma_mm_s**2])
        self.mode = Mode.ROLLING

    def set_rest(self, xy_mm: F64, sigma_mm: float) -> None:
        self._kf.x = np.array([xy_mm[0], xy_mm[1], 0.0, 0.0]).reshape(4, 1)
        self._kf.P = np.diag([sigma_mm**2, sigma_mm**2, 1e-6, 1e-6])
        self.mode = Mode.REST
