"""Opening recorded videos: decoded frames with the file's own times, whatever the codec, and honest errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import numpy as np

from vision_referee.domain.errors import InputError
from vision_referee.video.frames import Frame

_DECODE_ERRORS_TOLERATED = 500
"""Broken packets skipped before the rest of a file is given up: enough for a damaged stretch, not for garbage."""
_LOST_TOLERATED = 20
"""Failed attempts to read on, one after another, before a damaged file is taken to end there."""
_CLOCK_RESTART_S = 1.0
"""A clock that falls back by more than this has been started again (files joined end to end), not merely jittered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoInfo:
    """What the container says before anything is decoded; ``frame_count`` and ``duration_s`` may be unknown (None).

    ``width`` and ``height`` are those of the upright picture with square pixels.
    """

    path: Path
    width: int
    height: int
    codec: str
    rate_hz: float
    frame_count: int | None
    duration_s: float | None


@dataclass(slots=True)
class VideoSource:
    """A recorded video. Iterate it for frames; ``warnings`` fills up as faults are met.

    Frames come upright (rotation from the metadata applied), at one size (the first frame's), with strictly rising
    times.
    """

    info: VideoInfo
    warnings: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def frames(self) -> Iterator[Frame]:
        """All frames in display order.

        Raises:
            InputError: not one frame could be decoded.
        """
        path = self.info.path
        faults = 0
        index = 0
        first_time: float | None = None
        last_s = -1.0
        untimed = 0
        late = 0
        restarts = 0
        period = 1.0 / self.info.rate_hz
        with _open(path) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            for picture in _decoded(container, stream):
                if picture is None:
                    faults += 1
                    if faults > _DECODE_ERRORS_TOLERATED:
                        break
                    continue
                time_s = picture.time
                if time_s is None:
                    untimed += 1
                    t_s = 0.0 if index == 0 else last_s + period
                else:
                    if first_time is None:
                        first_time = time_s - (last_s + period if index else 0.0)
                    if index and time_s - first_time < last_s - _CLOCK_RESTART_S:
                        first_time = time_s - (last_s + period)
                        restarts += 1
                    t_s = time_s - first_time
                if index and t_s <= last_s:
                    # A repeated or backward stamp cannot be true; half a period keeps the order and invents no motion.
                    late += 1
                    t_s = last_s + period / 2
                last_s = t_s
                yield Frame(index=index, t_s=round(t_s, 6), picture=self._upright(picture))
                index += 1
        if index == 0:
            raise InputError(f"{path}: no frame can be decoded; is the file whole? Re-encode it or copy it again")
        if faults:
            self.warnings.append(f"{path.name}: {faults} broken packets were skipped")
        if untimed:
            self.warnings.append(f"{path.name}: {untimed} frames have no timestamp; the nominal rate was used for them")
        if late:
            self.warnings.append(
                f"{path.name}: {late} frames repeat or turn back the clock; their times are interpolated"
            )
        if restarts:
            self.warnings.append(
                f"{path.name}: the clock starts again {restarts} times; times go on from the frame before"
            )
        if self.info.duration_s is not None and last_s + 2.0 < self.info.duration_s * 0.97:
            self.warnings.append(
                f"{path.name}: ends at {last_s:.1f} s though {self.info.duration_s:.1f} s are announced; truncated?"
            )

    def _upright(self, picture: Any) -> Any:
        turns = (round(getattr(picture, "rotation", 0) / 90)) % 4
        if (picture.width, picture.height) != _coded_size(self.info, turns):
            width, height = _coded_size(self.info, turns)
            picture = picture.reformat(width=width, height=height)
        if turns == 0:
            return picture
        # PyAV's rotation is counter-clockwise degrees to apply, as numpy's rot90 counts.
        return np.ascontiguousarray(np.rot90(picture.to_ndarray(format="bgr24"), turns))


def _coded_size(info: VideoInfo, turns: int) -> tuple[int, int]:
    return (info.height, info.width) if turns % 2 else (info.width, info.height)


def _square_pixel_size(width: int, height: int, stream: Any) -> tuple[int, int]:
    """The size in which the picture is to be shown: some cameras store pixels that are wider than high."""
    aspect = float(stream.sample_aspect_ratio or 1)
    if not 0.25 <= aspect <= 4 or abs(aspect - 1) < 0.005:
        return width, height
    return 2 * round(width * aspect / 2), height


def _open(path: Path) -> Any:
    try:
        return av.open(str(path), metadata_errors="replace")
    except (av.FFmpegError, OSError, ValueError) as error:
        raise InputError(f"{path}: not a video that can be read ({_reason(error)}); give a video file") from error


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__


def _decoded(container: Any, stream: Any) -> Iterator[Any]:
    """Decoded pictures; None for each packet that could not be read or decoded."""
    packets = container.demux(stream)
    lost = 0
    while True:
        try:
            packet = next(packets)
            lost = 0
        except StopIteration:
            return
        except (av.FFmpegError, OSError, IndexError):
            # Damage. (IndexError: garbage that looks like the header of a further stream.) Reading goes on behind it;
            # where the demuxer cannot find its thread again, what has been decoded stands.
            yield None
            lost += 1
            if lost > _LOST_TOLERATED:
                return
            packets = container.demux(stream)
            continue
        try:
            pictures = packet.decode()
        except (av.FFmpegError, OSError):
            yield None
            continue
        yield from pictures


def open_video(path: Path | str) -> VideoSource:
    """Open a recorded video.

    Raises:
        InputError: the file is missing, empty, not a video, or holds no picture track.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give a video file")
    if not path.exists():
        raise InputError(f"{path}: no such file; check the path")
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path}: the file is empty; copy or record it again")
    except PermissionError as error:
        raise InputError(f"{path}: may not be read; check its permissions") from error
    with _open(path) as container:
        if not container.streams.video:
            raise InputError(f"{path}: holds no picture track; give a video file")
        stream = container.streams.video[0]
        first = next((p for p in _decoded(container, stream) if p is not None), None)
        if first is None:
            raise InputError(f"{path}: no frame can be decoded; is the file whole? Re-encode it or copy it again")
        width, height = _square_pixel_size(first.width, first.height, stream)
        if (round(getattr(first, "rotation", 0) / 90)) % 2:
            width, height = height, width
        rate = float(stream.average_rate or stream.guessed_rate or stream.base_rate or 25)
        if not 0.5 <= rate <= 1000:
            rate = 25.0
        duration = None
        if stream.duration is not None and stream.time_base is not None:
            duration = float(stream.duration * stream.time_base)
        elif container.duration is not None:
            duration = container.duration / av.time_base
        return VideoSource(
            info=VideoInfo(
                path=path,
                width=width,
                height=height,
                codec=str(stream.codec_context.name),
                rate_hz=rate,
                frame_count=stream.frames or None,
                duration_s=duration,
            )
        )


def sample_frames(source: VideoSource, count: int) -> list[Frame]:
    """About ``count`` frames spread over the whole video, by seeking to key frames (times and indices are rough).

    Falls back on the first frames where the container cannot seek.
    """
    info = source.info
    frames: list[Frame] = []
    with _open(info.path) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        if info.duration_s and stream.time_base:
            start = stream.start_time or 0
            for k in range(count):
                at_s = info.duration_s * (k + 0.5) / count
                try:
                    container.seek(start + int(at_s / stream.time_base), stream=stream, any_frame=False, backward=True)
                    picture = next((p for p in _decoded(container, stream) if p is not None), None)
                except (av.FFmpegError, OSError):
                    picture = None
                if picture is not None:
                    t_s = float(picture.time or 0.0)
                    if all(abs(f.t_s - t_s) > 1e-6 for f in frames):
                        frames.append(Frame(index=-1, t_s=t_s, picture=source._upright(picture)))
    if len(frames) < min(count, 3):
        frames = []
        step = max(1, (info.frame_count or 60) // count)
        for frame in source.frames():
            if frame.index % step == 0:
                frame.bgr()
                frames.append(frame)
            if len(frames) >= count or frame.index > 600:
                break
        source.warnings.clear()
    return frames
