"""Damaged files: whatever bytes are wrong, frames with rising times come out, or one line; never another error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from video_files import write_video

from vision_referee.domain.errors import InputError
from vision_referee.video.source import open_video, sample_frames

FORMATS = [("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.ts", "libx264"), ("a.avi", "mpeg4"), ("a.mkv", "mjpeg")]


def read_all(path: Path) -> int:
    """Frames read; only an InputError of one line may come."""
    try:
        source = open_video(path)
        times = []
        for frame in source:
            times.append(frame.t_s)
            assert frame.bgr().shape == (source.info.height, source.info.width, 3)
            if len(times) > 200:
                break
        assert (np.diff(times) > 0).all() and np.isfinite(times).all()
        sample_frames(source, 3)
    except InputError as error:
        assert "\n" not in str(error) and path.name in str(error)
        return 0
    return len(times)


@pytest.mark.parametrize(("name", "codec"), FORMATS)
def test_wrong_bytes_anywhere(tmp_path: Path, name: str, codec: str):
    pixel_format = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    times = [k / 30 for k in range(40)]
    path = write_video(tmp_path / name, times, codec=codec, pixel_format=pixel_format, size=(160, 96))
    whole = path.read_bytes()
    rng = np.random.default_rng(len(whole))
    read = 0
    for _ in range(25):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), rng.integers(1, 60)):
            data[at] = rng.integers(0, 256)
        path.write_bytes(data)
        read += read_all(path) > 0
    assert read > 0, "some damage must be survivable"


@pytest.mark.parametrize(("name", "codec"), FORMATS)
def test_cut_off_anywhere(tmp_path: Path, name: str, codec: str):
    pixel_format = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    times = [k / 30 for k in range(40)]
    path = write_video(tmp_path / name, times, codec=codec, pixel_format=pixel_format, size=(160, 96))
    whole = path.read_bytes()
    for share in np.linspace(0.02, 0.98, 12):
        path.write_bytes(whole[: int(len(whole) * share)])
        read_all(path)
