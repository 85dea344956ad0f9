"""The referee: takes events one by one, live or from a file, and gives new or replaced rulings."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Confirm, Event, Identified, Override, Racked, Retract, Source, Strike
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import TableSpec
from vision_referee.rules.between import Numbers
from vision_referee.rules.correction import Correction, parse_correction
from vision_referee.rules.doubt import LIKELY
from vision_referee.rules.game import Game
from vision_referee.rules.games import game_of
from vision_referee.rules.rack import FULL_RACK
from vision_referee.rules.scribe import Scribe
from vision_referee.rules.settings import RuleSettings
from vision_referee.rules.state import GameState
from vision_referee.rules.turn import Turn

_Corrections = Retract | Confirm | Override | Identified


def first_state(game: Game, table: TableSpec, players: Sequence[str]) -> GameState:
    """The state before anything has been seen."""
    handicap = {name: points for name, points in game.settings.handicap if name in players}
    zero = dict.fromkeys(players, 0)
    starts = game.settings.who_starts
    return GameState(
        table=table, players=tuple(players), turn=starts if starts in players else players[0],
        score=zero | handicap, handicap=handicap, shelves=dict.fromkeys(players, ()), debts=zero, wins=zero,
    )  # fmt: skip


@dataclass(slots=True)
class _Fold:
    """The rulings on the events so far: those of finished turns, and the turn that goes on."""

    game: Game
    scribe: Scribe
    numbers: Sequence[Numbers]
    confirmed: frozenset[int]
    turn: Turn
    rulings: list[Ruling] = field(default_factory=list)

    def step(self, event: Event) -> bool:
        """Take an event in; whether it began a new turn."""
        if self.turn.takes(event):
            return False
        assert isinstance(event, Strike)
        outcome = self.turn.judged(self.game, self.scribe, self.numbers, self.confirmed, event)
        self.rulings += outcome.rulings
        self.turn = Turn(before=outcome.state, rack=outcome.rack, prelude=outcome.carried, strikes=[event])
        return True

    def begin_turn_again(self) -> None:
        """Forget what came after the strike that began the turn that goes on."""
        turn = self.turn
        self.turn = Turn(before=turn.before, rack=turn.rack, prelude=turn.prelude, strikes=turn.strikes[:1])

    def now(self, *, to_the_end: bool) -> list[Ruling]:
        """All rulings; of a stroke that still goes on only ``to_the_end`` of the events."""
        if not (self.turn.ready or to_the_end):
            return list(self.rulings)
        outcome = self.turn.judged(self.game, self.scribe, self.numbers, self.confirmed)
        return [*self.rulings, *outcome.rulings]

    def state(self) -> GameState:
        """The state after all that can be ruled on now."""
        if not self.turn.ready:
            return self.turn.before
        return self.turn.judged(self.game, self.scribe, self.numbers, self.confirmed).state


class Referee:
    """One match under one rule set.

    ``push`` takes events as they come, official ones at any time; it returns the rulings that are new or that replace
    an earlier one under its id. ``flush`` says that no more will come. The rule set ``none`` gives no rulings.
    """

    def __init__(
        self, *, rules: str, players: Sequence[str], table: TableSpec, settings: RuleSettings | None = None
    ) -> None:
        """Raises InputError for an unknown rule set."""
        self.game = game_of(rules, settings or RuleSettings())
        self.players = tuple(players)
        self.table = table
        self._order: list[tuple[float, int]] = []
        self._events: dict[int, Event] = {}
        self._ids: set[int] = set()
        self._next_id = 1
        self._given: dict[int, Ruling] = {}
        self._scribe = Scribe()
        self._fold: _Fold | None = None
        self._folded = 0
        self._turn_from = 0
        self._ended = False

    @property
    def rulings(self) -> list[Ruling]:
        """Every ruling as it stands now, in order of time."""
        return self._rulings()

    @property
    def state(self) -> GameState | None:
        """The state of the match after all that can be ruled on now; None under the rule set ``none``."""
        self._catch_up()
        return self._fold.state() if self._fold else None

    def push(self, event: Event) -> list[Ruling]:
        """Take one event; the rulings that are new or changed by it."""
        self.add(event)
        return self._changed()

    def flush(self) -> list[Ruling]:
        """No more events will come: rule on a stroke whose end was not seen, too."""
        self._ended = True
        return self._changed()

    def add(self, event: Event) -> None:
        """Take one event without asking for rulings yet. Raises InputError where an override makes no sense."""
        if self.game is None:
            return
        if isinstance(event, Retract | Confirm | Override):
            # What stood until now has its ids; a correction keeps them.
            self._rulings()
            if isinstance(event, Override):
                _parsed(event)
                event = replace(event, ruling=self._ruling_id(event.ruling))
        event = self._with_own_id(event)
        arrival = len(self._events)
        self._events[arrival] = event
        key = (event.t, arrival)
        insort(self._order, key)
        place = bisect_left(self._order, key)
        if isinstance(event, _Corrections) or place < self._turn_from:
            self._fold = None  # fold all of it again
        elif place < self._folded and self._fold is not None:
            self._fold.begin_turn_again()  # it came late, but into the turn that goes on
            self._folded = self._turn_from
        if isinstance(event, Racked) and self._fold is not None:
            self._fold.numbers = self._numbers(self.game)  # a new game's balls bear their own
        self._ended = False

    def _with_own_id(self, event: Event) -> Event:
        if event.id is None or event.id in self._ids:
            event = replace(event, id=self._next_id)
        assert event.id is not None
        self._ids.add(event.id)
        self._next_id = max(self._next_id, event.id + 1)
        return event

    def _ruling_id(self, given: int | str) -> int:
        """A ruling by its id, or as ``stroke 3``: the third ruling of kind stroke. 0 where there is none."""
        if isinstance(given, int):
            return given
        kind, _, number = given.rpartition(" ")
        if not kind:
            return int(given) if given.isdigit() else 0
        of_kind = [ruling for ruling in self._rulings() if ruling.kind.value == kind]
        index = int(number) - 1 if number.isdigit() else -1
        return of_kind[index].id if 0 <= index < len(of_kind) else 0

    def check_overrides(self) -> None:
        """Raises InputError where an override names a ruling that was never given."""
        if self.game is None:
            return
        given = {ruling.id for ruling in self._rulings()} | set(self._scribe.ids.values())
        for event in self._corrections():
            if isinstance(event, Override) and event.ruling not in given:
                last = max(given, default=0)
                raise InputError(
                    f"the override at {event.t:g} s is of a ruling never given; the last has the id {last}"
                )

    # --- folding ----------------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        if self.game is None:
            return
        if self._fold is None:
            self._begin(self.game)
        assert self._fold is not None
        dropped, confirmed = self._retracted_and_confirmed()
        for index in range(self._folded, len(self._order)):
            event = self._events[self._order[index][1]]
            if event.id in dropped or isinstance(event, _Corrections):
                continue
            if event.id in confirmed:
                event = replace(event, confidence=1.0)
            if self._fold.step(event):
                self._turn_from = index + 1
        self._folded = len(self._order)

    def _begin(self, game: Game) -> None:
        _, confirmed = self._retracted_and_confirmed()
        numbers = self._numbers(game)
        state = first_state(game, self.table, self.players)
        state = replace(state, numbers=numbers[0].known, unsure_numbers=numbers[0].unsure)
        self._scribe.fixes = self._fixes()
        self._fold = _Fold(
            game=game, scribe=self._scribe, numbers=numbers, confirmed=confirmed, turn=Turn(before=state)
        )
        self._folded = self._turn_from = 0

    def _in_order(self) -> list[Event]:
        return [self._events[arrival] for _, arrival in self._order]

    def _retracted_and_confirmed(self) -> tuple[frozenset[int], frozenset[int]]:
        """Ids of events withdrawn and of events confirmed; of two words on one event the later holds."""
        last: dict[int, bool] = {}
        for event in self._words_on_events():
            last[event.ref] = isinstance(event, Confirm)
        return (
            frozenset(ref for ref, confirmed in last.items() if not confirmed),
            frozenset(ref for ref, confirmed in last.items() if confirmed),
        )

    def _words_on_events(self) -> list[Retract | Confirm]:
        return [event for event in self._corrections() if isinstance(event, Retract | Confirm)]

    def _corrections(self) -> list[Event]:
        return sorted(
            (event for event in self._events.values() if isinstance(event, _Corrections)), key=lambda event: event.t
        )

    def _fixes(self) -> dict[int, Correction]:
        """Overrides by ruling; of several on one ruling each field's last word holds."""
        dropped, _ = self._retracted_and_confirmed()
        fields: dict[int, dict[str, Any]] = {}
        for event in self._corrections():
            if isinstance(event, Override) and isinstance(event.ruling, int) and event.id not in dropped:
                fields.setdefault(event.ruling, {}).update(event.fields)
        return {ruling: parse_correction(given) for ruling, given in fields.items()}

    def _numbers(self, game: Game) -> list[Numbers]:
        """The numbers identified in each game; with a full rack the labels begin anew."""
        dropped, confirmed = self._retracted_and_confirmed()
        games: list[tuple[dict[str, int], set[str]]] = [({}, set())]
        struck = False
        for event in self._in_order():
            if event.id in dropped:
                continue
            if isinstance(event, Racked) and len(event.balls) >= FULL_RACK and event.confidence >= LIKELY:
                known, unsure = games[-1]
                games.append(({}, set()) if struck else (dict(known), set(unsure)))
                struck = False
            elif isinstance(event, Strike):
                struck = True
            elif isinstance(event, Identified):
                confidence = 1.0 if event.id in confirmed else event.confidence
                if confidence >= LIKELY:
                    games[-1][0][event.ball] = event.number
                    games[-1][1].discard(event.ball)
                    if confidence < game.settings.sure:
                        games[-1][1].add(event.ball)
        return [Numbers(known=known, unsure=frozenset(unsure)) for known, unsure in games]

    def _rulings(self) -> list[Ruling]:
        self._catch_up()
        return self._fold.now(to_the_end=self._ended) if self._fold else []

    def _changed(self) -> list[Ruling]:
        rulings = self._rulings()
        changed = [ruling for ruling in rulings if self._given.get(ruling.id) != ruling]
        self._given = {ruling.id: ruling for ruling in rulings}
        return changed


def _parsed(event: Override) -> Correction:
    try:
        return parse_correction(event.fields, event.t)
    except ValueError as error:
        raise InputError(str(error)) from None


def replayed(
    events: Iterable[Event], *, rules: str, players: Sequence[str], table: TableSpec,
    settings: RuleSettings | None = None,
) -> Referee:  # fmt: skip
    """A referee who has taken all of these events; the same as a live one that took them in order of time.

    Raises InputError for an unknown rule set or an override that makes no sense.
    """
    referee = Referee(rules=rules, players=players, table=table, settings=settings)
    for event in sorted(_ids_of_vision_first(list(events)), key=lambda event: event.t):
        referee.add(event)
    referee.flush()
    return referee


def replay(
    events: Iterable[Event], *, rules: str, players: Sequence[str], table: TableSpec,
    settings: RuleSettings | None = None,
) -> list[Ruling]:  # fmt: skip
    """All rulings on these events. Raises InputError as :func:`replayed`."""
    return replayed(events, rules=rules, players=players, table=table, settings=settings).rulings


def _ids_of_vision_first(events: list[Event]) -> list[Event]:
    """An official line that bears the id of something seen gets one of its own: ``ref`` means what was seen."""
    seen = {event.id for event in events if event.source is Source.VISION}
    return [
        replace(event, id=None) if event.source is Source.OFFICIAL and event.id in seen else event for event in events
    ]
