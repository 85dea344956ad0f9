"""What the renderer draws at one instant: balls, things in the way, and the look of the hall. Table frame, mm."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Bgr = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class BallPose:
    """A ball: ``label`` as in the contract; ``number`` what is printed on it (None: nothing; 0: the cue ball).

    ``centre_mm`` (3,), ``rotation`` (3, 3) ball frame to table frame, ``velocity_mm_s`` (3,), ``spin_rad_s`` (3,).
    """

    label: str
    number: int | None
    centre_mm: F64
    rotation: F64
    velocity_mm_s: F64 = field(default_factory=lambda: np.zeros(3))
    spin_rad_s: F64 = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """A tapered rod with round ends: the building stone of cues, rests, hands, arms, heads and bodies."""

    a_mm: F64
    b_mm: F64
    radius_a_mm: float
    radius_b_mm: float
    colour_bgr: Bgr
    kind: str = "cue"
    """cue, hand, arm, body, head, rest, triangle, chalk, other."""
    velocity_mm_s: F64 = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneFrame:
    """Everything that moves, at time ``t_s``. Balls absent from ``balls`` are in pockets or off the picture."""

    t_s: float
    balls: tuple[BallPose, ...]
    occluders: tuple[Capsule, ...] = ()
