"""What a camera shows, kept as a video, so that clips can be made of it: a thread that encodes and never holds up."""

from __future__ import annotations

import queue
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from vision_referee.video.frames import Frame

_TIME_BASE = Fraction(1, 90_000)
_KEY_EVERY_S = 1.0
# Fragments make the file readable while it grows, and whole up to the last second after a power cut.
_CONTAINER = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "frag_duration": "500000", "flush_packets": "1"}
_CODEC = {"preset": "ultrafast", "tune": "zerolatency", "crf": "23"}


class CameraRecording:
    """``put`` frames, ``close`` at the end. Frames that come faster than they can be encoded are left out.

    ``first_s`` is the feed's time of the recording's first frame, None until there is one; ``failure`` says why nothing
    more is written (a full disk), None while all is well.
    """

    def __init__(self, path: Path, *, waiting_frames: int = 60) -> None:
        self.path = path
        self.first_s: float | None = None
        self.failure: str | None = None
        self.left_out = 0
        self.size: tuple[int, int] | None = None
        self._waiting: queue.Queue[Frame | None] = queue.Queue(maxsize=waiting_frames)
        self._thread = threading.Thread(target=self._run, name="recording", daemon=True)
        self._thread.start()

    def put(self, frame: Frame) -> None:
        """Take one frame; returns at once."""
        if self.failure is not None:
            return
        if self.first_s is None:
            self.first_s = frame.t_s
        try:
            self._waiting.put_nowait(frame)
        except queue.Full:
            self.left_out += 1

    def close(self) -> None:
        """Encode what waits and finish the file."""
        try:
            self._waiting.put(None, timeout=30)
        except queue.Full:
            return
        self._thread.join(timeout=60)

    def _run(self) -> None:
        try:
            self._record()
        except (av.FFmpegError, OSError, ValueError) as error:
            self.failure = f"{self.path.name}: the camera is not recorded any more ({error})"
            while self._waiting.get() is not None:
                pass

    def _record(self) -> None:
        frame = self._waiting.get()
        if frame is None:
            return
        first_s = frame.t_s
        width, height = _even_size(frame.picture)
        self.size = (width, height)
        reformatter = VideoReformatter()
        with av.open(str(self.path), "w", format="mp4", options=_CONTAINER) as out:
            stream = out.add_stream("libx264", rate=30, options=_CODEC)
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            stream.time_base = stream.codec_context.time_base = _TIME_BASE
            stream.codec_context.gop_size = 300
            last_pts, next_key_s = -1, first_s
            while frame is not None:
                # A picture of our own: the frame's is being read by others at this moment.
                picture = frame.picture
                if isinstance(picture, np.ndarray):
                    picture = av.VideoFrame.from_ndarray(picture, format="bgr24")
                shown = reformatter.reformat(picture, width=width, height=height, format="yuv420p")
                if shown is picture:
                    shown = av.VideoFrame.from_ndarray(picture.to_ndarray(), format="yuv420p")
                last_pts = max(last_pts + 1, round((frame.t_s - first_s) / _TIME_BASE))
                shown.pts, shown.time_base = last_pts, _TIME_BASE
                shown.pict_type = _KEY if frame.t_s >= next_key_s else _ANY
                if frame.t_s >= next_key_s:
                    next_key_s = frame.t_s + _KEY_EVERY_S
                out.mux(stream.encode(shown))
                frame = self._waiting.get()
            out.mux(stream.encode())


_KEY = av.video.frame.PictureType.I
_ANY = av.video.frame.PictureType.NONE


def _even_size(picture: Any) -> tuple[int, int]:
    height, width = picture.shape[:2] if isinstance(picture, np.ndarray) else (picture.height, picture.width)
    return width - width % 2, height - height % 2
