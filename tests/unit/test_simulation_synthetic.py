"""Noisy detections without pictures: as noisy as asked, with true events beside them."""

from __future__ import annotations

import numpy as np
import pytest

from vision_referee.calibration.tables import load_table
from vision_referee.simulation.recording import Recording
from vision_referee.simulation.synthetic import shot, synthetic_detections

pytest.importorskip("pooltool", reason="pooltool is not installed: run `make sim`")


@pytest.fixture(scope="module")
def recording() -> Recording:
    return shot(5, load_table("pyramid-12ft"), balls=4, after_s=2.0)


def test_without_noise_each_frame_holds_every_ball_where_it_is(recording: Recording) -> None:
    for seen in synthetic_detections(recording, 30, 1e-6, 0.0, np.random.default_rng(0), exposure_s=0)[:40]:
        true = np.array([recording.motion(b, seen.t_s).position_mm[:2] for b in recording.present(seen.t_s)])
        gaps = np.linalg.norm(seen.xy_mm[:, None] - true[None], axis=2)
        assert len(seen) == len(true)
        assert gaps.min(axis=1).max() < 0.01


def test_noise_is_as_large_as_asked(recording: Recording) -> None:
    errors = []
    for seed in range(30):
        for seen in synthetic_detections(recording, 5, 3.0, 0.0, np.random.default_rng(seed))[:5]:
            true = np.array([recording.motion(b, seen.t_s).position_mm[:2] for b in recording.present(seen.t_s)])
            errors += [float(e) for p in seen.xy_mm for e in (p - true[np.linalg.norm(true - p, axis=1).argmin()])]
    assert np.std(errors) == pytest.approx(3.0, rel=0.2)


def test_dropout_false_balls_and_repeats(recording: Recording) -> None:
    rng = np.random.default_rng(1)
    kept = [len(d) for d in synthetic_detections(recording, 30, 2.0, 0.3, rng)]
    assert 0.5 < np.mean(kept) / 4 < 0.8
    more = [len(d) for d in synthetic_detections(recording, 30, 2.0, 0.0, rng, false_rate=1.0)]
    assert 4.5 < np.mean(more) < 5.5
    twice = synthetic_detections(recording, 30, 2.0, 0.0, rng, repeat=2)
    assert all(np.array_equal(a.xy_mm, b.xy_mm) for a, b in zip(twice[0:-1:2], twice[1::2], strict=False))
    assert np.all(np.diff([d.t_s for d in twice]) > 0)


def test_the_cue_ball_can_be_told_and_numbers_only_when_read(recording: Recording) -> None:
    frames = synthetic_detections(recording, 30, 2.0, 0.0, np.random.default_rng(2), number_read=0.0)
    assert all((d.number_p[:, 0] > 0.5).sum() == 1 for d in frames[:20])
    assert all((d.number_p[:, 16] > 0.5).sum() == 3 for d in frames[:20])
    read = synthetic_detections(recording, 30, 2.0, 0.0, np.random.default_rng(2), number_read=1.0)
    assert np.mean([(d.number_p[:, 1:16].max(axis=1) > 0.5).sum() for d in read[:20]]) > 2.5


def test_the_same_seed_gives_the_same_frames(recording: Recording) -> None:
    a, b = (synthetic_detections(recording, 30, 2.0, 0.1, np.random.default_rng(4)) for _ in range(2))
    assert all(np.array_equal(x.xy_mm, y.xy_mm) for x, y in zip(a, b, strict=True))
