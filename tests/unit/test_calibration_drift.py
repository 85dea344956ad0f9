"""A bumped camera is noticed and the pose solved again; a still one is left alone, whoever walks by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from drawn_table import camera_over, draw_table

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.drift import DriftWatch
from vision_referee.calibration.find import calibrate_image
from vision_referee.calibration.pose import table_corners
from vision_referee.calibration.tables import load_table
from vision_referee.video.frames import Frame

TABLE = load_table("pyramid-12ft")


def bumped(camera: Camera) -> Camera:
    """The same camera, turned a little: some six pixels."""
    return replace(camera, rvec=camera.rvec + np.array([0.003, -0.004, 0.006]))


def frames(cameras: list[Camera], person_at: tuple[int, ...] = ()) -> list[Frame]:
    return [
        Frame(index=k, t_s=k * 0.5, picture=draw_table(c, TABLE, seed=k, person=k in person_at, balls=6))
        for k, c in enumerate(cameras)
    ]


def start(camera: Camera) -> Calibration:
    return calibrate_image(draw_table(camera, TABLE), table=TABLE)


def test_a_bump_is_noticed_within_seconds_and_solved() -> None:
    camera = camera_over(TABLE, elevation_deg=70)
    moved = bumped(camera)
    true = moved.project(table_corners(TABLE, 0.0, TABLE.nose_height_mm))
    before = start(camera)
    assert np.linalg.norm(before.corners_px - true, axis=1).max() > 3.0
    watch = DriftWatch(before)
    answers = [watch.push(frame) for frame in frames([camera] * 3 + [moved] * 5)]
    found = [a for a in answers if a is not None]
    assert answers[:3] == [None] * 3
    assert len(found) == 1
    assert np.linalg.norm(found[0].corners_px - true, axis=1).max() < 1.5
    assert np.allclose(found[0].camera.matrix, before.camera.matrix, rtol=1e-3)


def test_a_camera_that_was_moved_after_its_calibration_is_solved_at_the_first_picture() -> None:
    camera = camera_over(TABLE, elevation_deg=70)
    moved = replace(camera, rvec=camera.rvec + 2.5 * np.array([0.003, -0.004, 0.006]))
    true = moved.project(table_corners(TABLE, 0.0, TABLE.nose_height_mm))
    found = DriftWatch(start(camera)).push(frames([moved])[0])
    assert found is not None
    assert np.linalg.norm(found.corners_px - true, axis=1).max() < 1.5


def test_one_picture_does_not_undo_a_careful_calibration() -> None:
    camera = camera_over(TABLE, elevation_deg=70)
    near = replace(camera, rvec=camera.rvec + 0.35 * np.array([0.003, -0.004, 0.006]))
    assert DriftWatch(start(near)).push(frames([camera])[0]) is None


def test_a_still_camera_is_left_alone_while_people_pass() -> None:
    camera = camera_over(TABLE, elevation_deg=70)
    watch = DriftWatch(start(camera), check_every_s=0.5)
    assert all(watch.push(frame) is None for frame in frames([camera] * 6, person_at=(2, 3)))
    assert watch.last_shift is not None
    assert watch.last_shift.largest_px < 0.5


def test_a_hand_held_camera_is_followed_from_frame_to_frame() -> None:
    camera = camera_over(TABLE, elevation_deg=70)
    drifting = [replace(camera, rvec=camera.rvec + 0.0007 * k * np.array([0.3, -0.6, 0.5])) for k in range(20)]
    watch = DriftWatch(start(camera))
    corners = table_corners(TABLE, 0.0, TABLE.nose_height_mm)
    off_px = []
    for k, seen in enumerate(drifting):
        watch.push(Frame(index=k, t_s=k * 0.1, picture=draw_table(seen, TABLE, seed=k, balls=4)))
        shift = watch.offset
        here = watch.calibration.corners_px
        now = here if shift is None else here + (here - shift.undone(here))
        off_px.append(float(np.linalg.norm(now - seen.project(corners), axis=1).max()))
    assert np.linalg.norm(drifting[-1].project(corners) - drifting[0].project(corners), axis=1).max() > 4.0
    # Half a second to notice, from then on every frame.
    assert max(off_px) < 2.5
    assert max(off_px[8:]) < 1.4
