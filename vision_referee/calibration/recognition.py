"""Which table it is, told by the balls' size against it and by how wide the middle pockets are."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.tables import DEFAULT_TABLE, load_table, table_names
from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]

RADIUS_BIAS = 0.035
"""One standard deviation of the logarithm of a detector's radii: a bias that more balls do not average away."""
MOUTH_SPREAD = 0.16
"""The same of a pocket's mouth as measured in the picture."""
_LEAST_BALLS = 3
_MARGIN = 4.0
"""By how much chi squared the best table must beat the next to be believed."""


def recognise_table(
    calibration: Calibration, xy_px: npt.ArrayLike, r_px: npt.ArrayLike
) -> tuple[TableSpec, str]:
    """The likeliest shipped table, and why, in one sentence.

    ``xy_px`` (n, 2) and ``r_px`` (n,): centres and apparent radii of balls on the cloth, from any number of frames. The
    calibration may be for any 2:1 table: only proportions count. In doubt the 12 ft pyramid table is taken.
    """
    usual = load_table(DEFAULT_TABLE)
    centres = np.asarray(xy_px, np.float64).reshape(-1, 2)
    radii = np.asarray(r_px, np.float64).reshape(-1)
    assumed = calibration.table
    if len(centres):
        xy_mm = calibration.balls_mm(centres)
        inside = (
            (xy_mm > 0).all(axis=1) & (xy_mm < [assumed.length_mm, assumed.width_mm]).all(axis=1) & (radii > 1.5)
        )
        centres, radii, xy_mm = centres[inside], radii[inside], xy_mm[inside]
    if len(centres) < _LEAST_BALLS:
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
    if table.name == DEFAULT_TABLE:
        return table, f"{table.name}: {seen}"
    if best > 9.0:
        return usual, f"{DEFAULT_TABLE}, in doubt: {seen}, which fits no known table"
    if second - best < _MARGIN:
        return usual, f"{DEFAULT_TABLE}, in doubt: {seen}, which fits {table.name} and {rival.name}"
    return table, f"{table.name}: {seen}"
