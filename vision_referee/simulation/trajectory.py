"""Where a ball is at any time: on the bed by physics, in a hand, in the air, falling into a pocket, or gone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vision_referee.simulation.physics import Motion, RollPiece
from vision_referee.simulation.physics_params import GRAVITY_MM_S2
from vision_referee.simulation.scene import BallPose

F64 = npt.NDArray[np.float64]
_ROTATION_STEP_S = 1 / 500


class Place(StrEnum):
    """Where a ball is, as the rules see it."""

    BED = "bed"
    HAND = "hand"
    AIR = "air"
    POCKET = "pocket"
    OFF = "off"
    NET = "net"
    """Fallen, and out of the picture: in the return or deep in the net."""
    AWAY = "away"
    """Off the table and out of the picture: on the floor, on a shelf."""


OUT_OF_PICTURE = frozenset({Place.NET, Place.AWAY})


class Piece(Protocol):
    """A stretch of a ball's path."""

    @property
    def place(self) -> Place: ...

    def at(self, t_s: float) -> Motion: ...

    def still_until(self, t_s: float) -> float:
        """How long, from ``t_s`` on, nothing about the ball changes (``t_s`` itself where it moves)."""
        ...


class _AlwaysMoving:
    __slots__ = ()

    def still_until(self, t_s: float) -> float:
        return t_s


@dataclass(frozen=True, slots=True, kw_only=True)
class OnBed:
    """Physics decides."""

    roll: RollPiece
    place: Place = Place.BED

    def at(self, t_s: float) -> Motion:
        return self.roll.at(t_s)

    def still_until(self, t_s: float) -> float:
        return self.roll.still_until(t_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lying:
    """Does not move: on the bed, on a rail, on a shelf."""

    position_mm: F64
    place: Place

    def at(self, t_s: float) -> Motion:
        return Motion(position_mm=self.position_mm, velocity_mm_s=np.zeros(3), spin_rad_s=np.zeros(3))

    def still_until(self, t_s: float) -> float:
        return math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried(_AlwaysMoving):
    """Moved along points ``points_mm`` (n, 3) reached at ``times_s`` (n,), gently from each to the next.

    ``rolling``: the ball turns as if it rolled on the cloth (a ball pushed, a ball creeping off a lip).
    """

    times_s: F64
    points_mm: F64
    place: Place
    radius_mm: float
    rolling: bool = False
    eased: bool = True
    """Slow at each point (a hand), or at an even pace between them (a thrown ball)."""

    def at(self, t_s: float) -> Motion:
        k = int(np.clip(np.searchsorted(self.times_s, t_s, side="right") - 1, 0, len(self.times_s) - 2))
        span = float(self.times_s[k + 1] - self.times_s[k])
        u = float(np.clip((t_s - self.times_s[k]) / span, 0.0, 1.0))
        leg = self.points_mm[k + 1] - self.points_mm[k]
        share, rate = (u * u * (3 - 2 * u), 6 * u * (1 - u)) if self.eased else (u, 1.0)
        position = self.points_mm[k] + leg * share
        velocity = leg * (rate / span)
        spin = np.zeros(3)
        if self.rolling:
            spin = np.array([-velocity[1], velocity[0], 0.0]) / self.radius_mm
        return Motion(position_mm=position, velocity_mm_s=velocity, spin_rad_s=spin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight(_AlwaysMoving):
    """Thrown from ``start`` at ``t0_s``; it bounces on whatever lies at height ``floor_mm`` (of its centre)."""

    t0_s: float
    start: Motion
    floor_mm: float
    bounce: float
    place: Place = Place.AIR

    def at(self, t_s: float) -> Motion:
        left = max(t_s - self.t0_s, 0.0)
        z, vz = float(self.start.position_mm[2]), float(self.start.velocity_mm_s[2])
        flat = self.start.velocity_mm_s[:2]
        xy = self.start.position_mm[:2] + flat * left
        g = GRAVITY_MM_S2
        for _ in range(40):
            # Time to come down to the floor from here.
            down = (vz + math.sqrt(max(vz * vz + 2 * g * max(z - self.floor_mm, 0.0), 0.0))) / g
            if left <= down:
                z, vz = z + vz * left - g * left * left / 2, vz - g * left
                break
            left -= down
            z, vz = self.floor_mm, self.bounce * (g * down - vz)
            if vz < 60.0:
                vz = 0.0
                break
        return Motion(
            position_mm=np.array([xy[0], xy[1], max(z, self.floor_mm)]),
            velocity_mm_s=np.array([flat[0], flat[1], vz]),
            spin_rad_s=self.start.spin_rad_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Falling(_AlwaysMoving):
    """Over the lip at ``t0_s`` with what speed it had, down to the net, held by the pocket's back."""

    t0_s: float
    start: Motion
    hole_mm: tuple[float, float]
    hole_radius_mm: float
    radius_mm: float
    net_mm: float
    """Height of the ball's centre in the net, below the cloth: negative."""
    place: Place = Place.POCKET

    def at(self, t_s: float) -> Motion:
        dt = max(t_s - self.t0_s, 0.0)
        # Even a ball that creeps over the lip is drawn in as it tips.
        inward = np.array(self.hole_mm) - self.start.position_mm[:2]
        distance = max(float(np.hypot(*inward)), 1e-6)
        flat = self.start.velocity_mm_s[:2] + inward / distance * min(250.0, 1200.0 * dt)
        xy = self.start.position_mm[:2] + flat * dt
        from_middle = xy - np.array(self.hole_mm)
        reach = max(self.hole_radius_mm - self.radius_mm * 0.6, 4.0)
        out = float(np.hypot(*from_middle))
        settled = max(0.0, 1 - 1.5 * dt)
        if out > reach * settled and (float(np.dot(from_middle, inward)) > 0 or dt > 0.1):
            xy = np.array(self.hole_mm) + from_middle / out * reach * settled
            flat = np.zeros(2)
        z = max(self.radius_mm - GRAVITY_MM_S2 * dt * dt / 2, self.net_mm)
        vz = -GRAVITY_MM_S2 * dt if z > self.net_mm else 0.0
        return Motion(
            position_mm=np.array([xy[0], xy[1], z]),
            velocity_mm_s=np.array([flat[0], flat[1], vz]),
            spin_rad_s=self.start.spin_rad_s * max(0.0, 1 - 4 * dt),
        )


@dataclass(slots=True)
class BallPath:
    """One ball through a whole recording. ``pieces[k]`` holds from ``starts_s[k]`` to the next start."""

    label: str
    number: int | None
    first_rotation: F64
    starts_s: list[float] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    _knots: list[tuple[float, F64]] = field(default_factory=list)

    def begin(self, t_s: float, piece: Piece) -> None:
        """From ``t_s`` on the ball follows ``piece`` (what was planned after ``t_s`` is dropped)."""
        while self.starts_s and self.starts_s[-1] >= t_s - 1e-12:
            self.starts_s.pop()
            self.pieces.pop()
        self.starts_s.append(t_s)
        self.pieces.append(piece)
        while self._knots and self._knots[-1][0] > t_s:
            self._knots.pop()

    def piece_at(self, t_s: float) -> Piece:
        k = 0
        for i, start in enumerate(self.starts_s):
            if start <= t_s + 1e-12:
                k = i
        return self.pieces[k]

    def place_at(self, t_s: float) -> Place:
        return self.piece_at(t_s).place

    def at(self, t_s: float) -> Motion:
        return self.piece_at(t_s).at(t_s)

    def rotation_at(self, t_s: float) -> F64:
        """(3, 3), ball frame to table frame: the spin summed up from the recording's start."""
        if not self._knots:
            self._knots.append((self.starts_s[0], self.first_rotation))
        if t_s < self._knots[-1][0]:
            k = max(i for i, (t, _) in enumerate(self._knots) if t <= t_s or i == 0)
            t0, rotation = self._knots[k]
            return _turned(self.at((t0 + t_s) / 2).spin_rad_s, t_s - t0) @ rotation
        t, rotation = self._knots[-1]
        while t < t_s - 1e-9:
            still = min(self.piece_at(t).still_until(t), self.next_start(t), t_s)
            if still > t:
                t = still
                continue
            step = min(_ROTATION_STEP_S, t_s - t)
            spin = self.at(t + step / 2).spin_rad_s
            if np.any(spin):
                rotation = _turned(spin, step) @ rotation
            t += step
        if t > self._knots[-1][0]:
            self._knots.append((t, rotation))
        return rotation

    def next_start(self, t_s: float) -> float:
        """When the piece after the present one begins."""
        return next((s for s in self.starts_s if s > t_s + 1e-9), math.inf)

    def pose_at(self, t_s: float) -> BallPose | None:
        """What a camera sees of the ball, or None when it is out of the picture."""
        if self.place_at(t_s) in OUT_OF_PICTURE:
            return None
        motion = self.at(t_s)
        return BallPose(
            label=self.label, number=self.number, centre_mm=motion.position_mm, rotation=self.rotation_at(t_s),
            velocity_mm_s=motion.velocity_mm_s, spin_rad_s=motion.spin_rad_s,
        )  # fmt: skip


def _turned(spin_rad_s: F64, dt_s: float) -> F64:
    """Rotation (3, 3) by a spin for a short time (Rodrigues' formula)."""
    rate = float(np.linalg.norm(spin_rad_s))
    angle = rate * dt_s
    if abs(angle) < 1e-12:
        return np.eye(3)
    x, y, z = spin_rad_s / rate
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k), np.float64)
