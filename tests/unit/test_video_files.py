"""Any video a user may have: each frame in its order, upright, at its own time."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from video_files import is_upright, read_index, set_rotation, write_video

from vision_referee.domain.errors import InputError
from vision_referee.video.source import open_video, sample_frames

STEADY = [k / 30 for k in range(45)]


def encoder(name: str) -> str:
    try:
        av.Codec(name, "w")
    except Exception:
        pytest.skip(f"this FFmpeg has no {name} encoder to make the test file with")
    return name


def check(path: Path, times_s: list[float], *, within_s: float = 0.002) -> None:
    """Every frame is there, in order, upright and at its time."""
    frames = [(f.index, f.t_s, read_index(f.bgr()), is_upright(f.bgr())) for f in open_video(path)]
    assert [f[2] for f in frames] == [k % 256 for k in range(len(times_s))]
    assert [f[0] for f in frames] == list(range(len(times_s)))
    assert all(f[3] for f in frames)
    wanted = np.array(times_s) - times_s[0]
    assert np.abs(np.array([f[1] for f in frames]) - wanted).max() <= within_s


@pytest.mark.parametrize(
    ("codec", "suffix", "pixel_format"),
    [
        ("libx264", ".mp4", "yuv420p"),
        ("libx264", ".mkv", "yuv420p"),
        ("libx264", ".mov", "yuv422p"),
        ("libx264", ".ts", "yuv420p"),
        ("libx264", ".mp4", "yuv420p10le"),
        ("libx265", ".mp4", "yuv420p"),
        ("libx265", ".mkv", "yuv420p10le"),
        ("libvpx-vp9", ".webm", "yuv420p"),
        ("libsvtav1", ".mp4", "yuv420p"),
        ("libsvtav1", ".mkv", "yuv420p10le"),
        ("mjpeg", ".mkv", "yuvj420p"),
        ("mpeg4", ".avi", "yuv420p"),
        ("mpeg4", ".mp4", "yuv420p"),
    ],
)
def test_codecs_containers_and_depths(tmp_path: Path, codec: str, suffix: str, pixel_format: str):
    options = {"libsvtav1": {"preset": "8", "crf": "20", "svtav1-params": "lp=1"}, "libvpx-vp9": {"cpu-used": "8"}}
    path = tmp_path / f"match{suffix}"
    write_video(path, STEADY, codec=encoder(codec), pixel_format=pixel_format, options=options.get(codec, {}))
    check(path, STEADY)


def test_the_brightness_plane_agrees_with_the_colours_in_every_depth(tmp_path: Path):
    for pixel_format in ("yuv420p", "yuv420p10le", "yuv422p"):
        path = write_video(tmp_path / f"{pixel_format}.mkv", STEADY[:4], pixel_format=pixel_format)
        frame = list(open_video(path))[3]
        luma, bgr = frame.luma().astype(float), frame.bgr().astype(float)
        assert luma.shape == bgr.shape[:2]
        grey = bgr @ [0.114, 0.587, 0.299]
        lit, dark = grey > 180, grey < 60
        assert luma[lit].mean() - luma[dark].mean() > 120


def test_variable_frame_rate_keeps_the_files_own_times(tmp_path: Path):
    rng = np.random.default_rng(7)
    times = [float(t) for t in np.round(np.cumsum(rng.choice([1 / 60, 1 / 30, 1 / 15, 0.2], 60)), 4)]
    for suffix in (".mp4", ".mkv"):
        check(write_video(tmp_path / f"vfr{suffix}", times), times)


@pytest.mark.parametrize("rate", [5.0, 24000 / 1001, 25.0, 29.97, 50.0, 120.0, 240.0])
def test_frame_rates(tmp_path: Path, rate: float):
    times = [k / rate for k in range(40)]
    check(write_video(tmp_path / "rate.mp4", times), times)


def test_a_first_timestamp_that_is_not_zero_is_time_zero(tmp_path: Path):
    times = [12.5 + k / 30 for k in range(30)]
    check(write_video(tmp_path / "late.mkv", times), times)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_pictures_turned_by_the_metadata_come_upright(tmp_path: Path, quarters: int):
    path = write_video(tmp_path / "turned.mp4", STEADY, quarter_turns_stored=quarters)
    set_rotation(path, quarters)
    source = open_video(path)
    assert (source.info.width, source.info.height) == (320, 192)
    check(path, STEADY)
    assert all(f.bgr().shape == (192, 320, 3) and is_upright(f.bgr()) for f in sample_frames(source, 4))


def test_portrait(tmp_path: Path):
    path = write_video(tmp_path / "portrait.mp4", STEADY, size=(192, 320))
    assert (open_video(path).info.width, open_video(path).info.height) == (192, 320)
    check(path, STEADY)


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_audio_before_the_picture_does_not_shift_the_times(tmp_path: Path, suffix: str):
    times = [0.4 + t for t in STEADY]
    check(write_video(tmp_path / f"sound{suffix}", times, audio_first=True), times)


def test_odd_sizes(tmp_path: Path):
    path = write_video(tmp_path / "odd.mkv", STEADY[:10], size=(321, 193), pixel_format="yuv444p")
    check(path, STEADY[:10])


def test_a_stream_without_timestamps_runs_at_its_nominal_rate(tmp_path: Path):
    path = write_video(tmp_path / "raw.h264", STEADY, container_format="h264", options={"bf": "0"})
    frames = list(open_video(path))
    assert [read_index(f.bgr()) for f in frames] == list(range(45))
    steps = np.diff([f.t_s for f in frames])
    assert (steps > 0).all() and steps.std() < 1e-3


def test_repeated_timestamps_stay_within_a_frame_of_the_truth(tmp_path: Path):
    stamps = [2 * (k // 2) / 30 for k in range(40)]
    path = write_video(tmp_path / "pairs.mkv", STEADY[:40], codec="mjpeg", pixel_format="yuvj420p", stamps_s=stamps)
    source = open_video(path)
    frames = list(source)
    times = np.array([f.t_s for f in frames])
    assert [read_index(f.bgr()) for f in frames] == list(range(40))
    assert (np.diff(times) > 0).all()
    assert np.abs(times - np.array(STEADY[:40])).max() <= 1 / 30 + 1e-3
    assert any("clock" in warning for warning in source.warnings)


def test_a_clock_that_starts_again_goes_on_where_it_was(tmp_path: Path):
    # Two transport streams joined end to end, as recorders do that split their files.
    first = write_video(tmp_path / "a.ts", [k / 30 for k in range(60)])
    joined = tmp_path / "joined.ts"
    joined.write_bytes(first.read_bytes() + first.read_bytes())
    source = open_video(joined)
    times = np.array([f.t_s for f in source])
    assert len(times) >= 118
    steps = np.diff(times)
    assert (steps > 0).all()
    assert np.median(steps[60:]) == pytest.approx(1 / 30, abs=2e-3)
    assert times[-1] == pytest.approx((len(times) - 1) / 30, abs=0.1)
    assert any("clock" in warning for warning in source.warnings)


def test_a_picture_that_changes_size_keeps_the_first_size(tmp_path: Path):
    small = write_video(tmp_path / "s.ts", STEADY[:20], size=(320, 192))
    large = write_video(tmp_path / "l.ts", [1 + t for t in STEADY[:20]], size=(640, 384))
    joined = tmp_path / "sizes.ts"
    joined.write_bytes(small.read_bytes() + large.read_bytes())
    shapes = {f.bgr().shape for f in open_video(joined)}
    assert shapes == {(192, 320, 3)}


def test_wide_pixels_are_shown_as_they_are_meant(tmp_path: Path):
    path = tmp_path / "anamorphic.mp4"
    write_video(path, STEADY[:10], size=(240, 192), options={"x264-params": "sar=4/3"})
    source = open_video(path)
    assert (source.info.width, source.info.height) == (320, 192)
    assert {f.bgr().shape for f in source} == {(192, 320, 3)}
    check(path, STEADY[:10])


def test_a_truncated_file_gives_what_it_has_and_says_so(tmp_path: Path):
    path = write_video(tmp_path / "whole.mkv", [k / 30 for k in range(200)], options={"g": "10"})
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    source = open_video(cut)
    frames = list(source)
    assert 20 < len(frames) < 180
    assert [read_index(f.bgr()) for f in frames[:20]] == list(range(20))
    assert any("truncated" in warning or "broken" in warning for warning in source.warnings)


def test_damage_in_the_middle_does_not_end_the_match(tmp_path: Path):
    path = write_video(tmp_path / "whole.ts", [k / 30 for k in range(240)], options={"g": "15"})
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    rng = np.random.default_rng(3)
    data[middle : middle + 2000] = rng.integers(0, 256, 2000, dtype=np.uint8).tobytes()
    broken = tmp_path / "broken.ts"
    broken.write_bytes(data)
    frames = [(f.t_s, read_index(f.bgr())) for f in open_video(broken)]
    assert len(frames) > 180
    late = [(t, i) for t, i in frames if t > 6.5]
    assert late and all(abs(t - i / 30) <= 1 / 30 + 1e-3 for t, i in late)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.mp4", b"", "empty"),
        ("text.mp4", b"this is no video at all, only words\n" * 50, "not a video"),
        ("zeros.mkv", bytes(4096), "not a video"),
    ],
)
def test_what_is_no_video_gets_one_line(tmp_path: Path, name: str, content: bytes, says: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        open_video(path)
    assert says in str(error.value) and name in str(error.value) and "\n" not in str(error.value)


def test_missing_files_folders_and_sound_alone_get_one_line(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        open_video(tmp_path / "nowhere.mp4")
    with pytest.raises(InputError, match="folder"):
        open_video(tmp_path)
    path = tmp_path / "sound.m4a"
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=48_000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4800), np.float32), format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 48_000, 0
        for packet in [*stream.encode(frame), *stream.encode()]:
            container.mux(packet)
    with pytest.raises(InputError, match="picture"):
        open_video(path)


def test_an_mp4_without_its_index_gets_one_line(tmp_path: Path):
    path = write_video(tmp_path / "whole.mp4", STEADY)
    cut = tmp_path / "cut.mp4"
    # The index stands at the end of the file: a camera that lost power never wrote it.
    cut.write_bytes(path.read_bytes()[: path.read_bytes().index(b"moov") - 4])
    with pytest.raises(InputError) as error:
        list(open_video(cut))
    assert "cut.mp4" in str(error.value)
