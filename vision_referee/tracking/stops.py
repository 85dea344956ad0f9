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
    s: Sightings, noise: F64, rolling: slice, resting: slice, *, usual_braking_mm_s2: float, spread: float = 0.35
) -> Stop | None:
    """The stop between the sightings ``rolling`` and ``resting`` (slices of ``s``); None where nothing is to be fitted.

    ``usual_braking_mm_s2`` with its relative ``spread`` is the cloth's: it decides where noise hides the curve.
    """
    t_end = s.t_s[rolling][-1]
    take_a = np.flatnonzero((s.t_s >= t_end - 1.2) & (np.arange(len(s)) >= rolling.start) & (np.arange(len(s)) < rolling.stop))
    take_b = np.arange(resting.start, min(resting.stop, resting.start + 40))
    take = np.concatenate([take_a, take_b])
    if len(take_a) < 4 or len(take_b) < 2:
        return None
    t, p, w = s.t_s[take], s.xy_mm[take], 1.0 / noise[take] ** 2
    best: tuple[float, float, F64, float] | None = None
    lo = float(t[len(take_a) - 1]) - 0.5
    hi = float(t[len(take_a)]) + 0.35
    scores = []
    for t_stop in np.arange(max(lo, t[0] + 0.02), hi, 0.01):
        q = np.maximum(t_stop - t, 0.0) ** 2
        sw, sq, sqq = w.sum(), (w * q).sum(), (w * q * q).sum()
        y0, y1 = (w[:, None] * p).sum(axis=0), ((w * q)[:, None] * p).sum(axis=0)
        det = sw * sqq - sq * sq
        if det < 1e-9:
            continue
        c = (sw * y1 - sq * y0) / det
        a = (y0 - sq * c) / sw
        residual = p - a - q[:, None] * c
        chi = float((w[:, None] * residual**2).sum())
        braking = 2.0 * float(np.hypot(*c))
        chi += (np.log(max(braking, 1.0) / usual_braking_mm_s2) / spread) ** 2
        scores.append((t_stop, chi))
        if best is None or chi < best[0]:
            best = (chi, float(t_stop), a, braking)
    if best is None:
        return None
    times, chis = np.array(scores).T
    weight = np.exp(-0.5 * (chis - chis.min()))
    sigma = float(np.sqrt((weight * (times - best[1]) ** 2).sum() / weight.sum()))
    return Stop(t_s=best[1], t_sigma_s=max(sigma, 0.01), xy_mm=np.asarray(best[2]), braking_mm_s2=best[3])
