"""``adjudicate(state, stroke) -> (state, ruling)``: a stroke judged with what is unsure taken both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vision_referee.domain.events import Event, Rest, Returned, ReturnTouched
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import Line
from vision_referee.rules.calls import is_complete, last_call
from vision_referee.rules.conclude import conclude
from vision_referee.rules.correction import NONE, Correction
from vision_referee.rules.doubt import Edges, believed, joint_cases
from vision_referee.rules.draft import Draft
from vision_referee.rules.game import Game
from vision_referee.rules.judge import judge
from vision_referee.rules.state import GameState, Phase
from vision_referee.rules.stroke import Stroke, gather


def adjudicate(
    game: Game, state: GameState, stroke: Stroke, *, ruling_id: int = 1, fix: Correction = NONE
) -> tuple[GameState, Ruling]:
    """Judge one stroke. The state returned is that at the stroke's end, with nothing done between strokes yet."""
    draft = decide(game, state, stroke, fix)
    draft = replace(draft, notes=(*_circumstances(game, state), *draft.notes))
    after, ruling = conclude(game, state, draft, ruling_id, fix)
    over = after.phase is Phase.OVER
    return (
        replace(
            after,
            phase=Phase.OVER if over else Phase.PLAY,
            calls=(),
            picked_up={},
            strokes=state.strokes + 1,
            last_striker=draft.player,
            last_violated=draft.violated_house,
            rest_s=stroke.t_end,
            clock_from_s=stroke.t_end,
            rest_confidence=1.0,
            in_motion=stroke.cut_short,
            choice_open=bool(ruling.choice),
            lag_missing=False,
            breaker=state.breaker or draft.player,
        ),
        ruling,
    )


def _circumstances(game: Game, state: GameState) -> list[str]:
    """What a referee says of a stroke before its outcome: that it was the break, and what was called."""
    notes = ["break"] if state.phase is Phase.BREAK else []
    call = last_call(state) if game.called else None
    if call is not None and is_complete(state, call, game.settings):
        notes.append(f"called:{call.ball or ''}:{call.pocket or ''}:{call.how or ''}")
    return notes


def decide(game: Game, state: GameState, stroke: Stroke, fix: Correction = NONE) -> Draft:
    """The likeliest decision, with a doubt for each unsure fact or measure that would change it."""
    sure = game.settings.sure
    taken, unsure = believed(stroke.events, sure)

    def judged(
        flips: frozenset[int] = frozenset(), edges: Edges | None = None, *, equipment: bool = True,
        at: GameState = state, told: Stroke = stroke,
    ) -> Draft:  # fmt: skip
        events = [e for i, e in enumerate(stroke.events) if taken[i] != (i in flips)]
        facts = gather(told, events, equipment=equipment)
        return judge(game, at, told, facts, edges or Edges(), fix)

    edges = Edges()
    draft = judged(edges=edges)
    if fix.given:
        return draft
    doubts: list[str] = []
    likely = 1.0
    lone: list[tuple[int, float]] = []
    for index, confidence in unsure:
        if _says_nothing(stroke.events[index]):
            continue
        if not draft.same_decision(judged(frozenset({index}))):
            doubts.append(_unsure(stroke.events[index]))
            likely = min(likely, confidence)
        else:
            lone.append((index, confidence))
    for which, chance in joint_cases([confidence for _, confidence in lone], sure):
        if not draft.same_decision(judged(frozenset(lone[i][0] for i in which))) and chance > (1 - sure) / 2:
            doubts.append(_unsure(stroke.events[lone[which[0]][0]]))
            likely = min(likely, 1 - chance)
            break
    for key, said in edges.met.items():
        if not draft.same_decision(judged(edges=Edges(flipped=frozenset({key})))):
            doubts.append(said)
            likely = min(likely, 0.5 + sure / 4)
    if any(_from_unknown(event) for event in stroke.events) and not draft.same_decision(judged(equipment=False)):
        doubts.append("returned_from_unknown")
        likely = min(likely, 0.6)
    rest = next((i for i, e in enumerate(stroke.events) if isinstance(e, Rest) and not taken[i]), None)
    if rest is not None and stroke.cut_short:  # had it been the rest, the next strike would not have come too early
        whole = replace(stroke, cut_short=False, ended=True)
        if not draft.same_decision(judged(frozenset({rest}), told=whole)):
            doubts.append(_unsure_rest(stroke.events[rest].confidence))
            likely = min(likely, 1 - stroke.events[rest].confidence)
    doubts += _of_numbers(game, state, lambda at: not draft.same_decision(judged(at=at)))
    doubts += [*stroke.doubts, *_of_the_stroke(state, stroke, sure)]
    if draft.doubts:
        likely = min(likely, 0.75)
    return replace(draft, doubts=tuple(dict.fromkeys((*draft.doubts, *doubts))), confidence=likely)


def _says_nothing(event: Event) -> bool:
    """Lines other than the centre line decide nothing in a stroke, nor does a ball's stop."""
    return event.type in ("stopped", "rest") or (event.type == "crossed" and getattr(event, "line", None) is Line.HOUSE)


def _unsure(event: Event) -> str:
    ball = getattr(event, "ball", None) or "-".join(
        ball for ball in getattr(event, "balls", ()) if isinstance(ball, str)
    )
    return f"unsure:{event.type}:{ball}:{event.confidence:.2f}"


def _unsure_rest(confidence: float) -> str:
    return f"unsure:rest::{confidence:.2f}"


def _from_unknown(event: Event) -> bool:
    return isinstance(event, Returned) and event.touched is ReturnTouched.UNKNOWN


def _of_numbers(game: Game, state: GameState, differs: Callable[[GameState], bool]) -> list[str]:
    """A number read without being sure of it, where it changes the ruling."""
    if not game.numbers_matter():
        return []
    doubts = []
    for ball in sorted(state.unsure_numbers):
        without = replace(state, numbers={b: n for b, n in state.numbers.items() if b != ball})
        if differs(without):
            doubts.append(f"unsure_number:{ball}")
    return doubts


def _of_the_stroke(state: GameState, stroke: Stroke, sure: float) -> list[str]:
    doubts = []
    if stroke.strike.confidence < sure:
        doubts.append(f"unsure:strike:{stroke.strike.ball}:{stroke.strike.confidence:.2f}")
    if state.rest_confidence < sure:
        doubts.append(_unsure_rest(state.rest_confidence))
    if not stroke.ended and not stroke.cut_short:
        doubts.append("end_not_seen")
    if stroke.strike.player in state.players and stroke.strike.player != state.turn:
        doubts.append("other_player")
    if state.lag_missing:
        doubts.append("lag_missing")
    return doubts
