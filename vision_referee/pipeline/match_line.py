"""The end of the line, the same for recorded and live work: events are judged, and all of it is written down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.hints import UNSURE_MM
from vision_referee.detection.detections import Detections
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import TableSpec
from vision_referee.events.line import MotionOutput
from vision_referee.pipeline.eye import Eye, models_in_use
from vision_referee.pipeline.official_lines import OfficialLines
from vision_referee.pipeline.referee import LineReferee
from vision_referee.record.frame_times import FrameTimes
from vision_referee.record.match_info import MatchInfo, SourceFile
from vision_referee.rules.settings import RuleSettings, in_force
from vision_referee.tracking.tracks import TrackRow
from vision_referee.video.changes import ChangedFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRules:
    """By what is judged, and who plays."""

    rules: str
    players: tuple[str, ...]
    settings: RuleSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one step of the line told: events as written (each with its id), then rulings, new or issued anew."""

    events: tuple[Event, ...] = ()
    rulings: tuple[Ruling, ...] = ()


class Record(Protocol):
    """Where rows, events and rulings go; a ``MatchFolderWriter`` is one."""

    def add_rows(self, rows: Iterable[TrackRow]) -> None: ...

    def add_events(self, events: Iterable[Event]) -> list[Event]:
        """The events as recorded, each with an id."""

    def add_ruling(self, ruling: Ruling) -> None: ...


def seen(eye: Eye, changed: ChangedFrame) -> tuple[Detections, bool, bool]:
    """Detections, repeated?, cut? of one frame; a repeated frame is not looked at again.

    A picture that jumps while every ball lies where it lay is somebody stepping in, not time cut out.
    """
    if changed.repeated:
        return Detections.empty(changed.frame.index, changed.frame.t_s), True, False
    found = eye.look(changed)
    return found, False, changed.cut and eye.jumped


class MatchLine:
    """Where time and frames of one match stand, its referee, and its folder."""

    def __init__(self, writer: Record, game: GameRules, table: TableSpec, officials: OfficialLines) -> None:
        self.table = table
        self.times = FrameTimes()
        self.files: list[SourceFile] = []
        self.size = (0, 0)
        self.warnings: list[str] = []
        self.moved: list[dict[str, Any]] = []
        self.referee = LineReferee(game.rules, game.players, table, game.settings)
        self._game = game
        self._writer = writer
        self._officials = officials

    def take(self, out: MotionOutput) -> Told:
        """Write rows and events, and the rulings that they make new or change; all on the disk."""
        self._writer.add_rows(out.rows)
        return self._judge(self._officials.merged(out.events)) if out.events else Told()

    def end(self) -> Told:
        """What the officials said after the last event, and the last rulings."""
        last = self._judge(self._officials.rest())
        return Told(events=last.events, rulings=last.rulings + self._issued(self.referee.flush()))

    def info(self, first: Calibration, *, like: MatchInfo | None = None) -> MatchInfo:
        """match.json as it is now. ``first``: the calibration that the match began with; ``like``: whose id to keep."""
        warnings = list(self.warnings)
        if first.expected_error_mm > UNSURE_MM:
            warnings.append(
                f"the calibration is unsure: balls may stand {first.expected_error_mm:.0f} mm off; calibrate again "
                "with a clear view of the cushions, or mark the corners"
            )
        if not first.head_known:
            warnings.append(
                f"nothing in the video tells which end is the head; taken as the {first.head_side} of the picture, "
                "say --head if it is another"
            )
        made = MatchInfo(
            files=tuple(self.files), width=self.size[0], height=self.size[1], frame_times=self.times,
            table=self.table, table_reason=first.table_reason, calibration=first.to_json(),
            rules=self._game.rules, settings=in_force(self._game.rules, self._game.settings),
            players=self._game.players, models=models_in_use(), warnings=tuple(warnings),
            recalibrated=tuple(self.moved),
        )  # fmt: skip
        return (
            made if like is None else replace(made, id=like.id, created=like.created, lang=like.lang, extra=like.extra)
        )

    def note_moves(self, eye: Eye, *, offset_s: float = 0.0) -> None:
        """Write down where the camera was found moved; ``offset_s``: the match's time at the eye's time 0."""
        self.moved += [
            {"t": round(t_s + offset_s, 4), "calibration": calibration.to_json()} for t_s, calibration in eye.moved
        ]
        eye.moved.clear()

    def _judge(self, events: Sequence[Event]) -> Told:
        written = self._writer.add_events(events)
        return Told(events=tuple(written), rulings=self._issued(self.referee.push(written)))

    def _issued(self, rulings: Sequence[Ruling]) -> tuple[Ruling, ...]:
        for ruling in rulings:
            self._writer.add_ruling(ruling)
        return tuple(rulings)
