"""Legs joined again where nothing happened between them.

The eye's error is mostly no noise from frame to frame: it stays while the picture stays and jumps when it changes, so a
slow ball is seen to stand and to jump on, and least squares finds legs in that. But a ball that lies does not start by
itself, and without an impact its velocity does not jump: what one parabola explains within the eye's own error is one
leg.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.impacts import is_possible
from vision_referee.tracking.legs import Leg, fit_leg
from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]
_PAUSE_S = 0.7
"""A rest within a roll that is longer is a stop."""
_CREEPING_MM_S = 60.0
"""A ball that goes on faster after a pause was set going anew."""
_SHARE_OF_STATED = 0.7
_MEAN_SQUARE = 1.3
_RUN = 5
_RUN_SIGMAS = 1.4
"""So many sightings in a row may be off by so much on average: a kink is off on one side over a run."""


def joined_where_smooth(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """``legs`` with neighbours joined that one leg explains, the likeliest pair first."""
    error = np.hypot(noise, _SHARE_OF_STATED * s.sigma_mm)
    legs = list(legs)
    while True:
        best: tuple[float, int, int, Leg] | None = None
        for i in range(len(legs) - 1):
            for j in (i + 1, i + 2):
                if j >= len(legs) or not (_may_be_one(legs[i : j + 1]) or _creeps_on(legs[i : j + 2], j - i)):
                    continue
                whole = fit_leg(s, noise, legs[i].first, legs[j].last, resting=False)
                misfit = _misfit(whole, s, error)
                if misfit < 1.0 and is_possible(whole) and (best is None or misfit < best[0]):
                    best = (misfit, i, j, whole)
        if best is None:
            return legs
        _, i, j, whole = best
        legs[i : j + 1] = [whole]


def without_pauses(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """Short rests that follow a roll and end elsewhere become the end of that roll.

    No ball starts by itself; at its slowest one is seen to stand for a while and then to have gone on.
    """
    out: list[Leg] = []
    for k, leg in enumerate(legs):
        after = legs[k + 1] if k + 1 < len(legs) else None
        pause = leg.resting and leg.t1_s - leg.t0_s < _PAUSE_S and bool(out) and not out[-1].resting
        if not pause or after is None or not (after.resting or _speed(after) < _CREEPING_MM_S):
            out.append(leg)
        elif leg.n < 3:
            out[-1] = fit_leg(s, noise, out[-1].first, leg.last, resting=False)
        else:
            out.append(fit_leg(s, noise, leg.first, leg.last, resting=False))
    return out


def _speed(leg: Leg) -> float:
    return float(np.hypot(*leg.velocity(leg.t0_s)))


def _may_be_one(legs: list[Leg]) -> bool:
    if legs[0].resting or legs[-1].resting:
        return False
    return len(legs) == 2 or (legs[1].resting and legs[2].t0_s - legs[0].t1_s < _PAUSE_S)


def _creeps_on(legs: list[Leg], last: int) -> bool:
    """A roll, a pause, and a rest elsewhere: the pause is the end of the roll, seen in steps."""
    if last != 1 or len(legs) < 3 or legs[0].resting:
        return False
    return legs[1].resting and legs[2].resting and legs[2].t0_s - legs[0].t1_s < _PAUSE_S


def _misfit(leg: Leg, s: Sightings, error: F64) -> float:
    """Above 1: the leg does not explain its sightings."""
    part = slice(leg.first, leg.last + 1)
    off = (s.xy_mm[part] - leg.at(s.t_s[part])) / error[part, None]
    square = float((off**2).sum(axis=1).mean()) / 2
    run = min(_RUN, len(off))
    kernel = np.ones(run) / run
    drift = max(float(np.abs(np.convolve(off[:, axis], kernel, mode="valid")).max()) for axis in (0, 1))
    return max(square / _MEAN_SQUARE, drift / _RUN_SIGMAS)
