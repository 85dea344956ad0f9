"""Pots, rattles and balls off the table: where paths end.

Two signs make a pot: the path leads into a mouth, and the ball is gone from the bed. It is stamped when its centre
passes
the lip, by its own motion, not when it is missed. What is still seen of it in the net is no longer on the table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import LeftTable, Pocketed, PocketRebound, Returned
from vision_referee.domain.table import Pocket
from vision_referee.events.knocked_in import knocked_in
from vision_referee.events.pockets_cut import depth_and_side, lip_depth_mm, may_fall_depth_mm
from vision_referee.events.scene import Departure, Scene
from vision_referee.tracking.mouths import nearest_mouth, outside_mm
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]


def find_departures(scene: Scene) -> None:
    """Adds ``pocketed``, ``pocket_rebound`` and ``left_table`` events and cuts the paths of balls that left."""
    for ball in sorted(scene.paths, key=lambda b: (not scene.paths[b].known, scene.paths[b].start_s)):
        path = scene.paths[ball]
        departure = _pot(scene, path) or knocked_in(scene, path) or _off_table(scene, path)
        if departure is not None and _of_a_ball_already_told(scene, path, departure):
            scene.departures[ball] = departure
            scene.paths[ball] = path.truncated(departure.t_s + 0.02)
            continue
        if departure is not None and departure.t_s >= scene.start_s - 0.05:
            scene.departures[ball] = departure
            scene.paths[ball] = path.truncated(departure.t_s + 0.02)
            if departure.pocket is not None:
                scene.events.append(
                    Pocketed(t=departure.t_s, ball=path.label, pocket=departure.pocket, confidence=departure.confidence)
                )
        scene.events.extend(_rebounds(scene, scene.paths[ball]))
        _left_and_returned(scene, scene.paths[ball])


def _of_a_ball_already_told(scene: Scene, path: BallPath, departure: Departure) -> bool:
    """Glimpses in a net can look like another ball that comes from nowhere and falls: balls do not come from
    nowhere."""
    known = path.known or (scene.first and path.start_s < scene.start_s + 0.4)
    if known or departure.pocket is None:
        return False
    pocket = scene.table.pocket(departure.pocket)
    began_near = float(np.hypot(*(path.sightings.xy_mm[0] - np.array(pocket.mouth_mm)))) < 4 * scene.diameter_mm
    twin = any(d.pocket == departure.pocket and abs(d.t_s - departure.t_s) < 0.6 for d in scene.departures.values())
    return began_near or twin


def _pot(scene: Scene, path: BallPath) -> Departure | None:
    s, table = path.sightings, scene.table
    lip = lip_depth_mm(table)
    radius = table.ball_radius_mm
    for pocket in table.pockets():
        depth, side = depth_and_side(pocket, s.xy_mm)
        near = (np.abs(depth) < 2.5 * radius + lip) & (side < pocket.width_mm / 2 + 0.8 * radius)
        if not near[-1] and not near[-3:].any():
            continue
        fell = _fell_in(path, pocket, depth, side, scene)
        if fell is not None:
            return fell
    return _led_in(path, scene)


def _fell_in(path: BallPath, pocket: Pocket, depth: F64, side: F64, scene: Scene) -> Departure | None:
    """A ball last seen in or at a mouth: beyond the lip, or gone from its edge."""
    s, table = path.sightings, scene.table
    lip, radius = lip_depth_mm(table), table.ball_radius_mm
    margin = 0.25 * radius + 2 * float(np.median(path.noise_mm[-5:]))
    deep = (depth > lip + margin) & (side < pocket.width_mm / 2 + radius)
    unseen = scene.end_s - float(s.t_s[-1])
    if deep[-1] or deep[-2:].any():
        # From the first moment of the last stay beyond the lip.
        inside = depth > lip
        out = np.flatnonzero(~inside)
        first = int(out[-1]) + 1 if len(out) else 0
        if first >= len(depth):
            first = len(depth) - 1
        if first == 0:
            return None
        t_s = _passing(s.t_s, depth, first, lip)
        seen_deep = int(deep[first:].sum())
        return Departure(ball=path.ball, t_s=t_s, pocket=pocket.name, confidence=0.97 if seen_deep >= 2 else 0.93)
    if path.alive and unseen < 0.15:
        return None
    if unseen > 0.12:
        # It was over the lip, glimpsed about the mouth since (in the net, from the pocket's back), and is gone.
        clear = np.flatnonzero(depth < -0.6 * radius)
        stay = int(clear[-1]) + 1 if len(clear) else 0
        over = np.flatnonzero((depth[stay:] > lip) & (side[stay:] < pocket.width_mm / 2 + radius))
        if stay > 0 and len(over):
            first = stay + int(over[0])
            return Departure(
                ball=path.ball, t_s=_passing(s.t_s, depth, first, lip), pocket=pocket.name, confidence=0.95
            )
    if depth[-1] > -1.2 * radius and unseen > 0.12:
        # Last seen at the edge, then not any more.
        last = path.legs[-1]
        if last.resting and depth[-1] < may_fall_depth_mm(table) - margin:
            return None
        confidence = 0.95 if depth[-1] > -0.4 * radius else 0.9
        if path.alive and last.resting and unseen < 1.0:
            return None
        t_s = _gone_at_the_edge(path, pocket, depth, lip, scene)
        return Departure(ball=path.ball, t_s=t_s, pocket=pocket.name, confidence=confidence)
    return None


def _gone_at_the_edge(path: BallPath, pocket: Pocket, depth: F64, lip: float, scene: Scene) -> float:
    """When a ball that was last seen at the edge passed the lip.

    While it tips over it hardly gets on, and as it sinks it seems to come back: the deepest sightings tell when.
    """
    s, radius = path.sightings, scene.table.ball_radius_mm
    last = path.legs[-1]
    recent = np.flatnonzero(s.t_s > s.t_s[-1] - 0.6)
    deepest = float(depth[recent].max())
    if deepest > lip - 0.35 * radius and not last.resting:
        return float(s.t_s[recent[int(np.argmax(depth[recent] > deepest - 2.0))]])
    speed = 0.0 if last.resting else -float(np.dot(last.velocity(last.t1_s), pocket.inward))
    to_lip = max(lip - float(depth[-1]), 0.0)
    return float(s.t_s[-1]) + (min(to_lip / speed, 0.25) if speed > 20.0 else 0.08)


def _passing(t_s: F64, depth: F64, first: int, lip: float) -> float:
    """When the depth passed the lip, between the sightings ``first - 1`` and ``first``."""
    a, b = float(depth[first - 1]), float(depth[first])
    share = float(np.clip((lip - a) / max(b - a, 1e-6), 0.0, 1.0))
    return float(t_s[first - 1] + share * (t_s[first] - t_s[first - 1]))


def _led_in(path: BallPath, scene: Scene) -> Departure | None:
    """A ball last seen on its way into a mouth, too fast to be seen in it."""
    s, table = path.sightings, scene.table
    unseen = scene.end_s - float(s.t_s[-1])
    last = path.legs[-1]
    if last.resting or unseen < 0.12 or (path.alive and unseen < 0.2):
        return None
    end = last.t1_s
    xy, velocity = last.at(end), last.velocity(end)
    speed = float(np.hypot(*velocity))
    if speed < 30.0:
        return None
    lip = lip_depth_mm(table)
    best: tuple[float, Departure] | None = None
    for pocket in table.pockets():
        approach = -float(np.dot(velocity, np.array(pocket.inward)))
        if approach < 0.2 * speed:
            continue
        depth, _ = depth_and_side(pocket, xy)
        wait = (lip - float(depth)) / approach
        mouth_wait = max(-float(depth) / approach, 0.0)
        _, side = depth_and_side(pocket, xy + velocity * mouth_wait)
        error = last.speed_sigma(end) * mouth_wait + last.place_sigma(end)
        slack = pocket.width_mm / 2 + 0.5 * table.ball_radius_mm + min(2 * error, table.ball_radius_mm)
        if wait < -0.1 or float(side) > slack or wait > min(unseen + 0.05, 0.8):
            continue
        straight = float(np.clip(1.0 - float(side) / slack, 0.0, 1.0))
        confidence = float(np.clip(0.95 - 0.5 * max(wait - 0.1, 0.0) - 0.15 * (1 - straight), 0.3, 0.95))
        if best is None or wait < best[0]:
            best = (
                wait,
                Departure(ball=path.ball, t_s=end + max(wait, 0.0), pocket=pocket.name, confidence=confidence),
            )
    return best[1] if best is not None else None


def _off_table(scene: Scene, path: BallPath) -> Departure | None:
    """A ball whose centre passed over a nose away from the mouths and was not seen on the bed again."""
    s, table = path.sightings, scene.table
    out = np.array([outside_mm(table, xy) for xy in s.xy_mm])
    limit = 0.35 * table.ball_diameter_mm
    beyond = np.array(
        [
            o > limit and nearest_mouth(table, xy)[1] > 0.9 * table.ball_diameter_mm
            for o, xy in zip(out, s.xy_mm, strict=True)
        ]
    )
    if beyond[-1]:
        inside = np.flatnonzero(out <= 0)
        if not len(inside):
            return None
        first = int(inside[-1]) + 1
        t_s = float(s.t_s[first])
        where = s.xy_mm[-1]
    elif not path.alive and not path.legs[-1].resting:
        last = path.legs[-1]
        velocity = last.velocity(last.t1_s)
        speed = float(np.hypot(*velocity))
        if speed < 600 or scene.end_s - last.t1_s < 0.3:
            return None
        ahead = last.straight(last.t1_s + np.linspace(0, 0.15, 16))
        passed = np.array([outside_mm(table, xy) for xy in ahead])
        if passed.max() < 0:
            return None
        k = int(np.argmax(passed > 0))
        t_s, where = last.t1_s + 0.01 * k, ahead[k]
        scene.events.append(LeftTable(t=t_s, ball=path.label, x=float(where[0]), y=float(where[1]), confidence=0.6))
        return Departure(ball=path.ball, t_s=t_s, pocket=None, confidence=0.6)
    else:
        return None
    scene.events.append(LeftTable(t=t_s, ball=path.label, x=float(where[0]), y=float(where[1]), confidence=0.9))
    return Departure(ball=path.ball, t_s=t_s, pocket=None, confidence=0.9)


def _left_and_returned(scene: Scene, path: BallPath) -> None:
    """Adds ``left_table`` and ``returned`` for a ball that was seen outside the noses, away from the mouths, and again
    on the bed."""
    s, table = path.sightings, scene.table
    out = np.array([outside_mm(table, xy) for xy in s.xy_mm])
    if not (out > 0.35 * table.ball_diameter_mm).any():
        return
    away = np.array([nearest_mouth(table, xy)[1] > 0.9 * table.ball_diameter_mm for xy in s.xy_mm])
    beyond = (out > 0.35 * table.ball_diameter_mm) & away
    if not beyond.any() or beyond[-1] or beyond[0]:
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (out > 0).astype(np.int8), [0]])))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        if not beyond[first:last].any() or last >= len(s) or first == 0 or s.t_s[first] < scene.start_s:
            continue
        x, y = (float(v) for v in s.xy_mm[first])
        scene.events.append(
            LeftTable(t=float(s.t_s[first - 1 : first + 1].mean()), ball=path.label, x=x, y=y, confidence=0.8)
        )
        x, y = (float(v) for v in s.xy_mm[last])
        scene.events.append(
            Returned(t=float(s.t_s[last - 1 : last + 1].mean()), ball=path.label, x=x, y=y, confidence=0.8)
        )


def _rebounds(scene: Scene, path: BallPath) -> list[PocketRebound]:
    """Into a mouth, past its line, and out again."""
    found: list[PocketRebound] = []
    s = path.sightings
    if not path.moved or len(s) < 4:
        return found
    times = np.arange(max(path.start_s, scene.start_s), min(path.end_s, scene.gone_s(path.ball)), 0.005)
    if len(times) < 3:
        return found
    places = path.sample(times)
    noise = float(np.median(path.noise_mm))
    for pocket in scene.table.pockets():
        depth, side = depth_and_side(pocket, places)
        inside = (depth > 0) & (side < pocket.width_mm)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int8), [0]])))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            deepest = float(depth[a:b].max())
            if a == 0 or b >= len(times) or deepest < max(3.0, 2 * noise):
                continue
            confidence = float(np.clip(0.6 + deepest / scene.table.ball_radius_mm, 0.6, 0.95))
            t_s = float(times[a + int(np.argmax(depth[a:b]))])
            found.append(PocketRebound(t=t_s, ball=path.label, pocket=pocket.name, confidence=confidence))
    return found
