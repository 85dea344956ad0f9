"""G-19, G-20.16: someone else meddled with a stroke."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Interference, InterferenceBy, MovedCause, Pocketed
from vision_referee.domain.rulings import CountedBall, CueBallState, Foul, FoulCode, RulingKind
from vision_referee.rules.calls import CallResult, judge_call, last_call
from vision_referee.rules.doubt import Edges
from vision_referee.rules.draft import Draft
from vision_referee.rules.fouls import find_fouls, foul, is_opponents
from vision_referee.rules.game import Game
from vision_referee.rules.house import house_side
from vision_referee.rules.outcome import points_of, replayed, still_hanging, with_fine
from vision_referee.rules.spotting import spot_all
from vision_referee.rules.state import GameState, Place, ascending, at
from vision_referee.rules.stroke import Facts, Stroke, lying_after


def interfered_with(
    game: Game, state: GameState, stroke: Stroke, facts: Facts, edges: Edges, striker: str
) -> Draft | None:
    """Someone else meddled with the stroke; None where nobody did."""
    by_opponent = (
        [e for e in facts.interferences if e.by is InterferenceBy.OPPONENT]
        + [e for e in facts.moved if e.cause is MovedCause.OPPONENT]
        + [e for e in facts.touches if is_opponents(e, striker)]
    )
    by_others = [e for e in facts.interferences if e.by is not InterferenceBy.OPPONENT] + [
        e for e in facts.moved if e.cause is not MovedCause.OPPONENT
    ]
    if not by_opponent and not by_others:
        return None
    doubts, notes = _about_interference(facts)
    if not by_opponent:
        draft = replayed(state, stroke, facts, striker, RulingKind.INTERFERENCE)
        return replace(draft, doubts=doubts, notes=notes)
    first = min(by_opponent, key=lambda event: event.t)
    named = next((t.player for t in facts.touches if is_opponents(t, striker) and t.player), None)
    if named is None and len(state.players) > 2:
        doubts = (*doubts, "which_opponent")
    offender = named or state.after(striker)
    balls = tuple(dict.fromkeys(ball for e in by_opponent if (ball := getattr(e, "ball", None) or _stopped(e))))
    fouls = (foul(FoulCode.INTERFERENCE, first.t, *balls, seen=max(by_opponent, key=lambda e: e.confidence)),)
    stopped = next((e for e in facts.interferences if e.by is InterferenceBy.OPPONENT and e.stopped_ball), None)
    if stopped is not None:
        counted = _stopped_ball_counts(game, state, stroke, facts, edges, striker, stopped, fouls, offender)
        if counted is not None:
            return replace(counted, doubts=counted.doubts + doubts, notes=counted.notes + notes)
    draft = replayed(state, stroke, facts, striker, RulingKind.INTERFERENCE)
    fine = game.fine(state, offender, striker, stroke.t_end)
    draft = replace(draft, fouls=fouls, offender=offender, doubts=doubts, notes=notes)
    return with_fine(game, state, draft, fine)


def _stopped(event: object) -> str | None:
    return event.stopped_ball if isinstance(event, Interference) else None


def _about_interference(facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    doubts: list[str] = []
    notes: list[str] = []
    for event in facts.interferences:
        if event.intentional and event.by is InterferenceBy.OPPONENT:
            doubts.append("unsporting_conduct")
        elif event.intentional:
            notes.append("stop_until_gone")
    official = bool(facts.interferences)
    if not official and any(event.cause is MovedCause.UNKNOWN for event in facts.moved):
        doubts.append("moved_by_unknown")
    return tuple(doubts), tuple(notes)


def _stopped_ball_counts(
    game: Game, state: GameState, stroke: Stroke, facts: Facts, edges: Edges, striker: str, stopped: Interference,
    fouls: tuple[Foul, ...], offender: str,
) -> Draft | None:  # fmt: skip
    """G-19: the ball that the opponent stopped on its way into a pocket counts; None where it does not."""
    ball = stopped.stopped_ball
    if ball is None or not game.is_object(ball):
        return None
    own, _ = find_fouls(game, state, stroke, facts, edges, striker)
    if any(one.code is not FoulCode.BAD_SAFETY for one in own):
        return None
    call = last_call(state)
    pocket = stopped.pocket or (call.pocket if call else None)
    as_pot = None if pocket is None else Pocketed(t=stopped.t, ball=ball, pocket=pocket)
    if game.called and (as_pot is None or judge_call(state, call, [as_pot], game.settings) is not CallResult.GOOD):
        return None
    places = {name: place for name, place in lying_after(state, facts).items() if name != ball}
    rolled = facts.rail_rolled
    pots = [pot for pot in facts.pots if game.is_object(pot.ball) and pot.ball != ball and pot.ball not in rolled]
    away = [e.ball for e in facts.off if game.is_object(e.ball)] + [p.ball for p in facts.pots if p.ball in rolled]
    to_spot = ascending(state, [name for name in away if name != ball])
    restored = tuple(at(name, state.places[name]) for name in _knocked_about(state, facts, places))
    places |= {one.ball: (one.x, one.y) for one in restored}
    spotted = tuple(at(name, place) for name, place in spot_all(state.table, to_spot, places, game.spotter()))
    places |= {one.ball: (one.x, one.y) for one in spotted}
    fallen = [*pots, *([as_pot] if as_pot else [])]
    counted, doubts = points_of(game, state, fallen, places)
    if as_pot is None:
        counted = (*counted, CountedBall(ball=ball, pocket=None, points=1))
    draft = Draft(
        kind=RulingKind.INTERFERENCE, t_start=stroke.strike.t, t_end=stroke.t_end, player=striker, offender=offender,
        fouls=fouls, counted=counted, spotted=spotted, restored=restored, next_player=striker, places=places,
        cue_ball=game.cue_ball_after(CueBallState.IN_PLACE if CUE in places else house_side(state.table, places)),
        hanging=still_hanging(state, facts), doubts=doubts,
    )  # fmt: skip
    return with_fine(game, state, draft, game.fine(state, offender, striker, stroke.t_end))


def _knocked_about(state: GameState, facts: Facts, lying: Mapping[str, Place]) -> list[str]:
    """The balls that lay out of the stroke's way and were displaced by the meddling: they go back where they lay."""
    played = {ball for contact in facts.contacts for ball in contact.balls} | {facts.strike.ball}
    displaced = dict.fromkeys([*(moved.ball for moved in facts.moved), *(touch.ball for touch in facts.touches)])
    return [ball for ball in displaced if ball not in played and ball in lying and ball in state.places]
