"""A ball driven into balls that stand frozen together: all of them push at once, for a thousandth of a second.

Taken one collision after another, a rack hands nearly everything to its corner balls, like the beads of Newton's
cradle. Real balls are stiff springs: contacts last about 0.3 ms and overlap. Here they are Hertzian springs with
Tsuji's damping (Johnson, Contact Mechanics; Tsuji, Tanaka, Ishida 1992), integrated until the cluster has parted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

STIFFNESS_N_M15 = 4.5e8
"""Of two phenolic spheres of about 34 mm radius: 4/3 E* sqrt(R*), E about 5 GPa, Poisson's ratio 0.34."""
_STEP_S = 2e-6
_MOST_S = 6e-3
REACH_M = 60e-3
"""As far as a ball can come in that time: what is farther from those that take part takes none."""
_KNOT_STEPS = 100
FROZEN_M = 1.5e-3
"""Balls nearer than this to each other stand together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """``times_s`` (k,) from the first touch; ``places_m`` and ``velocities_m_s`` (k, n, 2).

    ``touches``: for each pair that pushed, the two indices, when first, and the impulse over the mass in m/s.
    """

    times_s: F64
    places_m: F64
    velocities_m_s: F64
    touches: tuple[tuple[int, int, float, float], ...]


def cluster(places_m: F64, seed: int, *, diameter_m: float, gap_m: float = FROZEN_M) -> set[int]:
    """Indices of the balls that stand together with one of them, through each other, with gaps up to ``gap_m``."""
    found, new = {seed}, [seed]
    while new:
        k = new.pop()
        near = np.hypot(*(places_m - places_m[k]).T) < diameter_m + gap_m
        for i in np.flatnonzero(near):
            if int(i) not in found:
                found.add(int(i))
                new.append(int(i))
    return found


def burst(
    places_m: F64, velocities_m_s: F64, *, radius_m: float, mass_kg: float, restitution: float, movers: Sequence[int]
) -> Burst:
    """Integrate n balls from their first touch until none push any more. ``movers``: those that may touch."""
    diameter = 2 * radius_m
    x, v = places_m.copy(), velocities_m_s.copy()
    pairs = [
        (i, j) for n, i in enumerate(movers) for j in movers[n + 1 :]
        if np.hypot(*(x[i] - x[j])) < diameter + REACH_M
    ]  # fmt: skip
    first = np.array([p[0] for p in pairs], np.int64)
    second = np.array([p[1] for p in pairs], np.int64)
    log_e = math.log(restitution)
    damping = -log_e * math.sqrt(5 / (log_e**2 + math.pi**2)) * math.sqrt(mass_kg / 2 * STIFFNESS_N_M15)
    began = np.full(len(pairs), math.inf)
    pushed = np.zeros(len(pairs))
    times, places, velocities = [0.0], [x.copy()], [v.copy()]
    step = 0
    while step * _STEP_S < _MOST_S:
        apart = x[second] - x[first]
        distance = np.hypot(apart[:, 0], apart[:, 1])
        normal = apart / distance[:, None]
        depth = diameter - distance
        closing = ((v[first] - v[second]) * normal).sum(axis=1)
        touching = depth > 0
        deep = np.maximum(depth, 0.0)
        force = np.where(touching, np.maximum(STIFFNESS_N_M15 * deep**1.5 + damping * deep**0.25 * closing, 0.0), 0.0)
        began = np.where(touching & np.isinf(began), step * _STEP_S, began)
        impulse = force * _STEP_S / mass_kg
        pushed += impulse
        change = normal * impulse[:, None]
        np.add.at(v, second, change)
        np.subtract.at(v, first, change)
        x += v * _STEP_S
        step += 1
        if step % _KNOT_STEPS == 0:
            times.append(step * _STEP_S)
            places.append(x.copy())
            velocities.append(v.copy())
            if not touching.any() and not np.any((depth > -2e-3) & (closing > 0.03)):
                break
    touches = tuple(
        (int(first[k]), int(second[k]), float(began[k]), float(pushed[k])) for k in np.flatnonzero(pushed > 0)
    )
    return Burst(
        times_s=np.array(times), places_m=np.array(places), velocities_m_s=np.array(velocities), touches=touches
    )
