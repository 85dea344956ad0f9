"""A ball's path in legs: between impacts a ball rests, slides or rolls, and each is a parabola in time.

Sliding and rolling friction are constant forces, so a leg is p + v u + c u^2 in each coordinate; where one leg goes
over
into the next something happened (an impact, the end of sliding, the stop). The legs are found all at once by dynamic
programming: least squares plus a price for each leg (optimal partitioning, as in Jackson et al. 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.ndimage import median_filter

from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]

_LEG_PRICE = 26.0
"""About 7 parameters times ln(40): what a further rolling leg must earn in squared sigmas."""
_REST_PRICE = 14.0
_ACCELERATION_SIGMA_MM_S2 = 1500.0
"""Prior: sliding brakes by 0.2 g; nothing between impacts does more."""
_SPEED_SIGMA_MM_S = 6000.0
_LONGEST = 240
"""Sightings a leg may hold; bounds the work. Longer rolls are simply two legs that join smoothly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """Sightings ``first`` … ``last`` (indices, inclusive); p(t) = coef[0] + coef[1] u + coef[2] u^2 with u = t - ref_s.

    ``coef`` (3, 2) in mm, mm/s, mm/s2 (half the acceleration); ``cov`` (3, 3) is one coordinate's covariance.
    """

    first: int
    last: int
    t0_s: float
    t1_s: float
    ref_s: float
    coef: F64
    cov: F64
    resting: bool

    def at(self, t_s: float | F64) -> F64:
        """Position (…, 2) at ``t_s``; beyond the ends the parabola goes on."""
        u = np.asarray(t_s, np.float64)[..., None] - self.ref_s
        return np.asarray(self.coef[0] + self.coef[1] * u + self.coef[2] * u**2, np.float64)

    def velocity(self, t_s: float) -> F64:
        """Velocity (2,) mm/s; beyond the ends it is kept from turning round by braking."""
        u = t_s - self.ref_s
        return np.asarray(self.coef[1] + 2 * self.coef[2] * u, np.float64)

    def straight(self, t_s: float | F64) -> F64:
        """Position (…, 2) going on in a straight line from the nearer end: safer far outside than the parabola."""
        t = np.asarray(t_s, np.float64)
        inside = np.clip(t, self.t0_s, self.t1_s)
        beyond = (t - inside)[..., None]
        end = np.where((t < self.t0_s)[..., None], self.velocity(self.t0_s), self.velocity(self.t1_s))
        return np.asarray(self.at(inside) + end * beyond, np.float64)

    def speed_sigma(self, t_s: float) -> float:
        """Standard error (mm/s) of one coordinate's velocity at ``t_s``."""
        g = np.array([0.0, 1.0, 2 * (t_s - self.ref_s)])
        return float(np.sqrt(max(g @ self.cov @ g, 0.0)))

    def place_sigma(self, t_s: float) -> float:
        """Standard error (mm) of one coordinate at ``t_s``."""
        u = t_s - self.ref_s
        g = np.array([1.0, u, u**2])
        return float(np.sqrt(max(g @ self.cov @ g, 0.0)))

    @property
    def n(self) -> int:
        return self.last - self.first + 1


def noise_mm(s: Sightings) -> F64:
    """Noise of each sighting (n,) from the sightings themselves: how far each lies from the parabola of three
    neighbours.

    The calibration's own sigma is mostly bias, common to neighbouring sightings; it only bounds the answer.
    """
    n = len(s)
    stated = np.maximum(s.sigma_mm, 0.3)
    if n < 8:
        return stated
    t = s.t_s
    a, b, c, d = t[:-3], t[1:-2], t[2:-1], t[3:]
    wa = (d - b) * (d - c) / ((a - b) * (a - c))
    wb = (d - a) * (d - c) / ((b - a) * (b - c))
    wc = (d - a) * (d - b) / ((c - a) * (c - b))
    p = s.xy_mm
    miss = p[3:] - wa[:, None] * p[:-3] - wb[:, None] * p[1:-2] - wc[:, None] * p[2:-1]
    miss = np.abs(miss) / np.sqrt(1 + wa**2 + wb**2 + wc**2)[:, None]
    whole = float(np.median(miss)) / 0.6745
    # A running median over both coordinates of 21 neighbours.
    local = median_filter(miss.reshape(-1), size=42, mode="nearest")[::2] / 0.6745
    local = np.maximum(np.concatenate([local[:1], local, local[-1:], local[-1:]]), 0.8 * whole)
    step = np.zeros(n)
    step[1:] = np.hypot(*np.diff(p, axis=0).T) / np.maximum(np.diff(t), 1e-3)
    speed = np.minimum(step, np.roll(step, -1))
    # 0.3 ms of time jitter and rolling shutter: fast balls are less sure along their way.
    noise = np.hypot(np.clip(local, np.maximum(0.4 * stated, 0.2), 1.6 * stated), 0.0003 * speed)
    return np.asarray(noise, np.float64)


def without_outliers(s: Sightings) -> Sightings:
    """Drops single sightings far off the line of two neighbours on each side which agree among themselves."""
    n = len(s)
    if n < 6:
        return s
    noise = np.maximum(noise_mm(s)[2:-2], 0.5)
    index = np.arange(2, n - 2)
    near = index[:, None] + np.array([-2, -1, 1, 2])
    t = s.t_s[near] - s.t_s[index][:, None]
    p = s.xy_mm[near]
    mean_t, mean_p = t.mean(axis=1), p.mean(axis=1)
    dt, dp = t - mean_t[:, None], p - mean_p[:, None]
    slope = (dt[:, :, None] * dp).sum(axis=1) / (dt**2).sum(axis=1)[:, None]
    agree = np.abs(dp - slope[:, None] * dt[:, :, None]).max(axis=(1, 2)) < 3 * noise
    expected = mean_p - slope * mean_t[:, None]
    off = np.hypot(*(s.xy_mm[index] - expected).T) > 6 * noise
    keep = np.ones(n, np.bool_)
    keep[index[agree & off]] = False
    return s if keep.all() else s.part(keep)


def fit_leg(
    s: Sightings,
    noise: F64,
    first: int,
    last: int,
    *,
    resting: bool,
    acceleration_sigma_mm_s2: float = _ACCELERATION_SIGMA_MM_S2,
) -> Leg:
    """Least squares of the sightings ``first`` … ``last`` with the priors on speed and acceleration."""
    sl = slice(first, last + 1)
    t, p, w = s.t_s[sl], s.xy_mm[sl], 1.0 / noise[sl] ** 2
    ref = float((t[0] + t[-1]) / 2)
    if resting:
        total = float(w.sum())
        coef = np.zeros((3, 2))
        coef[0] = np.average(_middle(p), axis=0) if len(p) >= 8 else (w[:, None] * p).sum(axis=0) / total
        cov = np.zeros((3, 3))
        cov[0, 0] = 1.0 / total
    else:
        u = t - ref
        basis = np.column_stack([np.ones_like(u), u, u**2])
        normal = (basis * w[:, None]).T @ basis
        normal[1, 1] += 1.0 / _SPEED_SIGMA_MM_S**2
        normal[2, 2] += 4.0 / acceleration_sigma_mm_s2**2
        normal[0, 0] += 1e-9
        cov = np.asarray(np.linalg.inv(normal), np.float64)
        coef = cov @ ((basis * w[:, None]).T @ p)
    return Leg(
        first=first, last=last, t0_s=float(t[0]), t1_s=float(t[-1]), ref_s=ref, coef=coef, cov=cov, resting=resting
    )


def _middle(p: F64) -> F64:
    """The half of the places (n, 2) nearest their median: a mean that a passing hand does not pull."""
    distance = np.hypot(*(p - np.median(p, axis=0)).T)
    return p[np.argsort(distance)[: max(len(p) // 2, 4)]]


def split_into_legs(s: Sightings, noise: F64) -> list[Leg]:
    """The cheapest legs for the sightings ``s`` (n >= 1) with ``noise`` (n,), in time order, each sighting in one
    leg."""
    n = len(s)
    if n == 0:
        return []
    if _lies_still(s, noise):
        return [fit_leg(s, noise, 0, n - 1, resting=True)]
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    came: list[tuple[int, bool]] = [(0, True)] * (n + 1)
    weight = 1.0 / noise**2
    lo = 0
    for j in range(1, n + 1):
        lo = max(lo, j - _LONGEST)
        moving, resting = _leg_costs(s.t_s[lo:j], s.xy_mm[lo:j], weight[lo:j])
        size = np.arange(j - lo, 0, -1)
        totals_m = best[lo:j] + moving + _LEG_PRICE + np.where(size < 3, 6.0, 0.0)
        totals_r = best[lo:j] + resting + _REST_PRICE + np.where(size < 4, 30.0, 0.0)
        im, ir = int(np.argmin(totals_m)), int(np.argmin(totals_r))
        if totals_r[ir] <= totals_m[im]:
            best[j], came[j] = totals_r[ir], (lo + ir, True)
        else:
            best[j], came[j] = totals_m[im], (lo + im, False)
        # A start that is already dearer than the best can never be the best start of a longer leg (PELT).
        hopeful = best[lo:j] + np.minimum(moving, resting) <= best[j]
        if hopeful.any():
            lo += int(np.argmax(hopeful))
        else:
            lo = j - 1
    cuts: list[tuple[int, int, bool]] = []
    j = n
    while j > 0:
        i, rest = came[j]
        cuts.append((i, j - 1, rest))
        j = i
    cuts.reverse()
    return [fit_leg(s, noise, i, j, resting=r) for i, j, r in cuts]


def _lies_still(s: Sightings, noise: F64) -> bool:
    """Whether the ball plainly never moved: no sighting far off, no drift from quarter to quarter."""
    n = len(s)
    if n < 8:
        return False
    away = np.hypot(*(s.xy_mm - np.median(s.xy_mm, axis=0)).T)
    error = float(np.median(noise))
    if float(np.quantile(away, 0.95)) > max(2.0, 2.8 * error) or float(away.max()) > max(5.0, 5 * error):
        return False
    quarters = np.array([np.median(part, axis=0) for part in np.array_split(s.xy_mm, 4)])
    drift = np.hypot(*(quarters - quarters.mean(axis=0)).T).max()
    return bool(float(drift) < max(0.8, 2.5 * error / np.sqrt(n / 4)))


def _leg_costs(t: F64, p: F64, w: F64) -> tuple[F64, F64]:
    """Costs (m,) of one rolling and one resting leg over the sightings i … end, for each start i."""
    u = (t - t[-1])[::-1]
    w = w[::-1]
    y = p[::-1] - p[-1]
    wu = w * u
    wuu = wu * u
    s0, s1, s2, s3, s4 = np.cumsum(np.stack([w, wu, wuu, wuu * u, wuu * u * u]), axis=1)
    b0, b1, b2 = np.cumsum(np.stack([w[:, None] * y, wu[:, None] * y, wuu[:, None] * y]), axis=1)
    yy = np.cumsum(w * (y**2).sum(axis=1))
    resting = yy - (b0**2).sum(axis=1) / s0
    # The 3 x 3 normal equations of each start, by elimination.
    a11 = s2 + 1.0 / _SPEED_SIGMA_MM_S**2 - s1 * s1 / s0
    a12 = s3 - s1 * s2 / s0
    a22 = s4 + 4.0 / _ACCELERATION_SIGMA_MM_S2**2 - s2 * s2 / s0
    c1 = b1 - (s1 / s0)[:, None] * b0
    c2 = b2 - (s2 / s0)[:, None] * b0
    ratio = a12 / a11
    d2 = np.maximum(a22 - ratio * a12, 1e-18)
    e2 = c2 - ratio[:, None] * c1
    moving = resting - (c1**2).sum(axis=1) / a11 - (e2**2).sum(axis=1) / d2
    return np.maximum(moving, 0.0)[::-1], np.maximum(resting, 0.0)[::-1]
