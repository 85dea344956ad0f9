"""What hands do to balls between strokes: bring, take, push, rack."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import BallAt, Moved, PickedUp, Placed, Racked, Touch, TouchedBy
from vision_referee.domain.table import TableSpec
from vision_referee.simulation import scene_file as sf
from vision_referee.simulation.actors import Reacher, Triangle, Wardrobe, shoulder_for
from vision_referee.simulation.places import Places
from vision_referee.simulation.rack import PYRAMID_ORDER
from vision_referee.simulation.recording import Actor
from vision_referee.simulation.trajectory import Carried, Lying, Place
from vision_referee.simulation.world import World

F64 = npt.NDArray[np.float64]
ARRIVE_S = 0.7


def put_ball(world: World, label: str, x_mm: float, y_mm: float) -> None:
    """Lay a ball on the bed with what is printed on it."""
    world.put(label, x_mm, y_mm, number=0 if label == "cue" else _printed(label, world.table))


def _printed(label: str, table: TableSpec) -> int | None:
    """What is printed on a ball: its number; u1 … of a snooker set stand for the reds and colours by their places."""
    if label.isdigit():
        return int(label)
    if table.family == "snooker" and label.startswith("u"):
        return min(int(label[1:]), 21)
    return None


class Hands:
    """A person's hands at a world's table. Each act lets the world's time pass until it is done."""

    def __init__(self, world: World, places: Places, actors: list[Actor], wardrobe: Wardrobe, *, numbers: bool) -> None:
        self.world = world
        self.table = world.table
        self.places = places
        self.actors = actors
        self.wardrobe = wardrobe
        self.numbers = numbers

    def lay(self, act: sf.HandPlaces) -> None:
        """Bring a ball, from where it lies or from off the table, and put it down."""
        world, label = self.world, act.ball
        if act.only_if_off and label in world.on_bed():
            return
        x, y = self.places.at(act.at)
        self.places.check_free(label, x, y)
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
                put_ball(world, label, x, y)
            start = shoulder - np.array([0.0, 0.0, 180.0])
            middle = start + (goal - start) * 0.6 + np.array([0.0, 0.0, 130.0])
        above = goal + np.array([0.0, 0.0, 45.0])
        times = np.array([start_s, start_s + 0.45 * act.take_s, start_s + 0.82 * act.take_s, down_s])
        carried = Carried(
            times_s=times, points_mm=np.array([start, middle, above, goal]), place=Place.HAND,
            radius_mm=self.table.ball_radius_mm,
        )  # fmt: skip
        world.take_off_bed(label, carried)
        self.over(start_s, down_s + 0.15, label, (x, y))

        def lay() -> None:
            world.paths[label].begin(world.t_s, Lying(position_mm=goal, place=Place.BED))
            world.facts.append(Placed(t=world.t_s, ball=label, x=round(x, 2), y=round(y, 2)))

        world.at(down_s, lay)
        world.advance(down_s)

    def take(self, act: sf.HandPicksUp) -> None:
        """Pick a ball up and carry it off the table."""
        world, label = self.world, self.places.named(act.ball)
        start = world.motion(label).position_mm.copy()
        x, y = float(start[0]), float(start[1])
        lift_s = world.t_s + ARRIVE_S
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
        self.over(lift_s - 0.1, end_s, label, (x, y))
        world.advance(end_s)

    def push(self, act: sf.HandMoves) -> None:
        """Push a ball along the cloth to another place."""
        world, label = self.world, self.places.named(act.ball)
        start = world.motion(label).position_mm.copy()
        if (act.by_mm is None) == (act.to is None):
            raise InputError("say either by_mm or to")
        goal = start.copy()
        if act.to is not None:
            goal[:2] = self.places.at(act.to)
        else:
            assert act.by_mm is not None
            goal[:2] += act.by_mm
            if act.ball == "any":
                goal[:2] = self.places.beside(label, start[:2], act.by_mm)
        self.places.check_free(label, float(goal[0]), float(goal[1]))
        from_s = world.t_s + ARRIVE_S
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
        self.over(from_s - 0.05, to_s + 0.1, label, (float(start[0]), float(start[1])))
        world.advance(to_s)

    def rack(self, act: sf.HandRacks) -> None:
        """Slide the whole rack in with a triangle, and take the triangle away."""
        world = self.world
        places = self.places.rack(act.rack)
        radius = self.table.ball_radius_mm
        start_s, down_s = world.t_s, world.t_s + act.take_s
        away = np.array([self.table.length_mm + 350.0 - self.table.foot_spot_mm[0], 0.0, 160.0])
        for label, (x, y) in places.items():
            if label not in world.paths:
                put_ball(world, label, x, y)
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
                shoulder_mm=side, wardrobe=self.wardrobe,
            )
        )  # fmt: skip
        world.advance(down_s)
        self.note_racked(places)

    def over(self, from_s: float, to_s: float, label: str, near: tuple[float, float]) -> None:
        """A hand that is above a ball, wherever it goes, between two times."""
        path, lift = self.world.paths[label], np.array([0.0, 0.0, self.table.ball_radius_mm + 14.0])
        self.actors.append(
            Reacher(
                from_s=from_s, to_s=to_s, hand_mm=lambda t: path.at(t).position_mm + lift,
                shoulder_mm=shoulder_for(self.table, *near), wardrobe=self.wardrobe,
            )
        )  # fmt: skip

    def note_racked(self, places: dict[str, tuple[float, float]]) -> None:
        """Note a rack that stands; its order is judged where there are numbers to read (S-2)."""
        balls = tuple(BallAt(ball=k, x=round(x, 2), y=round(y, 2)) for k, (x, y) in places.items())
        order = tuple(places) == PYRAMID_ORDER if self.table.family == "pyramid" and self.numbers else None
        self.world.facts.append(Racked(t=self.world.t_s, balls=balls, order_ok=order))
