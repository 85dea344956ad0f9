"""The position in a still picture, as the ``detect`` command gives it: one plain dictionary a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.backends import Backend
from vision_referee.detection.detections import Detections
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.pixel_detector import PixelDetector
from vision_referee.detection.settings import DetectorSettings
from vision_referee.domain.balls import CUE
from vision_referee.domain.errors import InputError
from vision_referee.video.frames import Frame

U8 = npt.NDArray[np.uint8]

LEAST_CONFIDENCE = 0.3
"""A single picture has no later frames to put an invention right, so it asks for more than a video does."""
_SURE_CUE = 0.6
_SURE_NUMBER = 0.8


def read_picture(path: Path) -> U8:
    """(h, w, 3) BGR pixels of an image file. Raises InputError when it is missing or is no picture."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; give a picture (PNG, JPEG, …)")
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    pixels = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    if pixels is None:
        raise InputError(f"{path}: not a picture that can be read; give a PNG or JPEG")
    return np.asarray(pixels, np.uint8)


def position(bgr: U8, calibration: Calibration | None, backend: Backend) -> dict[str, Any]:
    """``corners_px``, ``residual_mm`` and ``balls`` of a picture; mm are null where there is no calibration."""
    if calibration is None:
        seen = PixelDetector(backend).detect(Frame.still(bgr))
        keep = np.nonzero(seen.confidence >= LEAST_CONFIDENCE)[0]
        rows = [
            _row(seen.xy_px[i], seen.r_px[i], None, f"u{k + 1}", seen.confidence[i])
            for k, i in enumerate(keep.tolist())
        ]
        return {"corners_px": None, "residual_mm": None, "balls": rows}
    height, width = bgr.shape[:2]
    if (width, height) != tuple(calibration.camera.size_px):
        wanted = "x".join(str(v) for v in calibration.camera.size_px)
        raise InputError(f"a picture of {width}x{height} does not fit a calibration made for {wanted}; calibrate again")
    detector = BallDetector(calibration, backend=backend, settings=DetectorSettings(read_all=True, occluders=False))
    frame = Frame.still(bgr)
    detector.detect(frame, fine=True)  # the first look learns the balls' size and colours
    found = detector.detect(frame, fine=True)
    labels = labels_of(found)
    rows = [
        _row(found.xy_px[i], found.r_px[i], found.xy_mm[i], label, found.confidence[i])
        for i, label in enumerate(labels)
        if found.confidence[i] >= LEAST_CONFIDENCE
    ]
    corners = np.round(calibration.corners_px, 2).tolist()
    return {"corners_px": corners, "residual_mm": round(calibration.residual_mm, 3), "balls": rows}


def labels_of(found: Detections) -> list[str]:
    """A label for each ball of one picture: the cue ball and numbers that are sure and unlike any other's, else u1…"""
    labels = [""] * len(found)
    for column in range(16):
        p = found.number_p[:, column]
        order = np.argsort(-p)
        sure = _SURE_CUE if column == 0 else _SURE_NUMBER
        rival = p[order[1]] if len(order) > 1 else 0.0
        if len(order) and p[order[0]] >= sure and rival < 0.5 * p[order[0]] and not labels[order[0]]:
            labels[order[0]] = CUE if column == 0 else str(column)
    unknown = iter(range(1, len(found) + 1))
    return [label or f"u{next(unknown)}" for label in labels]


def _row(xy_px: Any, r_px: float, xy_mm: Any, ball: str, confidence: float) -> dict[str, Any]:
    return {
        "x_px": round(float(xy_px[0]), 2),
        "y_px": round(float(xy_px[1]), 2),
        "r_px": round(float(r_px), 2),
        "x": None if xy_mm is None else round(float(xy_mm[0]), 1),
        "y": None if xy_mm is None else round(float(xy_mm[1]), 1),
        "ball": ball,
        "confidence": round(float(confidence), 3),
    }
