"""What a stroke that pockets nothing must bring about: the legal safety (M-7, A-3) and the break (M-8)."""

from __future__ import annotations

import math

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import CushionHit
from vision_referee.domain.table import Cushion, Line
from vision_referee.rules.state import GameState, Place
from vision_referee.rules.stroke import Facts

FROZEN_MM = 2.0
"""A ball this near to a cushion stands at it; the measure of a place is no better."""
_LEFT_MM = 10.0
"""So far from the cushion a ball has surely left it."""


def _distance_mm(state: GameState, cushion: Cushion, place: Place) -> float:
    """From a ball's centre to the cushion's nose line."""
    table = state.table
    match cushion:
        case Cushion.HEAD:
            return place[0]
        case Cushion.FOOT:
            return table.length_mm - place[0]
        case Cushion.RIGHT:
            return place[1]
        case Cushion.LEFT:
            return table.width_mm - place[1]


def _counts(state: GameState, facts: Facts, hit: CushionHit) -> bool:
    """A ball already at this cushion must have left it first (M-7)."""
    radius = state.table.ball_radius_mm
    start = (facts.strike.x, facts.strike.y) if hit.ball == facts.strike.ball else state.places.get(hit.ball)
    if start is None or _distance_mm(state, hit.cushion, start) > radius + FROZEN_MM:
        return True
    if hit.ball == facts.strike.ball and _struck_away(facts, hit.cushion):
        return True
    left = [c for c in facts.cushions if c.ball == hit.ball and c.cushion is not hit.cushion and c.t < hit.t]
    places = [(c.x, c.y) for c in facts.contacts if hit.ball in c.balls and c.t < hit.t]
    # The first contact of a frozen object ball is where it stood; it left only if a later one was elsewhere.
    away = [p for p in places if _distance_mm(state, hit.cushion, p) > 2 * radius + _LEFT_MM]
    lines = [c for c in facts.crossings if c.ball == hit.ball and c.t < hit.t]
    across = any(c.line is not Line.LONG and hit.cushion in (Cushion.HEAD, Cushion.FOOT) for c in lines) or any(
        c.line is Line.LONG and hit.cushion in (Cushion.LEFT, Cushion.RIGHT) for c in lines
    )
    return bool(left or away or across)


def _struck_away(facts: Facts, cushion: Cushion) -> bool:
    vx, vy = facts.strike.vx, facts.strike.vy
    inward = {Cushion.HEAD: vx, Cushion.FOOT: -vx, Cushion.RIGHT: vy, Cushion.LEFT: -vy}[cushion]
    return inward > 0.1 * math.hypot(vx, vy)


def _after_contact(state: GameState, facts: Facts) -> list[str]:
    """The balls of all cushion hits after the first contact, once a hit; off the table counts as a cushion."""
    first = facts.first
    if first is None:
        return []
    hits = [hit.ball for hit in facts.cushions if hit.t >= first.t and _counts(state, facts, hit)]
    return hits + [event.ball for event in facts.off]


def safety_is_good(state: GameState, facts: Facts) -> bool:
    """M-7: one ball to two cushions, two balls to one each, or one to a cushion and one across the centre line."""
    if facts.first is None:
        return False
    hits = len(_after_contact(state, facts))
    crossed = any(c.line is Line.CENTRE and c.t >= facts.first.t for c in facts.crossings)
    return hits >= 2 or (hits == 1 and crossed)


def break_is_good(state: GameState, facts: Facts) -> bool:
    """M-8: a ball falls, or three object balls reach cushions, or two do and one crosses the centre line."""
    if facts.pots:
        return True
    reached = {ball for ball in _after_contact(state, facts) if ball != CUE}
    first_s = facts.first.t if facts.first else 0.0
    crossed = any(c.line is Line.CENTRE and c.ball != CUE and c.t >= first_s for c in facts.crossings)
    return len(reached) >= 3 or (len(reached) == 2 and crossed)
