"""A live match's line, shared by the thread that sees and the people who speak: one lock, nothing lost between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vision_referee.calibration.calibration import Calibration
from vision_referee.detection.detections import Detections
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Override, Retract, Source
from vision_referee.domain.rulings import Ruling
from vision_referee.events.line import BallNow, MotionOutput
from vision_referee.pipeline.eye import Eye
from vision_referee.pipeline.live_facts import HangingNow, LiveFacts, PutBack
from vision_referee.pipeline.match_line import GameRules, MatchLine
from vision_referee.pipeline.official_lines import OfficialLines
from vision_referee.record.match_folder import MatchFolderWriter
from vision_referee.record.match_info import RUNNING, MatchInfo, SourceFile
from vision_referee.rules.correction import parse_correction
from vision_referee.rules.state import GameState

OnRuling = Callable[[Ruling], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BookView:
    hanging: tuple[HangingNow, ...]
    put_back: tuple[PutBack, ...]
    numbers: dict[str, str]
    last: Ruling | None
    state: GameState | None


class LiveBook:
    """Takes what is seen (``take``) and what officials say (``submit``, ``withdraw``); every ruling is on the disk at
    once. Before ``begin`` (no table yet) what is said waits."""

    def __init__(
        self,
        writer: MatchFolderWriter,
        game: GameRules,
        officials: Sequence[Event],
        info: MatchInfo,
        on_ruling: OnRuling | None = None,
    ) -> None:
        self.facts = LiveFacts()
        self.rulings: tuple[Ruling, ...] = ()
        self.state: GameState | None = None
        self.ended = False
        self._writer = writer
        self._game = game
        self._officials = tuple(officials)
        self._waiting = OfficialLines(())
        self._info = replace(info, status=RUNNING)
        self._on_ruling = on_ruling
        self._lock = threading.RLock()
        self._line: MatchLine | None = None
        self._first: Calibration | None = None
        self._events: list[Event] = []
        """Every event as written, in the order in which it came."""
        self._said: list[Event] = []
        writer.write_info(self._info)

    # --- what is seen ---

    def begin(self, calibration: Calibration, size: tuple[int, int]) -> None:
        """The table is known. Called again before the first stroke, all that was seen is forgotten.

        Raises:
            InputError: a stroke has been played already.
        """
        with self._lock:
            if self.facts.strikes:
                raise InputError("the match has begun; another table or head end needs a new match (watch again)")
            self._waiting = OfficialLines(self._officials)
            before, self._line = self._line, MatchLine(self._writer, self._game, calibration.table, self._waiting)
            self._first = calibration
            self._line.size = size
            if before is not None:
                self._line.times, self._line.files = before.times, before.files
                self._line.warnings = before.warnings
                self._writer.start_again([])
                self.facts, self.rulings, self.state = LiveFacts(), (), None
            self._events = []
            self._judge(list(self._said))
            self._write_info()

    def add_file(self, file: SourceFile) -> None:
        """A video of the match; ``first_frame`` is filled in."""
        with self._lock:
            line = self._known_line()
            line.files.append(replace(file, first_frame=len(line.times)))
            self._write_info()

    def warn(self, warning: str) -> None:
        with self._lock:
            line = self._known_line()
            if warning not in line.warnings:
                line.warnings.append(warning)

    def number(self, detections: Detections) -> None:
        """Give a frame's detections their place in the match."""
        with self._lock:
            line = self._known_line()
            detections.frame = len(line.times)
            line.times.append(detections.t_s)

    def take(self, out: MotionOutput, eye: Eye) -> None:
        """What motion told; judged and written when this returns."""
        if not out.rows and not out.events:
            return
        with self._lock:
            line = self._known_line()
            line.note_moves(eye)
            self._writer.add_rows(out.rows)
            if out.events:
                self._judge(self._waiting.merged(out.events))

    def finish(self) -> None:
        """No more will come: the last rulings, match.json complete."""
        with self._lock:
            line, first = self._known_line(), self._first
            assert first is not None
            self._judge(self._waiting.rest())
            for ruling in line.referee.flush():
                self._issue(ruling)
            self._publish(line.referee.rulings)
            self.ended = True
            self._writer.finish(line.info(first, like=self._info))

    def view(self, t_s: float, balls: Sequence[BallNow], hanging_s: float) -> BookView:
        """What the book says at time ``t_s`` of the ``balls`` that are seen."""
        with self._lock:
            facts = self.facts
            return BookView(
                hanging=facts.hanging_now(self.state, t_s, hanging_s), put_back=facts.put_back(balls),
                numbers=dict(facts.numbers), last=self.rulings[-1] if self.rulings else None, state=self.state,
            )  # fmt: skip

    # --- what is said (LiveMatch of the browser app) ---

    def reserve_ids(self, count: int) -> int:
        """The first of ``count`` event ids that nothing else will get."""
        with self._lock:
            return self._writer.reserve_event_ids(count)

    def submit(self, events: Sequence[Event]) -> None:
        """Judge with these official events too.

        Raises:
            InputError: they make no sense, or the match has ended; nothing is changed then.
        """
        with self._lock:
            self._refuse_ended()
            for event in events:
                # Nothing may stand by halves: each is tried before any is taken.
                _try_override(event)
            self._said += events
            if self._line is not None:
                self._judge(events)
                self._write_info()

    def withdraw(self, event_ids: Sequence[int]) -> None:
        """Judge without these official events again. Raises InputError when the match has ended."""
        with self._lock:
            self._refuse_ended()
            gone = set(event_ids)
            self._said = [event for event in self._said if event.id not in gone]
            if self._line is None:
                return
            self._events = [event for event in self._events if event.id not in gone]
            # The referee forgets what is retracted, and every ruling keeps its id.
            first = self._writer.reserve_event_ids(len(event_ids))
            changed = self._line.referee.push(
                Retract(t=0.0, ref=ref, id=first + k, source=Source.OFFICIAL) for k, ref in enumerate(event_ids)
            )
            standing = self._line.referee.rulings
            self._rewrite(standing)
            for ruling in changed:
                self._issue(ruling, written=True)
            self._publish(standing)
            self._write_info()

    # --- inside ---

    def _judge(self, events: Sequence[Event]) -> None:
        if not events:
            return
        line = self._known_line()
        written = self._writer.add_events(events)
        self._events += written
        self.facts.hear(written)
        changed = line.referee.push(written)
        standing = tuple(line.referee.rulings)
        gone = {r.id for r in self.rulings} - {r.id for r in standing}
        if gone:
            self._rewrite(standing)
        # On the disk first: whoever sees a ruling can rely on it.
        for ruling in changed:
            self._issue(ruling, written=bool(gone))
        self._publish(standing)
        if changed:
            self._write_info()

    def _issue(self, ruling: Ruling, *, written: bool = False) -> None:
        if not written:
            self._writer.add_ruling(ruling)
        if self._on_ruling is not None:
            self._on_ruling(ruling)

    def _rewrite(self, rulings: Sequence[Ruling]) -> None:
        self._writer.rewrite(sorted(self._events, key=lambda e: e.t), rulings)

    def _publish(self, rulings: Sequence[Ruling]) -> None:
        self.rulings, self.state = tuple(rulings), self._known_line().referee.state
        self.facts.ruled(self.rulings)

    def _write_info(self) -> None:
        line, first = self._known_line(), self._first
        assert first is not None
        info = line.info(first, like=self._info)
        if self.rulings:
            info = replace(info, score=dict(self.rulings[-1].score), winner=self.rulings[-1].winner)
        self._writer.write_info(replace(info, status=RUNNING))

    def _known_line(self) -> MatchLine:
        assert self._line is not None, "begin comes first"
        return self._line

    def _refuse_ended(self) -> None:
        if self.ended:
            raise InputError("the match has ended; open its folder with `review` to correct it")


def _try_override(event: Event) -> None:
    """Raises InputError where an override's fields make no sense."""
    if isinstance(event, Override):
        try:
            parse_correction(event.fields, event.t)
        except ValueError as error:
            raise InputError(str(error)) from None
