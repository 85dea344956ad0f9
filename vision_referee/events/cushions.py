"""Cushions: a velocity that turns away from a nose one radius off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import CushionHit
from vision_referee.domain.table import Cushion, TableSpec
from vision_referee.events.noses import CUSHION_NORMALS, nose_distance_mm
from vision_referee.events.scene import Scene
from vision_referee.tracking.breaks import Break

F64 = npt.NDArray[np.float64]


def find_cushions(scene: Scene) -> None:
    """Adds ``cushion`` events and marks their breaks explained."""
    for ball, path in scene.paths.items():
        for br in path.breaks:
            if not scene.start_s - 0.05 <= br.t_s <= scene.gone_s(ball):
                continue
            resting_before = path.legs[br.index].resting
            if resting_before or not br.is_impact:
                continue
            for cushion, confidence in cushions_of(scene.table, br, scene.settings.cushion_reach_diameters):
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


def cushions_of(table: TableSpec, br: Break, reach_diameters: float) -> list[tuple[Cushion, float]]:
    """The cushions that a break speaks for, with confidence: near, gone toward, and pushed away from."""
    found: list[tuple[Cushion, float]] = []
    reach = reach_diameters * table.ball_diameter_mm
    for cushion, normal in CUSHION_NORMALS.items():
        distance = nose_distance_mm(table, cushion, br.xy_mm)
        if distance > reach:
            continue
        toward = -float(br.before_mm_s @ normal)
        push = float(br.jump_mm_s @ normal)
        share = push / max(br.strength_mm_s, 1.0)
        if toward < max(2 * br.jump_sigma_mm_s, 15.0) or push < max(3 * br.jump_sigma_mm_s, 20.0) or share < 0.45:
            continue
        near = float(np.exp(-(((distance / table.ball_diameter_mm) - 0.5) / 0.45) ** 2))
        confidence = float(np.clip(0.55 + 0.3 * near + 0.15 * (share - 0.45) / 0.55, 0.4, 0.98))
        found.append((cushion, confidence))
    return found


def _turned(br: Break, cushion: Cushion) -> bool:
    """Whether the ball came back from the cushion: a contact alone beside a cushion need not have met it."""
    normal = CUSHION_NORMALS[cushion]
    return float(br.before_mm_s @ normal) < -40.0 and float(br.after_mm_s @ normal) > 40.0
