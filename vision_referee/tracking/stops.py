"""When a rolling ball stopped: the stop is fitted, not waited for.

The last 0.2 s of rolling is 2 mm; no threshold on speed can see it. Braking is steady, so the way to the stop is
p(t) = p_stop - (a / 2) (t_stop - t)^2, and what went before says when it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    t_s: float
    t_sigma_s: float
    xy_mm: F64
    braking_mm_s2: float


def fit_stop(
    s: Sightings, noise: F64, first: int, last: int, *, near_s: float, usual_braking_mm_s2: float, spread: float = 0.35
) -> Stop | None:
    """The stop of a ball that rolls from sighting ``first`` and lies still by ``last``; None where there is too little.

    ``near_s`` is a first guess. ``usual_braking_mm_s2`` with its relative ``spread`` is the cloth's: it decides where
    noise hides the curve.
    """
    index = np.arange(first, last + 1)
    take = index[(s.t_s[index] >= near_s - 1.3) & (s.t_s[index] <= near_s + 1.3)]
    if len(take) < 6:
        return None
    t, p, w = s.t_s[take], s.xy_mm[take], 1.0 / noise[take] ** 2
    times = np.arange(max(near_s - 0.7, t[1]), min(near_s + 0.6, t[-1] + 0.15), 0.01)
    if not len(times):
        return None
    q = np.maximum(times[:, None] - t[None, :], 0.0) ** 2
    sw, sq, sqq = w.sum(), q @ w, (q * q) @ w
    y0, y1 = w @ p, (q * w) @ p
    det = np.maximum(sw * sqq - sq * sq, 1e-12)
    c = (sw * y1 - sq[:, None] * y0) / det[:, None]
    a = (y0 - sq[:, None] * c) / sw
    residual = p[None] - a[:, None] - q[:, :, None] * c[:, None]
    chi = ((residual**2).sum(axis=2) * w).sum(axis=1)
    braking = 2.0 * np.hypot(c[:, 0], c[:, 1])
    chi = chi + (np.log(np.maximum(braking, 1.0) / usual_braking_mm_s2) / spread) ** 2
    best = int(np.argmin(chi))
    weight = np.exp(-0.5 * (chi - chi[best]))
    sigma = float(np.sqrt((weight * (times - times[best]) ** 2).sum() / weight.sum()))
    return Stop(t_s=float(times[best]), t_sigma_s=max(sigma, 0.01), xy_mm=a[best], braking_mm_s2=float(braking[best]))
