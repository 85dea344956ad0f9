"""Clips for the pages: the folder's own, and those of other strokes made when someone first looks at them."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_folder import CLIPS, MatchFolder
from vision_referee.record.match_info import RUNNING
from vision_referee.review.clips import caption_lines, clip_name, clip_span_s, make_clip
from vision_referee.review.server.desk import Record
from vision_referee.review.source_frames import SourceVideo
from vision_referee.review.wording import Wording

_CACHE_BYTES = 600 * 1024 * 1024


class ClipShop:
    """Makes one clip at a time, keeps those made in the user's cache folder, and bounds that folder's size."""

    def __init__(self, cache: Path | None = None) -> None:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        self._cache = cache or Path(base) / "vision-referee" / "clips"
        self._making = threading.Lock()

    def clip(self, folder: MatchFolder, record: Record, ruling: Ruling, words: Wording) -> Path:
        """The clip's file.

        Raises:
            InputError: it is not there and cannot be made (the source video is gone).
        """
        own = folder.path / CLIPS / clip_name(ruling.id)
        if own.exists():
            return own
        path = self._cache / self._name(record, ruling, words)
        if path.exists():
            os.utime(path)
            return path
        # Whether the video is there is said at once, not after others' clips have been made.
        video = SourceVideo(record.info, folder.path)
        with self._making:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                make_clip(folder, ruling, record.events, video, words, path)
                self._prune(keep=path)
        return path

    def _name(self, record: Record, ruling: Ruling, words: Wording) -> str:
        # While the match is played its video grows: what was cut short is made anew once more has happened.
        grown = record.stamp if record.info.status == RUNNING else ""
        what = repr((record.info.id, ruling.id, clip_span_s(ruling), caption_lines(ruling, words), words.lang, grown))
        return f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.mp4"

    def _prune(self, keep: Path) -> None:
        clips = sorted(self._cache.glob("*.mp4"), key=lambda p: p.stat().st_mtime, reverse=True)
        held = 0
        for path in clips:
            held += path.stat().st_size
            if held > _CACHE_BYTES and path != keep:
                path.unlink(missing_ok=True)
