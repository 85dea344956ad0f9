"""Frames to detections for one camera: the detector on its calibration, kept true while the camera drifts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.drift import DriftWatch
from vision_referee.calibration.find import calibrate_frames
from vision_referee.calibration.recognition import recognise_table
from vision_referee.detection.detections import Detections
from vision_referee.detection.detector import BallDetector
from vision_referee.detection.follower import Follower
from vision_referee.detection.settings import DetectorSettings
from vision_referee.domain.errors import CalibrationError
from vision_referee.domain.table import TableSpec
from vision_referee.pipeline.orientation import head_from_rack
from vision_referee.resources import data_folder
from vision_referee.video.changes import ChangedFrame
from vision_referee.video.frames import Frame

DETECTOR_CARD = "ball_detector.json"
CALIBRATION_FRAMES = 9
"""Frames spread over the video from which the table is found: people move away from some part of it in some of them."""

_SURE_BALL = 0.46
"""Boxes that measure the balls' size must be this surely balls."""


def models_in_use() -> dict[str, str]:
    """Each network's name and version: how much it was trained and the beginning of its weights' hash."""
    card = json.loads((data_folder("models") / DETECTOR_CARD).read_text(encoding="utf-8"))
    digest = card["sha256"].get("ball_detector.bin", "")[:12]
    return {"detector": f"{card['name']} {digest}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWish:
    """What the user said about the table; None where the video has to tell."""

    table: TableSpec | None = None
    head: str | None = None
    calibration: Calibration | None = None


def find_table(
    frames: Sequence[Frame], wish: TableWish, corners_px: npt.NDArray[np.float64] | None = None
) -> Calibration:
    """The calibration for a video, from frames spread over it.

    A given calibration is taken as it is, unless a person marks ``corners_px`` (4, 2). Without a given table it is
    recognised by the balls' size against it; the head end is taken from the rack where one is seen and nobody said
    otherwise.

    Raises:
        CalibrationError: no table can be found in the frames.
    """
    if wish.calibration is not None and corners_px is None:
        given = wish.calibration
        if frames:
            height, width = frames[0].bgr().shape[:2]
            if (width, height) != tuple(given.camera.size_px):
                raise CalibrationError(
                    f"the calibration is for pictures of {given.camera.size_px[0]} x {given.camera.size_px[1]}, the "
                    f"video has {width} x {height}; calibrate with this video"
                )
        return given.with_head(wish.head) if wish.head else given
    pictures = [frame.bgr() for frame in frames]
    calibration = calibrate_frames(pictures, table=wish.table, head=wish.head, corners_px=corners_px)
    if wish.table is not None and calibration.head_known:
        return calibration
    looks = _looks(calibration, frames)
    if wish.table is None:
        sure = [d.boxes_px[d.confidence > _SURE_BALL] for d in looks if d.boxes_px is not None]
        table, reason = recognise_table(calibration, np.vstack([np.zeros((0, 4)), *sure]))
        if table.name != calibration.table.name:
            calibration = calibrate_frames(pictures, table=table, head=wish.head, corners_px=corners_px)
            looks = _looks(calibration, frames)
        calibration = replace(calibration, table_reason=reason)
    if not calibration.head_known:
        side = head_from_rack(calibration, looks)
        if side is not None:
            calibration = calibration.with_head(side)
    return calibration


def _looks(calibration: Calibration, frames: Sequence[Frame]) -> list[Detections]:
    detector = BallDetector(calibration, settings=DetectorSettings(numbers=False, occluders=False))
    return [detector.detect(frame) for frame in frames]


class Eye:
    """Sees one video: ``look`` turns a frame into detections. ``calibration`` changes when the camera has moved."""

    def __init__(self, calibration: Calibration) -> None:
        self.first_calibration = calibration
        self.calibration = calibration
        self.moved: list[tuple[float, Calibration]] = []
        """When the camera was found moved, and the calibration from then on."""
        self._follower = Follower(BallDetector(calibration))
        self._drift = DriftWatch(calibration)
        self.in_view = True
        self._last = Detections.empty(0, 0.0)
        self.jumped = False
        """At the last frame a ball lay where none had been seen the frame before."""

    def look(self, changed: ChangedFrame) -> Detections:
        """Detections of one frame; none while another view hides the table."""
        frame = changed.frame
        if changed.hard_cut:
            self._view_changed(frame)
        if not self.in_view:
            return Detections.empty(frame.index, frame.t_s)
        moved = self._drift.push(frame)
        if moved is not None:
            self._take(moved, frame.t_s)
        if changed.cut:
            self._follower.forget()
        found = self._steadied(self._follower.follow(frame))
        self.jumped = changed.hard_cut or _new_places(self._last, found, self.calibration.table.ball_diameter_mm)
        self._last = found
        return found

    def _steadied(self, found: Detections) -> Detections:
        """The same, places corrected for how far a camera that is held by hand has moved since it was calibrated."""
        offset = self._drift.offset
        if offset is None or len(found) == 0:
            return found
        return replace(found, xy_mm=self.calibration.balls_mm(offset.undone(found.xy_px)))

    def _view_changed(self, frame: Frame) -> None:
        """After a cut to another picture: the table is looked for anew; it may be the same view again."""
        try:
            found = calibrate_frames([frame.bgr()], table=self.calibration.table, head=None)
        except CalibrationError:
            self.in_view = False
            return
        self.in_view = True
        known = self.calibration
        # A new search knows nothing of the head: of the two ways to call the ends, the one that is nearer the old.
        found = min((found, found.turned()), key=lambda one: float(np.abs(one.corners_px - known.corners_px).max()))
        found = replace(found, head_known=known.head_known, table_reason=known.table_reason)
        shift = np.abs(found.corners_px - known.corners_px).max()
        if shift > 0.02 * max(found.camera.size_px):
            self.use(found, frame.t_s)

    def use(self, calibration: Calibration, t_s: float) -> None:
        """See by this calibration from ``t_s`` on."""
        self._take(calibration, t_s)
        self._drift = DriftWatch(calibration)

    def _take(self, calibration: Calibration, t_s: float) -> None:
        self.calibration = calibration
        self.moved.append((t_s, calibration))
        self._follower.recalibrate(calibration)


def _new_places(before: Detections, now: Detections, ball_mm: float) -> bool:
    """Whether a ball that is surely seen now lies where none lay before."""
    sure = now.xy_mm[now.confidence > 0.63]
    if len(sure) == 0 or len(before) == 0:
        return len(sure) > 0
    distance = np.linalg.norm(sure[:, None] - before.xy_mm[None], axis=2).min(axis=1)
    return bool((distance > 0.6 * ball_mm).any())
