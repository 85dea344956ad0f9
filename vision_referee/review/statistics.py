"""What players want to know of a match: pots by pocket, success, series, safeties, times. From rulings and events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vision_referee.domain.balls import CUE
from vision_referee.domain.events import BallAt, Call, Contact, Event, Pocketed, Rest, Stopped, Strike
from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.domain.table import PocketName

_AT_THE_TABLE = frozenset({RulingKind.STROKE, RulingKind.INTERFERENCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerStatistics:
    """One player's figures; times in seconds, None where there is nothing to average."""

    player: str
    strokes: int
    attempts: int
    """Strokes that were meant to pocket: those with a call where calls are made, else every stroke."""
    successes: int
    """Strokes with a counted ball."""
    balls: int
    points: int
    fouls: int
    safeties: int
    """Strokes without a foul that were no attempt; where no calls are made, those without pot or foul."""
    longest_series: int
    """Most balls counted in strokes of one visit."""
    stroke_s: float | None
    """From the tip's contact to rest."""
    thinking_s: float | None
    """From the rest before to the tip's contact."""

    @property
    def success(self) -> float | None:
        return self.successes / self.attempts if self.attempts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A stroke's first meeting: from where the struck ball lay to where it met the first ball (or where it stopped)."""

    ruling_id: int | None
    player: str | None
    start: tuple[float, float]
    end: tuple[float, float]
    counted: bool
    foul: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStatistics:
    players: tuple[PlayerStatistics, ...]
    called: bool
    """Whether calls were made, so that attempts and safeties are known rather than taken."""
    pots: dict[str, dict[PocketName, int]]
    """Balls that fell, by whose stroke it was (``""`` where nobody's) and pocket."""
    shots: tuple[Shot, ...]
    resting_places: tuple[BallAt, ...]

    def pots_total(self, pocket: PocketName) -> int:
        return sum(own.get(pocket, 0) for own in self.pots.values())


def match_statistics(players: Sequence[str], rulings: Sequence[Ruling], events: Sequence[Event]) -> MatchStatistics:
    named = [*players, *sorted({r.player for r in rulings if r.player and r.player not in players})]
    tried = _tried(rulings, events)
    return MatchStatistics(
        players=tuple(_of_player(name, rulings, tried) for name in named) if rulings else (),
        called=tried is not None,
        pots=_pots(named, rulings, events),
        shots=tuple(_shots(rulings, events)),
        resting_places=_resting_places(events),
    )


def _tried(rulings: Sequence[Ruling], events: Sequence[Event]) -> frozenset[int] | None:
    """The rulings on strokes that a ball was called for; None in a match without a single call."""
    calls = [event.t for event in events if isinstance(event, Call)]
    if not calls:
        return None
    strokes = [r for r in rulings if r.kind in _AT_THE_TABLE]
    begins = [float("-inf"), *(r.t_start for r in strokes)]
    return frozenset(
        r.id for begun, r in zip(begins, strokes, strict=False) if any(begun < t <= r.t_end for t in calls)
    )


def _of_player(player: str, rulings: Sequence[Ruling], tried: frozenset[int] | None) -> PlayerStatistics:
    strokes = [r for r in rulings if r.player == player and r.kind in _AT_THE_TABLE and not r.replay]
    good = [r for r in strokes if r.counted]
    attempts = strokes if tried is None else [r for r in strokes if r.id in tried or r.counted]
    quiet = [r for r in strokes if not r.counted and not r.fouls and not r.spotted]
    fouls = [r for r in rulings if r.player == player and r.fouls]
    # A ball taken onto the shelf between strokes counts too (M-2, M-4).
    counted = [c for r in rulings if r.player == player for c in r.counted]
    return PlayerStatistics(
        player=player,
        strokes=len(strokes),
        attempts=len(attempts),
        successes=len(good),
        balls=len(counted),
        points=sum(c.points for c in counted),
        fouls=len(fouls),
        safeties=sum(1 for r in quiet if tried is None or r.id not in tried),
        longest_series=_longest_series(player, rulings),
        stroke_s=_mean([r.t_end - r.t_start for r in strokes]),
        thinking_s=_mean(_waits(player, rulings)),
    )


def _longest_series(player: str, rulings: Sequence[Ruling]) -> int:
    longest = series = 0
    for ruling in rulings:
        if ruling.kind not in _AT_THE_TABLE:
            continue
        if ruling.player == player and ruling.counted and not ruling.fouls:
            series += len(ruling.counted)
            longest = max(longest, series)
        elif not ruling.replay:
            series = 0
        if ruling.game_over:
            series = 0
    return longest


def _waits(player: str, rulings: Sequence[Ruling]) -> list[float]:
    strokes = [r for r in rulings if r.kind in _AT_THE_TABLE]
    pairs = pairwise(strokes)
    return [b.t_start - a.t_end for a, b in pairs if b.player == player and b.t_start >= a.t_end and not a.game_over]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _pots(
    players: Sequence[str], rulings: Sequence[Ruling], events: Sequence[Event]
) -> dict[str, dict[PocketName, int]]:
    """Every ball that fell, whoever it counted for: what the pockets saw. Players first, in their order."""
    found: dict[str, Counter[PocketName]] = {}
    for event in events:
        if isinstance(event, Pocketed) and event.confidence >= 0.5:
            owner = _ruling_at(rulings, event.t)
            found.setdefault((owner.player or "") if owner else "", Counter())[event.pocket] += 1
    return {player: dict(found[player]) for player in (*players, "") if player in found}


def _ruling_at(rulings: Sequence[Ruling], t_s: float) -> Ruling | None:
    inside = [r for r in rulings if r.t_start - 0.05 <= t_s <= r.t_end + 0.05]
    inside.sort(key=lambda r: r.kind is not RulingKind.STROKE)
    return inside[0] if inside else None


def _shots(rulings: Sequence[Ruling], events: Sequence[Event]) -> list[Shot]:
    shots: list[Shot] = []
    for index, event in enumerate(events):
        if isinstance(event, Strike) and event.confidence >= 0.5:
            ruling = _ruling_at(rulings, event.t)
            end = _first_meeting(events[index + 1 :], event)
            shots.append(
                Shot(
                    ruling_id=ruling.id if ruling else None,
                    player=ruling.player if ruling else event.player,
                    start=(event.x, event.y),
                    end=end or (event.x, event.y),
                    counted=bool(ruling and ruling.counted),
                    foul=bool(ruling and ruling.fouls),
                )
            )
    return shots


def _first_meeting(later: Sequence[Event], strike: Strike) -> tuple[float, float] | None:
    for event in later:
        if isinstance(event, Contact) and strike.ball in event.balls:
            return (event.x, event.y)
        if isinstance(event, Stopped) and event.ball == strike.ball:
            return (event.x, event.y)
        if isinstance(event, Strike | Rest):
            return None
    return None


def _resting_places(events: Sequence[Event]) -> tuple[BallAt, ...]:
    """Where object balls came to rest after moving."""
    return tuple(BallAt(ball=e.ball, x=e.x, y=e.y) for e in events if isinstance(e, Stopped) and e.ball != CUE)
