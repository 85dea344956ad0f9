"""Who is who: the balls of a run, their labels, and what is known of their numbers.

A label is given once and kept: ``cue``, a number when it was known at the time, else ``u1``, ``u2`` … A number learned
later is told apart (``newly_identified``). Numbers are unique, so they are solved as one assignment over the set.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision_referee.domain.balls import CUE
from vision_referee.domain.table import TableSpec
from vision_referee.tracking.mouths import nearest_mouth
from vision_referee.tracking.number_evidence import fair_log, number_marginals, number_posterior
from vision_referee.tracking.tracklets import Tracklet

F64 = npt.NDArray[np.float64]
_NO_NUMBER_LOG = -3.0
"""Log-evidence, against "all numbers alike", that a ball has none of them: it is no ball, or one counted twice."""
_COLOUR_WEIGHTS = np.array([0.4, 1.0, 1.0])
"""Of lightness, a and b: a ball in the shade of a cushion is darker, a dyed one has another hue."""
_PLAINLY_OTHER = 35.0
"""CIELAB distance of a dyed cue ball from white ones; lamps, shade and yellowed balls stay below it."""
_SURE = 0.95
"""Probability from which a number is told. A told number stays, so it had better be right."""


@dataclass(slots=True)
class Ball:
    """``id`` is unique in a run; ``label`` is empty until it is given. ``xy_mm`` is its last resting or seen place."""

    id: int
    xy_mm: F64
    seen_s: float
    label: str = ""
    on_table: bool = True
    number: int | None = None
    number_log: F64 = field(default_factory=lambda: np.zeros(17))
    colour_sum: F64 = field(default_factory=lambda: np.zeros(3))
    colour_n: int = 0
    away_since_s: float | None = None
    lost: bool = False
    """Sight of the table was lost (a cut, a camera that was gone) while it lay there."""
    counted: dict[int, tuple[F64, F64, int]] = field(default_factory=dict)
    """What each live tracklet has contributed so far, so that it is not counted twice."""

    def absorb(self, tracklet: Tracklet) -> None:
        """Adds a tracklet's evidence; called again later it adds only what is new."""
        old = self.counted.get(tracklet.key)
        if old is not None:
            self.number_log -= old[0]
            self.colour_sum -= old[1]
            self.colour_n -= old[2]
        self.number_log += tracklet.number_log
        self.colour_sum += tracklet.colour_sum
        self.colour_n += tracklet.colour_n
        self.counted[tracklet.key] = (tracklet.number_log.copy(), tracklet.colour_sum.copy(), tracklet.colour_n)

    def settle(self, live_keys: set[int]) -> None:
        """Forgets which finished tracklets were counted: memory stays flat."""
        self.counted = {k: v for k, v in self.counted.items() if k in live_keys}

    @property
    def colour(self) -> F64:
        return self.colour_sum / max(self.colour_n, 1)


@dataclass(slots=True)
class BallBook:
    """All balls of a run by id."""

    balls: dict[int, Ball] = field(default_factory=dict)
    _next_id: int = 0
    _next_u: int = 1
    _told: set[int] = field(default_factory=set)
    cue_guessed: bool = False
    """The cue ball's label rests on a slight difference of colour alone; the first stroke knows better."""

    def new(self, xy_mm: F64, seen_s: float) -> Ball:
        ball = Ball(id=self._next_id, xy_mm=xy_mm, seen_s=seen_s)
        self._next_id += 1
        self.balls[ball.id] = ball
        return ball

    def on_table(self) -> list[Ball]:
        return [b for b in self.balls.values() if b.on_table]

    def lose_sight(self, t_s: float) -> None:
        """Nobody looked at the table for a while: every ball on it will be known again by its place or its looks."""
        for ball in self.on_table():
            ball.on_table, ball.away_since_s, ball.lost = False, t_s, True

    def lying_again(self, xy_mm: F64, tracklets: list[Tracklet], within_mm: float) -> Ball | None:
        """The ball that lay here when sight was lost, if what lies here now looks like it."""
        near = [b for b in self.balls.values() if b.lost and float(np.hypot(*(b.xy_mm - xy_mm))) < within_mm]
        fitting = [b for b in near if _resembles(b, tracklets)]
        return min(fitting, key=lambda b: float(np.hypot(*(b.xy_mm - xy_mm))), default=None)

    def returning(self, tracklets: list[Tracklet]) -> Ball | None:
        """The ball off the table that a newly seen one most likely is: the last to leave of those it resembles."""
        away = [b for b in self.balls.values() if not b.on_table and b.away_since_s is not None]
        fitting = [b for b in away if _resembles(b, tracklets)]
        return max(fitting, key=lambda b: b.away_since_s or 0.0, default=None)

    def cue(self, table: TableSpec) -> Ball | None:
        """The cue ball as number reading or colour tell it; None in doubt.

        What lies in a pocket's mouth may be the net or the leather behind it: its colour names no cue ball.
        """
        named = next((b for b in self.balls.values() if b.label == CUE), None)
        if named is not None:
            return named
        balls = self.on_table()
        by_reading = _cue_by_reading(balls)
        self.cue_guessed = False
        clear = [b for b in balls if nearest_mouth(table, b.xy_mm)[1] > table.ball_radius_mm]
        if by_reading is not None:
            return by_reading
        by_colour, away = _cue_by_colour(clear, table.family)
        self.cue_guessed = by_colour is not None and away < _PLAINLY_OTHER
        return by_colour

    def name(self, cue: Ball | None) -> None:
        """Labels for those that have none yet; ``cue`` gets its own where it is still free."""
        if cue is not None and not cue.label and not any(b.label == CUE for b in self.balls.values()):
            cue.label = CUE
        numbers = self.solve_numbers()
        taken = {b.label for b in self.balls.values()}
        for ball in self.balls.values():
            if ball.label:
                continue
            number = numbers.get(ball.id)
            if number is not None and str(number) not in taken:
                ball.label, ball.number = str(number), number
                self._told.add(ball.id)
            else:
                ball.label = f"u{self._next_u}"
                self._next_u += 1
            taken.add(ball.label)

    def crown(self, struck: Ball) -> tuple[str, str]:
        """The first stroke was played with ``struck``: it is the cue ball, and not the one that was guessed.

        Returns the labels that were in use until now: the guessed one's new label (empty where none was guessed), and
        the one that ``struck`` had.
        """
        guessed = next((b for b in self.balls.values() if b.label == CUE), None)
        instead, before = "", struck.label
        if guessed is not None:
            instead = guessed.label = f"u{self._next_u}"
            self._next_u += 1
        struck.label, self.cue_guessed = CUE, False
        return instead, before

    def newly_identified(self) -> list[tuple[str, int]]:
        """(label, number) of balls whose number has become known since they were named; each is told once."""
        fresh = []
        used = {b.number for b in self.balls.values() if b.number is not None}
        for ball_id, number in self.solve_numbers().items():
            ball = self.balls[ball_id]
            if ball_id in self._told or ball.label == CUE or number in used:
                continue
            ball.number = number
            used.add(number)
            self._told.add(ball_id)
            fresh.append((ball.label, number))
        return fresh

    def solve_numbers(self) -> dict[int, int]:
        """Numbers by ball id, only those that are sure when all ways of giving the set's numbers to the balls are
        weighed against each other."""
        balls = [b for b in self.balls.values() if b.label != CUE and b.number is None and b.number_log[16] > 0]
        taken = {b.number for b in self.balls.values() if b.number is not None}
        free = [n for n in range(1, 16) if n not in taken]
        if not balls or not free:
            return {}
        chance = number_marginals(np.array([fair_log(b.number_log)[free] for b in balls]), _NO_NUMBER_LOG)
        best = chance[:, : len(free)].argmax(axis=1)
        return {ball.id: free[k] for ball, k, p in zip(balls, best.tolist(), chance, strict=True) if p[k] >= _SURE}


def _resembles(ball: Ball, tracklets: list[Tracklet]) -> bool:
    number_log = np.sum([t.number_log for t in tracklets], axis=0)
    n = sum(t.colour_n for t in tracklets)
    colour = np.sum([t.colour_sum for t in tracklets], axis=0) / max(n, 1)
    return alike(ball, number_log, colour, n)


def alike(ball: Ball, number_log: F64, colour: F64, colour_n: int) -> bool:
    """Whether colour (3,) and number evidence (17,) leave it possible that they are this ball's."""
    if ball.colour_n and colour_n and float(np.linalg.norm(ball.colour - colour)) > 28.0:
        return False
    if ball.number_log[16] >= 2 and number_log[16] >= 2:
        return float(number_posterior(ball.number_log) @ number_posterior(number_log)) > 0.03
    return True


def _cue_by_reading(balls: list[Ball]) -> Ball | None:
    read = [b for b in balls if b.number_log[16] > 0]
    if not read:
        return None
    chance = {b.id: float(number_posterior(b.number_log)[0]) for b in read}
    best = max(read, key=lambda b: chance[b.id])
    others = [chance[b.id] for b in read if b.id != best.id]
    return best if chance[best.id] > 0.6 and all(c < 0.5 * chance[best.id] for c in others) else None


def _cue_by_colour(balls: list[Ball], family: str) -> tuple[Ball | None, float]:
    """The ball of another colour than the rest, and how far (CIELAB) its colour lies from theirs."""
    nobody = (None, 0.0)
    seen = [b for b in balls if b.colour_n >= 3]
    if len(seen) < 2:
        return nobody
    colours = np.array([b.colour for b in seen])
    if not np.any(colours):
        return nobody
    if family in ("pool", "snooker"):
        # The white one: bright and without hue.
        whiteness = colours[:, 0] - 1.5 * np.hypot(colours[:, 1], colours[:, 2])
        order = np.argsort(-whiteness)
        clear = whiteness[order[0]] - whiteness[order[1]] > 8.0
        return (seen[int(order[0])], np.inf) if clear and colours[order[0], 0] > 55.0 else nobody
    if len(seen) < 3:
        return nobody
    away = np.linalg.norm((colours - np.median(colours, axis=0)) * _COLOUR_WEIGHTS, axis=1)
    order = np.argsort(-away)
    if away[order[0]] > 18.0 and away[order[0]] > 2.5 * away[order[1]]:
        return seen[int(order[0])], float(away[order[0]])
    return nobody
