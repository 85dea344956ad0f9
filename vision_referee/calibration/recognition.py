"""Which table it is, told by the balls' size against it and by how wide the middle pockets are."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.tables import DEFAULT_TABLE, load_table, table_names
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]

RADIUS_BIAS = 0.045
"""One standard deviation of the logarithm of a detector's sizes: a bias that more balls do not average away."""
BOX_BIAS = 0.015
"""By how much, in the logarithm, a detector's boxes are larger than their balls."""
MOUTH_SPREAD = 0.16
"""The same of a pocket's mouth as measured in the picture."""
_LEAST_SIGHTINGS = 3
_MARGIN = 4.0
"""By how much chi squared a table must beat another to be believed."""


def recognise_table(calibration: Calibration, boxes_px: npt.ArrayLike) -> tuple[TableSpec, str]:
    """The likeliest shipped table, and why, in one sentence.

    ``boxes_px`` (n, 4): x y x y of balls on the cloth as a detector gave them, from any number of frames; one ball seen
    a few times is enough. The calibration may be for any 2:1 table: only proportions count. In doubt about the 12 ft
    pyramid table it is taken; where it is ruled out, the best of the others, and the doubt is said.
    """
    usual = load_table(DEFAULT_TABLE)
    boxes = np.asarray(boxes_px, np.float64).reshape(-1, 4)
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    # The short side: a moving ball's box is longer than the ball.
    radii = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) / 2 / math.exp(BOX_BIAS)
    assumed = calibration.table
    if len(centres):
        xy_mm = calibration.balls_mm(centres)
        inside = (xy_mm > 0).all(axis=1) & (xy_mm < [assumed.length_mm, assumed.width_mm]).all(axis=1) & (radii > 1.5)
        centres, radii, xy_mm = centres[inside], radii[inside], xy_mm[inside]
    if len(centres) < _LEAST_SIGHTINGS:
        return usual, f"{DEFAULT_TABLE}, for want of balls to measure the table by"
    expected = calibration.camera.ball_radius_px(xy_mm, assumed.ball_radius_mm)
    ratio = np.log(radii / np.maximum(expected, 1e-6))
    middle = float(np.median(ratio))
    spread = 1.4826 * float(np.median(np.abs(ratio - middle))) / math.sqrt(min(len(ratio), 30))
    share = math.exp(middle) * assumed.ball_diameter_mm / assumed.length_mm
    mouth = None if calibration.mouth_mm is None else calibration.mouth_mm / assumed.length_mm
    scores: list[tuple[float, TableSpec]] = []
    for name in table_names():
        table = load_table(name)
        off = math.log(share / (table.ball_diameter_mm / table.length_mm))
        chi2 = off**2 / (RADIUS_BIAS**2 + spread**2)
        if mouth is not None:
            chi2 += (math.log(mouth / (table.middle_mouth_mm / table.length_mm)) / MOUTH_SPREAD) ** 2
        scores.append((chi2, table))
    scores.sort(key=lambda pair: pair[0])
    (best, table), (second, rival) = scores[0], scores[1]
    seen = f"the table is {1 / share:.0f} balls long"
    doubt = f"in doubt: {seen}"
    if table.name == DEFAULT_TABLE:
        return table, f"{table.name}: {seen}"
    off_usual = next(chi2 for chi2, one in scores if one.name == DEFAULT_TABLE)
    if off_usual - best < _MARGIN:
        return usual, f"{DEFAULT_TABLE}, {doubt}, which fits {table.name} as well"
    if best > 9.0:
        return table, f"{table.name}, {doubt}, which fits no known table; say --table"
    if second - best < _MARGIN:
        return table, f"{table.name}, {doubt}, which fits {rival.name} as well; say --table"
    return table, f"{table.name}: {seen}"
