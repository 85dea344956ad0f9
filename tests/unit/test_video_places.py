"""Reading goes on from any place as if it had never stopped: the same frames, the same times, the same changes."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from video_files import set_rotation, write_video

from vision_referee.video.changes import ChangeDetector, ChangedFrame
from vision_referee.video.frames import Frame
from vision_referee.video.source import open_video

STEADY = [k / 30 for k in range(70)]
UNEVEN = list(np.cumsum([0.0] + [0.02 + 0.03 * (k % 3) for k in range(69)]))


def shown(frame: Frame) -> tuple[int, float, int]:
    return frame.index, frame.t_s, zlib.crc32(np.ascontiguousarray(frame.bgr()).tobytes())


def make(folder: Path, kind: str) -> Path:
    if kind == "b-frames":
        return write_video(folder / "a.mp4", STEADY, options={"bf": "3", "g": "12"})
    if kind == "one key frame":
        return write_video(folder / "a.mkv", STEADY, options={"g": "1000"})
    if kind == "open groups":
        return write_video(folder / "a.mp4", STEADY, options={"bf": "3", "g": "12", "x264-params": "open-gop=1"})
    if kind == "uneven times":
        return write_video(folder / "a.mkv", UNEVEN, options={"g": "12"})
    if kind == "a stream's packets":
        return write_video(folder / "a.ts", STEADY, options={"g": "12"})
    if kind == "turned":
        path = write_video(folder / "a.mp4", STEADY, options={"g": "12"}, quarter_turns_stored=1)
        set_rotation(path, 1)
        return path
    if kind == "mpeg4":
        return write_video(folder / "a.avi", STEADY, codec="mpeg4", options={"g": "12"})
    if kind == "intra refresh":
        return write_video(folder / "a.mkv", STEADY, options={"x264-params": "intra-refresh=1:keyint=12:bframes=0"})
    if kind == "damaged":
        path = write_video(folder / "a.ts", STEADY, options={"g": "12"})
        data = bytearray(path.read_bytes())
        for at in range(len(data) // 5, len(data) // 4, 40):
            data[at] ^= 0xFF
        path.write_bytes(data)
        return path
    if kind == "times that stand still":
        stamps = [k // 3 / 10 for k in range(70)]
        return write_video(folder / "a.mkv", STEADY, codec="mjpeg", pixel_format="yuvj420p", stamps_s=stamps)
    raise AssertionError(kind)


KINDS = (
    "b-frames", "one key frame", "open groups", "uneven times", "a stream's packets", "turned", "mpeg4",
    "intra refresh", "damaged", "times that stand still",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_frames_behind_a_place_are_those_of_a_whole_reading(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind)
    source = open_video(path)
    whole, places = [], {}
    for frame in source:
        whole.append(shown(frame))
        if frame.index % 9 == 4:
            places[frame.index] = source.place(frame)
    assert len(places) >= 4
    for index, place in places.items():
        again = open_video(path)
        assert [shown(frame) for frame in again.frames(after=place)] == whole[index + 1 :], f"after frame {index}"
        assert again.warnings == source.warnings


def test_the_place_of_a_frame_that_later_stages_still_hold_is_known(tmp_path: Path) -> None:
    source = open_video(make(tmp_path, "b-frames"))
    frames = list(source)
    assert [shown(f) for f in open_video(source.info.path).frames(source.place(frames[30]))] == [
        shown(f) for f in frames[31:]
    ]


@pytest.mark.parametrize("stopped_at", range(3, 60, 8))
def test_what_changed_is_told_the_same_after_a_stop(tmp_path: Path, stopped_at: int) -> None:
    """Still stretches, movement and a cut: the detector goes on from what had come out of it."""
    rng = np.random.default_rng(5)
    picture = rng.integers(60, 180, (90, 160, 3), dtype=np.uint8)
    pictures = []
    for k in range(70):
        if 15 <= k < 30 or k > 50:
            picture = picture.copy()
            picture[20:40, 10 + k : 20 + k] = 250
        if k == 40:
            picture = np.roll(picture, 30, axis=1)
        pictures.append(picture)
    frames = [Frame(index=k, t_s=k / 30, picture=p) for k, p in enumerate(pictures)]

    def run(detector: ChangeDetector, some: list[Frame]) -> tuple[list[ChangedFrame], ChangeDetector]:
        out: list[ChangedFrame] = []
        for frame in some:
            for changed in detector.push(frame):
                out.append(changed)
                if changed.frame.index == stopped_at and not stopped:
                    stopped.append(detector.as_told())
        return [*out, *detector.flush()], detector

    stopped: list[ChangeDetector] = []
    whole, _ = run(ChangeDetector(), frames)
    rest, _ = run(stopped[0], frames[stopped_at + 1 :])
    assert rest == whole[stopped_at + 1 :]
    assert any(c.repeated for c in whole) and any(c.cut for c in whole)
