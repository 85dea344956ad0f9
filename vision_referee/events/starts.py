"""What set a resting ball going: another ball, the tip, or a hand.

A ball that starts with no ball touching it was struck, if it goes like a struck ball: fast from the first moment and
only
slowing after. Else it was touched. Balls that lay together leave together; the struck one is then the one that nobody
pushes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Contact, Strike, Touch, TouchedBy
from vision_referee.events.scene import Scene, Touching
from vision_referee.events.touches import goes_under_a_hand, touched_by
from vision_referee.tracking.breaks import Break
from vision_referee.tracking.mouths import nearest_nose
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]
_FASTEST_HAND_MM_S = 1500.0
_SOFTEST_STROKE_MM_S = 160.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A resting ball begins to move at ``t_s`` with ``velocity_mm_s``; ``moved_mm`` is how far it lies from there
    later."""

    ball: int
    index: int
    t_s: float
    t_sigma_s: float
    xy_mm: F64
    velocity_mm_s: F64
    moved_mm: float
    hidden_s: float


def find_starts(scene: Scene) -> list[Start]:
    """All starts within the window, in time order."""
    starts: list[Start] = []
    for ball, path in scene.paths.items():
        for br in path.breaks:
            left, right = path.legs[br.index], path.legs[br.index + 1]
            if not left.resting or right.resting or br.t_s < scene.start_s - 0.2:
                continue
            starts.append(_start_of(ball, path, br))
    return sorted(starts, key=lambda s: s.t_s)


def _start_of(ball: int, path: BallPath, br: Break) -> Start:
    right = path.legs[br.index + 1]
    home = path.legs[br.index].coef[0]
    end = path.legs[-1]
    later = end.at(end.t1_s)
    for leg in path.legs[br.index + 1 :]:
        if leg.resting:
            later = leg.coef[0]
            break
    return Start(
        ball=ball,
        index=br.index,
        t_s=br.t_s,
        t_sigma_s=br.t_sigma_s,
        xy_mm=home,
        velocity_mm_s=right.velocity(max(br.t_s, right.t0_s - 0.08)),
        moved_mm=float(np.hypot(*(later - home))),
        hidden_s=br.gap_s,
    )


def explain_starts(scene: Scene) -> None:
    """Adds ``strike``, ``contact`` and ``touch`` events for the window; needs ``scene.touchings``."""
    starts = find_starts(scene)
    pushed = _pushed(scene, starts)
    unexplained = [s for s in starts if (s.ball, s.index) not in pushed]
    for start in unexplained:
        chain = _through_neighbour(scene, start)
        if chain:
            scene.touchings.extend(chain)
            continue
        guess = _unseen_contact(scene, start)
        if guess is not None:
            scene.touchings.append(guess)
            continue
        if _left_with_a_neighbour(scene, start, starts):
            continue
        _strike_or_touch(scene, start, starts)
    _drop_frozen_partings(scene, starts)
    for touching in _once(scene.touchings):
        first, second = _order(scene, touching)
        scene.events.append(
            Contact(
                t=touching.t_s,
                balls=(scene.label(first), scene.label(second)),
                x=float(touching.xy_mm[0]),
                y=float(touching.xy_mm[1]),
                confidence=touching.confidence,
            )
        )


def _once(touchings: list[Touching]) -> list[Touching]:
    """In time order; of two meetings of one pair within a tenth of a second the surer one."""
    kept: list[Touching] = []
    for t in sorted(touchings, key=lambda c: -c.confidence):
        if not any({t.a, t.b} == {k.a, k.b} and abs(t.t_s - k.t_s) < 0.1 for k in kept):
            kept.append(t)
    return sorted(kept, key=lambda c: c.t_s)


def _pushed(scene: Scene, starts: list[Start]) -> set[tuple[int, int]]:
    """Starts that a touching ball explains: the ball leaves along the line of centres, away from the other."""
    by_ball: dict[int, list[Start]] = {}
    for s in starts:
        by_ball.setdefault(s.ball, []).append(s)
    pushed: set[tuple[int, int]] = set()
    for touching in scene.touchings:
        for ball, other, away, other_started in (
            (touching.a, touching.b, -touching.normal, touching.b_started),
            (touching.b, touching.a, touching.normal, touching.a_started),
        ):
            for s in by_ball.get(ball, []):
                if abs(s.t_s - touching.t_s) > 0.05 + 0.7 * min(s.hidden_s, 0.4):
                    continue
                speed = float(np.hypot(*s.velocity_mm_s))
                cosine = float(s.velocity_mm_s @ away) / max(speed, 1e-6)
                if cosine < 0.3 and not touching.bounced:
                    continue
                if other_started and _rather_struck(scene, s, other, starts):
                    continue
                pushed.add((s.ball, s.index))
    return pushed


def _rather_struck(scene: Scene, s: Start, other: int, starts: list[Start]) -> bool:
    """Of two balls that leave together and each could have pushed the other: whether ``s`` was the first."""
    twin = next((o for o in starts if o.ball == other and abs(o.t_s - s.t_s) < 0.12), None)
    if twin is None:
        return False
    away = s.xy_mm - twin.xy_mm
    away = away / max(float(np.hypot(*away)), 1.0)
    mutual = float(twin.velocity_mm_s @ -away) > 0.3 * float(np.hypot(*twin.velocity_mm_s))
    if not mutual:
        return False
    if CUE in (scene.label(s.ball), scene.label(other)):
        return scene.label(s.ball) == CUE
    return s.t_s < twin.t_s


def _drop_frozen_partings(scene: Scene, starts: list[Start]) -> None:
    """Balls that lay together do not meet when they part or are pushed on, unless one of them was struck.

    They meet anew only after they have been clearly apart.
    """
    struck = {ball for ball, path in scene.paths.items() if _is_struck(scene, path)}
    if not struck and starts:
        struck = {starts[0].ball}
    scene.touchings = [t for t in scene.touchings if struck & {t.a, t.b} or not _still_together(scene, t.a, t.b, t.t_s)]


def _is_struck(scene: Scene, path: BallPath) -> bool:
    return any(isinstance(e, Strike) and e.ball == path.label for e in scene.events)


def _still_together(scene: Scene, a: int, b: int, t_s: float) -> bool:
    """Whether two balls lay (nearly) frozen before they moved and have not been apart since."""
    pa, pb = scene.paths[a], scene.paths[b]
    lay_s = min(_first_motion_s(pa), _first_motion_s(pb)) - 0.02
    if lay_s > t_s:
        return False
    diameter = scene.diameter_mm
    error_mm = float(np.hypot(np.median(pa.sightings.sigma_mm), np.median(pb.sightings.sigma_mm)))
    near = 1.15 * diameter + error_mm
    crowd = sum(float(np.hypot(*(p.at(lay_s) - pa.at(lay_s)))) < near for p in scene.paths.values()) - 1
    # In a crowd (a rack) balls lie frozen; two alone seldom do.
    limit = 1.09 * diameter + 1.5 * error_mm if crowd >= 2 else 1.03 * diameter
    if float(np.hypot(*(pa.at(lay_s) - pb.at(lay_s)))) > limit:
        return False
    times = np.arange(lay_s, t_s - 0.02, 0.01)
    if not len(times):
        return True
    return float(np.hypot(*(pa.sample(times) - pb.sample(times)).T).max()) < limit + 0.16 * diameter


def _first_motion_s(path: BallPath) -> float:
    for i, leg in enumerate(path.legs):
        if not leg.resting:
            return path.breaks[i - 1].t_s if i > 0 else leg.t0_s
    return path.end_s


def _left_with_a_neighbour(scene: Scene, start: Start, starts: list[Start]) -> bool:
    """Part of a cluster that something else set going: a frozen neighbour left at the same moment."""
    others = [s for s in starts if s.ball != start.ball and abs(s.t_s - start.t_s) < 0.12]
    if not others or scene.label(start.ball) == CUE:
        return False
    near = [s for s in others if float(np.hypot(*(s.xy_mm - start.xy_mm))) < 1.25 * scene.diameter_mm]
    if not near:
        return False
    earliest = min(near, key=lambda s: s.t_s)
    something_hit = any(t.t_s <= start.t_s + 0.1 and t.t_s > start.t_s - 0.2 for t in scene.touchings)
    return something_hit or earliest.t_s < start.t_s


def _through_neighbour(scene: Scene, start: Start) -> list[Touching]:
    """A blow handed on: a ball hits a near neighbour, which hits this one and itself hardly moves."""
    speed = float(np.hypot(*start.velocity_mm_s))
    heading = start.velocity_mm_s / max(speed, 1e-6)
    reach = 1.3 * scene.diameter_mm
    for middle, path in scene.paths.items():
        if middle == start.ball or not path.start_s < start.t_s:
            continue
        at = path.at(start.t_s - 0.05)
        between = start.xy_mm - at
        distance = float(np.hypot(*between))
        if distance > reach or distance < 0.5 * scene.diameter_mm or float(between @ heading) < 0.75 * distance:
            continue
        for striker, other in scene.paths.items():
            if striker in (start.ball, middle):
                continue
            for br in other.breaks:
                late = abs(br.t_s - start.t_s)
                if late > 0.03 + 0.7 * min(br.gap_s, 0.3) + 0.7 * min(start.hidden_s, 0.3) or not br.is_impact:
                    continue
                normal = at - br.xy_mm
                apart = float(np.hypot(*normal))
                lost = -float(br.jump_mm_s @ normal) / max(apart, 1.0)
                early = 0.004 * float(np.hypot(*br.before_mm_s))  # what a break's own time may be off by
                if apart > reach + early or lost < 0.3 * speed or lost < 0.6 * br.strength_mm_s:
                    continue
                scene.explained |= {(start.ball, start.index), (striker, br.index)}
                first = Touching(
                    a=striker, b=middle, t_s=br.t_s, xy_mm=(br.xy_mm + at) / 2, normal=normal / apart,
                    confidence=0.8, a_started=False, b_started=False,
                )  # fmt: skip
                second = Touching(
                    a=middle, b=start.ball, t_s=max(br.t_s, start.t_s), xy_mm=(at + start.xy_mm) / 2,
                    normal=between / distance, confidence=0.8, a_started=False, b_started=True,
                )  # fmt: skip
                # Balls that lay frozen together do not meet anew.
                frozen_mm = 1.04 * scene.diameter_mm + float(np.median(path.sightings.sigma_mm))
                return [first] if distance < frozen_mm else [first, second]
    return []


def _unseen_contact(scene: Scene, start: Start) -> Touching | None:
    """A ball on its way that was lost from sight, or whose break is too soft to see, and comes by just then."""
    best: tuple[float, int, F64, F64] | None = None
    reach_s = 0.06 + 0.7 * min(start.hidden_s, 0.15)
    # Beside a cushion the ball may have come back before it was seen: its direction then says nothing.
    at_cushion = nearest_nose(scene.table, start.xy_mm)[1] < 1.6 * scene.diameter_mm
    for ball, path in scene.paths.items():
        if ball == start.ball or not path.moved:
            continue
        for t in np.linspace(start.t_s - reach_s, start.t_s + 0.06, 9):
            in_sight = path.start_s - 0.15 <= t <= min(path.end_s + 0.3, scene.gone_s(ball))
            if not in_sight or not path.moving_at(float(t) - 0.02):
                continue
            at = path.at(float(t))
            between = start.xy_mm - at
            distance = float(np.hypot(*between))
            if distance > (2.2 if at_cushion else 1.5) * scene.diameter_mm or distance < 1.0:
                continue
            cosine = float(start.velocity_mm_s @ between) / max(float(np.hypot(*start.velocity_mm_s)) * distance, 1e-6)
            if cosine < 0.5 and not at_cushion:
                continue
            badness = abs(distance / scene.diameter_mm - 1.0) + (0.3 if at_cushion else 1 - cosine)
            if best is None or badness < best[0]:
                best = (badness, ball, at, between / distance)
    if best is None:
        return None
    badness, ball, at, normal = best
    scene.explained.add((start.ball, start.index))
    return Touching(
        a=ball,
        b=start.ball,
        t_s=start.t_s,
        xy_mm=(at + start.xy_mm) / 2,
        normal=normal,
        confidence=float(np.clip(0.85 - 0.5 * badness, 0.4, 0.85)),
        a_started=False,
        b_started=True,
    )


def _strike_or_touch(scene: Scene, start: Start, starts: list[Start]) -> None:
    path = scene.paths[start.ball]
    speed = float(np.hypot(*start.velocity_mm_s))
    under_way = any(
        begin < start.t_s - 0.08 and end > start.t_s + 0.02
        for ball in scene.paths
        if ball != start.ball
        for begin, end in scene.motion_spans(ball)
    )
    is_cue = path.label == CUE
    leaves = scene.departures.get(start.ball)
    falls = (
        leaves is not None
        and leaves.pocket is not None
        and leaves.t_s - start.t_s < 0.7
        and start.moved_mm < 1.2 * scene.diameter_mm
    )
    if falls and speed < 400.0:
        return  # a hanging ball that gives way
    leg = path.legs[start.index + 1]
    way = float(np.hypot(*(leg.at(leg.t1_s) - leg.at(leg.t0_s))))
    if (
        (start.ball, start.index + 1) in scene.explained
        and way < 0.25 * scene.diameter_mm
        and leg.t1_s - start.t_s < 0.3
    ):
        return  # a shiver of the rest before what hit it
    error = 3 * float(np.median(path.noise_mm))
    if start.moved_mm < max(scene.settings.least_move_mm, error) and speed < 100.0:
        return
    if scene.attended(start.xy_mm, start.t_s) is False and speed < 400.0:
        return  # nothing was there to strike or touch it
    if speed < _FASTEST_HAND_MM_S and goes_under_a_hand(scene, path, start.t_s):
        scene.events.append(
            Touch(t=start.t_s, ball=path.label, by=TouchedBy.HAND, moved_mm=round(start.moved_mm, 1), confidence=0.85)
        )
        return
    struck = speed > scene.settings.strike_speed_mm_s and _goes_by_itself(path, start)
    if struck and under_way and not is_cue and speed < 400.0:
        struck = False
    cue_known = any(p.label == CUE for p in scene.paths.values())
    if struck and not cue_known and speed < _SOFTEST_STROKE_MM_S:
        struck = False  # what a sleeve does to any ball; a stroke so soft gets the cue ball nowhere
    if struck and cue_known and not is_cue and speed < 250.0:
        struck = False  # brushed by a sleeve or a cue: nobody plays another ball so softly
    if struck:
        confidence = 0.97 if speed > 200 else 0.85
        if under_way:
            confidence = 0.8 if is_cue else 0.6
        if start.hidden_s > 0.2:
            confidence = min(confidence, 0.85)
        scene.events.append(
            Strike(
                t=start.t_s,
                ball=path.label,
                x=float(start.xy_mm[0]),
                y=float(start.xy_mm[1]),
                vx=float(start.velocity_mm_s[0]),
                vy=float(start.velocity_mm_s[1]),
                confidence=confidence,
            )
        )
        return
    sure = float(np.clip(0.4 + 0.1 * start.moved_mm / max(error, 1.0), 0.4, 0.9))
    by = touched_by(scene, start.xy_mm, start.t_s)
    scene.events.append(Touch(t=start.t_s, ball=path.label, by=by, moved_mm=round(start.moved_mm, 1), confidence=sure))


def _goes_by_itself(path: BallPath, start: Start) -> bool:
    """Whether it goes on like a struck ball: never faster later than at first, but for what impacts do."""
    leg = path.legs[start.index + 1]
    first = float(np.hypot(*leg.velocity(leg.t0_s)))
    last = float(np.hypot(*leg.velocity(leg.t1_s)))
    duration = leg.t1_s - leg.t0_s
    return last < 1.25 * first + 60.0 + 3 * leg.speed_sigma(leg.t1_s) or duration < 0.1


def _order(scene: Scene, t: Touching) -> tuple[int, int]:
    """The ball that came first, then the one that it met."""
    if t.a_started and not t.b_started:
        return t.b, t.a
    if scene.label(t.b) == CUE:
        return t.b, t.a
    return t.a, t.b
