"""What is painted on a ball: ground colour, band, and printed faces that turn with it."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.simulation.look import BallLook, Bgr

F32 = npt.NDArray[np.float32]

DECAL_PX = 96
POOL_COLOURS: tuple[Bgr, ...] = (
    (0.10, 0.75, 0.95),
    (0.60, 0.25, 0.08),
    (0.12, 0.12, 0.80),
    (0.45, 0.12, 0.30),
    (0.08, 0.42, 0.95),
    (0.22, 0.45, 0.05),
    (0.12, 0.10, 0.42),
    (0.05, 0.05, 0.05),
)
"""Solids 1..8; stripes 9..15 repeat 1..7."""
SNOOKER_COLOURS: tuple[Bgr, ...] = (
    (0.08, 0.80, 0.95),
    (0.25, 0.45, 0.02),
    (0.08, 0.20, 0.42),
    (0.70, 0.30, 0.05),
    (0.65, 0.50, 0.95),
    (0.04, 0.04, 0.04),
)
"""Yellow, green, brown, blue, pink, black: numbers 16..21 of a snooker set; 1..15 are reds."""
RED: Bgr = (0.08, 0.06, 0.65)
_FONTS = (
    cv2.FONT_HERSHEY_SIMPLEX,
    cv2.FONT_HERSHEY_DUPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
    cv2.FONT_HERSHEY_PLAIN,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BallPaint:
    """Linear-light B, G, R colours (3,). ``band_cos``: the band covers |z| below it in the ball frame (0: no band).

    ``decal`` (DECAL_PX, DECAL_PX, 4) linear BGR and coverage of a printed face of angular radius ``decal_deg``,
    repeated on the first ``faces`` of the directions +x -x +y -y +z -z of the ball frame.
    """

    base: F32
    band: F32
    band_cos: float
    decal: F32
    decal_deg: float
    faces: int


def linear(bgr: Bgr) -> F32:
    """sRGB 0..1 to linear light (3,)."""
    return np.asarray(np.power(np.clip(bgr, 0, 1), 2.2), np.float32)


@functools.lru_cache(maxsize=512)
def ball_paint(number: int | None, look: BallLook) -> BallPaint:
    """Paint of a ball: ``number`` None a bare object ball, 0 the cue ball, 1..15 printed, 16..21 snooker colours."""
    none = np.zeros((DECAL_PX, DECAL_PX, 4), np.float32)
    if number == 0:
        return _cue_paint(look)
    if look.family == "snooker":
        colour = RED if number is None or number <= 15 else SNOOKER_COLOURS[(number - 16) % 6]
        return BallPaint(base=linear(colour), band=linear(colour), band_cos=0.0, decal=none, decal_deg=0.0, faces=0)
    if look.family == "pool" and number is not None:
        colour = POOL_COLOURS[(number - 1) % 8 if number <= 8 else (number - 9) % 7]
        decal = _number_decal(number, look, disc=look.body_bgr, printed=(0.03, 0.03, 0.03))
        white = linear(look.body_bgr)
        stripe = number > 8
        return BallPaint(
            base=white if stripe else linear(colour),
            band=linear(colour),
            band_cos=0.58 if stripe else 0.0,
            decal=decal,
            decal_deg=min(look.number_deg, 27.0),
            faces=2,
        )
    body = linear(look.body_bgr)
    if number is None:
        return BallPaint(base=body, band=body, band_cos=0.0, decal=none, decal_deg=0.0, faces=0)
    decal = _number_decal(number, look, disc=None, printed=look.print_bgr)
    return BallPaint(base=body, band=body, band_cos=0.0, decal=decal, decal_deg=look.number_deg, faces=look.faces)


def _cue_paint(look: BallLook) -> BallPaint:
    none = np.zeros((DECAL_PX, DECAL_PX, 4), np.float32)
    white = linear(look.body_bgr if look.family == "pyramid" else (0.78, 0.92, 0.95))
    colour = linear(look.cue_bgr)
    if look.cue_style == "coloured":
        return BallPaint(base=colour, band=colour, band_cos=0.0, decal=none, decal_deg=0.0, faces=0)
    if look.cue_style == "striped":
        return BallPaint(base=white, band=colour, band_cos=0.4, decal=none, decal_deg=0.0, faces=0)
    if look.cue_style == "dotted":
        dot = none.copy()
        dot[..., :3] = colour
        dot[..., 3] = _disc(0.47)
        return BallPaint(base=white, band=white, band_cos=0.0, decal=dot, decal_deg=11.0, faces=6)
    return BallPaint(base=white, band=white, band_cos=0.0, decal=none, decal_deg=0.0, faces=0)


def _number_decal(number: int, look: BallLook, *, disc: Bgr | None, printed: Bgr) -> F32:
    scale = 4
    size = DECAL_PX * scale
    centre = (size // 2, size // 2)
    ink = np.zeros((size, size), np.uint8)
    if look.ring:
        cv2.circle(ink, centre, int(size * 0.45), 255, int(size * 0.045))
    room = size * (0.62 if look.ring or disc is not None else 0.8)
    bottom, half = _write(ink, str(number), look.font, room)
    if look.underline and number in (6, 9):
        y = min(bottom + int(size * 0.07), size - int(size * 0.04))
        cv2.line(ink, (centre[0] - half, y), (centre[0] + half, y), 255, int(size * 0.05))
    ink_alpha = cv2.resize(ink, (DECAL_PX, DECAL_PX), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    decal = np.zeros((DECAL_PX, DECAL_PX, 4), np.float32)
    decal[..., :3] = linear(printed)
    decal[..., 3] = ink_alpha
    if disc is not None:
        plate = _disc(0.47)
        decal[..., :3] = linear(disc) * (1 - ink_alpha[..., None]) + linear(printed) * ink_alpha[..., None]
        decal[..., 3] = np.maximum(plate, ink_alpha)
    return decal


def _write(ink: npt.NDArray[np.uint8], text: str, font: int, room: float) -> tuple[int, int]:
    """Write a number in the middle of ``ink`` within ``room`` pixels; returns its foot's y and half its width."""
    size = len(ink)
    faces = _font_files()
    if font >= len(_FONTS) and faces:
        from PIL import Image, ImageDraw, ImageFont

        face = faces[(font - len(_FONTS)) % len(faces)]
        big = ImageFont.truetype(face, 200)
        left, top, right, foot = big.getbbox(text)
        points = int(200 * min(room / (right - left), room * 0.85 / (foot - top)))
        letters = ImageFont.truetype(face, points)
        left, top, right, foot = letters.getbbox(text)
        picture = Image.fromarray(ink)
        x, y = size / 2 - (left + right) / 2, size / 2 - (top + foot) / 2
        ImageDraw.Draw(picture).text((x, y), text, fill=255, font=letters)
        ink[:] = np.asarray(picture)
        return int(size / 2 + (foot - top) / 2), int((right - left) / 2)
    stroke = _FONTS[font % len(_FONTS)]
    thickness = int(size * (0.045 if font == 4 else 0.06))
    (w, h), _ = cv2.getTextSize(text, stroke, 10.0, thickness)
    scale = 10.0 * min(room / w, room * 0.85 / h)
    thickness = max(6, int(thickness * (1.2 if len(text) == 1 else 0.9)))
    (w, h), _ = cv2.getTextSize(text, stroke, scale, thickness)
    cv2.putText(ink, text, (size // 2 - w // 2, size // 2 + h // 2), stroke, scale, 255, thickness, cv2.LINE_AA)
    return size // 2 + h // 2, w // 2


@functools.lru_cache(maxsize=1)
def _font_files() -> tuple[str, ...]:
    """Outline fonts for printing, from matplotlib where it is installed (it comes with ultralytics)."""
    if importlib.util.find_spec("matplotlib") is None or importlib.util.find_spec("PIL") is None:
        return ()
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    wanted = ("DejaVuSans-Bold", "DejaVuSerif-Bold", "DejaVuSans", "STIXGeneralBol", "DejaVuSansMono-Bold", "cmb10")
    return tuple(str(folder / f"{name}.ttf") for name in wanted if (folder / f"{name}.ttf").is_file())


def _disc(radius: float) -> F32:
    """Coverage (DECAL_PX, DECAL_PX) of a centred disc; ``radius`` as a fraction of the decal's side."""
    plate = np.zeros((DECAL_PX, DECAL_PX), np.uint8)
    cv2.circle(plate, (DECAL_PX // 2, DECAL_PX // 2), int(DECAL_PX * radius), 255, -1, cv2.LINE_AA)
    return np.asarray(plate / np.float32(255), np.float32)
