"""Opening recorded videos: decoded frames with the file's own times, whatever the codec, and honest errors."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
_PLACES = 256
"""So many frames back the reading's place is remembered: more than any later stage looks ahead."""
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


@dataclass(slots=True, kw_only=True)
class _Clock:
    """Turns a file's stamps into rising times, and counts what was wrong with them."""

    period_s: float
    index: int = -1
    """Of the last frame."""
    first_time: float | None = None
    last_s: float = -1.0
    faults: int = 0
    untimed: int = 0
    late: int = 0
    restarts: int = 0

    def tick(self, time_s: float | None) -> float:
        """The time of the next frame, whose stamp is ``time_s``."""
        self.index += 1
        if time_s is None:
            self.untimed += 1
            t_s = 0.0 if self.index == 0 else self.last_s + self.period_s
        else:
            if self.first_time is None:
                self.first_time = time_s - (self.last_s + self.period_s if self.index else 0.0)
            if self.index and time_s - self.first_time < self.last_s - _CLOCK_RESTART_S:
                self.first_time = time_s - (self.last_s + self.period_s)
                self.restarts += 1
            t_s = time_s - self.first_time
        if self.index and t_s <= self.last_s:
            # A repeated or backward stamp cannot be true; half a period keeps the order and invents no motion.
            self.late += 1
            t_s = self.last_s + self.period_s / 2
        self.last_s = t_s
        return t_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the reading of a video stands, right after a frame: from here it can go on as if it had never stopped."""

    clock: _Clock
    pts: int | None
    print: int = 0
    """Of the frame's picture, to know it again."""

    @property
    def index(self) -> int:
        return self.clock.index


@dataclass(slots=True)
class VideoSource:
    """A recorded video. Iterate it for frames; ``warnings`` fills up as faults are met.

    Frames come upright (rotation from the metadata applied), at one size (the first frame's), with strictly rising
    times.
    """

    info: VideoInfo
    warnings: list[str] = field(default_factory=list)
    _places: deque[Place] = field(default_factory=lambda: deque(maxlen=_PLACES))

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def frames(self, after: Place | None = None) -> Iterator[Frame]:
        """All frames in display order; ``after`` a place where an earlier reading stood, those behind it.

        Raises:
            InputError: not one frame could be decoded.
        """
        path = self.info.path
        clock = replace(after.clock) if after is not None else _Clock(period_s=1.0 / self.info.rate_hz)
        with _open(path) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            for picture in _decoded(container, stream) if after is None else self._behind(container, stream, after):
                if picture is None:
                    clock.faults += 1
                    if clock.faults > _DECODE_ERRORS_TOLERATED:
                        break
                    continue
                t_s = clock.tick(picture.time)
                self._places.append(Place(clock=replace(clock), pts=picture.pts))
                yield Frame(index=clock.index, t_s=round(t_s, 6), picture=self._upright(picture))
        if clock.index < 0:
            raise InputError(f"{path}: no frame can be decoded; is the file whole? Re-encode it or copy it again")
        self._warn(clock)

    def place(self, frame: Frame) -> Place:
        """Where the reading stood after ``frame``, one of the last that were read."""
        found = next(place for place in reversed(self._places) if place.index == frame.index)
        return replace(found, print=_print(frame.picture))

    def _behind(self, container: Any, stream: Any, place: Place) -> Iterator[Any]:
        """As :func:`_decoded`, but from the picture behind ``place`` on.

        Reached by seeking where that surely gives the same pictures; a file with faults is read from its beginning.
        """
        clock = place.clock
        if place.pts is not None and not (clock.faults or clock.untimed or clock.late or clock.restarts):
            try:
                container.seek(place.pts, stream=stream, any_frame=False, backward=True)
                pictures = _decoded(container, stream)
                for picture in pictures:
                    if picture is None or picture.pts is None or picture.pts > place.pts:
                        break
                    if picture.pts == place.pts and _print(self._upright(picture)) == place.print:
                        yield from pictures
                        return
            except (av.FFmpegError, OSError):
                pass
        with _open(Path(container.name)) as again:
            from_start = again.streams.video[0]
            from_start.thread_type = "AUTO"
            left = place.index + 1
            for picture in _decoded(again, from_start):
                if left <= 0:
                    yield picture
                elif picture is not None:
                    left -= 1

    def _warn(self, clock: _Clock) -> None:
        name = self.info.path.name
        if clock.faults:
            self.warnings.append(f"{name}: {clock.faults} broken packets were skipped")
        if clock.untimed:
            self.warnings.append(
                f"{name}: {clock.untimed} frames have no timestamp; the nominal rate was used for them"
            )
        if clock.late:
            self.warnings.append(
                f"{name}: {clock.late} frames repeat or turn back the clock; their times are interpolated"
            )
        if clock.restarts:
            self.warnings.append(
                f"{name}: the clock starts again {clock.restarts} times; times go on from the frame before"
            )
        if self.info.duration_s is not None and clock.last_s + 2.0 < self.info.duration_s * 0.97:
            self.warnings.append(
                f"{name}: ends at {clock.last_s:.1f} s though {self.info.duration_s:.1f} s are announced; truncated?"
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


def _print(picture: Any) -> int:
    """A number that tells pictures apart, of a decoded picture or (h, w, 3) pixels."""
    if not isinstance(picture, np.ndarray):
        picture = picture.reformat(width=96, height=54, format="gray").to_ndarray()
    return zlib.crc32(np.ascontiguousarray(picture).tobytes())


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
