"""The preview picture: what the calibration believes, drawn over what the camera sees."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
Bgr = tuple[int, int, int]

NOSE: Bgr = (60, 60, 255)
RAIL: Bgr = (255, 200, 60)
GRID: Bgr = (200, 200, 200)
POCKET: Bgr = (255, 60, 255)
MARK: Bgr = (60, 255, 255)
HOUSE: Bgr = (80, 220, 80)
_SHIFT = 4


def draw_preview(bgr: U8, calibration: Calibration) -> U8:
    """A copy of the picture (h, w, 3) with noses, rail edges, pockets, spots, house line, grid and the figures."""
    out = bgr.copy()
    table, camera = calibration.table, calibration.camera
    length, width, nose = table.length_mm, table.width_mm, table.nose_height_mm
    thin = 1 if out.shape[1] < 1600 else 2

    faint = out.copy()
    for k in range(1, 8):
        _line(faint, camera.project_plane(_straight((length * k / 8, 0), (length * k / 8, width)), 0.0), GRID, 1)
    for k in range(1, 4):
        _line(faint, camera.project_plane(_straight((0, width * k / 4), (length, width * k / 4)), 0.0), GRID, 1)
    out = cv2.addWeighted(faint, 0.35, out, 0.65, 0).astype(np.uint8, copy=False)

    house = table.house_line_mm
    _line(out, camera.project_plane(_straight((house, 0), (house, width)), 0.0), HOUSE, thin)
    rail = camera.project_plane(calibration.outline_mm(calibration.cushion_top_mm), nose + calibration.rail_rise_mm)
    _line(out, rail, RAIL, thin, closed=True)
    _line(out, calibration.surface_px(), NOSE, thin, closed=True)
    for pocket in table.pockets():
        _line(out, camera.project_plane([pocket.jaw_a_mm, pocket.jaw_b_mm], nose), POCKET, thin + 1)
    for x, y in (table.head_spot_mm, table.centre_spot_mm, table.foot_spot_mm):
        turn = np.linspace(0, 2 * np.pi, 33)
        ring = np.array([x, y]) + table.ball_radius_mm * np.column_stack([np.cos(turn), np.sin(turn)])
        _line(out, camera.project_plane(ring, 0.0), MARK, thin)
    head = camera.project_plane([(house / 2, width / 2)], 0.0)[0]
    _text(out, "HEAD" if calibration.head_known else "HEAD?", head, HOUSE)
    _figures(out, calibration)
    return out


def _straight(a: tuple[float, float], b: tuple[float, float], count: int = 24) -> F64:
    return np.linspace(a, b, count)


def _line(out: npt.NDArray[np.uint8], px: F64, colour: Bgr, thick: int, *, closed: bool = False) -> None:
    if not np.isfinite(px).all() or np.abs(px).max() > 1e5:
        return
    points = np.round(px * (1 << _SHIFT)).astype(np.int32)
    cv2.polylines(out, [points], closed, colour, thick, cv2.LINE_AA, _SHIFT)


def _text(out: npt.NDArray[np.uint8], words: str, at: F64, colour: Bgr) -> None:
    """Words with their lower left corner at a point, on a darkened ground."""
    size = max(0.45, out.shape[1] / 2200)
    (wide, high), below = cv2.getTextSize(words, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    x, y = int(at[0]), int(at[1])
    ground = out[max(0, y - high - 4) : y + below + 4, max(0, x - 4) : x + wide + 4]
    ground[:] = ground // 3
    cv2.putText(out, words, (x, y), cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)


def _figures(out: npt.NDArray[np.uint8], calibration: Calibration) -> None:
    table = calibration.table
    ends = calibration.mm_per_px([[0, table.width_mm / 2], [table.length_mm, table.width_mm / 2]])
    lines = [
        f"{table.name}  residual {calibration.residual_px:.2f} px = {calibration.residual_mm:.1f} mm"
        f"  confidence {calibration.confidence:.2f}",
        f"elevation {calibration.elevation_deg:.0f} deg  head end {ends[0]:.1f} mm/px  foot end {ends[1]:.1f} mm/px",
        *calibration.hints[:3],
    ]
    step = max(16, round(out.shape[1] / 60))
    for row, words in enumerate(lines):
        _text(out, words, np.array([step / 2, step * (row + 1.0)]), (255, 255, 255))
