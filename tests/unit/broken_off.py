"""Analyses that are broken off: started in processes that can be killed at any moment, and compared with whole ones."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import live_scene as scene

from vision_referee.pipeline.recorded import AnalysisRequest, Sight
from vision_referee.record.match_folder import MatchFolder, part_of

PRELOADED = ["live_scene", "broken_off", "vision_referee.review.whole_match"]


class SlowEye(scene.ToldEye):
    """Takes its time, so that a kill finds it at work."""

    def __init__(self, calibration: Any) -> None:
        super().__init__(calibration)
        self.slow_s = 0.03


TOLD = Sight(find=scene.finder, open_eye=scene.ToldEye)  # type: ignore[arg-type]
SLOW = Sight(find=scene.finder, open_eye=SlowEye)  # type: ignore[arg-type]


def request(out: Path, *videos: Path) -> AnalysisRequest:
    return AnalysisRequest(sources=videos, rules="small-russian", out=out, players=("Anna", "Boris"))


def analyse(out: Path, videos: tuple[Path, ...], every_s: float) -> None:
    """All of it, with a checkpoint every ``every_s``; what ``analyze --resume`` does."""
    from vision_referee.pipeline import recorded
    from vision_referee.record.match_folder import publish
    from vision_referee.review.products import make_products

    part = recorded.analyze(request(out, *videos), see=SLOW, resume=True, checkpoint_every_s=every_s)
    make_products(part)
    publish(out)


def content(folder: Path) -> dict[str, Any]:
    """All that a match folder says, but for its identity and the time it was made."""
    match = MatchFolder(folder)
    info = json.loads((folder / "match.json").read_text(encoding="utf-8"))
    for name in ("id", "created"):
        del info[name]
    return {
        "info": info,
        "events": (folder / "events.jsonl").read_text(encoding="utf-8").splitlines(),
        "rulings": (folder / "rulings.jsonl").read_text(encoding="utf-8").splitlines(),
        "tracks": match.tracks(),
        "files": sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()),
    }


def killed_at_random(out: Path, videos: tuple[Path, ...], *, kills: int, seed: int, within_s: float) -> int:
    """Starts the analysis again and again, killing it at random moments, then lets it end. How often a kill found it
    with something done (the others fell before the first checkpoint or after its end)."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    rng = random.Random(seed)
    in_the_middle = done = 0
    while done < kills:
        process = context.Process(target=analyse, args=(out, videos, 0.0))
        process.start()
        process.join(rng.uniform(0.05, within_s))
        if process.exitcode == 0:
            # It had ended: all over again.
            shutil.rmtree(out)
            continue
        assert process.exitcode is None, "it failed by itself"
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        done += 1
        in_the_middle += (part_of(out) / "checkpoint").exists()
        assert not out.exists() or (out / "report.html").exists(), "what has its name is whole"
    last = context.Process(target=analyse, args=(out, videos, 10.0))
    last.start()
    last.join(300)
    assert last.exitcode == 0
    return in_the_middle


def took_s(out: Path, videos: tuple[Path, ...]) -> float:
    """How long an analysis takes that nobody breaks off."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=analyse, args=(out, videos, 0.0))
    begun = time.monotonic()
    process.start()
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - begun
