"""From a frame to the balls on the table: network, sub-pixel fit, place in mm, colour."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.backends import Backend, open_backend
from vision_referee.detection.colour import CueBallColour, mean_lab
from vision_referee.detection.detections import Detections
from vision_referee.detection.network import boxes_from_maps, suppress
from vision_referee.detection.numbers import open_reader
from vision_referee.detection.occlusion import OccluderMap
from vision_referee.detection.outline import circles, sphere_outline
from vision_referee.detection.refine import fit_outlines, polar_samples
from vision_referee.detection.region import Region, table_region, whole_picture
from vision_referee.detection.second_look import second_looks
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorSettings:
    """``threshold``: lower finds more and invents more; tracking sorts out short-lived inventions.

    Input sizes are areas in network pixels: larger sees smaller balls and costs in proportion.
    """

    threshold: float = 0.30
    moving_pixels: int = 640 * 352
    moving_least_ball_px: float = 10.0
    moving_most_pixels: int = 960 * 544
    fine_pixels: int = 960 * 544
    fine_least_ball_px: float = 13.0
    fine_most_pixels: int = 1280 * 736
    look_again: float = 0.15
    """Boxes down to this score are worth a second, closer look."""
    second_looks: int = 4
    """At most so many in a frame; each costs a tenth of the first."""
    least_size: float = 0.55
    """Least and greatest width of a box against the width a ball has at that place."""
    greatest_size: float = 1.75
    least_apart: float = 0.62
    """Two boxes closer than this part of a ball's diameter on the cloth are one ball; the surer one stays."""
    off_cloth: float = 0.7
    """Confidence is taken times this for what lies on the rails: chalk and the like lie there, balls seldom."""
    streak: float = 1.28
    """A box this much longer than a ball is a motion streak."""
    threads: int = 2
    numbers_a_frame: int = 2
    """How many balls' numbers are read in one frame, in turn; 0: all, every time."""
    least_number_px: float = 7.0
    """Radius below which no number is legible."""
    occluders: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelBalls:
    """Balls in pixels only: ``xy_px`` (n, 2), ``r_px`` (n,), ``confidence`` (n,), ``sigma_px`` (n,), ``colour`` (n, 3)
    CIELAB, ``boxes_px`` (n, 4) as the network gave them, ``blur_px`` (n,)."""

    xy_px: F64
    r_px: F64
    confidence: F64
    sigma_px: F64
    colour: F64
    boxes_px: F64
    blur_px: F64


class PixelDetector:
    """Balls in pictures of which no calibration is known."""

    def __init__(self, backend: Backend | None = None, *, settings: DetectorSettings | None = None) -> None:
        self.settings = settings or DetectorSettings()
        self._backend = backend or open_backend(threads=self.settings.threads)

    def boxes(self, bgr: U8, region: Region) -> tuple[F64, F64]:
        """The network's boxes (n, 4) in picture pixels and scores (n,), suppressed.

        Groups of small balls and doubtful boxes get a second, closer look.
        """
        boxes, scores = self._look(bgr, region, min(self.settings.threshold, self.settings.look_again))
        size = (bgr.shape[1], bgr.shape[0])
        for tile, core in second_looks(boxes, scores, region.scale, size, most=self.settings.second_looks):
            middle = (boxes[:, :2] + boxes[:, 2:]) / 2
            outside = ~np.all((middle >= core[:2]) & (middle <= core[2:]), axis=1)
            closer, sure = self._look(bgr, tile, self.settings.threshold)
            at = (closer[:, :2] + closer[:, 2:]) / 2
            inside = np.all((at >= core[:2]) & (at <= core[2:]), axis=1)
            boxes = np.concatenate([boxes[outside], closer[inside]])
            scores = np.concatenate([scores[outside], sure[inside]])
        enough = scores >= self.settings.threshold
        boxes, scores = boxes[enough], scores[enough]
        keep = suppress(boxes, scores)
        return boxes[keep], scores[keep]

    def _look(self, bgr: U8, region: Region, threshold: float) -> tuple[F64, F64]:
        scores_map, edges = self._backend.maps(region.cut(bgr))
        boxes, scores = boxes_from_maps(scores_map, edges, threshold)
        keep = suppress(boxes, scores)
        return region.to_picture(boxes[keep]), scores[keep]

    def detect(self, bgr: U8, *, pixels: int | None = None) -> PixelBalls:
        """All balls of a picture, on the table or not; ``pixels``: area of the network's input."""
        region = whole_picture(bgr.shape[1], bgr.shape[0], pixels=pixels or self.settings.fine_pixels)
        boxes, scores = self.boxes(bgr, region)
        size = boxes[:, 2:] - boxes[:, :2]
        radius = np.sqrt(np.maximum(size.prod(axis=1), 1e-6)) / 2
        middle = (boxes[:, :2] + boxes[:, 2:]) / 2
        long_side, short_side = size.max(axis=1, initial=0), size.min(axis=1, initial=1e9)
        blur = np.where(long_side > self.settings.streak * short_side, long_side - short_side, 0.0)
        radius = np.where(blur > 0, short_side / 2, radius)
        fit = fit_outlines(bgr, middle, circles(radius))
        near = np.linalg.norm(fit.centre_px - middle, axis=1) < 0.25 * radius
        good = near & (blur == 0) & (fit.support > 0.3)
        centre = np.where(good[:, None], fit.centre_px, middle)
        return PixelBalls(
            xy_px=centre,
            r_px=np.where(good, radius * fit.scale, radius),
            confidence=scores,
            sigma_px=np.where(good, fit.sigma_px, 0.1 * radius + 0.15 * blur),
            colour=_colours(bgr, centre, circles(radius)),
            boxes_px=boxes,
            blur_px=blur,
        )


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
        self._reader = open_reader(models, threads=self.settings.threads)
        self._turn = 0
        self._size = 1.0
        self._box_size = 1.0
        self._size_seen = 0
        self.recalibrate(calibration)

    def recalibrate(self, calibration: Calibration) -> None:
        """Go on with another calibration of the same video (the camera was moved)."""
        self.calibration = calibration
        self._occluders = OccluderMap(calibration) if self.settings.occluders else None
        s, camera, table = self.settings, calibration.camera, calibration.table
        self._moving = table_region(
            camera,
            table,
            pixels=s.moving_pixels,
            least_ball_px=s.moving_least_ball_px,
            most_pixels=s.moving_most_pixels,
        )
        self._fine = table_region(
            camera, table, pixels=s.fine_pixels, least_ball_px=s.fine_least_ball_px, most_pixels=s.fine_most_pixels
        )

    @property
    def size_ratio(self) -> float:
        """Balls' size as seen over what table and camera would give: far from 1, the table is another than said."""
        return self._size

    def detect(self, frame: Frame, *, fine: bool = False) -> Detections:
        """The balls of a frame. ``fine``: the larger network input, for balls at rest or when something is in doubt."""
        bgr = frame.bgr()
        boxes, scores = self._pixels.boxes(bgr, self._fine if fine else self._moving)
        middle = (boxes[:, :2] + boxes[:, 2:]) / 2
        keep = np.flatnonzero(self._plausible(boxes, middle))
        keep = keep[self._apart(middle[keep], scores[keep])]
        boxes, scores, middle = boxes[keep], scores[keep], middle[keep]
        empty = Detections.empty(frame.index, frame.t_s)
        found = self._measure(frame, bgr, boxes, scores, middle) if len(boxes) else empty
        if self._occluders is not None:
            found.occluder = self._occluders.update(bgr, found.xy_mm)
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

    def _apart(self, middle: F64, scores: F64) -> Bool:
        """Which boxes may stay beside better ones: two balls' centres are never closer than a diameter on the cloth."""
        stay = np.ones(len(middle), bool)
        if len(middle) < 2:
            return stay
        at = self.calibration.camera.unproject(middle, self.calibration.table.ball_radius_mm)
        least = self.settings.least_apart * self.calibration.table.ball_diameter_mm * self._size
        close = np.linalg.norm(at[:, None] - at[None, :], axis=2) < least
        for i in np.argsort(-scores):
            if stay[i]:
                stay &= ~(close[i] & (scores < scores[i]))
        return stay

    def _measure(self, frame: Frame, bgr: U8, boxes: F64, scores: F64, middle: F64) -> Detections:
        calibration, table = self.calibration, self.calibration.table
        camera, radius_mm = calibration.camera, table.ball_radius_mm
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
        fit = fit_outlines(bgr, start, template)
        r_px = camera.ball_radius_px(at, radius_mm) * self._size
        moved = np.linalg.norm(fit.centre_px - start, axis=1)
        good = sharp & (moved < 0.30 * r_px) & (fit.support > 0.25)
        centre = np.where(good[:, None], fit.centre_px, start)
        sigma_px = np.where(good, np.maximum(fit.sigma_px, 0.05), 0.10 * r_px + 0.12 * blur)
        self._learn_size(fit.scale[good & (fit.support > 0.6) & (scores > 0.6)])
        xy_mm = camera.unproject(centre, radius_mm)
        scores = scores * np.where(self._on_cloth(xy_mm), 1.0, self.settings.off_cloth)
        colour = _colours(bgr, centre, template)
        cue = self._cue.probability(colour, good & (scores > 0.6))
        number_p = self._numbers(bgr, centre, r_px * np.where(good, fit.scale, 1.0), blur, cue)
        return Detections(
            frame=frame.index,
            t_s=frame.t_s,
            xy_px=centre,
            r_px=r_px * np.where(good, fit.scale, 1.0),
            confidence=scores,
            xy_mm=xy_mm,
            sigma_mm=calibration.sigma_mm(xy_mm, 1.0) * sigma_px,
            number_p=number_p,
            colour=colour,
            blur_px=blur,
            boxes_px=boxes,
        )

    def _numbers(self, bgr: U8, centre: F64, r_px: F64, blur: F64, cue: F64) -> F64:
        """``number_p`` (n, 17): what colour says of the cue ball, and the numbers of the balls whose turn it is."""
        number_p = np.zeros((len(centre), 17))
        number_p[:, 16] = 1.0
        legible = np.flatnonzero((blur < 0.5 * r_px) & (r_px >= self.settings.least_number_px))
        if self._reader is not None and len(legible):
            order = legible[np.lexsort(centre[legible].T)]
            if 0 < self.settings.numbers_a_frame < len(order):
                order = np.roll(order, -self._turn)[: self.settings.numbers_a_frame]
                self._turn = (self._turn + self.settings.numbers_a_frame) % len(legible)
            number_p[order] = self._reader.probabilities(bgr, centre[order], r_px[order])
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


def _colours(bgr: U8, centre: F64, outlines: F64) -> F64:
    """Mean CIELAB (n, 3) inside the discs."""
    if len(centre) == 0:
        return np.zeros((0, 3))
    samples = polar_samples(bgr, centre, outlines[:, ::2], np.array([0.15, 0.35, 0.5, 0.65, 0.78]))
    return mean_lab(samples.reshape(len(centre), -1, 3))
