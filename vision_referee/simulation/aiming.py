"""From a player's intention to a direction: ghost balls, cuts, and a search for a stroke that has a wanted end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vision_referee.domain.errors import InputError
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.simulation.facts import hanging_at
from vision_referee.simulation.physics import Motion, Roll, roll, strike_motion
from vision_referee.simulation.pocket_shape import depth_and_side_mm, pocket_cut
from vision_referee.simulation.scene_file import Strike, Want
from vision_referee.simulation.world import World

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A stroke settled to the last number. ``side`` and ``top`` in radii, as :class:`scene_file.Strike`.

    ``ball`` and ``pocket`` are what it is played at, where that is settled.
    """

    direction_deg: float
    speed_mm_s: float
    side: float
    top: float
    ball: str | None = None
    pocket: PocketName | None = None


def settle(strike: Strike, world: World, rng: np.random.Generator) -> Shot:
    """The stroke that a scene asks for. Raises :class:`InputError` when it cannot be played or never ends as wanted."""
    if strike.anything:
        return _anything(strike, world, rng)
    aimed = [strike]
    want = strike.want
    if strike.pot:
        aimed = [strike.model_copy(update={"at": b, "pocket": p}) for b, p in easiest_pots(strike, world)[:6]]
        want = want or Want(falls=1)
    shots = [
        Shot(
            direction_deg=_direction(s, world), speed_mm_s=s.speed_mm_s, side=s.side, top=s.top, ball=s.at,
            pocket=s.pocket,
        )
        for s in aimed
    ]  # fmt: skip
    if not shots:
        raise InputError(f"from where {strike.ball} lies no ball can be potted directly")
    if want is None:
        return shots[0]
    start = {label: world.motion(label) for label in world.on_bed()}
    for attempt in range(want.tries):
        shot = shots[attempt % len(shots)]
        trial = shot if attempt < len(shots) else _varied(shot, attempt, rng)
        if strike.pot and shot.ball is not None:
            want = want.model_copy(update={"into": shot.pocket, "pocketed": (shot.ball,)})
        if ends_as_wanted(want, strike.ball, _try(trial, strike.ball, start, world), world.table):
            return trial
    raise InputError(
        f"no stroke near the one given by {strike.ball} ended as wanted in {want.tries} tries: "
        "aim nearer to it, or want less"
    )


def _anything(strike: Strike, world: World, rng: np.random.Generator) -> Shot:
    """A plausible stroke: six in ten a try at a pot with a player's error, else a hit of any fullness."""
    pots = easiest_pots(strike, world)
    others = [b for b in world.on_bed() if b != strike.ball]
    speed = float(np.exp(rng.uniform(np.log(900), np.log(6500))))
    side, top = float(np.clip(rng.normal(0, 0.15), -0.5, 0.5)), float(np.clip(rng.normal(0.05, 0.22), -0.5, 0.5))
    if pots and rng.random() < 0.6:
        ball, pocket = pots[min(int(rng.exponential(1.0)), len(pots) - 1)]
        exact = _direction(strike.model_copy(update={"at": ball, "pocket": pocket}), world)
        shot = Shot(direction_deg=exact, speed_mm_s=min(speed, 3500), side=side, top=top, ball=ball, pocket=pocket)
        return _in_a_few_tries(shot, strike.ball, world, rng) if rng.random() < 0.6 else _varied(shot, 20, rng)
    if not others:
        return Shot(direction_deg=float(rng.uniform(0, 360)), speed_mm_s=speed, side=side, top=top)
    ball = str(rng.choice(others))
    full = strike.model_copy(update={"at": ball, "cut": float(rng.uniform(-0.98, 0.98))})
    pocket = world.table.pockets()[int(rng.integers(6))].name
    return Shot(direction_deg=_direction(full, world), speed_mm_s=speed, side=side, top=top, ball=ball, pocket=pocket)


def _in_a_few_tries(shot: Shot, struck: str, world: World, rng: np.random.Generator) -> Shot:
    """The first of some attempts that pots the ball, or the last of them."""
    start = {label: world.motion(label) for label in world.on_bed()}
    assert shot.ball is not None
    want, trial = Want(pocketed=(shot.ball,), into=shot.pocket), shot
    for attempt in range(25):
        trial = shot if attempt == 0 else _varied(shot, attempt, rng)
        if ends_as_wanted(want, struck, _try(trial, struck, start, world), world.table):
            break
    return trial


def easiest_pots(strike: Strike, world: World) -> list[tuple[str, PocketName]]:
    """Balls and pockets that a straight stroke can bring together, the easiest first."""
    here = _xy(world, strike.ball)
    places = {b: _xy(world, b) for b in world.on_bed()}
    diameter = world.table.ball_diameter_mm
    found: list[tuple[float, str, PocketName]] = []
    for ball, there in places.items():
        if ball == strike.ball or (strike.at is not None and ball != strike.at):
            continue
        for pocket in world.table.pockets():
            if strike.pocket is not None and pocket.name is not strike.pocket:
                continue
            goal = pocket.mouth_mm
            ghost = ghost_mm(there, goal, diameter)
            cut = _turn_deg(_bearing(here, ghost), _bearing(there, goal))
            into = _turn_deg(_bearing(there, goal), math.degrees(math.atan2(-pocket.inward[1], -pocket.inward[0])))
            if cut > 62 or into > 50:
                continue
            rest = [p for b, p in places.items() if b not in (ball, strike.ball)]
            if any(_off_line_mm(p, here, ghost) < diameter or _off_line_mm(p, there, goal) < diameter for p in rest):
                continue
            hard = (math.dist(there, goal) + 0.5 * math.dist(here, ghost)) / math.cos(math.radians(cut)) + 12 * into
            found.append((hard, ball, pocket.name))
    return [(ball, pocket) for _, ball, pocket in sorted(found, key=lambda f: f[0])]


def _turn_deg(a: float, b: float) -> float:
    return abs((a - b + 180) % 360 - 180)


def _off_line_mm(p: Point, a: Point, b: Point) -> float:
    """Distance of a point from the segment between two others."""
    ab = (b[0] - a[0], b[1] - a[1])
    length2 = ab[0] ** 2 + ab[1] ** 2
    u = 0.0 if length2 == 0 else min(max(((p[0] - a[0]) * ab[0] + (p[1] - a[1]) * ab[1]) / length2, 0.0), 1.0)
    return math.dist(p, (a[0] + u * ab[0], a[1] + u * ab[1]))


def _varied(shot: Shot, attempt: int, rng: np.random.Generator) -> Shot:
    """Wider and wider round the intention."""
    width = min(0.15 + attempt / 60, 3.0)
    return Shot(
        direction_deg=shot.direction_deg + float(rng.normal(0, 0.5 * width)),
        speed_mm_s=float(np.clip(shot.speed_mm_s * math.exp(rng.normal(0, 0.12 * width)), 60.0, 12_000.0)),
        side=float(np.clip(shot.side + rng.normal(0, 0.04 * width), -0.6, 0.6)),
        top=float(np.clip(shot.top + rng.normal(0, 0.05 * width), -0.6, 0.6)),
        ball=shot.ball,
        pocket=shot.pocket,
    )


def _try(shot: Shot, ball: str, start: dict[str, Motion], world: World) -> Roll:
    struck = strike_motion(
        start[ball], direction_deg=shot.direction_deg, speed_mm_s=shot.speed_mm_s, side=shot.side, top=shot.top,
        radius_mm=world.table.ball_radius_mm,
    )  # fmt: skip
    return roll(start | {ball: struck}, world.table, world.params)


def ends_as_wanted(want: Want, struck: str, outcome: Roll, table: TableSpec) -> bool:
    """Whether a roll fulfils every wish."""
    fallen = [(i.balls[0], i.what) for i in outcome.impacts if i.kind == "hole"]
    if want.near_miss is not None:
        jaws = [i for i in outcome.impacts if i.kind in ("tip", "facet") and i.what.startswith(want.near_miss)]
        if fallen or not jaws:
            return False
    elif want.falls is not None:
        if len(fallen) != want.falls or any(b == struck for b, _ in fallen):
            return False
    elif {b for b, _ in fallen} != set(want.pocketed) and (want.pocketed or want.hanging or want.touched is not None):
        return False
    if want.into is not None and (want.pocketed[0], str(want.into)) not in fallen:
        return False
    if want.hanging is not None:
        x, y, _ = outcome.pieces[want.hanging].at(outcome.t1_s + 1e-3).position_mm
        if hanging_at(table, float(x), float(y)) is None:
            return False
    if want.touched is not None:
        met: list[str] = []
        for impact in outcome.impacts:
            if impact.kind == "ball" and struck in impact.balls:
                other = impact.balls[0] if impact.balls[1] == struck else impact.balls[1]
                if other not in met:
                    met.append(other)
        if met != list(want.touched):
            return False
    return want.cushions is None or sum(i.kind in ("nose", "tip") for i in outcome.impacts) >= want.cushions


def _direction(strike: Strike, world: World) -> float:
    if strike.direction_deg is not None:
        return strike.direction_deg
    here = _xy(world, strike.ball)
    if strike.toward_mm is not None:
        return _bearing(here, strike.toward_mm)
    if strike.at is None:
        raise InputError(f"the strike of {strike.ball} says nowhere to: give direction_deg, toward_mm or at")
    there = _xy(world, strike.at)
    goal: Point | None = strike.send_mm
    if strike.pocket is not None:
        goal = pocket_goal(world.table, strike.pocket)
    if goal is not None:
        return _bearing(here, ghost_mm(there, goal, world.table.ball_diameter_mm))
    gap = math.dist(here, there)
    miss = math.asin(min((strike.cut or 0.0) * world.table.ball_diameter_mm / max(gap, 1.0), 1.0))
    return _bearing(here, there) + math.degrees(miss)


def ghost_mm(object_mm: Point, goal_mm: Point, diameter_mm: float) -> Point:
    """Where the struck ball's centre must be at the contact for the object ball to set off to the goal."""
    d = math.dist(object_mm, goal_mm)
    if d < 1e-6:
        return object_mm
    return (
        object_mm[0] - (goal_mm[0] - object_mm[0]) / d * diameter_mm,
        object_mm[1] - (goal_mm[1] - object_mm[1]) / d * diameter_mm,
    )


def pocket_goal(table: TableSpec, name: PocketName) -> Point:
    """Where to aim a ball that is to fall: the middle of the mouth."""
    return table.pocket(name).mouth_mm


def lip_place(table: TableSpec, name: PocketName, short_mm: float) -> Point:
    """A place on a pocket's axis, ``short_mm`` before the lip."""
    pocket = table.pocket(name)
    depth = pocket_cut(table).lip_depth_mm - short_mm
    x, y = pocket.mouth_mm
    place = (x - pocket.inward[0] * depth, y - pocket.inward[1] * depth)
    assert depth_and_side_mm(pocket, *place)[1] < 1e-6
    return place


def _xy(world: World, label: str) -> Point:
    x, y, _ = world.motion(label).position_mm
    return (float(x), float(y))


def _bearing(a: Point, b: Point) -> float:
    return math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))
