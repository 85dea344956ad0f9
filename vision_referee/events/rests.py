"""Stops, the stroke's end, and what hangs on a lip then."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import BallAt, Hanging, Rest, Stopped
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.events.pockets_cut import depth_and_side, hanging_depth_mm, perhaps_hanging_depth_mm
from vision_referee.events.scene import Scene

F64 = npt.NDArray[np.float64]


def find_stops(scene: Scene) -> None:
    """Adds ``stopped`` events: fitted stops of balls that had moved by a millimetre or more."""
    for ball, path in scene.paths.items():
        for index, stop in path.stops.items():
            if not scene.start_s - 0.02 <= stop.t_s <= min(scene.end_s + 0.1, scene.gone_s(ball)):
                continue
            leg = path.legs[index]
            way = float(np.hypot(*(leg.at(leg.t1_s) - leg.at(leg.t0_s))))
            if way < 2.0:
                continue
            confidence = float(np.clip(1.0 - 1.5 * max(stop.t_sigma_s - 0.05, 0.0), 0.5, 0.97))
            error_mm = float(np.median(path.sightings.sigma_mm[leg.first : leg.last + 1]))
            confidence = min(confidence, max(0.97 - 0.025 * max(error_mm - 3.0, 0.0), 0.6))
            if path.breaks[index].gap_s > 0.2:
                confidence = min(confidence, 0.6)  # hidden as it stopped
            scene.events.append(
                Stopped(
                    t=min(stop.t_s, scene.end_s),
                    ball=path.label,
                    x=float(stop.xy_mm[0]),
                    y=float(stop.xy_mm[1]),
                    confidence=confidence,
                )
            )


def motion_ends(scene: Scene, *, pause_s: float = 0.12) -> list[tuple[float, float]]:
    """Spans (from, to) in which at least one ball moves, joined over pauses shorter than ``pause_s``."""
    spans = sorted(s for ball in scene.paths for s in scene.motion_spans(ball))
    joined: list[tuple[float, float]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1] + pause_s:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def hanging_pocket(table: TableSpec, xy_mm: F64) -> tuple[PocketName, float] | None:
    """The pocket on whose lip a ball that rests at ``xy_mm`` hangs, and how sure that is."""
    for pocket in table.pockets():
        depth, side = depth_and_side(pocket, xy_mm)
        if float(side) > pocket.width_mm / 2 or float(depth) < perhaps_hanging_depth_mm(table):
            continue
        return pocket.name, 0.9 if float(depth) > hanging_depth_mm(table) else 0.55
    return None


def rest_events(table: TableSpec, t_s: float, balls: list[BallAt], confidence: float) -> list[Rest | Hanging]:
    """The position at a rest, and which balls hang."""
    return [Rest(t=t_s, balls=tuple(balls), confidence=confidence), *hanging_events(table, t_s, balls)]


def hanging_events(table: TableSpec, t_s: float, balls: list[BallAt]) -> list[Hanging]:
    """Those of the resting ``balls`` that hang."""
    out: list[Hanging] = []
    for ball in balls:
        found = hanging_pocket(table, np.array([ball.x, ball.y]))
        if found is not None:
            pocket, sure = found
            out.append(Hanging(t=t_s, ball=ball.ball, pocket=pocket, x=ball.x, y=ball.y, confidence=sure))
    return out
