"""A match refereed while it is played: the line of ``recorded.py`` behind a camera that never waits.

camera (own thread) -> changes -> eye -> motion -> book (rules, folder). One thread sees; the browser app speaks to the
book and reads ``now``. Whatever the camera does, what has been ruled is on the disk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vision_referee.calibration.calibration import Calibration, load_calibration
from vision_referee.calibration.find import DEFAULT_TABLE
from vision_referee.calibration.saved import camera_file
from vision_referee.calibration.tables import load_table
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.events.line import BallNow, MotionStage
from vision_referee.pipeline import heap
from vision_referee.pipeline.eye import CALIBRATION_FRAMES, Eye, TableWish, find_table, models_in_use
from vision_referee.pipeline.live_book import LiveBook
from vision_referee.pipeline.live_facts import LiveNow, Phase, shot_clock_now
from vision_referee.pipeline.match_line import GameRules, seen
from vision_referee.pipeline.set_up import SetUp, SetUpWish
from vision_referee.pipeline.table_search import Finder, TableSearch
from vision_referee.record.being_watched import WatchMark
from vision_referee.record.events_jsonl import read_officials
from vision_referee.record.frame_times import FrameTimes
from vision_referee.record.match_folder import MatchFolderWriter
from vision_referee.record.match_info import MatchInfo, SourceFile
from vision_referee.rules.settings import RuleSettings, in_force
from vision_referee.video.camera_address import camera_address, opener
from vision_referee.video.camera_feed import CameraFeed
from vision_referee.video.camera_recording import CameraRecording
from vision_referee.video.changes import ChangeDetector, ChangedFrame, ChangeSettings
from vision_referee.video.frames import U8, Frame
from vision_referee.video.source import open_video, sample_frames

_LOG = logging.getLogger(__name__)
_GAP_S = 1.0
"""Balls that were not watched for longer may have been moved: what is seen next begins anew, as after a cut."""
_SHOWN_EVERY_S = 0.08
_STUMBLES, _STUMBLES_WITHIN_S = 3, 60.0
"""So many faults of our own so soon after each other are no accident: then the match is ended and it is said."""
_FIRST_PICTURE_S = 20.0
"""A camera that has never given a picture for so long is a wrong address rather than a lost camera."""

Tell = Callable[[str], None]
EyeOpener = Callable[[Calibration], Eye]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """What to watch and how. ``table``, ``head`` and ``calibration`` None: found from the picture.

    ``speed``: how fast a file is played, in its own seconds a second.
    """

    camera: str
    rules: str
    out: Path
    players: tuple[str, ...]
    settings: RuleSettings = field(default_factory=RuleSettings)
    calibration: Path | None = None
    officials: Path | None = None
    table: str | None = None
    head: str | None = None
    lang: str = "en"
    speed: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The newest picture: ``bgr`` (h, w, 3), not to be changed."""

    t_s: float
    bgr: U8


class LiveSession:
    """``start``, then ``wait`` until the file has ended or after ``stop``. Threads may ask ``now`` and ``picture``.

    Raises (on making):
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """

    def __init__(
        self,
        request: LiveRequest,
        *,
        feed: CameraFeed | None = None,
        finder: Finder = find_table,
        open_eye: EyeOpener = Eye,
        tell: Tell | None = None,
        on_ruling: Callable[[Ruling], None] | None = None,
    ) -> None:
        self.request = request
        self.failure: InputError | None = None
        self._tell = tell or (lambda line: None)
        self._address = camera_address(request.camera)
        self._wish = TableWish(
            table=load_table(request.table) if request.table else None,
            head=request.head,
            calibration=load_calibration(request.calibration) if request.calibration else None,
        )
        officials = read_officials(request.officials) if request.officials else ()
        self._feed = feed or CameraFeed(
            opener(self._address, speed=request.speed), finite=self._address.file is not None
        )
        self._open_eye = open_eye
        self._search = TableSearch(self._wish, finder=finder)
        self._set_up = SetUp()
        self._table = self._wish.table or load_table(DEFAULT_TABLE)
        _refuse_recorded_match(request.out)
        self._writer = MatchFolderWriter(request.out, live=True)
        self._mark = WatchMark(self._writer.folder)
        game = GameRules(rules=request.rules, players=request.players, settings=request.settings)
        self.book = LiveBook(self._writer, game, officials, self._first_info(), on_ruling)
        self._eye: Eye | None = None
        self._motion: MotionStage | None = None
        self._changes = self._change_detector()
        self._recording: CameraRecording | None = None
        self._filed = False
        self._last_s: float | None = None
        self._dropped = 0
        self._begin_anew = False
        """The next frame is watched as if after a cut."""
        self._after_drop: set[int] = set()
        self._stumbled_s: list[float] = []
        self._tidied_s = 0.0
        self._size = (0, 0)
        self._shown: Shown | None = None
        self._balls: tuple[BallNow, ...] = ()
        self._seen_s = 0.0
        self._delay_s = 0.0
        self._phase = Phase.SEARCHING
        self._camera_ok = True
        self._disk_failure: str | None = None
        self._stopping = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="referee", daemon=True)

    # --- for whoever runs it ---

    @property
    def folder(self) -> Path:
        return self._writer.folder

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask for a clean end; ``wait`` says when it has come."""
        self._stopping.set()

    def abandon(self) -> None:
        """It will not be started after all: leave nothing behind."""
        self._leave_nothing()

    def _leave_nothing(self) -> None:
        self._mark.release()
        self._writer.abandon()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether the match has ended: rulings flushed, match.json complete; or ``failure`` says what went wrong."""
        return self._done.wait(timeout_s)

    # --- for the browser app (its protocol LiveMatch, and more) ---

    def reserve_ids(self, count: int) -> int:
        return self.book.reserve_ids(count)

    def submit(self, events: Sequence[Event]) -> None:
        self.book.submit(events)

    def withdraw(self, event_ids: Sequence[int]) -> None:
        self.book.withdraw(event_ids)

    def clock_s(self) -> float:
        """The match's time now: what an official says at this moment is entered with it."""
        return round(max(self._feed.clock_s(), self._seen_s), 3)

    def picture(self) -> Shown | None:
        return self._shown

    def set_up(self, wish: SetUpWish) -> Calibration:
        """Look for the table at the corners that a person marked, or turn its head end, and watch by that.

        Raises:
            InputError: no table there, the match does not allow it any more, or the file cannot be written.
        """
        shown = self._shown
        if shown is None:
            raise InputError("no picture yet: wait for the camera")
        made = self._set_up.calibrate(
            wish, shown.bgr, shown.t_s, self._wish, self._eye.calibration if self._eye else None
        )
        self._set_up.hand_over(made, timeout_s=20.0)
        if wish.name:
            path = camera_file(wish.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            made.save(path)
            self._tell(f"calibration saved: {path}")
        return made

    def now(self) -> LiveNow:
        """The match at this moment; cheap, for any thread."""
        eye, balls = self._eye, self._balls
        t_s = self.clock_s()
        moving = any(ball.moving for ball in balls)
        settings = self.request.settings
        view = self.book.view(t_s, balls, settings.hanging_s)
        return LiveNow(
            t_s=t_s,
            phase=self._phase,
            reason="" if eye is not None else self._search.reason,
            camera=self._feed.state(),
            delay_ms=round(1000 * self._delay_s),
            table=self._table,
            calibration=eye.calibration if eye is not None else None,
            balls=balls,
            numbers=view.numbers,
            moving=moving,
            hanging=() if moving else view.hanging,
            hanging_s=settings.hanging_s,
            shot_clock=None if moving else shot_clock_now(view.state, t_s, settings.shot_clock_s),
            put_back=() if moving else view.put_back,
            last=view.last,
            state=view.state,
        )

    # --- the thread that sees ---

    def _run(self) -> None:
        try:
            self._watch()
        except InputError as error:
            self.failure = error
        except Exception as error:
            _LOG.exception("live refereeing failed")
            self.failure = InputError(f"{self._address.shown}: {type(error).__name__}: {error}")
        finally:
            self._phase = Phase.ENDED
            self._feed.stop()
            if self._recording is not None:
                self._recording.close()
            self._mark.release()
            self._done.set()

    def _watch(self) -> None:
        if self._address.file is not None:
            # A file can be looked through before it is played, so that its first stroke is not missed.
            self._try_file(self._address.file)
        self._feed.start()
        while (frame := self._next()) is not None:
            self._size = self._size if self._size[0] else frame.bgr().shape[1::-1]
            if self._eye is None:
                self._show(frame)
                found = self._set_up.taken() or self._search.push(frame)
                if found is not None:
                    self._found(found, frame.t_s)
                continue
            self._change_set_up(frame.t_s)
            try:
                self._see(frame)
            except InputError:
                raise
            except Exception as error:
                self._stumbled(frame.t_s, error)
        self._close()

    def _next(self) -> Frame | None:
        """The next frame, however long it takes; None at the end."""
        waiting_since = time.monotonic()
        while not (self._stopping.is_set() or self._feed.ended):
            frame = self._feed.next(0.25)
            self._report_camera()
            if frame is not None:
                return frame
            state = self._feed.state()
            if not state.captured and time.monotonic() - waiting_since > _FIRST_PICTURE_S:
                self._leave_nothing()
                raise InputError(
                    f"{self._address.shown}: no picture ({state.reason}); check the address and the camera"
                )
        return None

    def _try_file(self, path: Path) -> None:
        video = open_video(path)
        frames = sample_frames(video, CALIBRATION_FRAMES)
        self._size = (video.info.width, video.info.height)
        if frames:
            self._shown = Shown(t_s=0.0, bgr=frames[0].bgr())
        found = self._search.look(frames)
        if found is not None:
            self._found(found, 0.0)
        else:
            self._tell(f"no table yet: {self._search.reason}")

    def _found(self, calibration: Calibration, t_s: float) -> None:
        """The table is known: from now on it is refereed."""
        self._eye = self._open_eye(calibration)
        self._table = calibration.table
        self.book.begin(calibration, self._size)
        if not self._filed:
            self._keep_video()
        self._watch_anew()
        self._phase = Phase.RUNNING
        known = "" if calibration.head_known else " (taken: nothing tells which end it is)"
        self._tell(
            f"table found: {calibration.table.name}, residual {calibration.residual_mm:.1f} mm, head at the "
            f"{calibration.head_side} of the picture{known}"
        )
        for hint in calibration.hints:
            self._tell(f"hint: {hint}")

    def _watch_anew(self) -> None:
        self._motion = MotionStage(self._table)
        self._changes = self._change_detector()
        self._last_s = None
        self._after_drop.clear()

    def _change_detector(self) -> ChangeDetector:
        """A camera has no cuts to be told from what follows them: nothing needs to wait for long."""
        return ChangeDetector() if self._feed.finite else ChangeDetector(ChangeSettings(most_waiting=2))

    def _keep_video(self) -> None:
        """What clips are made from: the file itself, or a recording of the camera from now on."""
        if self._address.file is not None:
            self.book.add_file(SourceFile(path=str(self._address.file.resolve())))
            self._filed = True
        else:
            self._recording = CameraRecording(self.folder / "recording-1.mp4")
            self._feed.on_frame = self._recording.put

    def _change_set_up(self, t_s: float) -> None:
        """Watch by what a person has set up, if anybody has."""
        made = self._set_up.waiting()
        if made is None or self._eye is None:
            return
        now = self._eye.calibration
        try:
            if made.table == now.table and made.head_side == now.head_side:
                self._eye.use(made, t_s)
                self._begin_anew = True
            else:
                self.book.begin(made, self._size)
                self._eye = self._open_eye(made)
                self._table = made.table
                self._watch_anew()
        except InputError as error:
            self._set_up.answer(error)
        else:
            self._set_up.answer(None)

    def _see(self, frame: Frame) -> None:
        """One frame on, told from the last by what changed."""
        if self._last_s is not None and frame.t_s - self._last_s > _GAP_S:
            self._empty_changes()
            self._begin_anew = True
        dropped = self._feed.state().dropped
        if dropped != self._dropped:
            self._after_drop.add(frame.index)
        self._dropped, self._last_s = dropped, frame.t_s
        for changed in self._changes.push(frame):
            self._look(changed)

    def _stumbled(self, t_s: float, error: Exception) -> None:
        """A fault of ours in one place must not end the match: it is said, and what is seen next begins anew."""
        self._stumbled_s = [s for s in self._stumbled_s if t_s - s < _STUMBLES_WITHIN_S] + [t_s]
        if len(self._stumbled_s) >= _STUMBLES:
            raise error
        _LOG.error("live refereeing stumbled", exc_info=error)
        warning = f"the referee stumbled at {t_s:.1f} s ({type(error).__name__}: {error}); look at what happened then"
        self.book.warn(warning)
        self._tell(f"warning: {warning}")
        self._watch_anew()
        self._begin_anew = True

    def _empty_changes(self) -> None:
        for changed in self._changes.flush():
            self._look(changed)
        self._changes = self._change_detector()

    def _look(self, changed: ChangedFrame) -> None:
        eye, motion, frame = self._eye, self._motion, changed.frame
        assert eye is not None and motion is not None
        detections, repeated, cut = seen(eye, changed)
        late = frame.index in self._after_drop
        self._after_drop.discard(frame.index)
        # A camera has no cuts, but a frame after dropped ones looks like one.
        cut = (changed.hard_cut or (cut and self._feed.finite and not late)) and not repeated
        if self._begin_anew:
            cut, self._begin_anew = True, False
        self.book.number(detections)
        out = motion.push(detections, repeated=repeated, cut=cut)
        self.book.take(out, eye)
        self._report_disk()
        self._balls = tuple(motion.balls_now())
        self._seen_s = frame.t_s
        self._delay_s = max(0.0, self._feed.clock_s() - frame.t_s)
        self._show(frame)
        self._file_recording()
        if frame.t_s - self._tidied_s > heap.EVERY_S and not any(ball.moving for ball in self._balls):
            self._tidied_s = frame.t_s
            heap.give_back()

    def _show(self, frame: Frame) -> None:
        if self._shown is None or frame.t_s - self._shown.t_s >= _SHOWN_EVERY_S:
            self._shown = Shown(t_s=frame.t_s, bgr=frame.bgr())

    def _file_recording(self) -> None:
        recording = self._recording
        if recording is None:
            return
        if not self._filed and recording.first_s is not None:
            self.book.add_file(SourceFile(path=str(recording.path), t_offset_s=recording.first_s))
            self._filed = True
        if recording.failure is not None:
            self.book.warn(recording.failure)
            self._tell(f"warning: {recording.failure}")
            self._recording = self._feed.on_frame = None

    def _report_disk(self) -> None:
        failure = self._writer.failure
        if failure != self._disk_failure:
            self._disk_failure = failure
            again = "the disk takes what is told again"
            self._tell(again if failure is None else f"warning: {failure}; until then what is told is kept in memory")

    def _report_camera(self) -> None:
        state = self._feed.state()
        if state.ok != self._camera_ok and state.captured and not self._feed.ended:
            self._camera_ok = state.ok
            self._tell("the camera is back" if state.ok else f"camera lost: {state.reason}; trying again")

    def _close(self) -> None:
        """A clean end: what is known is told, and the folder is complete."""
        self._feed.stop()
        if self._eye is None or self._motion is None:
            self._leave_nothing()
            reason = self._search.reason or "stopped before a table was found"
            raise InputError(f"{self._address.shown}: {reason}")
        self._empty_changes()
        self.book.take(self._motion.flush(), self._eye)
        if self._recording is not None:
            self._recording.close()
            self._file_recording()
        state = self._feed.state()
        if state.losses:
            often = "once" if state.losses == 1 else f"{state.losses} times"
            self.book.warn(f"the camera was lost {often}; what happened meanwhile was not seen")
        self.book.finish()
        self._balls = tuple(self._motion.balls_now())

    def _first_info(self) -> MatchInfo:
        """match.json before a table is found."""
        request = self.request
        return MatchInfo(
            files=(), width=0, height=0, frame_times=FrameTimes(), table=self._table, table_reason="not found yet",
            calibration=None, rules=request.rules, settings=in_force(request.rules, request.settings),
            players=request.players, models=models_in_use(), lang=request.lang, extra={"camera": self._address.shown},
        )  # fmt: skip


def _refuse_recorded_match(out: Path) -> None:
    """The recording of a live match cannot be made again: it is never written over."""
    if out.is_dir() and any(out.glob("recording-*.mp4")):
        raise InputError(f"{out}: holds a recorded live match; give a new folder for --out")
