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
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.pixel_detector import PixelDetector
from vision_referee.detection.refine import fit_outlines
from vision_referee.detection.region import Region
from vision_referee.detection.settings import DetectorSettings
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec
from vision_referee.training.detection_scores import Tally, iou
from vision_referee.training.labelled_sets import Labelled, club_pictures, first_last_frames, overhead_pictures
from vision_referee.training.render_set import Sample, rendered_scene
from vision_referee.training.scenes import SPLITS
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]

_LOW = DetectorSettings(threshold=0.05, moving_pixels=960 * 544, fine_pixels=1280 * 736)
_FULL = 0.95
"""A ball of which so much is seen is fit to judge centres by."""
_KINDS = (", plain balls", ", half hidden", ", streaks")
_COVERED, _STREAK, _PLAIN_CONTRAST = 0.8, 0.5, 12.0
_VIEWS = ((", below 35 degrees", 0.0, 35.0), (", 35 to 70 degrees", 35.0, 70.0), (", from above", 70.0, 91.0))


def score_rendered(
    backend: Backend, seeds: int, report: Callable[[str], None] | None = None, *, split: str = "test"
) -> list[Tally]:
    """Windows of ``seeds`` seeds, as the network sees them: balls 8 to 56 px wide.

    All balls of which half or more is seen; then, each apart, plain ones (seen whole or nearly so, no streak, not of
    the cloth's colour), those with something over them, streaks; and all by the height of the camera.
    """
    tallies = {name: Tally(name=f"rendered {split}{name}") for name in ("", *_KINDS, *(name for name, _, _ in _VIEWS))}
    detector = PixelDetector(backend, settings=_LOW)
    for seed in range(seeds):
        scene = rendered_scene(seed, SPLITS[split])
        view = next(name for name, low, high in _VIEWS if low <= scene.elevation_deg < high)
        for sample in scene.samples:
            side = sample.pixels.shape[0] // 32 * 32
            frame = Frame.still(np.ascontiguousarray(sample.pixels[:side, :side]))
            boxes, raw = detector.boxes(frame, Region(x0=0, y0=0, x1=side, y1=side, scale=1.0))
            scores = detector.reliability.of(raw)
            inside = np.all((sample.boxes[:, :2] > -1) & (sample.boxes[:, 2:4] < side + 1), axis=1)
            seen = (sample.boxes[:, 4] >= 0.5) & inside
            kind = _kinds(sample)
            for name in ("", view):
                pairs = tallies[name].add(boxes, scores, sample.boxes[seen, :4], ignored=sample.boxes[~seen, :4])
            for k, name in enumerate(_KINDS):
                asked = seen & (kind == k)
                # Inventions are held against the plain balls; of the others only those at such a ball are looked at.
                here = np.full(len(boxes), k == 0) | (iou(boxes, sample.boxes[asked, :4]).max(axis=1, initial=0) > 0.3)
                tallies[name].add(boxes[here], scores[here], sample.boxes[asked, :4], ignored=sample.boxes[~asked, :4])
            truth = np.flatnonzero(seen)[[k for _, k in pairs]]
            if len(truth):
                found = boxes[[i for i, _ in pairs]]
                for name in ("", view):
                    _add_centre_errors(tallies[name], frame, found, sample, truth)
        if report and seed % 20 == 19:
            report(f"{seed + 1} of {seeds} rendered scenes")
    return [tally for tally in tallies.values() if tally.wanted_px]


def _kinds(sample: Sample) -> npt.NDArray[np.int64]:
    """(n,) index into _KINDS; a ball of nearly the cloth's colour is of none (-1)."""
    streak = sample.moving_px > _STREAK * sample.ball_px
    covered = sample.boxes[:, 4] < _COVERED
    lab = np.asarray(cv2.cvtColor((sample.pixels / 255).astype(np.float32), cv2.COLOR_BGR2Lab), np.float32)
    contrast = np.array([_contrast(lab, outline) for outline in sample.outlines_px])
    return np.select([streak, covered, contrast > _PLAIN_CONTRAST], [2, 1, 0], -1)


def _contrast(lab: F32, outline_px: F64) -> float:
    """Distance in CIELAB between a disc and the ring round it."""
    low, high = outline_px.min(axis=0), outline_px.max(axis=0)
    middle, radius = (low + high) / 2, float((high - low).mean()) / 2
    reach = 1.5 * radius
    x0, y0 = (max(0, int(v - reach)) for v in middle)
    x1, y1 = (int(v + reach) + 2 for v in middle)
    part = lab[y0:y1, x0:x1]
    yy, xx = np.mgrid[y0 : y0 + part.shape[0], x0 : x0 + part.shape[1]]
    away = np.hypot(xx - middle[0], yy - middle[1]) / radius
    disc, ring = part[away < 0.8], part[(away > 1.1) & (away < 1.5)]
    return float(np.linalg.norm(disc.mean(axis=0) - ring.mean(axis=0))) if len(disc) and len(ring) else 0.0


def _add_centre_errors(tally: Tally, frame: Frame, boxes: F64, sample: Sample, truth: npt.NDArray[np.intp]) -> None:
    """Errors of the refined centres of ``boxes`` (n, 4), which are the sample's balls ``truth`` (n,)."""
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    templates = sample.outlines_px[truth] - sample.centres_px[truth][:, None]
    fit = fit_outlines(frame, middle - (templates.max(axis=1) + templates.min(axis=1)) / 2, templates)
    still = (sample.moving_px[truth] < 1) & (sample.boxes[truth, 4] > _FULL)
    error = np.linalg.norm(fit.centre_px - sample.centres_px[truth], axis=1)[still]
    tally.error_px += error.tolist()
    tally.error_width_px += sample.ball_px[truth][still].tolist()


def score_boxes(backend: Backend, name: str, pictures: list[Labelled], *, pixels: int) -> tuple[Tally, Tally]:
    """A set with boxes: in pixels alone, and with boxes off the table dropped where the table is found."""
    plain, on_table = Tally(name=name), Tally(name=f"{name}, on the table")
    whole = PixelDetector(backend, settings=_LOW)
    for picture in pictures:
        wanted = picture.boxes if picture.boxes is not None else np.zeros((0, 4))
        seen = whole.detect(Frame.still(picture.pixels), pixels=pixels)
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
        xy_px, wanted = found.xy_px, picture.centres_px
        mm = _in_set_frame(calibration, found.xy_mm, table)
        width = float(2 * np.median(found.r_px)) if len(found) else 20.0
        tally.add_centres(xy_px, found.confidence, wanted, width_px=width, mm=(mm, picture.centres_mm))
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
    frame = Frame.still(pixels)
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
