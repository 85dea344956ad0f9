"""What a worker does: one match, from video to folder; and what it says when it cannot."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from vision_referee.archive.job import MatchJob
from vision_referee.domain.errors import InputError, RecordStopped
from vision_referee.pipeline.progress import Progress
from vision_referee.pipeline.recorded import Sight

Beat = Callable[[float], None]
"""Hears how many seconds of video are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """``problem`` empty: the folder is there. ``final``: trying again cannot help, the input itself is unusable."""

    problem: str = ""
    final: bool = False
    video_s: float = 0.0
    wall_s: float = 0.0
    warnings: tuple[str, ...] = ()


def do_match(job: MatchJob, see: Sight | None = None, beat: Beat | None = None) -> Outcome:
    """Analyse one match into its folder. Never raises what a match can cause."""
    from vision_referee.review.whole_match import analyze_whole

    begun = time.monotonic()
    done_s = [0.0]
    warnings: list[str] = []

    def listen(progress: Progress) -> None:
        done_s[0] = progress.done_s
        if beat is not None:
            beat(progress.done_s)

    problem, final = "", False
    try:
        job.request.out.parent.mkdir(parents=True, exist_ok=True)
        analyze_whole(job.request, lang=job.lang, listener=listen, warn=warnings.append, see=see, resume=True)
    except RecordStopped as error:
        problem = " ".join(str(error).split())
    except InputError as error:
        problem, final = " ".join(str(error).split()), True
    except Exception as error:  # one match's fault, whatever it is, is not the others'
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        if os.environ.get("VISION_REFEREE_DEBUG"):
            raise
    return Outcome(
        problem=problem, final=final, video_s=round(done_s[0], 3), wall_s=round(time.monotonic() - begun, 3),
        warnings=tuple(warnings),
    )  # fmt: skip
