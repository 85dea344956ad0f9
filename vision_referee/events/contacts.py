"""Which balls touched, and when: two paths one diameter apart, and velocities that changed along the line of centres.

Distance alone is not a contact (a near miss), a break alone has no name. Both together are: equal masses push each
other apart along the line between their centres, the one as much as the other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import CushionHit
from vision_referee.domain.table import Cushion
from vision_referee.events.noses import CUSHION_NORMALS, nose_distance_mm
from vision_referee.events.scene import Scene, Touching
from vision_referee.tracking.breaks import Break
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]
_STEP_S = 1 / 240
_AT_ONCE_S = 0.6


def find_touchings(scene: Scene) -> None:
    """Fills ``scene.touchings`` in time order and marks the breaks they explain."""
    moving = [b for b, p in scene.paths.items() if p.moved]
    every = list(scene.paths)
    found: list[Touching] = []
    spans = {b: scene.motion_spans(b) for b in every}
    for n, a in enumerate(every):
        for b in every[n + 1 :]:
            if a in moving or b in moving:
                found.extend(_of_pair(scene, scene.paths[a], scene.paths[b], spans[a] + spans[b]))
    scene.touchings = sorted(found, key=lambda c: c.t_s)


def _of_pair(scene: Scene, a: BallPath, b: BallPath, spans: list[tuple[float, float]]) -> list[Touching]:
    lo = max(scene.start_s - 0.05, min(s for s, _ in spans) - 0.1)
    hi = min(max(e for _, e in spans) + 0.1, scene.gone_s(a.ball), scene.gone_s(b.ball), scene.end_s)
    lo = max(lo, a.start_s - 0.12, b.start_s - 0.12)
    hi = min(hi, a.end_s + (9e9 if a.alive else 0.15), b.end_s + (9e9 if b.alive else 0.15))
    if hi - lo < 3 * _STEP_S:
        return []
    times = np.arange(lo, hi, _STEP_S)
    apart = np.hypot(*(a.sample(times) - b.sample(times)).T)
    reach = scene.settings.contact_reach_diameters * scene.diameter_mm
    if apart.min() > reach + 60.0:
        return []
    out: list[Touching] = []
    candidates = _near_times(apart, reach) + _while_starting(a, b, times, reach) + _while_starting(b, a, times, reach)
    for k in sorted(set(candidates)):
        touching = _judge(scene, a, b, times, apart, k)
        if touching is not None and not (out and touching.t_s - out[-1].t_s < 0.05):
            out.append(touching)
    return out


def _near_times(apart: F64, reach: float) -> list[int]:
    """Indices of the local least distances, one for each approach; fast pairs may step over the reach."""
    found: list[int] = []
    k = 0
    n = len(apart)
    step = np.abs(np.diff(apart, append=apart[-1]))
    near = apart < reach + np.minimum(2 * step, 60.0)
    while k < n:
        if not near[k]:
            k += 1
            continue
        end = k
        while end < n and near[end]:
            end += 1
        part = apart[k:end]
        inner = [
            k + i
            for i in range(len(part))
            if part[i] <= part[max(i - 6, 0) : i + 7].min() and (i == 0 or part[i] < part[i - 1])
        ]
        found.extend(inner or [k + int(np.argmin(part))])
        k = end
    return found


def _while_starting(mover: BallPath, starter: BallPath, times: F64, reach: float) -> list[int]:
    """Indices of the moments at which one ball was nearest the place that another left between two sightings."""
    found: list[int] = []
    for br in starter.breaks:
        left, right = starter.legs[br.index], starter.legs[br.index + 1]
        if not left.resting or right.resting or right.t0_s - left.t1_s < 0.05:
            continue
        inside = np.flatnonzero((times >= left.t1_s) & (times <= right.t0_s))
        if not len(inside):
            continue
        apart = np.hypot(*(mover.sample(times[inside]) - left.coef[0]).T)
        best = int(np.argmin(apart))
        if apart[best] < reach + 20.0:
            found.append(int(inside[best]))
    return found


def _judge(scene: Scene, a: BallPath, b: BallPath, times: F64, apart: F64, k: int) -> Touching | None:
    near_s = float(times[k])
    diameter = scene.diameter_mm
    break_a, break_b = _break_near(a, near_s, scene), _break_near(b, near_s, scene)
    if not (_clear(a, break_a) or _clear(b, break_b)):
        return None
    bounced = _bounced(scene, a, b, break_a, break_b, near_s)
    if bounced is not None:
        return bounced
    t_s = _time_of_contact(a, b, break_a, break_b, near_s, diameter)
    pa, pb = _just_before(a, break_a, t_s), _just_before(b, break_b, t_s)
    between = pb - pa
    distance = float(np.hypot(*between))
    if distance < 0.35 * diameter or distance > scene.settings.contact_reach_diameters * diameter + 20.0:
        if apart[k] > scene.settings.contact_reach_diameters * diameter:
            return None
        at = a.at(near_s), b.at(near_s)
        between = at[1] - at[0]
        distance = max(float(np.hypot(*between)), 1.0)
        pa, pb = at
    normal = between / distance
    push_a, along_a = _push(break_a, -normal)
    push_b, along_b = _push(break_b, normal)
    a_started = break_a is not None and a.legs[break_a.index].resting
    b_started = break_b is not None and b.legs[break_b.index].resting
    if a_started and b_started and _frozen(a, b, t_s, diameter):
        # They lay together: that they leave together is no new meeting. Who pushed whom is kept for the strike.
        pass
    if _unmoved(scene, a, break_a, push_b, t_s) or _unmoved(scene, b, break_b, push_a, t_s):
        return None
    weight = _plausible(break_a, push_a, along_a) + _plausible(break_b, push_b, along_b)
    approach = _approach(a, b, t_s)
    if weight < 0.7 or (approach < -20.0 and not (a_started or b_started)):
        return None
    if (
        not (a_started or b_started)
        and weight < 1.1
        and _other_cause(scene, a, break_a)
        and _other_cause(scene, b, break_b)
    ):
        return None
    tight = float(np.exp(-((((distance / diameter) - 1.0) / 0.25) ** 2)))
    confidence = float(np.clip(0.45 + 0.3 * weight + 0.1 * tight, 0.4, 0.98))
    for path, br, push in ((a, break_a, push_a), (b, break_b, push_b)):
        if br is not None and push > 0:
            scene.explained.add((path.ball, br.index))
    return Touching(
        a=a.ball,
        b=b.ball,
        t_s=t_s,
        xy_mm=(pa + pb) / 2,
        normal=normal,
        confidence=confidence,
        a_started=a_started,
        b_started=b_started,
    )


def _bounced(
    scene: Scene, a: BallPath, b: BallPath, break_a: Break | None, break_b: Break | None, near_s: float
) -> Touching | None:
    """A resting ball pushed against a cushion so near that it was first seen again on its way back.

    Its own start says nothing of the push, but equal masses do: it left with what the other ball lost.
    """
    diameter = scene.diameter_mm
    for struck, striker, br_s, br_o in ((b, a, break_b, break_a), (a, b, break_a, break_b)):
        if br_s is None or br_o is None or not struck.legs[br_s.index].resting or striker.legs[br_o.index].resting:
            continue
        t_s = _time_of_contact(striker, struck, br_o, None, near_s, diameter)
        home = struck.legs[br_s.index].coef[0]
        before = striker.legs[br_o.index].straight(t_s)
        apart = float(np.hypot(*(home - before)))
        if not 0.4 * diameter < apart < scene.settings.contact_reach_diameters * diameter + 20.0:
            continue
        away = (home - before) / apart
        lost = -br_o.jump_mm_s
        given = float(lost @ away)
        if given < 80.0 or given < 0.7 * float(np.hypot(*lost)):
            continue
        seen = struck.legs[br_s.index + 1]
        after = seen.velocity(seen.t0_s)
        met: list[tuple[float, Cushion]] = []
        for cushion, inward in CUSHION_NORMALS.items():
            speed_in = -given * float(away @ inward)
            way = nose_distance_mm(scene.table, cushion, home) - scene.table.ball_radius_mm
            if speed_in < 60.0 or float(after @ inward) < 0.1 * speed_in:
                continue
            wait = max(way, 0.0) / (0.92 * speed_in)
            if t_s + wait < seen.t0_s + 0.02:
                met.append((wait, cushion))
        if not met:
            continue
        for wait, cushion in sorted(met):
            bounce_s = max(t_s + wait, t_s + 0.001)
            at = home + away * given * 0.92 * wait
            scene.events.append(
                CushionHit(
                    t=bounce_s, ball=struck.label, cushion=cushion, x=float(at[0]), y=float(at[1]), confidence=0.85
                )
            )
        scene.explained |= {(struck.ball, br_s.index), (striker.ball, br_o.index)}
        return Touching(
            a=a.ball,
            b=b.ball,
            t_s=t_s,
            xy_mm=(before + home) / 2,
            normal=away if struck is b else -away,
            confidence=0.9,
            a_started=struck is a,
            b_started=struck is b,
            bounced=True,
        )
    return None


def _break_near(path: BallPath, t_s: float, scene: Scene) -> Break | None:
    """The strongest jump of velocity about ``t_s``; none at a gentle change or a mere stop."""
    best: Break | None = None
    for br in path.breaks:
        if abs(br.t_s - t_s) > 0.03 + 0.75 * min(br.gap_s, 0.4) + br.t_sigma_s:
            continue
        started = path.legs[br.index].resting and not path.legs[br.index + 1].resting
        stopped = path.legs[br.index + 1].resting and br.index in path.stops
        if stopped and path.stops[br.index].braking_mm_s2 > 0 and not br.is_impact:
            continue
        telling = started or br.is_impact or br.strength_mm_s > max(2.5 * br.jump_sigma_mm_s, 20.0)
        if telling and (best is None or br.strength_mm_s > best.strength_mm_s):
            best = br
    return best


def _clear(path: BallPath, br: Break | None) -> bool:
    return br is not None and (br.is_impact or path.legs[br.index].resting)


def _just_before(path: BallPath, br: Break | None, t_s: float) -> F64:
    """Where the ball was as it met the other: along the leg before its break."""
    if br is None:
        return path.at(t_s)
    leg = path.legs[br.index]
    return leg.straight(t_s) if not leg.resting else leg.coef[0]


def _push(br: Break | None, direction: F64) -> tuple[float, float]:
    """How much of a break's jump goes along ``direction`` (mm/s), and its cosine."""
    if br is None:
        return 0.0, 0.0
    push = float(br.jump_mm_s @ direction)
    return push, push / max(br.strength_mm_s, 1.0)


def _plausible(br: Break | None, push: float, cosine: float) -> float:
    """0..1: how well a break speaks for a push along the line of centres."""
    if br is None or push <= 0:
        return 0.0 if br is None else -0.3
    clear = min(push / (4 * br.jump_sigma_mm_s + 30.0), 1.0)
    # Friction between the balls throws a little sideways, and the line of centres is uncertain by some degrees.
    return float(clear * np.clip((cosine - 0.45) / 0.35, 0.0, 1.0))


def _unmoved(scene: Scene, path: BallPath, br: Break | None, push_on_other: float, t_s: float) -> bool:
    """Whether this ball shows no jump although the other was pushed so that it would have to."""
    if br is not None or push_on_other <= 0:
        return False
    if scene.gone_s(path.ball) - t_s < _AT_ONCE_S and float(path.sightings.t_s[-1]) < t_s + 0.2:
        return False  # sent into a pocket before it was seen again
    leg = path.legs[path.leg_at(t_s)]
    hidden = not leg.t0_s - 0.1 <= t_s <= leg.t1_s + 0.1
    if hidden:
        return False
    return push_on_other > 40.0 + (0.0 if leg.resting else 5 * leg.speed_sigma(t_s))


def _approach(a: BallPath, b: BallPath, t_s: float) -> float:
    """How fast the balls neared each other just before (mm/s)."""
    before = t_s - 0.03
    d0 = float(np.hypot(*(a.at(before - 0.02) - b.at(before - 0.02))))
    d1 = float(np.hypot(*(a.at(before) - b.at(before))))
    return (d0 - d1) / 0.02


def _frozen(a: BallPath, b: BallPath, t_s: float, diameter: float) -> bool:
    return float(np.hypot(*(a.at(t_s - 0.1) - b.at(t_s - 0.1)))) < 1.06 * diameter


def _other_cause(scene: Scene, path: BallPath, br: Break | None) -> bool:
    from vision_referee.tracking.mouths import nearest_nose

    return br is None or nearest_nose(scene.table, br.xy_mm)[1] < 0.8 * scene.diameter_mm


def _time_of_contact(
    a: BallPath, b: BallPath, break_a: Break | None, break_b: Break | None, near_s: float, diameter: float
) -> float:
    """Weighs three clocks: each ball's own break, and when the paths before them were one diameter apart."""
    clocks: list[tuple[float, float]] = []
    lo, hi = near_s - 0.1, near_s + 0.1
    for path, br in ((a, break_a), (b, break_b)):
        if br is None:
            continue
        clocks.append((br.t_s, max(br.t_sigma_s, 0.003)))
        left, right = path.legs[br.index], path.legs[br.index + 1]
        lo, hi = max(lo, left.t1_s - 0.01), min(hi, right.t0_s + 0.01)
    if hi < lo:
        lo, hi = min(lo, hi), max(lo, hi)
    met = _one_diameter_apart(a, b, break_a, break_b, near_s, diameter)
    if met is not None:
        clocks.append(met)
    if not clocks:
        return near_s
    weights = np.array([1 / s**2 for _, s in clocks])
    t_s = float((weights * np.array([t for t, _ in clocks])).sum() / weights.sum())
    return float(np.clip(t_s, lo, hi))


def _one_diameter_apart(
    a: BallPath, b: BallPath, break_a: Break | None, break_b: Break | None, near_s: float, diameter: float
) -> tuple[float, float] | None:
    """When the legs before the breaks, drawn on, come within a diameter, and how sure that is (s)."""
    times = np.arange(near_s - 0.12, near_s + 0.12, 0.001)

    def before(path: BallPath, br: Break | None) -> F64:
        if br is None:
            return path.sample(times)
        leg = path.legs[br.index]
        return np.broadcast_to(leg.coef[0], (len(times), 2)) if leg.resting else leg.straight(times)

    apart = np.hypot(*(before(a, break_a) - before(b, break_b)).T)
    under = np.flatnonzero(apart <= diameter)
    if not len(under) or under[0] == 0:
        return None
    k = int(under[0])
    closing = (apart[k - 1] - apart[k]) / 0.001
    if closing < 60.0:
        return None
    return float(times[k]), max(3.0 / closing, 0.003)
