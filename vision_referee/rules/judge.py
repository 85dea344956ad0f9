"""A stroke judged once, on the facts as they are taken: the general rules from foul to the next player."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Pocketed
from vision_referee.domain.rulings import CountedBall, CueBallState, Foul, FoulCode, Penalty, RulingKind
from vision_referee.rules.calls import CallResult, is_called, judge_call, last_call
from vision_referee.rules.correction import Correction
from vision_referee.rules.doubt import Edges
from vision_referee.rules.draft import Draft
from vision_referee.rules.fouls import NOTE_HOUSE_WARNING, find_fouls
from vision_referee.rules.game import Game
from vision_referee.rules.house import house_side
from vision_referee.rules.interference import interfered_with
from vision_referee.rules.outcome import points_of, replayed, still_hanging, with_fine
from vision_referee.rules.safety import break_is_good
from vision_referee.rules.spotting import spot_all
from vision_referee.rules.state import IN_HAND, GameState, Phase, Removal, ascending, at
from vision_referee.rules.stroke import Facts, Stroke, is_confirmed, lying_after, touched_before

PLAY_ON_OR_RERACK = ("play_on", "rerack")


def judge(game: Game, state: GameState, stroke: Stroke, facts: Facts, edges: Edges, fix: Correction) -> Draft:
    """The decision on a stroke, given what is taken to have happened and what an official has replaced."""
    striker = fix.player if fix.player in state.players else state.turn
    assert striker is not None
    if fix.replay:
        return replayed(state, stroke, facts, striker, RulingKind.STROKE)
    interrupted = interfered_with(game, state, stroke, facts, edges, striker)
    if interrupted is not None and not _lets_it_stand(fix, interrupted):
        return interrupted
    if not fix.given & {"fouls", "counted", "penalty", "replay"} and _fell_before_contact(game, state, facts, edges):
        return replayed(state, stroke, facts, striker, RulingKind.STROKE)  # G-17
    return _played_out(game, state, stroke, facts, edges, striker, fix)


def _lets_it_stand(fix: Correction, interrupted: Draft) -> bool:
    """Whether an official says that there was no interference: the stroke stands as it was played."""
    if fix.has("replay"):
        return not fix.replay
    meant = any(one.code is FoulCode.INTERFERENCE for one in fix.fouls)
    return fix.has("fouls") and not meant and bool(fix.fouls or interrupted.fouls)


# --- strokes that are repeated ----------------------------------------------------------------------------------------


def _fell_before_contact(game: Game, state: GameState, facts: Facts, edges: Edges) -> bool:
    """G-17: the cue ball was played at a hanging ball, which fell untouched."""
    return any(_aimed_at(game, state, facts, ball, edges) for ball in _untouched_falls(game, state, facts, edges))


def _untouched_falls(game: Game, state: GameState, facts: Facts, edges: Edges) -> list[str]:
    """Balls that hung before the stroke and fell during it without having been touched."""
    sure = game.settings.sure
    return [
        pot.ball for pot in facts.pots
        if pot.ball in state.hanging and not touched_before(facts, pot.ball, pot.t)
        and edges.believe("hanging", pot.ball, state.hanging[pot.ball].confidence, sure)
    ]  # fmt: skip


def _aimed_at(game: Game, state: GameState, facts: Facts, ball: str, edges: Edges) -> bool:
    """The call says so, else the strike's direction within half a ball."""
    call = last_call(state) if game.called else None
    if call is not None and call.ball is not None:
        return is_called(state, ball, call.ball)
    strike, hung = facts.strike, state.hanging[ball]
    speed = math.hypot(strike.vx, strike.vy)
    if not speed:
        return False
    dx, dy = hung.x - strike.x, hung.y - strike.y
    aside = abs(dx * strike.vy - dy * strike.vx) / speed
    ahead = dx * strike.vx + dy * strike.vy > 0
    half_ball = state.table.ball_radius_mm
    return ahead and edges.decide(f"aim:{ball}", aside <= half_ball, aside - half_ball, game.settings.position_error_mm)


# --- strokes that stand -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counting:
    counted: tuple[CountedBall, ...]
    uncounted: list[str]
    doubts: tuple[str, ...]


def _played_out(
    game: Game, state: GameState, stroke: Stroke, facts: Facts, edges: Edges, striker: str, fix: Correction
) -> Draft:
    if fix.has("fouls"):
        fouls, notes = list(fix.fouls), list[str]()
    else:
        fouls, notes = find_fouls(game, state, stroke, facts, edges, striker)
    unaimed = _untouched_falls(game, state, facts, edges)  # G-16: hung longer, untouched, unaimed: restored
    notes += [f"fell_untouched:{ball}" for ball in unaimed]
    doubts: list[str] = []
    for ball in unaimed:
        fell_s = next(pot.t for pot in facts.pots if pot.ball == ball)
        if fell_s - state.hanging[ball].since_s < game.settings.hanging_s:
            doubts.append("hanging_fell_in_next_stroke")
    pots = [pot for pot in facts.pots if pot.ball not in unaimed and game.is_object(pot.ball)]
    lying = lying_after(state, facts)
    lying |= {ball: (state.hanging[ball].x, state.hanging[ball].y) for ball in unaimed}
    off = [event.ball for event in facts.off if game.is_object(event.ball)]
    counting = _count(game, state, stroke, facts, pots, off, lying, legal=not fouls, fix=fix)
    doubts += counting.doubts
    doubts += [
        f"pocketed_but_listed:{pot.ball}" for pot in facts.pots if pot.ball in facts.listed and pot.t < facts.rest_s
    ]
    to_spot = ascending(state, [ball for ball in counting.uncounted if ball not in lying])
    spotted = tuple(at(ball, place) for ball, place in spot_all(state.table, to_spot, lying, game.spotter()))
    if fix.has("spotted"):
        spotted = fix.spotted
    places = lying | {ball.ball: (ball.x, ball.y) for ball in spotted}
    cue_falls = game.cue_ball_fall_counts and CUE in facts.potted and not fouls  # M-2
    stays = not fouls and bool(counting.counted or cue_falls)
    to = state.after(striker)
    draft = Draft(
        kind=RulingKind.STROKE, t_start=stroke.strike.t, t_end=stroke.t_end, player=striker, offender=striker,
        fouls=tuple(fouls), counted=counting.counted, spotted=spotted,
        restored=fix.restored if fix.has("restored") else tuple(at(ball, lying[ball]) for ball in unaimed),
        next_player=striker if stays else to, cue_ball=CueBallState.ANY, places=places,
        hanging=still_hanging(state, facts), doubts=tuple(doubts), notes=tuple(notes),
        violated_house=NOTE_HOUSE_WARNING in notes or any(one.code is FoulCode.HOUSE_VIOLATION for one in fouls),
    )  # fmt: skip
    if cue_falls:
        draft = replace(draft, removals=(Removal(player=striker, owed=False, t=stroke.t_end, rule="M-2"),))
    draft = _fined(game, state, draft, striker, to, fix)
    if _break_failed(game, state, stroke, facts, fouls):
        draft = replace(draft, choice=PLAY_ON_OR_RERACK)
    return replace(draft, cue_ball=_cue_ball_after(game, state, facts, draft))


def _fined(game: Game, state: GameState, draft: Draft, striker: str, to: str, fix: Correction) -> Draft:
    """One penalty a stroke, however many fouls (G-20); an official's word replaces it."""
    if fix.has("penalty"):
        if fix.penalty is None:
            return draft
        own = game.fine(state, striker, fix.penalty.to or to, draft.t_end)
        if fix.penalty.points is None and own.penalty is not None and own.penalty.balls is not None:
            return with_fine(game, state, draft, replace(own, penalty=fix.penalty))
        return replace(draft, penalty=Penalty(points=fix.penalty.points, to=fix.penalty.to or to, offender=striker))
    if any(game.costs(one) for one in draft.fouls):
        return with_fine(game, state, draft, game.fine(state, striker, to, draft.t_end))
    return draft


def _count(
    game: Game, state: GameState, stroke: Stroke, facts: Facts, pots: list[Pocketed], off: list[str],
    lying: dict[str, tuple[float, float]], *, legal: bool, fix: Correction,
) -> _Counting:  # fmt: skip
    """Which of the fallen balls count (G-7, S-7); the others are spotted (G-11), and so are those off the table."""
    fallen = [pot.ball for pot in pots]
    if fix.has("counted"):
        by_ball = {pot.ball: pot for pot in pots}
        names = [ball.ball for ball in fix.counted]
        rest = [ball for ball in (*fallen, *off) if ball not in names]
        chosen = [by_ball[n] for n in names if n in by_ball]
        derived, _ = points_of(game, state, chosen, lying, spotted=rest)
        points = {ball.ball: ball.points for ball in derived}
        counted = tuple(
            CountedBall(
                ball=ball.ball,
                pocket=ball.pocket or (by_ball[ball.ball].pocket if ball.ball in by_ball else None),
                points=ball.points if ball.points is not None
                else points.get(ball.ball, game.points(state, ball.ball, last=False) or 0),
            )
            for ball in fix.counted
        )  # fmt: skip
        return _Counting(counted=counted, uncounted=rest, doubts=())
    eligible = [pot for pot in pots if pot.ball not in facts.rail_rolled]  # G-8
    doubts: list[str] = []
    if legal and game.called and eligible:
        call = last_call(state)
        result = judge_call(state, call, eligible, game.settings)
        if result is CallResult.MISSING:
            doubts.append("missing_call")
        elif result is CallResult.UNKNOWN_NUMBER:
            doubts.append("unknown_number")
        elif result is CallResult.GOOD and game.settings.call == "pure":
            called = [pot for pot in eligible if call is not None and pot.pocket is call.pocket]
            if not is_confirmed(stroke, call, stroke.strike, *called):
                doubts.append("pure_call")
        if result is not CallResult.GOOD:
            eligible = []
    if not legal:
        eligible = []
    names = [pot.ball for pot in eligible]
    uncounted = [ball for ball in (*fallen, *off) if ball not in names]
    counted, unknown = points_of(game, state, eligible, lying, spotted=uncounted)
    return _Counting(counted=counted, uncounted=uncounted, doubts=(*doubts, *unknown))


def _break_failed(game: Game, state: GameState, stroke: Stroke, facts: Facts, fouls: list[Foul]) -> bool:
    """M-8: no penalty ball; the opponent plays on or has it racked again."""
    if state.phase is not Phase.BREAK or not game.break_is_required() or fouls or stroke.cut_short:
        return False
    return not break_is_good(state, facts)


def _cue_ball_after(game: Game, state: GameState, facts: Facts, draft: Draft) -> CueBallState:
    if CUE in facts.gone and CUE not in draft.places:
        return game.cue_ball_after(house_side(state.table, draft.places))
    if state.cue_ball in IN_HAND and facts.strike.ball != CUE:
        return game.cue_ball_after(house_side(state.table, draft.places))  # it has not been played yet (G-5)
    return game.cue_ball_after(CueBallState.IN_PLACE)
