"""Where matches are worked on: processes of this machine, or whatever else offers the same four things."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol

from vision_referee.archive.job import MatchJob
from vision_referee.archive.work import Outcome, do_match
from vision_referee.pipeline.recorded import Sight


class Runner(Protocol):
    """Works on several matches at once. A worker that dies is an outcome with a problem that is not final."""

    @property
    def room(self) -> int:
        """How many more matches it would take now."""

    def begin(self, job: MatchJob) -> None: ...

    def ended(self, timeout_s: float) -> Iterator[tuple[MatchJob, Outcome]]:
        """Those that have ended; waits ``timeout_s`` at most for the first."""

    def stop(self) -> None:
        """End what still runs."""


@dataclass(slots=True)
class _Running:
    job: MatchJob
    process: SpawnProcess
    pipe: Connection


class LocalRunner:
    """A process for each match, ``jobs`` at a time: one that crashes takes nothing with it."""

    def __init__(self, jobs: int | None = None, *, see: Sight | None = None) -> None:
        self._most = jobs or default_jobs()
        self._see = see
        self._context = multiprocessing.get_context("spawn")
        self._running: list[_Running] = []

    @property
    def room(self) -> int:
        return self._most - len(self._running)

    def begin(self, job: MatchJob) -> None:
        here, there = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_worker, args=(there, job, self._see), name=job.name, daemon=True)
        process.start()
        there.close()
        self._running.append(_Running(job, process, here))

    def ended(self, timeout_s: float) -> Iterator[tuple[MatchJob, Outcome]]:
        by_pipe = {running.pipe: running for running in self._running}
        for ready in wait(list(by_pipe), timeout_s):
            assert isinstance(ready, Connection)
            running = by_pipe[ready]
            try:
                outcome: Outcome = running.pipe.recv()
            except (EOFError, OSError):
                running.process.join()
                outcome = Outcome(problem=f"its process ended {_how(running.process.exitcode)}")
            running.pipe.close()
            running.process.join()
            self._running.remove(running)
            yield running.job, outcome

    def stop(self) -> None:
        for running in self._running:
            running.process.terminate()
        for running in self._running:
            running.process.join(5)
            if running.process.is_alive():
                running.process.kill()
                running.process.join()
            running.pipe.close()
        self._running = []

    def pids(self) -> list[int]:
        return [running.process.pid for running in self._running if running.process.pid is not None]


def default_jobs() -> int:
    """Half the cores: a match keeps two busy, one that decodes and one that looks."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // 2)


def _worker(pipe: Connection, job: MatchJob, see: Sight | None) -> None:
    import signal

    # Ctrl+C on a terminal reaches every process of it; who gave the work says when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outcome = do_match(job, see)
    with contextlib.suppress(BrokenPipeError):
        pipe.send(outcome)
    pipe.close()


def _how(code: int | None) -> str:
    return f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
