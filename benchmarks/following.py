"""Does looking only at what changed cost events? The network on every frame at the large size against the fast way.

usage: python benchmarks/following.py [--clips 4] [--strokes N] [--seed 700000] [--scenes FOLDER] [--enter]

Simulated clips with their true camera, so that nothing but the eye differs: the same tracking and events read what each
of the two eyes saw. Processor time is the process's own, all threads together, in seconds a second of video.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from analyses import revision
from simulated_clips import MadeClip, made, scenes_of
from tables import enter, table

from vision_referee.calibration.calibration import Calibration, load_calibration
from vision_referee.detection.detections import Detections
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.follower import Follower
from vision_referee.evaluation.match_score import MatchScore, score_match, total_of
from vision_referee.evaluation.sides import Side, read_truth
from vision_referee.evaluation.track_table import TrackTable
from vision_referee.events.line import MotionStage
from vision_referee.video.frames import Frame
from vision_referee.video.source import open_video

Look = Callable[[Frame], Detections]


@dataclass(slots=True)
class Way:
    """A way of looking: how to open it for a calibration, and what it scored."""

    name: str
    opened: Callable[[Calibration], Look]
    scores: list[MatchScore] = field(default_factory=list)
    eye_s: float = 0.0
    motion_s: float = 0.0


def every_frame(calibration: Calibration) -> Look:
    detector = BallDetector(calibration)
    return lambda frame: detector.detect(frame, fine=True)


WAYS = (
    Way("every frame, large", every_frame),
    Way("what changed", lambda calibration: Follower(BallDetector(calibration)).follow),
)


def watch(clip: MadeClip, way: Way) -> float:
    """Score one clip; its length in seconds."""
    calibration = load_calibration(clip.truth / "calibration.json")
    look = way.opened(calibration)
    start = time.process_time()
    seen = [look(frame) for frame in open_video(clip.video)]
    way.eye_s += time.process_time() - start
    stage = MotionStage(calibration.table)
    start = time.process_time()
    outs = [stage.push(copy.copy(one)) for one in seen]
    outs.append(stage.flush())
    way.motion_s += time.process_time() - start
    side = Side(
        name=clip.scene.name,
        path=clip.video,
        events=tuple(event for out in outs for event in out.events),
        tracks=TrackTable.from_rows([row for out in outs for row in out.rows]),
        ball_diameter_mm=calibration.table.ball_diameter_mm,
    )
    way.scores.append(score_match(side, read_truth(clip.truth)))
    return seen[-1].t_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=4)
    parser.add_argument("--strokes", type=int)
    parser.add_argument("--seed", type=int, default=700_000)
    parser.add_argument("--scenes", type=Path)
    parser.add_argument("--enter", action="store_true", help="put the table into RESULTS.md")
    args = parser.parse_args()
    length_s = 0.0
    for scene in scenes_of(args)[: args.clips]:
        clip = made(scene)
        lengths = [watch(clip, way) for way in WAYS]
        length_s += lengths[0]
        f1 = [way.scores[-1].to_json()["events"]["all"]["f1"] for way in WAYS]
        print(scene.name, dict(zip((way.name for way in WAYS), f1, strict=True)), flush=True)
    rows: list[list[object]] = []
    for way in WAYS:
        total = total_of(way.scores).to_json()
        events, position, detection = total["events"]["all"], total["position_mm"], total["detection"]
        rows.append(
            [
                way.name, events["precision"], events["recall"], events["f1"],
                position["resting"]["median"], position["resting"]["p99"],
                position["moving"]["median"], position["moving"]["p99"],
                detection["precision"], detection["recall"], way.eye_s / length_s, way.motion_s / length_s,
            ]
        )  # fmt: skip
    columns = ["looking at", "events P", "R", "F1", "resting mm", "p99", "moving mm", "p99", "det. P", "R"]
    body = table([*columns, "eye, processor s/s", "tracking and events, processor s/s"], rows)
    print("\n" + body)
    if args.enter:
        command = " ".join(["python", "benchmarks/following.py", *(a for a in sys.argv[1:] if a != "--enter")])
        enter("Looking only at what changed", command, body, revision())
    return 0


if __name__ == "__main__":
    sys.exit(main())
