"""Frames of the source video between two times of the match, found by seeking where the file allows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.record.match_info import MatchInfo, SourceFile
from vision_referee.video.source import VideoSource, open_video

U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFrame:
    """``bgr`` (h, w, 3) uint8, upright; ``t_s`` in the match's time."""

    t_s: float
    bgr: U8


class SourceVideo:
    """The match's video files as one timeline. Holds no frame: memory is one frame at a time."""

    def __init__(self, info: MatchInfo, folder: Path) -> None:
        """Raises InputError when a file is gone or is no video. A moved file is looked for beside the folder too."""
        self._files = [(f, open_video(_find(f, folder))) for f in info.files]
        self._starts: dict[Path, float | None] = {}

    def frames(self, t_from_s: float, t_to_s: float) -> Iterator[ShownFrame]:
        """Every frame with ``t_from_s <= t <= t_to_s``."""
        for index, (file, source) in enumerate(self._files):
            later = self._files[index + 1][0].t_offset_s if index + 1 < len(self._files) else float("inf")
            if file.t_offset_s <= t_to_s and later > t_from_s:
                yield from self._in_file(file, source, t_from_s, t_to_s)

    def frame_at(self, t_s: float) -> ShownFrame | None:
        """The last frame at or before ``t_s`` (the first after it where there is none)."""
        found = None
        for frame in self.frames(t_s - 0.5, t_s + 0.5):
            if found is None or frame.t_s <= t_s + 1e-4:
                found = frame
        return found

    def _in_file(self, file: SourceFile, source: VideoSource, t_from: float, t_to: float) -> Iterator[ShownFrame]:
        a, b = t_from - file.t_offset_s, t_to - file.t_offset_s
        frames = self._sought(source, a, b) if a > 3.0 else None
        if frames is None:
            # Near the start, or stamps that cannot be trusted: the plain way gives the very times that tracking had.
            frames = ((f.t_s, f.picture) for f in source.frames())
        for t_s, picture in frames:
            if t_s > b + 1e-4:
                return
            if t_s >= a - 1e-4:
                yield ShownFrame(t_s=t_s + file.t_offset_s, bgr=_bgr(source, picture))

    def _sought(self, source: VideoSource, a: float, b: float) -> Iterator[tuple[float, Any]] | None:
        path = source.info.path
        if path not in self._starts:
            self._starts[path] = _first_stamp_s(path)
        start = self._starts[path]
        return None if start is None else _seek(path, start, a, b)


def _seek(path: Path, start_s: float, a: float, b: float) -> Iterator[tuple[float, Any]]:
    with av.open(str(path), metadata_errors="replace") as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        container.seek(int((start_s + max(a - 1.0, 0.0)) / (stream.time_base or 1)), stream=stream, backward=True)
        for packet in container.demux(stream):
            try:
                pictures = packet.decode()
            except av.FFmpegError:
                continue
            for picture in pictures:
                t_s = round(picture.time - start_s, 6)
                yield t_s, picture
                if t_s > b:
                    return


def _first_stamp_s(path: Path) -> float | None:
    """The first frame's own time, or None where times or seeking cannot be trusted."""
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            stream = container.streams.video[0]
            if stream.time_base is None:
                return None
            first = next(container.decode(stream))
            last = first.time
            for picture, _ in zip(container.decode(stream), range(12), strict=False):
                if picture.time is None or last is None or picture.time <= last:
                    return None
                last = picture.time
            if first.pts is None:
                return None
            container.seek(first.pts, stream=stream, backward=True)
            again = next(container.decode(stream))
            return float(first.time) if first.time is not None and again.pts == first.pts else None
    except (av.FFmpegError, OSError, StopIteration, TypeError):
        return None


def _bgr(source: VideoSource, picture: Any) -> U8:
    upright = source._upright(picture)
    pixels = upright if isinstance(upright, np.ndarray) else upright.to_ndarray(format="bgr24")
    return np.ascontiguousarray(pixels)


def _find(file: SourceFile, folder: Path) -> Path:
    path = Path(file.path)
    for candidate in (path, folder / path, folder / path.name, folder.parent / path.name):
        if candidate.is_file():
            return candidate
    raise InputError(f"{path}: the match's video is gone; put it back, or beside the match folder {folder}")
