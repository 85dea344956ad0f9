"""The detector on rendered test scenes and on the real labelled sets, each apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.find import calibrate_image
from vision_referee.calibration.tables import load_table
from vision_referee.detection.backends import Backend
from vision_referee.detection.detector import BallDetector, DetectorSettings, PixelDetector
from vision_referee.detection.refine import fit_outlines
from vision_referee.detection.region import Region
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec
from vision_referee.training.detection_scores import Tally
from vision_referee.training.labelled_sets import Labelled, club_pictures, first_last_frames, overhead_pictures
from vision_referee.training.render_set import rendered_scene
from vision_referee.training.scenes import SPLITS
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_LOW = DetectorSettings(threshold=0.05, moving_pixels=960 * 544, fine_pixels=1280 * 736)
_FULL = 0.95
"""A ball of which so much is seen is fit to judge centres by."""


def score_rendered(backend: Backend, seeds: int, report: Callable[[str], None] | None = None) -> Tally:
    """Windows of ``seeds`` test seeds, as the network sees them: balls 8 to 56 px wide."""
    tally = Tally(name="rendered test")
    detector = PixelDetector(backend, settings=_LOW)
    for seed in range(seeds):
        scene = rendered_scene(seed, SPLITS["test"])
        for sample in scene.samples:
            side = sample.pixels.shape[0] // 32 * 32
            pixels = np.ascontiguousarray(sample.pixels[:side, :side])
            boxes, scores = detector.boxes(pixels, Region(x0=0, y0=0, x1=side, y1=side, scale=1.0))
            inside = np.all((sample.boxes[:, :2] > -1) & (sample.boxes[:, 2:4] < side + 1), axis=1)
            seen = (sample.boxes[:, 4] >= 0.5) & inside
            pairs = tally.add(boxes, scores, sample.boxes[seen, :4], ignored=sample.boxes[~seen, :4])
            if not pairs:
                continue
            truth = np.flatnonzero(seen)[[k for _, k in pairs]]
            middle = (boxes[[i for i, _ in pairs], :2] + boxes[[i for i, _ in pairs], 2:]) / 2
            templates = sample.outlines_px[truth] - sample.centres_px[truth][:, None]
            start = middle - (templates.max(axis=1) + templates.min(axis=1)) / 2
            fit = fit_outlines(pixels, start, templates)
            still = (sample.moving_px[truth] < 1) & (sample.boxes[truth, 4] > _FULL)
            error = np.linalg.norm(fit.centre_px - sample.centres_px[truth], axis=1)[still]
            tally.error_px += error.tolist()
            tally.error_width_px += sample.ball_px[truth][still].tolist()
        if report and seed % 20 == 19:
            report(f"{seed + 1} of {seeds} rendered scenes")
    return tally


def score_boxes(backend: Backend, name: str, pictures: list[Labelled], *, pixels: int) -> tuple[Tally, Tally]:
    """A set with boxes: in pixels alone, and with boxes off the table dropped where the table is found."""
    plain, on_table = Tally(name=name), Tally(name=f"{name}, on the table")
    whole = PixelDetector(backend, settings=_LOW)
    for picture in pictures:
        wanted = picture.boxes if picture.boxes is not None else np.zeros((0, 4))
        seen = whole.detect(picture.pixels, pixels=pixels)
        pairs = plain.add(seen.boxes_px, seen.confidence, wanted)
        for i, k in pairs:
            middle = (wanted[k, :2] + wanted[k, 2:]) / 2
            plain.error_px.append(float(np.linalg.norm(seen.xy_px[i] - middle)))
            plain.error_width_px.append(float(wanted[k, 2] - wanted[k, 0]))
        calibration = _calibrated(picture.pixels, None)
        if calibration is None:
            on_table.add(seen.boxes_px, seen.confidence, wanted)
            continue
        found = _twice(calibration, backend, picture.pixels)
        boxes = found.boxes_px if found.boxes_px is not None else np.zeros((0, 4))
        for i, k in on_table.add(boxes, found.confidence, wanted):
            middle = (wanted[k, :2] + wanted[k, 2:]) / 2
            on_table.error_px.append(float(np.linalg.norm(found.xy_px[i] - middle)))
            on_table.error_width_px.append(float(wanted[k, 2] - wanted[k, 0]))
    return plain, on_table


def score_overhead(backend: Backend, real: Path, name: str) -> Tally:
    """An overhead set with centres in pixels and mm; its table is 1881 x 943 mm, balls 52.3 mm."""
    tally = Tally(name=name)
    table = replace(
        load_table("pool-7ft"), name="overhead-set", length_mm=1881.0, width_mm=943.0, ball_diameter_mm=52.3
    )  # fmt: skip
    for picture in overhead_pictures(real, name):
        calibration = _calibrated(picture.pixels, table)
        if calibration is None or picture.centres_px is None or picture.centres_mm is None:
            continue
        found = _twice(calibration, backend, picture.pixels)
        keep = found.confidence >= 0.05
        xy_px, wanted = found.xy_px[keep], picture.centres_px
        mm = _in_set_frame(calibration, found.xy_mm[keep], table)
        width = float(2 * np.median(found.r_px)) if len(found) else 20.0
        tally.add_centres(xy_px, found.confidence[keep], wanted, width_px=width, mm=(mm, picture.centres_mm))
    return tally


def score_real(backend: Backend, real: Path, *, club_every: int = 4) -> list[Tally]:
    """All real labelled sets, each apart."""
    out: list[Tally] = []
    out += score_boxes(backend, "first and last frames", list(first_last_frames(real)), pixels=1024 * 576)
    out += score_boxes(backend, "club (snooker)", list(club_pictures(real, every=club_every)), pixels=1280 * 736)
    out += [score_overhead(backend, real, name) for name in ("halo_2", "without_halo")]
    return out


def _calibrated(pixels: U8, table: TableSpec | None) -> Calibration | None:
    try:
        return calibrate_image(pixels, table=table)
    except CalibrationError:
        return None


def _twice(calibration: Calibration, backend: Backend, pixels: U8):  # type: ignore[no-untyped-def]
    """Detections at the second look: the first one learns the balls' size, as in a video."""
    detector = BallDetector(calibration, backend=backend, settings=_LOW)
    frame = Frame(index=0, t_s=0.0, picture=pixels)
    detector.detect(frame, fine=True)
    return detector.detect(frame, fine=True)


def _in_set_frame(calibration: Calibration, xy_mm: F64, table: TableSpec) -> F64:
    """Table frame to the set's: from the middle, x to the picture's right, y up the picture."""
    centred = xy_mm - (table.length_mm / 2, table.width_mm / 2)
    ends = calibration.camera.project_plane([[0, table.width_mm / 2], [table.length_mm, table.width_mm / 2]], 0.0)
    return centred if ends[1, 0] > ends[0, 0] else -centred


def draw_misses(picture: U8, boxes: F64, wanted: F64) -> U8:
    """A picture with what was wanted (green) and what was found (red), for looking at failures."""
    out = picture.copy()
    for colour, rows in (((0, 255, 0), wanted), ((0, 0, 255), boxes)):
        for x0, y0, x1, y1 in np.round(rows).astype(int):
            cv2.rectangle(out, (int(x0), int(y0)), (int(x1), int(y1)), colour, 1)
    return out
