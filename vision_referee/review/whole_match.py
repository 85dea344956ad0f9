"""A match from video to finished folder: the line, then what is made for people, then its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vision_referee.domain.errors import RecordStopped
from vision_referee.pipeline.progress import Listener
from vision_referee.pipeline.recorded import AnalysisRequest, Sight, analyze, can_be_gone_on_with, is_done
from vision_referee.record.match_folder import part_of, publish
from vision_referee.review.products import make_products

Warn = Callable[[str], None]


def analyze_whole(
    request: AnalysisRequest, *, lang: str = "en", listener: Listener | None = None, warn: Warn | None = None,
    see: Sight | None = None, resume: bool = False,
) -> Path:  # fmt: skip
    """Analyse recorded video(s) into a match folder with clips, pictures and report; returns the folder.

    ``warn`` hears what could not be made. ``resume``: go on with an analysis that was broken off, if one was.

    Raises:
        RecordStopped: the disk takes no more; with ``resume`` it can be gone on with.
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """
    if resume and is_done(request):
        return request.out.absolute()
    if resume and warn is not None and part_of(request.out.absolute()).exists() and not can_be_gone_on_with(request):
        warn(f"{request.out}: what was left there is of another video, other settings or another version; begun anew")
    part = analyze(request, listener, see, resume=resume)
    try:
        for warning in make_products(part, lang=lang):
            if warn is not None:
                warn(warning)
    except OSError as error:
        raise RecordStopped(f"{request.out}: cannot be written on ({error.strerror or error}); make room") from error
    return publish(request.out.absolute())
