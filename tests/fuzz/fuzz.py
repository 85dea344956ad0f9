"""`make fuzz`: damaged videos and near-miss lines, for as many minutes as are given.

Whatever comes in, what comes out is a usable value or one InputError of one line; never another error, a crash, a hang
or memory without end.

    python tests/fuzz/fuzz.py MINUTES [--seed N] [--only videos|lines]

A find is kept in ``fuzz_finds/`` and said; the status is then 1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "unit")]
FINDS = Path("fuzz_finds")
HANG_S = 60.0
MEMORY_BYTES = 4 * 2**30


# --- videos ---


def seeds(folder: Path) -> list[Path]:
    """Small videos of many containers and codecs."""
    from video_files import set_rotation, write_video

    times = [k / 30 for k in range(24)]
    small = {"size": (96, 64)}
    made = [
        write_video(folder / "a.mp4", times, **small, options={"bf": "2", "g": "8"}),
        write_video(folder / "b.mkv", times, **small, options={"g": "8"}),
        write_video(folder / "c.ts", times, **small, options={"g": "8"}),
        write_video(folder / "d.avi", times, **small, codec="mpeg4"),
        write_video(folder / "e.mkv", times, **small, codec="mjpeg", pixel_format="yuvj420p"),
        write_video(folder / "f.mp4", times, **small, codec="libx265", options={"x265-params": "log-level=0"}),
        write_video(folder / "g.webm", times, **small, codec="libvpx-vp9", options={"deadline": "realtime"}),
        write_video(folder / "h.mp4", times, **small, audio_first=True),
        write_video(folder / "i.mp4", times, **small, quarter_turns_stored=1),
        write_video(folder / "j.mov", times, **small, pixel_format="yuv422p10le"),
    ]
    set_rotation(made[8], 1)
    return made


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, zeroed, cut out, doubled, moved, cut off; often in the header, where it hurts."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        if not out:
            break
        at = min(int(rng.random() ** rng.choice((1, 3)) * len(out)), len(out) - 1)
        size = min(rng.choice((1, 2, 4, 8, 64, 1024)), len(out) - at)
        match rng.randrange(8):
            case 0:
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                out[at : at + size] = rng.randbytes(size)
            case 2:
                out[at : at + size] = bytes(size)
            case 3:
                out[at : at + size] = b"\xff" * size
            case 4:
                del out[at : at + size]
            case 5:
                out[at:at] = out[at : at + size]
            case 6:
                to = rng.randrange(len(out))
                out[to : to + size] = out[at : at + size]
            case 7:
                if rng.random() < 0.3:
                    del out[at:]
    return bytes(out)


def read_video(path: Path) -> int:
    """Read a video as `analyze` begins to; how many frames came. Raises AssertionError where it is not as promised."""
    from vision_referee.domain.errors import InputError
    from vision_referee.video.changes import ChangeDetector
    from vision_referee.video.source import open_video, sample_frames

    try:
        source = open_video(path)
        assert 0 < source.info.width <= 32768 and 0 < source.info.height <= 32768 and source.info.rate_hz > 0
        last_s, count = -1.0, 0
        changes = ChangeDetector()
        for frame in source:
            assert last_s < frame.t_s < 1e12, f"time {frame.t_s} after {last_s}"
            last_s = frame.t_s
            assert frame.bgr().shape == (source.info.height, source.info.width, 3)
            for changed in changes.push(frame):
                source.place(changed.frame)
            count += 1
            if count >= 60:
                break
        sample_frames(source, 3)
    except InputError as error:
        assert "\n" not in str(error) and path.name in str(error), f"not one line that names the file: {error}"
        return 0
    return count


def _reader(pipe: Connection) -> None:
    import logging

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.getLogger("libav").setLevel(logging.CRITICAL)
    import cv2

    cv2.setNumThreads(1)
    while True:
        path = pipe.recv()
        try:
            pipe.send(("frames", read_video(path)))
        except BaseException as error:
            pipe.send(("find", f"{type(error).__name__}: {error}"))


class Reader:
    """A process that reads videos; a new one after each that dies or hangs."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, there = self._context.Pipe()
        self._process = self._context.Process(target=_reader, args=(there,), daemon=True)
        self._process.start()
        there.close()

    def read(self, path: Path) -> tuple[int, str]:
        """Frames, and what was wrong ('' for nothing)."""
        self._pipe.send(path)
        try:
            if not self._pipe.poll(HANG_S):
                raise EOFError
            kind, value = self._pipe.recv()
        except (EOFError, OSError):
            hung = self._process.is_alive()
            self._process.kill()
            self._process.join()
            code = self._process.exitcode
            self._start()
            return 0, f"hung for {HANG_S:.0f} s" if hung else f"died with status {code}"
        return (value, "") if kind == "frames" else (0, value)

    def stop(self) -> None:
        self._process.kill()


def fuzz_videos(seconds: float, seed: int) -> int:
    rng = random.Random(seed)
    reader = Reader()
    tried = usable = finds = 0
    with tempfile.TemporaryDirectory() as folder:
        originals = {path: path.read_bytes() for path in seeds(Path(folder))}
        for path in originals:
            frames, wrong = reader.read(path)
            assert frames == 24 and not wrong, f"{path.name} is no good beginning: {frames} frames, {wrong}"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            path, data = rng.choice(list(originals.items()))
            damaged = Path(folder) / f"damaged{path.suffix}"
            damaged.write_bytes(mutated(data, rng))
            frames, wrong = reader.read(damaged)
            tried += 1
            usable += frames > 0
            if wrong:
                finds += 1
                FINDS.mkdir(exist_ok=True)
                kept = FINDS / f"video-{seed}-{tried}{path.suffix}"
                kept.write_bytes(damaged.read_bytes())
                print(f"FIND {kept}: {wrong}", flush=True)
    reader.stop()
    print(f"videos: {tried} damaged ones read, {usable} gave frames, {finds} finds")
    return finds


# --- lines ---


def readers(folder: Path) -> dict[str, Callable[[bytes], object]]:
    """What reads texts that come from outside."""
    from vision_referee.archive.inputs import Wishes, jobs_of
    from vision_referee.calibration.calibration import load_calibration
    from vision_referee.calibration.tables import load_table
    from vision_referee.record.adjudication import adjudicate_events, load_events
    from vision_referee.record.events_jsonl import read_events, read_officials
    from vision_referee.record.match_info import read_match_info
    from vision_referee.record.rule_settings import read_settings_file
    from vision_referee.record.rulings_jsonl import read_rulings
    from vision_referee.rules.settings import RuleSettings

    table = load_table("pyramid-12ft")

    def on(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        path = folder / name

        def reading(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return reading

    def judged(path: Path) -> object:
        return adjudicate_events(load_events(path), rules="small-russian", settings=RuleSettings(), table=table)

    return {
        "events": on("events.jsonl", read_events),
        "judged": on("judged.jsonl", judged),
        "officials": on("officials.jsonl", read_officials),
        "rulings": on("rulings.jsonl", read_rulings),
        "match": on("match.json", lambda path: read_match_info(path.parent)),
        "calibration": on("calibration.json", load_calibration),
        "table": on("table.toml", lambda path: load_table(str(path))),
        "settings": on("settings.toml", read_settings_file),
        "list": on("list.csv", lambda path: jobs_of([], [path], Wishes(rules="none"), folder / "archive")),
    }


def examples() -> dict[str, list[bytes]]:
    """Good texts of each kind, to be spoilt."""
    import handmade_match as handmade

    from vision_referee.record.events_jsonl import event_lines
    from vision_referee.record.rulings_jsonl import ruling_lines

    events = event_lines(handmade.events()).encode()
    folder = handmade.shared_match().folder
    data = HERE.parents[2] / "calibration"
    return {
        "events": [events],
        "judged": [events],
        "officials": [b"".join(line for line in events.splitlines(True) if b"official" in line)],
        "rulings": [ruling_lines(handmade.rulings()).encode()],
        "match": [(folder / "match.json").read_bytes()],
        "calibration": [path.read_bytes() for path in sorted((data / "cameras").glob("*.json"))],
        "table": [path.read_bytes() for path in sorted((data / "tables").glob("*.toml"))],
        "settings": [b'[rules]\nhanging_s = 5\nedition = "federation"\n'],
        "list": [b'source,name,players\na.mp4,final,"A,B"\nb.mp4|c.mp4,,\n'],
    }


WORDS = (
    b"null true false -1 0 1e309 NaN Infinity -Infinity 1.5 123456789012345678901234567890 \"\" \"cue\" [] {} [[]] "
    b"\"\\u0000\" \"\\ud800\" \"strike\" \"rest\" {\"a\":1} [1,2] \xff \xef\xbb\xbf"
).split(b" ")  # fmt: skip


def spoilt(data: bytes, rng: random.Random) -> bytes:
    """A text with values, keys or lines exchanged, left out or doubled; sometimes with bytes gone wrong."""
    if rng.random() < 0.25:
        return mutated(data, rng)
    lines = data.splitlines(True)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                lines[at] = _with_another_value(lines[at], rng)
            case 1:
                lines[at] = _with_another_value(lines[at], rng)
            case 2:
                lines.insert(rng.randrange(len(lines) + 1), lines[at])
            case 3 if len(lines) > 1:
                del lines[at]
            case 4:
                rng.shuffle(lines)
            case _:
                lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
    return b"".join(lines)


def _with_another_value(line: bytes, rng: random.Random) -> bytes:
    try:
        value = json.loads(line)
    except ValueError:
        words = line.split()
        if not words:
            return line
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        return b" ".join(words) + b"\n"
    if not isinstance(value, dict) or not value:
        return rng.choice(WORDS) + b"\n"
    key = rng.choice(list(value))
    if rng.random() < 0.3:
        del value[key]
        return json.dumps(value).encode() + b"\n"
    mark = "<here>"
    value[key] = mark
    return json.dumps(value).encode().replace(json.dumps(mark).encode(), rng.choice(WORDS)) + b"\n"


def fuzz_lines(seconds: float, seed: int) -> int:
    from vision_referee.domain.errors import InputError

    rng = random.Random(seed)
    tried = usable = finds = 0
    told: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        reading, good = readers(Path(folder)), examples()
        for name, texts in good.items():
            for text in texts:
                reading[name](text)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name = rng.choice(list(reading))
            data = spoilt(rng.choice(good[name]), rng)
            tried += 1
            wrong = ""
            try:
                reading[name](data)
                usable += 1
            except InputError as error:
                if "\n" in str(error):
                    wrong = f"more than one line: {error}"
            except Exception as error:
                trace = error.__traceback__
                while trace is not None and trace.tb_next is not None:
                    trace = trace.tb_next
                where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
                wrong = f"{type(error).__name__} at {where}: {error}"
            if wrong:
                finds += 1
                kind = name + wrong.split(":")[0] + (wrong.split(":")[1] if ":" in wrong else "")
                if kind not in told:
                    told.add(kind)
                    FINDS.mkdir(exist_ok=True)
                    kept = FINDS / f"{name}-{seed}-{tried}"
                    kept.write_bytes(data)
                    print(f"FIND {kept}: {wrong}", flush=True)
    print(f"lines: {tried} spoilt texts read, {usable} usable, {finds} finds")
    return finds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=("videos", "lines"))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    finds = 0
    share = 1.0 if asked.only else 0.7
    if asked.only != "lines":
        finds += fuzz_videos(60 * asked.minutes * share, asked.seed)
    if asked.only != "videos":
        finds += fuzz_lines(60 * asked.minutes * (1.0 if asked.only else 1 - share), asked.seed)
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
