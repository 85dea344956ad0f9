"""A long live run on a looped simulated camera: memory, delay and dropped frames by the minute.

    python benchmarks/live_soak.py --minutes 30 [--video FILE] [--calibration FILE] [--fps 30]

Without ``--video`` a synthetic table is drawn and detections are synthetic too (the network is not measured): strokes
follow each other for ever. With ``--video`` the file is looped as a camera and looked at by the real detector. The
pages' snapshot is read meanwhile. The run fails when memory or delay grew by more than a tenth between the second and
the last quarter.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "unit")]

import live_scene as scene  # noqa: E402

from vision_referee.detection.detections import Detections  # noqa: E402
from vision_referee.pipeline.live import LiveRequest, LiveSession  # noqa: E402
from vision_referee.review.server.live_json import live_json  # noqa: E402
from vision_referee.video.camera_address import CameraLost, Shot  # noqa: E402
from vision_referee.video.camera_feed import CameraFeed  # noqa: E402
from vision_referee.video.source import open_video  # noqa: E402

PERIOD_S = 8.0
"""The scene's two strokes, there and back: played over and over."""


def memory_mb() -> float:
    """Resident memory of this process."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def looped_scene(fps: float, lose_every_s: float) -> Iterator[Shot]:
    """The drawn scene for ever; the camera is lost now and then."""
    begun = time.monotonic()
    while True:
        t_s = time.monotonic() - begun
        if t_s > lose_every_s:
            raise CameraLost("pulled by the soak test")
        yield Shot(scene.draw(time.monotonic() % PERIOD_S), None)
        time.sleep(max(0.0, 1 / fps - (time.monotonic() - begun - t_s)))


def looped_video(path: Path) -> Iterator[Shot]:
    begun = time.monotonic()
    for frame in open_video(path).frames():
        time.sleep(max(0.0, begun + frame.t_s - time.monotonic()))
        yield Shot(frame.picture, None)
    raise CameraLost("the loop begins again")


class LoopEye(scene.ToldEye):
    """Sees the drawn scene at the time at which it was drawn, as far as a soak test needs it."""

    def look(self, changed: Any) -> Detections:
        t_s = changed.frame.t_s
        changed.frame.t_s = time.monotonic() % PERIOD_S
        seen = super().look(changed)
        changed.frame.t_s = seen.t_s = t_s
        return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--video", type=Path)
    parser.add_argument("--calibration", type=Path)
    parser.add_argument("--fps", type=float, default=30)
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = _run(given, Path(folder))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return _verdict(rows)


def _run(given: argparse.Namespace, folder: Path) -> list[dict[str, float]]:
    shots = (lambda: looped_video(given.video)) if given.video else (lambda: looped_scene(given.fps, 97.0))
    stubs: dict[str, Any] = {} if given.video else {"finder": scene.finder, "open_eye": LoopEye}
    request = LiveRequest(
        camera="0", rules="small-russian", out=folder / "m", players=("A", "B"), calibration=given.calibration
    )
    session = LiveSession(request, feed=CameraFeed(shots), **stubs)
    session.start()
    stop = threading.Event()
    viewer = threading.Thread(target=_view, args=(session, stop), daemon=True)
    viewer.start()
    rows = []
    print("minute  memory MB  delay ms (median, worst)  frames  dropped  losses  rulings", flush=True)
    begun = time.monotonic()
    for minute in range(1, max(1, round(given.minutes)) + 1):
        delays = []
        while time.monotonic() < begun + 60 * min(minute, given.minutes) and not session.wait(0.2):
            delays.append(session.now().delay_ms)
        gc.collect()
        state = session.now().camera
        row = {
            "minute": minute, "memory_mb": memory_mb(), "delay_ms": float(np.median(delays)) if delays else 0.0,
            "worst_ms": float(max(delays, default=0.0)), "frames": state.captured, "dropped": state.dropped,
            "losses": state.losses, "rulings": len(session.book.rulings),
        }  # fmt: skip
        rows.append(row)
        print(
            f"{minute:6d} {row['memory_mb']:10.1f} {row['delay_ms']:12.0f} {row['worst_ms']:8.0f} {state.captured:12d} "
            f"{state.dropped:8d} {state.losses:7d} {row['rulings']:8.0f}",
            flush=True,
        )
        if session.wait(0):
            break
    stop.set()
    session.stop()
    session.wait(120)
    if session.failure is not None:
        raise session.failure
    return rows


def _view(session: LiveSession, stop: threading.Event) -> None:
    while not stop.wait(0.12):
        json.dumps(live_json(session.now()))


def _verdict(rows: list[dict[str, float]]) -> int:
    if len(rows) < 4:
        return 0
    quarter = len(rows) // 4
    early, late = rows[quarter : 2 * quarter], rows[-quarter:]
    worse = []
    for name, slack in (("memory_mb", 15.0), ("delay_ms", 50.0)):
        a, b = (float(np.median([r[name] for r in part])) for part in (early, late))
        print(f"{name}: {a:.0f} in the second quarter, {b:.0f} in the last")
        if b > 1.1 * a + slack:
            worse.append(name)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
