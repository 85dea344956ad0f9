"""The camera feed: never late by more than a few frames, back after every loss, times that rise."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from network_camera import NetworkCamera
from video_files import picture, read_index, write_video

from vision_referee.domain.errors import InputError
from vision_referee.video.camera_address import CameraLost, Shot, camera_address, file_shots, opener
from vision_referee.video.camera_feed import CameraFeed, FeedSettings
from vision_referee.video.camera_recording import CameraRecording
from vision_referee.video.frames import Frame
from vision_referee.video.source import open_video
from vision_referee.video.stream_clock import StreamClock

PICTURE = picture(1, (160, 90))
QUICK = FeedSettings(retry_first_s=0.01, retry_most_s=0.02)


def _all(feed: CameraFeed, least: int, timeout_s: float = 20.0) -> list[Frame]:
    frames: list[Frame] = []
    end = time.monotonic() + timeout_s
    while len(frames) < least and not feed.ended:
        assert time.monotonic() < end, f"only {len(frames)} frames came"
        frame = feed.next(0.2)
        if frame is not None:
            frames.append(frame)
    return frames


def _until(holds: Callable[[], bool], timeout_s: float = 30.0) -> None:
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_camera_that_vanishes_again_and_again_comes_back() -> None:
    opened = []

    def shots() -> Iterator[Shot]:
        opened.append(time.monotonic())
        if len(opened) in (2, 3):
            raise CameraLost("not there yet")
        for _ in range(5):
            time.sleep(0.002)
            yield Shot(PICTURE, None)
        raise CameraLost("the cable was pulled")

    feed = CameraFeed(shots, settings=QUICK)
    feed.start()
    frames = _all(feed, 18)
    state = feed.state()
    feed.stop()
    times = [f.t_s for f in frames]
    assert times[0] == 0.0 and all(a < b for a, b in pairwise(times))
    assert state.losses >= 3 and len(opened) >= 5
    assert feed.ended


def test_time_goes_on_while_the_camera_is_lost() -> None:
    gone = threading.Event()

    def shots() -> Iterator[Shot]:
        yield Shot(PICTURE, None)
        gone.set()
        raise CameraLost("the cable was pulled")

    feed = CameraFeed(shots, settings=FeedSettings(retry_first_s=30))
    feed.start()
    gone.wait(5)
    time.sleep(0.15)
    state = feed.state()
    assert not state.ok and state.lost_since_s is not None and "cable" in state.reason
    assert feed.clock_s() - state.lost_since_s > 0.1
    feed.stop()


def test_whatever_a_driver_throws_is_a_loss() -> None:
    calls = []

    def shots() -> Iterator[Shot]:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("driver bug")
        yield Shot(PICTURE, None)

    feed = CameraFeed(shots, settings=QUICK)
    feed.start()
    assert _all(feed, 1)
    feed.stop()


def test_the_delay_stays_bounded_when_the_referee_is_slow() -> None:
    """A camera of 100 frames a second, a referee of 20: what it gets is never older than the buffer is long."""

    def shots() -> Iterator[Shot]:
        while True:
            time.sleep(0.01)
            yield Shot(PICTURE, None)

    feed = CameraFeed(shots, settings=FeedSettings(buffer_frames=4))
    feed.start()
    ages = []
    for _ in range(30):
        frame = feed.next(2)
        assert frame is not None
        ages.append(feed.clock_s() - frame.t_s)
        time.sleep(0.05)
    state = feed.state()
    feed.stop()
    # Four frames and one in the making, of 10 ms each; the rest is this machine's own.
    assert float(np.median(ages)) < 0.2 and float(np.median(ages[-8:])) < 2.0 * float(np.median(ages[:8])) + 0.1
    assert state.dropped > 30


def test_a_picture_of_another_size_is_shown_in_the_first_ones() -> None:
    def shots() -> Iterator[Shot]:
        yield Shot(PICTURE, None)
        yield Shot(picture(2, (320, 180)), None)

    feed = CameraFeed(shots, finite=True)
    feed.start()
    assert [f.bgr().shape for f in _all(feed, 2)] == [PICTURE.shape] * 2


def test_a_file_is_played_at_its_own_speed_and_ends(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", [k / 25 for k in range(20)])
    feed = CameraFeed(opener(camera_address(str(path))), finite=True, settings=FeedSettings(buffer_frames=50))
    begun = time.monotonic()
    feed.start()
    frames = _all(feed, 1000)
    assert time.monotonic() - begun >= 0.75
    assert [f.t_s for f in frames] == pytest.approx([k / 25 for k in range(20)], abs=1e-3)
    assert [read_index(f.bgr()) for f in frames] == list(range(20))
    assert feed.ended and not feed.state().dropped


def test_frames_of_a_file_that_are_late_are_left_out(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", [k / 25 for k in range(25)])
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    given = []
    for shot in file_shots(open_video(path), clock=lambda: now[0], sleep=sleep):
        given.append(shot)
        if len(given) == 5:
            now[0] += 0.6
    assert [s.picture is None for s in given][5:12] == [True] * 7
    assert given[-1].picture is not None


@pytest.mark.parametrize("text", ["nowhere.mp4", "ftp://host/a", "rtsp://", ""])
def test_what_is_no_camera_is_said(text: str) -> None:
    with pytest.raises(InputError):
        camera_address(text)


def test_addresses() -> None:
    assert camera_address("0").device == 0
    assert camera_address("/dev/video2").device == 2
    address = camera_address("rtsp://user:secret@host/stream")
    assert address.url is not None and "secret" not in address.shown


def test_a_camera_that_cannot_be_opened_says_why() -> None:
    with pytest.raises(CameraLost, match=r"127\.0\.0\.1"):
        next(opener(camera_address("http://127.0.0.1:9/none"))())


def test_a_video_served_over_http_is_a_camera_that_begins_again(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mkv", [k / 25 for k in range(15)])

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    feed = CameraFeed(opener(camera_address(f"http://127.0.0.1:{server.server_port}/a.mkv")), settings=QUICK)
    feed.start()
    frames = _all(feed, 35)
    feed.stop()
    server.shutdown()
    assert feed.state().losses >= 2
    assert all(a.t_s < b.t_s for a, b in pairwise(frames))
    assert len({read_index(f.bgr()) for f in frames}) >= 10


@pytest.mark.parametrize("kind", ["mjpeg", "ts"])
def test_a_network_camera_is_watched_lost_and_found_again(kind: str) -> None:
    """The delay stays small, the time goes on while it is unplugged, and its pictures come again by themselves."""

    def draw(t_s: float) -> np.ndarray:
        return picture(int(t_s * 25) % 256, (320, 180))

    with NetworkCamera(draw) as camera:
        feed = CameraFeed(opener(camera_address(camera.url(kind))), settings=QUICK)
        feed.start()
        seen = _all(feed, 20)
        camera.plugged.clear()
        _until(lambda: not feed.state().ok)
        reason, lost_at_s = feed.state().reason, feed.clock_s()
        time.sleep(0.4)
        camera.plugged.set()
        _until(lambda: feed.state().ok)
        while feed.next(0.0) is not None:
            pass
        again = _all(feed, 10)
        delay_s = feed.clock_s() - again[-1].t_s
        feed.stop()
    assert "127.0.0.1" in reason
    assert again[0].t_s > max(lost_at_s + 0.35, seen[-1].t_s)
    assert all(a.t_s < b.t_s for a, b in pairwise([*seen, *again]))
    assert len({read_index(frame.bgr()) for frame in again}) >= 8
    assert delay_s < 1.0 and feed.state().losses == 1


def test_jitter_of_the_network_does_not_become_jitter_of_time() -> None:
    rng = np.random.default_rng(3)
    stamps = np.arange(300) / 30
    arrivals = 1000.0 + stamps + 0.02 + rng.exponential(0.03, 300)
    clock = StreamClock()
    times = np.array([clock.time_s(float(s), float(a)) for s, a in zip(stamps, arrivals, strict=True)])
    assert np.abs(np.diff(times[60:]) - 1 / 30).max() < 0.003, "after two seconds steps are even to 3 ms"
    assert (times <= arrivals + 1e-9).all()


@pytest.mark.parametrize("true_hz", [12.0, 30.0])
def test_stamps_that_are_made_up_are_found_out(true_hz: float) -> None:
    """Pictures over HTTP carry no stamps: the demuxer counts 25 a second, whatever comes."""
    clock = StreamClock()
    arrivals = 50.0 + np.arange(600) / true_hz
    times = np.array([clock.time_s(k / 25, float(a)) for k, a in enumerate(arrivals)])
    late = arrivals > 58.0
    assert np.abs(np.diff(times[late]) - 1 / true_hz).max() < 1e-6


def test_a_stream_whose_clock_starts_again_goes_on() -> None:
    clock = StreamClock()
    first = clock.time_s(5000.0, 10.0)
    again = clock.time_s(0.0, 11.0)
    assert (first, again) == (10.0, 11.0)


def test_what_a_camera_shows_can_be_looked_at_while_it_is_recorded(tmp_path: Path) -> None:
    recording = CameraRecording(tmp_path / "recording-1.mp4", waiting_frames=500)
    times = [3.0 + k / 30 + (0.01 if k % 3 else 0.0) for k in range(90)]
    for k, t in enumerate(times):
        recording.put(Frame(index=k, t_s=t, picture=picture(k, (320, 180))))
    end = time.monotonic() + 10
    while True:
        time.sleep(0.1)
        assert time.monotonic() < end
        try:
            half = list(open_video(recording.path).frames())
        except InputError:
            continue
        if len(half) > 45:
            break
    recording.close()
    whole = list(open_video(recording.path).frames())
    assert recording.first_s == 3.0 and recording.left_out == 0 and recording.failure is None
    assert [f.t_s for f in whole] == pytest.approx([t - 3.0 for t in times], abs=1e-4)
    assert [read_index(f.bgr()) for f in whole[:90:10]] == list(range(0, 90, 10))


def test_a_disk_that_is_full_stops_the_recording_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recording = CameraRecording(tmp_path / "file" / "recording-1.mp4")
    for k in range(5):
        recording.put(Frame(index=k, t_s=k / 30, picture=PICTURE))
    recording.close()
    assert recording.failure is not None and "not recorded" in recording.failure
