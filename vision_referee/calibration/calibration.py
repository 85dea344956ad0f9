"""What a calibration is: a table, a camera over it, and how far both can be trusted. Stored as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.calibration.saved import calibration_path
from vision_referee.calibration.uncertainty import place_covariance_mm2
from vision_referee.domain.errors import InputError
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]

SIDES = ("top", "bottom", "left", "right")
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A table and the camera that sees it.

    ``corners_px`` (4, 2): where the cushion noses meet, head-right, head-left, foot-left, foot-right (clockwise in the
    picture). ``head_side`` is the side of the picture at which the head cushion lies; ``head_known`` says whether that
    was given or seen (True) or is only the default of :func:`default_head_side` (False). ``residual_px`` and
    ``residual_mm`` are root mean squares over the cushion-edge points that the fit kept. ``confidence`` 0..1.
    """

    table: TableSpec
    camera: Camera
    residual_mm: float
    residual_px: float
    corners_px: F64
    head_side: str | None = None
    head_known: bool = False
    table_reason: str = ""
    method: str = "edges"
    confidence: float = 1.0
    cushion_top_mm: float = 50.0
    """Breadth of the cloth-covered cushion top: nose to rail, as found (scaled with the table)."""
    rail_rise_mm: float = 0.0
    """How far the rail's inner edge stands above the nose, as found."""
    mouth_mm: float | None = None
    """Middle pockets' mouth as seen, None where it could not be measured."""
    hints: tuple[str, ...] = ()
    """What would make the view better, one plain sentence each."""
    camera_covariance: F64 | None = None
    """(8, 8), see :mod:`vision_referee.calibration.uncertainty`; None where nothing is known of the camera's error."""

    # --- areas of the picture -----------------------------------------------------------------------------------

    def outline_mm(self, margin_mm: float = 0.0, samples: int = 24) -> F64:
        """The playing surface's border, (4 * samples, 2), grown by ``margin_mm``, head-right corner first."""
        length, width, m = self.table.length_mm, self.table.width_mm, margin_mm
        corners = np.array([[-m, -m], [-m, width + m], [length + m, width + m], [length + m, -m]])
        steps = np.arange(samples)[:, None] / samples
        return np.vstack([a + (b - a) * steps for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])

    def surface_px(self, margin_mm: float = 0.0) -> F64:
        """Polygon (n, 2) of the playing surface in pixels, at the noses' height; follows the lens distortion."""
        return self.camera.project_plane(self.outline_mm(margin_mm), self.table.nose_height_mm)

    def cloth_px(self) -> F64:
        """Polygon (n, 2) of the cloth itself (height 0) inside the noses."""
        return self.camera.project_plane(self.outline_mm(), 0.0)

    def rail_px(self) -> F64:
        """Polygon (n, 2) of the rails' outer border."""
        return self.surface_px(self.table.rail_width_mm)

    def mask(self, margin_mm: float = 0.0) -> npt.NDArray[np.uint8]:
        """(h, w) uint8, 255 on the playing surface grown by ``margin_mm``."""
        width, height = self.camera.size_px
        area = np.zeros((height, width), np.uint8)
        cv2.fillPoly(area, [np.round(self.surface_px(margin_mm)).astype(np.int32)], (255.0,))
        return area

    # --- accuracy -----------------------------------------------------------------------------------------------

    def mm_per_px(self, xy_mm: npt.ArrayLike) -> F64:
        """Millimetres that one pixel spans at points (n, 2), in the worst direction, at ball height; (n,)."""
        jacobian = self.camera.px_per_mm(xy_mm, self.table.ball_radius_mm)
        smallest = np.linalg.svd(jacobian, compute_uv=False)[:, -1]
        return np.asarray(1.0 / np.maximum(smallest, 1e-9), np.float64)

    def sigma_mm(self, xy_mm: npt.ArrayLike, noise_px: float = 0.5) -> F64:
        """One standard deviation (n,) of a ball's place in mm where its centre is known to ``noise_px``.

        The geometric mean over directions; :meth:`covariance_mm2` keeps them apart.
        """
        jacobian = self.camera.px_per_mm(xy_mm, self.table.ball_radius_mm)
        area = np.abs(np.linalg.det(jacobian))
        return np.asarray(noise_px / np.sqrt(np.maximum(area, 1e-12)), np.float64)

    def covariance_mm2(self, xy_mm: npt.ArrayLike, noise_px: float = 0.5) -> F64:
        """Covariances (n, 2, 2) of balls' places for isotropic pixel noise."""
        inverse = np.linalg.inv(self.camera.px_per_mm(xy_mm, self.table.ball_radius_mm))
        return np.asarray(noise_px**2 * inverse @ inverse.transpose(0, 2, 1), np.float64)

    def error_mm(self, xy_mm: npt.ArrayLike) -> F64:
        """How far off (n,) the places of balls at points (n, 2) are likely to be, root mean square, by the camera.

        It is the same error for all balls near a place and in every frame: it does not average away, and it is no noise
        of motion. NaN where nothing is known of the camera's error.
        """
        places = np.asarray(xy_mm, np.float64).reshape(-1, 2)
        if self.camera_covariance is None:
            return np.full(len(places), np.nan)
        spread = place_covariance_mm2(self.camera, self.camera_covariance, places, self.table.ball_radius_mm)
        return np.asarray(np.sqrt(np.trace(spread, axis1=1, axis2=2)), np.float64)

    @property
    def expected_error_mm(self) -> float:
        """The root mean square of :meth:`error_mm` over the playing surface."""
        share = np.array([[x, y] for x in (0.04, 0.27, 0.5, 0.73, 0.96) for y in (0.06, 0.5, 0.94)])
        errors = self.error_mm(share * [self.table.length_mm, self.table.width_mm])
        return float(np.sqrt((errors**2).mean()))

    def balls_mm(self, xy_px: npt.ArrayLike) -> F64:
        """Pixels (n, 2) of ball centres to table millimetres (n, 2): un-projected one radius above the cloth."""
        return self.camera.unproject(xy_px, self.table.ball_radius_mm)

    @property
    def elevation_deg(self) -> float:
        """Angle of the line of sight to the table's centre above the cloth; 90 is straight down."""
        eye = self.camera.position_mm
        flat = math.hypot(eye[0] - self.table.length_mm / 2, eye[1] - self.table.width_mm / 2)
        return math.degrees(math.atan2(float(eye[2]), flat))

    # --- which end is the head ----------------------------------------------------------------------------------

    def turned(self) -> Calibration:
        """The same view with head and foot exchanged (the table frame turned by 180 degrees)."""
        length, width = self.table.length_mm, self.table.width_mm
        rotation, _ = cv2.Rodrigues(self.camera.rvec)
        half_turn = np.diag([-1.0, -1.0, 1.0])
        rvec, _ = cv2.Rodrigues(rotation @ half_turn)
        tvec = self.camera.tvec.reshape(3) + rotation @ np.array([length, width, 0.0])
        camera = replace(self.camera, rvec=np.asarray(rvec, np.float64).reshape(3), tvec=tvec)
        corners = np.roll(self.corners_px, 2, axis=0)
        return replace(self, camera=camera, corners_px=corners, head_side=side_of_head(corners))

    def with_head(self, side: str) -> Calibration:
        """The same calibration, labelled so that the head is at ``side`` (top, bottom, left, right) of the picture."""
        if side not in SIDES:
            raise InputError(f"head side '{side}' is not one of {', '.join(SIDES)}")
        toward_head = _head_direction(self.corners_px)
        wanted = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}[side]
        share = float(np.dot(toward_head, wanted))
        if abs(share) < 0.2:
            ends = "left and right" if abs(toward_head[0]) > abs(toward_head[1]) else "top and bottom"
            raise InputError(f"head side '{side}' does not fit: the table's ends lie at the {ends} of the picture")
        chosen = self if share > 0 else self.turned()
        return replace(chosen, head_known=True, head_side=side)

    # --- storage ------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the layout that :func:`calibration_from_json` reads."""
        camera = self.camera
        return {
            "format": FORMAT,
            "table": asdict(self.table),
            "table_reason": self.table_reason,
            "camera": {
                "matrix": camera.matrix.tolist(),
                "distortion": camera.distortion.reshape(-1).tolist(),
                "rvec": camera.rvec.reshape(-1).tolist(),
                "tvec": camera.tvec.reshape(-1).tolist(),
                "size_px": list(camera.size_px),
            },
            "corners_px": {
                "order": "head-right, head-left, foot-left, foot-right",
                "points": np.round(self.corners_px, 3).tolist(),
            },
            "head_side": self.head_side,
            "head_known": self.head_known,
            "residual_mm": round(self.residual_mm, 4),
            "residual_px": round(self.residual_px, 4),
            "method": self.method,
            "confidence": round(self.confidence, 4),
            "cushion_top_mm": round(self.cushion_top_mm, 2),
            "rail_rise_mm": round(self.rail_rise_mm, 2),
            "mouth_mm": None if self.mouth_mm is None else round(self.mouth_mm, 1),
            "hints": list(self.hints),
            "camera_covariance": None if self.camera_covariance is None else self.camera_covariance.tolist(),
            "expected_error_mm": None if self.camera_covariance is None else round(self.expected_error_mm, 2),
        }

    def save(self, path: Path) -> None:
        """Writes the calibration as JSON; an InputError says why it could not be written."""
        try:
            path.write_text(json.dumps(self.to_json(), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot write the calibration ({error.strerror or error})") from error


def _head_direction(corners_px: F64) -> F64:
    """Unit vector (2,) in the picture from the foot cushion's middle to the head cushion's."""
    way = corners_px[:2].mean(axis=0) - corners_px[2:].mean(axis=0)
    return np.asarray(way / max(float(np.linalg.norm(way)), 1e-9), np.float64)


def side_of_head(corners_px: F64) -> str:
    """At which side of the picture the head cushion lies, from the four corners in the order of a Calibration."""
    x, y = _head_direction(corners_px)
    if abs(x) >= abs(y):
        return "right" if x > 0 else "left"
    return "bottom" if y > 0 else "top"


def calibration_from_json(data: Any, source: str = "calibration") -> Calibration:
    """A calibration from what :meth:`Calibration.to_json` wrote; InputError names the field that is amiss."""
    try:
        if data["format"] != FORMAT:
            raise InputError(f"{source}: calibration format {data['format']!r} is not known; calibrate again")
        camera = data["camera"]
        size = (int(camera["size_px"][0]), int(camera["size_px"][1]))
        made = Calibration(
            table=TableSpec(**data["table"]),
            camera=Camera(
                matrix=np.array(camera["matrix"], np.float64).reshape(3, 3),
                distortion=np.array(camera["distortion"], np.float64).reshape(5),
                rvec=np.array(camera["rvec"], np.float64).reshape(3),
                tvec=np.array(camera["tvec"], np.float64).reshape(3),
                size_px=size,
            ),
            corners_px=np.array(data["corners_px"]["points"], np.float64).reshape(4, 2),
            residual_mm=float(data["residual_mm"]),
            residual_px=float(data["residual_px"]),
            head_side=data.get("head_side"),
            head_known=bool(data.get("head_known", False)),
            table_reason=str(data.get("table_reason", "")),
            method=str(data.get("method", "file")),
            confidence=float(data.get("confidence", 1.0)),
            cushion_top_mm=float(data.get("cushion_top_mm", 50.0)),
            rail_rise_mm=float(data.get("rail_rise_mm", 0.0)),
            mouth_mm=None if data.get("mouth_mm") is None else float(data["mouth_mm"]),
            hints=tuple(str(h) for h in data.get("hints", ())),
            camera_covariance=_covariance(data.get("camera_covariance")),
        )
    except KeyError as error:
        raise InputError(f"{source}: not a calibration: field {error} is missing; make one with calibrate") from error
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(f"{source}: not a calibration ({error}); make one with calibrate") from error
    numbers = (made.camera.matrix, made.camera.distortion, made.camera.rvec, made.camera.tvec, made.corners_px)
    if not all(np.isfinite(n).all() for n in numbers) or made.camera.position_mm[2] <= 0:
        raise InputError(f"{source}: not a usable calibration (the camera is not above the cloth); calibrate again")
    return made


def _covariance(rows: Any) -> F64 | None:
    """A stored covariance; ValueError where it is none."""
    if rows is None:
        return None
    matrix = np.array(rows, np.float64).reshape(8, 8)
    if not np.isfinite(matrix).all():
        raise ValueError("camera_covariance is not finite")
    return matrix


def load_calibration(path: Path) -> Calibration:
    """Reads a calibration file, or one saved by name; InputError in one line when it is missing or not one."""
    path = calibration_path(Path(path))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise InputError(f"{path}: cannot read the calibration ({reason})") from error
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not a calibration: not JSON (line {error.lineno}); calibrate again") from error
    return calibration_from_json(data, str(path))
