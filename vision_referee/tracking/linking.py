"""Which tracklets are one ball: solved for the whole window at once by what physics allows between them.

A piece that ended and a piece that began may be one ball when a straight path, or one impact in between, joins them:
there is a moment at which the one's way forward and the other's way back meet. An impact wants a cause (a cushion,
another
ball, the tip on a resting ball), speed is not won from nothing, and colour and number must not contradict. All pairs
are
decided together by least total cost, against the costs of ending (cheap at a pocket) and of beginning from nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import TableSpec
from vision_referee.tracking.association import assign
from vision_referee.tracking.mouths import mouth_crossing, nearest_mouth, nearest_nose, outside_mm
from vision_referee.tracking.number_evidence import NAMES, number_posterior
from vision_referee.tracking.pieces import EndState, Piece

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCosts:
    """Prices in squared sigmas: what is unlikely costs more."""

    impact: float = 1.5
    unexplained: float = 7.0
    """An impact with nothing near."""
    speed_won: float = 5.0
    """A moving ball that goes on faster, and no other ball near."""
    two_impacts: float = 13.0
    beside: float = 3.0
    """It goes on within half a diameter of where it should be."""
    vanished: float = 19.0
    """A ball that is gone and a ball that is new at about the same time, and nothing between them understood."""
    longest_gap_s: float = 3.0
    end_at_pocket: float = 4.0
    end_off_table: float = 10.0
    end_anywhere: float = 24.0
    end_hidden: float = 14.0
    """A resting ball that is simply not seen any more (an arm in front)."""
    begin_anywhere: float = 14.0
    each_sighting: float = 2.0
    """Of a piece too short to be sure of: what each of its sightings says against its being chance."""


def linked(
    pieces: list[Piece], table: TableSpec, *, window_start_s: float, costs: LinkCosts | None = None
) -> list[list[int]]:
    """Chains of indices into ``pieces``, each chain one ball in time order; every piece is in exactly one chain."""
    c = costs or LinkCosts()
    n = len(pieces)
    ends = [i for i in range(n) if not (pieces[i].alive and not _unseen(pieces[i], pieces))]
    starts = [j for j in range(n) if pieces[j].ball is None]
    matrix = np.full((len(ends), len(starts) + len(ends)), np.inf)
    for row, i in enumerate(ends):
        matrix[row, len(starts) + row] = _end_cost(pieces[i], table, c)
        for column, j in enumerate(starts):
            if i != j:
                cost = link_cost(pieces[i], pieces[j], pieces, table, c)
                matrix[row, column] = cost - _begin_cost(pieces[j], table, window_start_s, c)
    follow: dict[int, int] = {}
    for row, column in assign(matrix):
        if column < len(starts):
            follow[ends[row]] = starts[column]
    heads = set(range(n)) - set(follow.values())
    chains = []
    for head in sorted(heads, key=lambda k: pieces[k].start.t_s):
        chain = [head]
        while chain[-1] in follow:
            chain.append(follow[chain[-1]])
        chains.append(chain)
    return chains


def _unseen(piece: Piece, pieces: list[Piece]) -> bool:
    newest = max(p.end.t_s for p in pieces)
    return newest - piece.end.t_s > 0.1


def _end_cost(piece: Piece, table: TableSpec, c: LinkCosts) -> float:
    end, diameter = piece.end, table.ball_diameter_mm
    _, distance, depth = nearest_mouth(table, end.xy_mm)
    if distance < 0.8 * diameter or (depth > 0 and distance < 2 * diameter):
        return c.end_at_pocket
    crossing = None if end.resting else mouth_crossing(table, end.xy_mm, end.velocity_mm_s, slack_mm=0.5 * diameter)
    if crossing is not None and crossing[1] < 0.5:
        return c.end_at_pocket + 10.0 * crossing[1]
    if outside_mm(table, end.xy_mm) > 0:
        return c.end_off_table
    if len(piece.sightings) < 8 and piece.ball is None:
        return c.each_sighting * len(piece.sightings)
    return c.end_hidden if end.resting else c.end_anywhere


def _begin_cost(piece: Piece, table: TableSpec, window_start_s: float, c: LinkCosts) -> float:
    if piece.start.t_s <= window_start_s + 0.1:
        return 2.0
    if len(piece.sightings) < 7:
        return c.each_sighting * len(piece.sightings)
    _, distance, _ = nearest_mouth(table, piece.start.xy_mm)
    if distance < table.ball_diameter_mm or outside_mm(table, piece.start.xy_mm) > 0:
        return c.begin_anywhere / 2
    return c.begin_anywhere


def link_cost(a: Piece, b: Piece, pieces: list[Piece], table: TableSpec, c: LinkCosts) -> float:
    """Cost that ``b`` is ``a`` going on; infinite where it cannot be."""
    end, start = a.end, b.start
    overlap = end.t_s - start.t_s
    if 0.02 <= overlap < 0.1 and len(a.sightings) >= 6:
        # Its last sightings were already something else's: it ended when the other began.
        end = _end_before(a, start.t_s - 0.02)
    gap = start.t_s - end.t_s
    if gap <= -0.02 or (gap > c.longest_gap_s and not end.resting):
        return float("inf")
    diameter = table.ball_diameter_mm
    away = float(np.hypot(*(start.xy_mm - end.xy_mm)))
    fastest = max(end.speed_mm_s, start.speed_mm_s, 150.0, _fastest_around(end, start, pieces))
    if away > 1.3 * fastest * max(gap, 0.02) + 1.2 * diameter:
        return float("inf")
    likeness = _likeness_cost(a, b)
    best = float("inf")
    straight = _straight_cost(end, start, diameter)
    if np.isfinite(straight):
        best = straight
    met = _meeting(end, start)
    if met is not None:
        t_s, miss = met
        lead = max(t_s - end.t_s, 0.0) + max(start.t_s - t_s, 0.0)
        spread = (
            0.05 * diameter
            + np.hypot(end.place_sigma_mm, start.place_sigma_mm)
            + end.speed_sigma_mm_s * max(t_s - end.t_s, 0.0)
            + start.speed_sigma_mm_s * max(start.t_s - t_s, 0.0)
            + 0.5 * 2000.0 * lead**2
        )
        if miss <= max(3.5 * spread, 0.3 * diameter) and miss < 1.5 * diameter:
            cost = (miss / spread) ** 2 / 2 + c.impact
            where = (end.on(t_s) + start.on(t_s)) / 2
            cause = end.resting or _cause_near(where, t_s, (a, b), pieces, table)
            if not cause:
                cost += c.unexplained
            # A way back over a long time is a guess.
            cost += 10.0 * max(start.t_s - t_s - 0.4, 0.0)
            if (
                not end.resting
                and start.speed_mm_s > 1.15 * end.speed_mm_s + 100.0
                and not _ball_near(where, t_s, (a, b), pieces, table)
            ):
                cost += c.speed_won
            best = min(best, cost)
    if gap <= 0.12:
        # Nothing else can be within half a diameter of where it should be by now, whatever its velocity seems to be.
        middle = (end.velocity_mm_s + start.velocity_mm_s) / 2
        off = float(np.hypot(*(start.xy_mm - end.xy_mm - middle * max(gap, 0.0)))) / (0.45 * diameter)
        if off < 1.0:
            best = min(best, c.beside + 4.0 * off**2)
    if not end.resting and away <= 1.05 * end.speed_mm_s * gap + 0.5 * diameter:
        best = min(best, c.two_impacts + 3.0 * gap + 0.5 * away / diameter)
    if not start.resting and gap < 0.6 and away <= 1.1 * fastest * max(gap, 0.04) + 0.5 * diameter:
        # Set going, and met something else before it was seen again.
        at_cushion = min(nearest_nose(table, end.xy_mm)[1], nearest_nose(table, start.xy_mm)[1]) < 2.5 * diameter
        price = c.two_impacts - (4.0 if at_cushion and gap < 0.2 else 0.0)
        best = min(best, price + 6.0 * gap + 0.7 * away / diameter)
    if start.speed_mm_s > 100.0 and gap < 0.7 and len(b.sightings) >= 8 and away <= 10_000.0 * max(gap, 0.02):
        # Whatever happened in between: balls do not vanish and appear.
        best = min(best, (c.vanished if end.resting else c.vanished + 8.0) + 8.0 * gap)
    if end.resting and start.resting:
        # It was hidden and lies a little elsewhere: touched, or moved by hand, out of sight.
        # Within a diameter nothing else can have come to lie there.
        best = min(best, 2.0 + 8.0 * away / diameter if away < diameter else 10.0 + 6.0 * away / diameter)
    # A moving ball is seldom lost for long.
    unseen = 0.5 * max(gap, 0.0) + (0.0 if end.resting else 5.0 * max(gap - 0.15, 0.0))
    return best + likeness + unseen + (2.0 if overlap >= 0.02 else 0.0)


def _end_before(piece: Piece, t_s: float) -> EndState:
    """The state a piece had a little before its end."""
    leg = next((leg for leg in reversed(piece.legs) if leg.t0_s <= t_s), piece.legs[0])
    inside = float(np.clip(t_s, leg.t0_s, leg.t1_s))
    return EndState(
        t_s=t_s,
        xy_mm=leg.straight(t_s),
        velocity_mm_s=np.zeros(2) if leg.resting else leg.velocity(inside),
        place_sigma_mm=leg.place_sigma(inside),
        speed_sigma_mm_s=0.0 if leg.resting else leg.speed_sigma(inside),
        resting=leg.resting,
    )


def _fastest_around(end: EndState, start: EndState, pieces: list[Piece]) -> float:
    """No ball goes faster than the fastest about it, unless the tip strikes it (mm/s)."""
    speeds = [0.0]
    for piece in pieces:
        for state in (piece.start, piece.end):
            if end.t_s - 0.3 <= state.t_s <= start.t_s + 0.1:
                speeds.append(state.speed_mm_s)
    return 9000.0 if end.resting else max(speeds)


def _straight_cost(end: EndState, start: EndState, diameter: float) -> float:
    # What lies before and after has not moved in between, however long nobody saw it.
    gap = 0.0 if end.resting and start.resting else max(start.t_s - end.t_s, 0.0)
    if end.resting != start.resting and max(end.speed_mm_s, start.speed_mm_s) > 60.0:
        return float("inf")
    middle = (end.t_s + start.t_s) / 2
    miss = float(np.hypot(*(end.on(middle) - start.on(middle))))
    bend = float(np.hypot(*(start.velocity_mm_s - end.velocity_mm_s)))
    spread = 0.03 * diameter + np.hypot(end.place_sigma_mm, start.place_sigma_mm) + 0.25 * 1500.0 * gap**2
    spread += gap / 2 * np.hypot(end.speed_sigma_mm_s, start.speed_sigma_mm_s)
    bend_spread = 40.0 + np.hypot(end.speed_sigma_mm_s, start.speed_sigma_mm_s) + 1500.0 * gap + 0.05 * end.speed_mm_s
    if miss > 4 * spread and miss > 0.3 * diameter:
        return float("inf")
    return float((miss / spread) ** 2 / 2 + (bend / bend_spread) ** 2 / 2)


def _meeting(end: EndState, start: EndState) -> tuple[float, float] | None:
    """When the way forward and the way back come nearest within the gap, and by how much they miss (mm)."""
    lo, hi = end.t_s, max(start.t_s, end.t_s + 1e-3)
    apart = start.on(lo) - end.on(lo)
    relative = start.velocity_mm_s - end.velocity_mm_s
    square = float(relative @ relative)
    if square < 1e-6:
        return None
    t_s = float(np.clip(lo - float(apart @ relative) / square, lo, hi))
    return t_s, float(np.hypot(*(start.on(t_s) - end.on(t_s))))


def _cause_near(where: F64, t_s: float, pair: tuple[Piece, Piece], pieces: list[Piece], table: TableSpec) -> bool:
    diameter = table.ball_diameter_mm
    if nearest_nose(table, where)[1] < 1.0 * diameter or nearest_mouth(table, where)[1] < 1.2 * diameter:
        return True
    return _ball_near(where, t_s, pair, pieces, table)


def _ball_near(where: F64, t_s: float, pair: tuple[Piece, Piece], pieces: list[Piece], table: TableSpec) -> bool:
    for other in pieces:
        if other is pair[0] or other is pair[1]:
            continue
        at = other.at(t_s)
        if at is not None and float(np.hypot(*(at - where))) < 1.8 * table.ball_diameter_mm:
            return True
    return False


def _likeness_cost(a: Piece, b: Piece) -> float:
    """What colour and number say against the two being one ball (negative: for it)."""
    cost = 0.0
    if a.tracklet.colour_n and b.tracklet.colour_n:
        away = float(np.linalg.norm(a.tracklet.colour - b.tracklet.colour))
        cost += min((away / 11.0) ** 2, 30.0) / 1.5
    # How much likelier the same number is than any two: nothing where nothing was read.
    pa, pb = number_posterior(a.tracklet.number_log), number_posterior(b.tracklet.number_log)
    return cost - float(np.clip(np.log(NAMES * float(pa @ pb) + 1e-4), -7.0, 2.0))
