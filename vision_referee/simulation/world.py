"""A table with balls on it through time: physics between interventions, and what happened, exactly.

The world's clock only goes forward (:meth:`World.advance`). Hands, strokes, jolts and falls act at its present.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.domain.balls import ball_number
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Pocketed, PocketRebound, Strike
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.simulation.physics import Impact, Motion, Roll, roll, strike_motion
from vision_referee.simulation.physics_params import PhysicsParams
from vision_referee.simulation.pocket_shape import hole_mm
from vision_referee.simulation.trajectory import BallPath, Carried, Falling, Lying, OnBed, Piece, Place

F64 = npt.NDArray[np.float64]
NET_VISIBLE_S = 0.45
"""A fallen ball is seen in the pocket this long, then it has rolled away below."""
_REST_LIMIT_S = 60.0


@dataclass(slots=True)
class Watch:
    """Something to do when an impact comes that fits, ``lead_s`` before it; once."""

    fits: Callable[[Impact], bool]
    do: Callable[[Impact], None]
    lead_s: float = 0.0
    planned: bool = False


class World:
    """Balls, the physics that moves them, and the record of it."""

    def __init__(self, table: TableSpec, params: PhysicsParams, rng: np.random.Generator) -> None:
        self.table = table
        self.params = params
        self.rng = rng
        self.t_s = 0.0
        self.paths: dict[str, BallPath] = {}
        self.impacts: list[Impact] = []
        self.facts: list[Event] = []
        self.rest_times_s: list[float] = []
        """When each stroke was over."""
        self._roll: Roll | None = None
        self._pending: list[Impact] = []
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._watches: list[Watch] = []
        self._bounces: dict[str, float] = {}
        self._open_stroke = False
        self._holds = 0

    # --- balls ---

    def put(self, label: str, x_mm: float, y_mm: float, *, number: int | None = None) -> None:
        """Lay a ball on the bed at the present time (no event is made of it)."""
        if number is None:
            number = 0 if label == "cue" else ball_number(label)
        if label not in self.paths:
            self.paths[label] = BallPath(label=label, number=number, first_rotation=_random_rotation(self.rng))
        position = np.array([x_mm, y_mm, self.table.ball_radius_mm])
        self.paths[label].begin(self.t_s, Lying(position_mm=position, place=Place.BED))

    def on_bed(self) -> tuple[str, ...]:
        """Balls that lie or run on the bed, those that a hand pushes along it not among them."""
        free = (OnBed, Lying)
        return tuple(
            k for k, p in self.paths.items()
            if p.place_at(self.t_s) is Place.BED and isinstance(p.piece_at(self.t_s), free)
        )  # fmt: skip

    def motion(self, label: str) -> Motion:
        """Where a ball is now. Raises :class:`InputError` for a label that is not in play."""
        if label not in self.paths:
            raise InputError(f"there is no ball {label} on the table (balls: {', '.join(self.paths) or 'none'})")
        return self.paths[label].at(self.t_s)

    # --- acts ---

    def strike(
        self, label: str, *, direction_deg: float, speed_mm_s: float, side: float = 0.0, top: float = 0.0,
        player: str | None = None,
    ) -> None:  # fmt: skip
        """The tip sets a ball going, now."""
        now = self.motion(label)
        struck = strike_motion(
            now, direction_deg=direction_deg, speed_mm_s=speed_mm_s, side=side, top=top,
            radius_mm=self.table.ball_radius_mm,
        )  # fmt: skip
        x, y = (float(v) for v in now.position_mm[:2])
        vx, vy = (float(v) for v in struck.velocity_mm_s[:2])
        self.facts.append(Strike(t=self.t_s, ball=label, x=x, y=y, vx=vx, vy=vy, player=player))
        self._open_stroke = True
        self.set_motions({label: struck})

    def set_motions(self, changed: dict[str, Motion]) -> None:
        """Give balls on the bed new motions, now, and let physics go on from there."""
        start = {label: self.motion(label) for label in self.on_bed()} | changed
        self._begin_roll(start)

    def take_off_bed(self, label: str, piece: Piece) -> None:
        """From now on the ball follows ``piece``, out of the physics."""
        self.paths[label].begin(self.t_s, piece)
        if self.moving():
            self.set_motions({})

    def put_in_motion(self, label: str, motion: Motion) -> None:
        """A ball comes (back) onto the bed with a motion."""
        self.set_motions({label: motion})

    def at(self, t_s: float, do: Callable[[], None], *, holds: bool = False) -> None:
        """Do something when the clock comes there; ``holds``: the stroke cannot be over before it."""
        act = do
        if holds:
            self._holds += 1

            def act() -> None:
                self._holds -= 1
                do()

        heapq.heappush(self._agenda, (max(t_s, self.t_s), next(self._count), act))

    def watch(self, watch: Watch) -> None:
        """Do something when, or shortly before, an impact happens."""
        self._watches.append(watch)
        self._plan_watches()

    def bounce_out(self, label: str, restitution: float) -> None:
        """The next time this ball falls over a lip it comes back from the pocket's inside."""
        self._bounces[label] = restitution

    def fall(self, label: str, pocket: PocketName, *, creep_s: float = 0.25) -> None:
        """A ball on a lip gives way, now: it creeps over and falls."""
        hole, radius = hole_mm(self.table.pocket(pocket), self.table)
        start = self.motion(label).position_mm
        toward = np.array(hole) - start[:2]
        distance = float(np.hypot(*toward))
        over = max(distance - radius, 0.0) + 0.5
        edge = start.copy()
        edge[:2] += toward / distance * over
        points = np.array([start, edge])
        creep = Carried(
            times_s=np.array([self.t_s, self.t_s + creep_s]), points_mm=points, place=Place.BED,
            radius_mm=self.table.ball_radius_mm, rolling=True,
        )  # fmt: skip
        self.take_off_bed(label, creep)
        self.at(self.t_s + creep_s, lambda: self._drop(label, pocket))

    # --- time ---

    def moving(self) -> bool:
        """Whether physics still has something to do."""
        return self._roll is not None and self._roll.t1_s > self.t_s + 1e-9

    def advance(self, until_s: float) -> None:
        """Let time pass."""
        while True:
            impact_s = self._pending[0].t_s if self._pending else math.inf
            act_s = self._agenda[0][0] if self._agenda else math.inf
            rest_s = self._rest_s()
            at_s = min(impact_s, act_s, rest_s)
            if at_s > until_s:
                break
            self.t_s = max(self.t_s, at_s)
            if act_s <= min(impact_s, rest_s):
                _, _, do = heapq.heappop(self._agenda)
                do()
            elif impact_s <= rest_s:
                self._happen(self._pending.pop(0))
            else:
                self._open_stroke = False
                self.rest_times_s.append(self.t_s)
        self.t_s = max(self.t_s, until_s)

    def run_to_stroke_end(self) -> float:
        """Let time pass until the stroke is over (all balls still); gives that time."""
        began = self.t_s
        while self._open_stroke:
            ahead = [self._roll.t1_s if self._roll is not None else self.t_s, self._rest_s()]
            ahead += [self._agenda[0][0]] if self._agenda and self._holds else []
            self.advance(max(min(t for t in ahead if t >= self.t_s), self.t_s))
            if self.t_s - began > _REST_LIMIT_S:
                raise InputError(f"a stroke that began at {began:.1f} s did not come to rest within a minute")
        return self.t_s

    def run_to_still(self) -> float:
        """Let time pass until nothing that physics moves moves, stroke or not."""
        while self.moving():
            assert self._roll is not None
            self.advance(self._roll.t1_s)
        return self.t_s

    def _rest_s(self) -> float:
        """When the open stroke will be over, as far as is known."""
        if not self._open_stroke or self._holds or self._roll is None:
            return math.inf
        return max(self._roll.t1_s, self.t_s)

    # --- inside ---

    def _begin_roll(self, start: dict[str, Motion]) -> None:
        self._roll = roll(start, self.table, self.params, t0_s=self.t_s)
        for label, piece in self._roll.pieces.items():
            self.paths[label].begin(self.t_s, OnBed(roll=piece))
        self._pending = list(self._roll.impacts)
        for watch in self._watches:
            watch.planned = False
        self._plan_watches()

    def _plan_watches(self) -> None:
        for watch in [w for w in self._watches if not w.planned and w.lead_s > 0]:
            hit = next((i for i in self._pending if i.t_s > self.t_s and watch.fits(i)), None)
            if hit is not None:
                watch.planned = True
                self.at(hit.t_s - watch.lead_s, lambda w=watch, i=hit: self._fire(w, i))  # type: ignore[misc]

    def _fire(self, watch: Watch, impact: Impact) -> None:
        # Something in between may have changed the course: then the impact is no longer ahead.
        if watch in self._watches and impact in self._pending:
            self._watches.remove(watch)
            watch.do(impact)

    def _happen(self, impact: Impact) -> None:
        self.impacts.append(impact)
        if impact.kind == "hole":
            self._drop(impact.balls[0], PocketName(impact.what))
        for watch in [w for w in self._watches if w.lead_s == 0 and w.fits(impact)]:
            self._watches.remove(watch)
            watch.do(impact)

    def _drop(self, label: str, pocket: PocketName) -> None:
        before = self.paths[label].at(self.t_s - 1e-7)
        if label in self._bounces and np.hypot(*before.velocity_mm_s[:2]) > 1.0:
            self._come_back(label, pocket, before, self._bounces.pop(label))
            return
        hole, radius = hole_mm(self.table.pocket(pocket), self.table)
        ball_radius = self.table.ball_radius_mm
        falling = Falling(
            t0_s=self.t_s, start=before, hole_mm=hole, hole_radius_mm=radius, radius_mm=ball_radius,
            net_mm=-2.2 * ball_radius,
        )  # fmt: skip
        path = self.paths[label]
        path.begin(self.t_s, falling)
        gone_s = self.t_s + NET_VISIBLE_S
        path.begin(gone_s, Lying(position_mm=falling.at(gone_s).position_mm, place=Place.NET))
        self.facts.append(Pocketed(t=self.t_s, ball=label, pocket=pocket))

    def _come_back(self, label: str, pocket: PocketName, before: Motion, restitution: float) -> None:
        """Off the pocket's back and out again through the mouth."""
        spec = self.table.pocket(pocket)
        speed = float(np.hypot(*before.velocity_mm_s[:2]))
        out = -np.array([*spec.inward, 0.0])
        deep = 0.8 * self.table.ball_radius_mm
        edge = before.position_mm
        turn_s = self.t_s + deep / speed
        back_s = turn_s + deep / (speed * restitution)
        path = Carried(
            times_s=np.array([self.t_s, turn_s, back_s]), points_mm=np.array([edge, edge + out * deep, edge]),
            place=Place.BED, radius_mm=self.table.ball_radius_mm, rolling=True,
        )  # fmt: skip
        self.facts.append(PocketRebound(t=turn_s, ball=label, pocket=pocket))
        self.take_off_bed(label, path)
        # Put back just before the lip, on the mouth's axis, so that the jaws let it out.
        axis = np.array(spec.mouth_mm)
        home = edge.copy()
        home[:2] = edge[:2] - out[:2] * 2.0
        off_axis = home[:2] - axis
        home[:2] -= (off_axis - np.dot(off_axis, out[:2]) * out[:2]) * 0.5
        velocity = -out * speed * restitution
        spin = np.array([-velocity[1], velocity[0], 0.0]) / self.table.ball_radius_mm * 0.3
        self.at(
            back_s,
            lambda: self.put_in_motion(label, Motion(position_mm=home, velocity_mm_s=velocity, spin_rad_s=spin)),
            holds=True,
        )


def _random_rotation(rng: np.random.Generator) -> F64:
    """Uniform over all orientations (QR of a Gaussian matrix, signs fixed)."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return np.asarray(q, np.float64)
