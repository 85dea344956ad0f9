"""What tracking can be tuned by, each with what it trades. Lengths are in ball diameters: they carry over between
tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackingSettings:
    min_confidence: float = 0.13
    """Detections below are not looked at: lower finds half-hidden balls, higher keeps out false ones."""
    duplicate_diameters: float = 0.55
    """Two detections nearer than this are one ball: two real centres cannot be nearer than one diameter."""
    outside_diameters: float = 1.6
    """Detections farther outside the cushion noses are not balls in play (rails, floor)."""
    rest_gate_diameters: float = 0.3
    """How far a detection may lie from a resting ball and be it. Wider follows soft starts, narrower keeps
    neighbours of a broken rack apart."""
    gate_diameters: float = 0.45
    """Upper bound of a moving ball's gate; half a diameter would let it take its neighbour."""
    gate_sigmas: float = 4.0
    acceleration_mm_s2: float = 2500.0
    """Standard deviation of what braking and sliding do to a ball between two frames (sliding: 0.2 g)."""
    top_speed_mm_s: float = 13000.0
    """Nothing on a table is faster; bounds the search for the next sighting of a fast ball."""
    coast_s: float = 0.3
    """A moving ball that is not seen ends its tracklet after this; linking decides later where it went on."""
    start_span_frames: int = 6
    """How many frames back the first three sightings of a new tracklet may lie."""
    still_min_s: float = 0.35
    still_max_s: float = 1.0
    """A ball is called still over a span between these, the longer the noisier its positions."""
    still_speed_mm_s: float = 7.0
    """Slower than this over that span is still. At 100 mm/s2 of braking such a ball stops within 0.07 s."""
    window_max_s: float = 45.0
    """A stroke that has not ended by then is cut off, so that memory stays flat."""
    quiet_chunk_s: float = 1.0
    """How often rows are handed on while nothing moves."""
    rest_memory: int = 90
    """How many of its newest sightings a resting ball keeps."""
