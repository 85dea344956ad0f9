"""Setting the camera up by hand while it runs: marked corners, the head end, a name to save it by."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.saved import camera_file
from vision_referee.domain.errors import InputError
from vision_referee.pipeline.eye import TableWish, find_table
from vision_referee.video.frames import U8, Frame

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpWish:
    """``corners_px`` (4, 2) of the playing surface as a person marked them, None: where they were found; ``head``: the
    picture's side at which the head is, None: as it was; ``name``: to save it by, None: not saved."""

    corners_px: F64 | None = None
    head: str | None = None
    name: str | None = None


class SetUp:
    """Hands a calibration from the thread of the page to the thread that sees, and its answer back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: Calibration | None = None
        self._refusal: InputError | None = None
        self._answered = threading.Event()

    def calibrate(
        self, wish: SetUpWish, bgr: U8, t_s: float, table: TableWish, known: Calibration | None
    ) -> Calibration:
        """The calibration that the wish asks for, from the picture now. Raises InputError."""
        if wish.name:
            camera_file(wish.name)
        if wish.corners_px is None:
            if known is None:
                raise InputError("no table is found yet: mark its corners")
            return known.with_head(wish.head) if wish.head else known
        head = wish.head or (known.head_side if known is not None and known.head_known else table.head)
        spec = table.table or (known.table if known is not None else None)
        return find_table(
            [Frame(index=-1, t_s=t_s, picture=bgr)], replace(table, table=spec, head=head), wish.corners_px
        )

    def hand_over(self, made: Calibration, *, timeout_s: float) -> None:
        """Wait until it is taken. Raises InputError when it is refused, or the camera gives no picture."""
        with self._lock:
            self._answered.clear()
            self._made, self._refusal = made, None
            taken = self._answered.wait(timeout_s)
            self._made = None
            if not taken:
                raise InputError("the camera gives no picture at the moment; try again")
            if self._refusal is not None:
                raise self._refusal

    def waiting(self) -> Calibration | None:
        """What a person has set up and nobody has answered yet."""
        return None if self._answered.is_set() else self._made

    def taken(self) -> Calibration | None:
        """The same, and the answer is yes."""
        made = self.waiting()
        if made is not None:
            self.answer(None)
        return made

    def answer(self, refusal: InputError | None) -> None:
        self._refusal = refusal
        self._answered.set()
