"""Repeated frames that the eye let pass: 15 true frames a second stored as 30 look like stop and go."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


_SHARE_OF_STEP = 0.2
_MOST_MM = 4.0
"""A picture encoded anew shifts no centre by more; a velocity that is only a guess must not allow for more."""


def is_repeat(previous_mm: F64, seen_mm: F64, rolling_mm: F64, expected_step_mm: F64, *, least_step_mm: float) -> bool:
    """Whether a frame shows the picture of the one before, though encoded anew.

    ``previous_mm`` (m, 2) and ``seen_mm`` (n, 2) are the two frames' (sure) detections, ``rolling_mm`` (k, 2) the last
    places of the balls that roll and ``expected_step_mm`` (k,) how far each should have come. Only balls that should
    have moved visibly can tell; all of them must stand still at once, and nothing may be anywhere new.
    """
    telling = expected_step_mm >= least_step_mm
    if not telling.any() or len(seen_mm) == 0 or len(previous_mm) == 0:
        return False
    same = float(np.clip(_SHARE_OF_STEP * expected_step_mm[telling].min(), 0.3, _MOST_MM))
    to_previous = np.linalg.norm(seen_mm[:, None] - previous_mm[None], axis=2).min(axis=1)
    if not (to_previous <= same).all():
        return False
    to_seen = np.linalg.norm(rolling_mm[telling][:, None] - seen_mm[None], axis=2).min(axis=1)
    return bool((to_seen <= np.minimum(_SHARE_OF_STEP * expected_step_mm[telling], _MOST_MM)).all())
