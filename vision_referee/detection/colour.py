"""What colour a ball is, and which of the set is likely to be the cue ball."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.detection.sampling import polar_samples
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]

_MIXED_SPREAD = 22.0
"""Mean distance (CIELAB) of a set's balls from their median colour above which it is a pool or snooker set."""


def mean_lab(samples: F32) -> F64:
    """CIELAB (n, 3) of balls from colours (n, m, 3) BGR 0..255 inside their discs; L in 0..100.

    The brightest fifth (the lamps' reflections) is left out.
    """
    if len(samples) == 0:
        return np.zeros((0, 3))
    brightness = samples.sum(axis=2)
    keep = brightness <= np.percentile(brightness, 80, axis=1, keepdims=True)
    mean = (samples * keep[..., None]).sum(axis=1) / np.maximum(keep.sum(axis=1), 1)[:, None]
    lab = cv2.cvtColor((mean[None] / 255).astype(np.float32), cv2.COLOR_BGR2Lab)[0]
    return np.asarray(lab, np.float64)


def disc_lab(frame: Frame, centre_px: F64, outlines_px: F64) -> F64:
    """CIELAB (n, 3) inside the discs of balls with centres (n, 2) and outlines (n, k, 2) about them."""
    if len(centre_px) == 0:
        return np.zeros((0, 3))
    samples = polar_samples(frame, centre_px, outlines_px[:, ::2], np.array([0.15, 0.35, 0.5, 0.65, 0.78]))
    return mean_lab(samples.reshape(len(centre_px), -1, 3))


class CueBallColour:
    """Tells by colour which ball is the cue ball; learns the object balls' colour as frames go by.

    Pyramid: fifteen balls of one colour and one that is not. Pool, snooker: the whitest of many colours. A set of many
    colours is taken for pool's even where ``family`` says pyramid, which is what an unknown table is taken for.
    """

    def __init__(self, family: str = "pyramid") -> None:
        self._many_colours = family in ("pool", "snooker")
        self._object: F64 | None = None
        self._spread = 0.0
        self._seen = 0

    def probability(self, lab: F64, trusted: npt.NDArray[np.bool_]) -> F64:
        """(n,) that each ball is the cue ball; 0.5 / n-like small values where colour says nothing.

        ``lab`` (n, 3); ``trusted`` (n,): sharp, whole and surely balls, fit to learn from.
        """
        if len(lab) == 0:
            return np.zeros(0)
        if self._many_colours:
            return _whitest(lab)
        self._learn(lab[trusted])
        if self._object is None:
            return np.full(len(lab), 0.1)
        if self._spread > _MIXED_SPREAD:
            return _whitest(lab)
        away = np.linalg.norm((lab - self._object) * (0.6, 1.0, 1.0), axis=1)
        width = max(14.0, 2.5 * self._spread)
        return np.asarray(1 / (1 + np.exp(-(away - width) / 3.5)), np.float64) * 0.96 + 0.01

    def _learn(self, lab: F64) -> None:
        if len(lab) < 4:
            return
        middle = np.median(lab, axis=0)
        spread = float(np.mean(np.sort(np.linalg.norm(lab - middle, axis=1))[:-1]))
        rate = 1.0 if self._object is None else max(0.03, 1.0 / (self._seen + 1))
        self._object = middle if self._object is None else self._object + rate * (middle - self._object)
        self._spread += rate * (spread - self._spread) if self._seen else spread
        self._seen += 1


def _whitest(lab: F64) -> F64:
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    white = lab[:, 0] - 0.9 * chroma
    best = float(np.max(white))
    margin = (white - best + 12) / 4
    sure = 1 / (1 + np.exp(-(lab[:, 0] - 60) / 6)) / (1 + np.exp((chroma - 38) / 6))
    return np.asarray(0.01 + 0.95 * sure / (1 + np.exp(-margin)), np.float64)
