"""Repeated frames are told from balls that hardly show: slow, far, or as bright as the cloth."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision_referee.video.changes import ChangeDetector
from vision_referee.video.frames import U8, Frame

CLOTH_BGR = (110, 70, 20)
AS_BRIGHT_BGR = (20, 30, 130)
"""A dark red with the brightness of that cloth."""


def picture(x_px: float | None, colour: tuple[int, int, int]) -> U8:
    out = np.full((720, 1280, 3), CLOTH_BGR, np.uint8)
    if x_px is not None:
        cv2.circle(out, (round(x_px * 16), 360 * 16), 12 * 16, colour, -1, cv2.LINE_AA, 4)
    return out


def repeats(pictures: list[U8]) -> list[bool]:
    detector = ChangeDetector()
    frames = [Frame(index=k, t_s=k / 30, picture=p) for k, p in enumerate(pictures)]
    told = [c for frame in frames for c in detector.push(frame)]
    return [c.repeated for c in [*told, *detector.flush()]]


def test_red_and_cloth_of_this_test_are_equally_bright() -> None:
    both = np.array([[CLOTH_BGR, AS_BRIGHT_BGR]], np.uint8)
    grey = cv2.cvtColor(both, cv2.COLOR_BGR2GRAY).astype(int)
    assert abs(grey[0, 0] - grey[0, 1]) <= 6


@pytest.mark.parametrize("colour", [(235, 240, 240), AS_BRIGHT_BGR])
def test_a_ball_that_rolls_slowly_is_no_repeated_frame(colour: tuple[int, int, int]) -> None:
    rolling = [picture(600 + 1.5 * k, colour) for k in range(12)]
    assert not any(repeats(rolling)[1:])


def test_a_true_repeat_is_told_though_the_coder_touched_it_up() -> None:
    rng = np.random.default_rng(0)
    pictures = []
    for k in range(12):
        shown = picture(600 + 20 * (k // 2), (235, 240, 240))
        if k % 2:
            at = rng.integers(0, (700, 1200), (40, 2))
            for y, x in at:
                shown[y : y + 4, x : x + 4] += 2
        pictures.append(shown)
    assert repeats(pictures)[1::2] == [True] * 6
    assert not any(repeats(pictures)[2::2])
