"""What goes wrong during a stroke: balls that jump off, come back from a pocket or meet a hand; faults of the tip."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import LeftTable, Moved, Returned, ReturnTouched, Tip, TipKind, Touch, TouchedBy
from vision_referee.domain.table import Cushion, TableSpec
from vision_referee.simulation import scene_file as sf
from vision_referee.simulation.actors import Reacher, Wardrobe, rail_frame, shoulder_for
from vision_referee.simulation.aiming import Shot
from vision_referee.simulation.physics import Impact, Motion
from vision_referee.simulation.recording import Actor
from vision_referee.simulation.trajectory import Carried, Flight, Lying, Place
from vision_referee.simulation.world import Watch, World

F64 = npt.NDArray[np.float64]
_TAKE_OFF_S = 0.05
_FLOOR_MM = -800.0
_LEAPS_MM_S = 2200.0
"""A change of velocity at a cushion that goes with some 1.2 m/s toward it."""


def plan_during(during: Sequence[sf.During], world: World, actors: list[Actor], somebody: Wardrobe) -> None:
    """Have a stroke's mishaps ready before the strike."""
    for item in during:
        if item.jump is not None:
            _plan_jump(item.jump, world)
        elif item.bounce_out is not None:
            world.bounce_out(item.bounce_out.ball, item.bounce_out.restitution)
        elif item.stop is not None:
            _plan_stop(item.stop, world, actors, somebody)


def _plan_jump(jump: sf.Jump, world: World) -> None:
    def fits(impact: Impact) -> bool:
        if impact.kind != "nose" or jump.cushion not in (None, Cushion(impact.what.split(":")[0])):
            return False
        return impact.balls[0] == jump.ball or (jump.ball == "any" and impact.change_mm_s[0] > _LEAPS_MM_S)

    def leap(impact: Impact) -> None:
        _leave(jump, world, impact.balls[0], Cushion(impact.what.split(":")[0]))

    world.watch(Watch(fits=fits, do=leap, lead_s=_TAKE_OFF_S))


def _leave(jump: sf.Jump, world: World, label: str, cushion: Cushion) -> None:
    """Off the bed, over a cushion's nose, from the world's present."""
    table, now = world.table, world.t_s
    motion = world.motion(label)
    inward, _ = rail_frame(table, cushion, 0.0, out_mm=0.0)
    out = -inward
    speed_out = max(float(np.dot(motion.velocity_mm_s, out)), 300.0)
    to_nose = _to_nose_mm(table, cushion, motion.position_mm)
    cross_s = now + to_nose / speed_out
    cross = motion.position_mm + motion.velocity_mm_s * (cross_s - now)
    x, y = round(float(cross[0]), 2), round(float(cross[1]), 2)

    if jump.lands == "floor":
        start = Motion(
            position_mm=motion.position_mm.copy(),
            velocity_mm_s=motion.velocity_mm_s + np.array([0.0, 0.0, 1700.0]),
            spin_rad_s=motion.spin_rad_s,
        )
        floor = _FLOOR_MM + table.ball_radius_mm
        world.take_off_bed(label, Flight(t0_s=now, start=start, floor_mm=floor, bounce=0.5))
        flight = world.paths[label].pieces[-1]
        gone_s = now + 2.5
        world.paths[label].begin(gone_s, Lying(position_mm=flight.at(gone_s).position_mm, place=Place.AWAY))
        world.facts.append(LeftTable(t=cross_s, ball=label, x=x, y=y))
        return

    top = table.nose_height_mm + table.ball_radius_mm + 6.0
    rail = cross + out * 0.45 * table.rail_width_mm
    rail[2] = top
    over = cross + np.array([0.0, 0.0, top + 35.0 - cross[2]])
    rail_s = cross_s + 0.45 * table.rail_width_mm / speed_out
    world.facts.append(LeftTable(t=cross_s, ball=label, x=x, y=y))
    if jump.lands == "rail":
        end = rail + out * 12.0
        path = Carried(
            times_s=np.array([now, cross_s, rail_s, rail_s + 0.25]),
            points_mm=np.array([motion.position_mm, over, rail, end]),
            place=Place.AIR, radius_mm=table.ball_radius_mm, eased=False,
        )  # fmt: skip
        world.take_off_bed(label, path)
        world.paths[label].begin(rail_s + 0.25, Lying(position_mm=end, place=Place.OFF))
        return

    far = rail if jump.lands == "returns" else cross + out * (table.rail_width_mm + 160.0) + np.array([0.0, 0.0, 90.0])
    far_s = cross_s + float(np.dot(far - cross, out)) / speed_out
    back_speed = 0.4 * speed_out
    land = cross + inward * 260.0
    land[2] = table.ball_radius_mm
    again = cross + np.array([0.0, 0.0, top + 20.0 - cross[2]])
    again_s = far_s + float(np.dot(far - cross, out)) / back_speed
    land_s = again_s + 260.0 / back_speed
    path = Carried(
        times_s=np.array([now, cross_s, far_s, again_s, land_s]),
        points_mm=np.array([motion.position_mm, over, far, again, land]),
        place=Place.AIR, radius_mm=table.ball_radius_mm, eased=False,
    )  # fmt: skip
    world.take_off_bed(label, path)
    touched = ReturnTouched.EQUIPMENT if jump.lands == "returns" else ReturnTouched.OTHER
    world.facts.append(Returned(t=again_s, ball=label, x=x, y=y, touched=touched))
    velocity = inward * back_speed
    spin = np.array([-velocity[1], velocity[0], 0.0]) / table.ball_radius_mm * 0.4
    world.at(
        land_s,
        lambda: world.put_in_motion(label, Motion(position_mm=land, velocity_mm_s=velocity, spin_rad_s=spin)),
        holds=True,
    )


def _to_nose_mm(table: TableSpec, cushion: Cushion, at_mm: F64) -> float:
    return float({
        Cushion.RIGHT: at_mm[1], Cushion.LEFT: table.width_mm - at_mm[1],
        Cushion.HEAD: at_mm[0], Cushion.FOOT: table.length_mm - at_mm[0],
    }[cushion])  # fmt: skip


def _plan_stop(stop: sf.StopBall, world: World, actors: list[Actor], somebody: Wardrobe) -> None:
    at_s = world.t_s + stop.after_s
    label = stop.ball

    def halt() -> None:
        if label not in world.on_bed():
            return
        here = world.motion(label).position_mm
        world.set_motions({label: Motion(position_mm=here, velocity_mm_s=np.zeros(3), spin_rad_s=np.zeros(3))})
        x, y = round(float(here[0]), 2), round(float(here[1]), 2)
        world.facts.append(Touch(t=world.t_s, ball=label, by=stop.by, moved_mm=0.0))
        if stop.cause is not None:
            world.facts.append(Moved(t=world.t_s, ball=label, x=x, y=y, cause=stop.cause))
        if stop.by in (TouchedBy.HAND, TouchedBy.CLOTHING):
            ahead = np.array([0.0, 0.0, world.table.ball_radius_mm + 6.0])
            actors.append(
                Reacher(
                    from_s=world.t_s - 0.25, to_s=world.t_s + 0.4, hand_mm=lambda _t: here + ahead,
                    shoulder_mm=shoulder_for(world.table, x, y), wardrobe=somebody, leave_s=0.35,
                )
            )  # fmt: skip

    world.at(at_s, halt, holds=True)


def tip_fault(kind: TipKind, struck: str, shot: Shot, world: World) -> None:
    """What the tip does besides its one contact, once the struck ball meets an object ball."""
    angle = math.radians(shot.direction_deg)
    ahead = np.array([math.cos(angle), math.sin(angle), 0.0])

    def fits(impact: Impact) -> bool:
        return impact.kind == "ball" and struck in impact.balls

    def second_hit(impact: Impact) -> None:
        other = next(b for b in impact.balls if b != struck)
        delay = 0.015 if kind is TipKind.DOUBLE_HIT else 0.002

        def push() -> None:
            if struck not in world.on_bed() or other not in world.on_bed():
                return
            mine, its = world.motion(struck), world.motion(other)
            changed = {struck: _at_speed(mine, ahead * 0.55 * shot.speed_mm_s)}
            if kind is TipKind.PUSH:
                # Both go on together, driven by the tip; the object ball a little faster, or they would not part.
                changed = {
                    struck: _at_speed(mine, ahead * 0.75 * shot.speed_mm_s),
                    other: _at_speed(its, its.velocity_mm_s * 0.3 + ahead * 0.6 * shot.speed_mm_s),
                }
            elif kind is TipKind.SQUEEZE:
                back = ahead - 2 * np.dot(ahead, _wall(world.table, its.position_mm)) * _wall(
                    world.table, its.position_mm
                )
                changed = {
                    struck: _at_speed(mine, ahead * 0.08 * shot.speed_mm_s),
                    other: _at_speed(its, back * 0.45 * shot.speed_mm_s),
                }
            world.set_motions(changed)
            world.facts.append(Tip(t=world.t_s, ball=struck, kind=kind))

        world.at(world.t_s + delay, push, holds=True)

    world.watch(Watch(fits=fits, do=second_hit))


def _at_speed(motion: Motion, velocity: F64) -> Motion:
    return Motion(position_mm=motion.position_mm, velocity_mm_s=velocity, spin_rad_s=motion.spin_rad_s)


def _wall(table: TableSpec, at_mm: F64) -> F64:
    """Unit vector from the nearest cushion into the table."""
    gaps = {c: _to_nose_mm(table, c, at_mm) for c in Cushion}
    return rail_frame(table, min(gaps, key=lambda c: gaps[c]), 0.0, out_mm=0.0)[0]
