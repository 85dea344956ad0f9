"""What would make a view better: plain hints for the person who mounts the camera, and where in the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.domain.table import PocketName

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_DARK = 38.0  # mean brightness of the cloth (0..255)
_BURNT = 250  # brightness from which on nothing can be told apart
_GLARE_SHARE = 0.003  # of the cloth, in patches that no ball covers
_MOST_PATCHES = 4
_FLAT_MM_PER_PX = 8.0
_SMALL_BALL_PX = 12.0
UNSURE_MM = 12.0
"""Error of balls' places from which on a person should know: cushions and contacts may be explained wrongly."""
LEAST_RATE_HZ = 22.0
"""Pictures a second below which contacts of fast balls are guessed rather than seen."""

TEXT = {
    "pocket_out": "the {pocket} pocket is out of the picture: move the camera back",
    "flat": "the table is seen at a flat angle ({angle:.0f} degrees): at the far end one pixel spans {mm:.0f} mm; "
    "raise the camera, bring it closer or use a higher resolution",
    "coarse": "at the far end one pixel spans {mm:.0f} mm: bring the camera closer or use a higher resolution",
    "unsure": "balls' places are known to some {mm:.0f} mm only, since the cushions cannot be read well: take "
    "people away from them, light them better or mark the corners",
    "small_balls": "the farthest balls are {px:.0f} px wide (12 or more are needed): use a higher resolution",
    "dark": "the cloth is too dark: more light or a longer exposure",
    "glare": "the cloth is burnt out by glare near the {place}: shade the lamp or lower the exposure",
    "blurred": "the picture is blurred: focus the camera on the cloth and clean the lens",
    "slow": "only {rate:.0f} pictures a second: 30 or more make fast balls and contacts surer",
}
"""In English, by code."""
_FLAT_DEG = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """``code`` is a key of :data:`TEXT`, ``values`` fill its text (``pocket`` and ``place`` are names of pockets, or
    ``centre``); ``patches_px``: where in the picture, as (x, y, r)."""

    code: str
    values: Mapping[str, float | str] = field(default_factory=dict)
    patches_px: tuple[tuple[float, float, float], ...] = ()

    @property
    def text(self) -> str:
        plain = {k: v.replace("_", " ") if isinstance(v, str) else v for k, v in self.values.items()}
        return TEXT[self.code].format(**plain)


def find_hints(bgr: U8, calibration: Calibration) -> list[Hint]:
    """What the picture (h, w, 3) shows, most important first; empty for a good view."""
    return [*_of_the_place(calibration), *_of_the_picture(bgr, calibration)]


def view_hints(bgr: U8, calibration: Calibration) -> list[str]:
    """The same as sentences in English."""
    return [hint.text for hint in find_hints(bgr, calibration)]


def rate_hint(rate_hz: float) -> Hint | None:
    """Whether too few pictures come; None too where the rate is not known yet (0)."""
    return Hint(code="slow", values={"rate": rate_hz}) if 0 < rate_hz < LEAST_RATE_HZ else None


def _of_the_place(calibration: Calibration) -> list[Hint]:
    """What follows from where the camera is and how fine its picture."""
    table, camera = calibration.table, calibration.camera
    width, height = camera.size_px
    hints: list[Hint] = []
    unsure = calibration.expected_error_mm
    if unsure > UNSURE_MM:
        hints.append(Hint(code="unsure", values={"mm": unsure}))
    mouths = np.array([table.pocket(name).mouth_mm for name in PocketName])
    px = camera.project_plane(mouths, 0.0)
    for name, (x, y) in zip(PocketName, px, strict=True):
        if not (0 <= x < width and 0 <= y < height):
            hints.append(Hint(code="pocket_out", values={"pocket": name.value}))
    ends = np.array([[0.0, table.width_mm / 2], [table.length_mm, table.width_mm / 2]])
    worst = float(calibration.mm_per_px(ends).max())
    if worst > _FLAT_MM_PER_PX:
        angle = calibration.elevation_deg
        flat = angle < _FLAT_DEG
        hints.append(Hint(code="flat" if flat else "coarse", values={"mm": worst} | ({"angle": angle} if flat else {})))
    grid = np.array([[x, y] for x in (0.1, 0.5, 0.9) for y in (0.2, 0.8)]) * [table.length_mm, table.width_mm]
    diameter = 2 * float(camera.ball_radius_px(grid, table.ball_radius_mm).min())
    if diameter < _SMALL_BALL_PX:
        hints.append(Hint(code="small_balls", values={"px": diameter}))
    return hints


def _of_the_picture(bgr: U8, calibration: Calibration) -> list[Hint]:
    """What light, exposure and focus do."""
    hints: list[Hint] = []
    grey = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY), np.uint8)
    mask = calibration.mask(-2 * calibration.table.ball_radius_mm) > 0
    if not mask.any():
        return hints
    if float(grey[mask].mean()) < _DARK:
        hints.append(Hint(code="dark"))
    patches = _burnt_patches(grey, mask, calibration)
    if patches:
        x, y, _ = patches[0]
        hints.append(Hint(code="glare", values={"place": _nearest_place(x, y, calibration)}, patches_px=patches))
    if _blurred(grey, calibration):
        hints.append(Hint(code="blurred"))
    return hints


def _burnt_patches(
    grey: U8, mask: npt.NDArray[np.bool_], calibration: Calibration
) -> tuple[tuple[float, float, float], ...]:
    """Circles round the burnt-out parts of the cloth, the largest first; none where they are of no account.

    White balls are burnt out too: what a ball covers is opened away.
    """
    table = calibration.table
    middle = [[table.length_mm / 2, table.width_mm / 2]]
    across = 2.6 * float(calibration.camera.ball_radius_px(middle, table.ball_radius_mm)[0])
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (max(3, round(across)) | 1,) * 2)
    burnt = cv2.morphologyEx(((grey > _BURNT) & mask).astype(np.uint8), cv2.MORPH_OPEN, disc)
    if float(burnt.sum()) < _GLARE_SHARE * float(mask.sum()):
        return ()
    count, _, boxes, centres = cv2.connectedComponentsWithStats(burnt)
    order = sorted(range(1, count), key=lambda k: -int(boxes[k, cv2.CC_STAT_AREA]))[:_MOST_PATCHES]
    radii = np.hypot(boxes[:, cv2.CC_STAT_WIDTH], boxes[:, cv2.CC_STAT_HEIGHT]) / 2
    return tuple((float(centres[k][0]), float(centres[k][1]), float(radii[k])) for k in order)


def _nearest_place(x_px: float, y_px: float, calibration: Calibration) -> str:
    """The pocket that lies nearest on the table, or ``centre``."""
    table = calibration.table
    names = [*(name.value for name in PocketName), "centre"]
    places = np.array([*(table.pocket(name).mouth_mm for name in PocketName), table.centre_spot_mm])
    here = calibration.camera.unproject([[x_px, y_px]], 0.0)[0]
    return names[int(np.argmin(np.hypot(*(places - here).T)))]


def _blurred(grey: U8, calibration: Calibration) -> bool:
    """Whether even the sharpest edges round the table spread over several pixels."""
    ring = (calibration.mask(120.0) > 0) & ~(calibration.mask(-60.0) > 0)
    if ring.sum() < 400:
        return False
    fine = grey.astype(np.float32)
    step_1 = np.hypot(cv2.Sobel(fine, cv2.CV_32F, 1, 0), cv2.Sobel(fine, cv2.CV_32F, 0, 1))[ring] / 8
    coarse = cv2.GaussianBlur(fine, (0, 0), 2.0)
    step_2 = np.hypot(cv2.Sobel(coarse, cv2.CV_32F, 1, 0), cv2.Sobel(coarse, cv2.CV_32F, 0, 1))[ring] / 8
    # Blurring a sharp edge by 2 px lowers its steepest slope to a third; a blurred one hardly changes.
    return float(np.quantile(step_2, 0.995)) > 0.72 * float(np.quantile(step_1, 0.995))
