"""From a frame to the balls on the table: network, sub-pixel fit, place in mm, colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.backends import Backend, open_backend
from vision_referee.detection.colour import CueBallColour, disc_lab
from vision_referee.detection.detections import Detections
from vision_referee.detection.numbers import open_reader
from vision_referee.detection.occlusion import OccluderMap
from vision_referee.detection.outline import sphere_outline
from vision_referee.detection.pixel_detector import PixelDetector
from vision_referee.detection.reading_turns import ReadingTurns
from vision_referee.detection.refine import fit_outlines
from vision_referee.detection.region import Region, table_region
from vision_referee.detection.settings import DetectorSettings
from vision_referee.detection.sighted import Sighted
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

_SAME_SIZE = 0.1
_SAME_COLOUR = 15.0
"""CIELAB distance within which a ball looks as it did the frame before."""


_SURE = 0.63
"""Confidence from which a ball is fit to learn the set's colours from."""


class BallDetector:
    """Balls on a calibrated table. Keeps a little memory (the set's colours, the balls' true size), nothing else."""

    def __init__(
        self,
        calibration: Calibration,
        *,
        backend: Backend | None = None,
        settings: DetectorSettings | None = None,
        models: Path | None = None,
    ) -> None:
        self.settings = settings or DetectorSettings()
        self._pixels = PixelDetector(
            backend or open_backend(models, threads=self.settings.threads), settings=self.settings
        )
        self._cue = CueBallColour(calibration.table.family)
        self._reader = open_reader(models, threads=self.settings.threads) if self.settings.numbers else None
        self._turns = ReadingTurns()
        self._covered: F64 | None = None
        self._size = 1.0
        self._box_size = 1.0
        self._size_seen = 0
        self.recalibrate(calibration)

    def recalibrate(self, calibration: Calibration) -> None:
        """Go on with another calibration of the same video (the camera was moved)."""
        self.calibration = calibration
        self._radius_mm = calibration.table.ball_radius_mm
        self._covered = None
        self._occluders = OccluderMap(calibration) if self.settings.occluders else None
        s, camera, table = self.settings, calibration.camera, calibration.table
        self.moving = table_region(
            camera,
            table,
            pixels=s.moving_pixels,
            least_ball_px=s.moving_least_ball_px,
            most_pixels=s.moving_most_pixels,
        )
        self.fine = table_region(
            camera, table, pixels=s.fine_pixels, least_ball_px=s.fine_least_ball_px, most_pixels=s.fine_most_pixels
        )

    @property
    def size_ratio(self) -> float:
        """Balls' size as seen over what table and camera would give: far from 1, the table is another than said."""
        return self._size

    def detect(self, frame: Frame, *, fine: bool = False) -> Detections:
        """The balls of a frame. ``fine``: the larger network input, for balls at rest or when something is in doubt."""
        return self.told(frame, self.sighted(frame, *self.look(frame, self.fine if fine else self.moving)))

    def look(self, frame: Frame, region: Region) -> tuple[F64, F64]:
        """Boxes (n, 4) and scores (n,) of what may be balls in a part of the picture."""
        boxes, scores = self._pixels.boxes(frame, region)
        keep = self._plausible(boxes, (boxes[:, :2] + boxes[:, 2:]) / 2)
        return boxes[keep], scores[keep]

    def look_closely(self, frame: Frame, tiles: Sequence[Region]) -> tuple[F64, F64, npt.NDArray[np.intp]]:
        """The same of small tiles, and the index (n,) of the tile in which each was found."""
        seen = [self._pixels.close_boxes(frame, tile) for tile in tiles]
        boxes = np.concatenate([np.zeros((0, 4)), *(some for some, _ in seen)])
        scores = np.concatenate([np.zeros(0), *(sure for _, sure in seen)])
        tile = np.repeat(np.arange(len(seen)), [len(sure) for _, sure in seen])
        keep = self._plausible(boxes, (boxes[:, :2] + boxes[:, 2:]) / 2)
        return boxes[keep], scores[keep], tile[keep]

    def apart(self, boxes: F64, scores: F64) -> Bool:
        """Which boxes (n, 4) may stay beside better ones: two balls' centres are never closer than a diameter on the
        cloth."""
        stay = np.ones(len(boxes), bool)
        if len(boxes) < 2:
            return stay
        at = self.calibration.camera.unproject((boxes[:, :2] + boxes[:, 2:]) / 2, self._radius_mm)
        least = self.settings.least_apart * self.calibration.table.ball_diameter_mm * self._size
        close = np.linalg.norm(at[:, None] - at[None, :], axis=2) < least
        for i in np.argsort(-scores):
            if stay[i]:
                stay &= ~(close[i] & (scores < scores[i]))
        return stay

    def sighted(self, frame: Frame, boxes: F64, scores: F64) -> Sighted:
        """The balls in boxes, each measured."""
        keep = np.flatnonzero(self.apart(boxes, scores))
        return self._measure(frame, boxes[keep], scores[keep]) if len(keep) else Sighted.none()

    def refit(self, frame: Frame, balls: Sighted, at_mm: F64) -> tuple[Sighted, Bool]:
        """The same balls at the places (n, 2) where they should be now, by their outlines alone; and which of them were
        clearly found there. No network is asked."""
        camera = self.calibration.camera
        centres_mm = np.column_stack([at_mm, np.full(len(at_mm), self._radius_mm)])
        start = camera.project(centres_mm)
        template = (sphere_outline(camera, centres_mm, self._radius_mm) - start[:, None]) * self._size
        fit = fit_outlines(frame, start, template)
        r_px = camera.ball_radius_px(at_mm, self._radius_mm) * self._size
        xy_mm = camera.unproject(fit.centre_px, self._radius_mm)
        colour = disc_lab(frame, fit.centre_px, template)
        found = (
            (np.linalg.norm(fit.centre_px - start, axis=1) < 0.2 * r_px)
            & (np.abs(fit.scale - 1) < _SAME_SIZE)
            & (fit.support > np.minimum(0.45, 0.8 * balls.support))
            & (np.linalg.norm(colour - balls.colour, axis=1) < _SAME_COLOUR)
        )
        shift = np.tile(fit.centre_px - balls.xy_px, 2)
        moved = Sighted(
            boxes_px=balls.boxes_px + shift,
            scores=balls.scores,
            xy_px=fit.centre_px,
            r_px=r_px * fit.scale,
            confidence=self._confidence(balls.scores, xy_mm),
            xy_mm=xy_mm,
            sigma_mm=self.calibration.sigma_mm(xy_mm, 1.0) * np.maximum(fit.sigma_px, 0.05),
            colour=colour,
            blur_px=balls.blur_px,
            sharp=balls.sharp,
            support=fit.support,
        )
        return moved, np.asarray(found, np.bool_)

    def told(self, frame: Frame, balls: Sighted, *, occluders: bool = True) -> Detections:
        """What is said of a frame: its balls, their numbers, and, unless the last map will do, what covers the cloth.

        Raises nothing; a frame without balls is an answer too.
        """
        found = Detections(
            frame=frame.index,
            t_s=frame.t_s,
            xy_px=balls.xy_px,
            r_px=balls.r_px,
            confidence=balls.confidence,
            xy_mm=balls.xy_mm,
            sigma_mm=balls.sigma_mm,
            number_p=self._numbers(frame, balls),
            colour=balls.colour,
            blur_px=balls.blur_px,
            boxes_px=balls.boxes_px,
        )
        if self._occluders is not None:
            if occluders or self._covered is None:
                self._covered = self._occluders.update(frame, balls.xy_mm)
            found.occluder = self._covered
        return found

    def _plausible(self, boxes: F64, middle: F64) -> Bool:
        """Which boxes lie over table or rail and are of a ball's size there."""
        if len(boxes) == 0:
            return np.zeros(0, bool)
        table = self.calibration.table
        at = self.calibration.camera.unproject(middle, table.ball_radius_mm)
        reach = table.rail_width_mm + 1.5 * table.ball_radius_mm
        inside = (
            (at[:, 0] > -reach)
            & (at[:, 0] < table.length_mm + reach)
            & (at[:, 1] > -reach)
            & (at[:, 1] < table.width_mm + reach)
        )
        expected = 2 * self.calibration.camera.ball_radius_px(at, table.ball_radius_mm) * self._size
        size = boxes[:, 2:] - boxes[:, :2]
        slack = 1.0 if self._size_seen else 1.3
        short, long_ = size.min(axis=1) / expected, size.max(axis=1) / expected
        # Until the size is known a table taken for another must not cost the balls.
        fits = (
            (short * slack > self.settings.least_size) & (short < self.settings.greatest_size * slack) & (long_ < 9.0)
        )
        return np.asarray(inside & fits, np.bool_)

    def _confidence(self, scores: F64, xy_mm: F64) -> F64:
        """Probabilities (n,) that boxes with raw ``scores`` at ``xy_mm`` are balls."""
        return self._pixels.reliability.of(scores) * np.where(self._on_cloth(xy_mm), 1.0, self.settings.off_cloth)

    def _on_cloth(self, xy_mm: F64) -> Bool:
        """Which centres lie on the playing surface or in a pocket's mouth; elsewhere a ball is a rare thing."""
        table = self.calibration.table
        edge = 0.2 * table.ball_radius_mm
        x, y = xy_mm[:, 0], xy_mm[:, 1]
        inside = (x > edge) & (x < table.length_mm - edge) & (y > edge) & (y < table.width_mm - edge)
        mouths = np.array([pocket.mouth_mm for pocket in table.pockets()])
        reach = max(1.4 * table.ball_diameter_mm, table.middle_mouth_mm)
        near = np.linalg.norm(xy_mm[:, None] - mouths[None], axis=2).min(axis=1) < reach
        return np.asarray(inside | near, np.bool_)

    def _measure(self, frame: Frame, boxes: F64, scores: F64) -> Sighted:
        calibration, table = self.calibration, self.calibration.table
        camera, radius_mm = calibration.camera, table.ball_radius_mm
        middle = (boxes[:, :2] + boxes[:, 2:]) / 2
        at = camera.unproject(middle, radius_mm)
        centres_mm = np.column_stack([at, np.full(len(at), radius_mm)])
        projected = camera.project(centres_mm)
        template = sphere_outline(camera, centres_mm, radius_mm) - projected[:, None]
        size = boxes[:, 2:] - boxes[:, :2]
        span = template.max(axis=1) - template.min(axis=1)
        self._learn_box_size(size.min(axis=1)[scores > 0.5] / span.min(axis=1)[scores > 0.5])
        template, span = template * self._size, span * self._size
        extra = np.maximum(size - span, 0)
        blur = np.where((size / span).max(axis=1) > self.settings.streak, np.hypot(*extra.T), 0.0)
        sharp = blur == 0
        # The template's middle is not quite the projected centre (perspective): start from where the box says.
        start = middle - (template.max(axis=1) + template.min(axis=1)) / 2
        fit = fit_outlines(frame, start, template)
        r_px = camera.ball_radius_px(at, radius_mm) * self._size
        moved = np.linalg.norm(fit.centre_px - start, axis=1)
        good = sharp & (moved < 0.30 * r_px) & (fit.support > 0.25)
        centre = np.where(good[:, None], fit.centre_px, start)
        sigma_px = np.where(good, np.maximum(fit.sigma_px, 0.05), 0.10 * r_px + 0.12 * blur)
        self._learn_size(fit.scale[good & (fit.support > 0.6) & (scores > 0.6)])
        xy_mm = camera.unproject(centre, radius_mm)
        return Sighted(
            boxes_px=boxes,
            scores=scores,
            xy_px=centre,
            r_px=r_px * np.where(good, fit.scale, 1.0),
            confidence=self._confidence(scores, xy_mm),
            xy_mm=xy_mm,
            sigma_mm=calibration.sigma_mm(xy_mm, 1.0) * sigma_px,
            colour=disc_lab(frame, centre, template),
            blur_px=blur,
            sharp=good,
            support=fit.support,
        )

    def _numbers(self, frame: Frame, balls: Sighted) -> F64:
        """``number_p`` (n, 17): what colour says of the cue ball, and the numbers of the balls whose turn it is."""
        cue = self._cue.probability(balls.colour, balls.sharp & (balls.confidence > _SURE))
        number_p = np.zeros((len(balls), 17))
        number_p[:, 16] = 1.0
        legible = np.flatnonzero((balls.blur_px < 0.5 * balls.r_px) & (balls.r_px >= self.settings.least_number_px))
        if self._reader is not None and len(legible):
            order = legible
            if not self.settings.read_all:
                order = legible[self._turns.choose(balls.xy_px[legible], balls.r_px[legible])]
            number_p[order] = self._reader.probabilities(frame, balls.xy_px[order], balls.r_px[order])
        told = np.maximum(cue, 0.5 * (cue + number_p[:, 0]))
        rest = np.maximum(1 - number_p[:, :1], 1e-9)
        number_p[:, 1:] *= (1 - told)[:, None] / rest
        number_p[:, 0] = told
        return number_p

    def _learn_box_size(self, ratio: F64) -> None:
        """Follow the balls' true size: tables' and balls' sizes are often not quite what they are said to be.

        The network's boxes tell it to a few hundredths.
        """
        if len(ratio) < 3 or self._size_seen > 200:
            return
        seen = float(np.clip(np.median(ratio), 0.60, 1.80))
        self._size_seen += 1
        self._box_size += max(0.02, 1.0 / self._size_seen) * (seen - self._box_size)
        if self._size_seen == 1:
            self._size = self._box_size

    def _learn_size(self, scale: F64) -> None:
        """Make the size finer by the fits, within what the boxes allow: a fit's own bias must not feed on itself."""
        if len(scale) < 3 or self._size_seen > 200:
            return
        wanted = self._size * (1 + 0.1 * (float(np.median(scale)) - 1))
        self._size = float(np.clip(wanted, 0.95 * self._box_size, 1.05 * self._box_size))
