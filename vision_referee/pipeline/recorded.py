"""A recorded match from file to folder: the whole line on one page.

video -> changes -> eye (calibration, detection) -> motion (tracking, events) -> referee (rules) -> record -> products.
Every stage holds at most one stroke, so memory stays flat however long the match is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from vision_referee.calibration.calibration import Calibration, load_calibration
from vision_referee.calibration.tables import load_table
from vision_referee.domain.errors import CalibrationError, InputError, RecordStopped
from vision_referee.domain.events import Event
from vision_referee.events.line import MotionStage
from vision_referee.pipeline.checkpoint import EVERY_S, Checkpoint, Checkpoints, fingerprint_of, read_checkpoint
from vision_referee.pipeline.eye import CALIBRATION_FRAMES, Eye, TableWish, find_table, models_in_use
from vision_referee.pipeline.looking import Looking, Standing
from vision_referee.pipeline.match_line import GameRules, MatchLine, Record, Told
from vision_referee.pipeline.official_lines import OfficialLines
from vision_referee.pipeline.progress import Listener, ProgressMeter
from vision_referee.record.events_jsonl import read_officials
from vision_referee.record.match_folder import CHECKPOINT, MatchFolderWriter, part_of
from vision_referee.record.match_info import COMPLETE, MatchInfo, SourceFile, read_match_info
from vision_referee.rules.settings import RuleSettings
from vision_referee.version import __version__
from vision_referee.video.frames import Frame
from vision_referee.video.source import VideoSource, open_video, sample_frames

_LOG = logging.getLogger(__name__)
FEWEST_FRAMES = 8
"""Fewer say nothing about motion."""
_BETWEEN_FILES_S = 1.0
"""Pause put between the files of one match, so that times keep rising."""
MADE_FROM = "made_from"
"""In match.json: the fingerprint of videos, settings and software."""


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

    def stamp(self) -> dict[str, Any]:
        """What the result depends on, but for ``out``: videos by size and time, the files beside them by content."""
        beside = [self.calibration, self.officials, Path(self.table) if self.table else None]
        return {
            "videos": [_file_stamp(path) for path in self.sources],
            "beside": [path.read_text(errors="replace") if path and path.is_file() else None for path in beside],
            "rules": self.rules, "settings": asdict(self.settings), "players": self.players, "table": self.table,
            "head": self.head,
        }  # fmt: skip


def _file_stamp(path: Path) -> list[Any]:
    try:
        there = path.stat()
    except OSError:
        return [str(path), None]
    return [str(path.absolute()), there.st_size, there.st_mtime_ns]


def wish_of(request: AnalysisRequest) -> TableWish:
    """The user's word on table and camera, files read. Raises InputError."""
    return TableWish(
        table=load_table(request.table) if request.table else None,
        head=request.head,
        calibration=load_calibration(request.calibration) if request.calibration else None,
    )


def analyze(
    request: AnalysisRequest, listener: Listener | None = None, see: Sight | None = None, *, resume: bool = False,
    checkpoint_every_s: float = EVERY_S,
) -> Path:  # fmt: skip
    """Analyse recorded video(s); the folder returned is finished and has still to be published.

    ``resume``: go on where an analysis of the same videos by the same settings was broken off, if one was.

    Raises:
        RecordStopped: the disk takes no more; what is there can be gone on with.
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """
    recording = Recording(request, see=see)
    fingerprint = _fingerprint(request)
    part = part_of(request.out.absolute())
    if resume and _is_finished(part, fingerprint):
        return part
    # First of all the place to write to: an hour of looking is not lost to a folder that cannot be written.
    found = read_checkpoint(part, fingerprint) if resume else None
    writer, state = _opened(request.out, found, (see or Sight()).open_eye.__module__)
    checkpoints = Checkpoints(writer.folder, fingerprint, every_s=checkpoint_every_s)
    try:
        for _ in recording.told(writer, listener, checkpoints, state):
            pass
        info = recording.info()
        return writer.finish(replace(info, extra={**info.extra, MADE_FROM: fingerprint}))
    except BaseException as error:
        unusable = isinstance(error, InputError) and not isinstance(error, RecordStopped)
        if unusable or not (part / CHECKPOINT).exists():
            writer.discard()
        else:
            writer.keep()
        raise


def _opened(out: Path, found: Checkpoint | None, eyes_from: str) -> tuple[MatchFolderWriter, Any]:
    """A writer, behind a checkpoint where there is one that can be used, and the state of the stages there."""
    if found is not None:
        writer = None
        try:
            writer = MatchFolderWriter(out, after=found.mark)
            return writer, found.state(writer, eyes_from)
        except Exception:
            _LOG.info("the checkpoint of %s cannot be used", out, exc_info=True)
            if writer is not None:
                writer.keep()
    return MatchFolderWriter(out), None


def is_done(request: AnalysisRequest) -> bool:
    """Whether the match is there already, made from the same videos by the same settings and software."""
    return _is_finished(request.out.absolute(), _fingerprint(request))


def can_be_gone_on_with(request: AnalysisRequest) -> bool:
    """Whether an analysis of the same videos by the same settings was broken off and left something to go on from."""
    part, fingerprint = part_of(request.out.absolute()), _fingerprint(request)
    return _is_finished(part, fingerprint) or read_checkpoint(part, fingerprint) is not None


def _fingerprint(request: AnalysisRequest) -> str:
    return fingerprint_of([request.stamp(), __version__, models_in_use()])


def _is_finished(folder: Path, fingerprint: str) -> bool:
    """Whether all is seen and told: at most what is made for people, and the folder's name, are wanting."""
    try:
        info = read_match_info(folder)
    except InputError:
        return False
    return info.status == COMPLETE and info.extra.get(MADE_FROM) == fingerprint


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

    def __init__(self, request: AnalysisRequest, officials: Sequence[Event] = (), *, see: Sight | None = None) -> None:
        """``officials``: what officials said, beside the request's file. Raises InputError."""
        self._request = request
        self._see = see or Sight()
        self._videos = [open_video(path) for path in request.sources]
        self._wish = wish_of(request)
        self._officials = OfficialLines([*(read_officials(request.officials) if request.officials else ()), *officials])
        self._match: _Match | None = None

    def told(
        self, record: Record, listener: Listener | None = None, checkpoints: Checkpoints | None = None,
        state: Any = None,
    ) -> Iterator[Told]:  # fmt: skip
        """Watch it all, once: what is told from step to step, already in the record.

        ``state``: of a checkpoint; what was told before it is not told again. ``checkpoints`` needs a
        ``MatchFolderWriter`` for a record.

        Raises:
            InputError: no table is found, or a video cannot be used.
        """
        if state is None:
            first = self._see.first_look(self._videos[0], self._wish)
            state = _Match(self._request, record, self._officials, first)
        match = self._match = state
        assert isinstance(match, _Match)
        meter = ProgressMeter(listener, _total_s(self._videos), from_s=match.done_s)
        for number, video in enumerate(self._videos):
            if number < match.watched:
                continue
            for told in match.watch(video, partial(self._eye, video), meter):
                yield told
                if checkpoints is not None and checkpoints.due:
                    assert isinstance(record, MatchFolderWriter)
                    match.stand()
                    checkpoints.save(match, record, record.mark())
        yield from match.end()
        if checkpoints is not None:
            assert isinstance(record, MatchFolderWriter)
            checkpoints.save(match, record, record.mark(all_told=True))

    def _eye(self, video: VideoSource) -> Eye:
        """The eye of a further video: the table is known."""
        assert self._match is not None
        return self._see.first_look(video, replace(self._wish, table=self._match.table))

    def info(self) -> MatchInfo:
        """match.json, after all was told."""
        assert self._match is not None, "watch first"
        return self._match.info()


def _total_s(videos: Sequence[VideoSource]) -> float | None:
    lengths = [video.info.duration_s for video in videos]
    return sum(s for s in lengths if s) if all(lengths) else None


@dataclass(slots=True, kw_only=True)
class _Watched:
    """The video that is being watched: its eye, and its first frame in the match's time and count."""

    eye: Eye
    offset_s: float
    base: int
    standing: Standing | None = None


class _Match:
    """The state of one analysis: where time and frames stand, and everything that is written."""

    def __init__(self, request: AnalysisRequest, record: Record, officials: OfficialLines, eye: Eye) -> None:
        self.table = eye.calibration.table
        self._first = eye.first_calibration
        # A game in progress opens with the position (CONTRACT: Rulings). Without a game, `rest` only ends strokes.
        self._motion = MotionStage(self.table, initial_rest=request.rules != "none")
        game = GameRules(rules=request.rules, players=request.players, settings=request.settings)
        self._line = MatchLine(record, game, self.table, officials)
        self._first_eye: Eye | None = eye
        self._now: _Watched | None = None
        self._looking: Looking | None = None
        self._ended = False
        self.watched = 0
        """Videos watched to their end."""

    @property
    def done_s(self) -> float:
        return self._line.times.last_s

    def watch(self, video: VideoSource, open_eye: Callable[[], Eye], meter: ProgressMeter) -> Iterator[Told]:
        """One file, appended to the match, or the rest of it."""
        line = self._line
        if self._now is None:
            self._now = self._begun(video, self._first_eye or open_eye())
        now, self._first_eye = self._now, None
        base = now.base
        self._looking = Looking(video, now.eye, now.standing)
        for detections, repeated, cut in self._looking:
            detections.t_s += now.offset_s
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
        meter.tell("analyze", line.times.last_s, last=True)
        line.warnings += video.warnings
        line.note_moves(now.eye, offset_s=now.offset_s)
        self._now, self._looking = None, None
        self.watched += 1

    def _begun(self, video: VideoSource, eye: Eye) -> _Watched:
        line = self._line
        base = len(line.times)
        offset_s = line.times.last_s + _BETWEEN_FILES_S if base else 0.0
        line.files.append(SourceFile(path=str(video.info.path.resolve()), t_offset_s=offset_s, first_frame=base))
        line.size = line.size if base else (video.info.width, video.info.height)
        return _Watched(eye=eye, offset_s=offset_s, base=base)

    def stand(self) -> None:
        """Note where the looking stands, for who goes on from here."""
        assert self._now is not None and self._looking is not None
        self._now.standing = self._looking.stand()

    def end(self) -> Iterator[Told]:
        """The last stroke, what the officials said after the last event, the last rulings."""
        if self._ended:
            return
        self._ended = True
        yield self._line.take(self._motion.flush())
        yield self._line.end()

    def info(self) -> MatchInfo:
        return self._line.info(self._first)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_looking": None}
