"""What is made for people from a finished match folder: clips, restoration pictures, the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vision_referee.domain.errors import InputError
from vision_referee.record.match_folder import CLIPS, MatchFolder
from vision_referee.review.clips import clip_name, make_clip, needs_clip
from vision_referee.review.report import write_report
from vision_referee.review.restoration import make_restorations
from vision_referee.review.source_frames import SourceVideo
from vision_referee.review.wording import wording


def make_products(folder: Path, *, lang: str = "en", progress: Callable[[int, int], None] | None = None) -> list[str]:
    """Write ``clips/``, ``restore/`` and ``report.html`` from the folder's files and the source video.

    ``progress`` hears (clips done, clips in all). Returns warnings: what could not be made and why, such as a source
    video that is gone; the report is made all the same.

    Raises:
        InputError: the folder is no match folder, its files are unusable, or it cannot be written.
    """
    match = MatchFolder(folder)
    words = wording(lang)
    events, rulings = match.events(), match.rulings()
    wanted = [r for r in rulings if needs_clip(r)]
    warnings: list[str] = []
    (match.path / CLIPS).mkdir(exist_ok=True)
    try:
        video: SourceVideo | None = SourceVideo(match.info, match.path) if wanted else None
    except InputError as error:
        video = None
        warnings.append(f"no clips: {error}")
    if video is not None:
        for done, ruling in enumerate(wanted):
            if progress is not None:
                progress(done, len(wanted))
            try:
                make_clip(match, ruling, events, video, words, match.path / CLIPS / clip_name(ruling.id))
            except InputError as error:
                warnings.append(f"no clip of ruling {ruling.id}: {error}")
        if progress is not None:
            progress(len(wanted), len(wanted))
    make_restorations(match, wanted, events, video, words)
    write_report(match, lang=lang)
    return warnings
