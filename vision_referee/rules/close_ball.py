"""G-14: a stroke at an object ball that stands within half a radius of the cue ball."""

from __future__ import annotations

import math

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Contact
from vision_referee.rules.doubt import Edges
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.state import GameState, Place
from vision_referee.rules.stroke import Facts, other_ball

LEAST_ANGLE_DEG = 45.0
_SAME_MM = 1e-6
"""Rounding of decimal coordinates: a gap of just half a radius is still close."""


def gap_mm(state: GameState, facts: Facts, ball: str) -> float | None:
    """Surface to surface between the struck ball and this one at the strike; None where its place is unknown."""
    place = state.places.get(ball)
    if place is None:
        return None
    return math.dist((facts.strike.x, facts.strike.y), place) - state.table.ball_diameter_mm


def is_close(state: GameState, facts: Facts, ball: str, settings: RuleSettings, edges: Edges) -> bool:
    """Within half a radius, or touching."""
    gap, half_radius = gap_mm(state, facts, ball), state.table.ball_radius_mm / 2
    if gap is None:
        return False
    return edges.decide(
        f"close_gap:{ball}", gap <= half_radius + _SAME_MM, gap - half_radius, settings.position_error_mm
    )


def played_wrongly(state: GameState, facts: Facts, settings: RuleSettings, edges: Edges) -> bool:
    """Whether the ball first met was close, was played at less than 45°, and the cue ball crossed the penalty line."""
    ball = facts.partner
    if ball is None or not is_close(state, facts, ball, settings, edges):
        return False
    start, target = (facts.strike.x, facts.strike.y), state.places[ball]
    axis = _unit(start, target)
    if axis is None:
        return False
    angle = _angle_deg(_direction(facts, start), axis)
    if angle is not None and edges.decide(
        "close_angle", angle >= LEAST_ANGLE_DEG - _SAME_MM, angle - LEAST_ANGLE_DEG, settings.angle_error_deg
    ):
        return False
    reached = _reached(state, facts, ball)
    if reached is None:
        return False
    beyond = (reached[0] - target[0]) * axis[0] + (reached[1] - target[1]) * axis[1] - settings.penalty_line_mm
    return edges.decide("penalty_line", beyond > _SAME_MM, beyond, settings.position_error_mm)


def _unit(start: Place, end: Place) -> Place | None:
    length = math.dist(start, end)
    return ((end[0] - start[0]) / length, (end[1] - start[1]) / length) if length else None


def _direction(facts: Facts, start: Place) -> Place | None:
    """The cue ball's first direction: the strike's velocity, or the way to its first contact where that is nought."""
    speed = math.hypot(facts.strike.vx, facts.strike.vy)
    if speed:
        return (facts.strike.vx / speed, facts.strike.vy / speed)
    return _unit(start, (facts.first.x, facts.first.y)) if facts.first else None


def _angle_deg(direction: Place | None, axis: Place) -> float | None:
    if direction is None:
        return None
    cosine = direction[0] * axis[0] + direction[1] * axis[1]
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def _reached(state: GameState, facts: Facts, ball: str) -> Place | None:
    """Where the cue ball's centre was when it first met a cushion or another ball, fell, left or stopped."""
    cue = facts.strike.ball
    after = facts.first.t if facts.first else facts.strike.t
    met: list[tuple[float, Place]] = [(c.t, (c.x, c.y)) for c in facts.cushions if c.ball == cue and c.t >= after]
    met += [
        (c.t, _centre_at(state, facts, c, cue))
        for c in facts.contacts
        if cue in c.balls and c.t >= after and other_ball(c, cue) != ball
    ]
    met += [(p.t, state.table.pocket(p.pocket).mouth_mm) for p in facts.pots if p.ball == cue]
    met += [(e.t, (e.x, e.y)) for e in facts.off if e.ball == cue]
    if met:
        return min(met, key=lambda place: place[0])[1]
    return facts.final.get(cue) if facts.final.get(cue) != (facts.strike.x, facts.strike.y) else None


def _centre_at(state: GameState, facts: Facts, contact: Contact, cue: str) -> Place:
    """The cue ball's centre at a contact: a radius from the point of contact, away from the other ball's place."""
    point = (contact.x, contact.y)
    other = other_ball(contact, cue)
    back = _unit(state.places[other], point) if other in state.places and other != CUE else None
    if back is None or any(other in c.balls and c.t < contact.t for c in facts.contacts):
        return point
    radius = state.table.ball_radius_mm
    return (point[0] + back[0] * radius, point[1] + back[1] * radius)
