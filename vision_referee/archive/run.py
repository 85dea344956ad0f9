"""An archive's matches, all of them: those that are due, several at once, and none stopped by another's fault."""

from __future__ import annotations

import csv
import io
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vision_referee.archive.job import JobBook, JobRecord, MatchJob, Status
from vision_referee.archive.runners import Runner
from vision_referee.archive.tables import Tables
from vision_referee.archive.work import Outcome
from vision_referee.domain.errors import InputError
from vision_referee.record.atomic_write import replace_text
from vision_referee.record.match_info import COMPLETE, MATCH, read_match_info

MATCHES = "matches"
JOBS = "jobs"
TABLES = "tables"
FAILURES = "failures.csv"

Tell = Callable[[str], None]


@dataclass(slots=True)
class Tally:
    """How an archive stands: matches done now, done before, and failed (records)."""

    done: int = 0
    kept: int = 0
    failed: list[JobRecord] = field(default_factory=list)


class Archive:
    """The folder ``out``: ``matches/NAME``, ``jobs/NAME.json``, ``tables/``, ``failures.csv``."""

    def __init__(self, out: Path) -> None:
        """Raises InputError when the folder cannot be written or holds other things."""
        self.out = out.absolute()
        if self.out.is_file():
            raise InputError(f"{out}: is a file; give a folder for --out")
        if (self.out / MATCH).exists():
            raise InputError(f"{out}: is a match folder; give a folder of its own for --out")
        try:
            self.matches.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{out}: cannot be written ({error.strerror or error}); give another --out") from error
        self.book = JobBook(self.out / JOBS)
        self.tables = Tables(self.out / TABLES)

    @property
    def matches(self) -> Path:
        return self.out / MATCHES

    def is_done(self, job: MatchJob) -> bool:
        """Whether the match is there, made from the same videos by the same settings."""
        record = self.book.get(job.name)
        if record is None or record.status is not Status.DONE or record.fingerprint != job.fingerprint():
            return False
        try:
            return read_match_info(job.request.out).status == COMPLETE
        except InputError:
            return False

    def run(
        self, jobs: Sequence[MatchJob], runner: Runner, *, retries: int = 2, again: bool = False,
        tell: Tell = lambda line: None,
    ) -> Tally:  # fmt: skip
        """Do what is due. ``retries``: how often a match whose worker failed is tried again; ``again``: do all anew."""
        tally = Tally()
        due: deque[tuple[MatchJob, int]] = deque()
        for job in jobs:
            if not again and self.is_done(job):
                tally.kept += 1
            else:
                due.append((job, 1))
        if tally.kept:
            tell(f"{tally.kept} of {len(jobs)} matches are done already")
        clock = _Clock([job for job, _ in due])
        attempts: dict[str, int] = {}
        running = 0
        try:
            while due or running:
                while due and runner.room > 0:
                    job, attempt = due.popleft()
                    attempts[job.name] = attempt
                    runner.begin(job)
                    running += 1
                for job, outcome in runner.ended(1.0):
                    running -= 1
                    attempt = attempts[job.name]
                    if outcome.problem and not outcome.final and attempt <= retries:
                        tell(f"{job.name}: {outcome.problem}; trying again ({attempt} of {retries})")
                        due.append((job, attempt + 1))
                        continue
                    record = _record(job, outcome, attempt)
                    self.book.put(record)
                    self._ended(job, record, tally)
                    tell(clock.line(job, record, left=len(due) + running))
        finally:
            runner.stop()
            self.write_failures()
        return tally

    def _ended(self, job: MatchJob, record: JobRecord, tally: Tally) -> None:
        if record.status is Status.FAILED:
            tally.failed.append(record)
            return
        tally.done += 1
        self.tables.put(job.request.out)

    def refresh_tables(self, tell: Tell = lambda line: None) -> int:
        """Bring the tables up to date with the match folders (corrected, added by hand, gone); how many changed.

        A match that cannot be read is told and left out."""
        return self.tables.refresh(self.matches, tell)

    def write_failures(self) -> None:
        """``failures.csv``: one line for each match that failed last time it was tried."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["name", "source", "problem", "attempts", "at", "host"])
        for record in self.book.all():
            if record.status is Status.FAILED:
                rows.writerow([record.name, record.source, record.problem, record.attempts, record.at, record.host])
        replace_text(self.out / FAILURES, text.getvalue())


def _record(job: MatchJob, outcome: Outcome, attempt: int) -> JobRecord:
    return JobRecord(
        name=job.name, source=job.source, status=Status.FAILED if outcome.problem else Status.DONE,
        fingerprint=job.fingerprint(), problem=outcome.problem, attempts=attempt, video_s=outcome.video_s,
        wall_s=outcome.wall_s, warnings=outcome.warnings,
    )  # fmt: skip


class _Clock:
    """How far the work is: time left, judged by the videos' bytes."""

    def __init__(self, jobs: Sequence[MatchJob]) -> None:
        self._begun = time.monotonic()
        self._count = len(jobs)
        self._all_bytes = sum(job.size_bytes() for job in jobs)
        self._done_bytes = 0
        self._ended = 0

    def line(self, job: MatchJob, record: JobRecord, *, left: int) -> str:
        self._ended += 1
        self._done_bytes += job.size_bytes()
        head = f"[{self._ended}/{self._count}] {job.name}: "
        if record.status is Status.FAILED:
            return head + f"failed: {record.problem}"
        speed = f" ({record.video_s / record.wall_s:.1f}x real time)" if record.wall_s > 0 and record.video_s else ""
        text = head + f"{_span(record.video_s)} of video in {_span(record.wall_s)}{speed}"
        spent = time.monotonic() - self._begun
        if left and self._done_bytes:
            text += f"; about {_span(spent * (self._all_bytes - self._done_bytes) / self._done_bytes)} left"
        return text


def _span(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
