"""Hands between strokes: balls that appear or vanish with nothing to explain it."""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import PickedUp, Placed, Strike, VisionEvent
from vision_referee.events.scene import Scene
from vision_referee.tracking.identity import BallBook
from vision_referee.tracking.paths import BallPath
from vision_referee.tracking.tracker import Track, Tracker
from vision_referee.tracking.window import SolvedWindow

HAND_S = 0.2
"""How long a hand that has let go of a ball still hides it."""
_GRASP_S = 0.1
"""A hand covers a ball about so long before it lifts it."""


def find_handling(
    scene: Scene, book: BallBook, solved: SolvedWindow, tracker: Tracker, *, first: bool
) -> list[VisionEvent]:
    """``placed`` for balls that came to lie on the table out of nowhere, ``picked_up`` for balls that are gone."""
    events: list[VisionEvent] = []
    followed = {t.tracklet.ball: t for t in tracker.tracks if t.tracklet.ball is not None}
    for ball, path in scene.paths.items():
        if ball in scene.departures:
            continue
        last = path.legs[-1]
        if ball in solved.appeared and not (first and path.start_s < scene.start_s + 1.0) and last.resting:
            if _lay_there_unseen(path, tracker):
                continue
            x, y = last.coef[0]
            length = last.t1_s - last.t0_s
            confidence = float(np.clip(0.5 + 0.3 * length, 0.5, 0.9))
            if _in_a_stroke(scene, last.t0_s):
                confidence = 0.5
            # The hand that put it there still covered it at first.
            t_s = last.t0_s - HAND_S
            events.append(Placed(t=t_s, ball=path.label, x=float(x), y=float(y), confidence=confidence))
        track = followed.get(ball)
        if path.alive and last.resting and track is not None and _is_gone(scene, path, track):
            x, y = last.coef[0]
            sure = track.bare_s > scene.settings.gone_s and not _in_a_stroke(scene, last.t1_s)
            events.append(
                PickedUp(
                    t=last.t1_s + _GRASP_S, ball=path.label, x=float(x), y=float(y), confidence=0.9 if sure else 0.5
                )
            )
            entry = book.balls[ball]
            entry.on_table, entry.away_since_s = False, last.t1_s
    return events


def _in_a_stroke(scene: Scene, t_s: float) -> bool:
    """Whether balls roll at a time or just before: hands seldom reach in then, and balls are lost from sight."""
    struck = [e.t for e in scene.events if isinstance(e, Strike)]
    return any(t <= t_s for t in struck) and any(
        begin < t_s + 0.3 and end > t_s - 1.0 for ball in scene.paths for begin, end in scene.motion_spans(ball)
    )


def _lay_there_unseen(path: BallPath, tracker: Tracker) -> bool:
    """Whether nobody ever saw bare cloth where a newly seen ball lies: it was hidden, or not made out, all along."""
    bare_s = tracker.cloth.bare_s(path.legs[-1].coef[0])
    return bare_s is not None and not np.isfinite(bare_s)


def _is_gone(scene: Scene, path: BallPath, track: Track) -> bool:
    """Bare cloth where it lay, after something had been over it; or unseen for long, where the cloth tells nothing."""
    unseen_s = scene.end_s - float(path.sightings.t_s[-1])
    if track.bare_s > scene.settings.gone_s and track.covered_s is not None:
        return track.covered_s > float(path.sightings.t_s[-1]) - scene.settings.attended_s
    return unseen_s > scene.settings.gone_blind_s
