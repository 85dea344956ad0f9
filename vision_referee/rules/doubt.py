"""What is unsure, taken both ways: a fact or a measure matters when the other way changes the decision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from vision_referee.domain.events import Event

LIKELY = 0.5
"""From this confidence on a fact is taken to have happened."""
MOST_COMBINED = 6
"""So many unsure facts are also tried together; more, and each is tried alone."""


@dataclass(slots=True)
class Edges:
    """Measures near an edge, as one judgement meets them. ``flipped`` are those to take the other way."""

    flipped: frozenset[str] = frozenset()
    met: dict[str, str] = field(default_factory=dict)
    """What was met, with the doubt that it is where it matters."""

    def decide(self, key: str, holds: bool, distance: float, error: float) -> bool:
        """``holds``, unless this measure lies within its error of the edge and is to be taken the other way."""
        return self._either_way(key, holds, f"edge:{key}") if abs(distance) < error else holds

    def believe(self, event: str, ball: str, confidence: float, sure: float) -> bool:
        """Whether something seen before the stroke is taken to be so; less than ``sure`` it may be otherwise."""
        holds = confidence >= LIKELY
        if confidence >= sure:
            return holds
        return self._either_way(f"{event}:{ball}", holds, f"unsure:{event}:{ball}:{confidence:.2f}")

    def _either_way(self, key: str, holds: bool, doubt: str) -> bool:
        self.met[key] = doubt
        return holds != (key in self.flipped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure:
    """One thing that may be taken either way: an event (by its place in the stroke), a number, or a measure."""

    key: str
    confidence: float
    """How likely the way taken is; at least one half."""


def believed(events: Iterable[Event], sure: float) -> tuple[list[bool], list[tuple[int, float]]]:
    """For each event whether it is taken to have happened, and the unsure ones: (index, confidence in that)."""
    taken, unsure = [], []
    for index, event in enumerate(events):
        taken.append(event.confidence >= LIKELY)
        if event.confidence < sure:
            unsure.append((index, max(event.confidence, 1 - event.confidence)))
    return taken, unsure


def joint_cases(confidences: list[float], sure: float) -> list[tuple[tuple[int, ...], float]]:
    """The cases in which several unsure facts go the other way at once: (which, probability), where that matters."""
    if not 2 <= len(confidences) <= MOST_COMBINED:
        return []
    cases = []
    for ways in product((False, True), repeat=len(confidences)):
        if sum(ways) < 2:
            continue
        likely = 1.0
        for other, confidence in zip(ways, confidences, strict=True):
            likely *= 1 - confidence if other else confidence
        cases.append((tuple(i for i, other in enumerate(ways) if other), likely))
    return cases if sum(likely for _, likely in cases) > 1 - sure else []
