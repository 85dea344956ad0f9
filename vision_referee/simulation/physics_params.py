"""What varies from table to table and set to set: friction, restitution. SI-free: ratios only, so no units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GRAVITY_MM_S2 = 9810.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicsParams:
    """Coefficients of pooltool's models.

    The defaults are a medium cloth and phenolic balls: sliding 0.2 and rolling 0.01 (Marlow; Alciatore's collected
    figures), ball on ball 0.95, cushion 0.85 before the nose's height and spin take their share.
    """

    sliding_friction: float = 0.2
    rolling_friction: float = 0.010
    spin_friction: float = 0.444
    """Of a ball that spins in place, with the radius factored out (pooltool's ``u_sp_proportionality``, 1/m)."""
    ball_restitution: float = 0.95
    cushion_restitution: float = 0.85
    cushion_friction: float = 0.2


def random_params(rng: np.random.Generator) -> PhysicsParams:
    """From new to worn cloth, dead to lively cushions."""
    return PhysicsParams(
        sliding_friction=float(rng.uniform(0.14, 0.26)),
        rolling_friction=float(rng.uniform(0.006, 0.016)),
        spin_friction=float(rng.uniform(0.3, 0.6)),
        ball_restitution=float(rng.uniform(0.90, 0.97)),
        cushion_restitution=float(rng.uniform(0.74, 0.9)),
        cushion_friction=float(rng.uniform(0.14, 0.26)),
    )
