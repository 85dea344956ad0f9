"""What a confidence is worth: the finders' own figures, set right by how often such events were true.

Each knot is (confidence as the finder gives it, share of such events that were true), counted over 43 simulated clips
of development (seeds 740000 to 740003 rendered, 741000 to 741019 with sightings drawn from a model of the eye, a
quarter of them with people over the table; 1,099 events). Types that are not listed were true as often as said. To
renew them, run `vision-referee evaluate` on such clips: its reliability table counts the same; these are the shares by
type.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vision_referee.domain.events import VisionEvent

_KNOTS: dict[str, tuple[tuple[float, float], ...]] = {
    "contact": ((0.4, 0.4), (0.7, 0.78), (0.8, 0.82), (0.96, 0.95), (0.98, 0.98)),
    "cushion": ((0.5, 0.5), (0.8, 0.55), (0.9, 0.73), (0.945, 0.8), (0.97, 0.96), (0.98, 0.975)),
    "crossed": ((0.5, 0.2), (0.95, 0.5), (0.98, 0.95), (0.99, 0.96)),
}


def as_often_as_said(event: VisionEvent) -> VisionEvent:
    """The event with the confidence that such events earned."""
    knots = _KNOTS.get(event.type)
    if knots is None:
        return event
    said, true = zip(*knots, strict=True)
    return replace(event, confidence=round(float(np.interp(event.confidence, said, true)), 3))
