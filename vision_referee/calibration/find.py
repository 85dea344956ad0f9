"""Table and camera from pictures, without clicks: ``calibrate_image``, ``calibrate_frames``, ``calibrate_corners``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.bow import straight_picture
from vision_referee.calibration.calibration import Calibration, side_of_head
from vision_referee.calibration.camera import Camera
from vision_referee.calibration.choose import Found, chosen_reading
from vision_referee.calibration.cushion_shape import usual_cushions
from vision_referee.calibration.hints import view_hints
from vision_referee.calibration.joint_fit import K1_SPREAD
from vision_referee.calibration.mouths import middle_mouth_mm
from vision_referee.calibration.pose import FOCAL_SPREAD, pose_from_corners, table_corners
from vision_referee.calibration.refine import Refined, refine
from vision_referee.calibration.search import lens_bow, search_readings
from vision_referee.calibration.strips import smooth_lab
from vision_referee.calibration.tables import load_table
from vision_referee.calibration.uncertainty import change_covariance, covariance_from_points
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

DEFAULT_TABLE = "pyramid-12ft"
_SEARCH_WIDTH = 1280
_LEAST_MARKED = 0.01  # of the picture, that marked corners enclose
_MARKED_PX = 2.0
"""How well a person marks a corner, one standard deviation."""
_LEAST_ELEVATION_DEG = 8.0
_LARGEST_RESIDUAL_PX = 3.0
_LARGEST_ERROR_BALLS = 1.0
"""Diameters of a ball: where its place is not even known to so much, what was read need not be a table at all."""
_NOT_TRUSTED = "no table in view that can be trusted; mark the corners of the playing surface"
_LEAST_CONFIDENCE = 0.28
"""Below it are coloured rectangles that are no tables; tables known by their rails alone are at 0.3 and more."""


def calibrate_image(
    bgr: U8,
    *,
    table: TableSpec | None = None,
    head: str | None = None,
    corners_px: npt.ArrayLike | None = None,
    table_reason: str | None = None,
) -> Calibration:
    """Finds the table and the camera in one picture (h, w, 3) BGR.

    ``table`` None takes the 12 ft pyramid table (:func:`recognise_table` may name a better one later). ``head`` is the
    picture's side at which the head cushion lies; unknown, it is the left end of a table that lies across the picture
    and the far (upper) end of one that lies along it. ``corners_px`` (4, 2), in any order, are corners that a person
    marked: then only the edges close to them are used.

    Raises:
        CalibrationError: no table in view, or none that can be trusted; the message says why.
    """
    spec = table or load_table(DEFAULT_TABLE)
    reason = table_reason or ("given" if table is not None else f"not known yet: {DEFAULT_TABLE} taken")
    if bgr.ndim != 3 or min(bgr.shape[:2]) < 120:
        raise CalibrationError(f"the picture is too small to calibrate on ({bgr.shape[1]}x{bgr.shape[0]} pixels)")
    if corners_px is not None:
        return calibrate_corners(
            bgr, corners_px, table=spec, head=head, table_reason=reason, size_known=table is not None
        )
    shape = usual_cushions(spec, size_known=table is not None)
    scale = min(1.0, _SEARCH_WIDTH / bgr.shape[1])
    small = bgr if scale == 1.0 else _resized(bgr, scale)
    bow = lens_bow(small)
    fits, pixel = search_readings(small if bow == 0.0 else straight_picture(small, bow), spec, shape)
    found = chosen_reading(bgr, small, fits, spec, shape, scale, pixel, bow)
    return _assemble(bgr, found, spec, reason, head, "edges")


def calibrate_frames(
    frames: Sequence[U8],
    *,
    table: TableSpec | None = None,
    head: str | None = None,
    corners_px: npt.ArrayLike | None = None,
    table_reason: str | None = None,
) -> Calibration:
    """Finds the table in several frames of one camera: their median, in which whoever moves has gone.

    When the camera itself moved, or the median shows no table (a cut), the first frame that shows one is used.

    Raises:
        CalibrationError: no frame shows a table that can be trusted.
    """
    if not frames:
        raise CalibrationError("no frames to calibrate on")
    chosen = [frames[i] for i in np.unique(np.linspace(0, len(frames) - 1, min(len(frames), 15)).astype(int))]
    failure: CalibrationError | None = None
    tries = [chosen[0], chosen[len(chosen) // 2], chosen[-1]]
    if len(chosen) > 2 and not camera_moved(chosen):
        tries.insert(0, np.median(np.stack(chosen), axis=0).astype(np.uint8))
    for picture in tries:
        try:
            return calibrate_image(picture, table=table, head=head, corners_px=corners_px, table_reason=table_reason)
        except CalibrationError as error:
            failure = failure or error
    assert failure is not None
    raise failure


def camera_moved(frames: Sequence[U8], limit_px: float = 1.2) -> bool:
    """Whether the picture as a whole shifted between the first frame and most others.

    Phase correlation in a grid of tiles: people move some tiles, a camera moves them all.
    """
    first: list[F32] = []
    window: F32 | None = None
    moved = []
    for frame in frames:
        scale = min(1.0, 640 / frame.shape[1])
        grey = cv2.cvtColor(_resized(frame, scale) if scale < 1 else frame, cv2.COLOR_BGR2GRAY).astype(np.float32)
        texture = grey - cv2.GaussianBlur(grey, (0, 0), 6)
        high, wide = texture.shape[0] // 3, texture.shape[1] // 4
        tiles = [
            np.ascontiguousarray(texture[r * high : (r + 1) * high, c * wide : (c + 1) * wide], np.float32)
            for r in range(3)
            for c in range(4)
        ]
        if window is None or not first:
            window = np.asarray(cv2.createHanningWindow((wide, high), cv2.CV_32F), np.float32)
            first = tiles
            continue
        shifts = []
        for before, now in zip(first, tiles, strict=True):
            (dx, dy), response = cv2.phaseCorrelate(before, now, window)
            if response > 0.1:
                shifts.append((dx, dy))
        if len(shifts) >= 4:
            moved.append(float(np.hypot(*np.median(np.array(shifts), axis=0))) / scale)
    return len(moved) > 0 and float(np.quantile(moved, 0.7)) > limit_px


def calibrate_corners(
    bgr: U8, corners_px: npt.ArrayLike, *, table: TableSpec, head: str | None = None, table_reason: str = "given",
    size_known: bool = True,
) -> Calibration:  # fmt: skip
    """A calibration from four corners of the playing surface (where the noses' lines meet) that a person marked.

    The corners may come in any order. The edges close by sharpen them, unless they disagree by more than a few pixels.

    Raises:
        CalibrationError: the four points are no view of a 2:1 table.
    """
    points = np.asarray(corners_px, np.float64).reshape(-1, 2)
    if points.shape != (4, 2) or not np.isfinite(points).all():
        raise CalibrationError("four corners are needed, each as x,y in pixels")
    clockwise = _clockwise(points)
    height, width = bgr.shape[:2]
    if not _spread_out(clockwise, width * height):
        raise CalibrationError("the four corners are no view of a table twice as long as wide; mark them again")
    pixel = max(1.0, width / 1000)
    poses = []
    for turn in (0, 1):
        pose = pose_from_corners(
            table_corners(table, 0.0, table.nose_height_mm), np.roll(clockwise, -turn, axis=0), (width, height),
            3 * pixel,
        )  # fmt: skip
        if pose is not None:
            poses.append((pose.cost, turn, pose))
    if not poses or min(poses, key=lambda p: p[0])[0] > 120:
        raise CalibrationError("the four corners are no view of a table twice as long as wide; mark them again")
    _, turn, pose = min(poses, key=lambda p: p[0])
    camera = pose.camera((width, height))
    lab = smooth_lab(bgr, 0.7 * pixel)
    shape = usual_cushions(table, size_known=size_known)
    refined = refine(lab, camera, table, shape, shape.breadth_mm, shape.rise_mm, pixel)
    marked = np.roll(clockwise, -turn, axis=0)
    if refined is not None:
        moved = np.linalg.norm(refined.camera.project(table_corners(table, 0.0, table.nose_height_mm)) - marked, axis=1)
        if moved.max() < 8 * pixel and refined.residual_px < 1.5 * pixel:
            assert refined.fit is not None
            own = change_covariance(refined.camera, refined.fit.covariance, refined.fit.reach_mm)
            return _calibration(bgr, refined, table, table_reason, head, "marked corners, edges", 0.9, None, own)
    off = camera.project(table_corners(table, 0.0, table.nose_height_mm)) - marked
    plain = Refined(
        camera=camera, breadth_mm=shape.breadth_mm, rise_mm=shape.rise_mm,
        residual_px=float(np.sqrt((off**2).sum(axis=1).mean())),
        residual_mm=_mm_of(camera, table, float(np.sqrt((off**2).sum(axis=1).mean()))),
        noses_seen=(0, 0, 0, 0), rails_seen=(0, 0, 0, 0),
    )  # fmt: skip
    loose = covariance_from_points(
        camera, table_corners(table, 0.0, table.nose_height_mm), _MARKED_PX * pixel, FOCAL_SPREAD, K1_SPREAD
    )
    return _calibration(bgr, plain, table, table_reason, head, "marked corners", 0.7, None, loose)


def _spread_out(corners_px: F64, picture_px2: float) -> bool:
    """Whether four points in turn enclose a convex piece of at least a hundredth of the picture."""
    edges = np.roll(corners_px, -1, axis=0) - corners_px
    after = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0]
    x, y = corners_px.T
    area = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
    return bool((turns > 0).all() or (turns < 0).all()) and area >= _LEAST_MARKED * picture_px2


def _resized(bgr: U8, scale: float) -> U8:
    size = (round(bgr.shape[1] * scale), round(bgr.shape[0] * scale))
    return cv2.resize(bgr, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def _clockwise(points: F64) -> F64:
    """Four points in clockwise order in the picture (y down)."""
    centre = points.mean(axis=0)
    angle = np.arctan2(points[:, 1] - centre[1], points[:, 0] - centre[0])
    return np.asarray(points[np.argsort(angle)], np.float64)


def _mm_of(camera: Camera, table: TableSpec, pixels: float) -> float:
    jacobian = camera.px_per_mm([[table.length_mm / 2, table.width_mm / 2]], 0.0)[0]
    return pixels / float(np.sqrt(abs(np.linalg.det(jacobian))))


def _assemble(bgr: U8, found: Found, table: TableSpec, reason: str, head: str | None, method: str) -> Calibration:
    fit, refined = found.fit, found.refined
    pixel = max(1.0, bgr.shape[1] / 1000)
    _refuse_doubtful(refined, table, pixel)
    seen = sum(min(1.0, n / 0.6) for n in refined.noses_seen) / 4
    sharp = float(np.exp(-((refined.residual_px / (1.5 * pixel)) ** 2)))
    confidence = float(np.clip(0.25 + 0.15 * min(fit.score, 4.0) + 0.15 * seen, 0.0, 0.99)) * (0.6 + 0.4 * sharp)
    if max(refined.noses_seen) < 0.1:
        confidence *= 0.5  # the rails alone: the noses are where cushions usually have them
    mouth = middle_mouth_mm(smooth_lab(bgr, 0.7 * pixel), refined.camera, table, refined.breadth_mm)
    if confidence < _LEAST_CONFIDENCE:
        raise CalibrationError(_NOT_TRUSTED)
    made = _calibration(bgr, refined, table, reason, head, method, confidence, mouth, found.covariance)
    if made.expected_error_mm > _LARGEST_ERROR_BALLS * table.ball_diameter_mm:
        raise CalibrationError(_NOT_TRUSTED)
    return made


def _refuse_doubtful(refined: Refined, table: TableSpec, pixel: float) -> None:
    camera = refined.camera
    eye = camera.position_mm
    flat = float(np.hypot(eye[0] - table.length_mm / 2, eye[1] - table.width_mm / 2))
    if eye[2] < table.nose_height_mm or np.degrees(np.arctan2(eye[2], flat)) < _LEAST_ELEVATION_DEG:
        raise CalibrationError("the camera looks too flat over the cloth (under 8 degrees); raise it")
    if refined.residual_px > _LARGEST_RESIDUAL_PX * pixel:
        raise CalibrationError(
            f"the cushions found do not fit a 2:1 table (residual {refined.residual_px:.1f} px); mark the corners"
        )
    lines = sum(max(n, r) > 0.15 for n, r in zip(refined.noses_seen, refined.rails_seen, strict=True))
    if lines < 3:
        raise CalibrationError("too few of the cushions can be seen; move people away or mark the corners")


def _calibration(
    bgr: U8, refined: Refined, table: TableSpec, reason: str, head: str | None, method: str, confidence: float,
    mouth_mm: float | None, covariance: F64 | None,
) -> Calibration:  # fmt: skip
    corners = refined.camera.project(table_corners(table, 0.0, table.nose_height_mm))
    made = Calibration(
        table=table, camera=refined.camera, residual_mm=refined.residual_mm, residual_px=refined.residual_px,
        corners_px=corners, head_side=side_of_head(corners), head_known=False, table_reason=reason, method=method,
        confidence=confidence, cushion_top_mm=refined.breadth_mm, rail_rise_mm=refined.rise_mm, mouth_mm=mouth_mm,
        camera_covariance=covariance,
    )  # fmt: skip
    if covariance is not None:
        # A ball's radius off is as good as not calibrated.
        doubt = made.expected_error_mm / table.ball_radius_mm
        made = replace(made, confidence=confidence * float(np.exp(-(doubt**2) / 2)))
    made = with_default_head(made) if head is None else made.with_head(head)
    return replace(made, hints=tuple(view_hints(bgr, made)))


def with_default_head(calibration: Calibration) -> Calibration:
    """Where nothing tells: the head is the left end of a table that lies across the picture, else the upper end."""
    usual = calibration if calibration.head_side in ("left", "top") else calibration.turned()
    return replace(usual, head_known=False)
