"""What the balls' motion says of the tip: equal masses share their speed, and who keeps more was pushed on.

At a contact the cue ball hands on what it has along the line of centres; sideways it keeps all. If it goes on along
that
line with more than half of what it came with, the tip was still at it: a double hit (two balls lay close), or a push.
"""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import Strike, Tip, TipKind
from vision_referee.events.scene import Scene

_KEPT = 0.5
"""Of its speed along the line of centres a cue ball keeps (1 - e) / 2, about 0.05; with follow it gains later, by
rolling."""


def find_tips(scene: Scene) -> None:
    """Adds ``tip`` events for the first contact of a struck ball within a few diameters of where it lay."""
    for strike in [e for e in scene.events if isinstance(e, Strike)]:
        ball = next((b for b, p in scene.paths.items() if p.label == strike.ball), None)
        if ball is None:
            continue
        path = scene.paths[ball]
        first = next((t for t in scene.touchings if ball in (t.a, t.b) and t.t_s > strike.t - 0.02), None)
        if first is None or first.t_s - strike.t > 0.4:
            continue
        normal = first.normal if first.a == ball else -first.normal
        other = scene.paths[first.b if first.a == ball else first.a]
        home = np.array([strike.x, strike.y])
        gap = float(np.hypot(*(other.at(first.t_s - 0.01) - home))) - scene.diameter_mm
        if gap > 3 * scene.diameter_mm:
            continue
        soon = first.t_s + 0.04
        mine, given = float(path.velocity(soon) @ normal), float(other.velocity(soon) @ normal)
        if given < 200.0 or mine < _KEPT * given:
            continue
        kept = mine / max(mine + given, 1.0)
        confidence = float(np.clip(0.5 + 1.2 * (kept - 0.33), 0.5, 0.85))
        kind = TipKind.PUSH if gap < 0.5 * scene.table.ball_radius_mm else TipKind.DOUBLE_HIT
        scene.events.append(Tip(t=first.t_s, ball=path.label, kind=kind, confidence=confidence))
