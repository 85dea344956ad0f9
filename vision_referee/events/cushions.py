"""Cushions: a velocity that turns away from a nose one radius off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import CushionHit
from vision_referee.domain.table import Cushion, TableSpec
from vision_referee.events.noses import CUSHION_NORMALS, nose_distance_mm
from vision_referee.events.pockets_cut import depth_and_side
from vision_referee.events.scene import Scene
from vision_referee.tracking.breaks import Break

F64 = npt.NDArray[np.float64]


def find_cushions(scene: Scene) -> None:
    """Adds ``cushion`` events and marks their breaks explained."""
    for ball, path in scene.paths.items():
        error_mm = float(np.median(path.sightings.sigma_mm))
        for br in path.breaks:
            if not scene.start_s - 0.05 <= br.t_s <= scene.gone_s(ball):
                continue
            if path.legs[br.index].resting or _in_a_mouth(scene.table, br.xy_mm):
                continue
            for cushion, confidence in cushions_of(scene.table, br, scene.settings.cushion_reach_diameters, error_mm):
                if (ball, br.index) in scene.explained:
                    confidence = min(confidence, 0.6)
                    if not _turned(br, cushion):
                        continue
                scene.explained.add((ball, br.index))
                scene.events.append(
                    CushionHit(
                        t=br.t_s,
                        ball=path.label,
                        cushion=cushion,
                        x=float(br.xy_mm[0]),
                        y=float(br.xy_mm[1]),
                        confidence=confidence,
                    )
                )


def find_grazes(scene: Scene) -> None:
    """Adds cushions met so softly that the leg did not break: the ball nears the nose to one radius and turns away."""
    radius, diameter = scene.table.ball_radius_mm, scene.diameter_mm
    for path in scene.paths.values():
        for leg in path.legs:
            if leg.resting or leg.n < 6 or leg.t1_s < scene.start_s:
                continue
            near = max(0.06 * diameter, float(np.median(path.sightings.sigma_mm[leg.first : leg.last + 1])))
            for cushion, normal in CUSHION_NORMALS.items():
                half = float(leg.coef[2] @ normal)
                speed = float(leg.coef[1] @ normal)
                if half < 10.0:
                    continue
                vertex = leg.ref_s - speed / (2 * half)
                if not leg.t0_s + 0.06 < vertex < leg.t1_s - 0.06:
                    continue
                distance = nose_distance_mm(scene.table, cushion, leg.at(vertex))
                toward, away = -float(leg.velocity(leg.t0_s) @ normal), float(leg.velocity(leg.t1_s) @ normal)
                slow = 3 * leg.speed_sigma(vertex)
                if abs(distance - radius) > near or toward < max(20.0, slow) or away < max(12.0, slow):
                    continue
                x, y = leg.at(vertex)
                scene.events.append(
                    CushionHit(t=vertex, ball=path.label, cushion=cushion, x=float(x), y=float(y), confidence=0.6)
                )


def find_hidden_bounces(scene: Scene) -> None:
    """Adds cushions met by a ball between its being hit and its being seen again, when it goes where nothing pushed
    it."""
    for touching in scene.touchings:
        if touching.bounced:
            continue
        for ball, started, away in (
            (touching.a, touching.a_started, -touching.normal),
            (touching.b, touching.b_started, touching.normal),
        ):
            path = scene.paths[ball]
            near = [b for b in path.breaks if path.legs[b.index].resting and abs(b.t_s - touching.t_s) < 0.15]
            if not started or not near:
                continue
            br = near[0]
            after, home = br.after_mm_s, path.legs[br.index].coef[0]
            speed = float(np.hypot(*after))
            for cushion, inward in CUSHION_NORMALS.items():
                toward = -float(away @ inward)
                way = nose_distance_mm(scene.table, cushion, home) - scene.table.ball_radius_mm
                reached = way < speed * toward * (br.gap_s + 0.03) + 0.1 * scene.diameter_mm
                if toward < 0.4 or float(after @ inward) < 0.25 * speed or not reached:
                    continue
                wait = min(max(way, 0.0) / max(speed * toward, 50.0), 0.8 * br.gap_s + 0.05)
                at = home + away * max(way, 0.0) / toward
                scene.events.append(
                    CushionHit(
                        t=touching.t_s + wait, ball=path.label, cushion=cushion, x=float(at[0]), y=float(at[1]),
                        confidence=0.75,
                    )
                )  # fmt: skip


def cushions_of(
    table: TableSpec, br: Break, reach_diameters: float, error_mm: float = 0.0
) -> list[tuple[Cushion, float]]:
    """The cushions that a break speaks for, with confidence: near, gone toward, and pushed away from.

    ``error_mm``: how far from its true place the ball may be seen.
    """
    found: list[tuple[Cushion, float]] = []
    reach = reach_diameters * table.ball_diameter_mm
    for cushion, normal in CUSHION_NORMALS.items():
        distance = nose_distance_mm(table, cushion, br.xy_mm)
        toward = -float(br.before_mm_s @ normal)
        # Slow balls are seen well: only a fast one, between two frames, may have been much nearer than its break.
        if distance < -0.3 * table.ball_diameter_mm or distance > min(
            reach, 0.7 * table.ball_diameter_mm + 0.3 * abs(toward) * br.gap_s + 1.5 * error_mm
        ):
            continue
        push = float(br.jump_mm_s @ normal)
        share = push / max(br.strength_mm_s, 1.0)
        sigma = br.jump_sigma_mm_s
        # What a bias that jumps by the stated error within a tenth of a second seems to be.
        if toward < max(1.5 * sigma, 12.0, 8.0 * error_mm) or push < max(2.5 * sigma, 20.0) or share < 0.45:
            continue
        if not br.is_impact and (share < 0.65 or abs(distance / table.ball_diameter_mm - 0.5) > 0.2):
            continue
        near = float(np.exp(-((((distance / table.ball_diameter_mm) - 0.5) / 0.45) ** 2)))
        confidence = float(np.clip(0.55 + 0.3 * near + 0.15 * (share - 0.45) / 0.55, 0.4, 0.98))
        found.append((cushion, confidence))
    return found


def _in_a_mouth(table: TableSpec, xy_mm: F64) -> bool:
    """Whether a centre is behind a mouth's line: what it meets there is the pocket, not a cushion."""
    for pocket in table.pockets():
        depth, side = depth_and_side(pocket, xy_mm)
        if float(depth) > 0.0 and float(side) < pocket.width_mm / 2:
            return True
    return False


def _turned(br: Break, cushion: Cushion) -> bool:
    """Whether the ball came back from the cushion: a contact alone beside a cushion need not have met it."""
    normal = CUSHION_NORMALS[cushion]
    return float(br.before_mm_s @ normal) < -40.0 and float(br.after_mm_s @ normal) > 40.0
