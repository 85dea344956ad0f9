"""A match from video to finished folder: the line, then what is made for people, then its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vision_referee.pipeline.progress import Listener
from vision_referee.pipeline.recorded import AnalysisRequest, Sight, analyze
from vision_referee.review.products import make_products

Warn = Callable[[str], None]


def analyze_whole(
    request: AnalysisRequest, *, lang: str = "en", listener: Listener | None = None, warn: Warn | None = None,
    see: Sight | None = None,
) -> Path:  # fmt: skip
    """Analyse recorded video(s) into a match folder with clips, pictures and report; returns the folder.

    ``warn`` hears what could not be made.

    Raises:
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """
    writer = analyze(request, listener, see)
    try:
        for warning in make_products(writer.folder, lang=lang):
            if warn is not None:
                warn(warning)
        return writer.publish()
    except BaseException:
        writer.discard()
        raise
