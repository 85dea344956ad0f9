"""A tracklet: sightings that are surely one ball. Linking makes balls of tracklets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from vision_referee.tracking.number_evidence import NumberEvidence

F64 = npt.NDArray[np.float64]


class Mode(StrEnum):
    REST = "rest"
    ROLLING = "rolling"


@dataclass(slots=True)
class Sightings:
    """n sightings in time order: ``t_s`` (n,), ``frame`` (n,), ``xy_mm`` (n, 2), ``sigma_mm`` (n,), ``confidence``
    (n,)."""

    t_s: F64
    frame: npt.NDArray[np.int64]
    xy_mm: F64
    sigma_mm: F64
    confidence: F64

    def __len__(self) -> int:
        return len(self.t_s)

    def part(self, keep: npt.NDArray[np.bool_] | slice) -> Sightings:
        return Sightings(
            t_s=self.t_s[keep],
            frame=self.frame[keep],
            xy_mm=self.xy_mm[keep],
            sigma_mm=self.sigma_mm[keep],
            confidence=self.confidence[keep],
        )

    @staticmethod
    def joined(parts: list[Sightings]) -> Sightings:
        """All of ``parts`` in time order; of two sightings in one frame the first part's is kept."""
        if not parts:
            return Sightings(np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        frame = np.concatenate([p.frame for p in parts])
        _, first = np.unique(frame, return_index=True)
        return Sightings(
            t_s=np.concatenate([p.t_s for p in parts])[first],
            frame=frame[first],
            xy_mm=np.concatenate([p.xy_mm for p in parts])[first],
            sigma_mm=np.concatenate([p.sigma_mm for p in parts])[first],
            confidence=np.concatenate([p.confidence for p in parts])[first],
        )


@dataclass(slots=True)
class Tracklet:
    """Grows while its ball is seen. ``key`` is unique in a run; ``ball`` is the ball it was linked to, once known."""

    key: int
    t_s: list[float] = field(default_factory=list)
    frame: list[int] = field(default_factory=list)
    x_mm: list[float] = field(default_factory=list)
    y_mm: list[float] = field(default_factory=list)
    sigma_mm: list[float] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    numbers: NumberEvidence = field(default_factory=NumberEvidence)
    colour_sum: F64 = field(default_factory=lambda: np.zeros(3))
    colour_n: int = 0
    ball: int | None = None

    def __len__(self) -> int:
        return len(self.t_s)

    def add(
        self, *, t_s: float, frame: int, xy_mm: F64, sigma_mm: float, confidence: float, number_p: F64, colour: F64
    ) -> None:
        self.t_s.append(t_s)
        self.frame.append(frame)
        self.x_mm.append(float(xy_mm[0]))
        self.y_mm.append(float(xy_mm[1]))
        self.sigma_mm.append(sigma_mm)
        self.confidence.append(confidence)
        self.numbers.see(xy_mm, number_p)
        self.colour_sum += colour
        self.colour_n += 1

    def sightings(self) -> Sightings:
        return Sightings(
            t_s=np.array(self.t_s),
            frame=np.array(self.frame, np.int64),
            xy_mm=np.column_stack([self.x_mm, self.y_mm]) if self.t_s else np.zeros((0, 2)),
            sigma_mm=np.array(self.sigma_mm),
            confidence=np.array(self.confidence),
        )

    def forget_before(self, t_s: float, keep: int) -> None:
        """Drops sightings earlier than ``t_s``, but keeps the newest ``keep``: memory stays flat."""
        cut = 0
        while cut < len(self.t_s) - keep and self.t_s[cut] < t_s:
            cut += 1
        if cut:
            for values in (self.t_s, self.frame, self.x_mm, self.y_mm, self.sigma_mm, self.confidence):
                del values[:cut]

    @property
    def number_log(self) -> F64:
        """Summed log-evidence (17,) for cue, 1..15; column 16 tells how many views' worth it is."""
        return self.numbers.log()

    @property
    def colour(self) -> F64:
        """Mean CIELAB colour (3,)."""
        return self.colour_sum / max(self.colour_n, 1)
