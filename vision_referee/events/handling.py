"""Hands between strokes: balls that appear or vanish with nothing to explain it."""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import PickedUp, Placed, VisionEvent
from vision_referee.events.scene import Scene
from vision_referee.tracking.identity import BallBook
from vision_referee.tracking.window import SolvedWindow

HAND_S = 0.2
"""How long a hand that has let go of a ball still hides it."""


def find_handling(scene: Scene, book: BallBook, solved: SolvedWindow, *, first: bool) -> list[VisionEvent]:
    """``placed`` for balls that came to lie on the table out of nowhere, ``picked_up`` for balls that are gone."""
    events: list[VisionEvent] = []
    for ball, path in scene.paths.items():
        if ball in scene.departures:
            continue
        last = path.legs[-1]
        if ball in solved.appeared and not (first and path.start_s < scene.start_s + 1.0) and last.resting:
            x, y = last.coef[0]
            length = last.t1_s - last.t0_s
            confidence = float(np.clip(0.5 + 0.3 * length, 0.5, 0.9))
            # The hand that put it there still covered it at first.
            t_s = max(last.t0_s - HAND_S, scene.start_s)
            events.append(Placed(t=t_s, ball=path.label, x=float(x), y=float(y), confidence=confidence))
        unseen = scene.end_s - float(path.sightings.t_s[-1])
        if path.alive and last.resting and unseen > scene.settings.gone_blind_s:
            x, y = last.coef[0]
            events.append(
                PickedUp(t=max(last.t1_s, scene.start_s), ball=path.label, x=float(x), y=float(y), confidence=0.7)
            )
            entry = book.balls[ball]
            entry.on_table, entry.away_since_s = False, last.t1_s
    return events
