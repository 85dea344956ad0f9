"""Looking at one video frame by frame, from its beginning or from where an earlier looking stood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vision_referee.detection.detections import Detections
from vision_referee.pipeline.eye import Eye
from vision_referee.pipeline.match_line import seen
from vision_referee.video.changes import ChangeDetector, ChangedFrame
from vision_referee.video.frames import Frame
from vision_referee.video.source import Place, VideoSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where the looking at a video stands: the place of the last frame that came out, and what was known of changes."""

    place: Place
    changes: ChangeDetector


class Looking:
    """Detections, repeated?, cut? for every frame of a video; a repeated frame is not looked at again.

    When a frame's comes out, the eye has looked at nothing behind it: ``stand`` relies on that.
    """

    def __init__(self, video: VideoSource, eye: Eye, since: Standing | None = None) -> None:
        self._video, self._eye, self._since = video, eye, since
        self._changes = since.changes if since else ChangeDetector()
        self._last: Frame | None = None

    def __iter__(self) -> Iterator[tuple[Detections, bool, bool]]:
        for frame in self._video.frames(self._since.place if self._since else None):
            for changed in self._changes.push(frame):
                yield self._seen(changed)
        for changed in self._changes.flush():
            yield self._seen(changed)

    def _seen(self, changed: ChangedFrame) -> tuple[Detections, bool, bool]:
        self._last = changed.frame
        return seen(self._eye, changed)

    def stand(self) -> Standing:
        """Where it stands after what came out last."""
        assert self._last is not None, "nothing came out yet"
        return Standing(place=self._video.place(self._last), changes=self._changes.as_told())
