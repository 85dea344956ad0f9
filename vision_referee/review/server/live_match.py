"""What the live pages ask of whoever referees the match that is being played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, runtime_checkable

from fastapi import Depends, HTTPException, Request

from vision_referee.review.server.desk import LiveMatch, MatchDesk
from vision_referee.review.server.pages import match_of

if TYPE_CHECKING:
    from vision_referee.calibration.calibration import Calibration
    from vision_referee.pipeline.live import Shown
    from vision_referee.pipeline.live_facts import LiveNow
    from vision_referee.pipeline.set_up import SetUpWish


@runtime_checkable
class WatchedMatch(LiveMatch, Protocol):
    """A match under a camera. Any thread may ask."""

    @property
    def folder(self) -> Path: ...

    def clock_s(self) -> float:
        """The match's time now."""

    def now(self) -> LiveNow: ...

    def picture(self) -> Shown | None:
        """The newest picture, None before the first."""

    def set_up(self, wish: SetUpWish) -> Calibration:
        """Watch by what a person has marked. Raises InputError."""


class Watched:
    """A match in the app together with whoever watches it."""

    def __init__(self, match: MatchDesk, live: WatchedMatch) -> None:
        self.match = match
        self.live = live


def watched_of(key: str, request: Request) -> Watched:
    match = match_of(key, request)
    if not isinstance(match.live, WatchedMatch):
        raise HTTPException(404)
    return Watched(match, match.live)


WatchedHere = Annotated[Watched, Depends(watched_of)]
