"""Touches and interference between strokes: what belongs together is one incident with one penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import (
    Event,
    FrameOverMistake,
    Interference,
    InterferenceBy,
    Moved,
    MovedCause,
    Touch,
)
from vision_referee.domain.rulings import FoulCode, RulingKind
from vision_referee.rules.conclude import draft_between
from vision_referee.rules.doubt import LIKELY
from vision_referee.rules.draft import Draft
from vision_referee.rules.fouls import foul
from vision_referee.rules.game import Game
from vision_referee.rules.outcome import with_fine
from vision_referee.rules.state import IN_HAND, GameState, at

TOGETHER_S = 5.0
"""Touches no farther apart than this are one incident."""
STILL_THERE_S = 1.0
"""So long after a stroke its player is still at the table, though the turn has passed."""
HAS_LEFT_S = 3.0
"""Only so long after it is he sure to have left the table to the next."""
SCATTER_S = 30.0
"""Touches so near to a ``frame_over_mistake`` are the scattering it reports."""

_Meddling = Touch | Moved | Interference


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Touches, displaced balls and an official's word about them that belong together."""

    events: tuple[_Meddling, ...]

    @property
    def is_interference(self) -> bool:
        return any(isinstance(event, Interference | Moved) for event in self.events)


def gather_incidents(events: Sequence[Event]) -> list[Event | Incident]:
    """The events in order, with each incident in its first event's place."""
    mistakes = [event.t for event in events if isinstance(event, FrameOverMistake)]
    items: list[Event | Incident] = []
    latest: int | None = None
    for event in events:
        if not isinstance(event, Touch | Moved | Interference):
            items.append(event)
            continue
        if any(abs(event.t - t) <= SCATTER_S for t in mistakes):
            continue
        last = items[latest] if latest is not None else None
        if isinstance(last, Incident) and _belongs(last, event):
            items[latest or 0] = Incident(events=(*last.events, event))
        else:
            latest = len(items)
            items.append(Incident(events=(event,)))
    return items


def _belongs(incident: Incident, event: _Meddling) -> bool:
    last = incident.events[-1]
    if event.t - last.t > TOGETHER_S:
        return False
    players = {e.player for e in (*incident.events, event) if isinstance(e, Touch) and e.player is not None}
    return len(players) <= 1


def draft_incident(game: Game, state: GameState, incident: Incident) -> Draft | None:
    """The ruling on an incident between strokes; None where there is nothing to rule."""
    believed = tuple(
        e for e in incident.events
        if e.confidence >= LIKELY and not (isinstance(e, Touch) and e.ball == CUE and state.cue_ball in IN_HAND)
    )  # fmt: skip
    dropped = [e for e in incident.events if e.confidence < LIKELY]
    if not believed and not dropped:
        return None  # the cue ball in hand is placed by hand
    first, last = incident.events[0], incident.events[-1]
    if not believed:
        draft = draft_between(state, RulingKind.BETWEEN, first.t, last.t, player=state.turn)
        return replace(draft, doubts=tuple(_unsure(e) for e in dropped))
    surest = max(e.confidence for e in believed)
    doubts = tuple(_unsure(e) for e in believed if e.confidence < game.settings.sure)
    if surest >= game.settings.sure:
        doubts = ()
    found = Incident(events=believed)
    offender = _toucher(state, found)
    if not found.is_interference and offender in (state.turn, state.last_striker):
        draft = _touched(game, state, found, offender)
        if _may_be_either(state, found):
            doubts += ("who_touched",)
    else:
        draft = _interfered(game, state, found, offender)
    return replace(draft, doubts=(*draft.doubts, *doubts), confidence=min(surest, draft.confidence))


def _unsure(event: _Meddling) -> str:
    ball = event.stopped_ball if isinstance(event, Interference) else event.ball
    return f"unsure:{event.type}:{ball or ''}:{event.confidence:.2f}"


def _toucher(state: GameState, incident: Incident) -> str:
    """Who touched: the event says, else the player at the table."""
    named = next((e.player for e in incident.events if isinstance(e, Touch) and e.player in state.players), None)
    if named is not None:
        return named
    soon = state.strokes > 0 and incident.events[0].t - state.rest_s <= STILL_THERE_S
    return state.last_striker if soon and state.last_striker is not None else state.turn


def _may_be_either(state: GameState, incident: Incident) -> bool:
    """Whether both the player of the last stroke and the next may be at the table, and the event does not say."""
    named = any(isinstance(e, Touch) and e.player in state.players for e in incident.events)
    passed = state.strokes > 0 and state.last_striker not in (None, state.turn)
    return passed and not named and STILL_THERE_S < incident.events[0].t - state.rest_s < HAS_LEFT_S


def _touched(game: Game, state: GameState, incident: Incident, offender: str) -> Draft:
    """G-20.5: a ball touched before or after a stroke. The cue ball in hand stays in hand (R-6)."""
    first, last = incident.events[0], incident.events[-1]
    balls = tuple(dict.fromkeys(e.ball for e in incident.events if isinstance(e, Touch)))
    surest = max(incident.events, key=lambda e: e.confidence)
    one = foul(FoulCode.BALL_TOUCHED, first.t, *balls, seen=surest)
    to = state.after(offender)
    draft = replace(
        draft_between(state, RulingKind.BETWEEN, first.t, last.t, player=offender),
        offender=offender, fouls=(one,), next_player=to if offender == state.turn else state.turn,
    )  # fmt: skip
    if game.costs(one):
        draft = with_fine(game, state, draft, game.fine(state, offender, to, last.t))
    return draft


def _interfered(game: Game, state: GameState, incident: Incident, toucher: str) -> Draft:
    """G-19 between strokes: the position is restored and play goes on; the opponent pays, an outsider does not."""
    first, last = incident.events[0], incident.events[-1]
    disturbed = dict.fromkeys(_balls(incident))
    doubts: list[str] = []
    notes: list[str] = []
    official = [e for e in incident.events if isinstance(e, Interference)]
    moved = [e for e in incident.events if isinstance(e, Moved)]
    by_opponent = any(e.by is InterferenceBy.OPPONENT for e in official) or (
        not official and (any(e.cause is MovedCause.OPPONENT for e in moved) or (not moved and toucher != state.turn))
    )
    if not official and any(e.cause is MovedCause.UNKNOWN for e in moved):
        doubts.append("moved_by_unknown")
    for event in official:
        if event.intentional and event.by is InterferenceBy.OPPONENT:
            doubts.append("unsporting_conduct")
        elif event.intentional:
            notes.append("stop_until_gone")
    draft = replace(
        draft_between(state, RulingKind.INTERFERENCE, first.t, last.t, player=state.turn),
        restored=tuple(at(ball, state.places[ball]) for ball in disturbed if ball in state.places),
        doubts=tuple(doubts), notes=tuple(notes),
    )  # fmt: skip
    if not by_opponent:
        return draft
    offender = toucher if toucher != state.turn else state.after(state.turn)
    if len(state.players) > 2 and toucher == state.turn:
        draft = replace(draft, doubts=(*draft.doubts, "which_opponent"))
    one = foul(FoulCode.INTERFERENCE, first.t, *disturbed, seen=max(incident.events, key=lambda e: e.confidence))
    draft = replace(draft, offender=offender, fouls=(one,))
    return with_fine(game, state, draft, game.fine(state, offender, state.turn, last.t))


def _balls(incident: Incident) -> list[str]:
    named = [e.stopped_ball if isinstance(e, Interference) else e.ball for e in incident.events]
    return [ball for ball in named if ball]
