"""A centre crosses the house line, the centre line, the foot line or the long line."""

from __future__ import annotations

import numpy as np

from vision_referee.domain.events import Crossed
from vision_referee.domain.table import Line, TableSpec
from vision_referee.events.scene import Scene


def lines_of(table: TableSpec) -> tuple[tuple[Line, int, float], ...]:
    """Each line: name, coordinate (0: x, 1: y), where (mm)."""
    return (
        (Line.HOUSE, 0, table.house_line_mm),
        (Line.CENTRE, 0, table.length_mm / 2),
        (Line.FOOT, 0, table.foot_line_mm),
        (Line.LONG, 1, table.width_mm / 2),
    )


def find_crossings(scene: Scene) -> None:
    """Adds ``crossed`` events; a centre exactly on a line is on its far (foot, left) side (G-12)."""
    for ball, path in scene.paths.items():
        noise = float(np.median(path.noise_mm))
        for begin, end in scene.motion_spans(ball):
            begin, end = max(begin, scene.start_s), min(end, scene.end_s)
            if end - begin < 0.01:
                continue
            times = np.append(np.arange(begin, end, 0.004), end)
            places = path.sample(times)
            for line, axis, where in lines_of(scene.table):
                height = places[:, axis] - where
                if height.min() >= 0 or height.max() < 0:
                    continue
                beyond = height >= 0
                for k in np.flatnonzero(beyond[1:] != beyond[:-1]):
                    a, b = float(height[k]), float(height[k + 1])
                    share = a / (a - b) if a != b else 0.0
                    t_s = float(times[k] + share * (times[k + 1] - times[k]))
                    # How far it gets on either side says how sure the crossing is.
                    before, after = float(np.abs(height[: k + 1]).max()), float(np.abs(height[k + 1 :]).max())
                    clear = min(before, after) / max(noise, 0.5)
                    confidence = float(np.clip(0.5 + 0.12 * clear, 0.5, 0.99))
                    scene.events.append(
                        Crossed(t=t_s, ball=path.label, line=line, direction=1 if b >= a else -1, confidence=confidence)
                    )
