"""Whatever is wrong with the input: one line that names the file, status 1, and no match folder left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from video_files import write_video

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_videos" / "break_and_pot.mp4"
"""A good video, so that what is refused is refused for its own fault."""
STEADY = [k / 30 for k in range(60)]


def analyze(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, in ``folder``."""
    command = [sys.executable, "-m", "vision_referee.cli", "analyze", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    environment.pop("VISION_REFEREE_DEBUG", None)
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=240, check=False
    )


def refused(run: subprocess.CompletedProcess[str], *says: str) -> str:
    """The one line on stderr; status 1 and no traceback."""
    assert run.returncode == 1, run.stderr
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    assert "Traceback" not in run.stderr
    assert len(lines) == 1, run.stderr
    for words in says:
        assert words in lines[0]
    return lines[0]


def nothing_left(folder: Path, *expected: str) -> None:
    """Only the files that were there before: no match folder, whole or half, hidden or not."""
    assert sorted(p.name for p in folder.iterdir()) == sorted(expected)


def test_a_video_that_is_not_there(tmp_path: Path):
    refused(analyze("nowhere.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "nowhere.mp4")
    nothing_left(tmp_path)


def test_an_empty_file(tmp_path: Path):
    (tmp_path / "empty.mp4").touch()
    refused(analyze("empty.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "empty.mp4", "empty")
    nothing_left(tmp_path, "empty.mp4")


def test_a_file_that_is_no_video(tmp_path: Path):
    (tmp_path / "notes.mp4").write_text("this is a shopping list\n" * 100)
    refused(analyze("notes.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "notes.mp4")
    nothing_left(tmp_path, "notes.mp4")


def test_a_folder_for_a_video(tmp_path: Path):
    (tmp_path / "videos").mkdir()
    refused(analyze("videos", "--rules", "none", "--out", "m", folder=tmp_path), "videos")
    nothing_left(tmp_path, "videos")


def test_a_recording_cut_off_before_its_index(tmp_path: Path):
    whole = write_video(tmp_path / "whole.mp4", STEADY).read_bytes()
    (tmp_path / "whole.mp4").unlink()
    (tmp_path / "cut.mp4").write_bytes(whole[: whole.index(b"moov") - 4])
    refused(analyze("cut.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "cut.mp4")
    nothing_left(tmp_path, "cut.mp4")


def test_no_table_in_view(tmp_path: Path):
    write_video(tmp_path / "bars.mp4", STEADY, size=(640, 384))
    line = refused(analyze("bars.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "bars.mp4")
    assert "table" in line
    nothing_left(tmp_path, "bars.mp4")


def test_noise(tmp_path: Path):
    import av

    rng = np.random.default_rng(1)
    with av.open(str(tmp_path / "noise.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 640, 384, "yuv420p"
        for _ in range(40):
            pixels = rng.integers(0, 256, (384, 640, 3), dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="bgr24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    refused(analyze("noise.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "noise.mp4")
    nothing_left(tmp_path, "noise.mp4")


@pytest.mark.parametrize("frames", [1, 5])
def test_too_few_frames(tmp_path: Path, frames: int):
    import av

    with av.open(str(SAMPLE)) as whole, av.open(str(tmp_path / "short.mp4"), "w") as short:
        old = whole.streams.video[0]
        stream = short.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = old.width, old.height, "yuv420p"
        for picture in islice(whole.decode(old), frames):
            short.mux(stream.encode(picture))
        short.mux(stream.encode())
    refused(analyze("short.mp4", "--rules", "none", "--out", "m", folder=tmp_path), "short.mp4", "frame")
    nothing_left(tmp_path, "short.mp4")


def test_one_bad_video_of_two(tmp_path: Path):
    write_video(tmp_path / "bars.mp4", STEADY, size=(640, 384))
    run = analyze("bars.mp4", "gone.mp4", "--rules", "none", "--out", "m", folder=tmp_path)
    refused(run, "gone.mp4")
    nothing_left(tmp_path, "bars.mp4")


def test_an_output_that_is_a_file(tmp_path: Path):
    (tmp_path / "m").write_text("mine")
    refused(analyze(SAMPLE, "--rules", "none", "--out", "m", folder=tmp_path), "m: ", "file")
    assert (tmp_path / "m").read_text() == "mine"
    nothing_left(tmp_path, "m")


def test_an_output_folder_with_other_things_in_it_is_left_alone(tmp_path: Path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "holiday.jpg").write_bytes(b"mine")
    refused(analyze(SAMPLE, "--rules", "none", "--out", "m", folder=tmp_path), "m: ", "other files")
    assert (tmp_path / "m" / "holiday.jpg").read_bytes() == b"mine"
    nothing_left(tmp_path, "m")


def test_an_output_that_cannot_be_written(tmp_path: Path):
    # A file where a folder would have to be: refused for any user, the administrator too.
    (tmp_path / "wall").write_text("")
    refused(analyze(SAMPLE, "--rules", "none", "--out", "wall/m", folder=tmp_path), "wall")
    nothing_left(tmp_path, "wall")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_an_output_in_a_folder_without_the_right_to_write(tmp_path: Path):
    (tmp_path / "closed").mkdir(mode=0o500)
    refused(analyze(SAMPLE, "--rules", "none", "--out", "closed/m", folder=tmp_path), "closed")


@pytest.mark.parametrize(
    ("option", "content"),
    [
        ("--calibration", '{"format": 1}'),
        ("--officials", '{"t": 1, "type": "shout"}\n'),
        ("--table", "length = 'long'\n"),
    ],
)
def test_a_bad_file_beside_the_video(tmp_path: Path, option: str, content: str):
    write_video(tmp_path / "bars.mp4", STEADY)
    (tmp_path / "beside.toml").write_text(content)
    run = analyze("bars.mp4", "--rules", "american", "--out", "m", option, "beside.toml", folder=tmp_path)
    refused(run, "beside.toml")
    nothing_left(tmp_path, "bars.mp4", "beside.toml")


@pytest.mark.parametrize(
    "arguments",
    [
        ("bars.mp4", "--rules", "chess", "--out", "m"),
        ("bars.mp4", "--rules", "american", "--out", "m", "--set", "penalty_points_for_yawning=5"),
        ("bars.mp4", "--rules", "american", "--out", "m", "--table", "pyramid-99ft"),
        ("bars.mp4", "--rules", "american", "--out", "m", "--head", "sideways"),
        ("bars.mp4", "--rules", "american", "--out", "m", "--players", ""),
    ],
)
def test_a_wrong_call(tmp_path: Path, arguments: tuple[str, ...]):
    write_video(tmp_path / "bars.mp4", STEADY)
    run = analyze(*arguments, folder=tmp_path)
    assert run.returncode in (1, 2), run.stdout
    assert "Traceback" not in run.stderr and run.stderr.strip()
    nothing_left(tmp_path, "bars.mp4")


def test_no_arguments_is_a_wrong_call(tmp_path: Path):
    run = analyze(folder=tmp_path)
    assert run.returncode == 2 and "Traceback" not in run.stderr
    assert analyze("a.mp4", folder=tmp_path).returncode == 2
