"""Where one leg goes over into the next: the moment between two frames, the place, and the jump of velocity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.legs import Leg

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """Between ``legs[index]`` and ``legs[index + 1]``. ``jump_sigma_mm_s`` is one coordinate's standard error."""

    index: int
    t_s: float
    t_sigma_s: float
    xy_mm: F64
    before_mm_s: F64
    after_mm_s: F64
    jump_sigma_mm_s: float
    gap_s: float
    """Between the last sighting before and the first after."""

    @property
    def jump_mm_s(self) -> F64:
        return np.asarray(self.after_mm_s - self.before_mm_s, np.float64)

    @property
    def strength_mm_s(self) -> float:
        return float(np.hypot(*self.jump_mm_s))

    @property
    def is_impact(self) -> bool:
        """Whether the velocity jumps: more than friction or noise can feign."""
        speed = max(float(np.hypot(*self.before_mm_s)), float(np.hypot(*self.after_mm_s)))
        return self.strength_mm_s > max(4.0 * self.jump_sigma_mm_s, 25.0 + 0.04 * speed)


def break_between(legs: list[Leg], index: int) -> Break:
    """When the two legs' curves meet: the least distance over the gap and a little beyond."""
    left, right = legs[index], legs[index + 1]
    gap = right.t0_s - left.t1_s
    slack = 0.35 * min(gap, 0.05)
    times = np.linspace(left.t1_s - slack, right.t0_s + slack, 61)
    long = gap > 0.12
    a = left.straight(times) if long else left.at(times)
    b = right.straight(times) if long else right.at(times)
    apart = np.hypot(*(a - b).T)
    # Of nearly equal moments the middle of the gap: a break too weak to time itself is put there.
    apart = apart + 0.02 * np.abs(times - (left.t1_s + right.t0_s) / 2) / max(gap, 1e-3)
    best = int(np.argmin(apart))
    t_s = float(times[best])
    before = left.velocity(min(t_s, left.t1_s + 0.06))
    after = right.velocity(max(t_s, right.t0_s - 0.06))
    jump = float(np.hypot(*(after - before)))
    place = float(np.hypot(left.place_sigma(left.t1_s), right.place_sigma(right.t0_s)))
    weight_l = 1.0 / max(left.place_sigma(left.t1_s), 0.1) ** 2
    weight_r = 1.0 / max(right.place_sigma(right.t0_s), 0.1) ** 2
    xy = (a[best] * weight_l + b[best] * weight_r) / (weight_l + weight_r)
    return Break(
        index=index,
        t_s=t_s,
        t_sigma_s=float(np.clip(place / max(jump, 1.0), 0.002, max(gap, 0.004))),
        xy_mm=np.asarray(xy, np.float64),
        before_mm_s=before,
        after_mm_s=after,
        jump_sigma_mm_s=float(np.hypot(left.speed_sigma(left.t1_s), right.speed_sigma(right.t0_s))),
        gap_s=gap,
    )
