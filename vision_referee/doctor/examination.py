"""The whole examination, in the order in which one thing needs another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from vision_referee.doctor import machine, software, speed
from vision_referee.doctor.finding import Finding, Level, fail


def examine(out: Path, *, measure: bool = True) -> Iterator[Finding]:
    """Everything that can be said of this machine; ``out``: where matches will go. A check that breaks is a finding."""
    broken = False
    for name, check in (
        ("vision-referee", lambda: [software.look_at_version()]),
        ("packages", software.look_at_packages),
        ("machine", machine.look_at_processor),
        ("networks", software.look_at_networks),
        ("codecs", software.look_at_codecs),
        ("fonts", lambda: [software.look_at_fonts()]),
        ("gpu", lambda: [machine.look_at_gpu()]),
        ("cameras", lambda: [machine.look_at_cameras()]),
        ("disk", lambda: machine.look_at_room(out)),
    ):
        for finding in _guarded(name, check):
            broken |= finding.level is Level.FAIL
            yield finding
    if measure and not broken:
        yield from _guarded("speed", lambda: [speed.look_at_speed(speed.measure_speed())])


def _guarded(name: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    try:
        yield from check()
    except Exception as error:
        yield fail(name, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
