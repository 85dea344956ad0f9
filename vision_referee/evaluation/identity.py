"""Who is who: HOTA and IDF1 (TrackEval), the map from labels said to labels true, identities kept through strokes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vision_referee.evaluation.positions import FramePair
from vision_referee.evaluation.track_table import TrackTable

_WINDOWS_S = (0.25, 1.0, float("inf"))
"""How far around an event its ball's true identity is looked for; wider only where nearer shows nothing."""
_SHARE = 0.3
"""Part of a window's frames above which a true ball is a candidate: both sides of a swap are, a glitch is not."""


@dataclass(slots=True, kw_only=True)
class IdentityScore:
    """TrackEval's raw results, one pair a clip, and the strokes through which identities were kept."""

    strokes_with_contact: int = 0
    strokes_kept: int = 0
    """Strokes with a contact through which no two balls exchanged their labels."""
    parts: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    """(HOTA, Identity) results as TrackEval returns and combines them."""

    def add(self, other: IdentityScore) -> None:
        self.strokes_with_contact += other.strokes_with_contact
        self.strokes_kept += other.strokes_kept
        self.parts += other.parts

    def to_json(self) -> dict[str, Any]:
        from trackeval.metrics import HOTA, Identity

        out: dict[str, Any] = {
            "hota": None,
            "deta": None,
            "assa": None,
            "loca": None,
            "idf1": None,
            "idp": None,
            "idr": None,
            "strokes_with_contact": self.strokes_with_contact,
            "strokes_kept": self.strokes_kept,
        }
        if self.parts:
            hota = HOTA().combine_sequences({str(k): part[0] for k, part in enumerate(self.parts)})
            identity = Identity(_IDENTITY).combine_sequences({str(k): part[1] for k, part in enumerate(self.parts)})
            for name in ("HOTA", "DetA", "AssA", "LocA"):
                out[name.lower()] = float(np.mean(hota[name]))
            for name in ("IDF1", "IDP", "IDR"):
                out[name.lower()] = float(identity[name])
        return out


_IDENTITY = {"THRESHOLD": 0.5, "PRINT_CONFIG": False}


def score_identity(truth: TrackTable, seen: TrackTable, frames: list[FramePair], diameter_mm: float) -> IdentityScore:
    """HOTA and IDF1 over every ball on the table, hidden ones too (a referee must know them).

    Similarity falls linearly with distance, from 1 at none to 0 at two ball diameters, so that TrackEval's threshold
    of 0.5 is one ball diameter (as its point-distance benchmarks do with metres).
    """
    from trackeval.metrics import HOTA, Identity

    truth_ids: list[Any] = []
    seen_ids: list[Any] = []
    similarity: list[Any] = []
    # TrackEval counts with dense ids: only labels that stand on the table at all take part.
    truth_code, seen_code = _Codes(), _Codes()
    for frame in frames:
        truth_ids.append(truth_code.of(truth.ball[frame.truth_rows]))
        seen_ids.append(seen_code.of(seen.ball[frame.seen_rows]))
        similarity.append(np.clip(1.0 - frame.distance_mm / (2.0 * diameter_mm), 0.0, 1.0))
    data = {
        "gt_ids": truth_ids,
        "tracker_ids": seen_ids,
        "similarity_scores": similarity,
        "num_gt_ids": len(truth_code),
        "num_tracker_ids": len(seen_code),
        "num_gt_dets": int(sum(map(len, truth_ids))),
        "num_tracker_dets": int(sum(map(len, seen_ids))),
        "num_timesteps": len(frames),
    }
    if data["num_gt_dets"] == 0 and data["num_tracker_dets"] == 0:
        return IdentityScore()
    return IdentityScore(parts=[(HOTA().eval_sequence(data), Identity(_IDENTITY).eval_sequence(data))])


class _Codes:
    def __init__(self) -> None:
        self._code: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._code)

    def of(self, values: Any) -> Any:
        return np.array([self._code.setdefault(int(v), len(self._code)) for v in values], np.int64)


class IdentityMap:
    """Which true ball a label stood for, near a time: from the frame-by-frame pairs of the two sides' tracks."""

    def __init__(self, truth: TrackTable | None, seen: TrackTable | None, frames: list[FramePair]) -> None:
        self._times: dict[str, list[float]] = defaultdict(list)
        self._true: dict[str, list[str]] = defaultdict(list)
        if truth is not None and seen is not None:
            for frame in frames:
                for a, b, _ in frame.pairs:
                    label = seen.labels[seen.ball[b]]
                    self._times[label].append(frame.t_s)
                    self._true[label].append(truth.labels[truth.ball[a]])

    def candidates(self, label: str, t_s: float) -> frozenset[str]:
        """True labels that ``label`` may have stood for at ``t_s``: two around a swap, none if it was never paired."""
        times = self._times.get(label)
        if not times:
            return frozenset()
        for window_s in _WINDOWS_S:
            near = self._true[label][bisect_left(times, t_s - window_s) : bisect_right(times, t_s + window_s)]
            if near:
                counts = Counter(near)
                return frozenset(name for name, n in counts.items() if n >= _SHARE * len(near))
        return frozenset()

    def at(self, label: str, t_s: float) -> str | None:
        """The true label paired with ``label`` in the frame nearest to ``t_s``, or None."""
        times = self._times.get(label)
        if not times:
            return None
        k = bisect_left(times, t_s)
        near = [j for j in (k - 1, k) if 0 <= j < len(times)]
        return self._true[label][min(near, key=lambda j: abs(times[j] - t_s))]


def identities_kept(
    truth: TrackTable, seen: TrackTable, frames: list[FramePair], strokes_s: list[tuple[float, float]]
) -> int:
    """In how many of the strokes (start, end) every ball has the same label said before and after.

    Balls that are not paired at both ends (pocketed, not found) do not count here: they are missed elsewhere.
    """
    times = [frame.t_s for frame in frames]
    kept = 0
    for start_s, end_s in strokes_s:
        before = _labels_near(truth, seen, frames, times, start_s, -1)
        after = _labels_near(truth, seen, frames, times, end_s, +1)
        kept += all(before[ball] == after[ball] for ball in before.keys() & after.keys())
    return kept


def _labels_near(
    truth: TrackTable, seen: TrackTable, frames: list[FramePair], times: list[float], t_s: float, side: int
) -> dict[str, str]:
    """True label -> label said, by majority over half a second just before or after ``t_s``."""
    a, b = (t_s - 0.5, t_s) if side < 0 else (t_s, t_s + 0.5)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for frame in frames[bisect_left(times, a) : bisect_right(times, b)]:
        for i, k, _ in frame.pairs:
            votes[truth.labels[truth.ball[i]]][seen.labels[seen.ball[k]]] += 1
    return {ball: counter.most_common(1)[0][0] for ball, counter in votes.items()}
