"""What the detector can be tuned by, each with what it trades."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorSettings:
    """``threshold``: lower finds more and invents more; tracking sorts out short-lived inventions.

    Input sizes are areas in network pixels: larger sees smaller balls and costs in proportion.
    """

    threshold: float = 0.30
    moving_pixels: int = 640 * 352
    moving_least_ball_px: float = 10.0
    moving_most_pixels: int = 960 * 544
    fine_pixels: int = 960 * 544
    fine_least_ball_px: float = 13.0
    fine_most_pixels: int = 1280 * 736
    look_again: float = 0.15
    """Boxes down to this score are worth a second, closer look."""
    second_looks: int = 4
    """At most so many in a frame; each costs a tenth of the first."""
    least_size: float = 0.55
    """Least and greatest width of a box against the width a ball has at that place."""
    greatest_size: float = 1.75
    least_apart: float = 0.62
    """Two boxes closer than this part of a ball's diameter on the cloth are one ball; the surer one stays."""
    off_cloth: float = 0.55
    """Confidence is taken times this for what lies on the rails: chalk and the like lie there, balls seldom."""
    streak: float = 1.28
    """A box this much longer than a ball is a motion streak."""
    threads: int = 2
    read_all: bool = False
    """Every number in every frame, for a single picture; else those whose turn it is."""
    least_number_px: float = 7.0
    """Radius below which no number is legible."""
    numbers: bool = True
    occluders: bool = True
