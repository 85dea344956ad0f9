"""From a scene to a clip: video, officials' file and truth. The whole of a simulation on one page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vision_referee.calibration.tables import load_table
from vision_referee.domain.events import Event
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.clip_video import scene_camera, scene_look, write_video
from vision_referee.simulation.frame_clock import frame_clock
from vision_referee.simulation.scene_file import Scene
from vision_referee.simulation.staging import stage
from vision_referee.simulation.true_rulings import write_true_rulings
from vision_referee.simulation.truth_files import write_truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What was made. ``video`` and ``officials`` are None where there is none."""

    name: str
    video: Path | None
    truth: Path
    officials: Path | None
    events: tuple[Event, ...]
    frames: int


def scene_table(scene: Scene) -> TableSpec:
    """The table of a scene, with its own balls where it names their size. Raises :class:`InputError`."""
    table = load_table(scene.table)
    if scene.ball_diameter_mm is None:
        return table
    scale = scene.ball_diameter_mm / table.ball_diameter_mm
    return replace(table, ball_diameter_mm=scene.ball_diameter_mm, ball_mass_kg=table.ball_mass_kg * scale**3)


def make_clip(
    scene: Scene,
    folder: Path,
    *,
    with_video: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Clip:
    """Play a scene, film it, write the clip and its truth into ``folder``. Raises :class:`InputError`."""
    table = scene_table(scene)
    staged = stage(scene, table)
    clock = frame_clock(scene.video, staged.recording.duration_s, np.random.default_rng([scene.seed, 78]))
    camera = scene_camera(scene.camera, table, scene.video.size)
    look = scene_look(scene.look, table)
    folder.mkdir(parents=True, exist_ok=True)
    visibility = None
    video: Path | None = None
    if with_video:
        video = folder / f"{scene.name}.mp4"
        noise = np.random.default_rng([scene.seed, 79])
        shake_mm = max((a.shake.mm for a in scene.acts if a.shake is not None), default=0.0)
        visibility = write_video(
            video, staged.recording, clock, camera, look, scene.video, noise, shake_mm=shake_mm, progress=progress
        )
    events = write_truth(folder, scene, staged, clock, camera, visibility)
    truth = folder / f"{scene.name}.truth"
    write_true_rulings(truth, scene, table)
    officials = folder / f"{scene.name}.officials.jsonl"
    return Clip(
        name=scene.name, video=video, truth=truth, officials=officials if officials.exists() else None,
        events=tuple(events), frames=len(clock.ticks),
    )  # fmt: skip
