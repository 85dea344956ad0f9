"""New tracklets: three sightings that one ball in free motion explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
_OTHER_COLOUR = 45.0
"""CIELAB distance that blur and light between two frames do not explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A detection no track took: ``index`` within its frame's detections."""

    slot: int
    """Counts frames that were looked at (repeats left out)."""
    index: int
    t_s: float
    xy_mm: tuple[float, float]
    sigma_mm: float
    colour: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Mean CIELAB."""


def triples(
    pool: list[Leftover], *, newest_slot: int, top_speed_mm_s: float, slack_mm: float
) -> list[tuple[int, int, int]]:
    """Triples (i, j, k) of ``pool``, k of the newest frame, that lie on one straight, even path; best first, disjoint.

    A third sighting must be where the first two say, within noise and ``slack_mm`` (what braking does in two frames).
    Of two explanations of a sighting the better fitting wins; slower ones win ties, since fast pairs match by chance.
    """
    n = len(pool)
    if n < 3:
        return []
    t = np.array([p.t_s for p in pool])
    xy = np.array([p.xy_mm for p in pool])
    sigma = np.array([p.sigma_mm for p in pool])
    slot = np.array([p.slot for p in pool])
    colour = np.array([p.colour for p in pool])
    found: list[tuple[float, int, int, int]] = []
    newest = np.flatnonzero(slot == newest_slot)
    for k in newest.tolist():
        middles = np.flatnonzero((slot < newest_slot) & (slot >= newest_slot - 2))
        for j in middles.tolist():
            dt = t[k] - t[j]
            if dt <= 0:
                continue
            velocity = (xy[k] - xy[j]) / dt
            speed = float(np.hypot(*velocity))
            if speed > top_speed_mm_s:
                continue
            firsts = np.flatnonzero((slot < slot[j]) & (slot >= slot[j] - 2))
            if not len(firsts):
                continue
            back = t[j] - t[firsts]
            expected = xy[j] - velocity * back[:, None]
            miss = np.hypot(*(xy[firsts] - expected).T)
            ratio = back / dt
            spread = np.sqrt(sigma[firsts] ** 2 + ((1 + ratio) * sigma[j]) ** 2 + (ratio * sigma[k]) ** 2)
            allowed = 3.0 * spread + slack_mm + 0.03 * speed * back
            for i, m, s, a in zip(firsts.tolist(), miss, spread, allowed, strict=True):
                shade = max(float(np.linalg.norm(colour[i] - colour[j])), float(np.linalg.norm(colour[j] - colour[k])))
                if m <= a and shade <= _OTHER_COLOUR:
                    score = float((m / (s + slack_mm / 3)) ** 2 + speed / 1000.0)
                    found.append((score, int(i), int(j), int(k)))
    found.sort()
    used: set[int] = set()
    chosen: list[tuple[int, int, int]] = []
    for _, first, middle, last in found:
        if not used & {first, middle, last}:
            used |= {first, middle, last}
            chosen.append((first, middle, last))
    return chosen
