"""People and things over the table, made of capsules: cues, hands, arms, heads, bodies, rests, triangles, chalk."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import TableSpec
from vision_referee.simulation.scene import BallPose, Bgr, Capsule

F64 = npt.NDArray[np.float64]
_UP = np.array([0.0, 0.0, 1.0])

_SKIN: tuple[Bgr, ...] = (
    (0.55, 0.66, 0.85),
    (0.40, 0.52, 0.75),
    (0.25, 0.35, 0.52),
    (0.15, 0.20, 0.32),
    (0.65, 0.75, 0.92),
)


def random_occluders(
    rng: np.random.Generator, table: TableSpec, balls: tuple[BallPose, ...], focus_mm: F64
) -> tuple[Capsule, ...]:
    """Whatever is in the way in one frame: often nothing."""
    out: list[Capsule] = []
    if rng.random() < 0.5:
        out += _player(rng, table, balls, focus_mm)
    if rng.random() < 0.25:
        out += _standing(rng, table)
    if rng.random() < 0.08:
        out += _stick(rng, focus_mm, rest=True)
    if rng.random() < 0.06:
        out += _triangle(rng, table, focus_mm)
    for _ in range(int(rng.integers(0, 5)) if rng.random() < 0.4 else 0):
        out += _small_thing(rng, table)
    if rng.random() < 0.12:
        out += _hand(
            rng, np.array([*(focus_mm + rng.normal(0, 200, 2)), rng.uniform(30, 200)]), rng.uniform(0, 2 * math.pi)
        )
    return tuple(out)


def _capsule(a: npt.ArrayLike, b: npt.ArrayLike, ra: float, rb: float, colour: Bgr, kind: str) -> Capsule:
    return Capsule(
        a_mm=np.asarray(a, np.float64), b_mm=np.asarray(b, np.float64), radius_a_mm=float(ra), radius_b_mm=float(rb),
        colour_bgr=colour, kind=kind,
    )  # fmt: skip


def _cloth_colour(rng: np.random.Generator) -> Bgr:
    if rng.random() < 0.5:
        v = float(rng.choice([0.05, 0.1, 0.2, 0.85]))
        return (v, v, v)
    b, g, r = rng.uniform(0.02, 0.9, 3)
    return (float(b), float(g), float(r))


def _player(rng: np.random.Generator, table: TableSpec, balls: tuple[BallPose, ...], focus_mm: F64) -> list[Capsule]:
    if balls and rng.random() < 0.8:
        near = min(balls, key=lambda b: float(np.hypot(*(b.centre_mm[:2] - focus_mm))) * float(rng.uniform(0.5, 2)))
        target = near.centre_mm.copy()
    else:
        target = np.array([*(focus_mm + rng.normal(0, 300, 2)), table.ball_radius_mm])
    angle = float(rng.uniform(0, 2 * math.pi))
    d = np.array([math.cos(angle), math.sin(angle), 0.0])
    side = np.array([-d[1], d[0], 0.0]) * float(rng.choice([-1, 1]))
    gap = table.ball_radius_mm + float(rng.choice([3.0, 30.0, 120.0]))
    tip = target - d * gap
    rise = float(rng.uniform(0.05, 0.2))
    butt = tip - d * 1450 + np.array([0, 0, 1450 * rise])
    wood: Bgr = (0.45, 0.65, 0.82) if rng.random() < 0.7 else _cloth_colour(rng)
    out = [_capsule(tip, butt, rng.uniform(5, 7), rng.uniform(13, 17), wood, "cue")]
    bridge = tip - d * rng.uniform(130, 330)
    out += _hand(rng, bridge + np.array([0, 0, -5.0]), angle)
    sleeve = _cloth_colour(rng)
    skin = _SKIN[int(rng.integers(len(_SKIN)))]
    elbow = bridge - d * 330 + side * rng.uniform(20, 160) + np.array([0, 0, rng.uniform(40, 160)])
    shoulder = elbow - d * 320 + side * rng.uniform(0, 120) + np.array([0, 0, rng.uniform(120, 300)])
    bare = rng.random() < 0.4
    out.append(_capsule(bridge, elbow, 26, 42, skin if bare else sleeve, "arm"))
    out.append(_capsule(elbow, shoulder, 45, 65, sleeve, "arm"))
    head = shoulder + d * rng.uniform(-60, 160) - side * rng.uniform(100, 200) + np.array([0, 0, rng.uniform(60, 200)])
    dark = float(rng.uniform(0.02, 0.25))
    hair: Bgr = skin if rng.random() < 0.15 else (0.7 * dark, 0.85 * dark, dark)
    out.append(_capsule(head, head - d * 40 + np.array([0, 0, 30]), 80, 95, hair, "head"))
    hips = shoulder - d * 520 - side * 120 + np.array([0, 0, -150])
    out.append(_capsule(shoulder - side * 120, hips, 130, 160, sleeve, "body"))
    grip = butt + d * 350
    out += _hand(rng, grip, angle + math.pi)
    out.append(_capsule(grip, hips + np.array([0, 0, 250]) - side * 200, 35, 60, sleeve, "arm"))
    out.append(_capsule(hips, [hips[0], hips[1], -800], 120, 90, _cloth_colour(rng), "body"))
    return out


def _hand(rng: np.random.Generator, at: F64, angle: float) -> list[Capsule]:
    skin = _SKIN[int(rng.integers(len(_SKIN)))]
    if rng.random() < 0.2:  # a glove
        skin = (0.06, 0.06, 0.06) if rng.random() < 0.7 else _cloth_colour(rng)
    nails, knuckles = rng.random() < 0.5, rng.random() < 0.5
    d = np.array([math.cos(angle), math.sin(angle), 0.0])
    palm = at + np.array([0, 0, 5.0])
    out = [_capsule(palm, palm - d * 60 + np.array([0, 0, 15]), 30, 32, skin, "hand")]
    for spread in (-0.7, -0.35, 0.0, 0.35, 0.75):
        a = angle + spread + float(rng.normal(0, 0.1))
        f = np.array([math.cos(a), math.sin(a), 0.0])
        tip = palm + f * rng.uniform(70, 115) - _UP * 12
        out.append(_capsule(palm + f * 15, tip, 12, 8, skin, "hand"))
        pale = (min(skin[0] + 0.2, 0.95), min(skin[1] + 0.2, 0.95), min(skin[2] + 0.12, 0.97))
        if nails:
            out.append(_capsule(tip - f * 4 + _UP * 3, tip + f * 3, 6, 5, pale, "hand"))
        if knuckles:  # bent fingers shine at the knuckle, round as a ball
            knee = palm + f * 50 + _UP * float(rng.uniform(5, 30))
            out.append(_capsule(knee, knee + _UP, 14, 14, pale if rng.random() < 0.5 else skin, "hand"))
    return out


def _standing(rng: np.random.Generator, table: TableSpec) -> list[Capsule]:
    side = int(rng.integers(4))
    off = float(rng.uniform(200, 700))
    x, y = rng.uniform(-200, table.length_mm + 200), rng.uniform(-200, table.width_mm + 200)
    if side < 2:
        y = -off if side else table.width_mm + off
    else:
        x = -off if side == 2 else table.length_mm + off
    foot = np.array([x, y, -800.0])
    lean = rng.normal(0, 60, 3) * np.array([1, 1, 0])
    coat, skin = _cloth_colour(rng), _SKIN[int(rng.integers(len(_SKIN)))]
    hips, neck = foot + _UP * 850 + lean, foot + _UP * 1450 + 2 * lean
    out = [
        _capsule(foot, hips, 110, 140, _cloth_colour(rng), "body"),
        _capsule(hips, neck, 160, 170, coat, "body"),
        _capsule(neck + _UP * 150, neck + _UP * 220, 85, 95, skin, "head"),
    ]
    if rng.random() < 0.5:
        out += _stick(rng, foot[:2] + rng.normal(0, 150, 2), rest=False)
    return out


def _stick(rng: np.random.Generator, at_mm: F64, *, rest: bool) -> list[Capsule]:
    angle = float(rng.uniform(0, 2 * math.pi))
    d = np.array([math.cos(angle), math.sin(angle), 0.0])
    start = np.array([*at_mm, 40.0])
    if not rest:
        return [_capsule(start - _UP * 800, start + _UP * 600, 14, 6, (0.4, 0.6, 0.8), "cue")]
    out = [_capsule(start, start - d * 1500 + _UP * 200, 8, 12, (0.3, 0.5, 0.7), "rest")]
    side = np.array([-d[1], d[0], 0.0])
    out += [
        _capsule(start - side * 40 * s, start + side * 40 * s + _UP * 25 * s, 5, 5, (0.5, 0.7, 0.75), "rest")
        for s in (-1, 1)
    ]
    return out


def _triangle(rng: np.random.Generator, table: TableSpec, focus_mm: F64) -> list[Capsule]:
    size = table.ball_diameter_mm * 5.6
    turn = float(rng.choice([0.0, rng.uniform(0, 2 * math.pi)]))
    middle = np.asarray(table.foot_spot_mm) if rng.random() < 0.5 else focus_mm
    corners = [
        np.array([*(middle + size * 0.6 * np.array([math.cos(turn + k), math.sin(turn + k)])), 28.0])
        for k in (0, 2.094, 4.189)
    ]
    colour = _cloth_colour(rng)
    return [_capsule(corners[i], corners[(i + 1) % 3], 10, 10, colour, "triangle") for i in range(3)]


def _small_thing(rng: np.random.Generator, table: TableSpec) -> list[Capsule]:
    """Chalk, glasses, phones and the like on the rail; now and then on the cloth."""
    rail = table.nose_height_mm
    x, y = rng.uniform(0, table.length_mm), rng.choice([-1.0, 1.0])
    edge = table.rail_width_mm * rng.uniform(0.4, 0.9)
    at = np.array([x, -edge if y < 0 else table.width_mm + edge, rail + 10])
    if rng.random() < 0.5:
        at[:2] = at[1] * table.length_mm / table.width_mm, rng.uniform(0, table.width_mm)
    if rng.random() < 0.1:
        at = np.array([x, rng.uniform(0, table.width_mm), 10.0])
    colour: Bgr = (0.6, 0.4, 0.1) if rng.random() < 0.5 else _cloth_colour(rng)
    size = float(rng.uniform(8, 14))
    reach = float(rng.choice([4.0, 4.0, 40.0]))
    return [
        _capsule(at, at + np.array([*(rng.normal(0, 1, 2) * reach), rng.uniform(0, 8)]), size, size, colour, "chalk")
    ]
