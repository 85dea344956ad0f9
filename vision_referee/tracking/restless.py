"""A resting ball whose centre is seen now here, now there: small pictures, neighbours in a crowd, a ring of light.

However restless the sightings, a ball that stays about one place for a while and drifts nowhere lies there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.legs import Leg, fit_leg
from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]
_NOISES = 6.0
_FARTHEST_MM = 20.0
"""About a third of a ball: a neighbour's place is farther."""
_LEAST_S = 0.5
_DRIFT = 0.4
"""Of the radius, from the first third of the time to the last: more is a slow roll."""


def lying_though_restless(legs: list[Leg], s: Sightings, noise: F64) -> list[Leg]:
    """``legs`` with runs that never leave one place made one rest, the longest runs first."""
    runs = [
        (s.t_s[legs[j].last] - s.t_s[legs[i].first], i, j)
        for i in range(len(legs))
        for j in range(i + 1, min(i + 40, len(legs)))
        if _stays(legs[i], legs[j], s, noise)
    ]
    if not runs:
        return legs
    _, i, j = max(runs)
    rest = fit_leg(s, noise, legs[i].first, legs[j].last, resting=True)
    before = lying_though_restless(legs[:i], s, noise)
    return [*before, rest, *lying_though_restless(legs[j + 1 :], s, noise)]


def _stays(first: Leg, last: Leg, s: Sightings, noise: F64) -> bool:
    part = slice(first.first, last.last + 1)
    places, times = s.xy_mm[part], s.t_s[part]
    radius = min(_NOISES * float(np.median(noise[part])), _FARTHEST_MM)
    if times[-1] - times[0] < _LEAST_S or len(places) < 9:
        return False
    # Cheap first: most runs go far.
    if float(np.hypot(*(places[-1] - places[0]))) > 2 * radius:
        return False
    away = np.hypot(*(places - np.median(places, axis=0)).T)
    third = len(places) // 3
    drift = np.hypot(*(np.median(places[-third:], axis=0) - np.median(places[:third], axis=0)))
    return float(away.max()) < radius and float(drift) < _DRIFT * radius
