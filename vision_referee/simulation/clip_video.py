"""Pictures of a staged scene, encoded with true timestamps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.errors import InputError
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.cameras import MOUNTINGS, Mounting, camera_for, random_mounting
from vision_referee.simulation.frame_clock import TIME_BASE, FrameClock
from vision_referee.simulation.look import Look, named_look, random_look
from vision_referee.simulation.recording import Recording
from vision_referee.simulation.render import Renderer
from vision_referee.simulation.scene_file import CameraSpec, LookSpec, Shake, Video

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_ENCODERS: dict[str, tuple[str, str, dict[str, str]]] = {
    "h264": ("libx264", "yuv420p", {"preset": "medium"}),
    "hevc": ("libx265", "yuv420p", {"preset": "fast", "x265-params": "log-level=error"}),
    "vp9": ("libvpx-vp9", "yuv420p", {"deadline": "realtime", "cpu-used": "6", "b": "0"}),
    "mjpeg": ("mjpeg", "yuvj420p", {}),
}
_SHAKE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """For each frame, the labels drawn and what part of each could be seen."""

    frames: tuple[dict[str, float], ...]


def scene_camera(spec: CameraSpec, table: TableSpec, size_px: tuple[int, int]) -> Camera:
    """The camera that a scene asks for. Raises :class:`InputError`."""
    if spec.random is not None:
        mounting = random_mounting(np.random.default_rng([spec.random, 11]), overhead=spec.overhead)
    elif spec.preset in MOUNTINGS:
        mounting = MOUNTINGS[spec.preset]
    else:
        raise InputError(f"unknown camera preset '{spec.preset}': use one of {', '.join(MOUNTINGS)}")
    names = {f.name for f in fields(Mounting)}
    given = {k: v for k, v in spec.model_dump().items() if k in names and v is not None}
    return camera_for(replace(mounting, **given), table, size_px)


def scene_look(spec: LookSpec, table: TableSpec) -> Look:
    """The look that a scene asks for. Raises :class:`InputError`."""
    if spec.random is not None:
        look = random_look(np.random.default_rng([spec.random, 12]), family=table.family)
    else:
        look = named_look(spec.named or "club_green")
        style = look.balls.cue_style if table.family == "pyramid" else "plain"
        look = replace(look, balls=replace(look.balls, family=table.family, cue_style=style))
    if not spec.change:
        return look
    changed: Look = _changed(look, spec.change)
    return changed


def _changed(look: Any, change: dict[str, Any]) -> Any:
    known = {f.name for f in fields(look)}
    values: dict[str, Any] = {}
    for name, value in change.items():
        if name not in known or name == "lamps":
            raise InputError(f"a look has no '{name}' to change: {', '.join(sorted(known - {'lamps'}))}")
        if isinstance(value, dict):
            values[name] = _changed(getattr(look, name), value)
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    return replace(look, **values)


def write_video(
    path: Path,
    recording: Recording,
    clock: FrameClock,
    camera: Camera,
    look: Look,
    video: Video,
    rng: np.random.Generator,
    *,
    shake_mm: float = Shake().mm,
    progress: Callable[[int, int], None] | None = None,
) -> Visibility:
    """Render every frame and encode it. Raises :class:`InputError` when the file cannot be written."""
    import av

    renderer = Renderer(camera, recording.table, look)
    codec, pixel_format, options = _ENCODERS[video.codec]
    if video.codec != "mjpeg":
        options = options | {"crf": str(video.crf)}
    seen: list[dict[str, float]] = []
    partial = path.with_name(path.stem + ".part" + path.suffix)
    try:
        with av.open(str(partial), "w", options={"movflags": "+faststart"}) as container:
            stream: Any = container.add_stream(codec, rate=round(video.fps), options=options)
            stream.width, stream.height = camera.size_px
            stream.pix_fmt = pixel_format
            stream.codec_context.time_base = TIME_BASE
            stream.time_base = TIME_BASE
            stream.codec_context.thread_count = 1
            last: tuple[float, U8, dict[str, float]] | None = None
            for n, (tick, picture_s) in enumerate(zip(clock.ticks, clock.picture_s, strict=True)):
                if last is None or last[0] != picture_s:
                    scene = recording.frame(float(picture_s))
                    drawn = renderer.frame_with_truth(scene, rng, exposure_s=video.exposure_s)
                    pixels = _shaken(drawn.pixels, float(picture_s), recording, camera, shake_mm)
                    visible = {b.label: float(v) for b, v in zip(scene.balls, drawn.visible, strict=True)}
                    last = (float(picture_s), pixels, visible)
                seen.append(last[2])
                picture = av.VideoFrame.from_ndarray(last[1], format="bgr24").reformat(format=pixel_format)
                picture.pts = int(tick)
                picture.time_base = TIME_BASE
                container.mux(stream.encode(picture))
                if progress is not None:
                    progress(n + 1, len(clock.ticks))
            container.mux(stream.encode(None))
        partial.replace(path)
    except (OSError, av.FFmpegError) as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"{path}: the video cannot be written ({error})") from None
    return Visibility(frames=tuple(seen))


def _shaken(pixels: U8, t_s: float, recording: Recording, camera: Camera, shake_mm: float) -> U8:
    """The picture of a jolted table quivers."""
    for at_s in recording.shakes_s:
        since = t_s - at_s
        if 0 <= since < _SHAKE_S:
            middle = np.array([[recording.table.length_mm / 2, recording.table.width_mm / 2]])
            per_mm = float(np.abs(camera.px_per_mm(middle, 0.0)).max())
            swing = shake_mm * per_mm * math.exp(-since / 0.15)
            dx = swing * math.sin(2 * math.pi * 9.0 * since)
            dy = 0.5 * swing * math.sin(2 * math.pi * 12.0 * since + 0.7)
            shift = np.array([[1.0, 0.0, dx], [0.0, 1.0, dy]])
            size = (pixels.shape[1], pixels.shape[0])
            return np.asarray(cv2.warpAffine(pixels, shift, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    return pixels
