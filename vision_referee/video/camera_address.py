"""What CAMERA may be: a device number, an RTSP or HTTP address, or a file played at its own speed; opening each."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2

from vision_referee.domain.errors import InputError
from vision_referee.video.source import VideoSource, open_video

_SCHEMES = ("rtsp", "rtsps", "http", "https", "rtmp", "udp", "srt")
_OPEN_TIMEOUT_S, _READ_TIMEOUT_S = 8.0, 5.0
_FAULTS_TOLERATED = 100
"""Broken packets one after another before a stream is given up and opened anew."""
_LATE_S = 0.25
"""A file's frame that is due longer ago than this is not shown any more."""


class CameraLost(Exception):
    """The camera cannot be opened, or gives no more pictures; the message says why."""


@dataclass(slots=True)
class Shot:
    """A picture as it comes: a decoder's frame or (h, w, 3) BGR pixels; None for one that was left out to keep up.

    ``stamp_s`` is the time on the camera's or the file's own clock, None where it has none.
    """

    picture: Any
    stamp_s: float | None


Opener = Callable[[], Iterator[Shot]]
"""Opens the camera when the first picture is asked for; closing the iterator closes it. Raises CameraLost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraAddress:
    """``text`` as the user gave it; exactly one of ``device``, ``url`` and ``file`` is set."""

    text: str
    device: int | None = None
    url: str | None = None
    file: Path | None = None

    @property
    def shown(self) -> str:
        """For people and for files: without the password that an address may hold."""
        return re.sub(r"//[^/@]*@", "//", self.text)


def camera_address(text: str) -> CameraAddress:
    """Raises InputError when ``text`` is none of the four."""
    given = text.strip()
    if given.isdigit():
        return CameraAddress(text=given, device=int(given))
    scheme, separator, rest = given.partition("://")
    if separator:
        if scheme.lower() not in _SCHEMES or not rest:
            raise InputError(f"{given}: not a camera's address; give rtsp://…, http://…, a device number or a file")
        return CameraAddress(text=given, url=given)
    path = Path(given)
    if re.fullmatch(r"/dev/video\d+", given):
        return CameraAddress(text=given, device=int(given[len("/dev/video") :]))
    if not given or not path.exists():
        raise InputError(f"{given}: no such file, and no camera; give a device number, rtsp://…, http://… or a file")
    return CameraAddress(text=given, file=path)


def opener(address: CameraAddress, *, speed: float = 1.0) -> Opener:
    """How to open it. ``speed``: how fast a file is played, in its own seconds a second.

    Raises:
        InputError: the file is no video.
    """
    if address.device is not None:
        device = address.device
        return lambda: _device_shots(device)
    if address.url is not None:
        url, shown = address.url, address.shown
        return lambda: _stream_shots(url, shown)
    assert address.file is not None
    video = open_video(address.file)
    return lambda: file_shots(video, speed=speed)


def file_shots(
    video: VideoSource, *, speed: float = 1.0, clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Shot]:  # fmt: skip
    """A file's pictures, each when it is due; those that are late (decoding was slow) are left out."""
    begun: float | None = None
    for frame in video.frames():
        now = clock()
        begun = now if begun is None else begun
        late = now - begun - frame.t_s / speed
        if late < 0:
            sleep(-late)
        yield Shot(None if late > _LATE_S else frame.picture, frame.t_s)


def _stream_shots(url: str, shown: str) -> Iterator[Shot]:
    options = {"flags": "low_delay"}
    if url.lower().startswith("rtsp"):
        options |= {"rtsp_transport": "tcp"}
    try:
        container = av.open(url, options=options, timeout=(_OPEN_TIMEOUT_S, _READ_TIMEOUT_S), metadata_errors="replace")
    except (av.FFmpegError, OSError, ValueError) as error:
        raise CameraLost(f"{shown} cannot be opened ({_reason(error)})") from error
    with container:
        if not container.streams.video:
            raise CameraLost(f"{shown} sends no picture")
        stream = container.streams.video[0]
        # Frame threads would hold back as many pictures as there are threads.
        stream.thread_type = "SLICE"
        # A file on a server, or segments that come in one go, are played at their own speed; a camera is never held up.
        pace = _Pace() if container.duration is not None or "hls" in container.format.name else None
        faults = 0
        packets = container.demux(stream)
        while True:
            try:
                packet = next(packets)
                pictures = packet.decode()
                faults = 0
            except StopIteration:
                raise CameraLost(f"{shown} has stopped sending") from None
            except (av.FFmpegError, OSError, IndexError) as error:
                faults += 1
                if faults > _FAULTS_TOLERATED or isinstance(error, av.ExitError | OSError):
                    raise CameraLost(f"{shown} is gone ({_reason(error)})") from error
                continue
            for picture in pictures:
                if pace is not None and picture.time is not None:
                    pace.wait(picture.time)
                yield Shot(picture, picture.time)


class _Pace:
    """Holds back pictures that come faster than their stamps say."""

    def __init__(self) -> None:
        self._begun: tuple[float, float] | None = None

    def wait(self, stamp_s: float) -> None:
        now = time.monotonic()
        if self._begun is None or abs(now - self._begun[0] - stamp_s + self._begun[1]) > 30.0:
            self._begun = (now, stamp_s)
        ahead = (stamp_s - self._begun[1]) - (now - self._begun[0])
        if ahead > 0:
            time.sleep(min(ahead, 2.0))


def _device_shots(device: int) -> Iterator[Shot]:
    backend = cv2.CAP_V4L2 if sys.platform.startswith("linux") else cv2.CAP_ANY
    capture = cv2.VideoCapture(device, backend)
    try:
        if not capture.isOpened():
            raise CameraLost(f"camera {device} cannot be opened: is it plugged in, and used by no other program?")
        last_stamp_s = 0.0
        while True:
            good, bgr = capture.read()
            if not good:
                raise CameraLost(f"camera {device} gives no more pictures")
            stamp_s = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
            # Some drivers stamp nothing, or always the same.
            yield Shot(bgr, stamp_s if stamp_s > last_stamp_s else None)
            last_stamp_s = max(last_stamp_s, stamp_s)
    finally:
        capture.release()


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__
