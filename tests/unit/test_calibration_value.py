"""A calibration as a value: stored and read back, turned, asked for accuracy; the table named by its balls."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from drawn_table import camera_over

from vision_referee.calibration.calibration import Calibration, load_calibration, side_of_head
from vision_referee.calibration.pose import table_corners
from vision_referee.calibration.recognition import recognise_table
from vision_referee.calibration.tables import load_table, table_names
from vision_referee.calibration.uncertainty import changed, covariance_from_points
from vision_referee.domain.errors import InputError
from vision_referee.resources import data_folder


def made(table_name: str = "pyramid-12ft", elevation: float = 60.0, mouth: float | None = None) -> Calibration:
    table = load_table(table_name)
    camera = camera_over(table, elevation_deg=elevation, k1=-0.05)
    corners = camera.project(table_corners(table, 0.0, table.nose_height_mm))
    return Calibration(
        table=table, camera=camera, residual_mm=1.0, residual_px=0.3, corners_px=corners,
        head_side=side_of_head(corners), mouth_mm=mouth,
    )  # fmt: skip


def test_read_back_it_maps_the_same(tmp_path: Path) -> None:
    before = made()
    before.save(tmp_path / "c.json")
    after = load_calibration(tmp_path / "c.json")
    px = np.array([[300.0, 200.0], [900.0, 500.0]])
    assert np.allclose(after.balls_mm(px), before.balls_mm(px), atol=1e-6)
    assert after.table == before.table


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 99}', '{"format": 1, "table": {"name": "x"}}'])
def test_a_file_that_is_no_calibration_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_calibration(path)
    assert "bad.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_or_a_camera_under_the_cloth_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load_calibration(tmp_path / "none.json")
    data = made().to_json()
    data["camera"]["tvec"] = [0.0, 0.0, float("nan")]
    (tmp_path / "nan.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match="not a usable calibration"):
        load_calibration(tmp_path / "nan.json")


def test_turning_exchanges_head_and_foot_and_nothing_else() -> None:
    one = made()
    two = one.turned()
    places = np.array([[200.0, 300.0], [3000.0, 1500.0]])
    mirrored = np.array([[3350.0, 1475.0], [550.0, 275.0]])
    assert np.allclose(one.camera.project_plane(places, 34.0), two.camera.project_plane(mirrored, 34.0), atol=1e-6)
    assert np.allclose(two.turned().corners_px, one.corners_px)
    assert {one.head_side, two.head_side} == {"left", "right"}
    with pytest.raises(InputError):
        one.with_head("middle")


def test_the_far_side_is_known_less_well() -> None:
    calibration = made(elevation=25.0)
    near, far = calibration.sigma_mm([[1775.0, 100.0], [1775.0, 1675.0]])
    assert far > near > 0
    covariance = calibration.covariance_mm2([[1775.0, 1675.0]])[0]
    assert covariance[1, 1] > covariance[0, 0]
    assert calibration.mm_per_px([[1775.0, 1675.0]])[0] >= 2 * far * 0.99


def test_the_error_of_a_camera_is_told_by_place_and_kept_whichever_end_is_the_head(tmp_path: Path) -> None:
    plain = made(elevation=35.0)
    assert np.isnan(plain.error_mm([[100.0, 100.0]])).all()
    table = plain.table
    noses = table_corners(table, 0.0, table.nose_height_mm)
    rough = covariance_from_points(plain.camera, noses, 2.0, 0.5, 0.15)
    one = replace(plain, camera_covariance=rough)
    near, far = one.error_mm([[1775.0, 100.0], [1775.0, 1675.0]])
    assert far > near > 1.0
    # Redrawn a hundred times with corners two pixels off, places scatter as much as was said.
    rng = np.random.default_rng(5)
    there = plain.camera.project_plane([[1775.0, 1675.0]], table.ball_radius_mm)
    sides = np.linalg.cholesky(rough + 1e-12 * np.diag(np.diag(rough)))
    off = [
        changed(plain.camera, sides @ rng.normal(size=8)).unproject(there, table.ball_radius_mm) - [1775.0, 1675.0]
        for _ in range(100)
    ]
    assert float(np.sqrt((np.array(off) ** 2).sum(axis=2).mean())) == pytest.approx(far, rel=0.3)
    assert np.allclose(one.turned().error_mm([[1775.0, 1675.0]]), one.error_mm([[1775.0, 100.0]]), rtol=1e-3)
    one.save(tmp_path / "c.json")
    assert load_calibration(tmp_path / "c.json").expected_error_mm == pytest.approx(one.expected_error_mm)


def test_areas_nest() -> None:
    calibration = made()
    cloth, surface, rails = (
        int((calibration.mask(m) > 0).sum()) for m in (-50.0, 0.0, calibration.table.rail_width_mm)
    )
    assert cloth < surface < rails
    assert len(calibration.cloth_px()) == len(calibration.surface_px()) == len(calibration.rail_px())


def boxes(centres_px: npt.NDArray[np.float64], r_px: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What a detector would draw round balls."""
    return np.hstack([centres_px - r_px[:, None], centres_px + r_px[:, None]])


@pytest.mark.parametrize(
    "name", ["pyramid-12ft", "pyramid-10ft", "pyramid-7ft", "pool-9ft", "pool-7ft", "snooker-12ft"]
)
def test_the_table_is_named_by_its_balls_and_mouths(name: str) -> None:
    true = load_table(name)
    calibration = made()
    scale = calibration.table.length_mm / true.length_mm
    rng = np.random.default_rng(4)
    places = rng.uniform([200, 200], [3350, 1575], (15, 2))
    radius = true.ball_radius_mm * scale
    px = calibration.camera.project_plane(places, radius)
    r_px = calibration.camera.ball_radius_px(places, radius) * rng.normal(1.02, 0.02, 15)
    mouth = true.middle_mouth_mm * scale * 1.05
    table, reason = recognise_table(made(mouth=mouth), boxes(px, r_px))
    assert table.name == name
    assert name in reason
    assert name in table_names()


def test_in_doubt_it_is_the_12_ft_pyramid_table_and_says_so() -> None:
    calibration = made()
    assert recognise_table(calibration, np.zeros((0, 4)))[0].name == "pyramid-12ft"
    places = np.array([[500.0, 500.0], [1500.0, 900.0], [2500.0, 1200.0], [3000.0, 400.0]])
    between = 1.015 * (0.65 * 68 / 3200 + 0.35 * 68 / 3550) * 3550 / 2
    camera = calibration.camera
    table, reason = recognise_table(
        calibration, boxes(camera.project_plane(places, between), camera.ball_radius_px(places, between))
    )
    assert table.name == "pyramid-12ft"
    assert "in doubt" in reason


@pytest.mark.parametrize("sightings", [3, 9])
def test_one_ball_seen_a_few_times_rules_the_12_ft_table_out(sightings: int) -> None:
    calibration = made(mouth=0.05 * 3550)
    camera, radius = calibration.camera, 52.3 / 1881 * 3550 / 2
    places = np.array([[1200.0 + 40 * k, 700.0] for k in range(sightings)])
    r_px = 1.06 * camera.ball_radius_px(places, radius)
    table, reason = recognise_table(calibration, boxes(camera.project_plane(places, radius), r_px))
    assert table.length_mm / table.ball_diameter_mm == pytest.approx(36, rel=0.1)
    assert "in doubt" in reason


def test_the_example_cameras_can_be_loaded() -> None:
    files = sorted((data_folder("calibration") / "cameras").glob("*.json"))
    assert len(files) >= 3
    for path in files:
        assert load_calibration(path).elevation_deg > 10
