"""From a draft to a ruling: the score, who has won, and the state that the next stroke begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from vision_referee.domain.events import BallAt
from vision_referee.domain.rulings import CountedBall, CueBallState, NextStroke, Penalty, Ruling, RulingKind
from vision_referee.rules.correction import Correction
from vision_referee.rules.draft import Draft
from vision_referee.rules.game import Game
from vision_referee.rules.spotting import spot_all
from vision_referee.rules.state import GameState, Phase, at


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """Whether and how the game ended."""

    over: bool = False
    winner: str | None = None
    respot: bool = False
    tied: bool = False


def conclude(game: Game, state: GameState, draft: Draft, ruling_id: int, fix: Correction) -> tuple[GameState, Ruling]:
    """Enter the draft into the score and make the ruling of it, with an official's fields in place of the derived."""
    draft = _corrected(game, state, draft, fix)
    score, shelves, debts = _entered(game, state, draft)
    draft, score, shelves, debts = _debts_paid(game, state, draft, score, shelves, debts)
    if fix.has("score"):
        score = {name: fix.score.get(name, points) for name, points in score.items()}
    end = _ended(game, state, draft, score)
    if fix.has("game_over") or (fix.has("winner") and draft.kind is not RulingKind.LAG):
        end = _End(over=fix.game_over if fix.has("game_over") else True, winner=fix.winner)
    lag_wanted, respotted = state.lag_wanted, state.respotted
    if end.respot:
        draft, shelves, respotted = _respotted(game, state, draft, shelves)
        lag_wanted = True
    after = _state_after(game, state, draft, score, shelves, debts, end)
    after = replace(after, lag_wanted=lag_wanted, respotted=respotted)
    doubts = draft.doubts + (("tied",) if end.tied else ())
    following = None
    if not end.over and not end.respot and draft.next_player is not None:
        following = NextStroke(player=draft.next_player, cue_ball=draft.cue_ball)
    corrected = bool(fix.given)
    ruling = Ruling(
        id=ruling_id,
        kind=draft.kind,
        t_start=draft.t_start,
        t_end=draft.t_end,
        player=draft.player,
        fouls=draft.fouls,
        penalty=draft.penalty,
        counted=draft.counted,
        spotted=draft.spotted,
        restored=draft.restored,
        replay=draft.replay,
        next=following,
        score=dict(score),
        game_over=end.over,
        winner=draft.winner if draft.kind is RulingKind.LAG else end.winner,
        confidence=1.0 if corrected else draft.confidence,
        review=fix.review if corrected else bool(doubts),
        doubts=() if corrected and not fix.review else doubts,
        choice=() if end.over else draft.choice,
        overridden=corrected,
        notes=draft.notes,
        match=dict(after.wins),
        match_over=after.match_over,
        text=dict(fix.text),
    )
    return after, ruling


def _corrected(game: Game, state: GameState, draft: Draft, fix: Correction) -> Draft:
    """The fields that an override names, in rulings of every kind (a stroke's judgement has met them before)."""
    if not fix.given:
        return draft
    if draft.kind is not RulingKind.STROKE:
        draft = _corrected_between(game, state, draft, fix)
    next_player = fix.next_player if fix.next_player in state.players else draft.next_player
    if draft.kind is RulingKind.LAG and fix.winner in state.players:
        draft = replace(draft, winner=fix.winner, replay=False, cue_ball=CueBallState.IN_HAND_HOUSE)
        next_player = fix.next_player or fix.winner
    return replace(
        draft,
        next_player=next_player,
        cue_ball=fix.cue_ball or draft.cue_ball,
        choice=fix.choice if fix.has("choice") else draft.choice,
    )


def _corrected_between(game: Game, state: GameState, draft: Draft, fix: Correction) -> Draft:
    player = fix.player if fix.player in state.players else draft.player
    draft = replace(draft, player=player)
    if fix.has("fouls"):
        draft = replace(draft, fouls=fix.fouls)
        if not fix.fouls and not fix.has("penalty"):
            draft = replace(draft, penalty=None, returned=(), removals=(), debts=0)
    if fix.has("penalty"):
        to = draft.penalty.to if draft.penalty else state.after(draft.offender or draft.player or state.turn)
        given = fix.penalty
        penalty = None
        if given is not None:
            penalty = Penalty(points=given.points, balls=given.balls, to=given.to or to, offender=draft.offender)
        draft = replace(draft, penalty=penalty)
        if penalty is None:
            draft = replace(draft, returned=(), removals=(), debts=0)
    if fix.has("counted"):
        counted = tuple(
            CountedBall(
                ball=b.ball,
                pocket=b.pocket,
                points=b.points if b.points is not None else game.points(state, b.ball, last=False) or 0,
            )
            for b in fix.counted
        )
        names = {ball.ball for ball in counted}
        places = {ball: place for ball, place in draft.places.items() if ball not in names}
        draft = replace(draft, counted=counted, places=places, replay=draft.replay and not counted)
    if fix.has("spotted"):
        draft = replace(draft, spotted=fix.spotted, places=_with(draft.places, fix.spotted))
    if fix.has("restored"):
        draft = replace(draft, restored=fix.restored, places=_with(draft.places, fix.restored))
    if fix.has("replay"):
        draft = replace(draft, replay=fix.replay)
    return draft


def _with(places: Mapping[str, tuple[float, float]], balls: tuple[BallAt, ...]) -> dict[str, tuple[float, float]]:
    return dict(places) | {ball.ball: (ball.x, ball.y) for ball in balls}


def _entered(
    game: Game, state: GameState, draft: Draft
) -> tuple[dict[str, int], dict[str, tuple[str, ...]], dict[str, int]]:
    """Score, shelves and debts after the counted balls and the penalty."""
    score = {name: state.score.get(name, 0) for name in state.players}
    shelves = {name: state.shelves.get(name, ()) for name in state.players}
    debts = {name: state.debts.get(name, 0) for name in state.players}
    if draft.player is not None:
        score[draft.player] += sum(ball.points for ball in draft.counted) + draft.awarded
        shelves[draft.player] += tuple(ball.ball for ball in draft.counted)
    offender = draft.offender or draft.player
    if draft.penalty is not None and draft.penalty.points is not None and offender is not None:
        score[offender] -= draft.penalty.points
        if draft.penalty.to in score:
            score[draft.penalty.to] += draft.penalty.points
    if offender is not None:
        for ball in draft.returned:
            score[offender] -= 1
            shelves[offender] = tuple(b for b in shelves[offender] if b != ball)
        debts[offender] += draft.debts
    return score, shelves, debts


def _debts_paid(
    game: Game,
    state: GameState,
    draft: Draft,
    score: dict[str, int],
    shelves: dict[str, tuple[str, ...]],
    debts: dict[str, int],
) -> tuple[Draft, dict[str, int], dict[str, tuple[str, ...]], dict[str, int]]:
    """M-4, 1994: what an empty shelf owed is paid at the end of the stroke that next scores."""
    player = draft.player
    if player is None or not draft.counted:
        return draft, score, shelves, debts
    while debts[player] and shelves[player]:
        ball = shelves[player][-1]
        ((_, place),) = spot_all(state.table, [ball], dict(draft.places), game.spotter_of_penalty())
        draft = replace(
            draft,
            spotted=(*draft.spotted, at(ball, place)),
            places=dict(draft.places) | {ball: place},
            notes=(*draft.notes, f"debt_paid:{ball}"),
        )
        shelves[player] = shelves[player][:-1]
        score[player] -= 1
        debts[player] -= 1
    return draft, score, shelves, debts


def _ended(game: Game, state: GameState, draft: Draft, score: Mapping[str, int]) -> _End:
    if state.phase in (Phase.OVER, Phase.BEFORE) or draft.kind is RulingKind.LAG:
        return _End()
    if draft.drawn:
        return _End(over=True)
    order = [draft.player] if draft.player else []
    order += [name for name in state.players if name != draft.player]
    target = game.target(len(state.players))
    for name in order:
        if score[name] >= target:
            return _End(over=True, winner=name)
    draw = game.draw_at(len(state.players))
    played_off = state.respotted is not None
    if draw is not None and not played_off and all(points == draw for points in score.values()):
        if game.settings.seventy_all == "respot" and len(state.players) == 2:
            return _End(respot=True)
        return _End(over=True)  # S-4, S-5
    if _balls_ran_out(game, state, draft):
        most = max(score.values())
        leaders = [name for name in state.players if score[name] == most]
        if len(leaders) == 1:
            return _End(over=True, winner=leaders[0])
        return _End(over=True, tied=True)
    return _End()


def _balls_ran_out(game: Game, state: GameState, draft: Draft) -> bool:
    if not state.balls_known or state.reracked or state.lag_wanted:
        return False
    return game.balls_left(draft.places) <= 0 and game.balls_left(state.places) > 0


def _respotted(
    game: Game, state: GameState, draft: Draft, shelves: dict[str, tuple[str, ...]]
) -> tuple[Draft, dict[str, tuple[str, ...]], str | None]:
    """R-5: at 70 : 70 the last ball is spotted on the foot spot; its points stand."""
    counted = [ball.ball for ball in draft.counted]
    last = counted[-1] if counted else next((shelf[-1] for shelf in shelves.values() if shelf), None)
    if last is None or draft.places.keys() - {"cue"}:
        return draft, shelves, None
    spot = state.table.foot_spot_mm
    shelves = {name: tuple(ball for ball in shelf if ball != last) for name, shelf in shelves.items()}
    places = {ball: place for ball, place in draft.places.items() if ball != "cue"} | {last: spot}
    draft = replace(
        draft,
        spotted=(*draft.spotted, at(last, spot)),
        places=places,
        notes=(*draft.notes, "seventy_all_respot"),
        cue_ball=CueBallState.IN_HAND_HOUSE,
    )
    return draft, shelves, last


def _state_after(
    game: Game,
    state: GameState,
    draft: Draft,
    score: Mapping[str, int],
    shelves: Mapping[str, tuple[str, ...]],
    debts: Mapping[str, int],
    end: _End,
) -> GameState:
    after = replace(
        state,
        score=dict(score),
        shelves=dict(shelves),
        debts=dict(debts),
        places=dict(draft.places),
        hanging=dict(draft.hanging),
        removals=state.removals + draft.removals,
        cue_ball=draft.cue_ball,
        turn=draft.next_player or state.turn,
        barred=draft.barred,
    )
    return _game_over(game, after, end.winner) if end.over else after


def _game_over(game: Game, state: GameState, winner: str | None) -> GameState:
    """The game is won, or drawn where nobody has won it; perhaps the match is won with it."""
    wins = {name: state.wins.get(name, 0) for name in state.players}
    if winner is not None:
        wins[winner] = wins.get(winner, 0) + 1
    needed, games = game.settings.wins_needed, game.settings.games
    match_over = bool(needed and max(wins.values()) >= needed) or bool(games and state.game >= games)
    return replace(
        state,
        phase=Phase.OVER,
        wins=wins,
        match_over=match_over,
        last_winner=winner,
        removals=(),
        lag_wanted=False,
        starter=None,
        choice_open=False,
        reracked=False,
        break_again=False,
    )


def draft_between(
    state: GameState, kind: RulingKind, t_start: float, t_end: float, *, player: str | None = None
) -> Draft:
    """A draft that changes nothing: the start of every ruling between strokes."""
    return Draft(
        kind=kind,
        t_start=t_start,
        t_end=t_end,
        player=player,
        next_player=state.turn,
        cue_ball=state.cue_ball,
        places=state.places,
        hanging=state.hanging,
        barred=state.barred,
    )
