"""What changed from frame to frame: repeated frames and cuts, found before anything is tracked.

A video of 15 true frames a second stored as 30 looks like stop and go unless repeats are found first, and an edited
recording jumps: a cut is one lone spike in an otherwise calm stretch, while a player or a fast ball moves for several
frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from vision_referee.video.frames import U8, Frame

_SMALL = (320, 180)
_SMALL_COLOUR = (160, 90)
_NOTICEABLE, _NOTICEABLE_COLOUR = 6, 4
_STRONG = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSettings:
    """Thresholds on differences (0..255) of a small picture, of its brightness where nothing else is said."""

    repeat_mean: float = 0.02
    """A repeat differs by less than this on average, and nowhere noticeably. Larger: a slow ball far away is missed."""
    cut_mean: float = 0.4
    cut_share: float = 0.004
    """A cut changes at least this share of the picture strongly."""
    cut_ratio: float = 4.0
    """... and stands out of the frames around it by this factor."""
    most_waiting: int = 12
    """How many frames may wait for the next new picture while the scene repeats itself: its latency when still."""
    hard_cut_mean: float = 14.0
    hard_cut_share: float = 0.5
    """Another picture altogether: most of it changes strongly (a person who steps in does not fill it)."""


@dataclass(slots=True)
class ChangedFrame:
    frame: Frame
    repeated: bool
    """Shows nothing new: the same picture as the frame before."""
    cut: bool
    """Time was cut out before this frame."""
    hard_cut: bool
    """Another view altogether."""


@dataclass(slots=True)
class _Seen:
    frame: Frame
    mean: float
    share: float
    repeated: bool
    small: U8


class ChangeDetector:
    """Streaming stage: frames in, frames with what changed out, two new pictures later (``flush`` gives the rest)."""

    latency_frames = 2

    def __init__(self, settings: ChangeSettings | None = None) -> None:
        self._settings = settings or ChangeSettings()
        self._previous: U8 | None = None
        self._waiting: deque[_Seen] = deque()
        self._past: deque[float] = deque(maxlen=2)
        self._judged: U8 | None = None
        """The last frame that came out, small."""

    def as_told(self) -> ChangeDetector:
        """One that has seen what has come out so far, and nothing behind it."""
        earlier = ChangeDetector(self._settings)
        earlier._previous = earlier._judged = self._judged
        earlier._past = self._past.copy()
        return earlier

    def push(self, frame: Frame) -> Iterator[ChangedFrame]:
        small = _small(frame)
        if self._previous is None:
            seen = _Seen(frame, 0.0, 0.0, False, small)
        else:
            every = cv2.absdiff(small, self._previous)
            difference, colour = every[: _SMALL[1]], every[_SMALL[1] :]
            mean, least = float(difference.mean()), self._settings.repeat_mean
            # A ball may be as bright as the cloth: colour must say that nothing moved, too.
            repeated = (
                mean < least
                and float(colour.mean()) < least
                and not bool((difference > _NOTICEABLE).any() or (colour > _NOTICEABLE_COLOUR).any())
            )
            seen = _Seen(frame, mean, float((difference > _STRONG).mean()), repeated, small)
        self._previous = small
        self._waiting.append(seen)
        while sum(not s.repeated for s in list(self._waiting)[1:]) >= self.latency_frames or (
            len(self._waiting) > self._settings.most_waiting
        ):
            yield self._judge()

    def flush(self) -> Iterator[ChangedFrame]:
        while self._waiting:
            yield self._judge()

    def _judge(self) -> ChangedFrame:
        s = self._settings
        seen = self._waiting.popleft()
        self._judged = seen.small
        after = [w.mean for w in self._waiting if not w.repeated][: self.latency_frames]
        calm = max([0.05, *after, *self._past])
        hard = seen.mean > s.hard_cut_mean and seen.share > s.hard_cut_share and seen.mean > 3 * max(after, default=0.0)
        cut = hard or (
            not seen.repeated and seen.mean > s.cut_mean and seen.share > s.cut_share and seen.mean > s.cut_ratio * calm
        )
        if not seen.repeated:
            self._past.append(calm if cut else seen.mean)
        return ChangedFrame(frame=seen.frame, repeated=seen.repeated, cut=cut, hard_cut=hard)


def _small(frame: Frame) -> U8:
    """Brightness at _SMALL, and below it the two colour planes side by side at _SMALL_COLOUR."""
    planes = frame.planes()
    light = cv2.resize(frame.half_luma(), _SMALL, interpolation=cv2.INTER_AREA)
    colours = [cv2.resize(plane, _SMALL_COLOUR, interpolation=cv2.INTER_AREA) for plane in (planes.u, planes.v)]
    return np.vstack([light, np.hstack(colours)]).astype(np.uint8, copy=False)
