"""The decoder's planes give the same pixels as a conversion of the whole picture, whatever its colour standard."""

from __future__ import annotations

import av
import cv2
import numpy as np
import pytest

from vision_referee.video.frames import U8, Frame


def smooth_picture(width: int = 321, height: int = 243) -> U8:
    """Colours that change slowly, so that the colour planes' half size costs nothing."""
    small = np.random.default_rng(3).integers(0, 256, (6, 8, 3)).astype(np.uint8)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def coded(bgr: U8, pixel_format: str, colorspace: int = 2, color_range: int = 0) -> Frame:
    picture = av.VideoFrame.from_ndarray(bgr, format="bgr24").reformat(format=pixel_format)
    picture.colorspace, picture.color_range = colorspace, color_range
    return Frame(index=0, t_s=0.0, picture=picture)


def whole(frame: Frame) -> U8:
    return np.asarray(frame.picture.to_ndarray(format="bgr24"), np.uint8)


@pytest.mark.parametrize("colorspace", [2, 1, 5, 6, 7, 9])
@pytest.mark.parametrize("color_range", [0, 1, 2])
def test_every_colour_standard_and_range(colorspace: int, color_range: int) -> None:
    frame = coded(smooth_picture(), "yuv420p", colorspace, color_range)
    wanted = whole(frame).astype(int)
    assert np.abs(frame.part(37, 51, 300, 242) - wanted[51:242, 37:300]).mean() < 3
    half = cv2.resize(wanted[:242, :320].astype(np.uint8), (160, 121), interpolation=cv2.INTER_AREA)
    assert np.abs(frame.half() - half.astype(int)).mean() < 3


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuvj420p", "yuv422p", "yuv444p", "yuv420p10le", "nv12", "gray"])
def test_every_layout_of_pixels(pixel_format: str) -> None:
    frame = coded(smooth_picture(320, 240), pixel_format)
    wanted = whole(frame).astype(int)
    assert np.abs(frame.part(0, 0, 320, 240) - wanted).mean() < 4
    y, x = np.mgrid[20.5:200:7, 30.25:290:9]
    seen = frame.sample(np.stack([x, y], axis=-1).astype(np.float32))
    around = (wanted[20:200:7, 30:290:9] + wanted[21:201:7, 30:290:9]) / 2
    assert seen.shape == (*x.shape, 3) and np.abs(seen - around).mean() < 5


def test_an_ordinary_picture_and_a_decoded_one_answer_alike() -> None:
    bgr = smooth_picture(320, 240)
    plain, decoded = Frame.still(bgr), coded(bgr, "yuv420p")
    assert plain.size_px == decoded.size_px == (320, 240)
    for one, other in (
        (plain.half(), decoded.half()),
        (plain.part(11, 20, 201, 131), decoded.part(11, 20, 201, 131)),
        (plain.half_luma(), decoded.half_luma()),
    ):
        assert one.shape == other.shape
    assert np.abs(plain.half().astype(int) - decoded.half()).mean() < 4


def test_a_part_is_the_same_wherever_it_is_cut() -> None:
    frame = coded(smooth_picture(), "yuv420p")
    every = frame.part(0, 0, 321, 243)
    for x0, y0 in ((0, 0), (1, 0), (0, 1), (33, 57), (220, 140)):
        assert np.array_equal(frame.part(x0, y0, x0 + 101, y0 + 103), every[y0 : y0 + 103, x0 : x0 + 101])
