"""Two tracklets on one ball: found because two balls cannot be at one place.

Where frames repeat or a ball stutters, a second track may begin beside the first, and the two take turns. Pieces that
run side by side in time within half a diameter, and hardly ever share a frame, are one ball's.
"""

from __future__ import annotations

import numpy as np

from vision_referee.tracking.legs import noise_mm, split_into_legs, without_outliers
from vision_referee.tracking.pieces import Piece, piece_of
from vision_referee.tracking.settle import tidy
from vision_referee.tracking.tracklets import Sightings


def merged(pieces: list[Piece], diameter_mm: float, settle_mm_s: float) -> tuple[list[Piece], set[int]]:
    """The pieces with such pairs made one, and the keys of tracklets that are thereby told by another one."""
    pieces = sorted(pieces, key=lambda p: p.start.t_s)
    told: set[int] = set()
    i = 0
    while i < len(pieces):
        j = i + 1
        while j < len(pieces):
            a, b = pieces[i], pieces[j]
            if b.start.t_s > a.end.t_s + 0.05:
                j += 1
                continue
            if not (a.ball is not None and b.ball is not None) and _one_ball(a, b, diameter_mm):
                keep, lose = (a, b) if _rather(a, b) else (b, a)
                told.add(lose.tracklet.key)
                pieces[i] = _joined(keep, lose, settle_mm_s)
                del pieces[j]
                j = i + 1
                continue
            j += 1
        i += 1
    return pieces, told


def _rather(a: Piece, b: Piece) -> bool:
    """Whether the track of ``a`` is the one to go on with."""
    if a.alive != b.alive:
        return a.alive
    return a.end.t_s >= b.end.t_s


def _one_ball(a: Piece, b: Piece, diameter_mm: float) -> bool:
    lo, hi = max(a.start.t_s, b.start.t_s) - 1e-6, min(a.end.t_s, b.end.t_s) + 1e-6
    if hi < lo:
        return False
    spans = [(s.t_s >= lo) & (s.t_s <= hi) for s in (a.sightings, b.sightings)]
    # Most pairs are two balls seen side by side: that is told by the frames alone.
    common = len(np.intersect1d(a.sightings.frame, b.sightings.frame))
    if common > 0.25 * sum(int(inside.sum()) for inside in spans):
        return False
    distances = []
    for one, other, inside in ((a, b, spans[0]), (b, a, spans[1])):
        for t, xy in zip(one.sightings.t_s[inside], one.sightings.xy_mm[inside], strict=True):
            at = other.at(float(t))
            if at is not None:
                distances.append(float(np.hypot(*(at - xy))))
    if len(distances) < 3 or common > 0.25 * len(distances):
        return False
    return float(np.quantile(distances, 0.8)) < 0.55 * diameter_mm


def _joined(keep: Piece, lose: Piece, settle_mm_s: float) -> Piece:
    sightings = without_outliers(Sightings.joined([keep.sightings, lose.sightings]))
    noise = noise_mm(sightings)
    legs = tidy(split_into_legs(sightings, noise), sightings, noise, still_at_end=False)
    joined = piece_of(keep.tracklet, keep.alive, sightings, noise, legs, settle_mm_s)
    joined.known = keep.ball if keep.ball is not None else lose.ball
    return joined
