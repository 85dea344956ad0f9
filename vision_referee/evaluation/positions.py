"""Where the balls were said to be against where they were: pairs frame by frame, position error, detection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.evaluation.matching import align_times, one_to_one
from vision_referee.evaluation.track_table import HIDDEN, MOVING, RESTING, TrackTable

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class FramePair:
    """One instant: rows of the truth and of what was seen that are on the table, and their distances (n, m) in mm."""

    t_s: float
    truth_rows: I64
    seen_rows: I64
    distance_mm: F64
    pairs: list[tuple[int, int, float]]
    """(truth row, seen row, mm apart) of one and the same ball, at most one ball diameter apart."""


@dataclass(slots=True, kw_only=True)
class Counts:
    """Right, false and missed, and what follows from them."""

    right: int = 0
    false: int = 0
    missed: int = 0

    def add(self, other: Counts) -> None:
        self.right += other.right
        self.false += other.false
        self.missed += other.missed

    @property
    def precision(self) -> float | None:
        """None where nothing was said."""
        said = self.right + self.false
        return self.right / said if said else None

    @property
    def recall(self) -> float | None:
        """None where there was nothing to find."""
        true = self.right + self.missed
        return self.right / true if true else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None where nothing was said and nothing was to be found."""
        total = 2 * self.right + self.false + self.missed
        return 2 * self.right / total if total else None

    def to_json(self) -> dict[str, Any]:
        return {
            "right": self.right,
            "false": self.false,
            "missed": self.missed,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


@dataclass(slots=True, kw_only=True)
class PositionScore:
    """Distances in mm, one per ball and frame, apart by what the ball was truly doing.

    ``hidden_mm``: balls that either side says could not be seen: kept by the tracker's reasoning alone.
    """

    resting_mm: list[F64] = field(default_factory=list)
    moving_mm: list[F64] = field(default_factory=list)
    hidden_mm: list[F64] = field(default_factory=list)

    def add(self, other: PositionScore) -> None:
        self.resting_mm += other.resting_mm
        self.moving_mm += other.moving_mm
        self.hidden_mm += other.hidden_mm

    def to_json(self) -> dict[str, Any]:
        return {
            "all": spread(self.resting_mm + self.moving_mm),
            "resting": spread(self.resting_mm),
            "moving": spread(self.moving_mm),
            "hidden": spread(self.hidden_mm),
        }


def spread(parts: list[F64]) -> dict[str, Any]:
    """Number, median, 95th and 99th percentile and largest of the values of all ``parts``; None where there is none."""
    values = np.concatenate(parts) if parts else np.zeros(0)
    if len(values) == 0:
        return {"n": 0, "median": None, "p95": None, "p99": None, "max": None}
    median, p95, p99 = np.percentile(values, [50, 95, 99])
    return {
        "n": len(values),
        "median": float(median),
        "p95": float(p95),
        "p99": float(p99),
        "max": float(values.max()),
    }


def pair_frames(truth: TrackTable, seen: TrackTable, diameter_mm: float) -> list[FramePair]:
    """Pair the balls on the table frame by frame, at most ``diameter_mm`` apart, as one-to-one assignments.

    Where a frame pair is not quite simultaneous, the truth is carried to the seen frame's time by its own velocity.
    Frames that only one side has come with an empty other side.
    """
    truth_s, truth_at = truth.frames()
    seen_s, seen_at = seen.frames()
    truth_here, seen_here = truth.state <= HIDDEN, seen.state <= HIDDEN
    pairs, truth_left, seen_left = align_times(truth_s, seen_s)
    nothing = np.zeros(0, np.int64)
    frames: list[FramePair] = []
    wanted = [(i, k) for i, k in pairs] + [(i, -1) for i in truth_left] + [(-1, k) for k in seen_left]
    for i, k in wanted:
        a = np.arange(truth_at[i], truth_at[i + 1]) if i >= 0 else nothing
        b = np.arange(seen_at[k], seen_at[k + 1]) if k >= 0 else nothing
        a, b = a[truth_here[a]], b[seen_here[b]]
        shift = float(seen_s[k] - truth_s[i]) if i >= 0 and k >= 0 else 0.0
        dx = (truth.x[a] + truth.vx[a] * shift)[:, None] - seen.x[b][None, :]
        dy = (truth.y[a] + truth.vy[a] * shift)[:, None] - seen.y[b][None, :]
        distance = np.hypot(dx, dy)
        distance[~np.isfinite(distance)] = np.inf
        # Where a hidden and a seen row could both be the ball, the seen one is.
        cost = distance + diameter_mm * (seen.state[b] == HIDDEN)[None, :]
        found = one_to_one(cost, distance <= diameter_mm)
        frames.append(
            FramePair(
                t_s=float(truth_s[i] if i >= 0 else seen_s[k]),
                truth_rows=a,
                seen_rows=b,
                distance_mm=distance,
                pairs=[(int(a[r]), int(b[c]), float(distance[r, c])) for r, c in found],
            )
        )
    frames.sort(key=lambda frame: frame.t_s)
    return frames


def score_positions(truth: TrackTable, seen: TrackTable, frames: list[FramePair]) -> tuple[PositionScore, Counts]:
    """Position error and detection.

    A ball that the truth calls hidden need not be found, and finding it is no mistake; a ball that is said to be
    hidden is not claimed to be seen: missed where it was in view, never false.
    """
    counts = Counts()
    by_state: dict[int, list[float]] = {MOVING: [], RESTING: [], HIDDEN: []}
    for frame in frames:
        used_truth, used_seen = {a for a, _, _ in frame.pairs}, {b for _, b, _ in frame.pairs}
        for a, b, apart_mm in frame.pairs:
            hidden_truth, hidden_seen = truth.state[a] == HIDDEN, seen.state[b] == HIDDEN
            state = HIDDEN if hidden_truth or hidden_seen else int(truth.state[a])
            by_state[state].append(apart_mm)
            if not hidden_truth:
                counts.missed += int(hidden_seen)
                counts.right += int(not hidden_seen)
        counts.missed += sum(1 for a in frame.truth_rows if int(a) not in used_truth and truth.state[a] != HIDDEN)
        counts.false += sum(1 for b in frame.seen_rows if int(b) not in used_seen and seen.state[b] != HIDDEN)
    score = PositionScore(
        resting_mm=[np.array(by_state[RESTING])],
        moving_mm=[np.array(by_state[MOVING])],
        hidden_mm=[np.array(by_state[HIDDEN])],
    )
    return score, counts


def turned_round(table: TrackTable, length_mm: float, width_mm: float) -> TrackTable:
    """The same tracks with head and foot exchanged (the table turned by 180 degrees)."""
    return TrackTable(
        t=table.t,
        ball=table.ball,
        x=length_mm - table.x,
        y=width_mm - table.y,
        vx=-table.vx,
        vy=-table.vy,
        state=table.state,
        confidence=table.confidence,
        labels=table.labels,
    )
