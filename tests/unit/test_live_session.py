"""Refereeing live: rulings at once and on the disk, officials heard at any time, a camera that comes and goes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import live_scene as scene
import pytest

from vision_referee.detection.detections import Detections
from vision_referee.domain.errors import CalibrationError, InputError
from vision_referee.domain.events import FeetOffFloor, Override, Rest, Source, Strike
from vision_referee.domain.rulings import Ruling
from vision_referee.pipeline.live import LiveRequest, LiveSession
from vision_referee.pipeline.live_facts import Phase
from vision_referee.record.being_watched import is_watched
from vision_referee.record.match_folder import MatchFolder
from vision_referee.video.camera_feed import CameraFeed, FeedSettings
from vision_referee.video.changes import ChangedFrame
from vision_referee.video.source import open_video

ALL = FeedSettings(buffer_frames=100_000, retry_first_s=0.001, retry_most_s=0.001)
"""Nothing is left out, however slow the machine."""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene.write_video(tmp_path_factory.mktemp("scene") / "scene.mp4")


def _request(out: Path, camera: object, rules: str = "small-russian") -> LiveRequest:
    return LiveRequest(camera=str(camera), rules=rules, out=out, players=("Anna", "Boris"), speed=50.0)


def _file_session(out: Path, video: Path, **more: object) -> LiveSession:
    from vision_referee.video.camera_address import file_shots

    # Played without regard to the clock: what is tested here is what is ruled.
    feed = CameraFeed(lambda: file_shots(open_video(video), speed=50, sleep=lambda s: None, clock=lambda: 0.0),
                      finite=True, settings=ALL)  # fmt: skip
    return LiveSession(
        _request(out, video),
        feed=feed,
        finder=scene.finder,
        open_eye=scene.ToldEye,
        **more,  # type: ignore[arg-type]
    )


def _camera_session(out: Path, camera: scene.FakeCamera) -> LiveSession:
    feed = CameraFeed(camera.open, settings=ALL, clock=camera.clock)
    session = LiveSession(_request(out, "7"), feed=feed, finder=scene.finder, open_eye=scene.ToldEye)  # type: ignore[arg-type]
    camera.when_over(lambda: session.stop() if _idle(feed) else None)
    return session


def _idle(feed: CameraFeed) -> bool:
    return not feed._buffer


def _run(session: LiveSession, timeout_s: float = 90.0) -> None:
    session.start()
    assert session.wait(timeout_s), "it ends"
    if session.failure:
        raise session.failure


def _until(true: Callable[[], bool], timeout_s: float = 60.0) -> None:
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_file_is_refereed_to_its_end(tmp_path: Path, video: Path) -> None:
    on_disk: list[tuple[Ruling, str]] = []
    session = _file_session(tmp_path / "m", video, on_ruling=lambda r: on_disk.append(
        (r, (tmp_path / "m" / "rulings.jsonl").read_text(encoding="utf-8"))
    ))  # fmt: skip
    assert json.loads((tmp_path / "m" / "match.json").read_text(encoding="utf-8"))["status"] == "running"
    _run(session)
    match = MatchFolder(tmp_path / "m")
    assert match.info.status == "complete" and match.info.files[0].path == str(video.resolve())
    strikes = [e for e in match.events() if isinstance(e, Strike)]
    assert [e.ball for e in strikes] == ["cue", "cue"]
    assert [e.t for e in strikes] == pytest.approx([1.5, 5.0], abs=0.06)
    rulings = scene.strokes(match.rulings())
    assert [[f.code.value for f in r.fouls] for r in rulings] == [["no_contact"], ["no_contact"]]
    assert len(match.info.frame_times) == 240
    assert {row.frame for row in match.tracks()} >= set(range(30, 240))
    for ruling, text in on_disk:
        assert f'"id": {ruling.id}' in text, "on the disk when it is told"


def test_an_officials_word_changes_the_ruling_and_can_be_taken_back(tmp_path: Path, video: Path) -> None:
    session = _file_session(tmp_path / "m", video)
    ids = session.reserve_ids(1)
    session.submit([FeetOffFloor(t=1.8, source=Source.OFFICIAL, id=ids)])
    ended: list[set[str]] = []

    def look() -> set[str]:
        rulings = scene.strokes(MatchFolder(tmp_path / "m").rulings())
        return {f.code.value for f in rulings[0].fouls} if rulings else set()

    session.start()
    _until(lambda: bool(scene.strokes(session.book.rulings)))
    ended.append(look())
    session.withdraw([ids])
    ended.append(look())
    assert session.wait(60) and session.failure is None
    ended.append(look())
    # It was said before the table was found, holds on the disk at once, and is gone at once.
    assert "feet_off_floor" in ended[0]
    assert ended[1:] == [{"no_contact"}, {"no_contact"}]
    events = MatchFolder(tmp_path / "m").events()
    assert not any(isinstance(e, FeetOffFloor) for e in events)
    assert len({e.id for e in events}) == len(events)
    with pytest.raises(InputError, match="ended"):
        session.submit([FeetOffFloor(t=1.8, source=Source.OFFICIAL, id=99)])


def test_what_makes_no_sense_changes_nothing(tmp_path: Path, video: Path) -> None:
    session = _file_session(tmp_path / "m", video)
    session.start()
    _until(lambda: bool(scene.strokes(session.book.rulings)))
    before = session.book.rulings
    bad = Override(
        t=3.0, source=Source.OFFICIAL, id=session.reserve_ids(1), ruling=1, fields={"fouls": [{"code": "x"}]}
    )
    with pytest.raises(InputError):
        session.submit([FeetOffFloor(t=1.8, source=Source.OFFICIAL, id=session.reserve_ids(1)), bad])
    assert session.book.rulings[: len(before)] == before
    session.stop()
    assert session.wait(60)


def test_a_camera_that_vanishes_several_times_does_not_end_the_match(tmp_path: Path) -> None:
    camera = scene.FakeCamera(8.0, losses=[(0.6, 0.3), (3.9, 0.4), (4.4, 0.2), (7.0, 0.1)])
    session = _camera_session(tmp_path / "m", camera)
    _run(session)
    match = MatchFolder(tmp_path / "m")
    rulings = scene.strokes(match.rulings())
    assert [[f.code.value for f in r.fouls] for r in rulings] == [["no_contact"], ["no_contact"]]
    assert any("lost 4 times" in w for w in match.info.warnings)
    times = match.info.frame_times.as_array()
    assert (times[1:] > times[:-1]).all() and times[-1] == pytest.approx(8.0, abs=0.1)


def test_after_a_long_loss_the_match_goes_on(tmp_path: Path) -> None:
    """The camera is away between the strokes: balls are known again by their places, and the stroke after is ruled."""
    camera = scene.FakeCamera(8.5, losses=[(3.1, 1.2)])
    session = _camera_session(tmp_path / "m", camera)
    _run(session)
    match = MatchFolder(tmp_path / "m")
    rulings = scene.strokes(match.rulings())
    assert [[f.code.value for f in r.fouls] for r in rulings] == [["no_contact"], ["no_contact"]]
    assert [e.ball for e in match.events() if isinstance(e, Strike)] == ["cue", "cue"]


def test_it_is_known_whether_a_match_is_still_watched(tmp_path: Path) -> None:
    session = _camera_session(tmp_path / "m", scene.FakeCamera(2.0))
    assert is_watched(tmp_path / "m")
    _run(session)
    assert not is_watched(tmp_path / "m") and not is_watched(tmp_path / "nowhere")
    assert not (tmp_path / "m" / ".watched").exists()


class Stumbling(scene.ToldEye):
    """Falls over in the midst of the first stroke, so many times."""

    times = 1

    def look(self, changed: ChangedFrame) -> Detections:
        if changed.frame.t_s > 2.0 and self.times:
            self.times -= 1
            raise ZeroDivisionError("the eye blinked")
        return super().look(changed)


def test_a_fault_of_ours_does_not_end_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something fails that never should: the next stroke is ruled on all the same, and the folder says so."""
    monkeypatch.setattr(scene, "ToldEye", Stumbling)
    session = _camera_session(tmp_path / "m", scene.FakeCamera(8.5))
    _run(session)
    match = MatchFolder(tmp_path / "m")
    assert match.info.status == "complete"
    assert [e.t for e in match.events() if isinstance(e, Strike)][-1] == pytest.approx(5.0, abs=0.1)
    assert [f.code.value for f in scene.strokes(match.rulings())[-1].fouls] == ["no_contact"]
    assert any("the eye blinked" in warning for warning in match.info.warnings)


def test_a_fault_that_comes_again_and_again_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "ToldEye", type("Broken", (Stumbling,), {"times": 1000}))
    session = _camera_session(tmp_path / "m", scene.FakeCamera(8.5))
    with pytest.raises(InputError, match="the eye blinked"):
        _run(session)


def test_a_camera_is_recorded_so_that_clips_can_be_made(tmp_path: Path) -> None:
    camera = scene.FakeCamera(4.0)
    session = _camera_session(tmp_path / "m", camera)
    _run(session)
    info = MatchFolder(tmp_path / "m").info
    (file,) = info.files
    recorded = list(open_video(file.path).frames())
    assert Path(file.path).parent == tmp_path / "m"
    last = recorded[-1].t_s + file.t_offset_s
    assert file.t_offset_s > 0 and last == pytest.approx(4.0, abs=0.2)


def test_a_clip_can_be_made_while_the_match_goes_on(tmp_path: Path) -> None:
    from vision_referee.review.server.clip_shop import ClipShop
    from vision_referee.review.server.desk import Record
    from vision_referee.review.wording import wording

    session = _camera_session(tmp_path / "m", camera := scene.FakeCamera(9.5))
    camera.when_over(lambda: None)
    camera.pause_s = 0.012
    session.start()
    _until(lambda: len(scene.strokes(session.book.rulings)) == 2 and session.clock_s() > 9.4)
    recording = session._recording
    assert recording is not None
    _until(lambda: recording._waiting.empty())
    match = MatchFolder(tmp_path / "m")
    assert match.info.status == "running"
    record = Record("", match.info, tuple(match.events()), tuple(match.rulings()))
    clip = ClipShop(tmp_path / "cache").clip(match, record, scene.strokes(record.rulings)[1], wording("en"))
    frames = list(open_video(clip).frames())
    # A second and a half around the stroke, but for what is not on the disk yet.
    assert frames[-1].t_s > 3.0 and len(frames) > 80
    session.stop()
    assert session.wait(60) and session.failure is None


def test_the_recording_of_a_match_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "recording-1.mp4").write_bytes(b"mine")
    with pytest.raises(InputError, match="recorded live match"):
        LiveSession(_request(tmp_path / "m", "7"), feed=CameraFeed(scene.FakeCamera(1).open))
    assert (tmp_path / "m" / "recording-1.mp4").read_bytes() == b"mine"


def test_no_table_is_said_with_its_reason_and_leaves_nothing(tmp_path: Path, video: Path) -> None:
    tries: list[int] = []

    def blind(frames: object, wish: object) -> object:
        tries.append(len(frames))  # type: ignore[arg-type]
        raise CalibrationError("no cloth in view")

    session = _file_session(tmp_path / "m", video)
    session._search._finder = blind  # type: ignore[assignment]
    session.start()
    assert session.wait(30)
    assert session.failure is not None and "no cloth in view" in str(session.failure)
    assert len(tries) > 2, "it keeps trying while the file plays"
    assert list(tmp_path.iterdir()) == []


def test_a_table_found_late_begins_the_match_then(tmp_path: Path) -> None:
    seen: list[int] = []

    def late(frames: object, wish: object) -> object:
        seen.append(1)
        if len(seen) == 1:
            raise CalibrationError("somebody stands before it")
        return scene.calibration()

    camera = scene.FakeCamera(8.0)
    session = _camera_session(tmp_path / "m", camera)
    session._search._finder = late  # type: ignore[assignment]
    _run(session)
    match = MatchFolder(tmp_path / "m")
    assert match.info.frame_times.as_array()[0] > 2.5
    assert [e.t for e in match.events() if isinstance(e, Strike)] == pytest.approx([5.0], abs=0.06)


def test_what_is_shown_now(tmp_path: Path, video: Path) -> None:
    session = _file_session(tmp_path / "m", video)
    before = session.now()
    assert before.phase is Phase.SEARCHING and before.balls == () and before.last is None
    _run(session)
    now = session.now()
    assert now.phase is Phase.ENDED and now.last is not None and now.t_s == pytest.approx(7.97, abs=0.05)
    places = {b.label: (b.x_mm, b.y_mm) for b in now.balls}
    for ball, place in scene.OBJECTS.items():
        assert any(abs(x - place[0]) < 3 and abs(y - place[1]) < 3 for x, y in places.values()), ball
    assert places["cue"] == pytest.approx(scene.cue_ball(8.0), abs=8)
    assert not now.moving and session.picture() is not None


def test_ruled_within_a_second_of_the_rest(tmp_path: Path) -> None:
    """On the clock of the camera: the ruling is given before a second of pictures has come after the rest."""
    given: list[tuple[Ruling, float]] = []
    camera = scene.FakeCamera(8.0)
    feed = CameraFeed(camera.open, settings=FeedSettings(buffer_frames=1_000_000), clock=camera.clock)
    session = LiveSession(
        _request(tmp_path / "m", "7"), feed=feed, finder=scene.finder, open_eye=scene.ToldEye,  # type: ignore[arg-type]
        on_ruling=lambda r: given.append((r, session._last_s or 0.0)),
    )  # fmt: skip
    camera.when_over(lambda: session.stop() if _idle(feed) else None)
    _run(session)
    first = {}
    for ruling, at_s in given:
        first.setdefault(ruling.id, (ruling, at_s))
    strokes = [(r, at) for r, at in first.values() if r.kind.value == "stroke"]
    assert len(strokes) == 2
    rests = [e.t for e in MatchFolder(tmp_path / "m").events() if isinstance(e, Rest) and e.t > 1.5]
    for (_, at_s), rest_s in zip(strokes, rests, strict=False):
        assert at_s - rest_s < 1.0
