"""Balls rolling, sliding, spinning and colliding on a cloth: pooltool's event-based physics in our table frame.

Positions, velocities and times are exact between impacts (closed-form motion), so a state can be asked for at any
instant. Inside this module pooltool's SI units; outside millimetres.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.physics_params import PhysicsParams
from vision_referee.simulation.pooltool_table import MM, build_table, load_pooltool
from vision_referee.simulation.rack_burst import REACH_M, burst, cluster

F64 = npt.NDArray[np.float64]

STATIONARY, SPINNING, SLIDING, ROLLING, POCKETED = range(5)
"""pooltool's motion states."""
_GAP_M = 2e-6
"""Balls nearer than pooltool's own spacer would never separate: they are eased apart by this much."""
_MOST_IMPACTS = 20_000
_MOST_BURSTS = 8
_MOST_NUDGES = 4
_STANDING_M_S = 0.05
_DRIVEN_M_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """A ball on the bed at one instant: ``position_mm``, ``velocity_mm_s``, ``spin_rad_s``, each (3,)."""

    position_mm: F64
    velocity_mm_s: F64
    spin_rad_s: F64

    @staticmethod
    def at_rest(x_mm: float, y_mm: float, radius_mm: float) -> Motion:
        return Motion(position_mm=np.array([x_mm, y_mm, radius_mm]), velocity_mm_s=np.zeros(3), spin_rad_s=np.zeros(3))

    @property
    def still(self) -> bool:
        return not (np.any(self.velocity_mm_s) or np.any(self.spin_rad_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """Something met something at ``t_s``: ``kind`` is ``ball``, ``nose``, ``tip``, ``facet`` or ``hole``.

    ``balls`` one or two labels; ``what`` the cushion's or pocket's name (with jaw letter), empty for two balls.
    ``xy_mm`` the balls' centres (n, 2) and ``change_mm_s`` how much each one's velocity changed (n,).
    """

    t_s: float
    kind: str
    balls: tuple[str, ...]
    what: str
    xy_mm: F64
    change_mm_s: F64


@dataclass(frozen=True, slots=True, kw_only=True)
class RollPiece:
    """One ball's closed-form motion through a roll: knots at ``times_s`` (n,), states ``rvw`` (n, 3, 3) in SI."""

    times_s: F64
    rvw: F64
    state: npt.NDArray[np.int64]
    radius_mm: float
    params: PhysicsParams

    def at(self, t_s: float) -> Motion:
        from pooltool.physics.evolve import evolve_ball_motion

        k = max(int(np.searchsorted(self.times_s, t_s, side="right")) - 1, 0)
        rvw = self.rvw[k]
        state = int(self.state[k])
        if state not in (STATIONARY, POCKETED):
            radius = self.radius_mm * MM
            rvw, _ = evolve_ball_motion(
                state, rvw, radius, 1.0, self.params.sliding_friction, self.params.spin_friction * radius,
                self.params.rolling_friction, 9.81, max(t_s - float(self.times_s[k]), 0.0),
            )  # fmt: skip
        position = rvw[0] / MM
        position[2] = self.radius_mm
        return Motion(position_mm=position, velocity_mm_s=rvw[1] / MM, spin_rad_s=rvw[2].copy())

    def still_until(self, t_s: float) -> float:
        """Until when the ball lies as it does at ``t_s``; ``t_s`` itself where it moves."""
        k = max(int(np.searchsorted(self.times_s, t_s, side="right")) - 1, 0)
        if int(self.state[k]) not in (STATIONARY, POCKETED):
            return t_s
        moving = np.flatnonzero(~np.isin(self.state[k:], (STATIONARY, POCKETED)))
        return float(self.times_s[k + moving[0]]) if len(moving) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    """What a set of balls does from ``t0_s`` until all are still (or ``t1_s``, when it was cut there)."""

    t0_s: float
    t1_s: float
    pieces: dict[str, RollPiece]
    impacts: tuple[Impact, ...]


def strike_motion(
    at: Motion, *, direction_deg: float, speed_mm_s: float, side: float, top: float, radius_mm: float
) -> Motion:
    """The ball just after the tip.

    ``side`` and ``top`` are the tip's offsets from the ball's middle in radii (right and up positive, within 0.6).
    A solid ball struck off centre by ``b`` radii spins at 5/2 b v/R (Marlow, The Physics of Pocket Billiards).
    """
    a = math.radians(direction_deg)
    ahead = np.array([math.cos(a), math.sin(a), 0.0])
    right = np.array([math.sin(a), -math.cos(a), 0.0])
    offset = (side * right + top * np.array([0.0, 0.0, 1.0])) * radius_mm
    # Angular impulse = offset x impulse; with I = 2/5 m R^2.
    spin = 2.5 / radius_mm**2 * np.cross(offset, ahead * speed_mm_s)
    return Motion(position_mm=at.position_mm.copy(), velocity_mm_s=ahead * speed_mm_s, spin_rad_s=spin)


def roll(
    balls: Mapping[str, Motion],
    table: TableSpec,
    params: PhysicsParams,
    *,
    t0_s: float = 0.0,
    until_s: float | None = None,
) -> Roll:
    """Let balls run from the given motions. Raises :class:`InputError` without pooltool or for balls out of place."""
    for attempt in range(_MOST_NUDGES):
        try:
            return _whole_roll(_nudged(balls, attempt), table, params, t0_s=t0_s, until_s=until_s)
        except _GhostImpactError:
            continue
    raise InputError("a stroke's physics failed: balls run side by side too evenly; change a speed or a direction")


class _GhostImpactError(Exception):
    """pooltool saw a collision of balls that are apart: its quartic degenerates for balls of equal motion."""


def _nudged(balls: Mapping[str, Motion], attempt: int) -> dict[str, Motion]:
    """The same motions, each turned by some ten-thousandths of a degree: unequal enough for the collision search."""
    nudged = {}
    for n, (label, motion) in enumerate(balls.items()):
        angle = 4e-6 * attempt * (n + 1) ** 1.5
        vx, vy, vz = motion.velocity_mm_s
        turned = np.array([vx - angle * vy, vy + angle * vx, vz])
        nudged[label] = replace(motion, velocity_mm_s=turned)
    return nudged


def _whole_roll(
    balls: Mapping[str, Motion], table: TableSpec, params: PhysicsParams, *, t0_s: float, until_s: float | None
) -> Roll:
    stretches: list[Roll] = []
    start, t_s = dict(balls), t0_s
    while True:
        bursts = len(stretches) < 2 * _MOST_BURSTS
        stretch, driven = _roll_until_burst(start, table, params, t0_s=t_s, until_s=until_s, bursts=bursts)
        stretches.append(stretch)
        if driven is None:
            break
        pushed, start = _push_together(stretch, driven, table, params)
        stretches.append(pushed)
        t_s = pushed.t1_s
        if until_s is not None and t_s >= until_s:
            break
    whole = _joined(stretches)
    if until_s is None:
        return whole
    impacts = tuple(i for i in whole.impacts if i.t_s <= until_s)
    return Roll(t0_s=t0_s, t1_s=min(whole.t1_s, until_s), pieces=whole.pieces, impacts=impacts)


def _roll_until_burst(
    balls: Mapping[str, Motion],
    table: TableSpec,
    params: PhysicsParams,
    *,
    t0_s: float,
    until_s: float | None,
    bursts: bool,
) -> tuple[Roll, tuple[str, str] | None]:
    """pooltool's own course, up to where a ball is driven into a cluster (:mod:`rack_burst`): that pair, or None."""
    pt = load_pooltool()
    from pooltool.events import EventType
    from pooltool.evolution.event_based.simulate import _SimulationState

    radius = table.ball_radius_mm * MM
    ball_params = pt.BallParams(
        m=table.ball_mass_kg, R=radius, u_s=params.sliding_friction, u_r=params.rolling_friction,
        u_sp_proportionality=params.spin_friction, e_b=params.ball_restitution, e_c=params.cushion_restitution,
        f_c=params.cushion_friction,
    )  # fmt: skip
    places = _eased_apart({k: m.position_mm * MM for k, m in balls.items()}, radius)
    made = {}
    for label, motion in balls.items():
        rvw = np.array([places[label], motion.velocity_mm_s * MM, motion.spin_rad_s], np.float64)
        rvw[0, 2] = radius
        state = pt.objects.BallState(rvw=rvw, s=_motion_state(rvw, radius), t=0.0)
        made[label] = pt.Ball(id=label, state=state, params=ball_params)
    if not made:
        end = t0_s if until_s is None else until_s
        return Roll(t0_s=t0_s, t1_s=end, pieces={}, impacts=()), None
    system = pt.System(cue=pt.Cue(cue_ball_id=next(iter(made)), V0=0.0), table=build_table(pt, table), balls=made)
    limit = None if until_s is None else until_s - t0_s
    simulation = _SimulationState(system, _engine(), limit, max_events=_MOST_IMPACTS)
    simulation.init()
    driven: tuple[str, str] | None = None
    while not simulation.done:
        try:
            event = simulation.step()
        except ValueError as error:
            raise _GhostImpactError from error
        if event.event_type == EventType.BALL_BALL and _apart_m(event) > 2 * radius + 1e-3:
            raise _GhostImpactError
        if bursts and event.event_type == EventType.BALL_BALL:
            driven = _driven_into_cluster(event, system.balls, table)
            if driven is not None:
                break
        if not simulation.done:
            simulation.update_caches(event)
    if len(system.events) > _MOST_IMPACTS:
        raise InputError("a stroke's physics did not come to an end: do balls overlap, or lie in a cushion?")
    if driven is not None:
        for agent in system.events.pop().agents:
            system.balls[agent.id].history.states[-1] = agent.initial.state
    pieces = {}
    for label, ball in system.balls.items():
        states = ball.history.states
        pieces[label] = RollPiece(
            times_s=np.array([s.t for s in states]) + t0_s,
            rvw=np.array([s.rvw for s in states]),
            state=np.array([s.s for s in states], np.int64),
            radius_mm=table.ball_radius_mm,
            params=params,
        )
    kinds = {
        EventType.BALL_BALL: "ball",
        EventType.BALL_LINEAR_CUSHION: "line",
        EventType.BALL_CIRCULAR_CUSHION: "tip",
        EventType.BALL_POCKET: "hole",
    }
    impacts = [
        _impact(event, kinds[event.event_type], t0_s) for event in system.events if event.event_type in kinds
    ]  # fmt: skip
    return Roll(t0_s=t0_s, t1_s=t0_s + float(system.t), pieces=pieces, impacts=tuple(impacts)), driven


def _apart_m(event: Any) -> float:
    a, b = (agent.initial.state.rvw[0][:2] for agent in event.agents)
    return float(np.hypot(*(a - b)))


def _driven_into_cluster(event: Any, balls: Mapping[str, Any], table: TableSpec) -> tuple[str, str] | None:
    """The ball that comes and the one it meets, where that one stands frozen with two or more others."""
    before = {a.id: a.initial.state.rvw for a in event.agents}
    (a, first), (b, second) = before.items()
    if np.hypot(*first[1][:2]) < np.hypot(*second[1][:2]):
        a, b, first, second = b, a, second, first
    if np.hypot(*second[1][:2]) > _STANDING_M_S or np.hypot(*(first[1] - second[1])[:2]) < _DRIVEN_M_S:
        return None
    return (a, b) if len(_standing_cluster(a, b, balls, before, table)) >= 3 else None


def _standing_cluster(
    coming: str, met: str, balls: Mapping[str, Any], before: Mapping[str, F64], table: TableSpec
) -> list[str]:
    still = [
        k for k, ball in balls.items()
        if k != coming and ball.state.s != POCKETED
        and np.hypot(*before.get(k, ball.state.rvw)[1][:2]) <= _STANDING_M_S
    ]  # fmt: skip
    places = np.array([before.get(k, balls[k].state.rvw)[0][:2] for k in still])
    members = [still[i] for i in sorted(cluster(places, still.index(met), diameter_m=table.ball_diameter_mm * MM))]
    margin = table.ball_radius_mm + 3.0
    size = (table.length_mm, table.width_mm)
    at = np.array([before.get(k, balls[k].state.rvw)[0][:2] for k in members]) / MM
    # Against a cushion the cluster cannot give way: pooltool's own order of collisions serves.
    free = np.all((at > margin) & (at < np.array(size) - margin))
    return members if free else []


def _push_together(
    stretch: Roll, driven: tuple[str, str], table: TableSpec, params: PhysicsParams
) -> tuple[Roll, dict[str, Motion]]:
    """The few milliseconds in which a cluster is driven apart, and every ball's motion after them."""
    t_s, labels = stretch.t1_s, list(stretch.pieces)
    alive = [k for k in labels if stretch.pieces[k].state[-1] != POCKETED]
    now = {k: stretch.pieces[k].at(t_s) for k in alive}
    places = np.array([now[k].position_mm[:2] for k in alive]) * MM
    velocities = np.array([now[k].velocity_mm_s[:2] for k in alive]) * MM
    diameter = table.ball_diameter_mm * MM
    movers = sorted(cluster(places, alive.index(driven[0]), diameter_m=diameter, gap_m=REACH_M))
    result = burst(
        places, velocities, radius_m=diameter / 2, mass_kg=table.ball_mass_kg, restitution=params.ball_restitution,
        movers=movers,
    )  # fmt: skip
    end_s = t_s + float(result.times_s[-1])
    pieces: dict[str, RollPiece] = {}
    after: dict[str, Motion] = {}
    for i, label in enumerate(alive):
        if i not in movers:
            after[label] = stretch.pieces[label].at(end_s)
            continue
        rvw = np.zeros((len(result.times_s), 3, 3))
        rvw[:, 0, :2], rvw[:, 1, :2] = result.places_m[:, i], result.velocities_m_s[:, i]
        rvw[:, 0, 2] = diameter / 2
        rvw[:, 2] = now[label].spin_rad_s
        moving = np.any(rvw[:, 1] != 0, axis=1) | np.any(rvw[:, 2] != 0, axis=1)
        pieces[label] = RollPiece(
            times_s=t_s + result.times_s, rvw=rvw, state=np.where(moving, SLIDING, STATIONARY).astype(np.int64),
            radius_mm=table.ball_radius_mm, params=params,
        )  # fmt: skip
        after[label] = Motion(
            position_mm=rvw[-1, 0] / MM, velocity_mm_s=rvw[-1, 1] / MM, spin_rad_s=now[label].spin_rad_s.copy()
        )
    impacts = tuple(
        Impact(
            t_s=t_s + since, kind="ball", balls=(alive[i], alive[j]), what="", xy_mm=places[[i, j]] / MM,
            change_mm_s=np.array([change, change]) / MM,
        )
        for i, j, since, change in sorted(result.touches, key=lambda touch: touch[2])
    )  # fmt: skip
    return Roll(t0_s=t_s, t1_s=end_s, pieces=pieces, impacts=impacts), after


def _joined(stretches: list[Roll]) -> Roll:
    """Stretches that follow each other, as one."""
    if len(stretches) == 1:
        return stretches[0]
    pieces: dict[str, RollPiece] = {}
    for label in stretches[0].pieces:
        parts = [s.pieces[label] for s in stretches if label in s.pieces]
        pieces[label] = RollPiece(
            times_s=np.concatenate([p.times_s for p in parts]), rvw=np.concatenate([p.rvw for p in parts]),
            state=np.concatenate([p.state for p in parts]), radius_mm=parts[0].radius_mm, params=parts[0].params,
        )  # fmt: skip
    impacts = tuple(sorted((i for s in stretches for i in s.impacts), key=lambda i: i.t_s))
    return Roll(t0_s=stretches[0].t0_s, t1_s=stretches[-1].t1_s, pieces=pieces, impacts=impacts)


def _impact(event: Any, kind: str, t0_s: float) -> Impact:
    balls = [a for a in event.agents if a.agent_type == "ball"]
    others = [a for a in event.agents if a.agent_type != "ball"]
    what = others[0].id if others else ""
    if kind == "line":
        kind, what = what.split(":", 1)
    elif kind == "tip":
        what = what.split(":", 1)[1]
    xy = np.array([a.initial.state.rvw[0, :2] for a in balls]) / MM
    change = np.array([np.linalg.norm(a.final.state.rvw[1] - a.initial.state.rvw[1]) for a in balls]) / MM
    return Impact(
        t_s=t0_s + float(event.time), kind=kind, balls=tuple(a.id for a in balls), what=what, xy_mm=xy,
        change_mm_s=change,
    )  # fmt: skip


_made_engine: Any = None


def _engine() -> Any:
    """pooltool's own default models, named here so that no settings file in the user's home decides."""
    global _made_engine
    if _made_engine is None:
        from pooltool.physics.engine import PhysicsEngine
        from pooltool.physics.resolve.resolver import default_resolver

        _made_engine = PhysicsEngine(resolver=default_resolver())
    return _made_engine


def _motion_state(rvw: F64, radius: float) -> int:
    velocity, spin = rvw[1], rvw[2]
    if not np.any(velocity) and not np.any(spin):
        return STATIONARY
    # A rolling ball's contact point does not slip: v + w x (-R z) = 0.
    slip = velocity[:2] + radius * np.array([-spin[1], spin[0]])
    if np.hypot(*slip) > 1e-9:
        return SLIDING
    return ROLLING if np.any(velocity) else SPINNING


def _eased_apart(places: dict[str, F64], radius: float) -> dict[str, F64]:
    """Frozen balls a hair apart, as pooltool's collision search needs. Raises InputError for balls in each other."""
    moved = {k: v.copy() for k, v in places.items()}
    labels = list(moved)
    for _ in range(60):
        touched = False
        for i, a in enumerate(labels):
            for b in labels[i + 1 :]:
                gap = moved[b][:2] - moved[a][:2]
                distance = float(np.hypot(*gap))
                lack = 2 * radius + _GAP_M - distance
                if lack > 1e-9:
                    if lack > 0.2 * radius:
                        raise InputError(f"balls {a} and {b} lie in each other: {distance / MM:.1f} mm apart")
                    push = gap / max(distance, 1e-12) * (lack / 2 + 1e-8)
                    moved[a][:2] -= push
                    moved[b][:2] += push
                    touched = True
        if not touched:
            break
    return moved
