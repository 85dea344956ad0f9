"""Soft impacts that hide in a leg: friction alone does not turn a ball round.

A slow ball that meets a cushion between two noisy sightings looks like a parabola. But sliding takes no more than two
sevenths of a ball's speed (it then rolls), and rolling brakes by a few hundredths of g: a leg that changes its velocity
by more than both together has an impact in it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.legs import Leg, fit_leg
from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]
_BY_SLIDING = 2.0 / 7.0
"""A ball without spin rolls once it has lost two sevenths of its speed (J. Walker, The Flying Circus of Physics, 1975;
any textbook); back spin costs more."""
_SPIN_ALLOWANCE = 1.5
_BY_FOLLOW = 0.25
"""Speed is won only from top spin, and not much of it."""
_BRAKING_MM_S2 = 250.0
_ROLLING_SIGMA_MM_S2 = 350.0
_LEAST_GAIN = 6.0
"""Squared sigmas by which two legs must explain more than one."""


def is_possible(leg: Leg) -> bool:
    """Whether friction explains how the velocity changes along a moving leg."""
    lasts_s = leg.t1_s - leg.t0_s
    before, after = leg.velocity(leg.t0_s), leg.velocity(leg.t1_s)
    change = float(np.hypot(*(after - before)))
    fastest = max(float(np.hypot(*before)), float(np.hypot(*after)))
    error = float(np.hypot(leg.speed_sigma(leg.t0_s), leg.speed_sigma(leg.t1_s)))
    won = float(np.hypot(*after)) - float(np.hypot(*before))
    if won > _BY_FOLLOW * fastest + 2.0 * error + 40.0:
        return False
    return change < _SPIN_ALLOWANCE * _BY_SLIDING * fastest + _BRAKING_MM_S2 * lasts_s + 3.0 * error + 20.0


def split_at_impacts(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """``legs`` with those that friction cannot explain cut in two, where two legs explain the sightings best."""
    out: list[Leg] = []
    for leg in legs:
        halves = None if leg.resting or leg.n < 6 or is_possible(leg) else _best_cut(leg, s, noise)
        out.extend(halves or (leg,))
    return out


def _best_cut(leg: Leg, s: Sightings, noise: F64) -> tuple[Leg, Leg] | None:
    best: tuple[float, tuple[Leg, Leg]] | None = None
    for cut in range(leg.first + 3, leg.last - 1):
        left = _rolling(s, noise, leg.first, cut - 1)
        right = _rolling(s, noise, cut, leg.last)
        cost = _cost(left, s, noise) + _cost(right, s, noise)
        if best is None or cost < best[0]:
            best = (cost, (left, right))
    if best is None or best[0] > _cost(_rolling(s, noise, leg.first, leg.last), s, noise) - _LEAST_GAIN:
        return None
    return best[1]


def _rolling(s: Sightings, noise: F64, first: int, last: int) -> Leg:
    return fit_leg(s, noise, first, last, resting=False, acceleration_sigma_mm_s2=_ROLLING_SIGMA_MM_S2)


def _cost(leg: Leg, s: Sightings, noise: F64) -> float:
    part = slice(leg.first, leg.last + 1)
    off = (s.xy_mm[part] - leg.at(s.t_s[part])) / noise[part, None]
    brakes = 2.0 * leg.coef[2] / _ROLLING_SIGMA_MM_S2
    return float((off**2).sum() + (brakes**2).sum())
