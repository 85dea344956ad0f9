"""A recorded match from file to folder: the whole line on one page.

video -> changes -> eye (calibration, detection) -> motion (tracking, events) -> referee (rules) -> record -> products.
Every stage holds at most one stroke, so memory stays flat however long the match is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vision_referee.calibration.calibration import Calibration, load_calibration
from vision_referee.calibration.tables import load_table
from vision_referee.detection.detections import Detections
from vision_referee.domain.errors import CalibrationError, InputError
from vision_referee.domain.events import Event
from vision_referee.events.line import MotionStage
from vision_referee.pipeline.eye import CALIBRATION_FRAMES, Eye, TableWish, find_table
from vision_referee.pipeline.match_line import GameRules, MatchLine, Record, Told, seen
from vision_referee.pipeline.official_lines import OfficialLines
from vision_referee.pipeline.progress import Listener, ProgressMeter
from vision_referee.record.events_jsonl import read_officials
from vision_referee.record.match_folder import MatchFolderWriter
from vision_referee.record.match_info import MatchInfo, SourceFile
from vision_referee.rules.settings import RuleSettings
from vision_referee.video.changes import ChangeDetector
from vision_referee.video.frames import Frame
from vision_referee.video.source import VideoSource, open_video, sample_frames

FEWEST_FRAMES = 8
"""Fewer say nothing about motion."""
_BETWEEN_FILES_S = 1.0
"""Pause put between the files of one match, so that times keep rising."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRequest:
    """What to analyse and how. ``table``, ``head`` and ``calibration`` None: found from the video."""

    sources: tuple[Path, ...]
    rules: str
    out: Path
    players: tuple[str, ...]
    settings: RuleSettings = field(default_factory=RuleSettings)
    calibration: Path | None = None
    officials: Path | None = None
    table: str | None = None
    head: str | None = None


def wish_of(request: AnalysisRequest) -> TableWish:
    """The user's word on table and camera, files read. Raises InputError."""
    return TableWish(
        table=load_table(request.table) if request.table else None,
        head=request.head,
        calibration=load_calibration(request.calibration) if request.calibration else None,
    )


def analyze(request: AnalysisRequest, listener: Listener | None = None, see: Sight | None = None) -> MatchFolderWriter:
    """Analyse recorded video(s) into a match folder; the writer returned is finished, not yet published.

    Raises:
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """
    recording = Recording(request, see=see)
    # First of all the place to write to: an hour of looking is not lost to a folder that cannot be written.
    writer = MatchFolderWriter(request.out)
    try:
        for _ in recording.told(writer, listener):
            pass
        writer.finish(recording.info())
        return writer
    except BaseException:
        writer.discard()
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """How the table is found in a video's frames, and what then looks at it."""

    find: Callable[[Sequence[Frame], TableWish], Calibration] = find_table
    open_eye: Callable[[Calibration], Eye] = Eye

    def first_look(self, video: VideoSource, wish: TableWish) -> Eye:
        """Raises InputError naming the video."""
        try:
            return self.open_eye(self.find(sample_frames(video, CALIBRATION_FRAMES), wish))
        except CalibrationError as error:
            raise InputError(f"{video.info.path}: {error}") from error


class Recording:
    """The recorded video(s) of one match and what is said of them, opened and ready to be watched."""

    def __init__(
        self, request: AnalysisRequest, officials: Sequence[Event] = (), *, see: Sight | None = None
    ) -> None:
        """``officials``: what officials said, beside the request's file. Raises InputError."""
        self._request = request
        self._see = see or Sight()
        self._videos = [open_video(path) for path in request.sources]
        self._wish = wish_of(request)
        self._officials = OfficialLines([*(read_officials(request.officials) if request.officials else ()), *officials])
        self._match: _Match | None = None

    def told(self, record: Record, listener: Listener | None = None) -> Iterator[Told]:
        """Watch it all, once: what is told from step to step, already in the record.

        Raises:
            InputError: no table is found, or a video cannot be used.
        """
        first = self._see.first_look(self._videos[0], self._wish)
        meter = ProgressMeter(listener, _total_s(self._videos))
        match = self._match = _Match(self._request, record, self._officials, first)
        for video in self._videos:
            again = replace(self._wish, table=match.table)
            eye = first if video is self._videos[0] else self._see.first_look(video, again)
            yield from match.watch(video, eye, meter)
        yield from match.end()

    def info(self) -> MatchInfo:
        """match.json, after all was told."""
        assert self._match is not None, "watch first"
        return self._match.info()


def _total_s(videos: Sequence[VideoSource]) -> float | None:
    lengths = [video.info.duration_s for video in videos]
    return sum(s for s in lengths if s) if all(lengths) else None


def sightings(video: VideoSource, eye: Eye) -> Iterator[tuple[Detections, bool, bool]]:
    """Detections, repeated?, cut? for every frame of a video; a repeated frame is not looked at again."""
    changes = ChangeDetector()
    for frame in video:
        for changed in changes.push(frame):
            yield seen(eye, changed)
    for changed in changes.flush():
        yield seen(eye, changed)


class _Match:
    """The state of one analysis: where time and frames stand, and everything that is written."""

    def __init__(self, request: AnalysisRequest, record: Record, officials: OfficialLines, eye: Eye) -> None:
        self.table = eye.calibration.table
        self._first = eye.first_calibration
        # A game in progress opens with the position (CONTRACT: Rulings). Without a game, `rest` only ends strokes.
        self._motion = MotionStage(self.table, initial_rest=request.rules != "none")
        game = GameRules(rules=request.rules, players=request.players, settings=request.settings)
        self._line = MatchLine(record, game, self.table, officials)

    def watch(self, video: VideoSource, eye: Eye, meter: ProgressMeter) -> Iterator[Told]:
        """One file, appended to the match."""
        line = self._line
        offset_s = line.times.as_array()[-1] + _BETWEEN_FILES_S if len(line.times) else 0.0
        base = len(line.times)
        line.files.append(SourceFile(path=str(video.info.path.resolve()), t_offset_s=float(offset_s), first_frame=base))
        line.size = line.size if base else (video.info.width, video.info.height)
        for detections, repeated, cut in sightings(video, eye):
            detections.t_s += offset_s
            detections.frame += base
            line.times.append(detections.t_s)
            # Between two files time is cut out, but the balls are still the same.
            joined = base > 0 and detections.frame == base
            yield line.take(self._motion.push(detections, repeated=repeated and not joined, cut=cut or joined))
            meter.tell("analyze", detections.t_s)
        if len(line.times) - base < FEWEST_FRAMES:
            raise InputError(
                f"{video.info.path}: only {len(line.times) - base} frames; too few to see a stroke, give a longer video"
            )
        meter.tell("analyze", float(line.times.as_array()[-1]), last=True)
        line.warnings += video.warnings
        line.note_moves(eye, offset_s=float(offset_s))

    def end(self) -> Iterator[Told]:
        """The last stroke, what the officials said after the last event, the last rulings."""
        yield self._line.take(self._motion.flush())
        yield self._line.end()

    def info(self) -> MatchInfo:
        return self._line.info(self._first)
