"""How dear: bare decoding, each stage alone, and the whole line, in processor seconds a second of video.

usage: python benchmarks/speed.py [--seconds 20] [--sizes 1280x720 1920x1080] [--rates 3 20] [--video FILE] [--others]
                                  [--json FILE] [--enter]

One simulated match is filmed and coded at each size and bit rate (Mb/s); everything is measured on the same files in
one run, so that the ratios hold whatever the machine. Processor time, all threads together, hardly depends on what else
the machine does; n cores cannot be faster than n over it. ``--others`` adds what one would write instead: ultralytics'
yolo11n (untrained: only its cost counts) on every frame with its ByteTrack, and this detector's network on every frame
with the ByteTrack of ``trackers`` (extra ``bench``).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from analyses import CACHE, ROOT, revision
from simulated_clips import made
from tables import enter, table

from vision_referee.calibration.find import calibrate_frames
from vision_referee.calibration.tables import load_table
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.follower import Follower
from vision_referee.detection.pixel_detector import PixelDetector
from vision_referee.detection.region import whole_picture
from vision_referee.detection.settings import DetectorSettings
from vision_referee.events.line import MotionStage
from vision_referee.simulation.scene_file import scene_from
from vision_referee.video.changes import ChangeDetector
from vision_referee.video.frames import Frame
from vision_referee.video.source import open_video, sample_frames

_HELD_FRAMES = 120
"""Frames kept in memory for measuring a stage without decoding."""


def source_clip(size: tuple[int, int]) -> Path:
    """A filmed stroke with eight balls, seen from a little aside."""
    scene = scene_from(
        {
            "name": f"speed_{size[0]}x{size[1]}",
            "seed": 700_900,
            "balls": {
                "cue": [900, 800],
                "1": [2500, 900],
                "4": [1800, 400],
                "7": [3000, 1400],
                "9": [600, 1300],
                "11": [2100, 1500],
                "13": [1300, 250],
                "15": [3200, 500],
            },
            "acts": [
                {"wait": 1.0},
                {"strike": {"at": "1", "cut": 0.2, "speed_mm_s": 4500}},
                {"wait": 1.0},
            ],
            "camera": {"preset": "overhead"},
            "video": {"size": list(size), "crf": 14},
        },
        "benchmarks/speed.py",
    )
    return made(scene).video


def coded(source: Path, seconds: float, megabits_s: float) -> Path:
    """The clip again and again, forward and backward, for ``seconds``, at a bit rate."""
    out = CACHE / "speed" / f"{source.stem}_{seconds:g}s_{megabits_s:g}Mbs.mp4"
    if out.exists():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    pictures = [frame.picture.reformat(format="yuv420p") for frame in open_video(source)]
    there_and_back = pictures + pictures[-2:0:-1]
    unfinished = out.with_suffix(".part.mp4")
    with av.open(str(unfinished), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = pictures[0].width, pictures[0].height, "yuv420p"
        stream.bit_rate = int(megabits_s * 1e6)
        stream.options = {
            "preset": "veryfast",
            "nal-hrd": "cbr",
            "maxrate": f"{megabits_s}M",
            "bufsize": f"{megabits_s}M",
        }
        for k in range(round(seconds * 30)):
            picture = there_and_back[k % len(there_and_back)]
            picture.pts, picture.time_base = k, Fraction(1, 30)
            for packet in stream.encode(picture):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    unfinished.rename(out)
    return out


def cost(work: Callable[[], object], of_s: float = 1.0) -> float:
    """Processor seconds of some work, per second of the video that it saw."""
    start = time.process_time()
    work()
    return (time.process_time() - start) / of_s


def held_frames(video: Path) -> list[Frame]:
    """Decoded frames from the beginning, as the decoder gives them."""
    frames = []
    for frame in open_video(video):
        frames.append(frame)
        if len(frames) == _HELD_FRAMES:
            break
    return frames


def fresh(frames: list[Frame]) -> Iterator[Frame]:
    """The same pictures with nothing converted yet."""
    return (Frame(index=f.index, t_s=f.t_s, picture=f.picture) for f in frames)


def stages(video: Path, seconds: float) -> dict[str, float]:
    """Each stage alone; the calibration in seconds."""
    held = held_frames(video)
    held_s = held[-1].t_s + 1 / open_video(video).info.rate_hz
    out: dict[str, float] = {}
    out["decode, brightness only"] = cost(lambda: [f.luma()[0, 0] for f in open_video(video)], seconds)
    out["decode to BGR"] = cost(lambda: [f.bgr()[0, 0] for f in open_video(video)], seconds)
    changes = ChangeDetector()
    out["repeats and cuts"] = cost(lambda: [list(changes.push(f)) for f in fresh(held)], held_s)
    sample = [f.bgr() for f in sample_frames(open_video(video), 9)]
    spec = load_table("pyramid-12ft")
    calibration = calibrate_frames(sample, table=spec)
    out["calibration, s once"] = cost(lambda: calibrate_frames(sample, table=spec))
    detector = BallDetector(calibration)
    detector.detect(next(fresh(held)))
    detector.detect(next(fresh(held)), fine=True)
    out["network on every frame"] = cost(lambda: [detector.detect(f) for f in fresh(held)], held_s)
    out["network on every frame, large"] = cost(lambda: [detector.detect(f, fine=True) for f in fresh(held)], held_s)
    first, follower = Follower(detector), Follower(detector)
    detections = [first.follow(f) for f in fresh(held)]
    out["following what changed"] = cost(lambda: [follower.follow(f) for f in fresh(held)], held_s)
    motion = MotionStage(spec)
    out["tracking and events"] = cost(lambda: [*(motion.push(d) for d in detections), motion.flush()], held_s)
    return out


def whole_line(video: Path, seconds: float) -> dict[str, float]:
    """The command as a user calls it, start-up, clips and report included; and its greatest memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "vision_referee.cli", "analyze", str(video), "--rules", "none", "--quiet"]
        command += ["--table", "pyramid-12ft", "--out", f"{folder}/match"]
        run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        _, status, usage = os.wait4(run.pid, 0)
        if status:
            error = run.stderr.read().strip() if run.stderr else ""
            print(f"{video.name}: {error}", file=sys.stderr)
            return {}
        return {"whole line": (usage.ru_utime + usage.ru_stime) / seconds, "memory MiB": usage.ru_maxrss / 1024}


def start_up() -> float:
    """Seconds from the call to a command's first word."""
    command = [sys.executable, "-m", "vision_referee.cli", "--version"]
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - start


def others(video: Path) -> dict[str, float]:
    """What one would write instead, on every frame: a general detector of the usual size with a general tracker, and
    this detector's network with one (extra ``bench``)."""
    import supervision
    from trackers import ByteTrackTracker
    from ultralytics import YOLO

    held = held_frames(video)
    model = YOLO("yolo11n.yaml", verbose=False)
    pictures = [f.bgr() for f in held]
    model.track(pictures[0], persist=True, tracker="bytetrack.yaml", verbose=False)
    held_s = held[-1].t_s + 1 / open_video(video).info.rate_hz
    general = cost(
        lambda: [model.track(p, persist=True, tracker="bytetrack.yaml", verbose=False) for p in pictures], held_s
    )
    slim, region = PixelDetector(), whole_picture(*held[0].size_px, pixels=DetectorSettings().fine_pixels)
    tracker = ByteTrackTracker()

    def followed(frame: Frame) -> object:
        boxes, scores = slim.close_boxes(frame, region)
        kinds = np.zeros(len(boxes), int)
        return tracker.update(supervision.Detections(xyxy=boxes, confidence=scores, class_id=kinds))

    followed(next(fresh(held)))
    own = cost(lambda: [followed(frame) for frame in fresh(held)], held_s)
    return {
        "yolo11n and ByteTrack on every frame": general,
        "the slim network and trackers' ByteTrack on every frame": own,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--sizes", nargs="*", default=["1280x720", "1920x1080"])
    parser.add_argument("--rates", nargs="*", type=float, default=[3.0, 20.0])
    parser.add_argument("--video", type=Path, help="measure on this video instead")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--enter", action="store_true", help="put the table into RESULTS.md")
    args = parser.parse_args()
    measured: dict[str, dict[str, float]] = {}
    videos: dict[str, tuple[Path, float]] = {}
    if args.video is not None:
        info = open_video(args.video).info
        videos[args.video.name] = (args.video, info.duration_s or args.seconds)
    else:
        for size in args.sizes:
            width, height = (int(v) for v in size.split("x"))
            for rate in args.rates:
                clip = coded(source_clip((width, height)), args.seconds, rate)
                videos[f"{height}p30, {rate:g} Mb/s"] = (clip, args.seconds)
    # First the whole line: a process that is started counts its parent's memory as its own greatest.
    for name, (video, seconds) in videos.items():
        measured[name] = whole_line(video, seconds)
    for name, (video, seconds) in videos.items():
        measured[name] |= stages(video, seconds) | (others(video) if args.others else {})
        print(name, {k: round(v, 2) for k, v in measured[name].items()}, flush=True)
    rows: list[list[object]] = [
        [what, *(figures.get(what) for figures in measured.values())]
        for what in dict.fromkeys(what for figures in measured.values() for what in figures)
    ]
    own_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    about = (
        f"Processor seconds a second of video, but where a unit is said. {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f} at the end; start-up {start_up():.2f} s; this process {own_mib:.0f} MiB."
    )
    body = about + "\n\n" + table(["stage", *measured], rows)
    print("\n" + body)
    if args.json:
        args.json.write_text(json.dumps(measured, indent=1), encoding="utf-8")
    if args.enter:
        command = " ".join(["python", "benchmarks/speed.py", *(a for a in sys.argv[1:] if a != "--enter")])
        enter("Speed", command, body, revision())
    return 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
