"""A table under a camera that needs no network: drawn pictures, and an eye that is told where the balls are.

The scene: the cue ball is struck at 1.5 s and again at 5 s, meets nothing, and stops. Three object balls lie still.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import handmade_match as handmade
import numpy as np

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.detections import Detections
from vision_referee.pipeline.eye import TableWish
from vision_referee.video.camera_address import CameraLost, Shot
from vision_referee.video.changes import ChangedFrame
from vision_referee.video.frames import U8, Frame

CAMERA = handmade.overhead_camera()
TABLE = handmade.TABLE
OBJECTS = {"4": (2600.0, 400.0), "9": (1500.0, 1400.0), "11": (3000.0, 1300.0)}
STRIKES = ((1.5, (700.0, 800.0), (900.0, 120.0)), (5.0, None, (-700.0, -80.0)))
BRAKING_MM_S2 = 600.0
LENGTH_S = 8.0
FPS = 30


def cue_ball(t_s: float) -> tuple[float, float]:
    """Where the cue ball is: steady braking from each strike on."""
    place = np.array(STRIKES[0][1], np.float64)
    for struck_s, _, velocity in STRIKES:
        v = np.array(velocity)
        speed = float(np.hypot(*v))
        went = min(max(t_s - struck_s, 0.0), speed / BRAKING_MM_S2)
        place = place + v / speed * (speed * went - BRAKING_MM_S2 * went**2 / 2)
    return float(place[0]), float(place[1])


def places(t_s: float) -> dict[str, tuple[float, float]]:
    return {"cue": cue_ball(t_s), **OBJECTS}


def draw(t_s: float) -> U8:
    image = _ground().copy()
    for ball, (x, y) in places(t_s).items():
        centre = CAMERA.project_plane([[x, y]], TABLE.ball_radius_mm)[0]
        radius = float(CAMERA.ball_radius_px([[x, y]], TABLE.ball_radius_mm)[0])
        colour = (20, 20, 90) if ball == "cue" else (225, 235, 240)
        at = (round(centre[0] * 16), round(centre[1] * 16))
        cv2.circle(image, at, round(radius * 16), colour, -1, cv2.LINE_AA, 4)
    return image


_GROUND: list[U8] = []


def _ground() -> U8:
    if not _GROUND:
        image = np.full((*CAMERA.size_px[::-1], 3), (60, 45, 40), np.uint8)
        rail = TABLE.rail_width_mm
        for margin, colour in ((rail, (40, 60, 90)), (0.0, (70, 110, 40))):
            x, y = TABLE.length_mm + margin, TABLE.width_mm + margin
            corners = [[-margin, -margin], [-margin, y], [x, y], [x, -margin]]
            cv2.fillPoly(image, [np.round(CAMERA.project_plane(corners, 0.0)).astype(np.int32)], colour)
        _GROUND.append(image)
    return _GROUND[0]


def write_video(path: Path, *, length_s: float = LENGTH_S) -> Path:
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = *CAMERA.size_px, "yuv420p"
        for index in range(round(length_s * FPS)):
            picture = av.VideoFrame.from_ndarray(draw(index / FPS), format="bgr24")
            picture.pts, picture.time_base = index, Fraction(1, FPS)
            out.mux(stream.encode(picture))
        out.mux(stream.encode())
    return path


def calibration() -> Calibration:
    return handmade.handmade_calibration(CAMERA)


def finder(frames: Sequence[Frame], wish: TableWish) -> Calibration:
    return calibration()


class ToldEye:
    """Stands where the network stands: gives what a good detector would, with its noise."""

    def __init__(self, calibration: Calibration) -> None:
        self.first_calibration = self.calibration = calibration
        self.moved: list[tuple[float, Calibration]] = []
        self.slow_s = 0.0
        self.jumped = False

    def use(self, calibration: Calibration, t_s: float) -> None:
        self.calibration = calibration
        self.moved.append((t_s, calibration))

    def look(self, changed: ChangedFrame) -> Detections:
        time.sleep(self.slow_s)
        frame = changed.frame
        balls = places(frame.t_s)
        noise = np.random.default_rng([7, frame.index])
        xy = np.array(list(balls.values())) + noise.normal(0, 0.8, (len(balls), 2))
        n = len(xy)
        number_p = np.zeros((n, 17))
        number_p[:, 16] = 1.0
        number_p[0, 0], number_p[0, 16] = 0.95, 0.05
        colour = np.full((n, 3), (85.0, 0.0, 8.0))
        colour[0] = (45.0, 45.0, 30.0)
        return Detections(
            frame=frame.index, t_s=frame.t_s, xy_px=self.calibration.camera.project_plane(xy, TABLE.ball_radius_mm),
            r_px=np.full(n, 6.0), confidence=np.full(n, 0.95), xy_mm=xy, sigma_mm=np.full(n, 1.0),
            number_p=number_p, colour=colour, blur_px=np.zeros(n),
        )  # fmt: skip


class FakeCamera:
    """A camera on a clock of its own, which every picture moves on. ``losses``: at which scene times it vanishes, and
    for how long."""

    def __init__(self, length_s: float, losses: Sequence[tuple[float, float]] = (), *, fps: float = FPS) -> None:
        self.now_s = 100.0
        self.opened = 0
        self._length_s = length_s
        self._losses = list(losses)
        self._fps = fps
        self.pause_s = 0.0
        """Real time between pictures, for those who must keep up with them."""
        self._over: Callable[[], None] = lambda: None

    def clock(self) -> float:
        return self.now_s

    def when_over(self, act: Callable[[], None]) -> None:
        self._over = act

    def open(self) -> Iterator[Shot]:
        self.opened += 1
        while True:
            t_s = self.now_s - 100.0
            if self._losses and t_s >= self._losses[0][0]:
                self.now_s += self._losses.pop(0)[1]
                raise CameraLost("the cable was pulled")
            if t_s >= self._length_s:
                self._over()
                time.sleep(0.02)
                continue
            yield Shot(draw(t_s), None)
            time.sleep(self.pause_s)
            self.now_s += 1 / self._fps


def strokes(rulings: Sequence[Any]) -> list[Any]:
    return [r for r in rulings if r.kind.value == "stroke"]
