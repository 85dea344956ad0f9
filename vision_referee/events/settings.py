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
    gone_s: float = 0.6
    """A resting ball is gone when its place has been bare cloth for so long."""
    gone_blind_s: float = 8.0
    """A ball that is unseen for so long is gone even where it is not known what is in front of it."""
    placed_s: float = 0.8
    """A ball that appears between strokes is said to be placed once it has been seen so long."""
    creep_mm_s: float = 80.0
    """A recording that ends while the last ball is slower than this ends with a (doubtful) rest."""
    attended_s: float = 0.8
    """How long before a touch what touched may have been seen at the ball (a cue is thin, and some frames lose it)."""
    attended_cover: float = 0.15
    """Share of a cell beside the ball that must have been covered then."""
