"""Balls measured in one frame, before they are told on: what can be kept from frame to frame."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp] | Bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighted:
    """n balls. ``boxes_px`` (n, 4) and ``scores`` (n,) as the network gave them; the rest as in ``Detections``;
    ``sharp`` (n,): the outline was found, so that size and colour can be learned from it; ``support`` (n,) 0..1: how
    much of it."""

    boxes_px: F64
    scores: F64
    xy_px: F64
    r_px: F64
    confidence: F64
    xy_mm: F64
    sigma_mm: F64
    colour: F64
    blur_px: F64
    sharp: Bool
    support: F64

    def __len__(self) -> int:
        return len(self.scores)

    @staticmethod
    def none() -> Sighted:
        z = np.zeros
        return Sighted(
            boxes_px=z((0, 4)), scores=z(0), xy_px=z((0, 2)), r_px=z(0), confidence=z(0), xy_mm=z((0, 2)),
            sigma_mm=z(0), colour=z((0, 3)), blur_px=z(0), sharp=z(0, bool), support=z(0),
        )  # fmt: skip

    def take(self, index: Index) -> Sighted:
        """Only these balls."""
        return Sighted(**{f.name: getattr(self, f.name)[index] for f in fields(self)})

    def joined(self, other: Sighted) -> Sighted:
        """These balls, then the other ones."""
        if not len(other):
            return self
        return Sighted(
            **{f.name: np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)}
        )
