"""Makes video files whose every frame says in its own pixels which frame it is and which way is up."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from vision_referee.video.frames import U8

TICKS = 90_000
_BITS = 8


def picture(index: int, size: tuple[int, int]) -> U8:
    """(h, w, 3) BGR: the index as eight bars across the middle (lit = 1), a blue top band and a red left band."""
    width, height = size
    out = np.full((height, width, 3), 128, np.uint8)
    for bit in range(_BITS):
        x0, x1 = round(width * (0.15 + 0.1 * bit)), round(width * (0.15 + 0.1 * (bit + 1)))
        out[height // 4 :, x0:x1] = 235 if index >> bit & 1 else 20
    out[: height // 6] = (220, 40, 40)
    out[height // 6 :, : width // 10] = (40, 40, 220)
    return out


def read_index(bgr: U8) -> int:
    """Which frame an upright picture says it is."""
    height, width = bgr.shape[:2]
    index = 0
    for bit in range(_BITS):
        x = round(width * (0.15 + 0.1 * (bit + 0.5)))
        patch = bgr[round(height * 0.55) : round(height * 0.75), x - 2 : x + 3]
        index |= int(patch.mean() > 128) << bit
    return index


def is_upright(bgr: U8) -> bool:
    """Whether the blue band is on top and the red band on the left."""
    height, width = bgr.shape[:2]
    top, left = bgr[height // 20, width // 2], bgr[height // 2, width // 30]
    return bool(int(top[0]) > int(top[2]) + 60 and int(left[2]) > int(left[0]) + 60)


def write_video(
    path: Path,
    times_s: Sequence[float],
    *,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    size: tuple[int, int] = (320, 192),
    options: dict[str, str] | None = None,
    audio_first: bool = False,
    container_format: str | None = None,
    quarter_turns_stored: int = 0,
    stamps_s: Sequence[float] | None = None,
) -> Path:
    """Write one frame per time, frame k showing the number k (mod 256).

    ``stamps_s``: what the container is told instead of the times (for codecs that code each frame by itself).

    ``quarter_turns_stored``: the stored pictures are turned so many quarters counter-clockwise.
    """
    ticks = TICKS if codec not in ("mpeg4", "mjpeg") else 1000
    with av.open(str(path), "w", format=container_format) as container:
        sound = container.add_stream("aac", rate=48_000) if audio_first else None
        stream = container.add_stream(codec, rate=Fraction(30))
        width, height = size if quarter_turns_stored % 2 == 0 else size[::-1]
        stream.width, stream.height, stream.pix_fmt = width, height, pixel_format
        stream.codec_context.time_base = Fraction(1, ticks)
        stream.options = options or {}
        if sound is not None:
            samples = np.zeros((1, 48_000), np.float32)
            quiet = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
            quiet.sample_rate, quiet.pts = 48_000, 0
            for packet in sound.encode(quiet):
                container.mux(packet)
        for k, t in enumerate(times_s):
            pixels = np.ascontiguousarray(np.rot90(picture(k % 256, size), quarter_turns_stored))
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24").reformat(format=pixel_format)
            frame.pts, frame.time_base = round(t * ticks), Fraction(1, ticks)
            for packet in stream.encode(frame):
                if stamps_s is not None:
                    packet.pts = packet.dts = round(stamps_s[k] * ticks)
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
        if sound is not None:
            for packet in sound.encode():
                container.mux(packet)
    return path


def set_rotation(path: Path, clockwise_quarters: int) -> None:
    """Write into an MP4's track header that players must turn the picture clockwise."""
    one = 0x10000
    matrix = {
        0: (one, 0, 0, one),
        1: (0, one, -one, 0),
        2: (-one, 0, 0, -one),
        3: (0, -one, one, 0),
    }[clockwise_quarters % 4]
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 44
    a, b, c, d = matrix
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 0x40000000)
    path.write_bytes(data)
