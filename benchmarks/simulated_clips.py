"""The whole line on simulated clips of many cameras, against exact truth.

usage: python benchmarks/simulated_clips.py [--clips 10] [--strokes N] [--seed 700000] [--scenes FOLDER] [--blind]
                                            [--true-camera] [--json FILE] [--worst DIR] [--enter]

The scenes are drawn from seeds that nothing is trained or tuned on (from 700000 on), or read from a folder of scene
files. Clips and analyses are kept in the cache, so a broken-off run goes on where it stopped. ``--blind`` does not tell
the table and the head; ``--true-camera`` tells the camera, so that what is left is not calibration's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from analyses import CACHE, analyze, code_state, revision
from tables import enter, table

from vision_referee.calibration.calibration import load_calibration
from vision_referee.evaluation.columns import CLIP_COLUMNS, EVENT_COLUMNS, clip_cells, event_cells
from vision_referee.evaluation.facts import SCORED_TYPES
from vision_referee.evaluation.match_score import MatchScore, score_match, total_of
from vision_referee.evaluation.sides import read_match, read_truth
from vision_referee.evaluation.worst import write_worst
from vision_referee.simulation.clips import make_clip
from vision_referee.simulation.scene_file import Scene, load_scene

OVERHEAD_FROM_DEG = 70.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeClip:
    """A scene's video and truth in the cache."""

    scene: Scene
    video: Path
    truth: Path
    officials: Path | None

    @property
    def elevation_deg(self) -> float:
        return load_calibration(self.truth / "calibration.json").elevation_deg


def scenes_of(args: argparse.Namespace) -> list[Scene]:
    """What to film."""
    if args.scenes is not None:
        return [load_scene(path) for path in sorted(args.scenes.glob("*.yaml"))]
    from vision_referee.simulation.library import random_match_scene

    return [random_match_scene(args.seed + k, strokes=args.strokes) for k in range(args.clips)]


def made(scene: Scene) -> MadeClip:
    """The clip of a scene, filmed unless an earlier run has."""
    key = hashlib.sha256(scene.model_dump_json().encode()).hexdigest()[:20]
    folder = CACHE / "clips" / key
    done = folder / "done"
    if not done.exists():
        start = time.monotonic()
        clip = make_clip(scene, folder)
        done.write_text(f"{clip.frames} frames in {time.monotonic() - start:.0f} s\n", encoding="utf-8")
    officials = folder / f"{scene.name}.officials.jsonl"
    return MadeClip(
        scene=scene,
        video=folder / f"{scene.name}.mp4",
        truth=folder / f"{scene.name}.truth",
        officials=officials if officials.exists() else None,
    )


def arguments(clip: MadeClip, *, blind: bool, true_camera: bool) -> list[str]:
    """How a user would call ``analyze`` on it."""
    scene = clip.scene
    words = ["--rules", scene.rules, "--players", ",".join(scene.players), "--quiet"]
    for key, value in scene.settings.items():
        words += ["--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    if clip.officials is not None:
        words += ["--officials", str(clip.officials)]
    if true_camera:
        words += ["--calibration", str(clip.truth / "calibration.json")]
    elif not blind:
        words += ["--table", scene.table, "--head", str(load_calibration(clip.truth / "calibration.json").head_side)]
    return words


COLUMNS = ["clip", "view", "calibration mm at worst", *CLIP_COLUMNS, "x real time"]


def row_of(
    name: str, score: MatchScore, *, view: str, calibration_mm: float | None, speed: float | None
) -> list[object]:
    return [name, view, calibration_mm, *clip_cells(score), speed]


def by_type(total: MatchScore) -> str:
    kinds = [kind for kind in SCORED_TYPES if total.events and kind in total.events]
    return table(["type", *EVENT_COLUMNS], [[kind, *event_cells(total.events[kind])] for kind in kinds])


def reliability(total: MatchScore) -> str:
    data = total.to_json()["reliability"]
    rows = [[f"{b['low']:.2f} to {b['high']:.2f}", b["n"], b["said"], b["right"]] for b in data["bins"] if b["n"]]
    return table(["said", "events", "mean said", "right"], rows)


def failed_score(clip: MadeClip) -> MatchScore:
    """A clip that could not be analysed has everything missed."""
    from dataclasses import replace

    from vision_referee.evaluation.track_table import TrackTable

    truth = read_truth(clip.truth)
    nothing = replace(truth, events=(), tracks=TrackTable.from_rows([]), rulings=(), rules=clip.scene.rules)
    return score_match(nothing, truth)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=10)
    parser.add_argument("--strokes", type=int, default=None, help="strokes a clip (default: one to three)")
    parser.add_argument("--seed", type=int, default=700_000)
    parser.add_argument("--scenes", type=Path)
    parser.add_argument("--blind", action="store_true")
    parser.add_argument("--true-camera", action="store_true")
    parser.add_argument("--film-only", action="store_true", help="make the clips and stop")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worst", type=Path)
    parser.add_argument("--enter", action="store_true", help="put the tables into RESULTS.md")
    args = parser.parse_args()
    code, state = code_state(), revision()
    rows: list[list[object]] = []
    scores: list[MatchScore] = []
    groups: dict[str, list[MatchScore]] = {"overhead": [], "oblique": []}
    failures: list[str] = []
    clips: list[dict[str, Any]] = []
    for scene in scenes_of(args):
        clip = made(scene)
        if args.film_only:
            print(clip.video, flush=True)
            continue
        analysis = analyze(clip.video, arguments(clip, blind=args.blind, true_camera=args.true_camera), code=code)
        if analysis.folder is None:
            failures.append(f"{scene.name}: {analysis.error}")
            score = failed_score(clip)
        else:
            seen, truth = read_match(analysis.folder), read_truth(clip.truth)
            score = score_match(seen, truth)
            if args.worst is not None:
                write_worst(seen, truth, score, args.worst / scene.name, video=clip.video, count=6)
        score.name = scene.name
        scores.append(score)
        view = "overhead" if clip.elevation_deg >= OVERHEAD_FROM_DEG else "oblique"
        groups[view].append(score)
        times = (analysis.match().get("frame_times") or {}).get("count")
        speed = times / scene.video.fps / analysis.wall_s if times else None
        calibration_mm = score.to_json()["calibration_mm"]["max"]
        rows.append(
            row_of(scene.name, score, view=f"{clip.elevation_deg:.0f}°", calibration_mm=calibration_mm, speed=speed)
        )
        clips.append(
            score.to_json()
            | {"calibration_mm": calibration_mm, "elevation_deg": clip.elevation_deg, "x_real_time": speed}
        )
        print(" ".join(map(str, rows[-1])) + (f"  FAILED: {analysis.error}" if analysis.error else ""), flush=True)
    if not scores:
        return 0
    total = total_of(scores)
    for view, members in groups.items():
        if members:
            rows.append(
                row_of(f"all {view} ({len(members)})", total_of(members), view=view, calibration_mm=None, speed=None)
            )
    rows.append(row_of(f"all ({len(scores)})", total, view="", calibration_mm=None, speed=None))
    parts = [table(COLUMNS, rows), "Events by type:\n\n" + by_type(total), "Confidence:\n\n" + reliability(total)]
    if total.rulings is not None:
        parts.append(f"Right or sent to review: {total.rulings.right_or_review}; extra {total.rulings.extra}.")
    parts.append("Failed: " + ("; ".join(failures) or "none") + ".")
    body = "\n\n".join(parts)
    print("\n" + body)
    if args.json:
        args.json.write_text(json.dumps({"total": total.to_json(), "clips": clips}, indent=1), encoding="utf-8")
    if args.enter:
        command = " ".join(["python", "benchmarks/simulated_clips.py", *(a for a in sys.argv[1:] if a != "--enter")])
        enter("Simulated clips, the whole line", command, body, state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
