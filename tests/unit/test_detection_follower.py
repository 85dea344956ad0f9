"""Following a video by what changed says what a look at every whole frame says, and shows the network far less."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vision_referee.calibration.calibration import Calibration, load_calibration
from vision_referee.detection.backends import Backend, open_backend
from vision_referee.detection.detections import Detections
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.follower import Follower, FollowSettings
from vision_referee.detection.settings import DetectorSettings
from vision_referee.video.frames import U8, Frame
from vision_referee.video.source import open_video

SAMPLES = Path(__file__).parents[2] / "sample_videos"
EYE = DetectorSettings(numbers=False, occluders=False)
STRIKE_FRAME = 45


class Counting:
    """A backend that counts the pixels that it is shown."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.reliability = backend.reliability
        self.pixels = 0

    def maps(self, pixels: U8):  # type: ignore[no-untyped-def]
        self.pixels += pixels.shape[0] * pixels.shape[1]
        return self.backend.maps(pixels)


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return load_calibration(SAMPLES / "break_and_pot.truth" / "calibration.json")


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    """Fifteen balls in the rack, and the cue ball is struck in the middle of it all."""
    found = []
    for frame in open_video(SAMPLES / "break_and_pot.mp4"):
        if frame.index > STRIKE_FRAME + 8:
            break
        if frame.index >= STRIKE_FRAME - 14:
            found.append(frame)
    return found


def follower(calibration: Calibration, backend: Counting, **settings: float) -> Follower:
    detector = BallDetector(calibration, backend=backend, settings=EYE)
    return Follower(detector, FollowSettings(**settings))  # type: ignore[arg-type]


def apart_px(one: Detections, other: Detections) -> np.ndarray:
    """How far each ball of one (n,) is from the other's nearest."""
    away = np.linalg.norm(one.xy_px[:, None] - other.xy_px[None], axis=2)
    return np.asarray(away.min(axis=1))


def test_the_same_balls_at_the_same_places_for_a_part_of_the_looking(
    calibration: Calibration, frames: list[Frame]
) -> None:
    every, some = Counting(open_backend()), Counting(open_backend())
    whole = BallDetector(calibration, backend=every, settings=EYE)
    follow = follower(calibration, some, hot_s=0.2)
    distances = []
    for frame in frames:
        looked, followed = whole.detect(frame), follow.follow(frame)
        assert followed.frame == frame.index and followed.t_s == frame.t_s
        assert len(followed) == len(looked) == 16
        distances.append(apart_px(followed, looked))
    assert np.median(distances) < 0.1
    # The struck ball moves by two thirds of the table within these frames; it is seen all the way.
    assert max(d.max() for d in distances) < 2.5
    assert some.pixels < 0.4 * every.pixels


def test_a_table_on_which_nothing_happens_is_not_shown_to_the_network(
    calibration: Calibration, frames: list[Frame]
) -> None:
    backend = Counting(open_backend())
    follow = follower(calibration, backend, whole_every_s=100.0, hot_s=0.1)
    still = [Frame(index=k, t_s=k / 30, picture=frames[0].picture) for k in range(12)]
    first = [follow.follow(frame) for frame in still[:6]]
    backend.pixels = 0
    later = [follow.follow(frame) for frame in still[6:]]
    assert backend.pixels == 0
    assert all(np.array_equal(one.xy_px, first[-1].xy_px) for one in later)


def test_a_ball_put_down_while_nobody_looks_is_found_at_once(calibration: Calibration, frames: list[Frame]) -> None:
    follow = follower(calibration, Counting(open_backend()), whole_every_s=100.0)
    bare = frames[0].bgr().copy()
    cue = calibration.camera.project_plane([[640.0, 760.0]], 34.0)[0].round().astype(int)
    bare[cue[1] - 20 : cue[1] + 21, cue[0] - 20 : cue[0] + 21] = bare[cue[1] + 40, cue[0] + 40]
    shown = [Frame(index=k, t_s=k / 30, picture=bare if k < 4 else frames[0].bgr()) for k in range(5)]
    seen = [follow.follow(frame) for frame in shown]
    assert [len(d) for d in seen] == [15, 15, 15, 15, 16]


def test_a_ball_taken_away_is_gone_at_once_and_one_that_is_hidden_comes_back(
    calibration: Calibration, frames: list[Frame]
) -> None:
    follow = follower(calibration, Counting(open_backend()), whole_every_s=100.0, hot_s=0.05)
    whole = frames[0].bgr()
    bare = whole.copy()
    cue = calibration.camera.project_plane([[640.0, 760.0]], 34.0)[0].round().astype(int)
    bare[cue[1] - 20 : cue[1] + 21, cue[0] - 20 : cue[0] + 21] = bare[cue[1] + 40, cue[0] + 40]
    shown = [Frame(index=k, t_s=k / 30, picture=bare if 4 <= k < 8 else whole) for k in range(10)]
    assert [len(follow.follow(frame)) for frame in shown] == [16] * 4 + [15] * 4 + [16] * 2


def test_after_a_cut_everything_is_looked_at_anew(calibration: Calibration, frames: list[Frame]) -> None:
    backend = Counting(open_backend())
    follow = follower(calibration, backend, whole_every_s=100.0)
    follow.follow(frames[0])
    once = backend.pixels
    follow.forget()
    follow.follow(frames[1])
    assert backend.pixels > 1.9 * once
