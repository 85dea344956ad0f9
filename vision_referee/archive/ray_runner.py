"""Matches on a Ray cluster: one task a match. Videos and the archive's folder lie where every node sees them."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from typing import Any

from vision_referee.archive.job import MatchJob
from vision_referee.archive.work import Outcome, do_match
from vision_referee.domain.errors import InputError
from vision_referee.pipeline.recorded import Sight

CORES_A_MATCH = 2


class RayRunner:
    """``address``: of the cluster (``auto``, ``HOST:6379`` or ``ray://HOST:10001``)."""

    def __init__(
        self, address: str, *, see: Sight | None = None, cores_a_match: float = CORES_A_MATCH,
        runtime_env: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Raises InputError where Ray is not installed or the cluster cannot be reached."""
        try:
            import ray
        except ImportError as error:
            raise InputError(
                f"--ray {address}: Ray is not installed; pip install 'vision-referee[cluster]' here and on every node"
            ) from error
        self._ray: Any = ray
        self._see = see
        self._cores = cores_a_match
        self._mine = not ray.is_initialized()
        try:
            if self._mine:
                _knock(address)
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR, runtime_env=runtime_env)
        except Exception as error:  # whatever it throws, there is no cluster
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError(f"--ray {address}: no cluster there ({reason}); start one: ray start --head") from error
        # A worker that dies is counted with the other failures, not tried again behind our back.
        self._task: Any = ray.remote(num_cpus=cores_a_match, max_retries=0)(do_match)
        self._running: dict[Any, MatchJob] = {}

    @property
    def room(self) -> int:
        """One more than run everywhere, so that a worker that is ready finds the next at once."""
        cores = float(self._ray.cluster_resources().get("CPU", 0))
        return max(1, int(cores // self._cores)) + 1 - len(self._running)

    def begin(self, job: MatchJob) -> None:
        self._running[self._task.remote(job, self._see)] = job

    def ended(self, timeout_s: float) -> Iterator[tuple[MatchJob, Outcome]]:
        if not self._running:
            return
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=timeout_s)
        for task in ready:
            job = self._running.pop(task)
            try:
                outcome: Outcome = self._ray.get(task)
            except self._ray.exceptions.RayTaskError as error:
                outcome = Outcome(problem=f"its worker failed ({_told_by(error, last=True)})")
            except self._ray.exceptions.RayError as error:
                outcome = Outcome(problem=f"its worker was lost ({_told_by(error, last=False)})")
            yield job, outcome

    def stop(self) -> None:
        for task in self._running:
            self._ray.cancel(task, force=True)
        self._running = {}
        if self._mine:
            self._ray.shutdown()


def _knock(address: str) -> None:
    """Ray tries an address that nobody answers at for minutes. Raises OSError where nobody listens."""
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _told_by(error: Exception, *, last: bool) -> str:
    """The line of Ray's many that says what happened."""
    lines = [" ".join(line.split()) for line in str(error).splitlines() if line.strip()]
    return (lines[-1 if last else 0] if lines else type(error).__name__)[:200]
