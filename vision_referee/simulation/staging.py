"""A scene's acts, played in order on a world: who does what to which ball, and what the witness notes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Shake as ShakeEvent
from vision_referee.domain.events import Touch, TouchedBy
from vision_referee.domain.table import TableSpec
from vision_referee.simulation import scene_file as sf
from vision_referee.simulation.actors import (
    Leaner,
    Striker,
    Walker,
    Wardrobe,
    random_wardrobe,
)
from vision_referee.simulation.aiming import settle
from vision_referee.simulation.hands import ARRIVE_S, Hands, put_ball
from vision_referee.simulation.mishaps import plan_during, tip_fault
from vision_referee.simulation.physics import Motion
from vision_referee.simulation.physics_params import PhysicsParams, random_params
from vision_referee.simulation.places import Places
from vision_referee.simulation.pocket_shape import nearest_pocket
from vision_referee.simulation.recording import Actor, Recording, record
from vision_referee.simulation.trajectory import Place
from vision_referee.simulation.world import World

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Official:
    """What an official enters: ``fields`` as in the contract, without ``t``, ``type`` and ``source``."""

    t_s: float
    type: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A scene that has been played."""

    recording: Recording
    officials: tuple[Official, ...]
    ball_numbers: dict[str, int | None]


def stage(scene: sf.Scene, table: TableSpec) -> Staged:
    """Play a scene. Raises :class:`InputError` naming the act that cannot be done."""
    return _Stage(scene, table).play()


class _Stage:
    def __init__(self, scene: sf.Scene, table: TableSpec) -> None:
        self.scene = scene
        self.table = table
        self.rng = np.random.default_rng([scene.seed, 77])
        self.world = World(table, _params(scene.physics, self.rng), self.rng)
        self.actors: list[Actor] = []
        self.officials: list[Official] = []
        self.shakes_s: list[float] = []
        self.people: list[Wardrobe] = [random_wardrobe(self.rng) for _ in range(3)]
        self.places = Places(self.world, self.rng)
        self.hands = Hands(self.world, self.places, self.actors, self.people[2], numbers=scene.numbers)
        self.strokes = 0

    def play(self) -> Staged:
        self._lay_out()
        for n, act in enumerate(self.scene.acts):
            try:
                self._act(act)
            except InputError as error:
                name = next(k for k in sf.Act.model_fields if getattr(act, k) is not None)
                raise InputError(f"scene {self.scene.name}: act {n + 1} ({name}): {error}") from None
        recording = record(self.world, actors=self.actors, shakes_s=tuple(self.shakes_s))
        numbers = {k: (p.number if self.scene.numbers or p.number == 0 else None) for k, p in self.world.paths.items()}
        for label, path in self.world.paths.items():
            path.number = numbers[label]
        return Staged(recording=recording, officials=tuple(self.officials), ball_numbers=numbers)

    # --- the beginning ---

    def _lay_out(self) -> None:
        if self.scene.rack is not None:
            places = self.places.rack(self.scene.rack)
            for label, (x, y) in places.items():
                put_ball(self.world, label, x, y)
            self.hands.note_racked(places)
        for label, spec in self.scene.balls.items():
            x, y = self.places.at(spec)
            self.places.check_free(label, x, y)
            put_ball(self.world, label, x, y)
        if self.world.paths:
            self.world.rest_times_s.append(0.0)

    # --- acts ---

    def _act(self, act: sf.Act) -> None:
        world = self.world
        if act.wait is not None:
            world.advance(world.t_s + act.wait)
        elif act.strike is not None:
            self._strike(act.strike)
        elif act.hand_places is not None:
            self.hands.lay(act.hand_places)
        elif act.hand_picks_up is not None:
            self.hands.take(act.hand_picks_up)
        elif act.hand_moves is not None:
            self.hands.push(act.hand_moves)
        elif act.hand_racks is not None:
            self.hands.rack(act.hand_racks)
        elif act.brush is not None:
            self._brush(act.brush)
        elif act.fall is not None:
            self._fall(act.fall)
        elif act.shake is not None:
            self._shake(act.shake)
        elif act.person is not None:
            self._person(act.person)
        elif act.walk is not None:
            self._walk(act.walk)
        elif act.call is not None:
            self._official("call", act.call.model_dump(mode="json", exclude_none=True))
        elif act.interference is not None:
            self._official("interference", act.interference.model_dump(mode="json", exclude_none=True))
        elif act.official is not None:
            fields = dict(act.official)
            kind = fields.pop("type", None)
            if not isinstance(kind, str):
                raise InputError("an official event needs its type")
            self._official(kind, fields)

    def _official(self, kind: str, fields: dict[str, Any]) -> None:
        self.officials.append(Official(t_s=self.world.t_s, type=kind, fields=fields))

    def _strike(self, strike: sf.Strike) -> None:
        world = self.world
        if strike.aim_s > 0:
            world.advance(world.t_s + strike.aim_s + (ARRIVE_S if not world.moving() else 0.0))
        here = world.motion(strike.ball)
        if world.paths[strike.ball].place_at(world.t_s) is not Place.BED:
            raise InputError(f"ball {strike.ball} is not on the bed and cannot be struck")
        shot = settle(strike, world, self.rng)
        if strike.called:
            said = {"ball": shot.ball, "pocket": None if shot.pocket is None else str(shot.pocket)}
            fields = {k: v for k, v in said.items() if v is not None}
            said_s = max(world.t_s - max(strike.aim_s, 0.3), 0.0)
            self.officials.append(Official(t_s=said_s, type="call", fields=fields))
        long_push = strike.tip is not None and strike.tip.value == "push"
        self.actors.append(
            Striker(
                table=self.table, ball_mm=here.position_mm.copy(), direction_deg=shot.direction_deg,
                speed_mm_s=shot.speed_mm_s, side=shot.side, top=shot.top, strike_s=world.t_s, aim_s=strike.aim_s,
                follow_mm=strike.follow_mm, wardrobe=self.people[self.strokes % 2], rest_stick=strike.rest_stick,
                push_s=0.12 if long_push else 0.0, push_mm=60.0 if long_push else 0.0,
            )
        )  # fmt: skip
        self.strokes += 1
        plan_during(strike.during, world, self.actors, self.people[2])
        if strike.tip is not None:
            tip_fault(strike.tip, strike.ball, shot, world)
        world.strike(
            strike.ball, direction_deg=shot.direction_deg, speed_mm_s=shot.speed_mm_s, side=shot.side, top=shot.top,
            player=strike.player,
        )  # fmt: skip
        if strike.run_s is not None:
            world.advance(world.t_s + strike.run_s)
        else:
            world.run_to_stroke_end()

    def _brush(self, act: sf.Brush) -> None:
        world, label = self.world, self.places.named(act.ball)
        world.advance(world.t_s + ARRIVE_S)
        start = world.motion(label).position_mm.copy()
        direction = float(self.rng.uniform(0, 360)) if act.direction_deg is None else act.direction_deg
        if act.by is TouchedBy.CUE:
            self.actors.append(
                Striker(
                    table=self.table, ball_mm=start, direction_deg=direction, speed_mm_s=max(act.speed_mm_s, 60.0),
                    side=0.3, top=0.3, strike_s=world.t_s, aim_s=0.4, follow_mm=15.0, wardrobe=self.people[0],
                )
            )  # fmt: skip
        else:
            self.hands.over(world.t_s - 0.2, world.t_s + 0.25, label, (float(start[0]), float(start[1])))
        touched_s = world.t_s
        if act.speed_mm_s > 0:
            world.set_motions({label: _rolling(start, direction, act.speed_mm_s, self.table.ball_radius_mm)})
            world.run_to_still()
        moved = float(np.hypot(*(world.motion(label).position_mm - start)[:2]))
        world.facts.append(Touch(t=touched_s, ball=label, by=act.by, moved_mm=round(moved, 2)))

    def _fall(self, act: sf.Fall) -> None:
        world, label = self.world, act.ball
        x, y, _ = world.motion(label).position_mm
        pocket = nearest_pocket(self.table, float(x), float(y))
        if math.dist(pocket.mouth_mm, (x, y)) > 2 * self.table.ball_diameter_mm:
            raise InputError(f"ball {label} lies at ({x:.0f}, {y:.0f}), near no pocket: it cannot fall by itself")

        def give_way() -> None:
            if label in world.on_bed():
                world.fall(label, pocket.name)

        world.at(world.t_s + act.after_s, give_way)

    def _shake(self, act: sf.Shake) -> None:
        world = self.world
        world.facts.append(ShakeEvent(t=world.t_s))
        self.shakes_s.append(world.t_s)
        if act.balls_mm_s > 0:
            changed = {}
            for label in world.on_bed():
                speed, angle = self.rng.uniform(0.2, 1.0) * act.balls_mm_s, float(self.rng.uniform(0, 360))
                at = world.motion(label).position_mm
                changed[label] = _rolling(at, angle, float(speed), self.table.ball_radius_mm)
            world.set_motions(changed)
            world.run_to_still()

    def _person(self, act: sf.Person) -> None:
        from_s = self.world.t_s + act.after_s
        self.actors.append(
            Leaner(
                table=self.table, side=act.side, along_mm=act.along_mm, reach_mm=act.reach_mm, from_s=from_s,
                to_s=from_s + act.for_s, wardrobe=random_wardrobe(self.rng),
            )
        )  # fmt: skip

    def _walk(self, act: sf.Walk) -> None:
        from_s = self.world.t_s + act.after_s
        self.actors.append(
            Walker(
                table=self.table, side=act.side, from_mm=act.from_mm, to_mm=act.to_mm, out_mm=act.out_mm,
                from_s=from_s, to_s=from_s + act.for_s, wardrobe=random_wardrobe(self.rng),
            )
        )  # fmt: skip


def _rolling(at_mm: F64, direction_deg: float, speed_mm_s: float, radius_mm: float) -> Motion:
    angle = math.radians(direction_deg)
    velocity = np.array([math.cos(angle), math.sin(angle), 0.0]) * speed_mm_s
    spin = np.array([-velocity[1], velocity[0], 0.0]) / radius_mm
    return Motion(position_mm=np.array(at_mm, np.float64), velocity_mm_s=velocity, spin_rad_s=spin)


def _params(physics: sf.Physics, rng: np.random.Generator) -> PhysicsParams:
    start = random_params(rng) if physics.random else PhysicsParams()
    given = {k: v for k, v in physics.model_dump(exclude={"random"}).items() if v is not None}
    return replace(start, **given)
