"""When frames are taken and what the file says of it: even or uneven timing, lost and repeated frames, cuts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.simulation.scene_file import Video

F64 = npt.NDArray[np.float64]
TIME_BASE = Fraction(1, 90_000)
"""Fine enough for any timing, and what MP4 players expect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameClock:
    """n frames: ``ticks`` (n,) their timestamps in TIME_BASE, ``scene_s`` (n,) the scene's time at the stamp and
    ``picture_s`` (n,) that of the picture stored (older for a repeated one). ``kept`` the scene's stretches shown."""

    ticks: npt.NDArray[np.int64]
    scene_s: F64
    picture_s: F64
    kept: tuple[tuple[float, float], ...]

    @property
    def video_s(self) -> F64:
        """Timestamps (n,) in seconds from the first frame's."""
        return np.asarray(self.ticks * float(TIME_BASE), np.float64)

    def to_video_s(self, scene_s: float) -> float | None:
        """A scene time on the video's clock; None where it is not shown."""
        shown = 0.0
        for start, stop in self.kept:
            if start - 1e-9 <= scene_s <= stop + 1e-9:
                return max(shown + scene_s - start, 0.0)
            shown += stop - start
        return None

    def events(self, events: list[Event]) -> list[Event]:
        """Events on the video's clock with their frames; those not shown are left out."""
        stamps = self.video_s
        found = []
        for event in events:
            t = self.to_video_s(event.t)
            if t is not None:
                frame = int(np.clip(np.searchsorted(stamps, t + 1e-9, side="right") - 1, 0, len(stamps) - 1))
                found.append(replace(event, t=round(t, 6), frame=frame))
        return found


def frame_clock(video: Video, duration_s: float, rng: np.random.Generator) -> FrameClock:
    """Frame times for a scene of a duration. Raises :class:`InputError` where nothing is left to show."""
    end = min(video.end_s if video.end_s is not None else duration_s, duration_s)
    kept: list[tuple[float, float]] = []
    start = video.start_s
    for cut in sorted(video.cuts, key=lambda c: c.from_s):
        if cut.to_s <= cut.from_s:
            raise InputError(f"a cut from {cut.from_s:g} s to {cut.to_s:g} s takes nothing out")
        if cut.from_s > start:
            kept.append((start, min(cut.from_s, end)))
        start = max(start, cut.to_s)
    if end > start:
        kept.append((start, end))
    kept = [(a, b) for a, b in kept if b > a]
    if not kept:
        raise InputError(f"the video is empty: the scene lasts {duration_s:.1f} s and is cut away altogether")
    shown = sum(b - a for a, b in kept)
    video_s = np.arange(int(shown * video.fps + 1e-6) + 1) / video.fps
    if video.jitter > 0:
        video_s[1:] += rng.uniform(-video.jitter, video.jitter, len(video_s) - 1) / video.fps
    if video.drop > 0:
        stay = rng.random(len(video_s)) >= video.drop
        stay[0] = True
        video_s = video_s[stay]
    ticks = np.round(video_s / float(TIME_BASE)).astype(np.int64)
    scene_s = np.array([_scene_s(float(t), kept) for t in ticks * float(TIME_BASE)])
    originals = np.arange(len(ticks)) // video.repeat * video.repeat
    return FrameClock(ticks=ticks, scene_s=scene_s, picture_s=scene_s[originals], kept=tuple(kept))


def _scene_s(video_s: float, kept: list[tuple[float, float]]) -> float:
    left = video_s
    for start, stop in kept:
        if left < stop - start - 1e-9 or (start, stop) == kept[-1]:
            return start + left
        left -= stop - start
    return kept[-1][1]
