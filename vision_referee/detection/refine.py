"""Sub-pixel centres: a ball's known outline is laid on the edges round the network's box.

Along each of the outline's points a profile runs outward through the edge. Where a profile's steepest place lies tells
how far the outline must move there; a robust least-squares fit over all profiles gives the shift and a small common
change of size. Neighbours, shadows and hands spoil some profiles; the fit gives those little weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.detection.sampling import polar_samples
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]

_INNER, _OUTER, _STEPS = 0.60, 1.32, 31
_RHO = np.linspace(_INNER, _OUTER, _STEPS)
_COLOUR_WEIGHT = 1.6
_INSIDE = slice(0, int(np.searchsorted(_RHO, 0.86)))
_OUTSIDE = slice(int(np.searchsorted(_RHO, 1.09)), int(np.searchsorted(_RHO, 1.29)))
_WEIGHING = (np.eye(3) * _COLOUR_WEIGHT + np.full((3, 3), (1 - _COLOUR_WEIGHT) / 3)).astype(np.float32)
_MOST_PROFILES, _EVERY = 40, 2
_STEPS_BETWEEN, _STEPS_TO_END = 3, 6
"""Steps of reweighting: the first round only has to come near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """``centre_px`` (n, 2); ``scale`` (n,) found size over expected; ``sigma_px`` (n,) one standard deviation of a
    centre coordinate; ``support`` (n,) 0..1, the part of the outline that lies on a clear edge."""

    centre_px: F64
    scale: F64
    sigma_px: F64
    support: F64


def fit_outlines(frame: Frame, centres_px: F64, outlines_px: F64, *, rounds: int = 2) -> Fit:
    """Fit outlines to a picture.

    ``centres_px`` (n, 2) first guesses, good to about a fifth of the radius; ``outlines_px``
    (n, k, 2) the expected outline about its centre (0, 0).
    """
    outlines_px = (
        outlines_px[:, ::_EVERY] if outlines_px.ndim == 3 and outlines_px.shape[1] > _MOST_PROFILES else outlines_px
    )
    n, k = len(centres_px), outlines_px.shape[1] if outlines_px.ndim == 3 else 0
    centre = np.asarray(centres_px, np.float64).copy()
    scale = np.ones(n)
    sigma = np.full(n, 1.0)
    support = np.zeros(n)
    if n == 0:
        return Fit(centre_px=centre, scale=scale, sigma_px=sigma, support=support)
    radius = np.linalg.norm(outlines_px, axis=2)
    direction = outlines_px / radius[..., None]
    mean_radius = radius.mean(axis=1)
    reach = (0.22, 0.13, 0.09)
    for turn in range(rounds):
        width = reach[min(turn, len(reach) - 1)]
        strength = _edge_strength(frame, centre, outlines_px * scale[:, None, None])
        offset, height = _steepest(strength, width)
        upper = np.partition(height, 3 * k // 4, axis=1)[:, 3 * k // 4, None]
        clear = height / np.maximum(upper, 1e-6)
        weight = np.clip(clear, 0, 1.2) * (height > 2.0)
        error = offset * (radius * scale[:, None])
        steps = _STEPS_TO_END if turn == rounds - 1 else _STEPS_BETWEEN
        shift, growth, good = _solve(direction, error, weight, mean_radius, steps)
        centre += shift
        scale *= 1 + np.clip(growth / mean_radius, -0.08, 0.08)
        scale = np.clip(scale, 0.85, 1.18)
        effective = np.maximum(good.sum(axis=1), 1.0)
        support = effective / k
        # Measured on rendered balls: the part of the outline that lies on a clear edge tells the error best.
        doubt = 0.012 + 0.18 * np.exp(-(np.maximum(support, 0.15) - 0.25) / 0.11)
        sigma = np.sqrt((doubt * mean_radius) ** 2 + 0.05**2)
    return Fit(centre_px=centre, scale=scale, sigma_px=sigma, support=support)


def _edge_strength(frame: Frame, centre: F64, outlines: F64) -> F32:
    """(n, k, _STEPS) how fast the colour leaves the ball's own along each profile, outward.

    Only the change along the way from the inside's colour to the outside's counts in full: a shadow's edge on the
    cloth changes another way. Colour differences weigh more than brightness, which shadows and highlights change.
    """
    samples = polar_samples(frame, centre, outlines, _RHO)
    colours = (samples.reshape(-1, 3) @ _WEIGHING).reshape(samples.shape)
    inside = colours[:, :, _INSIDE].mean(axis=2)
    outside = colours[:, :, _OUTSIDE].mean(axis=2)
    way = outside - inside
    way /= np.maximum(np.linalg.norm(way, axis=2, keepdims=True), 1e-3)
    along = (colours @ way[..., None])[..., 0]
    wide = 2
    change = colours[:, :, 2 * wide :] - colours[:, :, : -2 * wide]
    step = np.zeros(colours.shape[:3], np.float32)
    any_way = np.sqrt(np.einsum("nkrc,nkrc->nkr", change, change))
    leaving = np.maximum(along[:, :, 2 * wide :] - along[:, :, : -2 * wide], 0)
    step[:, :, wide:-wide] = 0.3 * any_way + 0.7 * leaving
    # Half of each neighbour's profile: noise falls, an outline's edge stays.
    return np.asarray(0.5 * step + 0.25 * (np.roll(step, 1, axis=1) + np.roll(step, -1, axis=1)), np.float32)


def _steepest(strength: F32, width: float) -> tuple[F64, F64]:
    """Offsets (n, k) of each profile's edge from the outline, as fractions of the radius, and the edge's height."""
    prior = np.exp(-0.5 * ((_RHO - 1) / width) ** 2).astype(np.float32)
    weighed = strength * prior
    best = weighed.argmax(axis=2)
    best = np.clip(best, 1, _STEPS - 2)
    take = np.take_along_axis
    left = take(strength, best[..., None] - 1, 2)[..., 0]
    here = take(strength, best[..., None], 2)[..., 0]
    right = take(strength, best[..., None] + 1, 2)[..., 0]
    bend = left - 2 * here + right
    sub = np.where(bend < -1e-6, 0.5 * (left - right) / np.where(bend < -1e-6, bend, -1.0), 0.0)
    rho = _RHO[best] + np.clip(sub, -1, 1) * (_RHO[1] - _RHO[0])
    return np.asarray(rho - 1, np.float64), np.asarray(here, np.float64)


def _solve(direction: F64, error: F64, weight: F64, radius: F64, steps: int) -> tuple[F64, F64, F64]:
    """Robust shift (n, 2), growth (n,) px and the final weights (n, k), by reweighted least squares."""
    n, k = error.shape
    design = np.concatenate([direction, np.ones((n, k, 1))], axis=2)
    prior = np.zeros((n, 3, 3))
    prior[:, 0, 0] = prior[:, 1, 1] = 1.0 / (0.20 * radius) ** 2
    prior[:, 2, 2] = 1.0 / (0.04 * radius) ** 2
    solution = np.zeros((n, 3, 1))
    tune = 0.10 * radius
    robust = np.ones((n, k))
    noise = np.maximum(0.05 * radius, 0.3)
    for _ in range(steps):
        w = weight * robust / noise[:, None] ** 2
        weighed = (design * w[..., None]).swapaxes(1, 2)
        solution = np.linalg.solve(weighed @ design + prior, weighed @ error[..., None])
        left = error - (design @ solution)[..., 0]
        robust = 1.0 / (1.0 + (left / tune[:, None]) ** 2) ** 2
        tune = np.maximum(tune * 0.75, np.maximum(0.03 * radius, 0.25))
    good = weight * robust
    return solution[:, :2, 0], solution[:, 2, 0], good
