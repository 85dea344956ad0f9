"""A jolt of the table: all resting balls shiver in the picture at once, and are back."""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import Shake
from vision_referee.events.scene import Scene


def find_shakes(scene: Scene) -> None:
    """Adds ``shake``: the common shift of at least three resting balls leaves its own noise for two frames or more.

    A hand-held camera drifts slowly; only what changes within a quarter of a second counts.
    """
    by_frame: dict[int, list[tuple[float, float]]] = {}
    times: dict[int, float] = {}
    for path in scene.paths.values():
        s = path.sightings
        for leg in path.legs:
            if not leg.resting or leg.n < 10:
                continue
            for k in range(leg.first, leg.last + 1):
                dx, dy = s.xy_mm[k] - leg.coef[0]
                by_frame.setdefault(int(s.frame[k]), []).append((float(dx), float(dy)))
                times[int(s.frame[k])] = float(s.t_s[k])
    frames = sorted(f for f, v in by_frame.items() if len(v) >= 3)
    if len(frames) < 15:
        return
    t = np.array([times[f] for f in frames])
    common = np.array([np.median(by_frame[f], axis=0) for f in frames])
    spread = np.array(
        [np.median(np.hypot(*(np.array(by_frame[f]) - c).T)) for f, c in zip(frames, common, strict=True)]
    )
    slow = np.array([np.median(common[np.abs(t - now) < 0.6], axis=0) for now in t])
    shiver = np.hypot(*(common - slow).T)
    usual = float(np.median(shiver)) / 0.7
    # All shift alike: what disturbs a few balls (a hand, a shadow) does not.
    strong = (shiver > max(1.5, 5.0 * usual)) & (spread < 0.5 * shiver)
    told = -1e9
    for k in np.flatnonzero(strong).tolist():
        near = strong[(np.abs(t - t[k]) < 0.25)].sum()
        if near >= 2 and t[k] - told > 1.0 and t[k] >= scene.start_s:
            confidence = float(np.clip(0.5 + 0.05 * shiver[k] / max(usual, 0.2), 0.5, 0.9))
            scene.events.append(Shake(t=float(t[k]), confidence=confidence))
            told = float(t[k])
