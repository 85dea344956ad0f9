"""The match at this moment, as the live pages' script reads it: places in mm, and in the picture's pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vision_referee.domain.table import PocketName
from vision_referee.review.report import tone

if TYPE_CHECKING:
    from vision_referee.calibration.calibration import Calibration
    from vision_referee.calibration.hints import Hint
    from vision_referee.pipeline.live_facts import LiveNow, PutBack


def live_json(now: LiveNow) -> dict[str, Any]:
    """Plain values. A ball is ``[key, label or null, what it reads, x, y, moving, seen]``."""
    numbers = now.numbers
    state, last, camera = now.state, now.last, now.camera
    return {
        "t": round(now.t_s, 2),
        "phase": now.phase.value,
        "reason": now.reason,
        "camera": {
            "ok": camera.ok,
            "lost_s": None if camera.lost_since_s is None else round(max(0.0, now.t_s - camera.lost_since_s), 1),
            "reason": camera.reason,
            "rate": round(camera.rate_hz, 1),
            "dropped": camera.dropped,
            "delay_ms": round(now.delay_ms),
        },
        "table": table_key(now),
        "balls": [
            [b.key, b.label, numbers.get(b.label or "", b.label or ""), round(b.x_mm), round(b.y_mm), b.moving, b.seen]
            for b in now.balls
        ],
        "moving": now.moving,
        "hanging": [
            {
                "ball": h.ball,
                "shown": numbers.get(h.ball, h.ball),
                "pocket": h.pocket.value,
                "left_s": round(max(0.0, now.hanging_s - h.for_s), 1),
                "of_s": now.hanging_s,
            }
            for h in now.hanging
        ],
        "clock": None
        if now.shot_clock is None
        else {"left_s": round(now.shot_clock.left_s, 1), "limit_s": now.shot_clock.limit_s},
        "back": [_put_back(p, now) for p in now.put_back],
        "last": None
        if last is None
        else {
            "id": last.id,
            "kind": last.kind.value,
            "tone": tone(last),
            "player": last.player,
            "text": last.text,
        },
        "score": dict(last.score) if last is not None else {},
        "turn": state.turn if state is not None else None,
        "cue_ball": state.cue_ball.value if state is not None else None,
        "calls": [
            {"ball": c.ball, "pocket": c.pocket.value if c.pocket else None} for c in (state.calls if state else ())
        ],
    }


def table_key(now: LiveNow) -> str:
    """Differs when a page has to be drawn anew: the table was found, or another was."""
    calibration = now.calibration
    if calibration is None:
        return "none"
    return f"{now.table.name} {calibration.head_side}"


def _put_back(p: PutBack, now: LiveNow) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ball": p.ball,
        "shown": now.numbers.get(p.ball, p.ball),
        "x": round(p.x, 1),
        "y": round(p.y, 1),
        "now": None if p.now is None else [round(p.now[0], 1), round(p.now[1], 1)],
        "go_mm": None if p.go_mm is None else round(p.go_mm),
    }
    if now.calibration is not None:
        found["px"] = _circle(now.calibration, p.x, p.y)
        found["now_px"] = None if p.now is None else _circle(now.calibration, *p.now)
    return found


def _circle(calibration: Calibration, x: float, y: float) -> list[float]:
    """Centre and radius in pixels of a ball that lies at (x, y) mm."""
    radius_mm = calibration.table.ball_radius_mm
    centre = calibration.camera.project_plane([[x, y]], radius_mm)[0]
    radius = calibration.camera.ball_radius_px([[x, y]], radius_mm)[0]
    return [round(float(v), 1) for v in (*centre, radius)]


def set_up_json(
    calibration: Calibration | None, size_px: tuple[int, int], hints: Sequence[Hint] = ()
) -> dict[str, Any]:
    """What the set-up page draws over the picture of ``size_px``, in pixels: lines, pockets, spots, corners, and the
    patches that hints are about."""
    if calibration is None:
        width, height = size_px
        inset = [[0.2, 0.25], [0.8, 0.25], [0.9, 0.8], [0.1, 0.8]]
        return {"found": False, "corners": [[round(x * width), round(y * height)] for x, y in inset]}
    table, camera = calibration.table, calibration.camera
    spots = np.array([table.head_spot_mm, table.centre_spot_mm, table.foot_spot_mm])
    house = np.array([[table.house_line_mm, y] for y in np.linspace(0, table.width_mm, 12)])
    pockets = []
    for name in PocketName:
        pocket = table.pocket(name)
        mouth = camera.project_plane([pocket.jaw_a_mm, pocket.jaw_b_mm], table.nose_height_mm)
        pockets.append({"name": name.value, "mouth": _points(mouth)})
    return {
        "found": True,
        "cushions": _points(calibration.surface_px()),
        "rails": _points(calibration.rail_px()),
        "house": _points(camera.project_plane(house, 0.0)),
        "spots": _points(camera.project_plane(spots, 0.0)),
        "pockets": pockets,
        "corners": _points(calibration.corners_px),
        "head": _points(calibration.corners_px[:2]),
        "patches": [_points([patch[:2]])[0] + [round(patch[2], 1)] for hint in hints for patch in hint.patches_px],
    }


def _points(xy_px: Any) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in xy_px]
