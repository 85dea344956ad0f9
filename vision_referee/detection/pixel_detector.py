"""Balls in a picture, in pixels: network, second look, sub-pixel fit. No table is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.detection.backends import Backend, open_backend
from vision_referee.detection.colour import disc_lab
from vision_referee.detection.network import boxes_from_maps, suppress
from vision_referee.detection.outline import circles
from vision_referee.detection.refine import fit_outlines
from vision_referee.detection.region import Region, whole_picture
from vision_referee.detection.second_look import second_looks
from vision_referee.detection.settings import DetectorSettings
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]


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
        self.reliability = self._backend.reliability

    def boxes(self, frame: Frame, region: Region) -> tuple[F64, F64]:
        """The network's boxes (n, 4) in picture pixels and scores (n,), suppressed.

        Groups of small balls and doubtful boxes get a second, closer look.
        """
        boxes, scores = self._look(frame, region, min(self.settings.threshold, self.settings.look_again))
        for tile, core in second_looks(boxes, scores, region.scale, frame.size_px, most=self.settings.second_looks):
            middle = (boxes[:, :2] + boxes[:, 2:]) / 2
            outside = ~np.all((middle >= core[:2]) & (middle <= core[2:]), axis=1)
            closer, sure = self._look(frame, tile, self.settings.threshold)
            at = (closer[:, :2] + closer[:, 2:]) / 2
            inside = np.all((at >= core[:2]) & (at <= core[2:]), axis=1)
            boxes = np.concatenate([boxes[outside], closer[inside]])
            scores = np.concatenate([scores[outside], sure[inside]])
        enough = scores >= self.settings.threshold
        boxes, scores = boxes[enough], scores[enough]
        keep = suppress(boxes, scores)
        return boxes[keep], scores[keep]

    def close_boxes(self, frame: Frame, tile: Region) -> tuple[F64, F64]:
        """Boxes (n, 4) and scores (n,) of a tile in which balls are large enough at the first look."""
        return self._look(frame, tile, self.settings.threshold)

    def _look(self, frame: Frame, region: Region, threshold: float) -> tuple[F64, F64]:
        scores_map, edges = self._backend.maps(region.cut(frame))
        boxes, scores = boxes_from_maps(scores_map, edges, threshold)
        keep = suppress(boxes, scores)
        return region.to_picture(boxes[keep]), scores[keep]

    def detect(self, frame: Frame, *, pixels: int | None = None) -> PixelBalls:
        """All balls of a picture, on the table or not; ``pixels``: area of the network's input."""
        region = whole_picture(*frame.size_px, pixels=pixels or self.settings.fine_pixels)
        boxes, scores = self.boxes(frame, region)
        size = boxes[:, 2:] - boxes[:, :2]
        radius = np.sqrt(np.maximum(size.prod(axis=1), 1e-6)) / 2
        middle = (boxes[:, :2] + boxes[:, 2:]) / 2
        long_side, short_side = size.max(axis=1, initial=0), size.min(axis=1, initial=1e9)
        blur = np.where(long_side > self.settings.streak * short_side, long_side - short_side, 0.0)
        radius = np.where(blur > 0, short_side / 2, radius)
        fit = fit_outlines(frame, middle, circles(radius))
        near = np.linalg.norm(fit.centre_px - middle, axis=1) < 0.25 * radius
        good = near & (blur == 0) & (fit.support > 0.3)
        centre = np.where(good[:, None], fit.centre_px, middle)
        return PixelBalls(
            xy_px=centre,
            r_px=np.where(good, radius * fit.scale, radius),
            confidence=self.reliability.of(scores),
            sigma_px=np.where(good, fit.sigma_px, 0.1 * radius + 0.15 * blur),
            colour=disc_lab(frame, centre, circles(radius)),
            boxes_px=boxes,
            blur_px=blur,
        )
