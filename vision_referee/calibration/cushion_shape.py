"""What cushions usually look like from above: how broad their cloth-covered tops are, how high the rail stands."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import TableSpec

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CushionShape:
    """A prior: ``breadth_mm`` from the nose to the rail's inner edge, ``breadth_spread`` one standard deviation of its
    logarithm; ``rise_mm`` of that edge above the nose and its standard deviation ``rise_spread_mm``."""

    breadth_mm: float
    breadth_spread: float
    rise_mm: float
    rise_spread_mm: float

    def breadths_mm(self) -> F64:
        """Breadths (n,) worth trying, over two standard deviations to either side."""
        reach = 2.0 * self.breadth_spread
        return np.asarray(self.breadth_mm * np.exp(np.linspace(-reach, reach, 2 + round(reach / 0.05))), np.float64)

    def few_breadths_mm(self) -> tuple[float, ...]:
        """Three breadths near enough to any likely one to begin from."""
        return tuple(self.breadth_mm * math.exp(step * self.breadth_spread) for step in (-1.0, 0.0, 1.0))

    def rises_mm(self) -> F64:
        """Rises (4,) worth trying, from none on."""
        return np.asarray(np.linspace(0.0, self.rise_mm + 1.5 * self.rise_spread_mm, 4), np.float64)


def usual_cushions(table: TableSpec, *, size_known: bool) -> CushionShape:
    """What to expect on a table of this size; where the size is a mere assumption, in shares of the length and wider.

    A cushion is made of the same rubber whatever the table's length: some 35 to 65 mm from the nose to the rail,
    which stands a few millimetres above the nose.
    """
    if size_known:
        return CushionShape(breadth_mm=48.0, breadth_spread=0.20, rise_mm=4.0, rise_spread_mm=4.0)
    # The table may be as short as half of what it is taken for: the same cushion then looks twice as broad.
    length = table.length_mm
    return CushionShape(
        breadth_mm=0.0185 * length, breadth_spread=0.34, rise_mm=0.0018 * length, rise_spread_mm=0.002 * length
    )
