"""Balls knocked into a pocket so fast that they were not seen on the way: gone, and another ball lost what they got."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.events.scene import Departure, Scene
from vision_referee.tracking.breaks import Break
from vision_referee.tracking.mouths import mouth_crossing
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]
_UNSEEN_S = 0.25
_LEAST_BLOW_MM_S = 300.0
_FARTHEST_S = 0.4
"""A ball that rolls longer than this to its pocket is seen on the way."""


def knocked_in(scene: Scene, path: BallPath) -> Departure | None:
    """The fall of a ball that lay still, is not seen any more, and was struck towards a mouth just then.

    Equal masses: it left with what the other ball lost along the line of centres.
    """
    last = path.legs[-1]
    lay_until_s = float(path.sightings.t_s[-1])
    if not last.resting or scene.end_s - lay_until_s < _UNSEEN_S:
        return None
    home = last.coef[0]
    best: tuple[float, Departure] | None = None
    for ball, other in scene.paths.items():
        if ball == path.ball:
            continue
        for br in other.breaks:
            if other.legs[br.index].resting or not lay_until_s - 0.05 <= br.t_s <= lay_until_s + 0.2:
                continue
            blow = _blow(scene, br, home)
            if blow is None:
                continue
            crossing = mouth_crossing(scene.table, home, blow, slack_mm=0.5 * scene.diameter_mm)
            if crossing is None or crossing[1] > _FARTHEST_S:
                continue
            pocket, wait_s, _ = crossing
            strength = float(np.hypot(*blow))
            if best is None or strength > best[0]:
                t_s = br.t_s + max(wait_s, 0.02)
                best = (strength, Departure(ball=path.ball, t_s=t_s, pocket=pocket.name, confidence=0.8))
    return best[1] if best is not None else None


def _blow(scene: Scene, br: Break, home: F64) -> F64 | None:
    """The velocity (2,) that a break of another ball's gave to a ball at ``home``; None where it gave it none."""
    between = home - br.xy_mm
    distance = float(np.hypot(*between))
    early = 0.004 * float(np.hypot(*br.before_mm_s))
    if (
        not 0.5 * scene.diameter_mm
        < distance
        < scene.settings.contact_reach_diameters * scene.diameter_mm + early + 10.0
    ):
        return None
    normal = between / distance
    lost = -float(br.jump_mm_s @ normal)
    if lost < _LEAST_BLOW_MM_S or lost < 0.7 * br.strength_mm_s:
        return None
    return np.asarray(normal * lost, np.float64)
