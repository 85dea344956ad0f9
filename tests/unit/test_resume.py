"""Nothing is lost: a broken-off analysis goes on with the result of one that never stopped."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import broken_off
import live_scene as scene
import pytest
from broken_off import TOLD, content, request

from vision_referee.domain.errors import InputError, RecordStopped
from vision_referee.pipeline import recorded
from vision_referee.pipeline.checkpoint import Checkpoint, Checkpoints, read_checkpoint
from vision_referee.pipeline.recorded import AnalysisRequest, Sight, analyze
from vision_referee.record.match_folder import FolderMark, MatchFolderWriter, part_of, publish
from vision_referee.review.whole_match import analyze_whole


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two strokes."""
    return scene.write_video(tmp_path_factory.mktemp("scene") / "scene.mp4", length_s=6.4)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One."""
    return scene.write_video(tmp_path_factory.mktemp("scene") / "scene.mp4", length_s=3.4)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, short: Path) -> dict[str, Any]:
    """What an analysis of the short one gives that nobody breaks off."""
    return whole(request(tmp_path_factory.mktemp("whole") / "m", short))


class StoppingEye(scene.ToldEye):
    """Ctrl+C comes while it looks at a frame."""

    stop_at = -1
    looks = 0

    def look(self, changed: Any) -> Any:
        type(self).looks += 1
        if 0 <= type(self).stop_at <= changed.frame.index < type(self).stop_at + 8:
            type(self).stop_at = -1
            raise KeyboardInterrupt
        return super().look(changed)


STOPPING = Sight(find=scene.finder, open_eye=StoppingEye)  # type: ignore[arg-type]


def whole(asked: AnalysisRequest, **more: Any) -> dict[str, Any]:
    see = more.pop("see", TOLD)
    analyze(asked, see=see, checkpoint_every_s=0.2, **more)
    return content(publish(asked.out))


def broken_off_at(asked: AnalysisRequest, frame: int, **more: Any) -> None:
    StoppingEye.stop_at = frame
    with pytest.raises(KeyboardInterrupt):
        analyze(asked, see=STOPPING, checkpoint_every_s=0.0, **more)


def test_an_analysis_interrupted_anywhere_ends_as_if_it_had_not_been(tmp_path: Path, video: Path) -> None:
    expected = whole(request(tmp_path / "whole", video))
    asked = request(tmp_path / "m", video)
    # As a ball starts, as it rolls, as it comes to rest; in both strokes, each going on where the last was broken off.
    for frame in (47, 60, 75, 152, 165):
        broken_off_at(asked, frame, resume=True)
        assert not asked.out.exists()
    StoppingEye.looks = 0
    found = whole(asked, see=STOPPING, resume=True)
    assert StoppingEye.looks <= 24, "what was seen is not looked at again"
    assert found == expected


def test_a_match_of_several_files_goes_on_in_the_file_where_it_stood(tmp_path: Path, short: Path) -> None:
    shutil.copy(short, tmp_path / "second.mp4")
    files = (short, tmp_path / "second.mp4")
    expected = whole(request(tmp_path / "whole", *files))
    asked = request(tmp_path / "m", *files)
    broken_off_at(asked, 70)
    StoppingEye.stop_at = 50  # of the second file now
    with pytest.raises(KeyboardInterrupt):
        analyze(asked, see=STOPPING, checkpoint_every_s=0.0, resume=True)
    assert len(read_checkpoint_state(asked)["files"]) == 2
    assert whole(asked, see=STOPPING, resume=True) == expected


def read_checkpoint_state(asked: AnalysisRequest) -> dict[str, Any]:
    found = read_checkpoint(part_of(asked.out), recorded._fingerprint(asked))
    assert found is not None
    match = found.state(None, __name__)
    return {"files": match._line.files}


def test_without_resume_it_begins_anew(tmp_path: Path, short: Path) -> None:
    asked = request(tmp_path / "m", short)
    broken_off_at(asked, 70)
    StoppingEye.looks = 0
    analyze(asked, see=STOPPING)
    assert StoppingEye.looks > 30


def test_what_was_left_of_another_match_is_not_gone_on_with(tmp_path: Path, short: Path) -> None:
    mine = tmp_path / "mine.mp4"
    shutil.copy(short, mine)
    asked = request(tmp_path / "m", mine)
    broken_off_at(asked, 60)
    assert recorded.can_be_gone_on_with(asked)
    (tmp_path / "said.jsonl").write_text('{"t": 1.0, "type": "starts", "player": "Anna"}\n')
    assert not recorded.can_be_gone_on_with(replace(asked, rules="american"))
    assert not recorded.can_be_gone_on_with(replace(asked, players=("Anna", "Vera")))
    assert not recorded.can_be_gone_on_with(replace(asked, officials=tmp_path / "said.jsonl"))
    assert not recorded.can_be_gone_on_with(replace(asked, sources=(mine, mine)))
    assert not recorded.can_be_gone_on_with(replace(asked, out=tmp_path / "elsewhere"))
    os.utime(mine, (1, 1))
    assert not recorded.can_be_gone_on_with(asked)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone", "of another format"])
def test_a_damaged_checkpoint_is_none(tmp_path: Path, damage: str) -> None:
    Checkpoints(tmp_path, "x").save({"a": 1}, None, _mark())
    assert read_checkpoint(tmp_path, "x") is not None and read_checkpoint(tmp_path, "y") is None
    path = tmp_path / "checkpoint"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        damaged = {
            "cut": data[:-3], "flipped": data[:-3] + bytes([data[-3] ^ 1]) + data[-2:], "empty": b"",
            "of another format": data.replace(b'"format": 1', b'"format": 0'),
        }  # fmt: skip
        path.write_bytes(damaged[damage])
    assert read_checkpoint(tmp_path, "x") is None


def test_files_that_are_gone_cost_time_and_nothing_else(tmp_path: Path, short: Path, expected: dict[str, Any]) -> None:
    asked = request(tmp_path / "m", short)
    broken_off_at(asked, 70)
    shutil.rmtree(part_of(asked.out) / "tracks.parts")
    assert whole(asked, see=STOPPING, resume=True) == expected


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/never-vision-referee",)


def test_a_checkpoint_from_elsewhere_runs_no_code() -> None:
    for body in (pickle.dumps(Evil()), b"\x80\x04\x8c\x1bvision_referee.video.source\x94\x8c\x07av.open\x94\x93."):
        with pytest.raises(pickle.UnpicklingError, match="not part of a match"):
            Checkpoint(mark=_mark(), body=body).state(None, "vision_referee.pipeline.eye")
    assert not Path("/tmp/never-vision-referee").exists()


def _mark() -> FolderMark:
    return FolderMark(events_bytes=0, rulings_bytes=0, track_parts=0, next_event_id=1, last_t_s=0.0, out_of_order=False)


def test_an_analysis_that_only_lacked_its_report_is_not_looked_at_again(tmp_path: Path, short: Path) -> None:
    asked = request(tmp_path / "m", short)
    analyze(asked, see=TOLD)
    StoppingEye.looks = 0
    assert recorded.can_be_gone_on_with(asked)
    assert analyze(asked, see=STOPPING, resume=True) == part_of(asked.out) and StoppingEye.looks == 0


def test_a_match_that_is_done_is_not_done_again(tmp_path: Path, short: Path) -> None:
    asked = request(tmp_path / "m", short)
    made = analyze_whole(asked, see=TOLD)
    before = content(made)
    StoppingEye.looks = 0
    assert analyze_whole(asked, see=STOPPING, resume=True) == made and StoppingEye.looks == 0
    assert content(made) == before
    analyze_whole(replace(asked, players=("Vera", "Gleb")), see=STOPPING, resume=True)
    assert StoppingEye.looks > 30


def test_unusable_input_leaves_nothing_even_late(tmp_path: Path, short: Path) -> None:
    scene.write_video(tmp_path / "short.mp4", length_s=0.2)
    with pytest.raises(InputError, match=r"short\.mp4"):
        analyze(request(tmp_path / "m", short, tmp_path / "short.mp4"), see=TOLD, checkpoint_every_s=0.0)
    assert not part_of(tmp_path / "m").exists()


def test_killed_at_random_moments(tmp_path: Path, short: Path) -> None:
    """SIGKILL, three times here (twenty in `make soak`)."""
    expected_s = broken_off.took_s(tmp_path / "whole", (short,))
    expected = content(tmp_path / "whole")
    middle = broken_off.killed_at_random(tmp_path / "m", (short,), kills=3, seed=11, within_s=expected_s)
    assert middle >= 1
    assert content(tmp_path / "m") == expected


# --- a full disk ---


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A file system of three megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only the administrator can make a small disk")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("no small disk can be made here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=False)


class FillingEye(scene.ToldEye):
    """While it looks, something else fills the disk."""

    ballast: Path | None = None

    def look(self, changed: Any) -> Any:
        ballast = type(self).ballast
        if ballast is not None and changed.frame.index >= 70 and not ballast.exists():
            _fill(ballast)
        return super().look(changed)


def test_a_full_disk_stops_a_recorded_match_which_goes_on_when_there_is_room(
    short: Path, small_disk: Path, expected: dict[str, Any]
) -> None:
    asked = request(small_disk / "m", short)
    ballast = FillingEye.ballast = small_disk / "ballast"
    filling = Sight(find=scene.finder, open_eye=FillingEye)  # type: ignore[arg-type]
    with pytest.raises(RecordStopped, match="make room") as stopped:
        analyze(asked, see=filling, checkpoint_every_s=0.0)
    assert "\n" not in str(stopped.value) and not asked.out.exists()
    for line in (part_of(asked.out) / "events.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)
    ballast.unlink()
    FillingEye.ballast = None
    assert whole(asked, see=filling, resume=True) == expected


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def test_a_full_disk_does_not_stop_a_live_match(small_disk: Path) -> None:
    """What is told is kept, and is on the disk as soon as there is room; readers never see half a line."""
    import handmade_match as handmade

    writer = MatchFolderWriter(small_disk / "m", live=True)
    writer.write_info(handmade.match_info(Path("/v.mp4"), handmade.overhead_camera()))
    events, rulings = handmade.events(), handmade.rulings()
    writer.add_events(events[:4])
    _fill(small_disk / "ballast")
    writer.add_rows(handmade.rows_at(0))
    writer.add_events(events[4:] * 30)
    for ruling in rulings:
        writer.add_ruling(ruling)
    assert writer.failure is not None and "make room" in writer.failure
    for line in (small_disk / "m" / "events.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)
    (small_disk / "ballast").unlink()
    writer.add_ruling(rulings[-1])
    assert writer.failure is None
    writer.finish(handmade.match_info(Path("/v.mp4"), handmade.overhead_camera()))
    found = content(small_disk / "m")
    assert len(found["events"]) == 4 + 30 * len(events[4:]) and len(found["rulings"]) == len(rulings)
    assert len(found["tracks"]) == len(handmade.rows_at(0))


def test_checkpoints_take_little_of_the_time(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "x", every_s=0.001)

    class Heavy:
        def __reduce__(self) -> Any:
            time.sleep(0.05)
            return set, ()

    time.sleep(0.01)
    assert checkpoints.due
    checkpoints.save(Heavy(), None, _mark())
    assert not checkpoints.due, "a dear checkpoint is followed by work"


def test_two_programs_do_not_write_one_match(tmp_path: Path) -> None:
    first = MatchFolderWriter(tmp_path / "m")
    with pytest.raises(InputError, match="another program"):
        MatchFolderWriter(tmp_path / "m")
    first.keep()
    MatchFolderWriter(tmp_path / "m").discard()
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_of_stages_that_have_changed_costs_time_and_nothing_else(
    tmp_path: Path, short: Path, expected: dict[str, Any]
) -> None:
    """The same software version, but what the state is made of is there no more."""
    asked = request(tmp_path / "m", short)
    broken_off_at(asked, 70)
    part, fingerprint = part_of(asked.out), recorded._fingerprint(asked)
    found = read_checkpoint(part, fingerprint)
    assert found is not None
    Checkpoints(part, fingerprint, every_s=0.0).save(Foreign(), None, found.mark)
    assert whole(asked, see=STOPPING, resume=True) == expected


class Foreign:
    def __reduce__(self) -> Any:
        return os.getcwd, ()
