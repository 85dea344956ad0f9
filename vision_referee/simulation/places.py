"""Places on the table as a scene names them: words, lips, cushions, beside a ball; and whether they are free."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import numpy.typing as npt

from vision_referee.domain.errors import InputError
from vision_referee.domain.table import Cushion
from vision_referee.simulation import scene_file as sf
from vision_referee.simulation.aiming import lip_place
from vision_referee.simulation.rack import rack_places
from vision_referee.simulation.world import World

F64 = npt.NDArray[np.float64]


class Places:
    """Places on a world's table, at its present time; free ones are drawn by the scene's seed."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world = world
        self.table = world.table
        self.rng = rng

    def at(self, spec: sf.PlaceSpec) -> tuple[float, float]:
        """(x_mm, y_mm) of a place. Raises :class:`InputError` where there is none."""
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
                return self.somewhere(table.house_line_mm if spec == "house" else table.length_mm)
            case _:
                return (float(spec[0]), float(spec[1]))

    def somewhere(self, up_to_mm: float) -> tuple[float, float]:
        """A free place, drawn by the scene's seed."""
        margin = self.table.ball_radius_mm + 4.0
        taken = [self.world.motion(b).position_mm for b in self.world.on_bed()]
        for _ in range(2000):
            x = float(self.rng.uniform(margin, up_to_mm - margin))
            y = float(self.rng.uniform(margin, self.table.width_mm - margin))
            if all(math.hypot(x - p[0], y - p[1]) > self.table.ball_diameter_mm + 4 for p in taken):
                return (x, y)
        raise InputError("there is no free place left on the table")

    def beside(self, label: str, start: F64, by_mm: tuple[float, float]) -> tuple[float, float]:
        """Where a push of that length ends on a free place, in that direction or the next that will do."""
        margin = self.table.ball_radius_mm + 2.0
        for turn in np.linspace(0, 2 * math.pi, 16, endpoint=False):
            c, s = math.cos(turn), math.sin(turn)
            x = float(start[0]) + c * by_mm[0] - s * by_mm[1]
            y = float(start[1]) + s * by_mm[0] + c * by_mm[1]
            if not (margin < x < self.table.length_mm - margin and margin < y < self.table.width_mm - margin):
                continue
            with contextlib.suppress(InputError):
                self.check_free(label, x, y)
                return (x, y)
        raise InputError(f"there is no free place beside ball {label}")

    def named(self, label: str) -> str:
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

    def check_free(self, label: str, x: float, y: float) -> None:
        """Raises InputError where another ball, or no bed, is."""
        table = self.table
        if not (-60 < x < table.length_mm + 60 and -60 < y < table.width_mm + 60):
            raise InputError(f"ball {label} would lie at ({x:.0f}, {y:.0f}), which is not on the table {table.name}")
        for other in self.world.on_bed():
            at = self.world.motion(other).position_mm
            if other != label and math.hypot(x - at[0], y - at[1]) < table.ball_diameter_mm - 0.1:
                raise InputError(f"ball {label} would lie in ball {other} at ({x:.0f}, {y:.0f})")

    def rack(self, rack: sf.Rack) -> dict[str, tuple[float, float]]:
        """Where each ball of a rack stands."""
        places = rack_places(self.table, rng=self.rng, gap_mm=rack.gap_mm, order=rack.order)
        return {k: (x + rack.off_mm[0], y + rack.off_mm[1]) for k, (x, y) in places.items()}
