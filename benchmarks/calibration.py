"""Calibration against the truth: rendered tables by the camera's elevation, and real clips with marked corners.

``python benchmarks/calibration.py [--seeds N] [--first SEED] [--real FOLDER] [--keep FOLDER]``

Each rendered case is five frames of one random scene, its table's size told, nothing else. mm at ball height: how far
off balls' places are, over a grid of the whole playing surface (median, and at worst); ``said`` is what the calibration
itself expects (root mean square over the table). A real clip's table is only known where its truth says so; then
corners in pixels are all there is. Which end is the head is not asked.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.find import calibrate_frames
from vision_referee.calibration.pose import table_corners
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

BANDS_DEG = ((0, 30), (30, 40), (40, 55), (55, 75), (75, 91))
_FRAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Frames of one rendered table and the camera that saw it."""

    seed: int
    table: TableSpec
    camera: Camera
    frames: list[U8]

    @property
    def elevation_deg(self) -> float:
        eye = self.camera.position_mm
        flat = np.hypot(eye[0] - self.table.length_mm / 2, eye[1] - self.table.width_mm / 2)
        return float(np.degrees(np.arctan2(eye[2], flat)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """``mm`` (n,) errors of balls' places over the table, ``corner_px`` (4,)."""

    elevation_deg: float
    mm: F64
    corner_px: F64
    said_mm: float
    confidence: float


def rendered(first: int, count: int, keep: Path | None) -> Iterator[Case]:
    """Random scenes, every other one oblique; frames are kept as JPEG of high quality in ``keep``."""
    for seed in range(first, first + count):
        path = keep / f"{seed}.pkl" if keep else None
        if path is not None and path.is_file():
            stored = pickle.loads(path.read_bytes())
        else:
            stored = _render(seed)
            if path is not None:
                path.write_bytes(pickle.dumps(stored))
        frames = [np.asarray(cv2.imdecode(one, cv2.IMREAD_COLOR), np.uint8) for one in stored["frames"]]
        yield Case(seed=seed, table=stored["table"], camera=stored["camera"], frames=frames)


def _render(seed: int) -> dict[str, Any]:
    from vision_referee.simulation.clip_video import scene_camera, scene_look
    from vision_referee.simulation.clips import scene_table
    from vision_referee.simulation.library import random_match_scene
    from vision_referee.simulation.render import Renderer
    from vision_referee.simulation.staging import stage

    scene = random_match_scene(seed, strokes=1, overhead=None if seed % 2 else False)
    table = scene_table(scene)
    recording = stage(scene, table).recording
    camera = scene_camera(scene.camera, table, scene.video.size)
    renderer = Renderer(camera, table, scene_look(scene.look, table))
    rng = np.random.default_rng(seed)
    frames = []
    for share in np.linspace(0.05, 0.97, _FRAMES):
        picture = renderer.frame(recording.frame(float(share * recording.duration_s)), rng,
                                 exposure_s=scene.video.exposure_s)  # fmt: skip
        frames.append(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 92])[1])
    return {"table": table, "camera": camera, "frames": frames}


def score(case: Case, found: Calibration) -> Score:
    """Errors by the labelling of the ends that fits better."""
    table = case.table
    x, y = np.meshgrid(np.linspace(0.03, 0.97, 9) * table.length_mm, np.linspace(0.05, 0.95, 5) * table.width_mm)
    places = np.column_stack([x.ravel(), y.ravel()])
    px = case.camera.project_plane(places, table.ball_radius_mm)
    true = case.camera.project(table_corners(table, 0.0, table.nose_height_mm))
    both = [
        (np.linalg.norm(one.balls_mm(px) - places, axis=1), np.linalg.norm(one.corners_px - true, axis=1))
        for one in (found, found.turned())
    ]
    mm, corners = min(both, key=lambda pair: float(pair[0].max()))
    return Score(
        elevation_deg=case.elevation_deg, mm=mm, corner_px=corners, said_mm=found.expected_error_mm,
        confidence=found.confidence,
    )  # fmt: skip


def run_rendered(first: int, count: int, keep: Path | None) -> list[tuple[float, Score | None]]:
    scores: list[tuple[float, Score | None]] = []
    for case in rendered(first, count, keep):
        began = time.process_time()
        got: Score | None = None
        try:
            got = score(case, calibrate_frames(case.frames, table=case.table))
            words = (
                f"median {np.median(got.mm):5.1f} mm, worst {got.mm.max():5.1f}, said {got.said_mm:5.1f}, "
                f"corners {got.corner_px.max():4.1f} px, confidence {got.confidence:.2f}"
            )
        except CalibrationError as error:
            words = f"refused: {error}"
        scores.append((case.elevation_deg, got))
        print(f"{case.seed} {case.table.name:13s} {case.elevation_deg:3.0f} deg: {words} "
              f"({time.process_time() - began:.1f} s)", flush=True)  # fmt: skip
    return scores


def by_elevation(scores: list[tuple[float, Score | None]]) -> list[str]:
    """A Markdown table: one line a band of elevations, and one for all."""
    lines = [
        "| elevation | cases | refused | mm median | mm p90 | mm worst of a case, median | p90 | said, median "
        "| true rms, median | rms within 2 x said | corner px median | p90 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for low, high in (*BANDS_DEG, (0, 91)):
        here = [s for e, s in scores if low <= e < high]
        good = [s for s in here if s is not None]
        if not good:
            continue
        every = np.concatenate([s.mm for s in good])
        worst = np.array([s.mm.max() for s in good])
        rms = np.array([np.sqrt((s.mm**2).mean()) for s in good])
        said = np.array([s.said_mm for s in good])
        corners = np.concatenate([s.corner_px for s in good])
        name = "all" if high - low > 90 else f"{low} to {high}°"
        lines.append(
            f"| {name} | {len(here)} | {len(here) - len(good)} | {np.median(every):.1f} "
            f"| {np.quantile(every, 0.9):.1f} | {np.median(worst):.1f} | {np.quantile(worst, 0.9):.1f} "
            f"| {np.median(said):.1f} | {np.median(rms):.1f} | {np.mean(rms < 2 * said):.2f} "
            f"| {np.median(corners):.1f} | {np.quantile(corners, 0.9):.1f} |"
        )
    return lines


def run_real(folder: Path) -> list[str]:
    """A Markdown table: corners of every clip in the folder that has a truth with marked corners."""
    from vision_referee.calibration.tables import load_table
    from vision_referee.video.source import open_video, sample_frames

    lines = ["| clip | elevation | corner px median | worst | marked to | said mm | confidence |",
             "| --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    every: list[float] = []
    for path in sorted(folder.glob("*.mp4")):
        truth = json.loads(path.with_suffix(".truth.json").read_text(encoding="utf-8"))
        marked = truth.get("surface_corners_px")
        if not marked:
            continue
        true = np.array(marked["points"], float)
        frames = [frame.bgr() for frame in sample_frames(open_video(path), 9)]
        try:
            # Pool tables all; without a known size, proportions alone must do.
            found = calibrate_frames(frames, table=load_table("pool-9ft"))
        except CalibrationError as error:
            lines.append(f"| {path.stem} | refused: {error} | | | | | |")
            continue
        off = min((np.linalg.norm(np.roll(found.corners_px, k, axis=0) - true, axis=1) for k in range(4)),
                  key=lambda one: float(one.max()))  # fmt: skip
        every += off.tolist()
        lines.append(
            f"| {path.stem} | {found.elevation_deg:.0f}° | {np.median(off):.1f} | {off.max():.1f} "
            f"| {marked['uncertainty_px']} | {found.expected_error_mm:.1f} | {found.confidence:.2f} |"
        )
        print(lines[-1], flush=True)
    if every:
        lines.append(f"| all corners | | {np.median(every):.1f} | {np.max(every):.1f} | | | |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60, help="how many rendered scenes")
    parser.add_argument("--first", type=int, default=940000, help="the first scene's seed")
    parser.add_argument("--keep", type=Path, help="where rendered frames are kept between runs")
    parser.add_argument("--real", type=Path, help="a folder of clips with truth files")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    scores = run_rendered(args.first, args.seeds, args.keep)
    print("\n" + "\n".join(by_elevation(scores)))
    if args.real:
        print("\n" + "\n".join(run_real(args.real)))


if __name__ == "__main__":
    main()
