"""What is made for people from a finished match folder: clips, restoration pictures, the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_folder import CLIPS, RESTORE, MatchFolder
from vision_referee.record.match_info import write_match_info
from vision_referee.review.clips import caption_lines, clip_name, clip_span_s, make_clip, needs_clip
from vision_referee.review.report import write_report
from vision_referee.review.restoration import make_restorations, picture_name
from vision_referee.review.source_frames import SourceVideo
from vision_referee.review.wording import Wording, wording

Progress = Callable[[int, int], None]


def make_products(folder: Path, *, lang: str = "en", progress: Progress | None = None) -> list[str]:
    """Write ``clips/``, ``restore/`` and ``report.html`` from the folder's files and the source video.

    ``progress`` hears (clips done, clips in all). Returns warnings: what could not be made and why, such as a source
    video that is gone; the report is made all the same.

    Raises:
        InputError: the folder is no match folder, its files are unusable, or it cannot be written.
    """
    match = MatchFolder(folder)
    words = wording(lang)
    wanted = [r for r in match.rulings() if needs_clip(r)]
    if match.info.lang != lang:
        # Corrections made later renew the products in the same language.
        write_match_info(match.path, replace(match.info, lang=lang))
    warnings = _make_pictures(match, wanted, match.events(), words, progress)
    write_report(match, lang=lang)
    return warnings


def renew_products(folder: Path, before: Sequence[Ruling], *, lang: str = "en") -> list[str]:
    """After corrections: make anew what differs from the rulings ``before``, remove what no longer belongs.

    Returns warnings and raises as :func:`make_products` does.
    """
    match = MatchFolder(folder)
    words = wording(lang)
    old = {r.id: r for r in before}
    now = match.rulings()
    stale = [r for r in now if needs_clip(r) and not (r.id in old and _looks_alike(old[r.id], r, words))]
    warnings = _make_pictures(match, stale, match.events(), words, None)
    wanted = {clip_name(r.id) for r in now if needs_clip(r)} | {picture_name(r.id) for r in now if r.restored}
    for name in (CLIPS, RESTORE):
        for path in (match.path / name).iterdir():
            if path.name not in wanted and not path.name.startswith("."):
                path.unlink()
    write_report(match, lang=lang)
    return warnings


def _make_pictures(
    match: MatchFolder, rulings: Sequence[Ruling], events: Sequence[Event], words: Wording, progress: Progress | None
) -> list[str]:
    warnings: list[str] = []
    (match.path / CLIPS).mkdir(exist_ok=True)
    video: SourceVideo | None = None
    if rulings:
        try:
            video = SourceVideo(match.info, match.path)
        except InputError as error:
            warnings.append(f"no clips: {error}")
    if video is not None:
        for done, ruling in enumerate(rulings):
            if progress is not None:
                progress(done, len(rulings))
            try:
                make_clip(match, ruling, events, video, words, match.path / CLIPS / clip_name(ruling.id))
            except InputError as error:
                warnings.append(f"no clip of ruling {ruling.id}: {error}")
        if progress is not None:
            progress(len(rulings), len(rulings))
    make_restorations(match, rulings, events, video, words)
    return warnings


def _looks_alike(a: Ruling, b: Ruling, words: Wording) -> bool:
    """Whether clip and picture of both would be the same."""
    return (
        needs_clip(a)
        and clip_span_s(a) == clip_span_s(b)
        and caption_lines(a, words) == caption_lines(b, words)
        and (a.fouls, a.restored) == (b.fouls, b.restored)
    )
