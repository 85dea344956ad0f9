"""Hints for the person who mounts the camera: each fault of a view is said, with where it is, and a good view is left
in peace."""

from __future__ import annotations

import string
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from drawn_table import camera_over, draw_table
from live_scene import TABLE

from vision_referee.calibration.calibration import Calibration, load_calibration
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.find import calibrate_corners
from vision_referee.calibration.hints import TEXT, Hint, find_hints, rate_hint
from vision_referee.calibration.saved import camera_file, cameras_folder, saved_cameras
from vision_referee.domain.errors import CalibrationError, InputError
from vision_referee.review.server.live_hints import hint_words
from vision_referee.review.wording import LANGUAGES, wording

U8 = npt.NDArray[np.uint8]


def calibration_of(camera: Camera) -> Calibration:
    corners = [[0, 0], [0, TABLE.width_mm], [TABLE.length_mm, TABLE.width_mm], [TABLE.length_mm, 0]]
    return Calibration(
        table=TABLE, camera=camera, residual_mm=1.0, residual_px=0.3, head_side="left", head_known=True,
        corners_px=camera.project_plane(corners, TABLE.nose_height_mm),
    )  # fmt: skip


@pytest.fixture(scope="module")
def good() -> tuple[U8, Calibration]:
    camera = camera_over(TABLE, elevation_deg=85)
    return draw_table(camera, TABLE), calibration_of(camera)


def codes(bgr: U8, calibration: Calibration) -> list[str]:
    return [hint.code for hint in find_hints(bgr, calibration)]


def test_a_good_view_is_left_in_peace(good: tuple[U8, Calibration]) -> None:
    assert codes(*good) == []


def test_a_dark_cloth(good: tuple[U8, Calibration]) -> None:
    bgr, calibration = good
    assert codes((bgr // 5).astype(np.uint8), calibration) == ["dark"]


def test_a_lens_out_of_focus(good: tuple[U8, Calibration]) -> None:
    bgr, calibration = good
    assert "blurred" in codes(np.asarray(cv2.GaussianBlur(bgr, (0, 0), 5), np.uint8), calibration)


def test_glare_is_said_with_its_place(good: tuple[U8, Calibration]) -> None:
    bgr, calibration = good
    x, y = calibration.camera.project_plane([[TABLE.length_mm - 350, TABLE.width_mm - 250]], 0.0)[0]
    shining = cv2.circle(bgr.copy(), (round(x), round(y)), 45, (255, 255, 255), -1)
    (hint,) = find_hints(np.asarray(shining, np.uint8), calibration)
    assert (hint.code, hint.values["place"]) == ("glare", "foot_left")
    (patch,) = hint.patches_px
    assert patch[:2] == pytest.approx((x, y), abs=3) and 40 < patch[2] < 80
    assert "near the foot left" in hint.text


def test_white_balls_are_no_glare(good: tuple[U8, Calibration]) -> None:
    """Balls of a rack touch and are burnt out themselves; together they cover as much cloth as a patch of glare."""
    bgr, calibration = good[0].copy(), good[1]
    for row in range(5):
        for k in range(row + 1):
            at = [[2600 + 59.5 * row, 887 + 68.6 * (k - row / 2)]]
            centre = calibration.camera.project_plane(at, TABLE.ball_radius_mm)[0]
            radius = float(calibration.camera.ball_radius_px(at, TABLE.ball_radius_mm)[0])
            cv2.circle(bgr, (round(centre[0]), round(centre[1])), round(radius), (255, 255, 255), -1)
    assert "glare" not in codes(bgr, calibration)


def test_a_pocket_out_of_the_picture() -> None:
    camera = camera_over(TABLE, elevation_deg=85, fill=1.25)
    hints = find_hints(draw_table(camera, TABLE), calibration_of(camera))
    assert "pocket_out" in {hint.code for hint in hints}
    assert any("corner" in hint_words(hint, wording("en")) for hint in hints if hint.code == "pocket_out")


def test_a_flat_view_says_its_angle_and_how_many_millimetres() -> None:
    camera = camera_over(TABLE, elevation_deg=12, azimuth_deg=0, size=(640, 360))
    calibration = calibration_of(camera)
    (flat,) = [h for h in find_hints(np.full((360, 640, 3), 120, np.uint8), calibration) if h.code == "flat"]
    ends = [[0.0, TABLE.width_mm / 2], [TABLE.length_mm, TABLE.width_mm / 2]]
    assert flat.values["mm"] == pytest.approx(float(calibration.mm_per_px(ends).max()))
    assert flat.values["angle"] == pytest.approx(calibration.elevation_deg)
    assert "12 degrees" in flat.text or "13 degrees" in flat.text or "11 degrees" in flat.text


def test_too_few_pictures_a_second() -> None:
    slow = rate_hint(15.0)
    assert slow is not None and "15 pictures" in slow.text
    assert rate_hint(25.0) is None and rate_hint(0.0) is None


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", sorted(TEXT))
def test_every_hint_can_be_said_in_every_language(lang: str, code: str) -> None:
    names = {name for _, name, _, _ in string.Formatter().parse(TEXT[code]) if name}
    values: dict[str, float | str] = {n: "foot_left" if n in ("pocket", "place") else 17.0 for n in names}
    said = hint_words(Hint(code=code, values=values), wording(lang))
    assert "{" not in said
    for name in names:
        assert (wording(lang)("pocket.foot_left") if name in ("pocket", "place") else "17") in said


@pytest.mark.parametrize(
    "corners",
    [
        [[1, 1], [2, 2], [3, 3], [4, 4]],
        [[10, 10], [20, 10], [20, 20], [10, 20]],
        [[100, 100], [900, 100], [300, 250], [100, 600]],
    ],
)
def test_corners_in_a_line_or_in_one_place_are_no_table(good: tuple[U8, Calibration], corners: list[list[int]]) -> None:
    """Such as when Set is pressed with a corner dragged away by mistake."""
    with pytest.raises(CalibrationError, match="mark them again"):
        calibrate_corners(good[0], corners, table=TABLE)


# --- saved by name ---


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_a_camera_saved_by_name_is_used_by_name(home: Path, good: tuple[U8, Calibration]) -> None:
    path = camera_file("hall one")
    path.parent.mkdir(parents=True)
    good[1].save(path)
    assert path.is_relative_to(home) and saved_cameras() == ["hall-one"]
    assert load_calibration(Path("hall-one")).residual_mm == 1.0


def test_a_file_of_that_name_comes_first(
    home: Path, good: tuple[U8, Calibration], monkeypatch: pytest.MonkeyPatch
) -> None:
    cameras_folder().mkdir(parents=True)
    camera_file("hall").write_text("{}")
    monkeypatch.chdir(home)
    good[1].save(home / "hall")
    assert load_calibration(Path("hall")).residual_px == pytest.approx(0.3)


def test_a_name_that_nothing_was_saved_under(home: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        load_calibration(Path("nowhere"))


@pytest.mark.parametrize("name", ["../evil", "a/b", ".hidden", "x" * 60, "", "a\\b"])
def test_a_name_is_never_a_path(home: Path, name: str) -> None:
    with pytest.raises(InputError, match="no name"):
        camera_file(name)
