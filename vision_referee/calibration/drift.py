"""A camera that moves: the cushions' edges are looked at now and then, and the pose is solved again when they shift."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.cushion_shape import usual_cushions
from vision_referee.calibration.cushions import side_points
from vision_referee.calibration.pose import table_corners
from vision_referee.calibration.refine import refine
from vision_referee.calibration.strips import smooth_lab
from vision_referee.calibration.uncertainty import changed
from vision_referee.video.frames import Frame

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

CHECK_EVERY_S = 0.3
CONFIRM_AFTER_S = 0.15
"""A shift is believed when it is seen again this much later: one frame may show a person or a flash."""
FOLLOW_FOR_S = 4.0
"""After the last motion seen, how long every frame is looked at: who holds a camera by hand moves it again."""
_FOLLOWED_PX = 4.5
"""Beyond such a shift the calibration is moved along, and following goes on from there."""
_ELSEWHERE_PX = 5.0
"""At the first look: a camera that has been moved since the calibration was made, not the error of reading one picture
(up to 4.2 pixels over rendered tables whose true camera was given)."""
_STILL = 0.6
"""Shifts below this share of the threshold are no motion."""
_LATEST = 0.6
"""Weight of the newest frame's shift against those before it."""
_REACH_PX = 9.0
_STEP_PX = 0.5
_SAMPLES = 40
_PARTS = 4
_SURE = 0.55  # normalised correlation of a piece of edge with what it looked like


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How the picture moved: ``largest_px`` and ``largest_mm`` over the table's corners; ``pieces`` that agreed.

    ``motion`` (4,) is shift x, shift y, turn and growth at ``size_px`` from ``centre_px`` (2,), all in pixels.
    """

    largest_px: float
    largest_mm: float
    pieces: int
    motion: F64
    centre_px: F64
    size_px: float

    def undone(self, points_px: F64) -> F64:
        """Where points (n, 2) of the moved picture were before."""
        return np.asarray(points_px - _field(self.motion, points_px, self.centre_px, self.size_px), np.float64)


class DriftWatch:
    """Streaming: ``push`` every frame; it answers None, or the new calibration when the camera has moved.

    Most frames cost nothing, three a second a millisecond or two; a re-solve some tenths of a second. After a motion
    every frame is looked at for a while, and :attr:`offset` says how far its picture lies off.
    """

    def __init__(
        self, calibration: Calibration, *, threshold_px: float | None = None, check_every_s: float = CHECK_EVERY_S
    ) -> None:
        self.calibration = calibration
        self.last_shift: Shift | None = None
        width = calibration.camera.size_px[0]
        self._pixel = max(1.0, width / 1000)
        self._threshold_px = threshold_px if threshold_px is not None else 0.8 * self._pixel
        self._every_s = check_every_s
        self._next_s = -np.inf
        self._doubts = 0
        self._edges = _EdgeSamples.of(calibration)
        self._reference: F32 | None = None
        self._follow_until_s = -np.inf
        self._offset: Shift | None = None

    @property
    def offset(self) -> Shift | None:
        """How far the picture now lies from where :attr:`calibration` holds, while a moving camera is followed."""
        return self._offset

    def push(self, frame: Frame) -> Calibration | None:
        """Looks at ``frame`` if it is time to; the calibration that holds from this frame on, if it is another."""
        following = frame.t_s < self._follow_until_s
        if frame.t_s < self._next_s and not following:
            return None
        self._next_s = frame.t_s + self._every_s
        luma = frame.luma()
        if luma.shape != (self.calibration.camera.size_px[1], self.calibration.camera.size_px[0]):
            return None
        slopes = self._edges.slopes(luma)
        if self._reference is None:
            return self._first_look(frame, luma, slopes)
        shift = self._edges.shift(self._reference, slopes, self.calibration)
        self.last_shift = shift
        if following and shift is not None:
            self._follow(shift, frame.t_s)
            return self._carried(shift, luma) if shift.largest_px > _FOLLOWED_PX * self._pixel else None
        if shift is None or shift.largest_px < _STILL * self._threshold_px:
            self._doubts = 0
            self._offset = None if shift is not None else self._offset
            return None
        self._doubts += 1
        self._next_s = frame.t_s + CONFIRM_AFTER_S
        if self._doubts < 2:
            return None
        self._doubts = 0
        self._follow_until_s = frame.t_s + FOLLOW_FOR_S
        if shift.largest_px < self._threshold_px:
            self._follow(shift, frame.t_s)
            return None
        return self._solved(frame, luma, slopes)

    def _follow(self, shift: Shift, t_s: float) -> None:
        before = self._offset
        if before is not None:
            shift = replace(shift, motion=_LATEST * shift.motion + (1 - _LATEST) * before.motion)
            if np.abs(shift.motion - before.motion).max() > 0.1 * self._threshold_px:
                self._follow_until_s = t_s + FOLLOW_FOR_S
        self._offset = shift

    def _carried(self, shift: Shift, luma: U8) -> Calibration:
        """The calibration moved along; not solved anew, which would make every place jump a little."""
        self._use(carried_along(self.calibration, self._offset or shift), luma)
        return self.calibration

    def _first_look(self, frame: Frame, luma: U8, slopes: F32) -> Calibration | None:
        """The calibration may come from another day than this: begin with where the edges are now, if that is another
        place. One picture alone is read less surely than the many that a calibration is made of."""
        self._reference = slopes
        solved = resolve_pose(frame.bgr(), self.calibration)
        if solved is None or corner_shift_px(solved, self.calibration) < _ELSEWHERE_PX * self._pixel:
            return None
        self._use(solved, luma)
        return solved

    def _solved(self, frame: Frame, luma: U8, slopes: F32) -> Calibration | None:
        solved = resolve_pose(frame.bgr(), self.calibration)
        if solved is None:
            return None
        moved = corner_shift_px(solved, self.calibration)
        if moved < 0.5 * self._threshold_px:
            # The light changed, not the camera: what the edges look like now is the new reference.
            self._reference = slopes
            return None
        self._use(solved, luma)
        return solved

    def _use(self, calibration: Calibration, luma: U8) -> None:
        self.calibration = calibration
        self._offset = None
        self._edges = _EdgeSamples.of(calibration)
        self._reference = self._edges.slopes(luma)


def corner_shift_px(a: Calibration, b: Calibration) -> float:
    """The largest distance in pixels between the two calibrations' corners of the playing surface."""
    return float(np.linalg.norm(a.corners_px - b.corners_px, axis=1).max())


def carried_along(calibration: Calibration, shift: Shift) -> Calibration:
    """The calibration of a camera that was turned (and zoomed) so that the picture moved by ``shift``."""
    table = calibration.table
    places = np.column_stack([calibration.outline_mm(samples=3), np.full(12, table.nose_height_mm)])
    before = calibration.camera.project(places)
    wanted = before + _field(shift.motion, before, shift.centre_px, shift.size_px)
    camera = calibration.camera
    free = np.eye(8)[[0, 1, 2, 6]]
    for _ in range(2):
        here = camera.project(places)
        slopes = np.stack([(changed(camera, 1e-5 * one).project(places) - here).ravel() / 1e-5 for one in free], axis=1)
        step = np.linalg.lstsq(slopes, (wanted - here).ravel(), rcond=None)[0]
        camera = changed(camera, step @ free)
    corners = camera.project(table_corners(table, 0.0, table.nose_height_mm))
    return replace(calibration, camera=camera, corners_px=corners)


def resolve_pose(bgr: U8, calibration: Calibration) -> Calibration | None:
    """The same lens and table, the pose solved anew on this picture's edges; None where they cannot be read.

    Follows shifts of up to some one and a half percent of the picture's width.
    """
    table = calibration.table
    pixel = max(1.0, bgr.shape[1] / 1000)
    refined = refine(
        smooth_lab(bgr, 0.7 * pixel), calibration.camera, table, usual_cushions(table, size_known=True),
        calibration.cushion_top_mm, calibration.rail_rise_mm, pixel, rounds=4, lens_fixed=True,
        reach_px=(14.0, 6.0, 3.0, 2.0),
    )  # fmt: skip
    if refined is None or refined.residual_px > max(2.0 * calibration.residual_px, 1.5 * pixel):
        return None
    if sum(max(n, r) > 0.25 for n, r in zip(refined.noses_seen, refined.rails_seen, strict=True)) < 3:
        return None
    corners = refined.camera.project(table_corners(table, 0.0, table.nose_height_mm))
    return replace(
        calibration, camera=refined.camera, corners_px=corners, residual_px=refined.residual_px,
        residual_mm=refined.residual_mm, method=f"{calibration.method.split(' (')[0]} (solved again after a move)",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _EdgeSamples:
    """Where to look: ``grid_px`` (pieces, samples, offsets, 2), each piece's middle and inward normal (pieces, 2)."""

    grid_px: F32
    middles: F64
    normals: F64

    @staticmethod
    def of(calibration: Calibration) -> _EdgeSamples:
        table, camera = calibration.table, calibration.camera
        offsets = np.arange(-_REACH_PX, _REACH_PX + 1e-6, _STEP_PX)
        grids, middles, normals = [], [], []
        for side in range(4):
            for lift in ((0.0, 0.0), (calibration.cushion_top_mm, calibration.rail_rise_mm)):
                line = camera.project(side_points(table, side, *lift, count=_SAMPLES * _PARTS))
                for piece in np.array_split(line, _PARTS):
                    way = piece[-1] - piece[0]
                    size = float(np.linalg.norm(way))
                    if size < 8:
                        continue
                    normal = np.array([-way[1], way[0]]) / size
                    picks = piece[np.linspace(0, len(piece) - 1, _SAMPLES // 2).astype(int)]
                    grids.append(picks[:, None, :] + offsets[None, :, None] * normal)
                    middles.append(piece.mean(axis=0))
                    normals.append(normal)
        return _EdgeSamples(grid_px=np.array(grids, np.float32), middles=np.array(middles), normals=np.array(normals))

    def slopes(self, luma: U8) -> F32:
        """(pieces, samples, offsets) change of brightness across the edges; 0 outside the picture."""
        shape = self.grid_px.shape
        flat = self.grid_px.reshape(shape[0] * shape[1], shape[2], 2)
        seen = cv2.remap(luma, flat[..., 0], flat[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        smooth = cv2.GaussianBlur(seen.astype(np.float32), (5, 1), 1.0)
        return np.asarray(np.gradient(smooth, axis=1), np.float32).reshape(shape[:3])

    def shift(self, before: F32, now: F32, calibration: Calibration) -> Shift | None:
        """The similarity of the picture that best explains how the pieces of edge moved; None when too few agree."""
        moves = np.full(len(self.middles), np.nan)
        span = now.shape[2] // 2 - 4
        energy = np.sqrt((before[:, :, span:-span] ** 2).sum(axis=(1, 2)))
        best = np.full(len(moves), -1.0)
        scores = []
        for lag in range(-span, span + 1):
            piece = now[:, :, span + lag : now.shape[2] - span + lag]
            score = (piece * before[:, :, span:-span]).sum(axis=(1, 2))
            scores.append(score / np.maximum(energy * np.sqrt((piece**2).sum(axis=(1, 2))), 1e-6))
        table = np.array(scores)
        top = np.argmax(table, axis=0)
        columns = np.arange(table.shape[1])
        best = table[top, columns]
        inner = (top > 0) & (top < len(table) - 1) & (best > _SURE) & (energy > 8.0)
        left, right = table[np.maximum(top - 1, 0), columns], table[np.minimum(top + 1, len(table) - 1), columns]
        bend = left - 2 * best + right
        fraction = np.where(np.abs(bend) > 1e-9, 0.5 * (left - right) / np.where(bend == 0, 1, bend), 0.0)
        moves = (top - span + np.clip(fraction, -0.5, 0.5)) * _STEP_PX
        if inner.sum() < 8:
            return None
        return _similarity(self.middles[inner], self.normals[inner], moves[inner], calibration)


def _similarity(middles: F64, normals: F64, moves: F64, calibration: Calibration) -> Shift | None:
    centre = middles.mean(axis=0)
    size = float(np.abs(middles - centre).max())
    off = (middles - centre) / size
    # Motion (dx, dy) + turn (-y, x) + growth (x, y), seen across each piece only.
    system = np.column_stack(
        [normals, -off[:, 1] * normals[:, 0] + off[:, 0] * normals[:, 1], (off * normals).sum(axis=1)]
    )
    weight = np.ones(len(moves))
    motion = np.zeros(4)
    for _ in range(6):
        root = np.sqrt(weight)[:, None]
        ridge = 0.05 * np.eye(4)
        wanted = np.append(moves * root[:, 0], np.zeros(4))
        motion = np.linalg.lstsq(np.vstack([system * root, ridge]), wanted, rcond=None)[0]
        rest = moves - system @ motion
        weight = 1.0 / (1.0 + (rest / 0.5) ** 2)
    agree = int((np.abs(moves - system @ motion) < 0.75).sum())
    if agree < max(8, 0.4 * len(moves)):
        return None
    lengths = np.linalg.norm(_field(motion, calibration.corners_px, centre, size), axis=1)
    worst = int(np.argmax(lengths))
    table = calibration.table
    mm = calibration.sigma_mm(table_corners(table, 0.0, 0.0)[:, :2], 1.0)
    return Shift(largest_px=float(lengths[worst]), largest_mm=float((lengths * mm).max()), pieces=agree,
                 motion=motion, centre_px=centre, size_px=size)  # fmt: skip


def _field(motion: F64, points_px: F64, centre_px: F64, size_px: float) -> F64:
    """How far (n, 2) a similarity of the picture moves points (n, 2)."""
    off = (points_px - centre_px) / size_px
    return np.asarray(motion[:2] + motion[2] * np.column_stack([-off[:, 1], off[:, 0]]) + motion[3] * off, np.float64)
