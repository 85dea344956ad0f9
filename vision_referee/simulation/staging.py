"""A scene's acts, played in order on a world: who does what to which ball, and what the witness notes of it."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import BallAt, Moved, PickedUp, Placed, Racked, Touch, TouchedBy
from vision_referee.domain.events import Shake as ShakeEvent
from vision_referee.domain.table import Cushion, TableSpec
from vision_referee.simulation import scene_file as sf
from vision_referee.simulation.actors import (
    Leaner,
    Reacher,
    Striker,
    Triangle,
    Walker,
    Wardrobe,
    random_wardrobe,
    shoulder_for,
)
from vision_referee.simulation.aiming import lip_place, settle
from vision_referee.simulation.mishaps import plan_during, tip_fault
from vision_referee.simulation.physics import Motion
from vision_referee.simulation.physics_params import PhysicsParams, random_params
from vision_referee.simulation.pocket_shape import nearest_pocket
from vision_referee.simulation.rack import rack_places
from vision_referee.simulation.recording import Actor, Recording, record
from vision_referee.simulation.trajectory import Carried, Lying, Place
from vision_referee.simulation.world import World

F64 = npt.NDArray[np.float64]
_ARRIVE_S = 0.7


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
            places = self._rack_places(self.scene.rack)
            for label, (x, y) in places.items():
                self._put(label, x, y)
            self._note_racked(places)
        for label, spec in self.scene.balls.items():
            x, y = self._place(spec)
            self._free(label, x, y)
            self._put(label, x, y)
        if self.world.paths:
            self.world.rest_times_s.append(0.0)

    def _put(self, label: str, x: float, y: float) -> None:
        number = 0 if label == "cue" else _printed(label, self.table)
        self.world.put(label, x, y, number=number)

    def _rack_places(self, rack: sf.Rack) -> dict[str, tuple[float, float]]:
        places = rack_places(self.table, rng=self.rng, gap_mm=rack.gap_mm, order=rack.order)
        return {k: (x + rack.off_mm[0], y + rack.off_mm[1]) for k, (x, y) in places.items()}

    def _note_racked(self, places: dict[str, tuple[float, float]]) -> None:
        from vision_referee.simulation.rack import PYRAMID_ORDER

        balls = tuple(BallAt(ball=k, x=round(x, 2), y=round(y, 2)) for k, (x, y) in places.items())
        order = tuple(places) == PYRAMID_ORDER if self.table.family == "pyramid" and self.scene.numbers else None
        self.world.facts.append(Racked(t=self.world.t_s, balls=balls, order_ok=order))

    def _place(self, spec: sf.PlaceSpec) -> tuple[float, float]:
        table, radius = self.table, self.table.ball_radius_mm
        match spec:
            case sf.HangingPlace():
                return lip_place(table, spec.hanging, spec.short_mm)
            case sf.FrozenPlace():
                a, near = spec.along_mm, radius + 0.02
                return {
                    Cushion.HEAD: (near, a), Cushion.FOOT: (table.length_mm - near, a),
                    Cushion.RIGHT: (a, near), Cushion.LEFT: (a, table.width_mm - near),
                }[spec.frozen]  # fmt: skip
            case sf.BesidePlace():
                x, y, _ = self.world.motion(spec.beside).position_mm
                reach = table.ball_diameter_mm + spec.gap_mm + 0.004
                angle = math.radians(spec.direction_deg)
                return (float(x) + reach * math.cos(angle), float(y) + reach * math.sin(angle))
            case "head_spot":
                return table.head_spot_mm
            case "centre_spot":
                return table.centre_spot_mm
            case "foot_spot":
                return table.foot_spot_mm
            case "house" | "anywhere":
                return self._somewhere(table.house_line_mm if spec == "house" else table.length_mm)
            case _:
                return (float(spec[0]), float(spec[1]))

    def _somewhere(self, up_to_mm: float) -> tuple[float, float]:
        """A free place, drawn by the scene's seed."""
        margin = self.table.ball_radius_mm + 4.0
        taken = [self.world.motion(b).position_mm for b in self.world.on_bed()]
        for _ in range(2000):
            x = float(self.rng.uniform(margin, up_to_mm - margin))
            y = float(self.rng.uniform(margin, self.table.width_mm - margin))
            if all(math.hypot(x - p[0], y - p[1]) > self.table.ball_diameter_mm + 4 for p in taken):
                return (x, y)
        raise InputError("there is no free place left on the table")

    def _free_beside(self, label: str, start: F64, by_mm: tuple[float, float]) -> tuple[float, float]:
        """Where a push of that length ends on a free place, in that direction or the next that will do."""
        margin = self.table.ball_radius_mm + 2.0
        for turn in np.linspace(0, 2 * math.pi, 16, endpoint=False):
            c, s = math.cos(turn), math.sin(turn)
            x = float(start[0]) + c * by_mm[0] - s * by_mm[1]
            y = float(start[1]) + s * by_mm[0] + c * by_mm[1]
            if not (margin < x < self.table.length_mm - margin and margin < y < self.table.width_mm - margin):
                continue
            with contextlib.suppress(InputError):
                self._free(label, x, y)
                return (x, y)
        raise InputError(f"there is no free place beside ball {label}")

    def _named(self, label: str) -> str:
        """`any` settled: an object ball on the bed. Raises :class:`InputError` for a ball that is not there."""
        on_bed = self.world.on_bed()
        if label == "any":
            others = [b for b in on_bed if b != "cue"]
            if not others:
                raise InputError("there is no object ball on the bed")
            return str(self.rng.choice(others))
        if label not in on_bed:
            raise InputError(f"ball {label} is not on the bed")
        return label

    def _free(self, label: str, x: float, y: float) -> None:
        """Raises InputError where another ball, or no bed, is."""
        table = self.table
        if not (-60 < x < table.length_mm + 60 and -60 < y < table.width_mm + 60):
            raise InputError(f"ball {label} would lie at ({x:.0f}, {y:.0f}), which is not on the table {table.name}")
        for other in self.world.on_bed():
            at = self.world.motion(other).position_mm
            if other != label and math.hypot(x - at[0], y - at[1]) < table.ball_diameter_mm - 0.1:
                raise InputError(f"ball {label} would lie in ball {other} at ({x:.0f}, {y:.0f})")

    # --- acts ---

    def _act(self, act: sf.Act) -> None:
        world = self.world
        if act.wait is not None:
            world.advance(world.t_s + act.wait)
        elif act.strike is not None:
            self._strike(act.strike)
        elif act.hand_places is not None:
            self._hand_places(act.hand_places)
        elif act.hand_picks_up is not None:
            self._hand_picks_up(act.hand_picks_up)
        elif act.hand_moves is not None:
            self._hand_moves(act.hand_moves)
        elif act.hand_racks is not None:
            self._hand_racks(act.hand_racks)
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
            world.advance(world.t_s + strike.aim_s + (_ARRIVE_S if not world.moving() else 0.0))
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

    def _hand(self, from_s: float, to_s: float, label: str, near: tuple[float, float]) -> None:
        """A hand that is above a ball, wherever it goes, between two times."""
        path, lift = self.world.paths[label], np.array([0.0, 0.0, self.table.ball_radius_mm + 14.0])
        self.actors.append(
            Reacher(
                from_s=from_s, to_s=to_s, hand_mm=lambda t: path.at(t).position_mm + lift,
                shoulder_mm=shoulder_for(self.table, *near), wardrobe=self.people[2],
            )
        )  # fmt: skip

    def _hand_places(self, act: sf.HandPlaces) -> None:
        world, label = self.world, act.ball
        if act.only_if_off and label in world.on_bed():
            return
        x, y = self._place(act.at)
        self._free(label, x, y)
        goal = np.array([x, y, self.table.ball_radius_mm])
        shoulder = shoulder_for(self.table, x, y)
        start_s = world.t_s
        down_s = start_s + act.take_s
        if label in world.on_bed():
            start = world.motion(label).position_mm.copy()
            from_x, from_y = (round(float(v), 2) for v in start[:2])
            world.facts.append(PickedUp(t=start_s + 0.12, ball=label, x=from_x, y=from_y))
            middle = (start + goal) / 2 + np.array([0.0, 0.0, 160.0])
        else:
            if label not in world.paths:
                self._put(label, x, y)
            start = shoulder - np.array([0.0, 0.0, 180.0])
            middle = start + (goal - start) * 0.6 + np.array([0.0, 0.0, 130.0])
        above = goal + np.array([0.0, 0.0, 45.0])
        times = np.array([start_s, start_s + 0.45 * act.take_s, start_s + 0.82 * act.take_s, down_s])
        carried = Carried(
            times_s=times, points_mm=np.array([start, middle, above, goal]), place=Place.HAND,
            radius_mm=self.table.ball_radius_mm,
        )  # fmt: skip
        world.take_off_bed(label, carried)
        self._hand(start_s, down_s + 0.15, label, (x, y))

        def lay() -> None:
            world.paths[label].begin(world.t_s, Lying(position_mm=goal, place=Place.BED))
            world.facts.append(Placed(t=world.t_s, ball=label, x=round(x, 2), y=round(y, 2)))

        world.at(down_s, lay)
        world.advance(down_s)

    def _hand_picks_up(self, act: sf.HandPicksUp) -> None:
        world, label = self.world, self._named(act.ball)
        start = world.motion(label).position_mm.copy()
        x, y = float(start[0]), float(start[1])
        lift_s = world.t_s + _ARRIVE_S
        out = shoulder_for(self.table, x, y) - np.array([0.0, 0.0, 160.0])
        end_s = lift_s + act.take_s
        points = np.array([start, start + (out - start) * 0.4 + np.array([0.0, 0.0, 120.0]), out])
        carried = Carried(
            times_s=np.array([lift_s, lift_s + 0.4 * act.take_s, end_s]), points_mm=points, place=Place.HAND,
            radius_mm=self.table.ball_radius_mm,
        )  # fmt: skip

        def lift() -> None:
            world.take_off_bed(label, carried)
            world.paths[label].begin(end_s, Lying(position_mm=out, place=Place.AWAY))
            world.facts.append(PickedUp(t=world.t_s, ball=label, x=round(x, 2), y=round(y, 2)))

        world.at(lift_s, lift)
        self._hand(lift_s - 0.1, end_s, label, (x, y))
        world.advance(end_s)

    def _hand_moves(self, act: sf.HandMoves) -> None:
        world, label = self.world, self._named(act.ball)
        start = world.motion(label).position_mm.copy()
        if (act.by_mm is None) == (act.to is None):
            raise InputError("say either by_mm or to")
        goal = start.copy()
        if act.to is not None:
            goal[:2] = self._place(act.to)
        else:
            assert act.by_mm is not None
            goal[:2] += act.by_mm
            if act.ball == "any":
                goal[:2] = self._free_beside(label, start[:2], act.by_mm)
        self._free(label, float(goal[0]), float(goal[1]))
        from_s = world.t_s + _ARRIVE_S
        to_s = from_s + act.take_s
        pushed = Carried(
            times_s=np.array([from_s, to_s]), points_mm=np.array([start, goal]), place=Place.BED,
            radius_mm=self.table.ball_radius_mm, rolling=True,
        )  # fmt: skip
        moved = round(float(np.hypot(*(goal - start)[:2])), 2)
        end = (round(float(goal[0]), 2), round(float(goal[1]), 2))

        def push() -> None:
            world.take_off_bed(label, pushed)
            world.paths[label].begin(to_s, Lying(position_mm=goal, place=Place.BED))
            world.facts.append(Touch(t=world.t_s, ball=label, by=TouchedBy.HAND, moved_mm=moved))
            if act.cause is not None:
                world.facts.append(Moved(t=to_s, ball=label, x=end[0], y=end[1], cause=act.cause))

        world.at(from_s, push)
        self._hand(from_s - 0.05, to_s + 0.1, label, (float(start[0]), float(start[1])))
        world.advance(to_s)

    def _hand_racks(self, act: sf.HandRacks) -> None:
        world = self.world
        places = self._rack_places(act.rack)
        radius = self.table.ball_radius_mm
        start_s, down_s = world.t_s, world.t_s + act.take_s
        away = np.array([self.table.length_mm + 350.0 - self.table.foot_spot_mm[0], 0.0, 160.0])
        for label, (x, y) in places.items():
            if label not in world.paths:
                self._put(label, x, y)
            goal = np.array([x, y, radius])
            times = np.array([start_s, start_s + 0.6 * act.take_s, down_s])
            slid = goal + np.array([60.0, 0.0, 0.0])
            points = np.array([goal + away, slid, goal])
            carried = Carried(times_s=times, points_mm=points, place=Place.HAND, radius_mm=radius)
            world.take_off_bed(label, carried)

            def lay(label: str = label, goal: F64 = goal) -> None:
                world.paths[label].begin(world.t_s, Lying(position_mm=goal, place=Place.BED))

            world.at(down_s, lay)
        first = next(iter(places))
        corners = np.array([places[first], *list(places.values())[-5::4]])
        middle = corners.mean(axis=0)
        corners = middle + (corners - middle) * (1 + 2.2 * radius / np.linalg.norm(corners[0] - middle))
        lead = world.paths[first]
        home = np.array([*places[first], radius])

        def frame(t: float) -> F64:
            shift = lead.at(min(t, down_s)).position_mm - home
            lift = np.array([0.0, 0.0, 90.0 * max(0.0, (t - down_s - 0.2) / 0.8)])
            return np.asarray(np.column_stack([corners, np.full(3, radius * 0.8)]) + shift + lift, np.float64)

        self.actors.append(Triangle(from_s=start_s, to_s=down_s + 1.0, corners_mm=frame))
        side = shoulder_for(self.table, self.table.length_mm - 50, self.table.width_mm / 2)
        self.actors.append(
            Reacher(
                from_s=start_s, to_s=down_s + 1.0, hand_mm=lambda t: frame(t)[1] + np.array([0.0, 0.0, 30.0]),
                shoulder_mm=side, wardrobe=self.people[2],
            )
        )  # fmt: skip
        world.advance(down_s)
        self._note_racked(places)

    def _brush(self, act: sf.Brush) -> None:
        world, label = self.world, self._named(act.ball)
        world.advance(world.t_s + _ARRIVE_S)
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
            self._hand(world.t_s - 0.2, world.t_s + 0.25, label, (float(start[0]), float(start[1])))
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


def _printed(label: str, table: TableSpec) -> int | None:
    """What is printed on a ball: its number; u1 … of a snooker set stand for the reds and colours by their places."""
    if label.isdigit():
        return int(label)
    if table.family == "snooker" and label.startswith("u"):
        return min(int(label[1:]), 21)
    return None


