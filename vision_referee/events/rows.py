"""The track rows of a window: one a ball and frame."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.events.scene import Scene
from vision_referee.tracking.paths import BallPath
from vision_referee.tracking.tracker import WindowFrame
from vision_referee.tracking.tracks import BallState, TrackRow

F64 = npt.NDArray[np.float64]


def window_rows(scene: Scene, frames: list[WindowFrame]) -> list[TrackRow]:
    """Rows in the order of ``frames``; a ball has rows from its first sighting until it leaves play (one row says
    so)."""
    times = np.array([f.t_s for f in frames])
    rows: list[list[TrackRow]] = [[] for _ in frames]
    for ball, path in scene.paths.items():
        _add_rows(scene, ball, path, frames, times, rows)
    return [row for per_frame in rows for row in per_frame]


def _add_rows(
    scene: Scene, ball: int, path: BallPath, frames: list[WindowFrame], times: F64, rows: list[list[TrackRow]]
) -> None:
    places = path.sample(times)
    seen = path.sightings.t_s
    sure = float(np.mean(path.sightings.confidence[-30:]))
    departure = scene.departures.get(ball)
    begin = -np.inf if path.known else path.start_s - 0.02
    # Only what a ball does after it has come into view, and until it leaves, is told.
    for n, frame in enumerate(frames):
        t = frame.t_s
        if t < begin:
            continue
        if departure is not None and t > departure.t_s:
            state = BallState.POCKETED if departure.pocket is not None else BallState.OFF_TABLE
            x, y = path.at(departure.t_s)
            rows[n].append(
                TrackRow(
                    t=t, frame=frame.frame, ball=path.label, x=float(x), y=float(y), vx=0.0, vy=0.0, state=state,
                    confidence=departure.confidence,
                )
            )  # fmt: skip
            return
        k = int(np.searchsorted(seen, t))
        nearest = min(abs(seen[k] - t) if k < len(seen) else np.inf, abs(seen[k - 1] - t) if k > 0 else np.inf)
        hidden = nearest > 0.2
        moving = path.moving_at(t)
        velocity = path.velocity(t) if moving else np.zeros(2)
        state = BallState.HIDDEN if hidden else BallState.MOVING if moving else BallState.RESTING
        confidence = sure * float(np.clip(1.0 - 0.3 * (nearest - 0.2), 0.3, 1.0)) if hidden else sure
        rows[n].append(
            TrackRow(
                t=t, frame=frame.frame, ball=path.label, x=float(places[n, 0]), y=float(places[n, 1]),
                vx=float(velocity[0]), vy=float(velocity[1]), state=state, confidence=confidence,
            )
        )  # fmt: skip
