"""What the events stage can be tuned by. Lengths in ball diameters where they scale with the picture."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSettings:
    contact_reach_diameters: float = 1.28
    """Two centres nearer than this may have touched; more than one for noise and for tables whose size is a guess."""
    cushion_reach_diameters: float = 1.15
    """A centre nearer than this to a nose line may have met the cushion (half a diameter in truth)."""
    strike_speed_mm_s: float = 60.0
    """A resting ball that nothing touched and that leaves faster than this was struck; slower, it was touched."""
    least_move_mm: float = 3.0
    """A resting ball that lies elsewhere afterwards by less than this (or its error) was not touched."""
    gone_s: float = 2.5
    """A resting ball that is not seen for so long, with nothing in front of it, was taken away."""
    gone_blind_s: float = 8.0
    """The same where it is not known what is in front of it."""
    placed_s: float = 0.8
    """A ball that appears between strokes is said to be placed once it has been seen so long."""
    creep_mm_s: float = 80.0
    """A recording that ends while the last ball is slower than this ends with a (doubtful) rest."""
