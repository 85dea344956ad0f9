"""What happens between two strokes: hands, officials, racks, balls that fall late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import (
    AgreeDraw,
    Call,
    ConcedeBreak,
    Event,
    FrameOverMistake,
    Handicap,
    Hanging,
    PickedUp,
    Placed,
    Pocketed,
    Racked,
    Remove,
    Rerack,
    Rest,
    ShotClock,
    Starts,
    Strike,
    Warning_,
)
from vision_referee.domain.rulings import CountedBall, CueBallState, FoulCode, Ruling, RulingKind
from vision_referee.rules.conclude import conclude, draft_between
from vision_referee.rules.doubt import LIKELY
from vision_referee.rules.draft import Draft
from vision_referee.rules.fouls import foul
from vision_referee.rules.game import Game
from vision_referee.rules.house import house_side
from vision_referee.rules.incidents import Incident, draft_incident, gather_incidents
from vision_referee.rules.outcome import with_fine
from vision_referee.rules.rack import FULL_RACK, new_game, rack_notes, with_rack
from vision_referee.rules.scribe import Scribe
from vision_referee.rules.state import IN_HAND, GameState, Phase, Removal, at
from vision_referee.rules.state import Hanging as OnLip

BLOCKED_POSITION, HOUSE_VIOLATION = "blocked_position", "house_violation"
SEVEN_EACH = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The numbers read in one game (identified), and which of them are unsure."""

    known: Mapping[str, int]
    unsure: frozenset[str]


@dataclass(slots=True)
class Between:
    """Folds the events between two strokes. Works on a copy of the state; ``rulings`` are those it gives."""

    game: Game
    state: GameState
    scribe: Scribe
    numbers: Sequence[Numbers]
    rack: int
    """How many full racks have been set before; the index into ``numbers``."""
    rulings: list[Ruling]
    fall_doubts: Mapping[int, tuple[str, ...]]
    """Doubts about when and why a ball fell, by the fall's id."""

    def run(self, events: Sequence[Event], next_strike: Strike | None) -> None:
        """Fold the events; ``next_strike`` is the one that ends the interval, where it is known."""
        placed = {event.ball: event.confidence for event in events if isinstance(event, Placed)}
        official = [event for event in events if isinstance(event, Remove)]
        for item in gather_incidents(events):
            if isinstance(item, Incident):
                self._incident(item)
            elif isinstance(item, PickedUp):
                self._picked_up(item, back=placed.get(item.ball, 0.0), by_hand_alone=not official)
            else:
                self._event(item)
        if next_strike is not None:
            self._before(next_strike)

    # --- one event --------------------------------------------------------------------------------------------------

    def _event(self, event: Event) -> None:
        state = self.state
        match event:
            case Racked() if event.confidence >= LIKELY:
                self._racked(event)
            case Racked():
                self._rack_that_was_not(event)
            case Rest() if event.confidence >= LIKELY:
                self._rest(event)
            case Placed() if event.confidence >= LIKELY:
                self._placed(event)
            case Pocketed():
                self._late_fall(event)
            case Hanging():
                self._hangs(event)
            case Call():
                self.state = replace(state, calls=(*state.calls, event))
            case Remove():
                self._remove(event)
            case Warning_():
                self._warning(event)
            case ShotClock():
                self.state = replace(state, clock_on_s=event.t if event.on else None)
                self._put_down(event, f"clock_on:{self.game.settings.shot_clock_s:g}" if event.on else "clock_off")
            case Rerack():
                self._rerack(event)
            case ConcedeBreak():
                self._concede(event)
            case Handicap():
                self._handicap(event)
            case FrameOverMistake():
                self._mistake(event)
            case AgreeDraw():
                self._draw(event)
            case Starts():
                self._starts(event)
            case Strike():
                self._ghost_strike(event)
            case _:
                pass  # a ball that rolls or stops between strokes is a hand's doing, which the touch reports

    def _issue(self, tag: str, event: Event, draft: Draft, *, restarts_clock: bool = True) -> None:
        ruling_id = self.scribe.id_of(tag, event)
        self.state, ruling = conclude(self.game, self.state, draft, ruling_id, self.scribe.fix_of(ruling_id))
        if restarts_clock:
            self.state = replace(self.state, clock_from_s=max(self.state.clock_from_s, draft.t_end))
        self.rulings.append(ruling)

    @property
    def _in_play(self) -> bool:
        state = self.state
        return state.phase in (Phase.PLAY, Phase.BREAK) and not state.lag_wanted and not state.reracked

    # --- racks and games --------------------------------------------------------------------------------------------

    def _racked(self, event: Racked) -> None:
        state, full = self.state, len(event.balls) >= FULL_RACK
        if full:
            self.rack += 1
        again = state.reracked or (state.choice_open and full)  # G-18; M-8: racked again
        notes: tuple[str, ...] = ()
        doubts: tuple[str, ...] = ()
        if again:
            broken_again = state.break_again or state.choice_open
            state = with_rack(replace(state, reracked=False, break_again=False, choice_open=False), event)
            numbers = self._numbers_now()  # with a full rack the labels begin anew
            self.state = replace(
                state, phase=Phase.BREAK if broken_again else Phase.PLAY, strokes=0,
                numbers=numbers.known, unsure_numbers=numbers.unsure,
            )  # fmt: skip
        elif state.match_over:
            return
        else:
            unfinished = state.phase is Phase.PLAY and state.strokes > 0
            doubts = ("racked_in_the_middle",) if unfinished else ()
            if unfinished and not full:
                self.state = with_rack(state, event)
            else:
                self._new_game(event)
        notes = rack_notes(self.game, self.state, event, full=not again)
        if notes or doubts:
            draft = draft_between(
                self.state, RulingKind.GAME if doubts else RulingKind.BETWEEN, event.t, event.t, player=self.state.turn
            )
            # The rack is reported before the break; a person has it set anew, or lets it stand.
            self._issue("rack", event, replace(draft, notes=notes, doubts=(*doubts, *notes)))

    def _rack_that_was_not(self, event: Racked) -> None:
        """A rack that likelier was not set, where one is due: without it there is no game to judge."""
        state = self.state
        due = state.phase in (Phase.BEFORE, Phase.OVER) or state.reracked or state.choice_open
        if due and not state.match_over:
            draft = draft_between(state, RulingKind.GAME, event.t, event.t)
            self._issue("rack", event, replace(draft, doubts=(f"unsure:racked::{event.confidence:.2f}",)))

    def _numbers_now(self) -> Numbers:
        return self.numbers[min(self.rack, len(self.numbers) - 1)]

    def _new_game(self, event: Racked) -> None:
        numbers = self._numbers_now()
        self.state = with_rack(new_game(self.game, self.state, numbers.known, numbers.unsure), event)

    def _placed(self, event: Placed) -> None:
        state = self.state
        if (state.lag_wanted or state.reracked) and event.ball not in state.places:
            return  # a ball from a shelf to play the lag with
        picked = {ball: place for ball, place in state.picked_up.items() if ball != event.ball}
        self.state = replace(state, places=dict(state.places) | {event.ball: (event.x, event.y)}, picked_up=picked)

    def _rest(self, event: Rest) -> None:
        state = self.state
        places = {ball.ball: (ball.x, ball.y) for ball in event.balls}
        lag_balls = state.lag_seen and len(places) <= 2
        if state.phase is Phase.BEFORE and not lag_balls:
            # A file that begins in the middle of a game: the balls lie as listed.
            objects = frozenset(ball for ball in places if ball != CUE)
            self.state = replace(
                state, phase=Phase.PLAY, places=places, balls_known=True, starter=None,
                full_rack=objects if len(objects) == FULL_RACK else frozenset(),
                cue_ball=self.game.cue_ball_after(
                    CueBallState.IN_PLACE if CUE in places else house_side(state.table, places)
                ),
                rest_s=event.t,
                clock_from_s=event.t,
            )  # fmt: skip
        elif state.phase in (Phase.PLAY, Phase.BREAK) and not state.lag_wanted and not state.reracked:
            seen = {ball: place for ball, place in places.items() if ball in state.places or ball == CUE}
            self.state = replace(state, places=dict(state.places) | seen)

    def _rerack(self, event: Rerack) -> None:
        state = self.state
        if state.phase is not Phase.PLAY:
            return
        self._award_owed(event)
        state = self.state
        if state.phase is not Phase.PLAY:
            return
        draft = draft_between(state, RulingKind.GAME, event.t, event.t, player=state.turn)
        if state.choice_open:  # M-8
            self.state = replace(state, reracked=True, break_again=True, choice_open=False, removals=(), hanging={})
            draft = replace(draft, cue_ball=CueBallState.IN_HAND_HOUSE, hanging={}, notes=("break_again",))
        else:  # G-18
            self.state = replace(state, reracked=True, lag_wanted=True, removals=(), hanging={}, barred=None)
            doubts = () if state.position_warned else ("rerack_without_warning",)
            draft = replace(draft, next_player=None, hanging={}, notes=("rerack",), doubts=doubts, barred=None)
        self._issue("rerack", event, draft)
        self.state = replace(self.state, cue_ball=CueBallState.IN_HAND_HOUSE, position_warned=False)

    def _concede(self, event: ConcedeBreak) -> None:
        """G-3: the winner of the lag leaves the break, or the stroke from hand, to the opponent."""
        state = self.state
        other = state.after(state.starter or state.turn)
        if state.phase in (Phase.BEFORE, Phase.OVER):
            self.state = replace(state, turn=other, starter=other)
        elif state.strokes == 0 or state.reracked or state.respotted is not None:
            self.state = replace(state, turn=other)
        else:
            return
        self._put_down(event, "conceded", player=state.starter or state.turn)

    def _starts(self, event: Starts) -> None:
        state = self.state
        if event.player not in state.players:
            return
        if state.phase in (Phase.BEFORE, Phase.OVER):
            self.state = replace(state, turn=event.player, starter=event.player)
        else:
            self.state = replace(state, turn=event.player, lag_wanted=False, lag_missing=False)

    def _handicap(self, event: Handicap) -> None:
        """S-12: points ahead; said again for a player, the last word holds."""
        state = self.state
        if event.player not in state.players:
            return
        more = event.points - state.handicap.get(event.player, 0)
        score = dict(state.score) | {event.player: state.score.get(event.player, 0) + more}
        self.state = replace(
            state,
            handicap=dict(state.handicap) | {event.player: event.points},
            score=state.score if state.phase is Phase.OVER else score,
        )

    def _draw(self, event: AgreeDraw) -> None:
        """A-6: seven each may be agreed a draw; anything else a person decides."""
        state = self.state
        draft = draft_between(state, RulingKind.GAME, event.t, event.t)
        seven_each = all(state.score.get(name) == SEVEN_EACH for name in state.players)
        if self.game.name == "american" and seven_each and state.phase is Phase.PLAY:
            self._issue("draw", event, replace(draft, notes=("agreed_draw",), drawn=True))
        else:
            self._issue("draw", event, replace(draft, doubts=("draw_not_allowed",)))

    # --- officials --------------------------------------------------------------------------------------------------

    def _warning(self, event: Warning_) -> None:
        state = self.state
        if event.what == HOUSE_VIOLATION:
            # The one who has just broken the house's bounds is meant, else the one about to play.
            whom = state.last_striker if state.last_violated and state.last_striker else state.turn
            self.state = replace(state, warned=state.warned | {whom})
            self._put_down(event, f"warned:{event.what}", player=whom)
        elif event.what == BLOCKED_POSITION:
            self.state = replace(state, position_warned=True)
            self._put_down(event, f"warned:{event.what}")
        else:
            self._put_down(event, f"warned:{event.what}", player=state.turn)

    def _put_down(self, event: Event, note: str, *, player: str | None = None) -> None:
        """An official's word that changes neither position nor score stands in the protocol too."""
        draft = draft_between(self.state, RulingKind.BETWEEN, event.t, event.t, player=player)
        if not self.state.match_over:
            self._issue("word", event, replace(draft, notes=(note,)), restarts_clock=False)

    def _mistake(self, event: FrameOverMistake) -> None:
        """S-8 h: balls disturbed in the belief that the game was over: the position is restored, the turn passes."""
        state = self.state
        if not self._in_play or event.player not in state.players:
            return
        rule = "S-8" if self.game.called else "G-20.5"
        to = state.after(event.player)
        draft = replace(
            draft_between(state, RulingKind.BETWEEN, event.t, event.t, player=event.player),
            offender=event.player,
            fouls=(foul(FoulCode.BALL_TOUCHED, event.t, seen=event, rule=rule),),
            restored=tuple(at(ball, place) for ball, place in state.places.items()),
            next_player=to if event.player == state.turn else state.turn,
            notes=("frame_over_mistake",),
        )
        self._issue(
            "mistake", event, with_fine(self.game, state, draft, self.game.fine(state, event.player, to, event.t))
        )

    # --- balls taken off (M-2, M-4) ---------------------------------------------------------------------------------

    def _picked_up(self, event: PickedUp, *, back: float, by_hand_alone: bool) -> None:
        """``back``: how sure it is that the ball was put down again; then it was not taken."""
        state, sure = self.state, self.game.settings.sure
        if not self._in_play or event.ball not in state.places:
            return
        taken = event.confidence >= LIKELY and back < LIKELY
        may_be = by_hand_alone and bool(state.removals) and self._may_be_taken(event.ball)
        doubts = []
        if event.confidence < sure and back < sure:
            doubts.append(f"unsure:picked_up:{event.ball}:{event.confidence:.2f}")
        if 0 < back < sure and event.confidence >= LIKELY:
            doubts.append(f"unsure:placed:{event.ball}:{back:.2f}")
        if may_be and taken:
            self._take(event.ball, event, doubts=tuple(doubts))
        elif may_be and doubts and not state.removals[0].owed:
            # Not taken, it seems; without it nothing is scored (M-2). A penalty ball not taken is asked about anyway.
            draft = draft_between(state, RulingKind.BETWEEN, event.t, event.t, player=state.removals[0].player)
            self._issue("remove", event, replace(draft, doubts=tuple(doubts)))
        elif event.ball != CUE and event.confidence >= LIKELY:
            self.state = replace(state, picked_up=dict(state.picked_up) | {event.ball: state.places[event.ball]})

    def _may_be_taken(self, ball: str) -> bool:
        return self.game.any_cue_ball or ball != CUE

    def _remove(self, event: Remove) -> None:
        state = self.state
        if state.removals and event.ball in state.places and self._may_be_taken(event.ball) and self._in_play:
            self._take(event.ball, event)
        elif self._in_play:
            draft = draft_between(state, RulingKind.BETWEEN, event.t, event.t, player=state.turn)
            self._issue("remove", event, replace(draft, doubts=(f"remove_not_due:{event.ball}",)))

    def _take(self, ball: str, event: Event, *, doubts: tuple[str, ...] = ()) -> None:
        """The ball goes onto the taker's shelf; the point is entered now and may end the game (M-2)."""
        removal, *others = self.state.removals
        state = replace(self.state, removals=tuple(others))
        self.state = state
        places = {b: place for b, place in state.places.items() if b != ball}
        draft = draft_between(state, RulingKind.BETWEEN, event.t, event.t, player=removal.player)
        cue_ball = state.cue_ball
        if cue_ball in IN_HAND:
            cue_ball = house_side(state.table, places)
        draft = replace(
            draft, counted=(CountedBall(ball=ball, pocket=None, points=1),), places=places, doubts=doubts,
            hanging={b: hung for b, hung in state.hanging.items() if b != ball}, cue_ball=cue_ball,
            notes=(f"taken:{removal.rule}",),
        )  # fmt: skip
        self._issue("remove", event, draft)

    def _award_owed(self, event: Event) -> None:
        """M-4: no ball taken before the next stroke: the point all the same, and a person looks at it."""
        for removal in self.state.removals:
            if removal.owed and self.state.phase is Phase.PLAY:
                self._award(removal, event)
        self.state = replace(self.state, removals=())

    def _award(self, removal: Removal, event: Event) -> None:
        draft = draft_between(self.state, RulingKind.BETWEEN, event.t, event.t, player=removal.player)
        draft = replace(draft, awarded=1, doubts=("penalty_ball_not_taken",))
        self._issue(f"owed:{removal.t}", event, draft)

    # --- balls that fall late (G-16), hang, or are moved ------------------------------------------------------------

    def _hangs(self, event: Hanging) -> None:
        state = self.state
        since = state.hanging[event.ball].since_s if event.ball in state.hanging else state.rest_s
        hung = OnLip(pocket=event.pocket, x=event.x, y=event.y, since_s=since, confidence=event.confidence)
        self.state = replace(state, hanging=dict(state.hanging) | {event.ball: hung})

    def _late_fall(self, event: Pocketed) -> None:
        """It hung 5 s or more, or fell from a jolt: it is put back and play goes on."""
        state = self.state
        if not self._in_play or event.ball not in state.places:
            return
        hung = state.hanging.get(event.ball)
        place = (hung.x, hung.y) if hung else state.places[event.ball]
        doubts = []
        if event.confidence < self.game.settings.sure:
            doubts.append(f"unsure:pocketed:{event.ball}:{event.confidence:.2f}")
        if event.confidence < LIKELY:
            draft = draft_between(state, RulingKind.BETWEEN, event.t, event.t, player=state.turn)
            self._issue("hanging", event, replace(draft, doubts=tuple(doubts)))
            return
        draft = draft_between(state, RulingKind.HANGING, event.t, event.t, player=state.turn)
        hung_s = event.t - (hung.since_s if hung else state.rest_s)
        by_itself = hung_s >= self.game.settings.hanging_s - 1e-9
        draft = replace(
            draft, restored=(at(event.ball, place),), places=dict(state.places) | {event.ball: place},
            doubts=(*doubts, *self.fall_doubts.get(event.id or 0, ())),
            notes=(f"hung:{event.ball}:{hung_s:.1f}" if by_itself else f"jolted:{event.ball}",),
        )  # fmt: skip
        self._issue("hanging", event, draft)

    def _incident(self, incident: Incident) -> None:
        if self._in_play:
            draft = draft_incident(self.game, self.state, incident)
            if draft is not None:
                self._issue("incident", incident.events[0], draft)

    # --- the end of the interval ------------------------------------------------------------------------------------

    def _before(self, strike: Strike) -> None:
        """The next stroke begins: what was left open is settled."""
        self._award_owed(strike)
        for ball, place in self.state.picked_up.items():
            if self._in_play and ball != strike.ball:
                # Taken off without a rule that allows it, and not put back.
                draft = draft_between(self.state, RulingKind.BETWEEN, strike.t, strike.t, player=self.state.turn)
                draft = replace(draft, restored=(at(ball, place),), doubts=(f"taken_off:{ball}",))
                self._issue(f"taken:{ball}", strike, draft)
        self.state = replace(self.state, picked_up={})

    def _ghost_strike(self, event: Strike) -> None:
        """A strike that likelier did not happen: a person looks."""
        if self._in_play:
            draft = draft_between(self.state, RulingKind.BETWEEN, event.t, event.t, player=self.state.turn)
            doubt = f"unsure:strike:{event.ball}:{event.confidence:.2f}"
            self._issue("ghost", event, replace(draft, doubts=(doubt,)))
