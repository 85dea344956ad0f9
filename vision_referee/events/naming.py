"""The cue ball where neither colour nor number tells it: it is the ball that is struck first.

Until then what was seen is held back (for a while), so that the ball has one name from the beginning.
"""

from __future__ import annotations

from dataclasses import replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import BallAt, Contact, Hanging, Racked, Rest, VisionEvent
from vision_referee.tracking.tracks import TrackRow


def renamed_row(row: TrackRow, old: str, new: str) -> TrackRow:
    """The row under the ball's new label."""
    return replace(row, ball=new) if row.ball == old else row


def renamed_event(event: VisionEvent, old: str, new: str) -> VisionEvent:
    """The event under the ball's new label, wherever it names the ball."""
    match event:
        case Contact(balls=(a, b)):
            return replace(event, balls=(new if a == old else a, new if b == old else b))
        case Rest() | Racked():
            return replace(event, balls=tuple(_renamed_place(b, old, new) for b in event.balls))
        case Hanging(ball=ball) if ball == old:
            return replace(event, ball=new)
        case _:
            if getattr(event, "ball", None) == old:
                return replace(event, ball=new)  # type: ignore[arg-type]
            return event


def _renamed_place(place: BallAt, old: str, new: str) -> BallAt:
    return replace(place, ball=new) if place.ball == old else place


def is_unknown(label: str) -> bool:
    """Whether a label says nothing of which ball it is."""
    return label != CUE and not label.isdigit()
