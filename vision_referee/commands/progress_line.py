"""Progress for people: one living line on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from vision_referee.pipeline.progress import Listener, Progress

_PLAIN_EVERY_S = 10.0


@contextmanager
def progress_line(*, quiet: bool = False) -> Iterator[Listener | None]:
    """A listener that shows speed and time left on stderr; None when ``quiet``."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _living() as listener:
            yield listener
    else:
        yield _plain()


@contextmanager
def _living() -> Iterator[Listener]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f}/{task.total:.0f} s"),
        TextColumn("{task.fields[speed]:.1f}x"), TimeRemainingColumn(), console=Console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("analyze", total=None, speed=0.0)

        def listen(progress: Progress) -> None:
            total = progress.total_s if progress.total_s is not None else progress.done_s
            bar.update(
                task, description=progress.stage, completed=progress.done_s, total=max(total, progress.done_s),
                speed=progress.speed,
            )  # fmt: skip

        yield listen


def _plain() -> Listener:
    told = [time.monotonic()]

    def listen(progress: Progress) -> None:
        now = time.monotonic()
        if now - told[0] < _PLAIN_EVERY_S:
            return
        told[0] = now
        of = f" of {progress.total_s:.0f}" if progress.total_s else ""
        left = f", {progress.left_s:.0f} s left" if progress.left_s is not None else ""
        print(f"{progress.stage}: {progress.done_s:.0f}{of} s, {progress.speed:.1f}x real time{left}", file=sys.stderr)

    return listen
