"""What the tables of clips and of event types hold: one set of columns for the terminal and for benchmark reports."""

from __future__ import annotations

from vision_referee.evaluation.event_scores import EventScore
from vision_referee.evaluation.match_score import MatchScore

Cell = float | int | str | None

CLIP_COLUMNS = (
    "resting mm", "p99", "moving mm", "det. P", "R", "HOTA", "IDF1", "events P", "R", "F1",
    "pots' numbers right/wrong/unknown", "rulings right/wrong/review/missing",
)  # fmt: skip
EVENT_COLUMNS = (
    "true", "right", "missed", "false", "P", "R", "F1", "dt median s", "|dt| median s", "|dt| p95 s", "place mm",
    "wrong number",
)  # fmt: skip


def clip_cells(score: MatchScore) -> list[Cell]:
    """One clip's figures, in the order of ``CLIP_COLUMNS``; None where there is nothing to measure."""
    data = score.to_json()
    position = data["position_mm"] or {"resting": {}, "moving": {}}
    detection, identity = data["detection"] or {}, data["identity"] or {}
    events, rulings = (data["events"] or {}).get("all", {}), data["rulings"] or {}
    pots = data["numbers"]["at_the_pot"]
    return [
        position["resting"].get("median"),
        position["resting"].get("p99"),
        position["moving"].get("median"),
        detection.get("precision"),
        detection.get("recall"),
        identity.get("hota"),
        identity.get("idf1"),
        events.get("precision"),
        events.get("recall"),
        events.get("f1"),
        f"{pots['right']}/{pots['wrong']}/{pots['unknown']}",
        "/".join(str(rulings[key]) for key in ("right", "wrong", "review", "missing")) if rulings else None,
    ]


def event_cells(score: EventScore) -> list[Cell]:
    """One event type's figures, in the order of ``EVENT_COLUMNS``."""
    data = score.to_json()
    timing = data["timing"]
    return [
        data["right"] + data["missed"],
        data["right"],
        data["missed"],
        data["false"],
        data["precision"],
        data["recall"],
        data["f1"],
        timing["bias_s"],
        timing["median_abs_s"],
        timing["p95_abs_s"],
        data["place_mm"]["median"],
        data["number_wrong"],
    ]
