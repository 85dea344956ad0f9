"""How fast the referee will be on this machine: decoding and the network are timed, the rest is a known share."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from vision_referee.doctor.finding import Finding, ok, warn

FRAMES_PER_NETWORK_RUN = 1.0
"""Frames for each run of the network on the whole table (benchmarks/RESULTS.md, speed)."""
REST_IN_NETWORK_RUNS = 1.0
"""Everything but decoding and the network (refining, tracking, events, rules), in runs of the network a frame."""
INPUT_PX = (640, 352)
VIDEO_PX = (1920, 1080)
VIDEO_HZ = 30.0
_FRAMES = 45
_RUNS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """``decode_ms``: a frame of 1080p H.264, not yet converted; ``network_ms``: one run of the detector."""

    decode_ms: float
    network_ms: float

    @property
    def line_ms(self) -> float:
        """What a frame costs the whole line."""
        return self.decode_ms + self.network_ms * (1 / FRAMES_PER_NETWORK_RUN + REST_IN_NETWORK_RUNS)

    @property
    def times_real(self) -> float:
        return 1000 / VIDEO_HZ / self.line_ms


def measure_speed() -> Speed:
    """Times both on this machine, in a few seconds. Raises InputError where the network's files are missing."""
    with tempfile.TemporaryDirectory() as folder:
        decode_ms = _decode_ms(_trial_video(Path(folder) / "trial.mp4"))
    return Speed(decode_ms=decode_ms, network_ms=_network_ms())


def look_at_speed(speed: Speed) -> Finding:
    """What speed to expect, in a person's terms."""
    times = speed.times_real
    text = (
        f"a frame of 1080p is decoded in {speed.decode_ms:.1f} ms, the network runs in {speed.network_ms:.1f} ms: "
        f"expect about {times:.1f} times real time (an hour of 1080p30 in {60 / times:.0f} minutes)"
    )
    if times < 1.0:
        return warn("speed", f"{text}; too slow for live matches: a smaller picture or fewer frames a second will help")
    return ok("speed", text)


def _trial_video(path: Path) -> Path:
    """Moving, grainy pictures at some 5 Mb/s: a still or plain picture would decode too easily."""
    import av
    import numpy as np

    rng = np.random.default_rng(1)
    width, height = VIDEO_PX
    ground = rng.integers(60, 140, (height + 64, width + 64), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"preset": "ultrafast", "b": "5M", "bf": "0"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for k in range(_FRAMES):
            shown = np.ascontiguousarray(ground[k : k + height, k : k + width])
            picture = av.VideoFrame.from_ndarray(shown, format="gray").reformat(format="yuv420p")
            picture.pts, picture.time_base = k, Fraction(1, 30)
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


def _decode_ms(path: Path) -> float:
    from vision_referee.video.source import open_video

    begun = time.perf_counter()
    count = 0
    for frame in open_video(path):
        frame.luma()
        count += 1
    return 1000 * (time.perf_counter() - begun) / max(count, 1)


def _network_ms() -> float:
    import numpy as np

    from vision_referee.detection.backends import open_backend

    backend = open_backend()
    pixels = np.random.default_rng(2).integers(0, 255, (INPUT_PX[1], INPUT_PX[0], 3), dtype=np.uint8)
    backend.maps(pixels)
    spent = []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        backend.maps(pixels)
        spent.append(time.perf_counter() - begun)
    return 1000 * float(np.median(spent))
