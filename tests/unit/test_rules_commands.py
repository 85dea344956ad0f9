"""The commands ``adjudicate`` and ``rules``, as a user calls them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.rules_match import Match, table_for
from vision_referee.cli import main
from vision_referee.record.events_jsonl import write_events


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def _run(*arguments: object) -> Done:
    """The console script, in this process."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    before, sys.argv = sys.argv, ["vision-referee", *(str(argument) for argument in arguments)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.argv = before
    return Done(returncode=status, stdout=out.getvalue(), stderr=err.getvalue())


@pytest.fixture
def events(tmp_path: Path) -> Path:
    match: Match = table_for("russian").stroke("7", pots="7 foot_left")
    write_events(tmp_path / "events.jsonl", match.events())
    return tmp_path / "events.jsonl"


def test_rulings_go_to_a_file_or_to_stdout_and_officials_are_merged_by_time(events: Path, tmp_path: Path) -> None:
    officials = tmp_path / "officials.jsonl"
    officials.write_text('{"t": 12, "type": "call", "ball": "7", "pocket": "foot_left"}\n')
    out = tmp_path / "rulings.jsonl"
    done = _run("adjudicate", events, "--rules", "russian", "--players", "A,B", "--officials", officials, "--out", out)
    assert done.returncode == 0 and done.stderr == "" and done.stdout == ""
    (ruling,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert ruling["counted"] == [{"ball": "7", "pocket": "foot_left", "points": 7}]
    assert ruling["penalty"] is None and ruling["next"] == {"player": "A", "cue_ball": "in_place"}
    assert ruling["text"]["en"].startswith("A pockets the 7") and "сыгран шар «7»" in ruling["text"]["ru"]
    without = _run("adjudicate", events, "--rules", "russian")
    assert json.loads(without.stdout)["review"] is True


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        (["--rules", "pool"], 2, "pool"),
        (["--rules", "russian", "--set", "colour=red"], 1, "colour"),
        (["--rules", "russian", "--set", "edition=2020"], 1, "edition"),
        (["--rules", "russian", "--set", "edition"], 1, "edition"),
        (["--rules", "russian", "--players", "A,B,C"], 1, "2 players"),
        (["--rules", "russian", "--players", "A,A"], 1, "A"),
        (["--rules", "russian", "--table", "billiards"], 1, "billiards"),
        (["--rules", "russian", "--players", "X,Y"], 1, "'A'"),
        (["--rules", "russian", "--settings", "none.toml"], 1, "none.toml"),
        (["--rules", "russian", "--set", "handicap=C:5", "--players", "A,B"], 1, "'C'"),
    ],
)
def test_a_wrong_call_is_one_line_and_leaves_no_file(
    events: Path, tmp_path: Path, arguments: list[str], status: int, named: str
) -> None:
    out = tmp_path / "rulings.jsonl"
    done = _run("adjudicate", events, *arguments, "--out", out)
    assert done.returncode == status and named in done.stderr and done.stderr.count("\n") == 1
    assert not out.exists() and "Traceback" not in done.stderr


def test_an_unusable_file_is_named_with_its_line(events: Path, tmp_path: Path) -> None:
    events.write_text(events.read_text() + '{"t": 99, "type": "str')
    done = _run("adjudicate", events, "--rules", "russian", "--out", tmp_path / "rulings.jsonl")
    assert done.returncode == 1 and str(events) in done.stderr and "line 7" in done.stderr
    assert not (tmp_path / "rulings.jsonl").exists()


def test_settings_come_from_a_toml_file_and_set_wins_over_it(events: Path, tmp_path: Path) -> None:
    toml = tmp_path / "agreed.toml"
    toml.write_text("[rules]\nhandicap = {A = 10}\nedition = 1994\n")
    done = _run("adjudicate", events, "--rules", "russian", "--settings", toml)
    assert json.loads(done.stdout)["score"] == {"A": 10, "B": 0}
    done = _run(
        "adjudicate", events, "--rules", "russian", "--settings", toml, "--set", "handicap=B:5", "--players", "A,B"
    )
    assert json.loads(done.stdout)["score"] == {"A": 0, "B": 5}


@pytest.mark.parametrize("rules", ["small-russian", "russian", "moscow", "american"])
def test_the_settings_are_listed_with_default_meaning_and_rule(rules: str) -> None:
    done = _run("rules", rules)
    assert done.returncode == 0
    for key in ("edition", "hanging_s", "shot_clock_s", "who_starts", "handicap", "penalty_line_mm"):
        assert key in done.stdout
    assert ("legal_safety" in done.stdout) == (rules in ("moscow", "american"))
    assert "G-16" in done.stdout and "default: 5" in done.stdout


def test_all_rule_sets_are_listed_and_an_unknown_one_is_a_wrong_call() -> None:
    assert all(name in _run("rules").stdout for name in ("small-russian", "russian", "moscow", "american", "none"))
    done = _run("rules", "pool")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_no_rules_give_no_rulings(events: Path, tmp_path: Path) -> None:
    done = _run("adjudicate", events, "--rules", "none")
    assert done.returncode == 0 and done.stdout == ""


def test_as_a_process_of_its_own(events: Path) -> None:
    command = [sys.executable, "-m", "vision_referee.cli", "adjudicate", str(events), "--rules", "russian"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2])
    assert done.returncode == 0 and json.loads(done.stdout)["kind"] == "stroke" and done.stderr == ""


def test_an_officials_file_may_withdraw_a_line_of_the_events_file(events: Path, tmp_path: Path) -> None:
    touched = table_for("russian").stroke(
        "7", pots="7 foot_left", call="7 foot_left", extra=[{"dt": 1, "type": "touch", "ball": "12", "by": "hand"}]
    )
    write_events(events, touched.events())
    line = next(number for number, text in enumerate(events.read_text().splitlines(), 1) if '"touch"' in text)
    officials = tmp_path / "officials.jsonl"
    officials.write_text(json.dumps({"t": 99, "type": "retract", "ref": touched.values[line - 1]["id"]}) + "\n")
    done = _run("adjudicate", events, "--rules", "russian", "--officials", officials)
    assert json.loads(done.stdout)["fouls"] == [] and json.loads(done.stdout)["score"] == {"A": 7, "B": 0}
    officials.write_text('{"t": 99, "type": "retract", "ref": 7777}\n')
    done = _run("adjudicate", events, "--rules", "russian", "--officials", officials)
    assert done.returncode == 1 and "officials.jsonl, line 1" in done.stderr
