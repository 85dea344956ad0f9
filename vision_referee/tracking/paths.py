"""One ball's path over a window: sightings joined, legs, breaks and stops; and where it was at any moment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.breaks import Break, break_between
from vision_referee.tracking.legs import Leg, noise_mm, split_into_legs, without_outliers
from vision_referee.tracking.settle import tidy
from vision_referee.tracking.stops import Stop, fit_stop
from vision_referee.tracking.tracklets import Sightings

F64 = npt.NDArray[np.float64]


@dataclass(slots=True)
class BallPath:
    """``ball`` is the ball's id in the run. ``breaks[i]`` lies between ``legs[i]`` and ``legs[i + 1]``.

    ``known`` : it was on the table when the window began. ``alive``: it is still followed at the window's end.
    ``stops`` maps a leg's index to the stop at that leg's end.
    """

    ball: int
    label: str
    known: bool
    alive: bool
    sightings: Sightings
    noise_mm: F64
    legs: list[Leg]
    breaks: list[Break] = field(default_factory=list)
    stops: dict[int, Stop] = field(default_factory=dict)
    keys: tuple[int, ...] = ()

    @property
    def moved(self) -> bool:
        return any(not leg.resting for leg in self.legs)

    @property
    def start_s(self) -> float:
        return self.legs[0].t0_s

    @property
    def end_s(self) -> float:
        return self.legs[-1].t1_s

    def leg_at(self, t_s: float) -> int:
        """Index of the leg that holds at ``t_s``."""
        for i, br in enumerate(self.breaks):
            if t_s < br.t_s:
                return i
        return len(self.legs) - 1

    def at(self, t_s: float) -> F64:
        """Place (2,) at ``t_s``; beyond the ends straight on."""
        i = self.leg_at(t_s)
        leg = self.legs[i]
        stop = self.stops.get(i)
        if stop is not None and t_s >= stop.t_s:
            return stop.xy_mm
        near = leg.t0_s - 0.12 <= t_s <= leg.t1_s + 0.12
        inner = i < len(self.breaks) and i > 0
        return leg.at(t_s) if near or leg.resting or (inner and leg.n >= 6) else leg.straight(t_s)

    def sample(self, times_s: F64) -> F64:
        """Places (n, 2) at ``times_s`` (n,), in ascending order."""
        edges = np.array([b.t_s for b in self.breaks])
        which = np.searchsorted(edges, times_s, side="right")
        out = np.zeros((len(times_s), 2))
        for i, leg in enumerate(self.legs):
            mine = which == i
            if not mine.any():
                continue
            t = times_s[mine]
            inner = 0 < i < len(self.legs) - 1 and leg.n >= 6
            out[mine] = leg.at(t) if leg.resting or inner else leg.straight(t)
            stop = self.stops.get(i)
            if stop is not None:
                out[mine] = np.where((t >= stop.t_s)[:, None], stop.xy_mm, out[mine])
        return out

    def velocity(self, t_s: float) -> F64:
        i = self.leg_at(t_s)
        leg = self.legs[i]
        stop = self.stops.get(i)
        if leg.resting or (stop is not None and t_s >= stop.t_s):
            return np.zeros(2)
        return leg.velocity(float(np.clip(t_s, leg.t0_s - 0.1, leg.t1_s + 0.1)))

    def moving_at(self, t_s: float) -> bool:
        i = self.leg_at(t_s)
        stop = self.stops.get(i)
        return not self.legs[i].resting and not (stop is not None and t_s >= stop.t_s)

    def truncated(self, t_s: float) -> BallPath:
        """The path up to ``t_s`` only: what was seen later was in a pocket's net, or off the table."""
        keep = self.sightings.t_s <= t_s
        if keep.all() or not keep.any():
            return self
        return build_path(
            ball=self.ball,
            label=self.label,
            known=self.known,
            alive=False,
            parts=[self.sightings.part(keep)],
            braking_mm_s2=100.0,
            keys=self.keys,
        )


def build_path(
    *,
    ball: int,
    label: str,
    known: bool,
    alive: bool,
    parts: list[Sightings],
    braking_mm_s2: float,
    keys: tuple[int, ...] = (),
    still_at_end: bool = False,
) -> BallPath:
    """Joins a ball's sightings and explains them by legs, breaks and stops."""
    s = without_outliers(Sightings.joined(parts))
    noise = noise_mm(s)
    legs = tidy(split_into_legs(s, noise), s, noise, still_at_end=still_at_end)
    return path_of_legs(
        ball=ball,
        label=label,
        known=known,
        alive=alive,
        sightings=s,
        noise=noise,
        legs=legs,
        braking_mm_s2=braking_mm_s2,
        keys=keys,
    )


def path_of_legs(
    *,
    ball: int,
    label: str,
    known: bool,
    alive: bool,
    sightings: Sightings,
    noise: F64,
    legs: list[Leg],
    braking_mm_s2: float,
    keys: tuple[int, ...] = (),
) -> BallPath:
    """A path whose legs are known: breaks and stops are added."""
    s = sightings
    path = BallPath(ball=ball, label=label, known=known, alive=alive, sightings=s, noise_mm=noise, legs=legs, keys=keys)
    path.breaks = [break_between(legs, i) for i in range(len(legs) - 1)]
    _fit_stops(path, braking_mm_s2)
    return path


def _fit_stops(path: BallPath, braking_mm_s2: float) -> None:
    for i in range(len(path.legs) - 1):
        leg, after = path.legs[i], path.legs[i + 1]
        if leg.resting or not after.resting:
            continue
        br = path.breaks[i]
        speed = float(np.hypot(*leg.velocity(leg.t1_s)))
        stop = None
        if speed < 90.0 + 2 * leg.speed_sigma(leg.t1_s) and leg.n >= 4:
            stop = fit_stop(
                path.sightings,
                path.noise_mm,
                leg.first,
                after.last,
                near_s=br.t_s,
                usual_braking_mm_s2=braking_mm_s2,
            )
        if stop is None:
            stop = Stop(t_s=br.t_s, t_sigma_s=max(br.t_sigma_s, 0.02), xy_mm=after.coef[0], braking_mm_s2=0.0)
        path.stops[i] = stop
