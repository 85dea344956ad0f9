"""What follows from a decision: a repeat, a fine, the points of what counted, what still hangs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vision_referee.domain.events import Pocketed
from vision_referee.domain.rulings import CountedBall, RulingKind
from vision_referee.rules.draft import Draft
from vision_referee.rules.game import Fine, Game
from vision_referee.rules.spotting import spot_all
from vision_referee.rules.state import GameState, Hanging, at
from vision_referee.rules.stroke import Facts, Stroke, displaced


def replayed(state: GameState, stroke: Stroke, facts: Facts, striker: str, kind: RulingKind) -> Draft:
    """The position before the stroke is restored and the striker repeats it: no penalty, nothing counts."""
    return Draft(
        kind=kind, t_start=stroke.strike.t, t_end=stroke.t_end, player=striker,
        restored=tuple(displaced(state, facts)), replay=True, next_player=striker, cue_ball=state.cue_ball,
        places=state.places, hanging=state.hanging, barred=state.barred,
    )  # fmt: skip


def with_fine(game: Game, state: GameState, draft: Draft, fine: Fine) -> Draft:
    """The draft with a penalty; a ball that goes back from the shelf is spotted after all others (M-4)."""
    spotted, places = draft.spotted, draft.places
    returned = (fine.returned,) if fine.returned else ()
    if fine.returned:
        ((ball, place),) = spot_all(state.table, [fine.returned], dict(places), game.spotter_of_penalty())
        spotted = (*spotted, at(ball, place))
        places = dict(places) | {ball: place}
    offender = draft.offender or draft.player or state.turn
    penalty = replace(fine.penalty, offender=offender) if fine.penalty else None
    notes = [f"ball_back:{fine.returned}"] if fine.returned else ["ball_owed"] if fine.debt else []
    barred = game.bar_returned(offender, state.after(offender), returned)
    return replace(
        draft, penalty=penalty, spotted=spotted, places=places, returned=returned, debts=fine.debt,
        removals=draft.removals + fine.removals, barred=barred or draft.barred, notes=(*draft.notes, *notes),
    )  # fmt: skip


def points_of(
    game: Game, state: GameState, pots: list[Pocketed], lying: dict[str, tuple[float, float]],
    *, spotted: Iterable[str] = (),
) -> tuple[tuple[CountedBall, ...], tuple[str, ...]]:  # fmt: skip
    """The counted balls with their points. Of the last two by one stroke, the later is the last ball (S-3)."""
    left = game.balls_left(dict(lying) | dict.fromkeys(spotted, (0.0, 0.0)))
    counted: list[CountedBall] = []
    doubts: list[str] = []
    for index, pot in enumerate(pots):
        is_last = state.balls_known and left == 0 and index == len(pots) - 1
        points = game.points(state, pot.ball, last=is_last)
        if points is None:
            doubts.append("unknown_number")
        counted.append(CountedBall(ball=pot.ball, pocket=pot.pocket, points=points or 0))
    return tuple(counted), tuple(dict.fromkeys(doubts))


def still_hanging(state: GameState, facts: Facts) -> dict[str, Hanging]:
    """Balls that hung before and have not moved since keep their time."""
    moved = {ball for contact in facts.contacts for ball in contact.balls} | {facts.strike.ball}
    touched = {touch.ball for touch in facts.touches} | {event.ball for event in facts.moved}
    return {ball: hung for ball, hung in state.hanging.items() if ball not in moved | touched | facts.gone}
