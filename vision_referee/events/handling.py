"""Hands between strokes: balls that appear or vanish with nothing to explain it."""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import PickedUp, Placed, Strike, VisionEvent
from vision_referee.events.scene import Scene, Touching
from vision_referee.tracking.identity import BallBook
from vision_referee.tracking.paths import BallPath
from vision_referee.tracking.tracker import Track, Tracker
from vision_referee.tracking.window import SolvedWindow

HAND_S = 0.2
"""How long a hand that has let go of a ball still hides it."""
_FLIGHT_S = 0.5
_FASTEST_MM_S = 13000.0
_A_BLOW_MM_S = 150.0
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
            if _was_struck(scene, path):
                entry = book.balls[ball]
                entry.on_table, entry.away_since_s = False, last.t1_s
                continue
            sure = track.bare_s > scene.settings.gone_s and not _in_a_stroke(scene, last.t1_s)
            events.append(
                PickedUp(
                    t=last.t1_s + _GRASP_S, ball=path.label, x=float(x), y=float(y), confidence=0.9 if sure else 0.5
                )
            )
            entry = book.balls[ball]
            entry.on_table, entry.away_since_s = False, last.t1_s
    return events


def find_unseen_strikes(scene: Scene, tracker: Tracker) -> None:
    """Adds the strike and the first contact of a ball that was never seen on its way: it is gone, and another ball
    that nothing else touched starts just when it can have got there. Comes before the starts are explained."""
    followed = {t.tracklet.ball: t for t in tracker.tracks if t.tracklet.ball is not None}
    for ball, path in scene.paths.items():
        track, last = followed.get(ball), path.legs[-1]
        if ball in scene.departures or track is None or not last.resting or not _is_gone(scene, path, track):
            continue
        gone_s, home = last.t1_s, last.coef[0]
        met = _first_started(scene, ball, gone_s)
        if met is None:
            continue
        t_s, other = met
        way = scene.paths[other].at(t_s - 0.01) - home
        distance = float(np.hypot(*way))
        if distance > _FASTEST_MM_S * (t_s - gone_s):
            continue
        velocity = way / (t_s - gone_s)
        scene.events.append(
            Strike(
                t=gone_s + 0.02, ball=path.label, x=float(home[0]), y=float(home[1]), vx=float(velocity[0]),
                vy=float(velocity[1]), confidence=0.7,
            )
        )  # fmt: skip
        normal = way / max(distance, 1.0)
        scene.touchings.append(
            Touching(
                a=ball, b=other, t_s=t_s, xy_mm=home + way - normal * scene.table.ball_radius_mm, normal=normal,
                confidence=0.6, a_started=False, b_started=True,
            )
        )  # fmt: skip


def _first_started(scene: Scene, ball: int, gone_s: float) -> tuple[float, int] | None:
    """When and which other ball started first after ``gone_s``, if nothing was moving that could have touched it."""
    starts = [
        (br.t_s, other)
        for other, path in scene.paths.items()
        for br in path.breaks
        if other != ball
        and path.legs[br.index].resting
        and not path.legs[br.index + 1].resting
        and br.strength_mm_s > _A_BLOW_MM_S
        and gone_s + 0.02 < br.t_s < gone_s + _FLIGHT_S
    ]
    moving = any(begin < gone_s < end for other in scene.paths for begin, end in scene.motion_spans(other))
    if not starts or moving:
        return None
    return min(starts)


def _was_struck(scene: Scene, path: BallPath) -> bool:
    gone_s = path.legs[-1].t1_s
    return any(isinstance(e, Strike) and e.ball == path.label and abs(e.t - gone_s) < 0.1 for e in scene.events)


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
