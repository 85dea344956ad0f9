"""A stroke's motion as the page's script needs it: every ball's places by time, and the clip's frame times."""

from __future__ import annotations

from typing import Any

import numpy as np

from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_folder import MatchFolder
from vision_referee.review.clips import clip_span_s
from vision_referee.review.stroke_view import F64, ball_paths

_STILL_MM = 0.8


def motion_json(folder: MatchFolder, ruling: Ruling) -> dict[str, Any]:
    """``{"start", "end", "width", "frames": [t…], "balls": {label: {"t": [...], "x": [...], "y": [...]}}}``.

    Times in seconds of the match, places in mm. A ball is on the bed from its first time to its last; between times it
    goes straight, and times at which it lies still are left out.
    """
    start, end = clip_span_s(ruling)
    times = folder.info.frame_times.as_array()
    paths = ball_paths(folder.tracks(t_from_s=start - 0.1, t_to_s=end + 0.1))
    balls = {}
    for path in paths:
        keep = _moments(path.xy_mm)
        balls[path.ball] = {
            "t": np.round(path.t_s[keep], 3).tolist(),
            "x": np.round(path.xy_mm[keep, 0], 1).tolist(),
            "y": np.round(path.xy_mm[keep, 1], 1).tolist(),
        }
    return {
        "start": round(start, 3),
        "end": round(end, 3),
        "width": folder.info.table.width_mm,
        "frames": np.round(times[(times >= start - 1e-4) & (times <= end + 1e-4)], 4).tolist(),
        "balls": balls,
    }


def _moments(xy_mm: F64) -> npt_bool:
    """Which rows to keep: the ends, and every row that differs from a neighbour."""
    keep = np.ones(len(xy_mm), bool)
    if len(xy_mm) > 2:
        step = np.hypot(*np.diff(xy_mm, axis=0).T) > _STILL_MM / 2
        keep[1:-1] = step[:-1] | step[1:]
    return keep


npt_bool = np.ndarray[Any, np.dtype[np.bool_]]
