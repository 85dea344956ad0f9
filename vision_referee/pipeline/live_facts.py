"""What the people at the table want to know at this moment: hanging balls, balls to put back, the shot clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from vision_referee.calibration.calibration import Calibration
from vision_referee.domain.events import (
    BallAt,
    Event,
    Hanging,
    Identified,
    Moved,
    PickedUp,
    Placed,
    Pocketed,
    Racked,
    Rest,
    Strike,
)
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.events.line import BallNow
from vision_referee.rules.state import GameState
from vision_referee.video.camera_feed import FeedState

HANGING_SHOWN_S = 3.0
"""How long a hanging ball's count stays on the screen after its end."""


class Phase(StrEnum):
    SEARCHING = "searching"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class HangingNow:
    """``since_s``: the end of the stroke that left it there; ``for_s``: how long it has hung."""

    ball: str
    pocket: PocketName
    since_s: float
    for_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotClockNow:
    left_s: float
    limit_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """A ball that has to go to (``x``, ``y``) mm; ``now``: where it is, None while it is nowhere to be seen."""

    ball: str
    x: float
    y: float
    now: tuple[float, float] | None
    go_mm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveNow:
    """The match at time ``t_s``. ``reason`` says why there is no table; ``delay_ms`` how old the newest balls are."""

    t_s: float
    phase: Phase
    reason: str
    camera: FeedState
    delay_ms: float
    table: TableSpec
    calibration: Calibration | None
    balls: tuple[BallNow, ...]
    numbers: dict[str, str]
    """What a ball's label reads where its number was learned later."""
    moving: bool
    hanging: tuple[HangingNow, ...]
    hanging_s: float
    """How long a hanging ball counts (G-16)."""
    shot_clock: ShotClockNow | None
    put_back: tuple[PutBack, ...]
    last: Ruling | None
    state: GameState | None


@dataclass(slots=True)
class LiveFacts:
    """Follows events and rulings; holds what is true since the last stroke."""

    rest_s: float = 0.0
    hanging: dict[str, tuple[PocketName, float]] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    strikes: int = 0
    _struck_s: float = -1.0
    _restored: dict[str, BallAt] = field(default_factory=dict)

    def hear(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case Rest():
                    # What still hangs is told again after it.
                    self.rest_s, self.hanging = event.t, {}
                case Hanging():
                    self.hanging[event.ball] = (event.pocket, self.rest_s)
                case Pocketed() | PickedUp() | Moved() | Placed():
                    self.hanging.pop(event.ball, None)
                case Strike():
                    self.strikes += 1
                    self._struck_s = event.t
                    self.hanging, self._restored = {}, {}
                case Racked():
                    self.hanging, self._restored = {}, {}
                case Identified():
                    self.numbers[event.ball] = str(event.number)
                case _:
                    pass

    def ruled(self, rulings: Sequence[Ruling]) -> None:
        """All rulings as they stand: what was to be put back since the last strike."""
        recent = [r for r in rulings if r.t_end >= self._struck_s and r.restored]
        self._restored = {ball.ball: ball for ruling in recent for ball in ruling.restored}

    def hanging_now(self, state: GameState | None, t_s: float, hanging_s: float) -> tuple[HangingNow, ...]:
        """The rules say since when each ball hangs; where there are none, the last rest does."""
        hanging = self.hanging
        if state is not None:
            hanging = {ball: (h.pocket, h.since_s) for ball, h in state.hanging.items() if ball in self.hanging}
        return tuple(
            HangingNow(ball=ball, pocket=pocket, since_s=since, for_s=max(0.0, t_s - since))
            for ball, (pocket, since) in hanging.items()
            if t_s - since <= hanging_s + HANGING_SHOWN_S
        )

    def put_back(self, balls: Sequence[BallNow]) -> tuple[PutBack, ...]:
        """Each ball to be put back with where it is: by its label where it is seen, else the nearest ball that has none
        (a ball that a hand has moved gets its label back a moment after it lies still)."""
        places = {ball.label: (ball.x_mm, ball.y_mm) for ball in balls if ball.label is not None and ball.seen}
        nameless = [(ball.x_mm, ball.y_mm) for ball in balls if ball.label is None]
        found: list[PutBack] = []
        for target in self._restored.values():
            aim = (target.x, target.y)
            now = places.get(target.ball)
            if now is None and nameless:
                now = min(nameless, key=lambda place: math.dist(place, aim))
                nameless.remove(now)
            go = None if now is None else math.dist(now, aim)
            found.append(PutBack(ball=target.ball, x=target.x, y=target.y, now=now, go_mm=go))
        return tuple(found)


def shot_clock_now(state: GameState | None, t_s: float, limit_s: float) -> ShotClockNow | None:
    """The time left for the next stroke (G-19); None while the clock is off."""
    if state is None or state.clock_on_s is None:
        return None
    spent = max(0.0, t_s - max(state.clock_on_s, state.clock_from_s))
    return ShotClockNow(left_s=max(0.0, limit_s - spent), limit_s=limit_s)
