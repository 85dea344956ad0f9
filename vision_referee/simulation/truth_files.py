"""Ground truth of a clip, in the contract's format, beside its video.

``NAME.truth/`` holds events.jsonl (what a perfect witness noted, officials' events merged in), tracks.parquet,
rulings.jsonl, match.json (rules, players, settings, table), camera.json and calibration.json (the same camera,
for `analyze --calibration`). ``NAME.officials.jsonl`` is what an official typed, for `analyze --officials`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from vision_referee.calibration.calibration import Calibration, side_of_head
from vision_referee.calibration.camera import Camera
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Source
from vision_referee.record.events_jsonl import event_from_json, write_events
from vision_referee.record.tracks_parquet import TracksWriter
from vision_referee.simulation.clip_video import Visibility
from vision_referee.simulation.frame_clock import FrameClock
from vision_referee.simulation.recording import Recording
from vision_referee.simulation.scene_file import Scene
from vision_referee.simulation.staging import Official, Staged
from vision_referee.simulation.trajectory import Place
from vision_referee.tracking.tracks import BallState, TrackRow

HIDDEN_BELOW = 0.12
"""A ball of which less than this part is seen is `hidden`."""
_STILL_MM_S, _STILL_RAD_S = 0.5, 0.05


def true_rows(recording: Recording, clock: FrameClock, visibility: Visibility | None) -> list[TrackRow]:
    """One row per ball per frame, at the frame's timestamp."""
    rows: list[TrackRow] = []
    for frame, (t, scene_s) in enumerate(zip(clock.video_s, clock.scene_s, strict=True)):
        seen = None if visibility is None else visibility.frames[frame]
        for label in recording.present(float(scene_s)):
            motion = recording.motion(label, float(scene_s))
            x, y = (float(v) for v in motion.position_mm[:2])
            vx, vy = (float(v) for v in motion.velocity_mm_s[:2])
            state = _state(recording, label, float(scene_s))
            if state in (BallState.MOVING, BallState.RESTING) and seen is not None:
                state = BallState.HIDDEN if seen.get(label, 0.0) < HIDDEN_BELOW else state
            rows.append(
                TrackRow(
                    t=round(float(t), 6), frame=frame, ball=label, x=x, y=y, vx=vx, vy=vy, state=state, confidence=1.0
                )
            )
    return rows


def _state(recording: Recording, label: str, t_s: float) -> BallState:
    place = recording.place(label, t_s)
    motion = recording.motion(label, t_s)
    if place in (Place.POCKET, Place.NET):
        return BallState.POCKETED
    x, y, _ = motion.position_mm
    table = recording.table
    over_bed = 0 <= x <= table.length_mm and 0 <= y <= table.width_mm
    if place is Place.BED or (place is Place.AIR and over_bed):
        fast = np.hypot(*motion.velocity_mm_s[:2]) > _STILL_MM_S or np.linalg.norm(motion.spin_rad_s) > _STILL_RAD_S
        return BallState.MOVING if fast else BallState.RESTING
    return BallState.OFF_TABLE


def official_events(officials: Sequence[Official]) -> list[Event]:
    """An official's entries as events. Raises :class:`InputError` for one that is none."""
    events = []
    for entry in officials:
        values = {"t": entry.t_s, "type": entry.type, "source": "official"} | entry.fields
        try:
            events.append(event_from_json(values))
        except (InputError, ValueError) as error:
            raise InputError(f"official event '{entry.type}' at {entry.t_s:.1f} s: {error}") from None
    return events


def write_truth(
    folder: Path, scene: Scene, staged: Staged, clock: FrameClock, camera: Camera, visibility: Visibility | None
) -> list[Event]:
    """Write everything but the video; gives the events, officials' among them, on the video's clock."""
    recording = staged.recording
    truth = folder / f"{scene.name}.truth"
    officials = clock.events(official_events(staged.officials))
    seen = clock.events(recording.events)
    # What an official says at an instant was said before what is then seen.
    merged = sorted([*officials, *seen], key=lambda e: (round(e.t, 6), e.source is not Source.OFFICIAL))
    try:
        truth.mkdir(parents=True, exist_ok=True)
        write_events(truth / "events.jsonl", merged)
        officials_file = folder / f"{scene.name}.officials.jsonl"
        if officials:
            write_events(officials_file, officials)
        else:
            officials_file.unlink(missing_ok=True)
        writer = TracksWriter(truth)
        writer.add(true_rows(recording, clock, visibility))
        writer.close()
        _write_json(truth / "camera.json", _camera_json(camera))
        _calibration(recording, camera).save(truth / "calibration.json")
        _write_json(
            truth / "match.json",
            {
                "format": 1, "name": scene.name, "about": scene.about, "rules": scene.rules,
                "players": list(scene.players), "settings": scene.settings, "table": asdict(recording.table),
                "source": {"files": [{"path": f"../{scene.name}.mp4", "t_offset_s": 0.0}]}, "scene_seed": scene.seed,
                "frames": len(clock.ticks),
            },
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"{truth}: the truth cannot be written ({error.strerror or error})") from None
    return merged


def _write_json(path: Path, values: object) -> None:
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _camera_json(camera: Camera) -> dict[str, object]:
    return {
        "matrix": camera.matrix.tolist(), "distortion": camera.distortion.tolist(), "rvec": camera.rvec.tolist(),
        "tvec": camera.tvec.tolist(), "size_px": list(camera.size_px),
    }  # fmt: skip


def _calibration(recording: Recording, camera: Camera) -> Calibration:
    table = recording.table
    length, width = table.length_mm, table.width_mm
    corners = np.array([[0, 0], [0, width], [length, width], [length, 0]], np.float64)
    corners_px = camera.project_plane(corners, table.nose_height_mm)
    return Calibration(
        table=table, camera=camera, residual_mm=0.0, residual_px=0.0, corners_px=corners_px,
        head_side=side_of_head(corners_px), head_known=True, table_reason="simulated", method="truth",
    )  # fmt: skip
