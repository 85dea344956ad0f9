"""The detector's figures count what they say, and training scenes are the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vision_referee.detection.reliability import Reliability, read_reliability
from vision_referee.training.detection_scores import Tally, average_precision, iou
from vision_referee.training.reliability import fit_reliability


def test_a_perfect_detector_has_an_average_precision_of_one() -> None:
    assert average_precision(np.array([True, True]), np.array([0.9, 0.8]), 2) == pytest.approx(1.0)


def test_a_sure_invention_costs_more_than_an_unsure_one() -> None:
    sure = average_precision(np.array([False, True, True]), np.array([0.9, 0.8, 0.7]), 2)
    unsure = average_precision(np.array([True, True, False]), np.array([0.9, 0.8, 0.7]), 2)
    assert unsure == pytest.approx(1.0) and sure < 0.7


def test_half_of_the_balls_found_is_half_the_area() -> None:
    assert average_precision(np.array([True]), np.array([0.9]), 2) == pytest.approx(0.5)


def test_overlap_of_boxes() -> None:
    a = np.array([[0, 0, 10, 10]], float)
    assert iou(a, np.array([[0, 0, 10, 10], [5, 0, 15, 10], [20, 20, 30, 30]], float)) == pytest.approx(
        np.array([[1.0, 1 / 3, 0.0]])
    )


def test_two_boxes_on_one_ball_are_one_right_and_one_wrong() -> None:
    tally = Tally(name="t")
    tally.add(
        np.array([[0, 0, 10, 10], [1, 0, 11, 10]], float), np.array([0.9, 0.8]), np.array([[0, 0, 10, 10]], float)
    )
    figures = tally.figures(0.4)
    assert figures["precision"] == 0.5 and figures["recall"] == 1.0


def test_a_box_on_a_hardly_visible_ball_counts_neither_way() -> None:
    tally = Tally(name="t")
    tally.add(
        np.array([[0, 0, 10, 10]], float), np.array([0.9]), np.zeros((0, 4)), ignored=np.array([[1, 1, 11, 11]], float)
    )
    assert tally.right == []


def test_centres_are_matched_one_to_one_within_half_a_ball() -> None:
    tally = Tally(name="t")
    found, wanted = np.array([[10.0, 10], [60, 10], [200, 200]]), np.array([[11.0, 10], [64, 13]])
    tally.add_centres(found, np.array([0.9, 0.9, 0.9]), wanted, width_px=20.0)
    figures = tally.figures(0.4)
    assert figures["recall"] == 1.0
    assert figures["precision"] == pytest.approx(2 / 3, abs=1e-3)
    assert sorted(tally.error_px) == pytest.approx([1.0, 5.0])


def test_reliability_gives_the_part_that_was_right_by_confidence() -> None:
    tally = Tally(name="t", confidence=[0.95, 0.95, 0.15, 0.15], right=[True, True, True, False])
    assert tally.reliability() == [(0.15, 0.5, 2), (0.95, 1.0, 2)]


def test_a_training_scene_is_the_same_for_the_same_seed_and_its_boxes_hold_the_balls() -> None:
    pytest.importorskip("numba", reason="the renderer needs numba (extra 'train')")
    from vision_referee.training.render_set import rendered_scene
    from vision_referee.training.scenes import SPLITS

    first, again = (rendered_scene(3, SPLITS["train"], window_px=160) for _ in range(2))
    other = rendered_scene(3, SPLITS["val"], window_px=160)
    for a, b in zip(first.samples, again.samples, strict=True):
        assert np.array_equal(a.pixels, b.pixels) and np.array_equal(a.boxes, b.boxes)
    assert not np.array_equal(first.samples[0].pixels, other.samples[0].pixels)
    for sample in first.samples:
        inside = (sample.centres_px > sample.boxes[:, :2]) & (sample.centres_px < sample.boxes[:, 2:4])
        assert inside.all()


def test_a_crop_moves_its_boxes_with_its_pixels() -> None:
    import tempfile
    from pathlib import Path

    import cv2

    from vision_referee.training.crops import Picture, random_crop

    picture = np.full((432, 432, 3), (40, 110, 40), np.uint8)
    cv2.rectangle(picture, (200, 220), (229, 259), (255, 255, 255), -1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.png"
        cv2.imwrite(str(path), picture)
        labelled = Picture(image=path, boxes=np.array([[200.0, 220, 230, 260]]))
        for seed in range(25):
            made = random_crop(np.random.default_rng(seed), labelled)
            assert made is not None
            pixels, boxes = made
            assert pixels.shape == (352, 352, 3)
            if len(boxes) == 0:
                continue
            grey = pixels.astype(int).sum(axis=2)
            x0, y0, x1, y1 = np.round(boxes[0]).astype(int)
            inside = np.median(grey[y0 + 2 : y1 - 2, x0 + 2 : x1 - 2])
            rim = np.median(
                np.concatenate(
                    [grey[max(0, y0 - 4) : max(1, y0 - 1), x0:x1].ravel(), grey[y0:y1, x1 + 2 : x1 + 5].ravel()]
                )
            )
            assert inside > rim + 60


def test_scaled_confidences_are_right_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    raw = rng.uniform(0.02, 0.98, 20_000)
    odds = np.log(raw / (1 - raw))
    right = rng.random(len(raw)) < 1 / (1 + np.exp(-(2.1 * odds - 0.7)))
    fitted = fit_reliability(raw, right)
    said = fitted.of(raw)
    for low in (0.1, 0.3, 0.5, 0.7, 0.9):
        there = (said >= low) & (said < low + 0.1)
        assert right[there].mean() == pytest.approx(said[there].mean(), abs=0.05)


def test_the_scaling_in_a_models_record_is_what_its_backend_applies(tmp_path: Path) -> None:
    record = tmp_path / "ball_detector.json"
    record.write_text('{"name": "ball_detector", "reliability": {"slope": 2.0, "offset": -1.0}}')
    assert read_reliability(record) == Reliability(slope=2.0, offset=-1.0)
    assert read_reliability(record).of(np.array([0.5])) == pytest.approx(1 / (1 + np.e))
    assert read_reliability(tmp_path / "none.json").of(np.array([0.2, 0.9])) == pytest.approx([0.2, 0.9])


def test_reliability_cannot_be_fitted_where_nothing_was_wrong() -> None:
    with pytest.raises(ValueError, match="right and wrong"):
        fit_reliability(np.array([0.5, 0.9]), np.array([True, True]))
