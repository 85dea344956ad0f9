"""Runs ``vision-referee analyze`` for the benchmarks, once for each video, arguments and state of the code."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("VISION_REFEREE_BENCH_CACHE", Path(__file__).parent / ".cache"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What became of one video: the match folder (None where it failed, and why), and the seconds it took."""

    folder: Path | None
    error: str
    wall_s: float

    def match(self) -> dict[str, Any]:
        """match.json, or nothing."""
        path = self.folder / "match.json" if self.folder is not None else None
        return json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else {}

    def events(self) -> list[dict[str, Any]]:
        """events.jsonl as plain values, or nothing."""
        path = self.folder / "events.jsonl" if self.folder is not None else None
        if path is None or not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def analyze(video: Path, arguments: Sequence[str], *, code: str, limit_s: float = 1800.0) -> Analysis:
    """Analyse ``video`` or take the result of an earlier run of the same code on it.

    Args:
        arguments: of ``analyze``, without the source and ``--out``.
        code: what :func:`code_state` said when the run began.
    """
    key = hashlib.sha256(json.dumps([file_state(video), list(arguments), code]).encode()).hexdigest()[:20]
    home = CACHE / "analyses" / key
    done = home / "done.json"
    if done.exists():
        saved = json.loads(done.read_text(encoding="utf-8"))
        return Analysis(folder=home / "match" if saved["ok"] else None, error=saved["error"], wall_s=saved["wall_s"])
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    command = [
        sys.executable,
        "-m",
        "vision_referee.cli",
        "analyze",
        str(video),
        "--out",
        str(home / "match"),
        *arguments,
    ]
    start = time.monotonic()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, cwd=ROOT, check=False)
        error = "" if run.returncode == 0 else (run.stderr.strip().splitlines() or ["no word of why"])[-1]
    except subprocess.TimeoutExpired:
        error = f"not done after {limit_s:.0f} s"
    wall_s = time.monotonic() - start
    ok = not error and (home / "match").is_dir()
    done.write_text(json.dumps({"ok": ok, "error": error, "wall_s": wall_s, "video": str(video)}), encoding="utf-8")
    return Analysis(folder=home / "match" if ok else None, error=error, wall_s=wall_s)


_MEASURED = ("video", "calibration", "detection", "tracking", "events", "rules", "record", "pipeline", "domain")


def code_state() -> str:
    """A digest of the code and weights that analysis runs on: results of other code are not taken from the cache."""
    digest = hashlib.sha256()
    folders = [ROOT / "vision_referee" / name for name in _MEASURED] + [ROOT / "models", ROOT / "calibration"]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def file_state(path: Path) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def revision() -> str:
    """The commit that is measured, marked where the tree differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", "vision_referee") else "")
