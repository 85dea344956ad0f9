"""Drawing on video frames: balls' numbers, paths, contacts and words, in any alphabet.

OpenCV's own letters are ASCII only, so words are drawn by Pillow with DejaVu Sans (it comes with matplotlib, which the
detector's library brings) once each, and pasted as small pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

U8 = npt.NDArray[np.uint8]
F64 = npt.NDArray[np.float64]
Bgr = tuple[int, int, int]

CUE_BGR: Bgr = (60, 76, 231)
OBJECT_BGR: Bgr = (255, 214, 120)
MARK_BGR: Bgr = (80, 220, 255)
FOUL_BGR: Bgr = (70, 70, 255)
_SHIFT = 4
"""Sub-pixel bits that OpenCV draws with."""


@lru_cache(maxsize=32)
def font(size_px: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """DejaVu Sans of a size; it has Latin and Cyrillic."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), size_px)


@lru_cache(maxsize=256)
def label_sprite(text: str, size_px: int, fore: Bgr, back: Bgr | None) -> U8:
    """(h, w, 4) BGRA picture of one line, with a dark rim so that it reads on any ground."""
    face = font(size_px, bold=True)
    left, top, right, bottom = face.getbbox(text, stroke_width=2)
    pad = max(2, size_px // 5)
    image = Image.new("RGBA", (int(right - left) + 2 * pad, int(bottom - top) + 2 * pad), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    if back is not None:
        draw.rounded_rectangle((0, 0, image.width - 1, image.height - 1), radius=pad, fill=(*back[::-1], 200))
    draw.text(
        (pad - left, pad - top), text, font=face, fill=(*fore[::-1], 255), stroke_width=2, stroke_fill=(0, 0, 0, 220)
    )
    return bgra(image)


def caption_sprite(lines: Sequence[str], width_px: int, size_px: int, accent: Bgr) -> U8:
    """(h, width_px, 4) BGRA banner: the first line large and bold, the rest wrapped below it."""
    pad = size_px // 2
    room = width_px - 3 * pad
    shown: list[tuple[str, ImageFont.FreeTypeFont]] = []
    for index, line in enumerate(lines):
        face = font(size_px if index == 0 else max(10, size_px * 4 // 5), bold=index == 0)
        shown += [(piece, face) for piece in _wrapped(line, face, room)]
    heights = [int(face.size * 1.35) for _, face in shown]
    image = Image.new("RGBA", (width_px, sum(heights) + 2 * pad), (12, 14, 18, 255))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, max(3, pad // 3), image.height), fill=(*accent[::-1], 255))
    y = pad
    for (piece, face), height in zip(shown, heights, strict=True):
        draw.text((int(1.5 * pad), y), piece, font=face, fill=(245, 245, 245, 255))
        y += height
    return bgra(image)


def bgra(image: Image.Image) -> U8:
    """A Pillow RGBA picture as (h, w, 4) BGRA pixels."""
    return np.ascontiguousarray(np.asarray(image, np.uint8)[:, :, [2, 1, 0, 3]])


def paste(bgr: U8, sprite: U8, x_px: int, y_px: int) -> None:
    """Blend a BGRA sprite onto the frame with its top left at (x_px, y_px); what sticks out is cut off."""
    height, width = bgr.shape[:2]
    x0, y0 = max(0, x_px), max(0, y_px)
    x1, y1 = min(width, x_px + sprite.shape[1]), min(height, y_px + sprite.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    part = sprite[y0 - y_px : y1 - y_px, x0 - x_px : x1 - x_px]
    alpha = part[:, :, 3:].astype(np.float32) / 255
    ground = bgr[y0:y1, x0:x1]
    ground[:] = (ground * (1 - alpha) + part[:, :, :3] * alpha + 0.5).astype(np.uint8)


def circle(bgr: U8, centre_px: F64, radius_px: float, colour: Bgr, thickness: int = 2) -> None:
    scale = 1 << _SHIFT
    cv2.circle(
        bgr,
        (round(float(centre_px[0]) * scale), round(float(centre_px[1]) * scale)),
        round(radius_px * scale),
        colour,
        thickness,
        cv2.LINE_AA,
        _SHIFT,
    )


def polyline(bgr: U8, points_px: F64, colour: Bgr, thickness: int = 2) -> None:
    if len(points_px) > 1:
        fixed = np.round(points_px * (1 << _SHIFT)).astype(np.int32)
        cv2.polylines(bgr, [fixed], False, colour, thickness, cv2.LINE_AA, _SHIFT)


def _wrapped(text: str, face: ImageFont.FreeTypeFont, room_px: int) -> list[str]:
    pieces: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and face.getlength(longer) > room_px:
            pieces.append(line)
            line = word
        else:
            line = longer
    return [*pieces, line] if line else pieces or [""]
