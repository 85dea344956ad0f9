"""What a table is: sizes, pockets, cushions, spots. All in the table frame, in millimetres.

Origin at the head-right corner of the playing surface, x toward the foot cushion, y toward the left
long cushion, z up from the cloth (see CONTRACT: Table frame).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class PocketName(StrEnum):
    HEAD_RIGHT = "head_right"
    HEAD_LEFT = "head_left"
    MIDDLE_RIGHT = "middle_right"
    MIDDLE_LEFT = "middle_left"
    FOOT_RIGHT = "foot_right"
    FOOT_LEFT = "foot_left"


class Cushion(StrEnum):
    HEAD = "head"
    FOOT = "foot"
    RIGHT = "right"
    LEFT = "left"


class Line(StrEnum):
    HOUSE = "house"
    CENTRE = "centre"
    FOOT = "foot"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pocket:
    """A pocket's mouth: the segment between its two jaw points (cushion noses' ends)."""

    name: PocketName
    jaw_a_mm: tuple[float, float]
    jaw_b_mm: tuple[float, float]
    inward: tuple[float, float]
    """Unit vector from the mouth into the table."""

    @property
    def mouth_mm(self) -> tuple[float, float]:
        """Middle of the mouth, (x_mm, y_mm)."""
        return ((self.jaw_a_mm[0] + self.jaw_b_mm[0]) / 2, (self.jaw_a_mm[1] + self.jaw_b_mm[1]) / 2)

    @property
    def width_mm(self) -> float:
        return math.dist(self.jaw_a_mm, self.jaw_b_mm)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table's dimensions. ``family`` is ``pyramid``, ``pool`` or ``snooker``."""

    name: str
    family: str
    length_mm: float
    width_mm: float
    ball_diameter_mm: float
    ball_mass_kg: float
    corner_mouth_mm: float
    middle_mouth_mm: float
    nose_height_mm: float
    """Height of the cushion nose above the cloth."""
    rail_width_mm: float = 130.0
    """From the nose to the rail's outer edge, for drawing and for 'on the rail'."""

    @property
    def ball_radius_mm(self) -> float:
        return self.ball_diameter_mm / 2

    @property
    def house_line_mm(self) -> float:
        """x of the house line (L/4); a centre exactly on it is outside the house (G-12)."""
        return self.length_mm / 4

    @property
    def foot_line_mm(self) -> float:
        return self.length_mm * 3 / 4

    @property
    def head_spot_mm(self) -> tuple[float, float]:
        return (self.length_mm / 4, self.width_mm / 2)

    @property
    def centre_spot_mm(self) -> tuple[float, float]:
        return (self.length_mm / 2, self.width_mm / 2)

    @property
    def foot_spot_mm(self) -> tuple[float, float]:
        return (self.length_mm * 3 / 4, self.width_mm / 2)

    def pockets(self) -> tuple[Pocket, ...]:
        """The six pockets in the order of :class:`PocketName`."""
        return _pockets(self)

    def pocket(self, name: PocketName) -> Pocket:
        return next(p for p in self.pockets() if p.name is name)


@cache
def _pockets(table: TableSpec) -> tuple[Pocket, ...]:
    length, width = table.length_mm, table.width_mm
    c = table.corner_mouth_mm / math.sqrt(2)
    m = table.middle_mouth_mm / 2
    d = 1 / math.sqrt(2)
    corners = {
        PocketName.HEAD_RIGHT: ((c, 0.0), (0.0, c), (d, d)),
        PocketName.HEAD_LEFT: ((0.0, width - c), (c, width), (d, -d)),
        PocketName.FOOT_RIGHT: ((length, c), (length - c, 0.0), (-d, d)),
        PocketName.FOOT_LEFT: ((length - c, width), (length, width - c), (-d, -d)),
    }
    middles = {
        PocketName.MIDDLE_RIGHT: ((length / 2 + m, 0.0), (length / 2 - m, 0.0), (0.0, 1.0)),
        PocketName.MIDDLE_LEFT: ((length / 2 - m, width), (length / 2 + m, width), (0.0, -1.0)),
    }
    every = corners | middles
    return tuple(
        Pocket(name=name, jaw_a_mm=every[name][0], jaw_b_mm=every[name][1], inward=every[name][2])
        for name in PocketName
    )
