"""What the explanations of one window share: the paths, and which of their breaks are already explained."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision_referee.domain.events import VisionEvent
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.events.settings import EventSettings
from vision_referee.tracking.cover import CoverLog
from vision_referee.tracking.paths import BallPath

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A ball left play: into a pocket, or (``pocket`` None) off the table."""

    ball: int
    t_s: float
    pocket: PocketName | None
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Touching:
    """Two balls met at ``t_s``: ids, the unit vector from a to b, what each one's velocity changed by along it."""

    a: int
    b: int
    t_s: float
    xy_mm: F64
    normal: F64
    confidence: float
    a_started: bool
    b_started: bool
    bounced: bool = False
    """One of them came back off a cushion before it was seen again."""


@dataclass(slots=True)
class Scene:
    table: TableSpec
    settings: EventSettings
    start_s: float
    end_s: float
    paths: dict[int, BallPath]
    cover: CoverLog
    first: bool = False
    """Nothing was known before: every ball is new."""
    explained: set[tuple[int, int]] = field(default_factory=set)
    """(ball id, break index) that have a cause."""
    events: list[VisionEvent] = field(default_factory=list)
    departures: dict[int, Departure] = field(default_factory=dict)
    touchings: list[Touching] = field(default_factory=list)

    @property
    def diameter_mm(self) -> float:
        return self.table.ball_diameter_mm

    def label(self, ball: int) -> str:
        return self.paths[ball].label

    def attended(self, xy_mm: F64, t_s: float) -> bool | None:
        """Whether a cue, a hand or anything else was at a place (2,) about ``t_s``; None: the eye cannot tell."""
        cover = self.cover.near(xy_mm, t_s - self.settings.attended_s, t_s + 0.3)
        return None if cover is None else cover > self.settings.attended_cover

    def gone_s(self, ball: int) -> float:
        """From when on a ball is out of play (infinite: it is not)."""
        departure = self.departures.get(ball)
        return departure.t_s if departure is not None else float("inf")

    def motion_spans(self, ball: int) -> list[tuple[float, float]]:
        """Times (from, to) between which a ball moves, rests between them left out."""
        path = self.paths[ball]
        spans: list[tuple[float, float]] = []
        for i, leg in enumerate(path.legs):
            if leg.resting:
                continue
            begin = path.breaks[i - 1].t_s if i > 0 else leg.t0_s
            stop = path.stops.get(i)
            end = stop.t_s if stop is not None else path.breaks[i].t_s if i < len(path.breaks) else leg.t1_s
            end = min(end, self.gone_s(ball))
            if end <= begin:
                continue
            if spans and begin - spans[-1][1] < 0.02:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((begin, end))
        return spans
