"""Events said against events true, type by type: precision, recall, F1, timing, place; each error with its reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.evaluation.facts import SCORED_TYPES, Fact, Words, time_tolerance_s
from vision_referee.evaluation.labels import Labels, NumberVerdict
from vision_referee.evaluation.matching import one_to_one
from vision_referee.evaluation.positions import Counts, spread

F64 = npt.NDArray[np.float64]

_EXPLAIN_WITHIN_S = 1.0
"""How far an error's nearest counterpart is looked for, to say what was wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventError:
    """An event missed or falsely said, and why it had no partner. ``t`` in seconds, ``place_mm`` where known."""

    kind: str
    """``missed`` or ``false``."""
    type: str
    t: float
    balls: tuple[str, ...]
    place_mm: tuple[float, float] | None
    confidence: float
    reason: str
    words: Words = ()

    def __str__(self) -> str:
        """``missed pocketed 7 foot_left: late by 0.15 s``."""
        what = " ".join([self.kind, self.type, "+".join(self.balls), *(value for _, value in self.words)])
        return f"{what.rstrip()}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "type": self.type,
            "t": self.t,
            "balls": list(self.balls),
            "place_mm": self.place_mm,
            "confidence": self.confidence,
            "reason": self.reason,
            **dict(self.words),
        }


@dataclass(slots=True, kw_only=True)
class EventScore:
    """One type. ``dt_s`` seen minus true of the matched; ``place_mm`` their distances where the type has a place."""

    counts: Counts = field(default_factory=Counts)
    dt_s: list[float] = field(default_factory=list)
    place_mm: list[float] = field(default_factory=list)
    number_wrong: int = 0
    """Matched, but a ball was called by a number (or as the cue ball) that is another's."""
    number_unknown: int = 0
    errors: list[EventError] = field(default_factory=list)

    def add(self, other: EventScore) -> None:
        self.counts.add(other.counts)
        self.dt_s += other.dt_s
        self.place_mm += other.place_mm
        self.number_wrong += other.number_wrong
        self.number_unknown += other.number_unknown
        self.errors += other.errors

    def to_json(self) -> dict[str, Any]:
        dt = np.array(self.dt_s)
        timing = {
            "bias_s": float(np.median(dt)) if len(dt) else None,
            "median_abs_s": float(np.median(np.abs(dt))) if len(dt) else None,
            "p95_abs_s": float(np.percentile(np.abs(dt), 95)) if len(dt) else None,
        }
        return {
            **self.counts.to_json(),
            "timing": timing,
            "place_mm": spread([np.array(self.place_mm)]),
            "number_wrong": self.number_wrong,
            "number_unknown": self.number_unknown,
        }


@dataclass(slots=True, kw_only=True)
class EventMatches:
    """Scores by type, and the matched pairs (seen, true) themselves."""

    scores: dict[str, EventScore]
    pairs: list[tuple[Fact, Fact]]
    said: list[tuple[float, bool]]
    """(confidence, right) of every scored event that was said."""


def match_events(truth: Sequence[Fact], seen: Sequence[Fact], labels: Labels, diameter_mm: float) -> EventMatches:
    """Match type by type, one to one: same balls, same words, within the tolerances of time and place."""
    scores: dict[str, EventScore] = {}
    pairs: list[tuple[Fact, Fact]] = []
    said: list[tuple[float, bool]] = []
    for kind in SCORED_TYPES:
        true_facts = [fact for fact in truth if fact.type == kind]
        seen_facts = [fact for fact in seen if fact.type == kind]
        if not true_facts and not seen_facts:
            continue
        score = scores.setdefault(kind, EventScore())
        found: list[tuple[int, int]] = []
        for rows, columns in _clusters(true_facts, seen_facts, time_tolerance_s(kind)):
            found += _pair(
                [true_facts[i] for i in rows], [seen_facts[k] for k in columns], rows, columns, labels, diameter_mm
            )
        for i, k in found:
            true, event = true_facts[i], seen_facts[k]
            score.counts.right += 1
            score.dt_s.append(event.t - true.t)
            if (apart_mm := _apart_mm(event, true)) is not None:
                score.place_mm.append(apart_mm)
            verdict = labels.verdict_of_event(event, true)
            score.number_wrong += verdict is NumberVerdict.WRONG
            score.number_unknown += verdict is NumberVerdict.UNKNOWN
            pairs.append((event, true))
        found_true, found_seen = {i for i, _ in found}, {k for _, k in found}
        missed = [fact for i, fact in enumerate(true_facts) if i not in found_true]
        false = [fact for k, fact in enumerate(seen_facts) if k not in found_seen]
        score.counts.missed += len(missed)
        score.counts.false += len(false)
        score.errors += [_error("missed", fact, false, labels, diameter_mm) for fact in missed]
        score.errors += [_error("false", fact, missed, labels, diameter_mm) for fact in false]
        said += [(fact.confidence, k in found_seen) for k, fact in enumerate(seen_facts)]
    pairs.sort(key=lambda pair: pair[1].t)
    return EventMatches(scores=scores, pairs=pairs, said=said)


def _pair(
    truth: list[Fact], seen: list[Fact], rows: list[int], columns: list[int], labels: Labels, diameter_mm: float
) -> list[tuple[int, int]]:
    cost = np.zeros((len(truth), len(seen)))
    allowed = np.zeros((len(truth), len(seen)), bool)
    for i, true in enumerate(truth):
        for k, event in enumerate(seen):
            if _differences(event, true, labels, diameter_mm):
                continue
            allowed[i, k] = True
            cost[i, k] = abs(event.t - true.t) / time_tolerance_s(true.type)
            cost[i, k] += (_apart_mm(event, true) or 0.0) / diameter_mm
    return [(rows[i], columns[k]) for i, k in one_to_one(cost, allowed)]


def _clusters(truth: list[Fact], seen: list[Fact], gap_s: float) -> Iterator[tuple[list[int], list[int]]]:
    """Indices of both that can have to do with one another: a match of hours falls into small assignments."""
    order = sorted([(f.t, 0, i) for i, f in enumerate(truth)] + [(f.t, 1, k) for k, f in enumerate(seen)])
    rows: list[int] = []
    columns: list[int] = []
    last = -math.inf
    for t, side, index in order:
        if t - last > gap_s + 1e-9:
            yield rows, columns
            rows, columns = [], []
        (columns if side else rows).append(index)
        last = t
    yield rows, columns


def _differences(seen: Fact, true: Fact, labels: Labels, diameter_mm: float) -> list[str]:
    """In what the two are not one event; empty when they are."""
    out = []
    dt = seen.t - true.t
    if abs(dt) > time_tolerance_s(true.type) + 1e-9:
        out.append(f"{'late' if dt > 0 else 'early'} by {abs(dt):.2f} s")
    if not labels.same_balls(seen, true):
        out.append(f"other ball ({'+'.join(map(labels.said, seen.balls))} for {'+'.join(true.balls)})")
    out += [f"{name} {a} for {b}" for (name, a), (_, b) in zip(seen.words, true.words, strict=True) if a != b]
    if (apart_mm := _apart_mm(seen, true)) is not None and not apart_mm <= diameter_mm:
        out.append(f"{apart_mm:.0f} mm away")
    return out


def _apart_mm(seen: Fact, true: Fact) -> float | None:
    if seen.place_mm is None or true.place_mm is None:
        return None
    return math.dist(seen.place_mm, true.place_mm)


def _error(kind: str, fact: Fact, others: list[Fact], labels: Labels, diameter_mm: float) -> EventError:
    """The error with what the nearest unmatched event of the other side had different."""
    best: tuple[int, float, str] | None = None
    for other in others:
        gap = abs(other.t - fact.t)
        if gap > _EXPLAIN_WITHIN_S:
            continue
        seen, true = (other, fact) if kind == "missed" else (fact, other)
        found = _differences(seen, true, labels, diameter_mm)
        # Two that differ in nothing lost each other to closer partners.
        key = (len(found), gap, ", ".join(found) or "one event too many")
        best = key if best is None else min(best, key)
    alone = "nothing like it was said" if kind == "missed" else "nothing like it happened"
    return EventError(
        kind=kind,
        type=fact.type,
        t=fact.t,
        balls=fact.balls,
        place_mm=fact.place_mm,
        confidence=fact.confidence,
        reason=alone if best is None else best[2],
        words=fact.words,
    )
