"""The look of a hall: everything about a picture that does not change while a video runs.

A :class:`Look` fixes cloth, rails, pockets, floor, lamps, balls' paint and the camera's sensor. Colours are sRGB in
0..1, in B, G, R order. All textures follow from ``seed``, so a look draws the same table every time.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, field, replace

import numpy as np

from vision_referee.domain.errors import InputError

Bgr = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """A rectangular lamp that hangs at ``centre`` (fractions of the table's length and width, mm above the cloth)."""

    centre: tuple[float, float, float]
    half_mm: tuple[float, float]
    power: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BallLook:
    """How a ball set is painted. ``family``: pyramid, pool or snooker."""

    family: str = "pyramid"
    body_bgr: Bgr = (0.82, 0.90, 0.93)
    """Ground colour of pyramid balls and of the white parts of pool balls."""
    print_bgr: Bgr = (0.08, 0.08, 0.10)
    number_deg: float = 24.0
    """Angular radius of a printed face on the ball."""
    ring: bool = True
    underline: bool = True
    faces: int = 6
    font: int = 0
    cue_style: str = "coloured"
    """plain, coloured, striped or dotted."""
    cue_bgr: Bgr = (0.10, 0.55, 0.90)
    gloss: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """See the module's docstring. Lengths in mm on the table, ``_px`` at a picture width of 1280."""

    seed: int = 0
    cloth_bgr: Bgr = (0.30, 0.48, 0.13)
    cloth_grain: float = 0.03
    cloth_blotch: float = 0.05
    cloth_wear: float = 0.2
    marks: float = 0.3
    """How many chalk strokes, stains and spots lie on the cloth, 0..1."""
    house_line: bool = True
    house_arc: bool = False
    line_bgr: Bgr = (0.85, 0.9, 0.9)
    line_strength: float = 0.6
    logo: bool = False
    projector: bool = False
    """Thin projected lines on the cloth and rings round the balls."""
    cushion_bgr: Bgr | None = None
    """None: the cloth's own colour."""
    cushion_light: float = 1.0
    cushion_width_mm: float = 50.0
    nose_line: float = 0.1
    rail_bgr: Bgr = (0.10, 0.18, 0.35)
    rail_grain: float = 0.3
    rail_gloss: float = 0.2
    diamond_bgr: Bgr = (0.8, 0.85, 0.88)
    diamond_mm: float = 6.0
    """Radius of the rail's sights; 0: none."""
    corner_bgr: Bgr | None = None
    corner_mm: float = 110.0
    outer_round_mm: float = 60.0
    pocket_style: str = "dark"
    """dark, leather, net or bag."""
    pocket_bgr: Bgr = (0.02, 0.02, 0.02)
    rim_bgr: Bgr = (0.06, 0.08, 0.10)
    rim_mm: float = 18.0
    apron_bgr: Bgr = (0.06, 0.08, 0.12)
    apron_mm: float = 200.0
    floor_bgr: Bgr = (0.25, 0.25, 0.27)
    floor_busy: float = 0.5
    """0: an even floor; 1: patterned carpet, objects and people's things."""
    wall_bgr: Bgr = (0.15, 0.15, 0.17)
    lamps: tuple[Lamp, ...] = (
        Lamp(centre=(0.3, 0.5, 900.0), half_mm=(350.0, 150.0)),
        Lamp(centre=(0.7, 0.5, 900.0), half_mm=(350.0, 150.0)),
    )
    ambient: float = 0.35
    """Part of the light that comes from everywhere."""
    light_bgr: Bgr = (1.0, 1.0, 1.0)
    hall: float = 0.5
    """Brightness of floor and walls against the table's."""
    shadow: float = 0.8
    balls: BallLook = field(default_factory=BallLook)
    gain: float = 1.0
    gamma: float = 2.2
    contrast: float = 1.0
    saturation: float = 1.0
    vignette: float = 0.1
    bloom: float = 0.05
    noise: float = 2.0
    """Standard deviation of the noise in 8-bit steps."""
    noise_grain_px: float = 1.0
    defocus_px: float = 0.6
    sharpen: float = 0.3
    jpeg_quality: int = 88
    overlay: bool = False


CLOTHS: dict[str, Bgr] = {
    "green": (0.22, 0.48, 0.10),
    "pale_green": (0.45, 0.58, 0.42),
    "tournament_blue": (0.78, 0.50, 0.12),
    "electric_blue": (0.85, 0.60, 0.15),
    "navy": (0.45, 0.22, 0.10),
    "teal": (0.55, 0.55, 0.10),
    "red": (0.15, 0.12, 0.60),
    "burgundy": (0.16, 0.08, 0.38),
    "grey": (0.50, 0.50, 0.48),
    "brown": (0.20, 0.32, 0.45),
    "sand": (0.50, 0.66, 0.72),
    "purple": (0.45, 0.18, 0.35),
    "black": (0.12, 0.12, 0.12),
    "orange": (0.12, 0.40, 0.80),
    "yellow_green": (0.12, 0.62, 0.50),
}
"""Cloth colours to start from, sRGB 0..1 in B, G, R order."""


def named_look(name: str) -> Look:
    """One of ``club_green``, ``arena_blue``, ``dark_hall``, ``pale_cloth``, ``red_cloth``.

    Raises InputError for another name.
    """
    looks = {
        "club_green": Look(seed=1),
        "arena_blue": Look(
            seed=2,
            cloth_bgr=CLOTHS["tournament_blue"],
            rail_bgr=(0.05, 0.05, 0.06),
            overlay=True,
            hall=0.2,
            corner_bgr=(0.3, 0.3, 0.3),
        ),
        "dark_hall": Look(
            seed=3,
            cloth_bgr=CLOTHS["green"],
            hall=0.03,
            ambient=0.15,
            gain=0.75,
            noise=4.0,
            rail_bgr=(0.05, 0.08, 0.2),
            vignette=0.3,
        ),
        "pale_cloth": Look(
            seed=4, cloth_bgr=CLOTHS["pale_green"], house_arc=True, rail_bgr=(0.12, 0.1, 0.4), diamond_mm=4.0
        ),
        "red_cloth": Look(
            seed=5,
            cloth_bgr=CLOTHS["burgundy"],
            rail_bgr=(0.1, 0.1, 0.12),
            pocket_style="net",
            rim_bgr=(0.5, 0.6, 0.65),
        ),
    }
    if name not in looks:
        raise InputError(f"unknown look '{name}': use one of {', '.join(sorted(looks))}, or 'random' with a seed")
    return looks[name]


def random_look(rng: np.random.Generator, *, family: str = "pyramid", extremes: float = 1.0) -> Look:
    """A look drawn at random; ``family`` is the ball set's. ``extremes`` 0..1 widens faults (noise, dark, blur)."""
    cloth = _cloth(rng, family)
    hall = float(rng.choice([0.02, 0.1, 0.3, 0.6, 1.0]) * rng.uniform(0.7, 1.3))
    wood = rng.random() < 0.65
    rail = _wood(rng) if wood else _grey(rng, 0.03, 0.75)
    pocket_style = str(rng.choice(["dark", "dark", "leather", "net", "bag"]))
    faults = extremes * float(rng.random() < 0.5)
    look = Look(
        seed=int(rng.integers(1 << 31)),
        cloth_bgr=cloth,
        cloth_grain=float(rng.uniform(0, 0.07)),
        cloth_blotch=float(rng.uniform(0, 0.12)),
        cloth_wear=float(rng.random() ** 2),
        marks=float(rng.random() ** 2),
        house_line=bool(rng.random() < 0.7),
        house_arc=bool(rng.random() < (0.6 if family == "snooker" else 0.15)),
        line_bgr=_grey(rng, 0.0, 0.2) if rng.random() < 0.3 else _grey(rng, 0.7, 1.0),
        line_strength=float(rng.uniform(0.15, 0.8)),
        logo=bool(rng.random() < 0.12),
        projector=bool(rng.random() < 0.06),
        cushion_bgr=_hsv(rng.random(), rng.uniform(0.2, 0.9), rng.uniform(0.15, 0.8)) if rng.random() < 0.06 else None,
        cushion_light=float(rng.uniform(0.75, 1.25)),
        cushion_width_mm=float(rng.uniform(38, 62)),
        nose_line=float(rng.uniform(-0.35, 0.35)),
        rail_bgr=rail,
        rail_grain=float(rng.uniform(0.1, 0.6)) if wood else float(rng.uniform(0, 0.1)),
        rail_gloss=float(rng.random() ** 2),
        diamond_bgr=_grey(rng, 0.6, 1.0),
        diamond_mm=float(rng.uniform(4, 11)) if rng.random() < 0.75 else 0.0,
        corner_bgr=_grey(rng, 0.03, 0.9) if rng.random() < 0.4 else None,
        corner_mm=float(rng.uniform(60, 190)),
        outer_round_mm=float(rng.uniform(10, 130)),
        pocket_style=pocket_style,
        pocket_bgr=_wood(rng) if pocket_style in ("leather", "bag") else _grey(rng, 0.0, 0.08),
        rim_bgr=_grey(rng, 0.02, 0.2)
        if rng.random() < 0.6
        else (_wood(rng) if rng.random() < 0.5 else _grey(rng, 0.5, 0.95)),
        rim_mm=float(rng.uniform(4, 32)),
        apron_bgr=_wood(rng) if wood else _grey(rng, 0.02, 0.4),
        apron_mm=float(rng.uniform(80, 350)),
        floor_bgr=_hsv(rng.random(), rng.random() ** 2 * 0.8, rng.uniform(0.05, 0.8)),
        floor_busy=float(rng.random()),
        wall_bgr=_hsv(rng.random(), rng.random() ** 2, rng.uniform(0.05, 0.8)),
        lamps=_lamps(rng),
        ambient=float(rng.uniform(0.12, 0.7)),
        light_bgr=_light(rng),
        hall=hall,
        shadow=float(rng.uniform(0.4, 1.0)),
        balls=random_ball_look(rng, family=family),
        gain=float(np.exp(rng.normal(0.0, 0.22 + 0.2 * faults))),
        gamma=float(rng.uniform(1.9, 2.6)),
        contrast=float(rng.uniform(0.85, 1.25)),
        saturation=float(np.clip(rng.normal(1.0, 0.2 + 0.15 * faults), 0.15, 1.8)),
        vignette=float(rng.random() ** 2 * 0.5),
        bloom=float(rng.random() ** 3 * 0.3),
        noise=float(rng.uniform(0.3, 3.0) + faults * rng.uniform(0, 7)),
        noise_grain_px=float(rng.choice([0.0, 0.7, 1.2])),
        defocus_px=float(rng.uniform(0.3, 1.1) + faults * rng.random() ** 2 * 1.8),
        sharpen=float(rng.choice([0.0, 0.3, 0.6, 1.0])),
        jpeg_quality=int(rng.integers(55, 96) - faults * rng.integers(0, 25)),
        overlay=bool(rng.random() < 0.3),
    )
    return look


def random_ball_look(rng: np.random.Generator, *, family: str) -> BallLook:
    """A ball set of the family, painted in one of the ways such sets are."""
    ivory = (float(rng.uniform(0.55, 0.95)), float(rng.uniform(0.82, 0.96)), float(rng.uniform(0.88, 0.98)))
    if family == "pyramid" and rng.random() < 0.08:
        # Some clubs have coloured object balls (yellow, red, blue) with a white cue ball.
        ivory = _hsv(rng.random(), rng.uniform(0.3, 0.9), rng.uniform(0.4, 0.95))
    style = str(rng.choice(["coloured", "striped", "dotted", "plain"], p=[0.55, 0.15, 0.15, 0.15]))
    if family != "pyramid":
        style = str(rng.choice(["plain", "dotted"], p=[0.7, 0.3]))
    cue = _hsv(
        float(rng.choice([0.0, 0.08, 0.14, 0.6, 0.33, rng.random()])), rng.uniform(0.5, 1.0), rng.uniform(0.25, 0.95)
    )
    return BallLook(
        family=family,
        body_bgr=ivory,
        print_bgr=_grey(rng, 0.0, 0.2) if rng.random() < 0.8 else _hsv(rng.random(), 0.8, 0.4),
        number_deg=float(rng.uniform(16, 34)),
        ring=bool(rng.random() < 0.5),
        underline=bool(rng.random() < 0.7),
        faces=int(rng.choice([6, 6, 6, 2, 4])) if family == "pyramid" else 2,
        font=int(rng.integers(0, 11)),
        cue_style=style,
        cue_bgr=cue,
        gloss=float(rng.uniform(0.15, 1.0)),
    )


def with_ball_family(look: Look, family: str, rng: np.random.Generator) -> Look:
    """The same hall with another ball set."""
    return replace(look, balls=random_ball_look(rng, family=family))


def _cloth(rng: np.random.Generator, family: str) -> Bgr:
    if rng.random() < 0.15:
        return _hsv(rng.random(), rng.uniform(0.05, 0.95), rng.uniform(0.12, 0.9))
    names = list(CLOTHS)
    usual = {
        "pyramid": ["green", "tournament_blue", "teal", "pale_green"],
        "pool": ["tournament_blue", "electric_blue", "green", "teal"],
    }
    pool = usual.get(family, ["green", "green", "yellow_green", "teal"]) if rng.random() < 0.55 else names
    base = np.array(CLOTHS[str(rng.choice(pool))])
    shifted = np.clip(base * np.exp(rng.normal(0, 0.18, 3)) * np.exp(rng.normal(0, 0.2)), 0.02, 0.97)
    return (float(shifted[0]), float(shifted[1]), float(shifted[2]))


def _lamps(rng: np.random.Generator) -> tuple[Lamp, ...]:
    kind = rng.random()
    height = float(rng.uniform(650, 1500))
    if kind < 0.5:  # a row of shades or tubes over the long axis
        count = int(rng.integers(1, 6))
        half = (float(rng.uniform(40, 500) / count), float(rng.uniform(40, 220)))
        xs = (np.arange(count) + 0.5) / count
        return tuple(Lamp(centre=(float(x), 0.5, height), half_mm=half, power=float(rng.uniform(0.7, 1.3))) for x in xs)
    if kind < 0.7:  # a frame of light round the table
        inset = float(rng.uniform(0.0, 0.25))
        return tuple(
            Lamp(centre=(x, y, height), half_mm=(700.0, 30.0) if y != 0.5 else (30.0, 400.0))
            for x, y in ((0.5, inset), (0.5, 1 - inset), (inset, 0.5), (1 - inset, 0.5))
        )
    count = int(rng.integers(1, 6))  # ceiling lights anywhere, a window
    return tuple(
        Lamp(
            centre=(float(rng.uniform(-0.6, 1.6)), float(rng.uniform(-1.0, 2.0)), float(rng.uniform(1200, 3000))),
            half_mm=(float(rng.uniform(50, 600)), float(rng.uniform(50, 400))),
            power=float(rng.uniform(0.4, 1.5)),
        )
        for _ in range(count)
    )


def _light(rng: np.random.Generator) -> Bgr:
    warm = float(rng.normal(0, 0.12))
    green = float(rng.normal(0, 0.04))
    return (float(np.exp(-warm)), float(np.exp(green)), float(np.exp(warm)))


def _wood(rng: np.random.Generator) -> Bgr:
    return _hsv(rng.uniform(0.0, 0.09), rng.uniform(0.35, 0.85), rng.uniform(0.10, 0.65))


def _grey(rng: np.random.Generator, low: float, high: float) -> Bgr:
    value = float(rng.uniform(low, high))
    return _hsv(rng.random(), rng.random() ** 2 * 0.15, value)


def _hsv(hue: float, saturation: float, value: float) -> Bgr:
    r, g, b = colorsys.hsv_to_rgb(float(hue), float(np.clip(saturation, 0, 1)), float(np.clip(value, 0, 1)))
    return (b, g, r)
