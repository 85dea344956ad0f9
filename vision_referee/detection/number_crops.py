"""Square crops of balls, all of one size, for the number reader."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

CROP_PX = 40
BALL_PX = 37.0
"""A ball's diameter within the crop."""
CLASSES = 17
UNNUMBERED = 16


def number_crops(bgr: U8, centres_px: F64, radius_px: F64) -> U8:
    """(n, CROP_PX, CROP_PX, 3) BGR crops with each ball in the middle, from the full picture."""
    out = np.empty((len(centres_px), CROP_PX, CROP_PX, 3), np.uint8)
    middle = (CROP_PX - 1) / 2
    for i, (centre, radius) in enumerate(zip(centres_px, radius_px, strict=True)):
        scale = BALL_PX / (2 * max(float(radius), 1.0))
        affine = np.array([[scale, 0.0, middle - scale * centre[0]], [0.0, scale, middle - scale * centre[1]]])
        source = bgr
        if scale < 0.6:  # a large ball: average before sampling, or its print breaks up
            reach = int(radius * 1.3) + 2
            x0, y0 = max(0, int(centre[0]) - reach), max(0, int(centre[1]) - reach)
            part = bgr[y0 : int(centre[1]) + reach + 1, x0 : int(centre[0]) + reach + 1]
            if part.size:
                source = cv2.GaussianBlur(part, (0, 0), 0.35 / scale).astype(np.uint8)
                affine[:, 2] += scale * np.array([x0, y0])
        out[i] = cv2.warpAffine(
            source, affine, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )  # fmt: skip
    return out


def frame_crops(frame: Frame, centres_px: F64, radius_px: F64) -> U8:
    """:func:`number_crops` of a frame, of which only the balls' surroundings are converted to BGR."""
    width, height = frame.size_px
    crops = [np.empty((0, CROP_PX, CROP_PX, 3), np.uint8)]
    for centre, radius in zip(centres_px, radius_px, strict=True):
        reach = 1.5 * float(radius) + 3
        x0, y0 = (int(v) for v in np.clip(np.floor(centre - reach), 0, (width - 2, height - 2)))
        x1, y1 = (int(v) for v in np.clip(np.ceil(centre + reach) + 1, (x0 + 2, y0 + 2), (width, height)))
        crops.append(number_crops(frame.part(x0, y0, x1, y1), (centre - (x0, y0))[None], np.array([radius])))
    return np.concatenate(crops)
