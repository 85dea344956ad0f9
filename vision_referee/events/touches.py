"""Balls that something else moved: displaced out of sight, or turned on their way with nothing near."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import Stopped, Touch, TouchedBy
from vision_referee.events.handling import HAND_S
from vision_referee.events.scene import Scene
from vision_referee.tracking.mouths import nearest_mouth, nearest_nose
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]
_A_CUE_COVERS, _A_HAND_COVERS = 0.08, 0.2
"""Shares of the ring about a ball."""
_A_HAND_TAKES_S = 1.5
_AT_FIRST_S = 0.12
_FRICTION_MM_S2 = 200.0
"""A ball that a hand lets go of brakes by less."""


def find_displacements(scene: Scene) -> None:
    """Adds ``touch`` (and ``stopped``) for balls that rest elsewhere than they did, and nobody saw them go: a hand was
    over them."""
    for path in scene.paths.values():
        for br in path.breaks:
            before, after = path.legs[br.index], path.legs[br.index + 1]
            if not before.resting or not after.resting or after.t0_s < scene.start_s:
                continue
            moved = float(np.hypot(*(after.coef[0] - before.coef[0])))
            error = 4 * float(np.median(path.noise_mm))
            long_seen = before.n >= 5 and after.n >= 5
            # A shadow or a hand beside a ball shifts its centre in a small picture: the stated error counts as well.
            stated = 3 * float(np.median(path.sightings.sigma_mm))
            least = max(2 * scene.settings.least_move_mm, 0.12 * scene.diameter_mm, error, stated)
            if moved < least or not long_seen:
                continue
            if scene.attended(before.coef[0], after.t0_s) is False and scene.attended(before.coef[0], br.t_s) is False:
                continue
            confidence = float(np.clip(0.5 + 0.05 * moved / max(error, 1.0), 0.5, 0.85))
            start_s = max(before.t1_s, scene.start_s)
            if _told(scene, path.label, start_s):
                continue
            by = touched_by(scene, before.coef[0], start_s)
            scene.events.append(
                Touch(t=start_s, ball=path.label, by=by, moved_mm=round(moved, 1), confidence=confidence)
            )
            x, y = after.coef[0]
            stop_s = max(after.t0_s - HAND_S, start_s)
            scene.events.append(Stopped(t=stop_s, ball=path.label, x=float(x), y=float(y), confidence=confidence))


def find_deflections(scene: Scene) -> None:
    """Adds ``touch`` for a moving ball whose velocity jumps with no ball, cushion or pocket near."""
    diameter = scene.diameter_mm
    for ball, path in scene.paths.items():
        for br in path.breaks:
            before, after = path.legs[br.index], path.legs[br.index + 1]
            if before.resting or (ball, br.index) in scene.explained or before.n < 5 or after.n < 5:
                continue
            if br.t_s < scene.start_s or br.t_s > scene.gone_s(ball) - 0.1 or br.gap_s > 0.25:
                continue
            if br.strength_mm_s < max(8 * br.jump_sigma_mm_s, 250.0) or _told(scene, path.label, br.t_s):
                continue
            if (
                nearest_nose(scene.table, br.xy_mm)[1] < 1.6 * diameter
                or nearest_mouth(scene.table, br.xy_mm)[1] < 2 * diameter
            ):
                continue
            if any(
                other != ball and float(np.hypot(*(p.at(br.t_s) - br.xy_mm))) < 2.2 * diameter
                for other, p in scene.paths.items()
                if p.start_s - 0.3 <= br.t_s <= p.end_s + 0.3
            ):
                continue
            scene.events.append(Touch(t=br.t_s, ball=path.label, moved_mm=0.0, confidence=0.6))


def _told(scene: Scene, label: str, t_s: float) -> bool:
    """Whether a touch of this ball was told about then: one hand's way is one touch."""
    return any(isinstance(e, Touch) and e.ball == label and abs(e.t - t_s) < 1.0 for e in scene.events)


def goes_under_a_hand(scene: Scene, path: BallPath, start_s: float) -> bool:
    """Whether what set a ball going goes with it and stops it: a cue stays behind, a hand that moves a ball is over it
    all the way."""
    stop_s = min((stop.t_s for stop in path.stops.values() if stop.t_s > start_s), default=path.end_s)
    met = any(path.ball in (t.a, t.b) and start_s < t.t_s < stop_s for t in scene.touchings)
    if met or stop_s - start_s > _A_HAND_TAKES_S or scene.gone_s(path.ball) < stop_s + 0.1:
        return False
    speeds = [float(np.hypot(*path.velocity(float(t)))) for t in np.arange(start_s + 0.02, stop_s, 0.05)]
    fastest = max(speeds, default=0.0)
    if fastest < _FRICTION_MM_S2 * (stop_s - start_s):
        return False  # it rolled to its stop
    times = np.arange(start_s, stop_s, 0.05)
    home = path.at(start_s - 0.01)
    if float(np.hypot(*(path.at(start_s + _AT_FIRST_S) - home))) > 0.65 * fastest * _AT_FIRST_S:
        return False  # a blow: fastest at first, where a hand has to get going
    places = path.sample(times)
    away = np.hypot(*(places - home).T)
    moving = np.array([path.moving_at(float(t)) for t in times], np.bool_)
    on_its_way = moving & (away > min(2.5 * scene.diameter_mm, 0.4 * float(away.max(initial=0.0))))
    covers = [scene.cover.about(xy, float(t)) for xy, t in zip(places[on_its_way], times[on_its_way], strict=True)]
    most = [c[1] for c in covers if c is not None]
    return len(most) >= 4 and float(away.max()) > 0.5 * scene.diameter_mm and float(np.quantile(most, 0.25)) > 0.3


def touched_by(scene: Scene, xy_mm: F64, t_s: float) -> TouchedBy:
    """What touched a ball, by how much of its surroundings it covered: a cue is thin, a hand is not."""
    covers = [scene.cover.about(xy_mm, t) for t in np.arange(t_s - 0.3, t_s + 0.31, 0.1)]
    shares = [c[0] for c in covers if c is not None and c[1] > scene.settings.attended_cover]
    if not shares:
        return TouchedBy.UNKNOWN
    most = max(shares)
    return TouchedBy.CUE if most < _A_CUE_COVERS else TouchedBy.HAND if most > _A_HAND_COVERS else TouchedBy.UNKNOWN
