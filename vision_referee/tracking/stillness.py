"""Is a ball still? A straight line through its last sightings, over a span as long as its noise demands."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.settings import TrackingSettings

F64 = npt.NDArray[np.float64]


def is_still(t_s: F64, xy_mm: F64, settings: TrackingSettings) -> bool:
    """Whether the ball seen at ``xy_mm`` (n, 2) at ``t_s`` (n,), newest last, has stopped.

    The speed's standard error of a line over span H with n sightings of noise s is s * sqrt(12 / n) / H; the span grows
    until that error is below the speed that counts as still.
    """
    if len(t_s) < 4:
        return False
    now = t_s[-1]
    for span in np.linspace(settings.still_min_s, settings.still_max_s, 4):
        inside = t_s >= now - span - 1e-6
        n = int(inside.sum())
        held = now - t_s[inside][0]
        if n < 4 or held < 0.6 * span:
            return False
        t = t_s[inside] - t_s[inside].mean()
        xy = xy_mm[inside]
        centred = xy - xy.mean(axis=0)
        velocity = t @ centred / (t @ t)
        residual = centred - t[:, None] * velocity
        noise = max(float(np.sqrt((residual**2).sum() / max(2 * n - 4, 1))), 0.1)
        error = noise / float(np.sqrt(t @ t))
        speed = float(np.hypot(*velocity))
        if speed > settings.still_speed_mm_s + 3 * error:
            return False
        if error < 0.7 * settings.still_speed_mm_s and speed < settings.still_speed_mm_s:
            return True
        if span >= settings.still_max_s and speed < settings.still_speed_mm_s + error:
            return True
    return False
