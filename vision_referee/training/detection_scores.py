"""Figures of a ball detector against labelled boxes or centres: AP50, precision, recall, centre error, reliability."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

F64 = npt.NDArray[np.float64]
SIZE_EDGES_PX = (0.0, 10.0, 15.0, 22.0, 35.0, 1e9)


@dataclass(slots=True)
class Tally:
    """What was found and missed over many pictures; see :meth:`figures`."""

    name: str
    confidence: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    found_px: list[float] = field(default_factory=list)
    """Width of each detection."""
    wanted_px: list[float] = field(default_factory=list)
    """Width of each labelled ball."""
    best_for_wanted: list[float] = field(default_factory=list)
    """Confidence at which each labelled ball was found; -1 when it was not."""
    error_px: list[float] = field(default_factory=list)
    error_mm: list[float] = field(default_factory=list)
    error_width_px: list[float] = field(default_factory=list)
    pictures: int = 0

    def add(self, boxes: F64, confidence: F64, wanted: F64, *, ignored: F64 | None = None) -> list[tuple[int, int]]:
        """Match one picture's detections ``boxes`` (n, 4) to labels ``wanted`` (m, 4) at IoU 0.5, best first.

        A detection that only meets an ``ignored`` box (k, 4) counts neither way. Returns the matched pairs.
        """
        self.pictures += 1
        overlap = iou(boxes, wanted)
        free = np.ones(len(wanted), bool)
        found = np.full(len(wanted), -1.0)
        pairs = []
        spare = (
            iou(boxes, ignored).max(axis=1, initial=0) if ignored is not None and len(ignored) else np.zeros(len(boxes))
        )
        for i in np.argsort(-confidence):
            row = np.where(free, overlap[i], -1.0)
            k = int(row.argmax()) if len(row) else -1
            hit = k >= 0 and row[k] >= 0.5
            if not hit and spare[i] >= 0.3:
                continue
            if hit:
                free[k] = False
                found[k] = confidence[i]
                pairs.append((int(i), k))
            self.confidence.append(float(confidence[i]))
            self.right.append(bool(hit))
            size = wanted[k] if hit else boxes[i]
            self.found_px.append(float(size[2] - size[0]))
        self.best_for_wanted += found.tolist()
        self.wanted_px += (wanted[:, 2] - wanted[:, 0]).tolist()
        return pairs

    def add_centres(
        self, xy: F64, confidence: F64, wanted: F64, *, width_px: float, mm: tuple[F64, F64] | None = None
    ) -> None:
        """Match centres (n, 2) to labelled centres (m, 2), one to one, within half a ball; ``mm``: both in mm."""
        self.pictures += 1
        distance = np.linalg.norm(xy[:, None] - wanted[None], axis=2)
        rows, columns = linear_sum_assignment(np.minimum(distance, 10 * width_px))
        good = distance[rows, columns] < 0.5 * width_px
        matched = dict(zip(rows[good].tolist(), columns[good].tolist(), strict=True))
        self.confidence += confidence.tolist()
        self.right += [i in matched for i in range(len(xy))]
        self.found_px += [width_px] * len(xy)
        found = np.full(len(wanted), -1.0)
        for i, k in matched.items():
            found[k] = confidence[i]
            self.error_px.append(float(distance[i, k]))
            self.error_width_px.append(width_px)
            if mm is not None:
                self.error_mm.append(float(np.linalg.norm(mm[0][i] - mm[1][k])))
        self.best_for_wanted += found.tolist()
        self.wanted_px += [width_px] * len(wanted)

    def figures(self, threshold: float = 0.4) -> dict[str, object]:
        """AP50 over all confidences; precision and recall at ``threshold``; errors; the same by ball width."""
        by_size = {}
        for low, high in itertools.pairwise(SIZE_EDGES_PX):
            row = self._slice(low, high, threshold)
            if row["balls"]:
                by_size[f"{low:.0f}-{high:.0f} px" if high < 1e8 else f"{low:.0f}+ px"] = row
        return {"set": self.name, "pictures": self.pictures, **self._slice(0, 1e9, threshold), "by_size": by_size}

    def _slice(self, low: float, high: float, threshold: float) -> dict[str, object]:
        wanted_px, best = np.asarray(self.wanted_px), np.asarray(self.best_for_wanted)
        found_px, right, confidence = (
            np.asarray(self.found_px),
            np.asarray(self.right, bool),
            np.asarray(self.confidence),
        )
        want = (wanted_px >= low) & (wanted_px < high)
        have = (found_px >= low) & (found_px < high)
        sure = have & (confidence >= threshold)
        error = np.asarray(self.error_px)
        width = np.asarray(self.error_width_px)
        near = error[(width >= low) & (width < high)] if len(error) else error
        row: dict[str, object] = {
            "balls": int(want.sum()),
            "ap50": _round(average_precision(right[have], confidence[have], int(want.sum()))),
            "precision": _round(float(right[sure].mean()) if sure.any() else float("nan")),
            "recall": _round(float((best[want] >= threshold).mean()) if want.any() else float("nan")),
        }
        if len(near):
            row["centre_px"] = {"median": _round(float(np.median(near))), "p90": _round(float(np.percentile(near, 90)))}
        if self.error_mm and low == 0 and high >= 1e8:
            mm = np.asarray(self.error_mm)
            row["centre_mm"] = {"median": _round(float(np.median(mm))), "p90": _round(float(np.percentile(mm, 90)))}
        return row

    def reliability(self) -> list[tuple[float, float, int]]:
        """Per tenth of confidence: its mean, the part that was right, and how many."""
        confidence, right = np.asarray(self.confidence), np.asarray(self.right, bool)
        rows = []
        for low in np.arange(0.0, 1.0, 0.1):
            there = (confidence >= low) & (confidence < low + 0.1)
            if there.any():
                rows.append(
                    (_round(float(confidence[there].mean())), _round(float(right[there].mean())), int(there.sum()))
                )
        return rows


def average_precision(right: npt.NDArray[np.bool_], confidence: F64, wanted: int) -> float:
    """Area under the precision-recall curve, precision made monotone (all-point interpolation)."""
    if wanted == 0 or len(right) == 0:
        return float("nan") if wanted == 0 else 0.0
    order = np.argsort(-confidence, kind="stable")
    hits = np.cumsum(right[order])
    precision = np.maximum.accumulate((hits / np.arange(1, len(hits) + 1))[::-1])[::-1]
    steps = np.diff(np.concatenate([[0.0], hits / wanted]))
    return float((steps * precision).sum())


def iou(a: F64, b: F64) -> F64:
    """Intersection over union (n, m) of boxes (n, 4) and (m, 4) x0 y0 x1 y1."""
    a, b = np.asarray(a, np.float64).reshape(-1, 4), np.asarray(b, np.float64).reshape(-1, 4)
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.maximum(high - low, 0), axis=2)
    areas = np.prod(a[:, 2:] - a[:, :2], axis=1)[:, None] + np.prod(b[:, 2:] - b[:, :2], axis=1)[None]
    return np.asarray(inter / np.maximum(areas - inter, 1e-9), np.float64)


def merged(name: str, tallies: Iterable[Tally]) -> Tally:
    """Several tallies as one."""
    out = Tally(name=name)
    for one in tallies:
        for key in (
            "confidence", "right", "found_px", "wanted_px", "best_for_wanted", "error_px", "error_mm", "error_width_px",
        ):  # fmt: skip
            getattr(out, key).extend(getattr(one, key))
        out.pictures += one.pictures
    return out


def _round(value: float) -> float:
    return round(value, 4)
