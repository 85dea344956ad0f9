"""Pictures of the worst errors: the right frames, the worst first, what is said drawn where it is."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
from test_evaluation_command import EVENTS, folder, rows, run
from video_files import read_index, write_video

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.tables import load_table
from vision_referee.domain.events import Event, Pocketed
from vision_referee.domain.table import PocketName
from vision_referee.evaluation.match_score import score_match
from vision_referee.evaluation.sides import read_match, read_truth
from vision_referee.evaluation.worst import worst_errors, write_worst

SIZE = (640, 384)


def overhead() -> Calibration:
    """A camera 4 m above the table's middle, 0.15 px per mm."""
    table = load_table("pyramid-12ft")
    rotation, _ = cv2.Rodrigues(np.array([np.pi, 0.0, 0.0]))
    tvec = -rotation @ np.array([table.length_mm / 2, table.width_mm / 2, 4000.0])
    camera = Camera(
        matrix=np.array([[600.0, 0, SIZE[0] / 2], [0, 600.0, SIZE[1] / 2], [0, 0, 1]]),
        distortion=np.zeros(5),
        rvec=np.array([np.pi, 0.0, 0.0]),
        tvec=tvec,
        size_px=SIZE,
    )
    return Calibration(table=table, camera=camera, residual_mm=0.5, residual_px=0.1, corners_px=np.zeros((4, 2)))


def match_with_video(tmp_path: Path, events: list[Event]) -> Path:
    video = write_video(tmp_path / "video.mp4", [k / 30 for k in range(60)], size=SIZE)
    match = folder(tmp_path / "m", events=events, track=rows(20.0))
    calibration = overhead()
    info = {
        "source": {"files": [{"path": str(video), "t_offset_s": 0.0}]},
        "calibration": calibration.to_json(),
        "table": {"length_mm": 3550.0, "width_mm": 1775.0, "ball_diameter_mm": 68.0},
    }
    (match / "match.json").write_text(json.dumps(info))
    return match


def test_pictures_show_the_frame_of_the_error_and_both_sides_balls(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    match = match_with_video(tmp_path, [e for e in EVENTS if e.type != "pocketed"])
    result = run(match, truth, "--worst", tmp_path / "pictures")
    assert result.exit_code == 0
    pot = next((tmp_path / "pictures").glob("*missed_pocketed_1.50s.png"))
    picture = cv2.imread(str(pot))
    frame = picture[: SIZE[1], : SIZE[0]]
    assert picture.shape[0] > SIZE[1] and picture.shape[1] > SIZE[0], "a caption below, the place enlarged beside"
    assert read_index(frame) == 45
    ball = overhead().camera.project_plane([(1250.0, 500.0)], 34.0)[0]
    near = frame[int(ball[1]) - 8 : int(ball[1]) + 9, int(ball[0]) - 8 : int(ball[0]) + 9].reshape(-1, 3).astype(int)
    assert (np.abs(near - (60, 60, 255)).max(axis=1) < 60).any(), "the true ball's red cross"
    assert (np.abs(near - (80, 220, 80)).max(axis=1) < 60).any(), "the seen ball's green circle"


def test_the_worst_come_first_and_one_cause_makes_one_picture(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    said = [*EVENTS[:4], Pocketed(t=1.7, ball="cue", pocket=PocketName.FOOT_LEFT, confidence=0.2), EVENTS[4]]
    match = match_with_video(tmp_path, [e for e in said if e.type != "strike"])
    seen, true = read_match(match), read_truth(truth)
    errors = worst_errors(seen, true, score_match(seen, true), 10)
    assert [e.name for e in errors][:3] == ["missed_strike", "false_pocketed", "position"]
    assert [e.weight for e in errors] == sorted((e.weight for e in errors), reverse=True)
    assert len(worst_errors(seen, true, score_match(seen, true), 1)) == 1


def test_without_video_or_calibration_the_scores_come_all_the_same(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    bare = folder(tmp_path / "bare", events=EVENTS[:3])
    score = score_match(read_match(bare), read_truth(truth))
    assert write_worst(read_match(bare), read_truth(truth), score, tmp_path / "p") == []
    assert "calibration" in score.notes[-1]
    match = match_with_video(tmp_path, EVENTS[:3])
    (tmp_path / "video.mp4").rename(tmp_path / "moved.mp4")
    result = run(match, truth, "--worst", tmp_path / "p")
    assert result.exit_code == 0 and "--video" in result.output and not (tmp_path / "p").exists()
    assert run(match, truth, "--worst", tmp_path / "p", "--video", tmp_path / "moved.mp4").exit_code == 0
    assert list((tmp_path / "p").glob("*.png"))


def test_what_the_calibration_alone_puts_wrong_is_told(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    overhead().save(truth / "calibration.json")
    match = match_with_video(tmp_path, EVENTS)
    exact = score_match(read_match(match), read_truth(truth)).to_json()["calibration_mm"]
    assert exact["n"] == 91 and exact["max"] < 1e-3
    info = json.loads((match / "match.json").read_text())
    info["calibration"]["camera"]["tvec"][0] += 10.0
    (match / "match.json").write_text(json.dumps(info))
    moved = score_match(read_match(match), read_truth(truth)).to_json()["calibration_mm"]
    assert abs(moved["median"] - 10.0) < 0.2
