"""A wrong call and an unusable input are one line each, never a traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vision_referee import cli


def run(monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    monkeypatch.setattr(sys, "argv", ["vision-referee", *args])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["analyze"], "SOURCE"),
        (["analyze", "a.mp4", "--rules", "snooker", "--out", "m"], "snooker"),
        (["adjudicate", "events.jsonl"], "--rules"),
        (["referee"], "referee"),
        (["analyze", "a.mp4", "--rules", "none", "--out", "m", "--head", "north"], "north"),
        (["analyze", "a.mp4", "--rules", "none", "--out", "m", "--lang", "de"], "de"),
    ],
)
def test_a_wrong_call_is_one_line_with_status_2(
    args: list[str], names: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *args) == cli.EXIT_WRONG_CALL
    out, err = capsys.readouterr()
    assert out == ""
    assert names in err and err.count("\n") == 1


def test_an_unusable_input_is_one_line_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = tmp_path / "missing.jsonl"
    assert run(monkeypatch, "adjudicate", str(missing), "--rules", "russian") == cli.EXIT_INPUT
    err = capsys.readouterr().err
    assert str(missing) in err and err.count("\n") == 1


def test_an_unforeseen_fault_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise RuntimeError("out of\nthe blue")

    monkeypatch.setattr(cli, "build_app", broken)
    monkeypatch.delenv("VISION_REFEREE_DEBUG", raising=False)
    assert run(monkeypatch, "rules") == cli.EXIT_INPUT
    err = capsys.readouterr().err
    assert "out of the blue" in err and err.count("\n") == 1


def test_the_version_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == cli.EXIT_DONE
    assert capsys.readouterr().out.startswith("vision-referee ")
