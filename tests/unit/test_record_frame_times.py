"""Frame times in match.json: exact, and brief where the video is steady."""

from __future__ import annotations

import json

import numpy as np
import pytest

from vision_referee.record.frame_times import FrameTimes


def _there_and_back(times: np.ndarray) -> tuple[np.ndarray, dict[str, object]]:
    data = json.loads(json.dumps(FrameTimes(times.tolist()).to_json()))
    return FrameTimes.from_json(data).as_array(), data


@pytest.mark.parametrize("rate", [25, 30000 / 1001, 59.94, 15])
def test_an_hour_of_steady_video_is_a_few_numbers(rate: float) -> None:
    times = np.round(np.arange(int(3600 * rate)) / rate, 6)
    back, data = _there_and_back(times)
    assert len(json.dumps(data)) < 2000
    assert np.max(np.abs(back - times)) < 5e-6


def test_a_gap_and_a_change_of_rate_are_kept() -> None:
    times = np.concatenate([np.arange(100) / 30, 10 + np.arange(50) / 60, 20 + np.arange(200) / 25])
    back, data = _there_and_back(times)
    assert data["count"] == 350
    assert np.max(np.abs(back - times)) < 5e-6


def test_variable_times_come_back_to_the_microsecond() -> None:
    rng = np.random.default_rng(4)
    times = np.cumsum(rng.uniform(0.01, 0.08, 500))
    back, _ = _there_and_back(times)
    assert np.max(np.abs(back - times)) < 1e-6


def test_millisecond_stamps_of_a_30_hz_stream_come_back() -> None:
    times = np.round(np.arange(3000) / 30, 3)
    back, _ = _there_and_back(times)
    assert np.max(np.abs(back - times)) < 5e-6


@pytest.mark.parametrize("times", [[], [0.0], [0.0, 0.04]])
def test_very_short_videos(times: list[float]) -> None:
    back, data = _there_and_back(np.array(times))
    assert back.tolist() == pytest.approx(times)
    assert data["count"] == len(times)
