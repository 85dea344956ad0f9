"""What the legs of least squares may not say: noise that looks like motion, and balls that braking sends back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.impacts import split_at_impacts
from vision_referee.tracking.legs import Leg, fit_leg
from vision_referee.tracking.restless import lying_though_restless
from vision_referee.tracking.smooth import joined_where_smooth, without_pauses
from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]
_HALF_A_BALL_MM = 28.0
_AT_ONCE_S = 0.12
"""Nothing leaves its place and lies still elsewhere within so short a time: what seems to has been seen wrongly."""


def _stated(s: Sightings, first: int, last: int) -> float:
    """What the eye itself holds of its error (mm) about some sightings.

    Most of it is no noise from frame to frame but a bias that stays until the picture changes (an encoder leaves small
    motions out for some frames, a neighbour's shadow passes): a step as long as it is no motion.
    """
    return float(np.median(s.sigma_mm[max(first, 0) : last]))


def tidy(legs: list[Leg], s: Sightings, noise: F64, *, still_at_end: bool) -> list[Leg]:
    """Legs that go nowhere become rest, rests at one place become one rest, and no ball rolls back by braking."""
    legs = split_at_impacts(joined_where_smooth(legs, s, noise), s, noise)
    legs = [part for leg in legs for part in _cut_at_vertex(leg, s, noise)]
    if still_at_end:
        legs = _rest_at_end(legs, s, noise)
    still = []
    for leg in legs:
        way = float(np.hypot(*(leg.at(leg.t1_s) - leg.at(leg.t0_s))))
        error = float(np.median(noise[leg.first : leg.last + 1]))
        speed = way / max(leg.t1_s - leg.t0_s, 1e-3)
        creeping = not leg.resting and way < max(1.5, 2.5 * error) and (leg.n >= 4 or speed < 40.0)
        still.append(fit_leg(s, noise, leg.first, leg.last, resting=True) if creeping else leg)
    merged: list[Leg] = []
    for leg in still:
        if merged and merged[-1].resting and leg.resting:
            before = merged[-1]
            error = float(np.median(noise[before.first : leg.last + 1]))
            step = float(np.hypot(*(leg.coef[0] - before.coef[0])))
            at_once = s.t_s[leg.first] - s.t_s[before.last] < _AT_ONCE_S
            stated = _stated(s, before.last - 2, leg.first + 3)
            if step < max(2.0, 2.5 * error, (4.0 if at_once else 2.0) * stated):
                merged[-1] = fit_leg(s, noise, before.first, leg.last, resting=True)
                continue
        merged.append(leg)
    settled = lying_though_restless(_without_excursions(_absorbed(merged, s, noise), s, noise), s, noise)
    return without_pauses(settled, s, noise)


def _rest_at_end(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """A ball that the tracker calls still rests at least as long as its sightings stay about its last place."""
    n = len(s)
    if n < 6:
        return legs
    tail = s.xy_mm[-min(n, 8) :]
    home = np.median(tail, axis=0)
    away = np.hypot(*(s.xy_mm - home).T)
    near = away < np.maximum(2.5, 3.2 * noise)
    out = np.flatnonzero(~near)
    cut = int(out[-1]) + 1 if len(out) else 0
    if n - cut < 4 or (legs[-1].resting and legs[-1].first <= cut):
        return legs
    kept: list[Leg] = []
    for leg in legs:
        if leg.last < cut:
            kept.append(leg)
        elif leg.first < cut:
            if cut - leg.first >= 3:
                kept.append(fit_leg(s, noise, leg.first, cut - 1, resting=leg.resting))
            else:
                cut = leg.first
    return [*kept, fit_leg(s, noise, cut, n - 1, resting=True)]


def _absorbed(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """Moving legs beside a rest that never get away from its place by more than noise belong to the rest."""
    for step in (1, -1):
        i = 0 if step == 1 else len(legs) - 1
        while 0 <= i < len(legs):
            j = i + step
            if legs[i].resting and 0 <= j < len(legs) and not legs[j].resting:
                leg = legs[j]
                error = float(np.median(noise[leg.first : leg.last + 1]))
                away = np.hypot(*(s.xy_mm[leg.first : leg.last + 1] - legs[i].coef[0]).T)
                if float(np.quantile(away, 0.8)) < max(2.5, 3.0 * error) and float(away.max()) < max(8.0, 6 * error):
                    a, b = min(i, j), max(i, j)
                    joined = fit_leg(s, noise, legs[a].first, legs[b].last, resting=True)
                    legs = [*legs[:a], joined, *legs[b + 1 :]]
                    i = a
                    continue
            i += step
    return legs


def _cut_at_vertex(leg: Leg, s: Sightings, noise: F64) -> list[Leg]:
    """Friction stops a ball and does not send it back: behind the parabola's vertex the ball lies still."""
    if leg.resting or leg.n < 7:
        return [leg]
    velocity, half = leg.coef[1], leg.coef[2]
    square = float(half @ half)
    if square < 1.0:
        return [leg]
    vertex = leg.ref_s - float(velocity @ half) / (2 * square)
    slow = float(np.hypot(*leg.velocity(vertex))) < 40.0
    if not slow or not leg.t0_s + 0.1 < vertex < leg.t1_s - 0.07:
        return [leg]
    t = s.t_s[leg.first : leg.last + 1]
    cut = leg.first + int(np.searchsorted(t, vertex))
    cut = min(max(cut, leg.first + 3), leg.last - 1)
    return [
        fit_leg(s, noise, leg.first, cut - 1, resting=False),
        fit_leg(s, noise, cut, leg.last, resting=True),
    ]


def _without_excursions(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """A ball that leaves its place by a few millimetres and is back at once did not move: something passed, or noise.

    The same at a path's beginning and end: moving legs of a few millimetres beside a rest belong to it.
    """
    rests = [i for i, leg in enumerate(legs) if leg.resting]
    if not rests or len(legs) == len(rests) == 1:
        return legs
    out: list[Leg] = []
    i = 0
    while i < len(legs):
        leg = legs[i]
        following = next((r for r in rests if r > i), None)
        if leg.resting and following is not None and following > i + 1:
            after = legs[following]
            error = float(np.median(noise[leg.first : after.last + 1]))
            stated = _stated(s, leg.last - 2, after.first + 3)
            back = float(np.hypot(*(after.coef[0] - leg.coef[0])))
            between = s.xy_mm[leg.last + 1 : after.first]
            far = float(np.hypot(*(between - leg.coef[0]).T).max())
            near = back < max(2.0, 2.5 * error, 2.0 * stated) and far < max(10.0, 6.5 * error, 3.0 * stated)
            if near or _came_back(leg, after, back, far, s):
                joined = fit_leg(s, noise, leg.first, after.last, resting=True)
                legs = [*legs[:i], joined, *legs[following + 1 :]]
                rests = [k for k, other in enumerate(legs) if other.resting]
                continue
        out.append(leg)
        i += 1
    return _short_ends(out, s, noise)


def _came_back(before: Leg, after: Leg, back_mm: float, far_mm: float, s: Sightings) -> bool:
    """Whether a ball lies again exactly where it lay a moment ago: half hidden, its centre was seen elsewhere."""
    astray_s = float(s.t_s[after.first] - s.t_s[before.last + 1])
    return back_mm < 2.0 and far_mm < _HALF_A_BALL_MM and astray_s < 1.5


def _short_ends(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    for at_start in (True, False):
        rests = [i for i, leg in enumerate(legs) if leg.resting]
        if not rests:
            return legs
        rest = rests[0] if at_start else rests[-1]
        extra = legs[:rest] if at_start else legs[rest + 1 :]
        if not extra:
            continue
        lo, hi = extra[0].first, extra[-1].last
        error = float(np.median(noise[lo : hi + 1]))
        far = float(np.hypot(*(s.xy_mm[lo : hi + 1] - legs[rest].coef[0]).T).max())
        if far < max(10.0, 6.5 * error, 3.0 * _stated(s, lo, hi + 1)) and hi - lo < 12:
            first, last = min(lo, legs[rest].first), max(hi, legs[rest].last)
            joined = fit_leg(s, noise, first, last, resting=True)
            legs = [joined, *legs[rest + 1 :]] if at_start else [*legs[:rest], joined]
    return legs
