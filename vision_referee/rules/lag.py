"""The lag (G-2): who stops nearer the head cushion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import CushionHit, Event, Strike
from vision_referee.domain.rulings import CueBallState, RulingKind
from vision_referee.domain.table import Cushion, Line
from vision_referee.rules.conclude import draft_between
from vision_referee.rules.doubt import Edges, believed
from vision_referee.rules.draft import Draft
from vision_referee.rules.game import Game
from vision_referee.rules.state import GameState, Phase
from vision_referee.rules.stroke import Stroke, gather

TOGETHER_S = 3.0
"""Two strikes within this time are one lag where the strikes name no players: both play at once."""


def may_lag(state: GameState) -> bool:
    """A lag can only be played where it decides something: before a game, or after a re-rack or 70 : 70."""
    return state.lag_wanted or state.phase in (Phase.BEFORE, Phase.OVER) or (
        state.phase is Phase.BREAK and state.strokes == 0
    )  # fmt: skip


def is_lone_lag_strike(state: GameState, strike: Strike) -> bool:
    """A first strike of a lag, whose second has not been seen."""
    return strike.player in state.players and (state.lag_wanted or state.phase in (Phase.BEFORE, Phase.OVER))


def are_lag(state: GameState, first: Strike, second: Strike) -> bool:
    """Two strikes of one lag: two balls, two players, at once."""
    if not may_lag(state) or first.ball == second.ball:
        return False
    if first.player is not None and second.player is not None:
        return first.player != second.player
    table = state.table
    both_home = first.x < table.house_line_mm and second.x < table.house_line_mm
    halves = (first.y < table.width_mm / 2) != (second.y < table.width_mm / 2)
    return both_home and halves and second.t - first.t <= TOGETHER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One player's ball in the lag."""

    player: str
    strike: Strike


def judge_lag(game: Game, state: GameState, strikes: Sequence[Strike], events: Sequence[Event], t_end: float) -> Draft:
    """The lag's winner, or that it is played again; unsure facts are taken both ways."""
    runs = _runs(state, strikes)
    sure = game.settings.sure
    taken, unsure = believed(events, sure)

    def outcome(flip: int | None = None, edges: Edges | None = None) -> str | None:
        seen = [e for i, e in enumerate(events) if taken[i] != (i == flip)]
        return _winner(game, state, runs, seen, edges or Edges())

    edges = Edges()
    winner = outcome(edges=edges)
    doubts = [f"unsure:{events[i].type}::{events[i].confidence:.2f}" for i, _ in unsure if outcome(i) != winner]
    doubts += [said for key, said in edges.met.items() if outcome(edges=Edges(flipped=frozenset({key}))) != winner]
    doubts += [f"unsure:strike:{s.ball}:{s.confidence:.2f}" for s in strikes if s.confidence < sure]
    if len(runs) < 2:
        doubts.append("lag_one_strike")
    draft = draft_between(state, RulingKind.LAG, strikes[0].t, t_end)
    return replace(
        draft, winner=winner, replay=winner is None, next_player=winner, doubts=tuple(dict.fromkeys(doubts)),
        confidence=0.7 if doubts else 1.0,
    )  # fmt: skip


def _runs(state: GameState, strikes: Sequence[Strike]) -> list[_Run]:
    """Whose ball is whose: the strikes say, else the right half is the first player's."""
    runs: list[_Run] = []
    for strike in strikes:
        player = strike.player if strike.player in state.players else None
        if player is None:
            player = state.players[0 if strike.y < state.table.width_mm / 2 else 1]
        if all(run.player != player for run in runs):
            runs.append(_Run(player=player, strike=strike))
    return runs


def _winner(game: Game, state: GameState, runs: list[_Run], events: list[Event], edges: Edges) -> str | None:
    if len(runs) < 2:
        return None
    first, second = runs[0], runs[1]
    at_fault = [_at_fault(state, run, events) for run in (first, second)]
    if at_fault[0] != at_fault[1]:
        return second.player if at_fault[0] else first.player
    if at_fault[0]:
        return None  # both at fault: again
    distances = [_distance_mm(run, events) for run in (first, second)]
    apart = abs(distances[0] - distances[1])
    limit = game.settings.lag_equal_mm
    if edges.decide("lag_equal", apart <= limit + 1e-6, apart - limit, game.settings.position_error_mm):
        return None  # equal: again
    return first.player if distances[0] < distances[1] else second.player


def _at_fault(state: GameState, run: _Run, events: list[Event]) -> bool:
    """Missed the foot cushion, crossed to the opponent's half, fell or left the table."""
    ball = run.strike.ball
    own = [event for event in events if getattr(event, "ball", None) == ball]
    reached_foot = any(isinstance(e, CushionHit) and e.cushion is Cushion.FOOT for e in own)
    crossed = any(e.type == "crossed" and getattr(e, "line", None) is Line.LONG for e in own)
    facts = gather(Stroke(strike=run.strike, t_end=run.strike.t), events)
    middle = state.table.width_mm / 2
    end = facts.final.get(ball, (run.strike.x, run.strike.y))
    strayed = (end[1] < middle) != (run.strike.y < middle)
    return not reached_foot or crossed or strayed or ball in facts.gone  # G-7, G-9: a ball that came back is not


def _distance_mm(run: _Run, events: list[Event]) -> float:
    """From the head cushion, where the ball came to rest."""
    facts = gather(Stroke(strike=run.strike, t_end=run.strike.t), events)
    return facts.final.get(run.strike.ball, (run.strike.x, run.strike.y))[0]


def after_lag(state: GameState, winner: str | None) -> GameState:
    """The winner plays from hand from the house, or waits for the rack; nothing changes while it is undecided."""
    if winner is None:
        return state
    waiting = state.phase in (Phase.BEFORE, Phase.OVER)
    places = {ball: place for ball, place in state.places.items() if ball != CUE}
    return replace(
        state, turn=winner, starter=winner if waiting else None, lag_wanted=False, lag_missing=False, places=places,
        cue_ball=CueBallState.IN_HAND_HOUSE,
    )  # fmt: skip
