"""A tracklet as linking sees it: its sightings within the window, its legs, and how it begins and ends."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.legs import Leg, noise_mm, split_into_legs, without_outliers
from vision_referee.tracking.settle import tidy
from vision_referee.tracking.tracklets import Sightings, Tracklet

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndState:
    """State at one end of a piece: seconds, mm, mm/s; sigmas of one coordinate."""

    t_s: float
    xy_mm: F64
    velocity_mm_s: F64
    place_sigma_mm: float
    speed_sigma_mm_s: float
    resting: bool

    @property
    def speed_mm_s(self) -> float:
        return float(np.hypot(*self.velocity_mm_s))

    def on(self, t_s: float | F64) -> F64:
        """Where a straight line from here leads at ``t_s``: (…, 2) mm."""
        return np.asarray(self.xy_mm + self.velocity_mm_s * (np.asarray(t_s, np.float64)[..., None] - self.t_s))


@dataclass(slots=True)
class Piece:
    tracklet: Tracklet
    alive: bool
    """Its track still runs at the window's end."""
    sightings: Sightings
    noise_mm: F64
    legs: list[Leg]
    start: EndState
    end: EndState
    is_head: bool = True
    """It begins where its tracklet begins (a tracklet may be cut in several pieces)."""
    is_tail: bool = True
    known: int | None = None
    """The ball it is known to be by another tracklet that was merged with it."""

    @property
    def ball(self) -> int | None:
        """The ball it is known to be from before the window."""
        if self.known is not None:
            return self.known
        return self.tracklet.ball if self.is_head else None

    def at(self, t_s: float, reach_s: float = 0.2) -> F64 | None:
        """Where it was at ``t_s`` (2,), at most ``reach_s`` beyond its ends; None farther off. A resting end reaches
        on."""
        if t_s < self.start.t_s:
            near = self.start.t_s - t_s <= reach_s
            return self.start.on(t_s) if near else None
        if t_s > self.end.t_s:
            return self.end.on(t_s) if self.end.resting or t_s - self.end.t_s <= reach_s else None
        for leg in self.legs:
            if t_s <= leg.t1_s:
                return leg.straight(t_s) if t_s >= leg.t0_s else leg.at(leg.t0_s)
        return self.end.xy_mm


def as_piece(tracklet: Tracklet, *, alive: bool, resting: bool, now_s: float, settle_mm_s: float) -> Piece:
    """Legs and ends of a tracklet; ``resting``: the tracker calls it still at its end. An end slower than
    ``settle_mm_s`` (or than its own error) counts as resting."""
    sightings = without_outliers(_without_late_chance(tracklet.sightings(), now_s))
    noise = noise_mm(sightings)
    legs = tidy(split_into_legs(sightings, noise), sightings, noise, still_at_end=resting)
    return piece_of(tracklet, alive, sightings, noise, legs, settle_mm_s)


def piece_of(
    tracklet: Tracklet, alive: bool, sightings: Sightings, noise: F64, legs: list[Leg], settle_mm_s: float
) -> Piece:
    """A piece whose legs are known."""
    first, last = legs[0], legs[-1]
    return Piece(
        tracklet=tracklet,
        alive=alive,
        sightings=sightings,
        noise_mm=noise,
        legs=legs,
        start=_end_state(first, first.t0_s, settle_mm_s),
        end=_end_state(last, last.t1_s, settle_mm_s),
    )


def cut_at_collisions(pieces: list[Piece], diameter_mm: float, settle_mm_s: float) -> list[Piece]:
    """Cuts pieces where a fast ball jumps in velocity beside another one.

    Look-alike balls that hand on their speed between two frames can look like one ball that goes on: the linking shall
    decide anew who is who there.
    """
    out: list[Piece] = []
    for piece in pieces:
        cuts = [
            i
            for i in range(len(piece.legs) - 1)
            if not piece.legs[i].resting and _may_have_swapped(piece, i, pieces, diameter_mm)
        ]
        if not cuts:
            out.append(piece)
            continue
        bounds = [0, *(c + 1 for c in cuts), len(piece.legs)]
        for n, (a, b) in enumerate(itertools.pairwise(bounds)):
            out.append(_part(piece, a, b, head=n == 0, tail=n == len(cuts), settle_mm_s=settle_mm_s))
    return out


def _may_have_swapped(piece: Piece, index: int, pieces: list[Piece], diameter_mm: float) -> bool:
    left, right = piece.legs[index], piece.legs[index + 1]
    before, after = left.velocity(left.t1_s), right.velocity(right.t0_s)
    gap = right.t0_s - left.t1_s
    jump = float(np.hypot(*(after - before)))
    fastest = max(float(np.hypot(*before)), float(np.hypot(*after)))
    error = float(np.hypot(left.speed_sigma(left.t1_s), right.speed_sigma(right.t0_s)))
    if jump < max(4 * error, 150.0) or fastest * gap < 0.4 * diameter_mm:
        return False
    middle = (left.t1_s + right.t0_s) / 2
    where = (left.straight(middle) + right.straight(middle)) / 2
    reach = 1.5 * diameter_mm + fastest * gap
    for other in pieces:
        if other is piece:
            continue
        at = other.at(middle)
        if at is not None and float(np.hypot(*(at - where))) < reach:
            return True
    return False


def _part(piece: Piece, a: int, b: int, *, head: bool, tail: bool, settle_mm_s: float) -> Piece:
    """The legs ``a`` … ``b - 1`` of a piece as a piece of their own."""
    first, last = piece.legs[a].first, piece.legs[b - 1].last
    keep = slice(first, last + 1)
    legs = [replace(leg, first=leg.first - first, last=leg.last - first) for leg in piece.legs[a:b]]
    return Piece(
        tracklet=piece.tracklet,
        alive=piece.alive and tail,
        sightings=piece.sightings.part(keep),
        noise_mm=piece.noise_mm[keep],
        legs=legs,
        start=_end_state(legs[0], legs[0].t0_s, settle_mm_s),
        end=_end_state(legs[-1], legs[-1].t1_s, settle_mm_s),
        is_head=piece.is_head and head,
        is_tail=piece.is_tail and tail,
        known=piece.known if head else None,
    )


def _without_late_chance(s: Sightings, now_s: float) -> Sightings:
    """A ball gone from its place leaves a gate open in which a false detection or another ball may chance to lie:
    one or two sightings long after all others are not it."""
    gaps = np.flatnonzero(np.diff(s.t_s) > 0.25)
    if len(gaps) and len(s) - (gaps[-1] + 1) < 4 and gaps[-1] >= 3:
        return s.part(slice(0, int(gaps[-1]) + 1))
    if len(s) >= 6 and now_s - s.t_s[-1] > 0.15:
        # The same for a fast ball lost for two frames: its gate had grown meanwhile.
        step = np.diff(s.t_s[-4:])
        speed = float(np.hypot(*(s.xy_mm[-1] - s.xy_mm[-4]))) / float(s.t_s[-1] - s.t_s[-4])
        usual = float(np.median(np.diff(s.t_s)))
        late = np.flatnonzero(step > 2.4 * usual)
        came_back = speed < 20.0 and float(np.hypot(*(s.xy_mm[-4:].mean(axis=0) - np.median(s.xy_mm, axis=0)))) < 12.0
        if (speed > 800.0 or came_back) and len(late) and 3 - int(late[-1]) <= 2:
            return s.part(slice(0, len(s) - (3 - int(late[-1]))))
    return s


def _end_state(leg: Leg, t_s: float, settle_mm_s: float) -> EndState:
    velocity = leg.velocity(t_s)
    error = leg.speed_sigma(t_s)
    speed = float(np.hypot(*velocity))
    resting = leg.resting or (speed < settle_mm_s and leg.n >= 4)
    return EndState(
        t_s=t_s,
        xy_mm=leg.at(t_s),
        velocity_mm_s=np.zeros(2) if resting else velocity,
        place_sigma_mm=leg.place_sigma(t_s),
        speed_sigma_mm_s=0.0 if resting else min(error, 1500.0),
        resting=resting,
    )
