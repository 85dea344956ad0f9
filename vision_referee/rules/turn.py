"""A turn: one stroke (or a lag) and all that happens until the next; what of it belongs to which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import Call, Event, Interference, Moved, Pocketed, Rest, Strike, Touch
from vision_referee.domain.rulings import CueBallState, Ruling, RulingKind
from vision_referee.rules.between import Between, Numbers
from vision_referee.rules.conclude import conclude, draft_between
from vision_referee.rules.doubt import LIKELY
from vision_referee.rules.game import Game
from vision_referee.rules.general import adjudicate
from vision_referee.rules.jolt import jolted
from vision_referee.rules.lag import after_lag, are_lag, is_lone_lag_strike, judge_lag
from vision_referee.rules.scribe import Scribe
from vision_referee.rules.state import IN_HAND, GameState, Phase
from vision_referee.rules.stroke import DESCRIBES_STROKE, STROKE_EVENTS, Stroke

JUST_BEFORE_S = 3.0
"""A touch so shortly before the strike is of the stroke: nobody else can have come to the table."""
AFTER_CALL_S = 6.0
"""So too a little longer where the stroke had already been called."""

WORD_ON_STROKE_S = 15.0
"""So soon after a stroke an official's word on interference means what was seen during it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn came to."""

    state: GameState
    rulings: tuple[Ruling, ...]
    carried: tuple[Event, ...] = ()
    """Events that belong to the next stroke."""
    rack: int = 0


@dataclass(slots=True)
class Turn:
    """The events of one turn as they come in; ``before`` is the state that it begins with."""

    before: GameState
    rack: int = 0
    prelude: tuple[Event, ...] = ()
    strikes: list[Strike] = field(default_factory=list)
    stroke: list[Event] = field(default_factory=list)
    after: list[Event] = field(default_factory=list)
    rest: Rest | None = None
    is_lag: bool = False

    def takes(self, event: Event) -> bool:
        """Take the event in, or say False: it is the strike that begins the next turn."""
        if isinstance(event, Strike) and event.confidence >= LIKELY:
            return self._takes_strike(event)
        rolling = bool(self.strikes) and self.rest is None
        if rolling and isinstance(event, Rest) and event.confidence >= LIKELY:
            self.rest = event
            self.stroke.append(event)
        elif rolling and isinstance(event, STROKE_EVENTS):
            self.stroke.append(event)
        else:
            self.after.append(event)
        return True

    def _takes_strike(self, strike: Strike) -> bool:
        if not self.strikes:
            return False
        first = self.strikes[0]
        if self.rest is None and len(self.strikes) == 1 and are_lag(self.before, first, strike):
            self.strikes.append(strike)
            self.is_lag = True
            return True
        return False

    @property
    def ready(self) -> bool:
        """Whether something can be ruled now: nothing rolls."""
        return not self.strikes or self.rest is not None

    # --- ruling -----------------------------------------------------------------------------------------------------

    def judged(
        self, game: Game, scribe: Scribe, numbers: Sequence[Numbers], confirmed: frozenset[int],
        next_strike: Strike | None = None,
    ) -> Outcome:  # fmt: skip
        """Rule on all of the turn. ``next_strike`` ends it; None while it goes on."""
        state = self.before
        rulings: list[Ruling] = []
        lag = self.is_lag or (len(self.strikes) == 1 and is_lone_lag_strike(state, self.strikes[0]))
        carried = self._carried(next_strike)
        between = [event for event in self.after if event not in carried]
        fall_doubts: dict[int, tuple[str, ...]] = {}
        if lag:
            state = self._judge_lag(game, scribe, state, rulings)
        elif self.strikes and state.phase is not Phase.OVER:
            own, between, fall_doubts = self._sorted_after(game, state, between)
            stroke = self._stroke(own, next_strike, confirmed, fall_doubts)
            ready = self._ready_for_stroke(state)
            ruling_id = scribe.id_of("stroke", self.strikes[0])
            state, ruling = adjudicate(game, ready, stroke, ruling_id=ruling_id, fix=scribe.fix_of(ruling_id))
            rests = [event for event in self.stroke if isinstance(event, Rest)]
            if rests:  # one that was likelier not to be makes the next strike too early, or not (G-20.3)
                state = replace(state, rest_confidence=(self.rest or rests[-1]).confidence)
            rulings.append(ruling)
        elif self.strikes and not (state.match_over or state.struck_after):
            state = self._struck_after_the_game(game, scribe, state, rulings)
        fold = Between(
            game=game, state=state, scribe=scribe, numbers=numbers, rack=self.rack, rulings=rulings,
            fall_doubts=fall_doubts,
        )  # fmt: skip
        fold.run(between, next_strike)
        return Outcome(state=fold.state, rulings=tuple(rulings), carried=carried, rack=fold.rack)

    def _judge_lag(self, game: Game, scribe: Scribe, state: GameState, rulings: list[Ruling]) -> GameState:
        t_end = self.rest.t if self.rest else max(e.t for e in (*self.strikes, *self.stroke))
        draft = judge_lag(game, state, self.strikes, self.stroke, t_end)
        ruling_id = scribe.id_of("stroke", self.strikes[0])
        draft = replace(draft, cue_ball=CueBallState.IN_HAND_HOUSE)
        concluded, ruling = conclude(game, state, draft, ruling_id, scribe.fix_of(ruling_id))
        rulings.append(ruling)
        known = replace(state, score=concluded.score, lag_seen=True, clock_from_s=t_end)
        return after_lag(known, ruling.winner)

    def _struck_after_the_game(self, game: Game, scribe: Scribe, state: GameState, rulings: list[Ruling]) -> GameState:
        """Nobody need judge balls knocked about; but if a rack was missed, the next game is being played."""
        strike = self.strikes[0]
        draft = draft_between(state, RulingKind.GAME, strike.t, strike.t)
        draft = replace(draft, next_player=None, doubts=("struck_after_game",))
        ruling_id = scribe.id_of("after", strike)
        state, ruling = conclude(game, state, draft, ruling_id, scribe.fix_of(ruling_id))
        rulings.append(ruling)
        return replace(state, struck_after=True)

    def _ready_for_stroke(self, state: GameState) -> GameState:
        """The calls that were made while the last stroke still ran are this stroke's."""
        if state.phase is Phase.BEFORE:
            # No rack and no rest has been seen: the cue ball is where it was struck.
            state = replace(state, cue_ball=CueBallState.IN_PLACE)
        strike = self.strikes[0]
        barely = {strike.ball: (strike.x, strike.y)}
        if strike.ball in state.places or strike.ball == CUE:
            state = replace(state, places=dict(state.places) | barely)
        if state.lag_wanted:
            state = replace(state, lag_wanted=False, lag_missing=True)
        # A rack that was ordered and has not been seen is taken for set.
        broken_again = state.break_again and state.reracked
        return replace(state, reracked=False, break_again=False, phase=Phase.BREAK if broken_again else state.phase)

    def _stroke(
        self, own: list[Event], next_strike: Strike | None, confirmed: frozenset[int],
        fall_doubts: dict[int, tuple[str, ...]],
    ) -> Stroke:  # fmt: skip
        strike = self.strikes[0]
        in_hand = self.before.cue_ball in IN_HAND
        prelude = [e for e in self.prelude if not (isinstance(e, Touch) and e.ball == CUE and in_hand)]
        cut_short = self.rest is None and next_strike is not None
        last_s = max([strike.t, *(e.t for e in self.stroke)])
        end_s = self.rest.t if self.rest else next_strike.t if next_strike else last_s
        falls = tuple(doubt for event in own for doubt in fall_doubts.get(event.id or 0, ()))
        return Stroke(
            strike=strike, events=(*prelude, *self.stroke, *own), t_end=end_s, ended=self.rest is not None,
            cut_short=cut_short, confirmed=confirmed, doubts=falls,
        )  # fmt: skip

    def _sorted_after(
        self, game: Game, state: GameState, between: list[Event]
    ) -> tuple[list[Event], list[Event], dict[int, tuple[str, ...]]]:
        """Split what came after the rest: what belongs to the stroke, what does not, and doubts about falls."""
        own: list[Event] = []
        others: list[Event] = []
        doubts: dict[int, tuple[str, ...]] = {}
        fallen: set[str] = set()
        for event in between:
            if isinstance(event, Pocketed) and self.rest is not None and event.ball not in fallen:
                by_stroke, about = self._fell_by_stroke(game, state, event)
                fallen.add(event.ball)
                if event.id is not None and about:
                    doubts[event.id] = about
                (own if by_stroke else others).append(event)
            elif isinstance(event, DESCRIBES_STROKE) or self._names_what_happened(event):
                own.append(event)
            else:
                others.append(event)
        return own, others, doubts

    def _names_what_happened(self, event: Event) -> bool:
        """An official's word, a little late, on interference with the stroke."""
        if not isinstance(event, Interference) or self.rest is None:
            return False
        seen = any(isinstance(e, Moved) or (isinstance(e, Touch) and e.player) for e in self.stroke)
        return event.stopped_ball is not None or (seen and event.t - self.rest.t <= WORD_ON_STROKE_S)

    def _fell_by_stroke(self, game: Game, state: GameState, fall: Pocketed) -> tuple[bool, tuple[str, ...]]:
        """G-16: within 5 s after the stroke, and not from a jolt, it fell by the stroke."""
        rest_s = self.rest.t if self.rest else fall.t
        touched = {ball for event in self.stroke for ball in getattr(event, "balls", ()) if isinstance(ball, str)}
        touched |= {self.strikes[0].ball} | {e.ball for e in self.stroke if isinstance(e, Touch | Moved)}
        since = state.hanging[fall.ball].since_s if fall.ball in state.hanging and fall.ball not in touched else rest_s
        settings = game.settings
        hung_s = fall.t - since
        by_stroke = hung_s < settings.hanging_s - 1e-9
        doubts: list[str] = []
        if abs(hung_s - settings.hanging_s) < settings.time_error_s:
            doubts.append("edge:hanging_time")
        if by_stroke:
            jolt = jolted([*self.stroke, *self.after], fall, settings)
            by_stroke = not jolt.likely
            if jolt.likely and not jolt.doubts:
                doubts.clear()  # put back either way
            doubts += jolt.doubts
        return by_stroke, tuple(doubts)

    def _carried(self, next_strike: Strike | None) -> tuple[Event, ...]:
        """What was seen or said between the strokes but belongs to the next one."""
        if next_strike is None:
            return ()
        end_s = self.rest.t if self.rest else None
        carried: list[Event] = []
        for event in self.after:
            to_strike = next_strike.t - event.t
            if isinstance(event, DESCRIBES_STROKE):
                if not self.strikes or (end_s is not None and to_strike < event.t - end_s):
                    carried.append(event)
            elif isinstance(event, Touch) and self._touch_of_next(event, to_strike, end_s):
                carried.append(event)
        return tuple(carried)

    def _touch_of_next(self, touch: Touch, to_strike_s: float, end_s: float | None) -> bool:
        called = any(isinstance(e, Call) and e.t <= touch.t for e in self.after)
        near = to_strike_s <= (AFTER_CALL_S if called else JUST_BEFORE_S)
        return near and (end_s is None or to_strike_s < touch.t - end_s)
