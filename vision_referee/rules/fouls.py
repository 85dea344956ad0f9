"""The fouls of the general rules (G-20), one small question each."""

from __future__ import annotations

from collections.abc import Iterator

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Event, TipKind, Touch
from vision_referee.domain.rulings import Foul, FoulCode
from vision_referee.rules.close_ball import gap_mm, is_close, played_wrongly
from vision_referee.rules.doubt import Edges
from vision_referee.rules.fouls_ids import RULE_OF
from vision_referee.rules.game import Game
from vision_referee.rules.house import beyond_line_mm, in_house, side_with_edges
from vision_referee.rules.safety import safety_is_good
from vision_referee.rules.state import GameState, Phase
from vision_referee.rules.stroke import Facts, Stroke

NOTE_HOUSE_WARNING = "propose_house_warning"
_SAME_MM = 1e-6
"""Rounding of decimal coordinates."""
_TIP_CODES = {
    TipKind.PUSH: FoulCode.PUSH,
    TipKind.DOUBLE_HIT: FoulCode.DOUBLE_HIT,
    TipKind.SQUEEZE: FoulCode.SQUEEZE,
}


def foul(
    code: FoulCode, t: float, *balls: str, seen: Event | None = None, rule: str | None = None, confidence: float = 1.0
) -> Foul:
    """A foul of this code with its rule id and the confidence of what was seen."""
    return Foul(
        code=code, rule=rule or RULE_OF[code], t=t, balls=balls, confidence=seen.confidence if seen else confidence
    )


def find_fouls(
    game: Game, state: GameState, stroke: Stroke, facts: Facts, edges: Edges, striker: str
) -> tuple[list[Foul], list[str]]:
    """Every foul of the stroke in order of time (all that hold are listed), and notes for the ruling's text."""
    notes: list[str] = []
    fouls = [
        *_before_the_stroke(game, state, facts, edges),
        *_of_the_tip(game, state, facts, edges),
        *_told(facts),
        *_of_touch(facts, striker),
        *_from_hand(game, state, facts, edges, striker, notes),
        *_of_the_cue_ball(game, state, stroke, facts),
        *_barred(game, state, facts, striker),
    ]
    if not fouls and _faulty_safety(game, state, stroke, facts):
        fouls.append(foul(FoulCode.BAD_SAFETY, stroke.t_end, seen=facts.first))
    return _each_code_once(game, sorted(fouls, key=lambda f: f.t)), notes


def _each_code_once(game: Game, fouls: list[Foul]) -> list[Foul]:
    """A foul done twice in one stroke is one foul; of a free and a dear reading the dear one stands."""
    kept: dict[FoulCode, Foul] = {}
    for one in fouls:
        if one.code not in kept or (game.costs(one) and not game.costs(kept[one.code])):
            kept[one.code] = one
    return list(kept.values())


def _before_the_stroke(game: Game, state: GameState, facts: Facts, edges: Edges) -> Iterator[Foul]:
    strike = facts.strike
    if state.in_motion:
        yield foul(FoulCode.STROKE_BEFORE_REST, strike.t, strike.ball, seen=strike)
    rule = game.wrong_ball(state, strike, state.phase is Phase.BREAK)
    if rule:
        yield foul(FoulCode.WRONG_CUE_BALL, strike.t, strike.ball, seen=strike, rule=rule)
    if state.clock_on_s is not None and not state.in_motion:
        over_s = strike.t - max(state.clock_on_s, state.clock_from_s) - game.settings.shot_clock_s
        if edges.decide("shot_clock", over_s > 1e-9, over_s, game.settings.time_error_s):
            yield foul(FoulCode.TIME_OVER, strike.t, seen=strike)


def _of_the_tip(game: Game, state: GameState, facts: Facts, edges: Edges) -> Iterator[Foul]:
    for tip in facts.tips:
        if tip.kind is TipKind.PUSH and _is_close_play(game, state, facts, edges):
            continue  # G-20.8 is for a ball more than half a radius away; a close ball is G-14's
        yield foul(_TIP_CODES[tip.kind], tip.t, tip.ball, seen=tip)
    if played_wrongly(state, facts, game.settings, edges):
        partner = facts.partner or ""
        yield foul(FoulCode.CLOSE_BALL, facts.first.t if facts.first else facts.strike.t, partner, seen=facts.first)


def _is_close_play(game: Game, state: GameState, facts: Facts, edges: Edges) -> bool:
    partner = facts.partner
    return (
        partner is not None
        and gap_mm(state, facts, partner) is not None
        and is_close(state, facts, partner, game.settings, edges)
    )


def _told(facts: Facts) -> Iterator[Foul]:
    if facts.feet_off:
        yield foul(FoulCode.FEET_OFF_FLOOR, facts.feet_off.t, seen=facts.feet_off)
    if facts.illegal_tip:
        yield foul(FoulCode.ILLEGAL_STROKE, facts.illegal_tip.t, facts.strike.ball, seen=facts.illegal_tip)


def is_opponents(touch: Touch, striker: str) -> bool:
    return touch.player is not None and touch.player != striker


def _of_touch(facts: Facts, striker: str) -> Iterator[Foul]:
    touches = [touch for touch in facts.touches if not is_opponents(touch, striker)]
    if touches:
        surest = max(touches, key=lambda touch: touch.confidence)
        balls = tuple(dict.fromkeys(touch.ball for touch in touches))
        yield foul(FoulCode.BALL_TOUCHED, touches[0].t, *balls, seen=surest)


def _from_hand(
    game: Game, state: GameState, facts: Facts, edges: Edges, striker: str, notes: list[str]
) -> Iterator[Foul]:
    strike = facts.strike
    if not game.from_hand(state, strike):
        return
    table, error = state.table, game.settings.position_error_mm
    side = side_with_edges(table, state.places, edges, error)
    beyond = beyond_line_mm(table, strike.x, side)
    outside = edges.decide("house_line", not in_house(table, strike.x, side), beyond, error)
    body = facts.body_out is not None
    if body and game.body_out_is_free_foul():
        yield foul(FoulCode.HOUSE_VIOLATION, strike.t, seen=facts.body_out, rule="S-10")
        body = False
    if outside or body:
        if striker in state.warned:
            seen = strike if outside else facts.body_out
            yield foul(FoulCode.HOUSE_VIOLATION, strike.t, *([strike.ball] if outside else []), seen=seen)
        else:
            notes.append(NOTE_HOUSE_WARNING)  # the first time the stroke stands
    if game.cue_ball_in_hand_touches_nothing():
        yield from _placed_touching(state, facts, edges, error)
    partner = facts.partner
    if partner is not None and facts.first is not None and partner in state.places:
        x = state.places[partner][0]
        lies_in = edges.decide(f"in_house:{partner}", in_house(table, x, side), beyond_line_mm(table, x, side), error)
        if lies_in:
            yield foul(FoulCode.HOUSE_BALL_HIT, facts.first.t, partner, seen=facts.first)


def _placed_touching(state: GameState, facts: Facts, edges: Edges, error_mm: float) -> Iterator[Foul]:
    """R-6: the cue ball put down against another ball touches it (G-20.5)."""
    gaps = {ball: gap for ball in state.objects() if (gap := gap_mm(state, facts, ball)) is not None}
    nearest = min(gaps, key=gaps.__getitem__, default=None)
    # Two balls cannot overlap: where they seem to, the measure is off by that much.
    if nearest is not None and edges.decide(
        f"placed_touching:{nearest}", gaps[nearest] <= _SAME_MM, max(gaps[nearest], 0.0), error_mm
    ):
        yield foul(FoulCode.BALL_TOUCHED, facts.strike.t, nearest)


def _of_the_cue_ball(game: Game, state: GameState, stroke: Stroke, facts: Facts) -> Iterator[Foul]:
    strike = facts.strike
    own = strike.ball if game.any_cue_ball else CUE
    off = next((event for event in facts.off if event.ball == own), None)
    if off is not None:
        yield foul(FoulCode.CUE_BALL_OFF_TABLE, off.t, own, seen=off)
    fallen = next((pot for pot in facts.pots if pot.ball == CUE), None)
    if fallen is not None and game.pocketed_cue_ball_is_foul():
        yield foul(FoulCode.CUE_BALL_POCKETED, fallen.t, CUE, seen=fallen)
    missed = facts.first is None
    own_fall = next((pot for pot in facts.pots if pot.ball == strike.ball), None)
    if own_fall is not None and facts.first is not None and facts.first.t > own_fall.t:
        missed = True
    settled = not stroke.cut_short or strike.ball in facts.gone
    if missed and settled:
        yield foul(FoulCode.NO_CONTACT, own_fall.t if own_fall else stroke.t_end, strike.ball, seen=own_fall)


def _barred(game: Game, state: GameState, facts: Facts, striker: str) -> Iterator[Foul]:
    ball = game.barred_ball(state, facts, striker)
    if ball is not None:
        yield foul(FoulCode.ILLEGAL_STROKE, facts.strike.t, ball, rule="A-4")


def _faulty_safety(game: Game, state: GameState, stroke: Stroke, facts: Facts) -> bool:
    """M-7, A-3: after a stroke that pocketed nothing, other than the break."""
    if not game.safety_is_required() or state.phase is Phase.BREAK or stroke.cut_short or facts.pots:
        return False
    return not safety_is_good(state, facts)
