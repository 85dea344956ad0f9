"""The rack (G-4, S-2), the beginning of a game and who breaks it (G-3, S-12)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from vision_referee.domain.events import BallAt, Racked
from vision_referee.domain.rulings import CueBallState
from vision_referee.domain.table import TableSpec
from vision_referee.rules.game import Game
from vision_referee.rules.state import GameState, Phase, Place

FULL_RACK = 15
_APEX, _CORNERS, _MIDDLE = {4}, {2, 3}, {13, 14, 15}  # S-2
_ROUNDING_MM = 0.1
"""Places are told to a tenth of a millimetre: a rack just at the limit is not off."""


def rack_places(table: TableSpec, balls: int = FULL_RACK) -> list[list[Place]]:
    """The rows of a (shortened) pyramid: apex on the foot spot, base parallel to the foot cushion, frozen balls."""
    x0, y0 = table.foot_spot_mm
    step = table.ball_radius_mm
    rows: list[list[Place]] = []
    while sum(len(row) for row in rows) < balls:
        n = len(rows)
        rows.append([(x0 + n * step * math.sqrt(3), y0 + (n - 2 * i) * step) for i in range(n + 1)])
    return rows


def rack_deviation_mm(table: TableSpec, balls: Iterable[BallAt]) -> float:
    """How far the worst ball lies from its place in the ideal rack, each place held by one ball."""
    there = [(ball.x, ball.y) for ball in balls]
    free = [place for row in rack_places(table, len(there)) for place in row]
    worst = 0.0
    pairs = sorted((math.dist(a, b), i, j) for i, a in enumerate(there) for j, b in enumerate(free))
    set_balls: set[int] = set()
    held: set[int] = set()
    for distance, i, j in pairs:
        if i not in set_balls and j not in held:
            set_balls.add(i)
            held.add(j)
            worst = max(worst, distance)
    return worst


def order_is_right(state: GameState, racked: Racked) -> bool | None:
    """S-2, from the numbers: 4 at the apex, 2 and 3 at the corners, 13, 14, 15 in the middle; None if unreadable."""
    if racked.order_ok is not None:
        return racked.order_ok
    if len(racked.balls) != FULL_RACK:
        return None
    rows = rack_places(state.table)
    wanted = [([rows[0][0]], _APEX), ([rows[4][0], rows[4][4]], _CORNERS), ([rows[2][1], *rows[3][1:3]], _MIDDLE)]
    for places, numbers in wanted:
        found = {state.number_of(_nearest(racked.balls, place).ball) for place in places}
        if None in found:
            return None
        if found != numbers:
            return False
    return True


def _nearest(balls: Iterable[BallAt], place: Place) -> BallAt:
    return min(balls, key=lambda ball: math.dist((ball.x, ball.y), place))


def rack_notes(game: Game, state: GameState, racked: Racked, *, full: bool) -> tuple[str, ...]:
    """What is wrong with the rack, as notes; empty when it stands as it should."""
    notes = []
    deviation = rack_deviation_mm(state.table, racked.balls)
    if deviation > game.settings.rack_off_mm + _ROUNDING_MM:
        notes.append(f"rack_off:{deviation:.1f}")
    if full and len(racked.balls) != FULL_RACK:
        notes.append(f"rack_count:{len(racked.balls)}")
    if full and game.numbers_matter() and order_is_right(state, racked) is False:
        notes.append("rack_order")
    return tuple(notes)


def deciding_game(game: Game, state: GameState) -> bool:
    """Whether the next game decides the match: whoever wins it has won (G-3)."""
    needed = game.settings.wins_needed
    return needed > 1 and all(state.wins.get(name, 0) == needed - 1 for name in state.players)


def who_breaks(game: Game, state: GameState) -> str:
    """Who starts the next game: the lag or an official has said, else the breaks alternate or the winner starts."""
    if state.starter is not None:
        return state.starter
    if state.breaker is None:
        return state.turn
    if game.settings.next_break == "winner" and state.last_winner is not None:
        return state.last_winner  # S-12
    return state.after(state.breaker)  # G-3


def new_game(game: Game, state: GameState, numbers: Mapping[str, int], unsure: frozenset[str]) -> GameState:
    """The state before the first stroke of the next game, nothing racked yet."""
    first = state.strokes == 0 and state.phase is not Phase.OVER
    zero = dict.fromkeys(state.players, 0)
    return replace(
        state,
        turn=who_breaks(game, state),
        phase=Phase.BREAK,
        cue_ball=CueBallState.IN_HAND_HOUSE,
        score={name: state.handicap.get(name, 0) for name in state.players},
        shelves=dict.fromkeys(state.players, ()),
        debts=zero,
        places={},
        balls_known=False,
        hanging={},
        full_rack=frozenset(),
        numbers=numbers,
        unsure_numbers=unsure,
        removals=(),
        picked_up={},
        barred=None,
        in_motion=False,
        strokes=0,
        game=state.game if first else state.game + 1,
        breaker=None,
        starter=None,
        last_striker=None,
        last_violated=False,
        lag_wanted=False,
        lag_seen=False,
        choice_open=False,
        struck_after=False,
        reracked=False,
        break_again=False,
        respotted=None,
        lag_missing=state.starter is None and deciding_game(game, state),
    )


def with_rack(state: GameState, racked: Racked) -> GameState:
    """The balls where the triangle left them, the cue ball in hand."""
    places = {ball.ball: (ball.x, ball.y) for ball in racked.balls}
    full = frozenset(places) if len(places) == FULL_RACK else state.full_rack
    return replace(
        state,
        places=places,
        balls_known=True,
        hanging={},
        full_rack=full,
        cue_ball=CueBallState.IN_HAND_HOUSE,
        picked_up={},
        clock_from_s=racked.t,
    )
