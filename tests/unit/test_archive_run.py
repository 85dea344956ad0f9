"""An archive: which matches are asked for, what is due, and that no match stops another."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import handmade_match as handmade
import live_scene as scene
import pytest
from typer.testing import CliRunner

from vision_referee.archive.inputs import Wishes, jobs_of, name_of
from vision_referee.archive.job import MatchJob, Status
from vision_referee.archive.run import FAILURES, Archive
from vision_referee.archive.runners import LocalRunner
from vision_referee.archive.work import Outcome, do_match
from vision_referee.cli import build_app
from vision_referee.domain.errors import InputError
from vision_referee.pipeline.recorded import Sight
from vision_referee.record.match_folder import MatchFolder

TOLD = Sight(find=scene.finder, open_eye=scene.ToldEye)  # type: ignore[arg-type]
NONE = Wishes(rules="none")


def files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10)


def wanted(tmp_path: Path, *inputs: str, lists: tuple[Path, ...] = (), wishes: Wishes = NONE) -> list[MatchJob]:
    return jobs_of(inputs, lists, wishes, tmp_path / "archive" / "matches")


def stems(jobs: list[MatchJob]) -> list[str]:
    return [job.request.sources[0].name for job in jobs]


# --- what is asked for ---


def test_a_folder_gives_its_videos_and_not_the_clips_of_matches(tmp_path: Path) -> None:
    files(tmp_path, "v/b.mp4", "v/a.MKV", "v/cup/c.mov", "v/notes.txt", "v/.hidden/d.mp4", "v/m/match.json")
    files(tmp_path, "v/m/clips/0001.mp4", "v/m/recording-1.mp4")
    assert stems(wanted(tmp_path, str(tmp_path / "v"))) == ["a.MKV", "b.mp4", "c.mov"]


def test_an_archive_inside_the_folder_is_not_looked_into(tmp_path: Path) -> None:
    files(tmp_path, "a.mp4", "archive/matches/a-12345678/clips/0001.mp4")
    assert stems(wanted(tmp_path, str(tmp_path))) == ["a.mp4"]


def test_patterns_and_lists(tmp_path: Path) -> None:
    files(tmp_path, "v/a1.mp4", "v/deep/er/a2.mp4", "v/b.mp4", "w/c.mp4")
    (tmp_path / "list.txt").write_text("# tonight\nw/c.mp4\n\nv/b.mp4|w/c.mp4\n", encoding="utf-8")
    assert stems(wanted(tmp_path, str(tmp_path / "v" / "**" / "a*.mp4"))) == ["a1.mp4", "a2.mp4"]
    listed = wanted(tmp_path, f"@{tmp_path / 'list.txt'}")
    assert [[path.name for path in job.request.sources] for job in listed] == [["c.mp4"], ["b.mp4", "c.mp4"]]
    assert stems(wanted(tmp_path, lists=(tmp_path / "list.txt",))) == ["c.mp4", "b.mp4"]


def test_a_video_named_twice_is_one_match(tmp_path: Path) -> None:
    files(tmp_path, "v/a.mp4")
    assert len(wanted(tmp_path, str(tmp_path / "v"), str(tmp_path / "v" / "a.mp4"))) == 1


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_says_what_differs_from_match_to_match(tmp_path: Path, separator: str) -> None:
    files(tmp_path, "a.mp4", "b.mp4", "said.jsonl")
    rows = [
        ["source", "name", "rules", "players", "officials", "head", "lang"],
        ["a.mp4", "final", "american", '"Anna, Boris"', "said.jsonl", "left", "ru"],
        ["b.mp4", "", "", "", "", "", ""],
    ]
    table = tmp_path / "league.csv"
    table.write_text("\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8-sig")
    first, second = wanted(tmp_path, lists=(table,), wishes=Wishes(rules="small-russian", players="Vera,Gleb"))
    assert (first.name, first.request.rules, first.request.players) == ("final", "american", ("Anna", "Boris"))
    assert (first.request.officials, first.request.head, first.lang) == (tmp_path / "said.jsonl", "left", "ru")
    assert (second.request.rules, second.request.players) == ("small-russian", ("Vera", "Gleb"))
    assert second.request.officials is None and second.name == name_of([tmp_path / "b.mp4"])


def test_what_a_table_says_of_a_match_holds_over_the_folder_it_lies_in(tmp_path: Path) -> None:
    files(tmp_path, "v/a.mp4", "v/b.mp4")
    (tmp_path / "t.csv").write_text('source,players\nv/a.mp4,"Anna,Boris"\n', encoding="utf-8")
    jobs = wanted(tmp_path, str(tmp_path / "v"), lists=(tmp_path / "t.csv",))
    assert [job.request.players for job in jobs] == [("Anna", "Boris"), ("A", "B")]


def test_what_officials_said_lies_beside_the_video(tmp_path: Path) -> None:
    files(tmp_path, "a.mp4", "a.officials.jsonl", "b.mp4")
    a, b = wanted(tmp_path, str(tmp_path / "a.mp4"), str(tmp_path / "b.mp4"))
    assert a.request.officials == tmp_path / "a.officials.jsonl" and b.request.officials is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("source,stake\na.mp4,5\n", "stake"),
        ("source,rules\na.mp4,chess\n", "chess"),
        ("source,head\na.mp4,north\n", "line 2"),
        ('source,players\na.mp4,"A,A"\n', "line 2"),
        ("source,name\na.mp4,../../etc\n", "name"),
        ("source,name\na.mp4,x\nb.mp4,x\n", "two matches"),
        ("source,rules\n,american\n", "no source"),
        ("source,rules\na.mp4,american,more\n", "more cells"),
        ('source,rules\n"a.mp4,american\n', "not a table"),
        ('source,"rules"x\na.mp4,american\n', "not a table"),
    ],
)
def test_a_list_that_makes_no_sense_is_refused_before_anything_begins(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says) as refusal:
        wanted(tmp_path, lists=(tmp_path / "list.csv",))
    assert "list.csv" in str(refusal.value) and "\n" not in str(refusal.value)


def test_inputs_that_hold_no_video_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for text in (str(tmp_path / "empty"), str(tmp_path / "*.mp4"), f"@{tmp_path / 'nowhere.txt'}"):
        with pytest.raises(InputError, match=text.lstrip("@").replace("*", r"\*")):
            wanted(tmp_path, text)


def test_a_name_stays_whatever_else_is_asked_for(tmp_path: Path) -> None:
    files(tmp_path, "v/a.mp4", "w/a.mp4")
    alone = wanted(tmp_path, str(tmp_path / "v" / "a.mp4"))[0].name
    both = [job.name for job in wanted(tmp_path, str(tmp_path / "w"), str(tmp_path / "v"))]
    assert alone in both and len(set(both)) == 2 and all(name.startswith("a-") for name in both)


# --- what is due ---


class TrustyRunner:
    """Takes two at once and does them on the spot; ``fate`` says what becomes of each attempt at a match."""

    def __init__(self, fate: dict[str, list[Outcome]] | None = None) -> None:
        self.begun: list[str] = []
        self.most = 0
        self.stopped = False
        self._fate = fate or {}
        self._waiting: list[MatchJob] = []

    @property
    def room(self) -> int:
        return 2 - len(self._waiting)

    def begin(self, job: MatchJob) -> None:
        assert self.room > 0
        self.begun.append(job.request.sources[0].stem)
        self._waiting.append(job)
        self.most = max(self.most, len(self._waiting))

    def ended(self, timeout_s: float) -> Iterator[tuple[MatchJob, Outcome]]:
        job = self._waiting.pop(0)
        fate = self._fate.get(job.request.sources[0].stem, [])
        outcome = fate.pop(0) if fate else Outcome(video_s=26.0, wall_s=13.0)
        if not outcome.problem:
            shutil.copytree(handmade.shared_match().folder, job.request.out, dirs_exist_ok=True)
        yield job, outcome

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    files(tmp_path, "v/a.mp4", "v/b.mp4", "v/c.mp4")
    return tmp_path / "v"


def test_what_is_done_stays_done_until_its_video_or_its_settings_change(tmp_path: Path, videos: Path) -> None:
    archive = Archive(tmp_path / "archive")

    def run(wishes: Wishes = NONE, *, again: bool = False) -> list[str]:
        runner = TrustyRunner()
        jobs = jobs_of([str(videos)], [], wishes, archive.matches)
        tally = archive.run(jobs, runner, again=again)
        assert tally.done + tally.kept == 3 and runner.stopped
        return runner.begun

    assert run() == ["a", "b", "c"]
    assert run() == []
    (videos / "b.mp4").write_bytes(b"another recording")
    assert run() == ["b"]
    files(videos, "c.officials.jsonl")
    assert run() == ["c"]
    american = Wishes(rules="american")
    assert run(american) == ["a", "b", "c"]
    assert run(replace(american, changes=("hanging_s=6",))) == ["a", "b", "c"]
    assert run(replace(american, changes=("hanging_s=6",))) == []
    shutil.rmtree(archive.matches / name_of([videos / "a.mp4"]))
    assert run(replace(american, changes=("hanging_s=6",))) == ["a"]
    assert run(replace(american, changes=("hanging_s=6",)), again=True) == ["a", "b", "c"]


def test_a_match_that_fails_costs_one_line_and_is_tried_again_next_time(tmp_path: Path, videos: Path) -> None:
    archive = Archive(tmp_path / "archive")
    jobs = jobs_of([str(videos)], [], NONE, archive.matches)
    broken = Outcome(problem="v/b.mp4: no table; give corners", final=True)
    told: list[str] = []
    runner = TrustyRunner({"b": [broken]})
    tally = archive.run(jobs, runner, tell=told.append)
    assert (tally.done, tally.kept, [r.name for r in tally.failed]) == (2, 0, [jobs[1].name])
    assert runner.begun == ["a", "b", "c"], "an unusable video is not tried again at once"
    with (archive.out / FAILURES).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["name"], row["problem"], row["attempts"]) == (jobs[1].name, broken.problem, "1")
    assert sum("failed" in line for line in told) == 1 and any("2.0x real time" in line for line in told)
    again = TrustyRunner()
    assert archive.run(jobs, again).kept == 2 and again.begun == ["b"]
    assert (archive.out / FAILURES).read_text(encoding="utf-8").count("\n") == 1


def test_a_match_whose_worker_died_is_tried_again_and_then_given_up(tmp_path: Path, videos: Path) -> None:
    archive = Archive(tmp_path / "archive")
    died = Outcome(problem="its process ended by signal 9")
    runner = TrustyRunner({"a": [died], "b": [died, died, died]})
    tally = archive.run(jobs_of([str(videos)], [], NONE, archive.matches), runner, retries=2)
    assert runner.begun.count("a") == 2 and runner.begun.count("b") == 3 and runner.begun.count("c") == 1
    assert tally.done == 2 and [r.attempts for r in tally.failed] == [3]
    records = {record.source.split("/")[-1]: record for record in archive.book.all()}
    assert records["a.mp4"].status is Status.DONE and records["a.mp4"].attempts == 2


def test_each_match_is_in_the_tables_as_soon_as_it_is_done(tmp_path: Path, videos: Path) -> None:
    archive = Archive(tmp_path / "archive")
    seen: list[int] = []
    archive.run(
        jobs_of([str(videos)], [], NONE, archive.matches), TrustyRunner(),
        tell=lambda line: seen.append(len(list((archive.out / "tables" / "matches").iterdir()))),
    )  # fmt: skip
    assert seen == [1, 2, 3]
    assert archive.refresh_tables() == 0


def test_interrupted_the_work_stops_and_what_is_done_is_known(tmp_path: Path, videos: Path) -> None:
    archive = Archive(tmp_path / "archive")
    runner = TrustyRunner()

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archive.run(jobs_of([str(videos)], [], NONE, archive.matches), runner, tell=interrupt)
    assert runner.stopped and (archive.out / FAILURES).exists()
    again = TrustyRunner()
    assert archive.run(jobs_of([str(videos)], [], NONE, archive.matches), again).kept == 1


def test_an_archive_is_not_put_where_something_else_is(tmp_path: Path) -> None:
    files(tmp_path, "file", "m/match.json")
    for place in ("file", "m"):
        with pytest.raises(InputError, match=place):
            Archive(tmp_path / place)


# --- at work ---


@pytest.fixture(scope="module")
def short_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene.write_video(tmp_path_factory.mktemp("scene") / "scene.mp4", length_s=3.6)


def test_a_match_is_done_in_a_worker_and_a_fault_is_one_line(tmp_path: Path, short_video: Path) -> None:
    (good,) = jobs_of([str(short_video)], [], NONE, tmp_path)
    beats: list[float] = []
    outcome = do_match(good, TOLD, beats.append)
    assert outcome.problem == "" and outcome.video_s == pytest.approx(3.57, abs=0.05) and beats
    assert MatchFolder(good.request.out).info.status == "complete"
    (gone,) = jobs_of([str(tmp_path / "gone.mp4")], [], NONE, tmp_path)
    outcome = do_match(gone, TOLD)
    assert outcome.final and "gone.mp4" in outcome.problem and "\n" not in outcome.problem


def _broken(*_: object) -> None:
    raise RuntimeError("two\nlines")


def test_an_unforeseen_fault_of_one_match_may_be_tried_again(tmp_path: Path, short_video: Path) -> None:
    (job,) = jobs_of([str(short_video)], [], NONE, tmp_path)
    outcome = do_match(job, Sight(find=_broken))  # type: ignore[arg-type]
    assert not outcome.final and outcome.problem == "RuntimeError: two lines"


class DyingEye(scene.ToldEye):
    """Its process dies in the middle of the first video it sees, once."""

    def look(self, changed):  # type: ignore[no-untyped-def]
        mark = Path(os.environ["DYING_EYE"])
        if changed.frame.index >= 60 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().look(changed)


def test_processes_of_this_machine_one_of_which_is_killed(
    tmp_path: Path, short_video: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        shutil.copy(short_video, tmp_path / f"{name}.mp4")
    files(tmp_path, "c.mp4")
    monkeypatch.setenv("DYING_EYE", str(tmp_path / "died"))
    archive = Archive(tmp_path / "archive")
    told: list[str] = []
    jobs = jobs_of([str(tmp_path / "*.mp4")], [], Wishes(rules="american"), archive.matches)
    runner = LocalRunner(2, see=Sight(find=scene.finder, open_eye=DyingEye))  # type: ignore[arg-type]
    tally = archive.run(jobs, runner, tell=told.append)
    assert (tally.done, len(tally.failed)) == (2, 1) and "c.mp4" in tally.failed[0].problem
    assert any("by signal 9; trying again" in line for line in told)
    assert [len(MatchFolder(job.request.out).rulings()) > 0 for job in jobs[:2]] == [True, True]


def test_stopping_ends_what_runs(tmp_path: Path, short_video: Path) -> None:
    runner = LocalRunner(1, see=Sight(find=_slow))  # type: ignore[arg-type]
    (job,) = jobs_of([str(short_video)], [], NONE, tmp_path)
    runner.begin(job)
    (pid,) = runner.pids()
    runner.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _slow(*_: object) -> None:
    time.sleep(60)


# --- the command ---


def test_the_command_renews_the_tables_and_says_how_it_went(tmp_path: Path) -> None:
    shutil.copytree(handmade.shared_match().folder, tmp_path / "archive" / "matches" / "by-hand")
    run = CliRunner().invoke(build_app(), ["archive", "--out", str(tmp_path / "archive")])
    assert run.exit_code == 0 and "0 matches done, 0 kept, 0 failed" in run.stdout
    assert (tmp_path / "archive" / "tables" / "pots" / "match=by-hand" / "part.parquet").exists()


def test_the_command_tells_failures_and_its_status_says_so(tmp_path: Path) -> None:
    out = tmp_path / "archive"
    command = ["archive", str(tmp_path / "gone.mp4"), "--out", str(out), "--rules", "american", "--jobs", "1"]
    run = CliRunner().invoke(build_app(), command)
    assert run.exit_code == 1
    assert "1 failed" in run.stdout and "gone.mp4: no such file" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("more", [["--rules", "chess"], ["--lang", "de"], ["--head", "north"], ["--jobs", "0"]])
def test_a_wrong_call_is_refused(tmp_path: Path, more: list[str]) -> None:
    run = CliRunner().invoke(build_app(), ["archive", "a.mp4", "--out", str(tmp_path / "archive"), *more])
    assert run.exit_code == 2 and not (tmp_path / "archive").exists()
