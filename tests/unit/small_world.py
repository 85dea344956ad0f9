"""A tiny billiards world for the tests of tracking and events: balls roll, bounce, collide and fall in steps of 1 ms.

Independent of the simulation package (no pooltool): straight rolling at a steady braking, equal masses, cushions with a
restitution, pockets that take what passes their lip. Detections are its places with noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from vision_referee.detection.detections import Detections
from vision_referee.domain.table import TableSpec

TABLE = TableSpec(
    name="pyramid-12ft",
    family="pyramid",
    length_mm=3550.0,
    width_mm=1775.0,
    ball_diameter_mm=68.0,
    ball_mass_kg=0.285,
    corner_mouth_mm=73.0,
    middle_mouth_mm=83.0,
    nose_height_mm=43.0,
)
BRAKING_MM_S2 = 100.0
LIP_MM = 24.0
WHITE = np.array([85.0, 0.0, 8.0])
RED = np.array([45.0, 45.0, 25.0])
_STEP_S = 0.001


@dataclass
class Fact:
    t: float
    type: str
    balls: tuple[str, ...]
    what: str = ""


@dataclass
class World:
    """``at`` places by name; ``acts`` (t, callable(world)) happen in time; run once by :meth:`run`."""

    at: dict[str, tuple[float, float]]
    table: TableSpec = TABLE
    restitution: float = 0.75
    acts: list = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    places: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def strike(self, t_s: float, ball: str, vx: float, vy: float) -> World:
        def act(world: World) -> None:
            world.v[ball] = np.array([vx, vy])
            world.facts.append(Fact(world.t, "strike", (ball,)))

        self.acts.append((t_s, act))
        return self

    def put(self, t_s: float, ball: str, x: float, y: float) -> World:
        def act(world: World) -> None:
            world.p[ball] = np.array([x, y])
            world.v[ball] = np.zeros(2)

        self.acts.append((t_s, act))
        return self

    def take(self, t_s: float, ball: str) -> World:
        def act(world: World) -> None:
            world.p.pop(ball, None)

        self.acts.append((t_s, act))
        return self

    def drag(self, t0_s: float, t1_s: float, ball: str, dx: float, dy: float) -> World:
        """A hand moves a ball evenly."""
        n = int((t1_s - t0_s) / 0.005)
        for k in range(n):

            def act(world: World, share: float = 1 / n) -> None:
                world.p[ball] = world.p[ball] + np.array([dx, dy]) * share

            self.acts.append((t0_s + k * 0.005, act))
        return self

    def run(self, duration_s: float) -> World:
        self.p = {k: np.array(v, float) for k, v in self.at.items()}
        self.v = {k: np.zeros(2) for k in self.at}
        acts = sorted(self.acts, key=lambda a: a[0])
        self.t = 0.0
        moving: set[str] = set()
        for step in range(int(duration_s / _STEP_S) + 1):
            self.t = step * _STEP_S
            while acts and acts[0][0] <= self.t + 1e-9:
                acts.pop(0)[1](self)
            self.times.append(self.t)
            for name in set(self.places) | set(self.p):
                row = self.places.setdefault(name, [(np.nan, np.nan)] * (len(self.times) - 1))
                row.append(tuple(self.p[name]) if name in self.p else (np.nan, np.nan))
            self._move(moving)
        return self

    def _move(self, moving: set[str]) -> None:
        for name in list(self.p):
            speed = float(np.hypot(*self.v.setdefault(name, np.zeros(2))))
            if speed == 0.0:
                continue
            moving.add(name)
            slower = max(speed - BRAKING_MM_S2 * _STEP_S, 0.0)
            self.v[name] = self.v[name] / speed * slower
            self.p[name] = self.p[name] + self.v[name] * _STEP_S
            if slower == 0.0:
                self.facts.append(Fact(self.t, "stopped", (name,)))
            self._pockets_and_noses(name)
        names = list(self.p)
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if not (self.v[a].any() or self.v[b].any()):
                    continue
                between = self.p[b] - self.p[a]
                distance = float(np.hypot(*between))
                normal = between / max(distance, 1e-9)
                closing = float((self.v[a] - self.v[b]) @ normal)
                if distance <= self.table.ball_diameter_mm and closing > 0:
                    give = normal * closing * 0.975
                    self.v[a], self.v[b] = self.v[a] - give, self.v[b] + give
                    self.facts.append(Fact(self.t, "contact", (a, b)))

    def _pockets_and_noses(self, name: str) -> None:
        p, v, radius = self.p[name], self.v[name], self.table.ball_radius_mm
        for pocket in self.table.pockets():
            offset = p - np.array(pocket.mouth_mm)
            inward = np.array(pocket.inward)
            depth = -float(offset @ inward)
            side = abs(float(offset[0] * inward[1] - offset[1] * inward[0]))
            if side < pocket.width_mm / 2 and depth > -1.2 * radius:
                if depth > LIP_MM:
                    self.facts.append(Fact(self.t, "pocketed", (name,), pocket.name.value))
                    del self.p[name]
                return
        for axis, far, low, high in (
            (0, self.table.length_mm, "head", "foot"),
            (1, self.table.width_mm, "right", "left"),
        ):
            if p[axis] < radius and v[axis] < 0:
                v[axis] *= -self.restitution
                self.facts.append(Fact(self.t, "cushion", (name,), low))
            elif p[axis] > far - radius and v[axis] > 0:
                v[axis] *= -self.restitution
                self.facts.append(Fact(self.t, "cushion", (name,), high))

    def told(self, kind: str) -> list[Fact]:
        return [f for f in self.facts if f.type == kind]

    def detections(
        self,
        *,
        fps: float = 30.0,
        sigma_mm: float = 1.5,
        dropout: float = 0.03,
        seed: int = 1,
        repeat: int = 1,
        times_s: np.ndarray | None = None,
        hidden: dict[str, tuple[float, float]] | None = None,
        numbers: dict[str, int] | None = None,
        false_rate: float = 0.0,
        colours: dict[str, np.ndarray] | None = None,
    ) -> list[Detections]:
        """One struct a frame; ``hidden`` gives balls that something covers from … to, ``numbers`` what is read."""
        rng = np.random.default_rng(seed)
        clock = np.arange(0, self.times[-1], 1 / fps) if times_s is None else times_s
        frames: list[Detections] = []
        for n, t in enumerate(clock):
            if n % repeat and frames:
                frames.append(replace(frames[-1], frame=n, t_s=float(t)))
                continue
            k = min(round(t / _STEP_S), len(self.times) - 1)
            xy, number_p, colour = [], [], []
            for name, row in self.places.items():
                x, y = row[k]
                covered = hidden is not None and name in hidden and hidden[name][0] <= t <= hidden[name][1]
                if np.isnan(x) or covered or rng.random() < dropout:
                    continue
                xy.append((x + rng.normal(0, sigma_mm), y + rng.normal(0, sigma_mm)))
                p = np.full(17, 0.002)
                p[16] = 0.9
                if numbers and name in numbers:
                    p[numbers[name]] += 1.5
                number_p.append(p / p.sum())
                base = (colours or {}).get(name, RED if name == "cue" else WHITE)
                colour.append(base + rng.normal(0, 1.5, 3))
            for _ in range(rng.poisson(false_rate)):
                xy.append(tuple(rng.uniform([0, 0], [self.table.length_mm, self.table.width_mm])))
                number_p.append(np.full(17, 1 / 17))
                colour.append(rng.uniform(0, 90, 3))
            m = len(xy)
            mm = np.array(xy).reshape(m, 2)
            frames.append(
                Detections(
                    frame=n, t_s=float(t), xy_px=mm * 0.4, r_px=np.full(m, 14.0), confidence=np.full(m, 0.9), xy_mm=mm,
                    sigma_mm=np.full(m, max(sigma_mm, 0.5)), number_p=np.array(number_p).reshape(m, 17),
                    colour=np.array(colour).reshape(m, 3), blur_px=np.zeros(m),
                )
            )  # fmt: skip
        return frames
