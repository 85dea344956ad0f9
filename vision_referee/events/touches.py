"""Balls that something else moved: displaced out of sight, or turned on their way with nothing near."""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import Stopped, Touch
from vision_referee.events.handling import HAND_S
from vision_referee.events.scene import Scene
from vision_referee.tracking.mouths import nearest_mouth, nearest_nose


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
            scene.events.append(Touch(t=start_s, ball=path.label, moved_mm=round(moved, 1), confidence=confidence))
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
            if br.strength_mm_s < max(8 * br.jump_sigma_mm_s, 250.0):
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
