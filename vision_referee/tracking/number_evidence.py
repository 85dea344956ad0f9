"""What many views of one ball say of its number.

Views of a ball that lies still are one view with other noise: they are averaged and count little more than one. A ball
that has rolled shows another side: a view of its own, whose log-evidence is added. A glance that only told the ball's
colour says the same however often it is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

NAMES = 16
"""The cue ball and 1..15."""
_VIEW_MM = 12.0
"""Rolled so far a ball has turned by 20 degrees: half a digit's width on its surface."""
_REPEAT_WORTH, _MOST_REPEATS = 0.08, 10
"""What each further look at the same side adds to the first one's weight of 1; so many are counted."""
_LEAST_P = 1e-3
"""No single look may rule a number out: prints are smeared by lamps, edges and compression."""
_RULED_OUT_LOG = -35.0
"""Less than this below the best is as good as nothing; products over fifteen balls stay within a float's range."""
_ALIKE = 0.1
"""Correlation of the errors of two views of one ball: they share print, light and focus (fitted on rendered play, see
models/README.md). However many views, they are never worth more than 1 / _ALIKE independent ones."""


@dataclass(slots=True)
class NumberEvidence:
    """Summed log-evidence of one ball for each of NAMES, relative to "all alike"; grows while the ball is seen."""

    _sides: _Looks = field(default_factory=lambda: _Looks())
    """Sides that have rolled out of sight, already weighed."""
    _side: _Looks = field(default_factory=lambda: _Looks())
    _side_mm: F64 | None = None
    _glances: _Looks = field(default_factory=lambda: _Looks())

    def see(self, xy_mm: F64, number_p: F64) -> None:
        """One look: ``number_p`` (17,) as in ``Detections``. Where nobody read, at most its first column tells."""
        named = number_p[:NAMES]
        told = float(named.sum())
        if told <= 0.0:
            return
        # What cannot be told is spread evenly, so that a doubtful look moves the sum little.
        p = named + max(1.0 - told, 0.0) / NAMES
        log = np.log(np.maximum(p / p.sum(), _LEAST_P))
        log -= log.mean()
        if not named[1:].any():
            self._glances.add(log, 1.0)
            return
        if self._side_mm is None or float(np.hypot(*(xy_mm - self._side_mm))) > _VIEW_MM:
            self._sides.add(*self._side.as_one())
            self._side, self._side_mm = _Looks(), np.array(xy_mm, np.float64)
        self._side.add(log, 1.0)

    def log(self) -> F64:
        """(17,): log-evidence of cue, 1..15; column 16 how many views' worth it is."""
        parts = [(self._sides.log, self._sides.count), self._side.as_one(), self._glances.as_one()]
        return np.append(sum((log for log, _ in parts), np.zeros(NAMES)), sum(count for _, count in parts))


@dataclass(slots=True)
class _Looks:
    """``log`` (NAMES,) summed over ``count`` looks."""

    log: F64 = field(default_factory=lambda: np.zeros(NAMES))
    count: float = 0.0

    def add(self, log: F64, count: float) -> None:
        self.log = self.log + log
        self.count += count

    def as_one(self) -> tuple[F64, float]:
        """Looks that are alike but for noise: their mean, and how many independent ones it is worth."""
        if not self.count:
            return self.log, 0.0
        worth = 1.0 + _REPEAT_WORTH * (min(self.count, _MOST_REPEATS) - 1)
        return self.log / self.count * worth, worth


def fair_log(number_log: F64) -> F64:
    """Log-evidence (16,) of cue, 1..15 from the plain sum (17,), taken down as sums of correlated views must be (Kish's
    design effect)."""
    return np.asarray(number_log[:NAMES] / (1 + _ALIKE * max(float(number_log[NAMES]) - 1.0, 0.0)), np.float64)


def number_posterior(number_log: F64) -> F64:
    """Probabilities (16,) of cue, 1..15 from summed evidence (17,), the ball taken alone."""
    log = fair_log(number_log)
    p = np.exp(log - log.max())
    return np.asarray(p / p.sum(), np.float64)


def number_marginals(evidence: F64, none_log: float) -> F64:
    """Probability (n, k + 1) that ball i has number j, summed over all ways to give n balls different numbers.

    ``evidence`` (n, k) log-evidence, k at most 15; ``none_log`` that of having none of them (last column). Exact: sums
    over assignments by dynamic programming over the set of numbers given so far, 2^k states a ball.
    """
    count, numbers = evidence.shape
    log = np.column_stack([evidence, np.full(count, none_log)])
    every = np.exp(np.maximum(log - log.max(axis=1, keepdims=True), _RULED_OUT_LOG))
    weight, none = every[:, :numbers], every[:, numbers]
    after = np.ones((count + 1, 1 << numbers))
    for i in range(count - 1, -1, -1):
        after[i] = none[i] * after[i + 1]
        for j in range(numbers):
            with_j, without = _split(after[i + 1], j)[1], _split(after[i], j)[0]
            without += weight[i, j] * with_j
        after[i] /= after[i].max()
    before = np.zeros(1 << numbers)
    before[0] = 1.0
    out = np.empty((count, numbers + 1))
    for i in range(count):
        out[i, numbers] = none[i] * float(before @ after[i + 1])
        now = none[i] * before
        for j in range(numbers):
            free = _split(before, j)[0]
            out[i, j] = weight[i, j] * float((free * _split(after[i + 1], j)[1]).sum())
            _split(now, j)[1][...] += weight[i, j] * free
        before = now / now.max()
    return np.asarray(out / out.sum(axis=1, keepdims=True), np.float64)


def _split(states: F64, j: int) -> tuple[F64, F64]:
    """Views of the states (2^k,) without and with number j given."""
    halves = states.reshape(-1, 2, 1 << j)
    return halves[:, 0], halves[:, 1]
