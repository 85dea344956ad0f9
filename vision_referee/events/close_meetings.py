"""Contacts that the legs do not show: two impacts in a row, or one too soft for a break, between balls seen coolly.

Where two balls come within a diameter their sightings before and after are fitted together, once as two balls that
pass and once as two that collide: equal masses exchange one impulse along the line of centres, about what they close in
with. One number more must explain the sightings much better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.events.scene import Scene, Touching
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]
_STEP_S = 1 / 120
_SPAN_S = 0.22
"""How far before and after a meeting sightings are looked at: longer, friction bends the paths."""
_FEWEST = 3
"""Sightings on each side of each ball."""
_LEAST_GAIN = 25.0
_LEAST_IMPULSE_MM_S = 40.0
_OF_CLOSING = (0.45, 1.45)
"""The impulse over the closing speed: (1 + e) / 2, about 0.97, and what errors make of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    gain: float
    t_s: float
    impulse_mm_s: float
    closing_mm_s: float
    a_mm: F64
    b_mm: F64


def find_close_meetings(scene: Scene) -> None:
    """Adds to ``scene.touchings`` what only both balls' sightings together tell; needs cushions and contacts found."""
    balls = [b for b, p in scene.paths.items() if len(p.sightings) >= 2 * _FEWEST]
    found: list[Touching] = []
    for n, a in enumerate(balls):
        for b in balls[n + 1 :]:
            if scene.paths[a].moved and scene.paths[b].moved:
                found.extend(_of_pair(scene, scene.paths[a], scene.paths[b]))
    scene.touchings = sorted([*scene.touchings, *found], key=lambda t: t.t_s)


def _of_pair(scene: Scene, a: BallPath, b: BallPath) -> list[Touching]:
    lo = max(scene.start_s, a.start_s, b.start_s)
    hi = min(scene.end_s, a.end_s, b.end_s, scene.gone_s(a.ball), scene.gone_s(b.ball))
    if hi - lo < 4 * _STEP_S:
        return []
    times = np.arange(lo, hi, _STEP_S)
    apart = np.hypot(*(a.sample(times) - b.sample(times)).T)
    near = 1.25 * scene.diameter_mm
    inner = (apart[1:-1] < near) & (apart[1:-1] <= apart[:-2]) & (apart[1:-1] <= apart[2:])
    out: list[Touching] = []
    for k in (np.flatnonzero(inner) + 1).tolist():
        t_s = float(times[k])
        told = [t.t_s for t in [*scene.touchings, *out] if {t.a, t.b} == {a.ball, b.ball}]
        if any(abs(t_s - other) < 0.15 for other in told) or not (a.moving_at(t_s) or b.moving_at(t_s)):
            continue
        meeting = _meeting(scene, a, b, t_s)
        if meeting is not None:
            out.append(meeting)
    return out


def _meeting(scene: Scene, a: BallPath, b: BallPath, near_s: float) -> Touching | None:
    seen_a, seen_b = _around(scene, a, near_s), _around(scene, b, near_s)
    if seen_a is None or seen_b is None:
        return None
    fits = [
        fit for t in np.arange(near_s - 0.08, near_s + 0.081, 0.01) if (fit := _fit(a, b, seen_a, seen_b, float(t)))
    ]
    best = max(fits, key=lambda f: f.gain, default=None)
    if best is None or best.gain < _LEAST_GAIN or best.impulse_mm_s < _LEAST_IMPULSE_MM_S:
        return None
    between = best.b_mm - best.a_mm
    distance = float(np.hypot(*between))
    error = 1.5 * float(np.hypot(np.median(a.sightings.sigma_mm), np.median(b.sightings.sigma_mm)))
    if abs(distance - scene.diameter_mm) > 0.12 * scene.diameter_mm + error:
        return None
    share = best.impulse_mm_s / max(best.closing_mm_s, 1.0)
    if not _OF_CLOSING[0] < share < _OF_CLOSING[1]:
        return None
    for path in (a, b):
        scene.explained |= {(path.ball, br.index) for br in path.breaks if abs(br.t_s - best.t_s) < 0.06}
    confidence = float(np.clip(0.6 + 0.004 * best.gain, 0.6, 0.9))
    return Touching(
        a=a.ball, b=b.ball, t_s=best.t_s, xy_mm=(best.a_mm + best.b_mm) / 2, normal=between / max(distance, 1.0),
        confidence=confidence, a_started=False, b_started=False,
    )  # fmt: skip


def _around(scene: Scene, path: BallPath, t_s: float) -> tuple[F64, F64, F64] | None:
    """Times (n,), places (n, 2) and errors (n,) about ``t_s``, between the impacts that are already explained."""
    known = [br.t_s for br in path.breaks if (path.ball, br.index) in scene.explained and abs(br.t_s - t_s) > 0.03]
    lo = max([t_s - _SPAN_S, *(t + 0.005 for t in known if t < t_s)])
    hi = min([t_s + _SPAN_S, *(t - 0.005 for t in known if t > t_s)])
    s = path.sightings
    inside = np.flatnonzero((s.t_s >= lo) & (s.t_s <= hi))
    if (s.t_s[inside] < t_s).sum() < _FEWEST or (s.t_s[inside] > t_s).sum() < _FEWEST:
        return None
    return s.t_s[inside], s.xy_mm[inside], np.hypot(path.noise_mm[inside], 0.4 * s.sigma_mm[inside])


def _fit(
    a: BallPath, b: BallPath, seen_a: tuple[F64, F64, F64], seen_b: tuple[F64, F64, F64], t_s: float
) -> _Fit | None:
    """Both balls as straight lines through the moment ``t_s``, with and without one impulse between them there."""
    between = b.at(t_s) - a.at(t_s)
    distance = float(np.hypot(*between))
    if distance < 1.0:
        return None
    normal = between / distance
    rows, targets = [], []
    for k, (times, places, errors) in enumerate((seen_a, seen_b)):
        u = times - t_s
        after = np.where(u > 0, u, 0.0) * (-1.0 if k == 0 else 1.0)
        if (u < 0).sum() < 2 or (u > 0).sum() < 2:
            return None
        for axis in (0, 1):
            row = np.zeros((len(u), 9))
            row[:, 4 * k + axis] = 1.0
            row[:, 4 * k + 2 + axis] = u
            row[:, 8] = after * normal[axis]
            rows.append(row / errors[:, None])
            targets.append(places[:, axis] / errors)
    design, target = np.concatenate(rows), np.concatenate(targets)
    with_blow, *_ = np.linalg.lstsq(design, target, rcond=None)
    without, *_ = np.linalg.lstsq(design[:, :8], target, rcond=None)
    cost = float(((design @ with_blow - target) ** 2).sum())
    gain = float(((design[:, :8] @ without - target) ** 2).sum()) - cost
    # What one impulse leaves unexplained (another impact in the span) speaks against it.
    gain -= max(cost - 1.5 * (len(target) - 9), 0.0)
    closing = float((with_blow[2:4] - with_blow[6:8]) @ normal)
    return _Fit(
        gain=gain,
        t_s=t_s,
        impulse_mm_s=float(with_blow[8]),
        closing_mm_s=closing,
        a_mm=with_blow[:2],
        b_mm=with_blow[4:6],
    )
