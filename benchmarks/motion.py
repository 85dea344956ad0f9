"""Tracking and events alone: simulated strokes, noisy detections without pictures, scored against exact truth.

usage: python benchmarks/motion.py [--shots 20] [--seed 900000] [--json FILE] [--errors] [--enter]

Each row of the table is one condition; every condition sees the same strokes (seeds from ``--seed`` on, kept for
measuring and never used in development). No renderer, no network: seconds rather than hours.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from analyses import revision
from tables import enter, table

from vision_referee.calibration.tables import load_table
from vision_referee.domain.table import TableSpec
from vision_referee.evaluation.match_score import MatchScore, score_match, total_of
from vision_referee.evaluation.sides import Side
from vision_referee.evaluation.track_table import TrackTable
from vision_referee.events.line import MotionStage
from vision_referee.simulation.physics_params import random_params
from vision_referee.simulation.recording import Recording
from vision_referee.simulation.synthetic import frame_times, shot, synthetic_detections
from vision_referee.simulation.trajectory import Place
from vision_referee.tracking.tracks import BallState, TrackRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How well a detector sees."""

    name: str
    fps: float = 30.0
    sigma_mm: float = 2.0
    dropout: float = 0.03
    false_rate: float = 0.05
    repeat: int = 1
    number_read: float = 0.3


CONDITIONS = (
    Condition(name="perfect", sigma_mm=0.05, dropout=0.0, false_rate=0.0, number_read=1.0),
    Condition(name="good, 30 fps"),
    Condition(name="good, 25 fps", fps=25.0),
    Condition(name="good, 60 fps", fps=60.0),
    Condition(name="15 fps stored as 30", repeat=2),
    Condition(name="noisy (5 mm, 15 % missed)", sigma_mm=5.0, dropout=0.15, false_rate=0.3),
)


def strokes(seed: int, count: int, spec: TableSpec) -> list[Recording]:
    """Clips of one or two strokes with 2 to 16 balls, every eighth a break, each with its own friction."""
    made = []
    for k in range(count):
        rng = np.random.default_rng([seed + k, 5])
        balls = 16 if k % 8 == 7 else int(rng.integers(2, 15))
        made.append(shot(seed + k, spec, balls=balls, params=random_params(rng), strokes=1 if balls == 16 else 2))
    return made


def truth_of(recording: Recording, fps: float, name: str) -> Side:
    """Exact tracks at the frames' times, and exact events."""
    rows: list[TrackRow] = []
    for k, t in enumerate(frame_times(recording.duration_s, fps)):
        for label in recording.present(float(t)):
            motion, place = recording.motion(label, float(t)), recording.place(label, float(t))
            x, y, _ = motion.position_mm
            vx, vy, _ = motion.velocity_mm_s
            state = {Place.POCKET: BallState.POCKETED, Place.BED: BallState.RESTING}.get(place, BallState.OFF_TABLE)
            if state is BallState.RESTING and np.hypot(vx, vy) > 1.0:
                state = BallState.MOVING
            rows.append(
                TrackRow(
                    t=float(t),
                    frame=k,
                    ball=label,
                    x=float(x),
                    y=float(y),
                    vx=float(vx),
                    vy=float(vy),
                    state=state,
                    confidence=1.0,
                )
            )
    return Side(
        name=name,
        path=Path(name),
        events=tuple(recording.events),
        tracks=TrackTable.from_rows(rows),
        ball_diameter_mm=recording.table.ball_diameter_mm,
    )


def seen_of(recording: Recording, condition: Condition, seed: int, name: str) -> Side:
    """What tracking and events make of noisy detections."""
    rng = np.random.default_rng([seed, 6])
    detections = synthetic_detections(
        recording,
        condition.fps,
        condition.sigma_mm,
        condition.dropout,
        rng,
        false_rate=condition.false_rate,
        number_read=condition.number_read,
        repeat=condition.repeat,
    )
    stage = MotionStage(recording.table)
    rows, events = [], []
    for k, frame in enumerate(detections):
        out = stage.push(frame, repeated=condition.repeat > 1 and k % condition.repeat > 0)
        rows, events = rows + out.rows, events + out.events
    out = stage.flush()
    return Side(
        name=name,
        path=Path(name),
        events=tuple(events + out.events),
        tracks=TrackTable.from_rows(rows + out.rows),
        ball_diameter_mm=recording.table.ball_diameter_mm,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=int, default=20)
    parser.add_argument("--seed", type=int, default=900_000)
    parser.add_argument("--only", default="", help="conditions whose name holds this")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--errors", action="store_true", help="print every error")
    parser.add_argument("--enter", action="store_true", help="put the tables into RESULTS.md")
    args = parser.parse_args()
    recordings = strokes(args.seed, args.shots, load_table("pyramid-12ft"))
    totals: dict[str, MatchScore] = {}
    rows: list[list[object]] = []
    for condition in (c for c in CONDITIONS if args.only in c.name):
        scores = []
        took_s = clip_s = 0.0
        for k, recording in enumerate(recordings):
            name = f"seed {args.seed + k}"
            start = time.process_time()
            seen = seen_of(recording, condition, args.seed + k, name)
            took_s, clip_s = took_s + time.process_time() - start, clip_s + recording.duration_s
            scores.append(score_match(seen, truth_of(recording, condition.fps, name)))
            if args.errors:
                for error in scores[-1].events_total().errors:
                    print(f"{condition.name}: {name}: {error.t:.3f} s {error}")
        total = totals[condition.name] = total_of(scores)
        data = total.to_json()
        position, events, identity = data["position_mm"], data["events"]["all"], data["identity"]
        kept = f"{identity['strokes_kept']}/{identity['strokes_with_contact']}"
        figures = [position["resting"]["median"], position["resting"]["p99"]]
        figures += [position["moving"]["median"], position["moving"]["p99"]]
        figures += [data["detection"]["precision"], data["detection"]["recall"], identity["hota"], identity["idf1"]]
        figures += [kept, events["precision"], events["recall"], events["f1"], events["timing"]["median_abs_s"]]
        figures += [data["reliability"]["expected_error"], clip_s / took_s]
        rows.append([condition.name, *figures])
        print(" ".join(map(str, rows[-1])), flush=True)
    columns = [
        "condition",
        "resting mm",
        "p99",
        "moving mm",
        "p99",
        "det. P",
        "R",
        "HOTA",
        "IDF1",
        "identities kept",
        "events P",
        "R",
        "F1",
        "dt median s",
        "confidence off by",
        "x real time",
    ]
    kinds = list(dict.fromkeys(kind for total in totals.values() for kind in total.events or {}))
    by_type = []
    for kind in kinds:
        row: list[object] = [kind]
        for total in totals.values():
            score = (total.events or {}).get(kind)
            true = score.counts.right + score.counts.missed if score else 0
            row.append(f"{score.counts.f1:.3f} ({true})" if score and score.counts.f1 is not None else None)
        by_type.append(row)
    body = table(columns, rows) + "\n\nF1 (number true) by type:\n\n" + table(["type", *totals], by_type)
    print("\n" + body)
    if args.json:
        args.json.write_text(json.dumps({name: t.to_json() for name, t in totals.items()}, indent=1), encoding="utf-8")
    if args.enter:
        enter(
            "Tracking and events alone",
            f"python benchmarks/motion.py --shots {args.shots} --seed {args.seed}",
            body,
            revision(),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
