"""One match folder scored against its truth; several summed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.evaluation.calibration_error import calibration_error_mm
from vision_referee.evaluation.event_scores import EventScore, match_events
from vision_referee.evaluation.facts import SCORED_TYPES, Fact, vision_facts
from vision_referee.evaluation.identity import IdentityMap, IdentityScore, identities_kept, score_identity
from vision_referee.evaluation.labels import Labels, NumberVerdict
from vision_referee.evaluation.matching import one_to_one
from vision_referee.evaluation.positions import (
    Counts,
    FramePair,
    PositionScore,
    pair_frames,
    score_positions,
    spread,
    turned_round,
)
from vision_referee.evaluation.reliability import reliability_to_json
from vision_referee.evaluation.rulings_scores import RulingScore, score_rulings
from vision_referee.evaluation.sides import Side

F64 = npt.NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class NumberScore:
    """Labels against true labels: at the pots that were found, and of all balls in all frames."""

    at_pots: dict[NumberVerdict, int] = field(default_factory=lambda: dict.fromkeys(NumberVerdict, 0))
    in_frames: dict[NumberVerdict, int] = field(default_factory=lambda: dict.fromkeys(NumberVerdict, 0))

    def add(self, other: NumberScore) -> None:
        for verdict in NumberVerdict:
            self.at_pots[verdict] += other.at_pots[verdict]
            self.in_frames[verdict] += other.in_frames[verdict]

    def to_json(self) -> dict[str, Any]:
        return {"at_the_pot": _shares(self.at_pots), "in_frames": _shares(self.in_frames)}


def _shares(counts: dict[NumberVerdict, int]) -> dict[str, Any]:
    total = sum(counts.values())
    read = counts[NumberVerdict.RIGHT] + counts[NumberVerdict.WRONG]
    right = counts[NumberVerdict.RIGHT]
    return {
        **{verdict.value: n for verdict, n in counts.items()},
        "accuracy": right / total if total else None,
        "accuracy_of_read": right / read if read else None,
    }


@dataclass(slots=True, kw_only=True)
class RestScore:
    """The positions that ``rest`` events give (those the rules and restorations use), over the matched rests."""

    error_mm: list[float] = field(default_factory=list)
    balls: Counts = field(default_factory=Counts)

    def add(self, other: RestScore) -> None:
        self.error_mm += other.error_mm
        self.balls.add(other.balls)

    def to_json(self) -> dict[str, Any]:
        return {"error_mm": spread([np.array(self.error_mm)]), "balls": self.balls.to_json()}


@dataclass(slots=True, kw_only=True)
class MatchScore:
    """Every figure of one clip, or of several summed. Parts that nothing was given for are None."""

    name: str
    clips: int = 1
    calibration_mm: list[F64] = field(default_factory=list)
    """Errors that the calibration alone makes, one array a clip whose true camera is known."""
    positions: PositionScore | None = None
    detection: Counts | None = None
    identity: IdentityScore | None = None
    numbers: NumberScore = field(default_factory=NumberScore)
    events: dict[str, EventScore] | None = None
    rests: RestScore = field(default_factory=RestScore)
    said: list[tuple[float, bool]] = field(default_factory=list)
    rulings: RulingScore | None = None
    notes: list[str] = field(default_factory=list)

    def events_total(self) -> EventScore:
        total = EventScore()
        for score in (self.events or {}).values():
            total.add(score)
        return total

    def add(self, other: MatchScore) -> None:
        self.clips += other.clips
        self.calibration_mm += other.calibration_mm
        self.positions = _sum(self.positions, other.positions)
        self.detection = _sum(self.detection, other.detection)
        self.identity = _sum(self.identity, other.identity)
        self.rulings = _sum(self.rulings, other.rulings)
        self.numbers.add(other.numbers)
        self.rests.add(other.rests)
        self.said += other.said
        self.notes += [f"{other.name}: {note}" for note in other.notes]
        if other.events is not None:
            mine = {} if self.events is None else self.events
            for kind in SCORED_TYPES:
                if kind in other.events:
                    mine.setdefault(kind, EventScore()).add(other.events[kind])
            self.events = mine

    def to_json(self) -> dict[str, Any]:
        total = self.events_total()
        events = None
        if self.events is not None:
            events = {
                "all": total.to_json(),
                "by_type": {kind: self.events[kind].to_json() for kind in SCORED_TYPES if kind in self.events},
                "errors": [error.to_json() for error in sorted(total.errors, key=lambda e: e.t)],
            }
        return {
            "name": self.name,
            "clips": self.clips,
            "calibration_mm": spread(self.calibration_mm),
            "position_mm": self.positions.to_json() if self.positions is not None else None,
            "detection": self.detection.to_json() if self.detection is not None else None,
            "identity": self.identity.to_json() if self.identity is not None else None,
            "numbers": self.numbers.to_json(),
            "events": events,
            "rest_positions": self.rests.to_json(),
            "reliability": reliability_to_json(self.said),
            "rulings": self.rulings.to_json() if self.rulings is not None else None,
            "notes": self.notes,
        }


def _sum(mine: Any, other: Any) -> Any:
    """The sum without touching ``other``, which its own clip keeps."""
    if other is None:
        return mine
    if mine is None:
        mine = type(other)()
    mine.add(other)
    return mine


def total_of(scores: Sequence[MatchScore]) -> MatchScore:
    """All clips as one."""
    total = MatchScore(name="all", clips=0)
    for score in scores:
        total.add(score)
    return total


def score_match(seen: Side, truth: Side) -> MatchScore:
    """Score what was ``seen`` against the ``truth``."""
    diameter_mm = truth.ball_diameter_mm or seen.ball_diameter_mm or 68.0
    score = MatchScore(name=seen.name)
    frames: list[FramePair] = []
    if truth.tracks is not None and seen.tracks is not None:
        frames = pair_frames(truth.tracks, seen.tracks, diameter_mm)
        score.positions, score.detection = score_positions(truth.tracks, seen.tracks, frames)
        score.identity = score_identity(truth.tracks, seen.tracks, frames, diameter_mm)
        _note_turned(score, seen, truth, diameter_mm)
    if truth.calibration is not None and seen.calibration is not None:
        score.calibration_mm.append(calibration_error_mm(seen.calibration, truth.calibration))
    identity = IdentityMap(truth.tracks, seen.tracks, frames)
    seen_facts = vision_facts(seen.events or ())
    labels = Labels.of(identity, seen_facts)
    if truth.tracks is not None and seen.tracks is not None:
        _score_labels(score.numbers, truth, seen, frames, labels)
    if truth.events is not None:
        true_facts = vision_facts(truth.events)
        matches = match_events(true_facts, seen_facts, labels, diameter_mm)
        score.events, score.said = matches.scores, matches.said
        for event, true in matches.pairs:
            if true.type == "pocketed" and (verdict := labels.verdict(event.balls[0], true.balls[0])) is not None:
                score.numbers.at_pots[verdict] += 1
            if true.type == "rest":
                _score_rest(score.rests, event, true, diameter_mm)
        if score.identity is not None and truth.tracks is not None and seen.tracks is not None:
            strokes = strokes_with_contact_s(true_facts)
            score.identity.strokes_with_contact = len(strokes)
            score.identity.strokes_kept = identities_kept(truth.tracks, seen.tracks, frames, strokes)
    if truth.rulings is not None:
        if seen.rules == "none":
            score.notes.append("analysed without rules: rulings are not scored")
        else:
            names = (
                dict(zip(seen.players, truth.players, strict=True)) if len(seen.players) == len(truth.players) else {}
            )
            score.rulings = score_rulings(truth.rulings, seen.rulings or (), labels, names, diameter_mm)
    return score


def strokes_with_contact_s(truth: Sequence[Fact]) -> list[tuple[float, float]]:
    """(strike, rest) of the strokes in which two balls touched and that came to rest."""
    strokes = []
    for k, fact in enumerate(truth):
        if fact.type != "strike":
            continue
        later = [f for f in truth[k + 1 :] if f.type in ("rest", "strike", "contact")]
        end = next((f.t for f in later if f.type == "rest"), None)
        if end is not None and any(f.type == "contact" and f.t <= end for f in later):
            strokes.append((fact.t, end))
    return strokes


def _score_labels(numbers: NumberScore, truth: Side, seen: Side, frames: list[FramePair], labels: Labels) -> None:
    assert truth.tracks is not None and seen.tracks is not None
    pairs: dict[tuple[int, int], int] = {}
    for frame in frames:
        for a, b, _ in frame.pairs:
            key = (int(seen.tracks.ball[b]), int(truth.tracks.ball[a]))
            pairs[key] = pairs.get(key, 0) + 1
    for (said, true), n in pairs.items():
        verdict = labels.verdict(seen.tracks.labels[said], truth.tracks.labels[true])
        if verdict is not None:
            numbers.in_frames[verdict] += n


def _score_rest(rests: RestScore, event: Fact, true: Fact, diameter_mm: float) -> None:
    distance = np.array([[math.dist((a.x, a.y), (b.x, b.y)) for b in event.positions] for a in true.positions])
    distance = distance.reshape(len(true.positions), len(event.positions))
    pairs = one_to_one(distance, distance <= diameter_mm)
    rests.error_mm += [float(distance[i, k]) for i, k in pairs]
    rests.balls.right += len(pairs)
    rests.balls.missed += len(true.positions) - len(pairs)
    rests.balls.false += len(event.positions) - len(pairs)


def _note_turned(score: MatchScore, seen: Side, truth: Side, diameter_mm: float) -> None:
    """Say so when the figures are bad only because head and foot are exchanged."""
    if seen.table_size_mm is None or score.detection is None or seen.tracks is None or truth.tracks is None:
        return
    recall = score.detection.recall
    if recall is None or recall > 0.5:
        return
    turned = turned_round(seen.tracks, *seen.table_size_mm)
    _, counts = score_positions(truth.tracks, turned, pair_frames(truth.tracks, turned, diameter_mm))
    if (counts.recall or 0.0) > max(2 * recall, 0.5):
        score.notes.append(
            f"head and foot are exchanged (turned round, {counts.recall or 0:.0%} of the balls would be found); "
            "analyse again with --head"
        )
