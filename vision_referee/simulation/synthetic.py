"""Noisy detections and true events without drawing a picture: for developing and testing what comes after detection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vision_referee.detection.detections import Detections
from vision_referee.domain.events import BallAt, Racked
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.physics_params import PhysicsParams
from vision_referee.simulation.rack import rack_places
from vision_referee.simulation.recording import Recording, record
from vision_referee.simulation.trajectory import Place
from vision_referee.simulation.world import World

F64 = npt.NDArray[np.float64]
_SEEN = frozenset({Place.BED, Place.POCKET, Place.AIR, Place.OFF, Place.HAND})
_PX_PER_MM = 0.35


def frame_times(duration_s: float, fps: float) -> F64:
    """Timestamps (n,) of a clip's frames, the first at 0."""
    return np.arange(int(duration_s * fps + 1e-6) + 1) / fps


def synthetic_detections(
    shots: Recording | Sequence[Recording],
    fps: float,
    sigma_mm: float,
    dropout: float,
    rng: np.random.Generator,
    *,
    exposure_s: float = 1 / 250,
    false_rate: float = 0.0,
    number_read: float = 0.0,
    times_s: F64 | None = None,
    repeat: int = 1,
) -> list[Detections]:
    """What a detector might say of each frame.

    ``sigma_mm`` is one standard deviation of a still ball's centre a frame, about two thirds of it a bias that stays
    with the ball's place (a real detector's jitter is small, its bias not). ``dropout`` is the share of frames in
    which a ball at rest is missed; fast balls (streaks) are missed up to three times as often, with larger errors
    along their path. ``false_rate`` false balls a frame, anywhere; ``number_read`` the chance that a slow ball's
    number can be read in a frame. ``repeat`` 2 gives every picture twice (15 true frames a second stored as 30).
    Several recordings follow each other on one clock.
    """
    rows: list[Detections] = []
    offset = 0.0
    for recording in [shots] if isinstance(shots, Recording) else shots:
        times = frame_times(recording.duration_s, fps) if times_s is None else times_s
        colours = _colours(recording, rng)
        bias_cell: dict[tuple[int, int], F64] = {}
        kept: Detections | None = None
        for n, t in enumerate(times):
            if kept is None or n % repeat == 0:
                kept = _one_frame(
                    recording, float(t), sigma_mm, dropout, exposure_s, false_rate, number_read, colours, bias_cell, rng
                )
            assert kept is not None
            rows.append(_stamped(kept, len(rows), offset + float(t)))
        offset += float(times[-1]) + 1 / fps
    return rows


def _stamped(seen: Detections, frame: int, t_s: float) -> Detections:
    return Detections(
        frame=frame, t_s=t_s, xy_px=seen.xy_px, r_px=seen.r_px, confidence=seen.confidence, xy_mm=seen.xy_mm,
        sigma_mm=seen.sigma_mm, number_p=seen.number_p, colour=seen.colour, blur_px=seen.blur_px,
    )  # fmt: skip


def _colours(recording: Recording, rng: np.random.Generator) -> dict[str, F64]:
    """Mean CIELAB colour a ball: a white set with a red or yellow cue ball."""
    white = np.array([82.0, 1.0, 8.0])
    cue = np.array([45.0, 45.0, 25.0]) if rng.random() < 0.5 else np.array([75.0, 5.0, 60.0])
    return {k: (cue if k == "cue" else white) + rng.normal(0, 1.0, 3) for k in recording.paths}


def _one_frame(
    recording: Recording, t_s: float, sigma_mm: float, dropout: float, exposure_s: float, false_rate: float,
    number_read: float, colours: dict[str, F64], bias_cell: dict[tuple[int, int], F64], rng: np.random.Generator,
) -> Detections:  # fmt: skip
    table = recording.table
    xy, sigma, number_p, colour, blur, confidence = [], [], [], [], [], []
    for label in recording.present(t_s):
        place = recording.place(label, t_s)
        if place not in _SEEN:
            continue
        motion = recording.motion(label, t_s)
        position, velocity = motion.position_mm, motion.velocity_mm_s
        streak_mm = float(np.hypot(*velocity[:2])) * exposure_s
        streak = streak_mm / table.ball_diameter_mm
        sunk = max(0.0, table.ball_radius_mm - float(position[2])) / table.ball_diameter_mm
        miss = min(dropout * (1 + 2 * min(streak, 1.0)) + 0.6 * sunk, 0.97)
        if place is Place.HAND:
            miss = max(miss, 0.7)
        if rng.random() < miss:
            continue
        along = velocity[:2] / max(float(np.hypot(*velocity[:2])), 1e-9)
        cell = (round(float(position[0]) / 60), round(float(position[1]) / 60))
        if cell not in bias_cell:
            bias_cell[cell] = rng.normal(0, 0.66 * sigma_mm, 2)
        noise = bias_cell[cell] + rng.normal(0, 0.75 * sigma_mm, 2) + along * rng.normal(0, 0.12 * streak_mm + 1e-9)
        xy.append(position[:2] + noise)
        sigma.append(sigma_mm + 0.12 * streak_mm)
        number_p.append(_number_p(recording.paths[label].number, streak < 0.15 and rng.random() < number_read, rng))
        colour.append(colours[label] + rng.normal(0, 2.5, 3))
        blur.append(streak_mm * _PX_PER_MM)
        confidence.append(float(np.clip(rng.normal(0.9 - 0.25 * min(streak, 1.0) - 0.4 * sunk, 0.05), 0.05, 0.99)))
    for _ in range(rng.poisson(false_rate)):
        xy.append(rng.uniform([-60, -60], [table.length_mm + 60, table.width_mm + 60]))
        sigma.append(2 * sigma_mm)
        number_p.append(_number_p(None, False, rng))
        colour.append(np.array([rng.uniform(20, 90), rng.normal(0, 20), rng.normal(0, 20)]))
        blur.append(0.0)
        confidence.append(float(rng.uniform(0.1, 0.6)))
    if not xy:
        return Detections.empty(0, t_s)
    order = rng.permutation(len(xy))
    xy_mm = np.array(xy)[order]
    return Detections(
        frame=0, t_s=t_s, xy_px=xy_mm * _PX_PER_MM + 40, r_px=np.full(len(order), table.ball_radius_mm * _PX_PER_MM),
        confidence=np.array(confidence)[order], xy_mm=xy_mm, sigma_mm=np.array(sigma)[order],
        number_p=np.array(number_p)[order], colour=np.array(colour)[order], blur_px=np.array(blur)[order],
    )  # fmt: skip


def _number_p(number: int | None, read: bool, rng: np.random.Generator) -> F64:
    p = np.full(17, 0.002)
    if number == 0:
        p[0] = 0.9
    else:
        p[0] = 0.01
        p[16] = 0.9
        if read and number is not None and number <= 15:
            # One view in six is misread.
            said = number if rng.random() < 0.84 else int(rng.integers(1, 16))
            p[16] = 0.25
            p[said] += 0.6
    return np.asarray(p / p.sum(), np.float64)


def shot(
    seed: int,
    table: TableSpec,
    *,
    balls: int = 6,
    speed_mm_s: float | None = None,
    params: PhysicsParams | None = None,
    before_s: float = 1.0,
    after_s: float = 1.0,
    strokes: int = 1,
) -> Recording:
    """Random balls and a stroke at one of them (``balls`` 16: a rack and a break). Nothing but physics."""
    rng = np.random.default_rng(seed)
    world = World(table, params or PhysicsParams(), rng)
    _lay_out(world, balls, rng)
    world.rest_times_s.append(0.0)
    for _ in range(strokes):
        world.advance(world.t_s + before_s)
        if "cue" not in world.on_bed():
            break
        strike_at_something(world, rng, speed_mm_s)
        world.run_to_stroke_end()
    world.advance(world.t_s + after_s)
    return record(world)


def strike_at_something(world: World, rng: np.random.Generator, speed_mm_s: float | None = None) -> None:
    """The cue ball struck at a random object ball, more or less full."""
    here = world.motion("cue").position_mm[:2]
    others = [k for k in world.on_bed() if k != "cue"]
    speed = speed_mm_s or float(rng.uniform(800, 7000))
    if others:
        goal = world.motion(str(rng.choice(others))).position_mm[:2]
        gap = max(float(np.hypot(*(goal - here))), 1.0)
        half_width = np.degrees(np.arctan2(world.table.ball_diameter_mm, gap))
        direction = float(np.degrees(np.arctan2(*(goal - here)[::-1]))) + float(rng.uniform(-0.95, 0.95)) * half_width
    else:
        direction = float(rng.uniform(0, 360))
    side, top = float(rng.normal(0, 0.12)), float(rng.normal(0.05, 0.2))
    world.strike("cue", direction_deg=direction, speed_mm_s=speed, side=side, top=float(np.clip(top, -0.5, 0.5)))


def _lay_out(world: World, balls: int, rng: np.random.Generator) -> None:
    table = world.table
    if balls >= 16:
        places = rack_places(table, rng=rng)
        for label, (x, y) in places.items():
            world.put(label, x, y)
        racked = tuple(BallAt(ball=k, x=round(x, 2), y=round(y, 2)) for k, (x, y) in places.items())
        world.facts.append(Racked(t=0.0, balls=racked, order_ok=True))
        world.put("cue", float(rng.uniform(0.55, 0.95)) * table.house_line_mm, table.width_mm * rng.uniform(0.3, 0.7))
        return
    labels = ["cue", *(str(n) for n in rng.permutation(np.arange(1, 16))[: balls - 1])]
    for label, (x, y) in zip(labels, scattered(table, len(labels), rng), strict=True):
        world.put(label, x, y)


def scattered(table: TableSpec, count: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Places (x_mm, y_mm) for balls that do not touch each other or a cushion."""
    margin = table.ball_radius_mm + 3
    found: list[tuple[float, float]] = []
    apart = table.ball_diameter_mm + 2
    while len(found) < count:
        x, y = rng.uniform([margin, margin], [table.length_mm - margin, table.width_mm - margin])
        if all(np.hypot(x - a, y - b) > apart for a, b in found):
            found.append((float(x), float(y)))
    return found
