"""People and their things as moving capsules: players at the cue, hands that spot balls, somebody who leans over.

Every actor is a function of time; what it stands for (a stroke, a spotted ball) is decided elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import Cushion, TableSpec
from vision_referee.simulation.scene import Bgr, Capsule

F64 = npt.NDArray[np.float64]

CUE_LENGTH_MM = 1600.0
_TRUNK_MM, _HEAD_MM, _ARM_MM, _HAND_MM = 150.0, 105.0, 46.0, 34.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wardrobe:
    """One person's colours, sRGB 0..1 in B, G, R order."""

    skin: Bgr
    shirt: Bgr
    sleeve: Bgr
    hair: Bgr
    cue: Bgr


def random_wardrobe(rng: np.random.Generator) -> Wardrobe:
    """Any skin, any shirt; bare arms or sleeves."""
    tone = float(rng.uniform(0.25, 1.0))
    skin = (0.55 * tone, 0.66 * tone, 0.88 * tone)
    shade = float(rng.choice([0.06, 0.15, 0.4, 0.85]))
    shirt = tuple(float(np.clip(shade * rng.uniform(0.6, 1.4), 0.02, 0.95)) for _ in range(3))
    hair_tone = float(rng.uniform(0.03, 0.35))
    wood = float(rng.uniform(0.5, 1.0))
    as_bgr: Bgr = (shirt[0], shirt[1], shirt[2])
    return Wardrobe(
        skin=skin,
        shirt=as_bgr,
        sleeve=as_bgr if rng.random() < 0.6 else skin,
        hair=(0.6 * hair_tone, 0.8 * hair_tone, hair_tone),
        cue=(0.35 * wood, 0.6 * wood, 0.85 * wood),
    )


def _eased(u: float) -> float:
    u = min(max(u, 0.0), 1.0)
    return u * u * (3 - 2 * u)


def _rod(a: F64, b: F64, ra: float, rb: float, colour: Bgr, kind: str, velocity: F64 | None = None) -> Capsule:
    return Capsule(
        a_mm=a, b_mm=b, radius_a_mm=ra, radius_b_mm=rb, colour_bgr=colour, kind=kind,
        velocity_mm_s=np.zeros(3) if velocity is None else velocity,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Striker:
    """A player who aims, strikes at ``strike_s`` and straightens up again.

    ``ball_mm`` (3,) the ball's centre; ``direction_deg`` of the shot; ``speed_mm_s`` of the cue at the ball.
    ``push_s`` and ``push_mm``: how long and how far the tip stays at the ball in a push.
    """

    table: TableSpec
    ball_mm: F64
    direction_deg: float
    speed_mm_s: float
    side: float
    top: float
    strike_s: float
    aim_s: float
    follow_mm: float
    wardrobe: Wardrobe
    rest_stick: bool = False
    push_s: float = 0.0
    push_mm: float = 0.0

    def capsules(self, t_s: float) -> tuple[Capsule, ...]:
        arrive, leave = 0.7, 1.1
        begins, ends = self.strike_s - self.aim_s - arrive, self.strike_s + self.push_s + 0.35 + leave
        if not begins <= t_s <= ends or self.aim_s <= 0:
            return ()
        # 0: stands away, 1: down on the shot.
        down = _eased((t_s - begins) / arrive) if t_s < self.strike_s else 1 - _eased((t_s - ends + leave) / leave)
        return self._pose(self._tip_gap_mm(t_s), 1 - down)

    def _tip_gap_mm(self, t_s: float) -> float:
        """How far the tip is short of the point where it meets the ball (negative: past it)."""
        left = self.strike_s - t_s
        pull = float(np.clip(0.05 * self.speed_mm_s, 70.0, 240.0))
        # The last forward swing is evenly accelerated from the pull to the strike's speed.
        swing_s = 2 * pull / max(self.speed_mm_s, 300.0)
        if left <= 0:
            if self.push_s > 0 and -left < self.push_s:
                return -self.push_mm * (-left / self.push_s)
            late = -left - self.push_s
            glide_s = 2 * self.follow_mm / max(self.speed_mm_s, 300.0)
            return -self.push_mm - self.follow_mm * (1 - max(0.0, 1 - late / max(glide_s, 0.05)) ** 2)
        if left < swing_s:
            u = left / swing_s
            return pull * (1 - (1 - u) ** 2)
        if left < swing_s + 0.15:
            return pull
        if left < swing_s + 0.15 + 0.4:
            return 15.0 + (pull - 15.0) * _eased((swing_s + 0.55 - left) / 0.4)
        # Feathering.
        return 15.0 + 0.3 * pull * (1 - math.cos((left - swing_s - 0.55) * 2 * math.pi / 0.8)) / 2

    def _pose(self, gap_mm: float, away: float) -> tuple[Capsule, ...]:
        a = math.radians(self.direction_deg)
        ahead = np.array([math.cos(a), math.sin(a), 0.0])
        right = np.array([math.sin(a), -math.cos(a), 0.0])
        radius = self.table.ball_radius_mm
        lift = self._lift_rad(ahead)
        along = ahead * math.cos(lift) + np.array([0.0, 0.0, -math.sin(lift)])
        offset = right * self.side * radius + np.array([0.0, 0.0, self.top * radius])
        depth = math.sqrt(max(1 - self.side**2 - self.top**2, 0.1)) * radius
        meets = self.ball_mm + offset - along * depth
        # Someone who stands up takes cue and bridge back and off the table.
        retreat = -ahead * 650.0 * away + np.array([0.0, 0.0, 320.0 * away])
        tip = meets - along * max(gap_mm, -self.follow_mm - self.push_mm) + retreat
        butt = tip - along * CUE_LENGTH_MM
        w = self.wardrobe
        parts = [_rod(tip, butt, 6.0, 14.0, w.cue, "cue")]
        grip = tip - along * (CUE_LENGTH_MM - 250.0)
        trunk_low = grip - ahead * 350.0 + right * 160.0
        trunk_low[2] = 150.0 + 250.0 * away
        head = self.ball_mm - ahead * (820.0 + 450.0 * away) + right * 40.0
        head[2] = 420.0 + 420.0 * away + 0.25 * 820 * math.tan(lift)
        chest = head - ahead * 260.0 + right * 90.0
        chest[2] = head[2] - 130.0
        shoulder_front = chest - right * 190.0
        shoulder_back = chest + right * 150.0
        parts.append(_rod(chest, trunk_low, _TRUNK_MM, _TRUNK_MM + 20, w.shirt, "body"))
        parts.append(_rod(head, head + np.array([0.0, 0.0, 35.0]), _HEAD_MM - 15, _HEAD_MM, w.hair, "head"))
        elbow = grip + np.array([0.0, 0.0, 260.0]) + right * 30.0
        parts.append(_rod(shoulder_back, elbow, _ARM_MM + 8, _ARM_MM, w.shirt, "arm"))
        parts.append(_rod(elbow, grip, _ARM_MM - 6, 34.0, w.sleeve, "arm"))
        parts.append(_rod(grip - along * 40, grip + along * 40, _HAND_MM, _HAND_MM, w.skin, "hand"))
        if self.rest_stick:
            crotch = meets - along * 190.0 + retreat
            crotch[2] = max(crotch[2] - 12.0, 15.0)
            end = crotch - ahead * 1400.0 - right * 120.0
            end[2] = 110.0 + 200 * away
            parts.append(_rod(crotch, end, 9.0, 12.0, w.cue, "rest"))
        else:
            bridge = meets - along * 210.0 + retreat
            bridge[2] = max(bridge[2] - 8.0, 26.0) + 200.0 * away
            wrist = bridge - ahead * 150.0 - right * 60.0 + np.array([0.0, 0.0, 45.0])
            parts.append(_rod(bridge, wrist, 30.0, 36.0, w.skin, "hand"))
            for forward, aside in ((70.0, -45.0), (55.0, 30.0)):
                finger = bridge + ahead * forward + right * aside - np.array([0.0, 0.0, 8.0])
                parts.append(_rod(bridge, finger, 14.0, 10.0, w.skin, "hand"))
            parts.append(_rod(wrist, shoulder_front, _ARM_MM - 8, _ARM_MM + 8, w.sleeve, "arm"))
        return tuple(parts)

    def _lift_rad(self, ahead: F64) -> float:
        """How steeply the butt must rise to clear the rail behind the ball."""
        back = -ahead
        reach = math.inf
        for axis, size in ((0, self.table.length_mm), (1, self.table.width_mm)):
            if abs(back[axis]) > 1e-6:
                edge = size if back[axis] > 0 else 0.0
                reach = min(reach, (edge - float(self.ball_mm[axis])) / float(back[axis]))
        if reach > CUE_LENGTH_MM:
            return math.radians(3.0)
        clear = self.table.nose_height_mm + 22.0 - float(self.ball_mm[2])
        return min(max(math.atan2(clear, max(reach, 30.0)), math.radians(3.0)), math.radians(38.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reacher:
    """A hand that comes over the nearest long rail, goes where ``hand_mm`` says, and leaves.

    ``hand_mm(t)`` (3,) the palm's place between ``from_s`` and ``to_s``; ``shoulder_mm`` (3,) outside the rail.
    """

    from_s: float
    to_s: float
    hand_mm: Callable[[float], F64]
    shoulder_mm: F64
    wardrobe: Wardrobe
    leave_s: float = 0.6

    def capsules(self, t_s: float) -> tuple[Capsule, ...]:
        arrive = self.leave_s
        if not self.from_s - arrive <= t_s <= self.to_s + self.leave_s:
            return ()
        inside = min(max(t_s, self.from_s), self.to_s)
        palm = self.hand_mm(inside)
        out = 0.0
        if t_s < self.from_s:
            out = _eased((self.from_s - t_s) / arrive)
        elif t_s > self.to_s:
            out = _eased((t_s - self.to_s) / self.leave_s)
        home = self.shoulder_mm - np.array([0.0, 0.0, 150.0])
        palm = palm + (home - palm) * out + np.array([0.0, 0.0, 120.0 * math.sin(math.pi * out)])
        w = self.wardrobe
        toward = palm - self.shoulder_mm
        flat = np.array([toward[0], toward[1], 0.0])
        flat /= max(float(np.linalg.norm(flat)), 1e-6)
        wrist = palm - flat * 95.0 + np.array([0.0, 0.0, 40.0])
        elbow = (wrist + self.shoulder_mm) / 2 + np.array([0.0, 0.0, 70.0])
        across = np.array([-flat[1], flat[0], 0.0])
        parts = [_rod(palm, wrist, _HAND_MM, _HAND_MM - 4, w.skin, "hand")]
        for spread in (-0.6, -0.1, 0.4):
            tip = palm + flat * 60.0 + across * spread * 70.0 - np.array([0.0, 0.0, 22.0])
            parts.append(_rod(palm, tip, 13.0, 9.0, w.skin, "hand"))
        parts.append(_rod(wrist, elbow, 32.0, _ARM_MM - 4, w.sleeve, "arm"))
        parts.append(_rod(elbow, self.shoulder_mm, _ARM_MM, _ARM_MM + 12, w.shirt, "arm"))
        low = self.shoulder_mm - flat * 160.0 - np.array([0.0, 0.0, 350.0])
        parts.append(_rod(self.shoulder_mm - flat * 130.0, low, _TRUNK_MM - 10, _TRUNK_MM + 10, w.shirt, "body"))
        return tuple(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Triangle:
    """The rack's frame, round the apex-first triangle whose corners ``corners_mm(t)`` (3, 3) gives."""

    from_s: float
    to_s: float
    corners_mm: Callable[[float], F64]
    colour: Bgr = (0.08, 0.1, 0.12)

    def capsules(self, t_s: float) -> tuple[Capsule, ...]:
        if not self.from_s <= t_s <= self.to_s:
            return ()
        c = self.corners_mm(t_s)
        return tuple(_rod(c[k], c[(k + 1) % 3], 12.0, 12.0, self.colour, "triangle") for k in range(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaner:
    """Somebody who leans ``reach_mm`` over a rail for a while, without touching anything."""

    table: TableSpec
    side: Cushion
    along_mm: float
    reach_mm: float
    from_s: float
    to_s: float
    wardrobe: Wardrobe

    def capsules(self, t_s: float) -> tuple[Capsule, ...]:
        ramp = min(0.6, (self.to_s - self.from_s) / 3)
        if not self.from_s <= t_s <= self.to_s:
            return ()
        over = _eased((t_s - self.from_s) / ramp) * _eased((self.to_s - t_s) / ramp)
        inward, foot = rail_frame(self.table, self.side, self.along_mm, out_mm=330.0)
        along = np.array([-inward[1], inward[0], 0.0])
        hips = foot + np.array([0.0, 0.0, 60.0])
        chest = foot + inward * (330.0 + self.reach_mm) * over * 0.72 + np.array([0.0, 0.0, 520.0 - 180.0 * over])
        head = chest + inward * (230.0 * over + 20.0) + np.array([0.0, 0.0, 150.0 - 90.0 * over])
        palm = foot + inward * ((330.0 + self.reach_mm) * over) + along * 190.0 + np.array([0.0, 0.0, 170.0])
        w = self.wardrobe
        shoulders = (chest + along * 180.0, chest - along * 180.0)
        return (
            _rod(chest, hips, _TRUNK_MM, _TRUNK_MM + 25, w.shirt, "body"),
            _rod(head, head + inward * 30.0, _HEAD_MM, _HEAD_MM - 10, w.hair, "head"),
            _rod(shoulders[0], palm, _ARM_MM + 8, 34.0, w.sleeve, "arm"),
            _rod(palm, palm + inward * 70.0, _HAND_MM, 18.0, w.skin, "hand"),
            _rod(shoulders[1], hips - along * 230.0 + np.array([0.0, 0.0, 260.0]), _ARM_MM + 8, 40.0, w.sleeve, "arm"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Walker:
    """Somebody who walks along outside a rail."""

    table: TableSpec
    side: Cushion
    from_mm: float
    to_mm: float
    out_mm: float
    from_s: float
    to_s: float
    wardrobe: Wardrobe

    def capsules(self, t_s: float) -> tuple[Capsule, ...]:
        if not self.from_s <= t_s <= self.to_s:
            return ()
        u = (t_s - self.from_s) / (self.to_s - self.from_s)
        _, foot = rail_frame(self.table, self.side, self.from_mm + (self.to_mm - self.from_mm) * u, out_mm=self.out_mm)
        sway = np.array([0.0, 0.0, 12.0 * math.sin(t_s * 9.0)])
        chest = foot + np.array([0.0, 0.0, 520.0]) + sway
        head = chest + np.array([0.0, 0.0, 300.0])
        w = self.wardrobe
        return (
            _rod(chest, foot - np.array([0.0, 0.0, 400.0]), _TRUNK_MM + 20, _TRUNK_MM, w.shirt, "body"),
            _rod(head, head + np.array([0.0, 0.0, 40.0]), _HEAD_MM - 10, _HEAD_MM, w.hair, "head"),
        )


def rail_frame(table: TableSpec, side: Cushion, along_mm: float, *, out_mm: float) -> tuple[F64, F64]:
    """Unit vector into the table, and the point ``out_mm`` outside a cushion at ``along_mm`` from its low end."""
    return {
        Cushion.RIGHT: (np.array([0.0, 1.0, 0.0]), np.array([along_mm, -out_mm, 0.0])),
        Cushion.LEFT: (np.array([0.0, -1.0, 0.0]), np.array([along_mm, table.width_mm + out_mm, 0.0])),
        Cushion.HEAD: (np.array([1.0, 0.0, 0.0]), np.array([-out_mm, along_mm, 0.0])),
        Cushion.FOOT: (np.array([-1.0, 0.0, 0.0]), np.array([table.length_mm + out_mm, along_mm, 0.0])),
    }[side]


def shoulder_for(table: TableSpec, x_mm: float, y_mm: float) -> F64:
    """Where a person stands who reaches for a place: at the nearest rail, a step aside."""
    gaps = {
        Cushion.RIGHT: y_mm, Cushion.LEFT: table.width_mm - y_mm,
        Cushion.HEAD: x_mm, Cushion.FOOT: table.length_mm - x_mm,
    }  # fmt: skip
    side = min(gaps, key=lambda c: gaps[c])
    along = x_mm if side in (Cushion.RIGHT, Cushion.LEFT) else y_mm
    _, foot = rail_frame(table, side, along - 120.0, out_mm=320.0)
    return np.asarray(foot + np.array([0.0, 0.0, 480.0]), np.float64)
