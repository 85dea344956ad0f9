"""A live match through whatever goes wrong: a camera that vanishes ten times, packets that are broken, stamps that lie,
pictures that change their size, a disk that is full."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import live_scene as scene
import pytest
from video_files import write_video

from vision_referee.pipeline.live import LiveRequest, LiveSession
from vision_referee.record.match_folder import MatchFolder
from vision_referee.record.match_info import RUNNING
from vision_referee.video.camera_address import camera_address, opener
from vision_referee.video.camera_feed import CameraFeed, FeedSettings
from vision_referee.video.frames import Frame

ALL = FeedSettings(buffer_frames=100_000, retry_first_s=0.001, retry_most_s=0.001)


def session_of(out: Path, camera: scene.FakeCamera) -> LiveSession:
    feed = CameraFeed(camera.open, settings=ALL, clock=camera.clock)
    request = LiveRequest(camera="7", rules="small-russian", out=out, players=("Anna", "Boris"))
    session = LiveSession(request, feed=feed, finder=scene.finder, open_eye=scene.ToldEye)  # type: ignore[arg-type]
    camera.when_over(lambda: session.stop() if not feed._buffer else None)
    return session


def test_a_camera_that_vanishes_ten_times(tmp_path: Path) -> None:
    """For longer and shorter, at rest and between: both strokes are ruled on, and it is said. Copied at the moment of a
    ruling, the folder is what a power cut would have left: everything told is in it."""
    losses = [(0.3, 0.2), (0.6, 0.1), (0.8, 0.3), (3.4, 0.2), (3.7, 0.1)]
    losses += [(3.9, 0.1), (4.1, 0.1), (4.3, 0.1), (6.9, 0.2), (7.3, 0.2)]
    camera = scene.FakeCamera(scene.LENGTH_S, losses)
    session = session_of(tmp_path / "m", camera)
    left: list[Path] = []

    def copy(ruling: object) -> None:
        left.append(tmp_path / f"left-{len(left)}")
        shutil.copytree(tmp_path / "m", left[-1], ignore=shutil.ignore_patterns("recording*"))

    session.book._on_ruling = copy
    session.start()
    assert session.wait(120) and session.failure is None
    match = MatchFolder(tmp_path / "m")
    assert camera.opened == 11 and match.info.status == "complete"
    assert any("lost 10 times" in warning for warning in match.info.warnings)
    assert [e.t for e in match.events() if e.type == "strike"] == pytest.approx([1.5, 5.0], abs=0.1)
    assert [[f.code.value for f in r.fouls] for r in scene.strokes(match.rulings())] == [["no_contact"]] * 2
    assert [len(scene.strokes(MatchFolder(folder).rulings())) for folder in left][-1] == 2
    for number, folder in enumerate(left, start=1):
        copied = MatchFolder(folder)
        assert copied.info.status == RUNNING and copied.events() and len(copied.rulings()) >= number - 1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A stream from elsewhere whose file is ``tmp_path/stream.ts``."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/stream.ts"
    server.shutdown()


def frames_of(address: str, least: int) -> tuple[list[Frame], CameraFeed]:
    settings = FeedSettings(buffer_frames=1000, retry_first_s=0.01, retry_most_s=0.02)
    feed = CameraFeed(opener(camera_address(address)), settings=settings)
    feed.start()
    frames: list[Frame] = []
    end = time.monotonic() + 40
    while len(frames) < least:
        assert time.monotonic() < end, f"only {len(frames)} frames came"
        frame = feed.next(0.2)
        if frame is not None:
            frames.append(frame)
    feed.stop()
    return frames, feed


def test_broken_packets_are_passed_over(tmp_path: Path, served: str) -> None:
    path = write_video(tmp_path / "stream.ts", [k / 30 for k in range(60)], size=(160, 96), options={"g": "10"})
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 4, len(data) // 2, 97):
        data[at] ^= 0xA5
    path.write_bytes(data)
    frames, feed = frames_of(served, 80)
    assert all(a.t_s < b.t_s for a, b in pairwise(frames))
    assert {f.bgr().shape for f in frames} == {(96, 160, 3)} and feed.state().captured


def test_a_stream_that_changes_its_size_and_starts_its_clock_again(tmp_path: Path, served: str) -> None:
    """As a camera does that is set to another mode: the same picture size for us, and times that go on."""
    times = [k / 30 for k in range(30)]
    first = write_video(tmp_path / "a.ts", times, size=(160, 96), options={"g": "10"})
    second = write_video(tmp_path / "b.ts", times, size=(320, 192), options={"g": "10"})
    (tmp_path / "stream.ts").write_bytes(first.read_bytes() + second.read_bytes())
    frames, _ = frames_of(served, 70)
    assert {f.bgr().shape for f in frames} == {(96, 160, 3)}
    steps = [b.t_s - a.t_s for a, b in pairwise(frames)]
    assert min(steps) > 0


def test_stamps_that_jump_do_not_make_time_jump(tmp_path: Path, served: str) -> None:
    """An hour's jump of the stamps in the middle is no hour of the match."""
    times = [k / 30 for k in range(30)] + [3600 + k / 30 for k in range(30)]
    write_video(tmp_path / "stream.ts", times, size=(160, 96), options={"g": "10"})
    frames, _ = frames_of(served, 55)
    assert frames[-1].t_s < 60 and all(a.t_s < b.t_s for a, b in pairwise(frames))


def test_a_disk_that_fills_up_is_said_and_what_was_told_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refuses everything for a while: the match goes on, and later all of it is there."""
    from vision_referee.record.line_file import LineFile

    put = LineFile._put
    full = threading.Event()

    def refusing(self: LineFile) -> None:
        if full.is_set():
            raise OSError(28, "No space left on device")
        put(self)

    monkeypatch.setattr(LineFile, "_put", refusing)
    camera = scene.FakeCamera(scene.LENGTH_S)
    session = session_of(tmp_path / "m", camera)
    told: list[str] = []
    session._tell = told.append

    def on_ruling(ruling: object) -> None:
        rulings.append(ruling)
        full.clear() if len(rulings) > 1 else full.set()

    rulings: list[object] = []
    session.book._on_ruling = on_ruling
    session.start()
    assert session.wait(120) and session.failure is None and len(rulings) >= 2
    match = MatchFolder(tmp_path / "m")
    assert len(scene.strokes(match.rulings())) == 2
    assert sum(e.type == "strike" for e in match.events()) == 2
    for line in (tmp_path / "m" / "events.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)
    assert any("No space left" in line for line in told), "the person at the table is told"
