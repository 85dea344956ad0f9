"""A recorded match from file to folder: the whole line on one page.

video -> changes -> eye (calibration, detection) -> motion (tracking, events) -> referee (rules) -> record -> products.
Every stage holds at most one stroke, so memory stays flat however long the match is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vision_referee.calibration.calibration import load_calibration
from vision_referee.calibration.tables import load_table
from vision_referee.detection.detections import Detections
from vision_referee.domain.errors import CalibrationError, InputError
from vision_referee.domain.events import Event
from vision_referee.events.line import MotionOutput, MotionStage
from vision_referee.pipeline.eye import CALIBRATION_FRAMES, Eye, TableWish, find_table, models_in_use
from vision_referee.pipeline.official_lines import OfficialLines
from vision_referee.pipeline.progress import Listener, ProgressMeter
from vision_referee.pipeline.referee import LineReferee
from vision_referee.record.frame_times import FrameTimes
from vision_referee.record.match_folder import MatchFolderWriter
from vision_referee.record.match_info import MatchInfo, SourceFile
from vision_referee.rules.settings import RuleSettings, in_force
from vision_referee.tracking.tracks import TrackRow
from vision_referee.video.changes import ChangeDetector
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


def analyze(request: AnalysisRequest, listener: Listener | None = None) -> MatchFolderWriter:
    """Analyse recorded video(s) into a match folder; the writer returned is finished, not yet published.

    Raises:
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """
    videos = [open_video(path) for path in request.sources]
    wish = wish_of(request)
    officials = OfficialLines.read(request.officials)
    first = _calibrated(videos[0], wish)
    meter = ProgressMeter(listener, _total_s(videos))
    writer = MatchFolderWriter(request.out)
    try:
        match = _Match(request, writer, officials, first)
        for video in videos:
            eye = first if video is videos[0] else _calibrated(video, replace(wish, table=first.calibration.table))
            match.watch(video, eye, meter)
        match.end()
        return writer
    except BaseException:
        writer.discard()
        raise


def _calibrated(video: VideoSource, wish: TableWish) -> Eye:
    try:
        return Eye(find_table(sample_frames(video, CALIBRATION_FRAMES), wish), wish)
    except CalibrationError as error:
        raise InputError(f"{video.info.path}: {error}") from error


def _total_s(videos: Sequence[VideoSource]) -> float | None:
    lengths = [video.info.duration_s for video in videos]
    return sum(s for s in lengths if s) if all(lengths) else None


def sightings(video: VideoSource, eye: Eye) -> Iterator[tuple[Detections, bool, bool]]:
    """Detections, repeated?, cut? for every frame of a video; a repeated frame is not looked at again."""
    changes = ChangeDetector()
    for frame in video:
        for changed in changes.push(frame):
            yield _seen(eye, changed)
    for changed in changes.flush():
        yield _seen(eye, changed)


def _seen(eye: Eye, changed: Any) -> tuple[Detections, bool, bool]:
    if changed.repeated:
        return Detections.empty(changed.frame.index, changed.frame.t_s), True, False
    return eye.look(changed), False, changed.cut


class _Match:
    """The state of one analysis: where time and frames stand, and everything that is written."""

    def __init__(
        self, request: AnalysisRequest, writer: MatchFolderWriter, officials: OfficialLines, eye: Eye
    ) -> None:
        self._request = request
        self._writer = writer
        self._officials = officials
        self._first = eye
        self._table = eye.calibration.table
        self._referee = LineReferee(request.rules, request.players, self._table, request.settings)
        self._times = FrameTimes()
        self._files: list[SourceFile] = []
        self._warnings: list[str] = []
        self._moved: list[dict[str, Any]] = []
        self._size = (0, 0)

    def watch(self, video: VideoSource, eye: Eye, meter: ProgressMeter) -> None:
        """One file, appended to the match."""
        offset_s = self._times.as_array()[-1] + _BETWEEN_FILES_S if len(self._times) else 0.0
        base = len(self._times)
        self._files.append(
            SourceFile(path=str(video.info.path.resolve()), t_offset_s=float(offset_s), first_frame=base)
        )
        self._size = self._size if base else (video.info.width, video.info.height)
        motion = MotionStage(self._table)
        for seen, repeated, cut in sightings(video, eye):
            seen.t_s += offset_s
            seen.frame += base
            self._times.append(seen.t_s)
            self._take(motion.push(seen, repeated=repeated, cut=cut))
            meter.tell("analyze", seen.t_s)
        if len(self._times) - base < FEWEST_FRAMES:
            raise InputError(
                f"{video.info.path}: only {len(self._times) - base} frames; too few to see a stroke, give a longer video"
            )
        self._take(motion.flush())
        meter.tell("analyze", float(self._times.as_array()[-1]), last=True)
        self._warnings += video.warnings
        self._moved += [
            {"t": round(t_s + offset_s, 4), "calibration": calibration.to_json()} for t_s, calibration in eye.moved
        ]

    def _take(self, out: MotionOutput) -> None:
        rows: list[TrackRow] = out.rows
        self._writer.add_rows(rows)
        if out.events:
            self._judge(self._officials.merged(out.events))

    def _judge(self, events: Sequence[Event]) -> None:
        written = self._writer.add_events(events)
        for ruling in self._referee.push(written):
            self._writer.add_ruling(ruling)

    def end(self) -> None:
        """What the officials said after the last event, the last rulings, match.json."""
        self._judge(self._officials.rest())
        for ruling in self._referee.flush():
            self._writer.add_ruling(ruling)
        calibration = self._first.calibration
        if not calibration.head_known:
            self._warnings.append(
                f"nothing in the video tells which end is the head; taken as the {calibration.head_side} of the picture, "
                "say --head if it is another"
            )
        self._writer.finish(
            MatchInfo(
                files=tuple(self._files), width=self._size[0], height=self._size[1], frame_times=self._times,
                table=self._table, table_reason=calibration.table_reason, calibration=self._first_json(),
                rules=self._request.rules, settings=in_force(self._request.rules, self._request.settings),
                players=self._request.players, models=models_in_use(),
                warnings=tuple(self._warnings), recalibrated=tuple(self._moved),
            )
        )  # fmt: skip

    def _first_json(self) -> dict[str, Any]:
        return self._first.first_calibration.to_json()
