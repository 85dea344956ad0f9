"""A live camera as frames: read by a thread of its own, never late by more than a few frames, back after every loss."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from vision_referee.video.camera_address import CameraLost, Opener, Shot
from vision_referee.video.frames import Frame
from vision_referee.video.stream_clock import StreamClock

_LEAST_STEP_S = 0.001
_RATE_OVER_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSettings:
    """``buffer_frames``: more forgives a slow moment, fewer bounds the delay more tightly.

    A lost camera is tried again after ``retry_first_s``, then each time after twice as long, at most ``retry_most_s``.
    """

    buffer_frames: int = 5
    retry_first_s: float = 0.5
    retry_most_s: float = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """How the camera does. Times are of the feed's clock; ``rate_hz`` is of the last seconds."""

    ok: bool
    lost_since_s: float | None
    """Since when there is no picture; None while there is."""
    reason: str
    captured: int
    dropped: int
    losses: int
    rate_hz: float


class CameraFeed:
    """``start`` it, ask ``next`` for frames, ``stop`` it. Frames' times rise strictly, from 0 at the first frame.

    When whoever asks is too slow, the oldest frames are dropped (and counted): the delay never grows. A camera that is
    lost is opened again for ever, while the clock goes on. ``finite``: the source is a file; its own stamps are the
    times, and its end is the feed's end.
    """

    def __init__(
        self,
        opener: Opener,
        *,
        finite: bool = False,
        settings: FeedSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.finite = finite
        self.on_frame: Callable[[Frame], None] | None = None
        """Hears every frame that is captured, in the capturing thread: it must not dawdle."""
        self._opener = opener
        self._settings = settings or FeedSettings()
        self._clock = clock
        self._buffer: deque[Frame] = deque()
        self._news = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._recent: deque[float] = deque(maxlen=512)
        self._begun_s: float | None = None
        """Our clock at the feed's time 0."""
        self._last_s: float | None = None
        self._last_at_s = 0.0
        self._size: tuple[int, int] | None = None
        self._captured = self._dropped = self._losses = 0
        self._lost_since_s: float | None = 0.0
        self._reason = "no picture yet"
        self._ended = False
        self._stream_clock = StreamClock()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let go of the camera; ``next`` gives no more frames. Waits some seconds for the thread."""
        self._stopping.set()
        with self._news:
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    @property
    def ended(self) -> bool:
        """The file is played, or the feed was stopped, and no frame waits."""
        with self._news:
            return not self._buffer and (self._ended or self._stopping.is_set())

    def next(self, timeout_s: float = 0.5) -> Frame | None:
        """The oldest frame that waits; None when none comes in time."""
        with self._news:
            self._news.wait_for(lambda: self._buffer or self._ended or self._stopping.is_set(), timeout_s)
            return self._buffer.popleft() if self._buffer and not self._stopping.is_set() else None

    def clock_s(self) -> float:
        """The feed's time now: it goes on while the camera is lost. Of a file, where its playing is."""
        if self._begun_s is None or self._last_s is None:
            return 0.0
        if self.finite:
            return self._last_s + (0.0 if self._ended else min(self._clock() - self._last_at_s, 0.5))
        return self._clock() - self._begun_s

    def state(self) -> FeedState:
        now = self._clock()
        with self._news:
            recent = [t for t in self._recent if now - t < _RATE_OVER_S]
            return FeedState(
                ok=self._lost_since_s is None,
                lost_since_s=self._lost_since_s,
                reason=self._reason,
                captured=self._captured,
                dropped=self._dropped,
                losses=self._losses,
                rate_hz=(len(recent) - 1) / (recent[-1] - recent[0]) if len(recent) > 2 else 0.0,
            )

    # --- the capturing thread ---

    def _run(self) -> None:
        wait_s = self._settings.retry_first_s
        while not self._stopping.is_set():
            before = self._captured
            reason = self._read_until_lost()
            if self._stopping.is_set() or (self.finite and reason is None):
                break
            self._note_loss(reason or "the camera stopped sending")
            if self._captured > before:
                wait_s = self._settings.retry_first_s
            self._stopping.wait(wait_s)
            wait_s = min(2 * wait_s, self._settings.retry_most_s)
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _read_until_lost(self) -> str | None:
        """Read until there is no more; why, or None where the source simply ended."""
        self._stream_clock = StreamClock()
        shots = self._opener()
        try:
            for shot in shots:
                if self._stopping.is_set():
                    return None
                self._take(shot)
        except CameraLost as lost:
            return str(lost)
        except Exception as error:
            # Whatever a driver or a decoder throws: the match must go on.
            return f"{type(error).__name__}: {error}"
        finally:
            close = getattr(shots, "close", None)
            if close is not None:
                close()
        return None

    def _take(self, shot: Shot) -> None:
        now = self._clock()
        if shot.picture is None:
            with self._news:
                self._captured += 1
                self._dropped += 1
            return
        frame = Frame(index=self._captured, t_s=self._time_s(shot, now), picture=self._one_size(shot.picture))
        if self.on_frame is not None:
            self.on_frame(frame)
        with self._news:
            self._recent.append(now)
            self._captured += 1
            self._lost_since_s, self._reason = None, ""
            self._buffer.append(frame)
            while len(self._buffer) > self._settings.buffer_frames:
                self._buffer.popleft()
                self._dropped += 1
            self._news.notify_all()

    def _time_s(self, shot: Shot, now: float) -> float:
        if self.finite and shot.stamp_s is not None:
            t_s = shot.stamp_s
            self._begun_s = self._begun_s if self._begun_s is not None else now
        else:
            taken = self._stream_clock.time_s(shot.stamp_s, now)
            if self._begun_s is None:
                self._begun_s = taken
            t_s = taken - self._begun_s
        if self._last_s is not None and t_s <= self._last_s:
            t_s = self._last_s + _LEAST_STEP_S
        self._last_s, self._last_at_s = round(t_s, 6), now
        return self._last_s

    def _one_size(self, picture: Any) -> Any:
        """Every frame in the first one's size, though the camera may come back with another."""
        height, width = picture.shape[:2] if isinstance(picture, np.ndarray) else (picture.height, picture.width)
        if self._size is None:
            self._size = (width, height)
        if (width, height) == self._size:
            return picture
        if isinstance(picture, np.ndarray):
            return cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)
        return picture.reformat(width=self._size[0], height=self._size[1])

    def _note_loss(self, reason: str) -> None:
        with self._news:
            if self._lost_since_s is None:
                self._losses += 1
                self._lost_since_s = self.clock_s()
            self._reason = reason
