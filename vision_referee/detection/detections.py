"""What a detector says of one frame: one struct of arrays, not an object a ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(slots=True)
class Detections:
    """The balls seen in one frame, n of them.

    ``xy_px`` (n, 2) refined centres, ``r_px`` (n,) apparent radius, ``confidence`` (n,) in 0..1 that it is a ball;
    ``xy_mm`` (n, 2) centres in the table frame (un-projected one ball radius above the cloth), ``sigma_mm`` (n,) one
    standard deviation of a centre, from the calibration at that place and the fit's own quality;
    ``number_p`` (n, 17): probabilities that the ball is the cue ball (column 0), number 1..15 (columns 1..15) or that
    it cannot be told (column 16); ``colour`` (n, 3) mean CIELAB colour of the ball's disc, to keep look-alikes apart;
    ``blur_px`` (n,) length of the motion streak, 0 where sharp.
    """

    frame: int
    t_s: float
    xy_px: F64
    r_px: F64
    confidence: F64
    xy_mm: F64
    sigma_mm: F64
    number_p: F64
    colour: F64
    blur_px: F64
    occluder: F64 | None = None
    """Optional coarse (rows, cols) map over the playing surface (table frame, row = y, col = x), 0..1: how much of
    each cell is covered by something that is neither cloth nor ball (a hand, a cue, a body)."""

    boxes_px: F64 | None = None
    """The network's own boxes (n, 4) x0 y0 x1 y1; the whole streak of a ball in motion."""

    def __len__(self) -> int:
        return len(self.xy_px)

    @staticmethod
    def empty(frame: int, t_s: float) -> Detections:
        z = np.zeros
        return Detections(
            frame=frame, t_s=t_s, xy_px=z((0, 2)), r_px=z(0), confidence=z(0), xy_mm=z((0, 2)), sigma_mm=z(0),
            number_p=z((0, 17)), colour=z((0, 3)), blur_px=z(0),
        )  # fmt: skip
