"""`doctor`: each thing that can be missing is said in one line with what to do, and the status tells."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vision_referee.cli import build_app
from vision_referee.detection.backends import OpenVinoBackend
from vision_referee.doctor import examination, machine, software
from vision_referee.doctor.finding import Finding, Level, fail, ok
from vision_referee.doctor.speed import Speed, look_at_speed, measure_speed
from vision_referee.resources import data_folder


def missing(name: str, message: str) -> Any:
    """An importer on a machine that lacks one package."""

    def load(module: str) -> Any:
        if module.split(".")[0] == name:
            raise ImportError(message)
        return importlib.import_module(module)

    return load


def test_on_a_machine_where_the_tests_run_nothing_blocks_a_match() -> None:
    findings = list(examination.examine(Path(), measure=False))
    assert [f for f in findings if f.level is Level.FAIL] == []
    looked_at = {f.name for f in findings}
    assert {"packages", "opencv", "decoders", "encoder", "ball_detector", "openvino", "disk"} <= looked_at
    assert all("\n" not in f.text for f in findings)


def test_opencv_without_libgl_is_told_what_to_install() -> None:
    load = missing("cv2", "libGL.so.1: cannot open shared object file: No such file or directory")
    finding = software.look_at_opencv(load)
    assert finding.level is Level.FAIL and "libgl1" in finding.text


def test_a_package_that_does_not_load_is_named() -> None:
    findings = list(software.look_at_packages(missing("openvino", "DLL load failed")))
    bad = [f for f in findings if f.level is Level.FAIL]
    assert [f.name for f in bad] == ["openvino"] and "DLL load failed" in bad[0].text and "pip install" in bad[0].text


def test_a_codec_that_is_not_there_is_a_warning_but_without_h264_nothing_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "_opens", lambda name, mode: name not in ("av1", "prores"))
    decoders = next(f for f in software.look_at_codecs() if f.name == "decoders")
    assert decoders.level is Level.WARN and "av1, prores" in decoders.text
    monkeypatch.setattr(software, "_opens", lambda name, mode: name != "h264")
    assert next(f for f in software.look_at_codecs() if f.name == "decoders").level is Level.FAIL


def test_an_encoder_that_does_not_work_costs_the_clips_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "ENCODER", "libnothing")
    encoder = next(f for f in software.look_at_codecs() if f.name == "encoder")
    assert encoder.level is Level.WARN and "clips" in encoder.text


def test_a_network_that_is_damaged_missing_or_without_a_card(tmp_path: Path) -> None:
    for file in data_folder("models").glob("*.*"):
        shutil.copy(file, tmp_path)
    detector, _ = software.look_at_networks(tmp_path)
    assert detector.level is Level.OK and "hash right" in detector.text
    weights = tmp_path / "ball_detector.bin"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    detector, _ = software.look_at_networks(tmp_path)
    assert detector.level is Level.FAIL and "ball_detector.bin" in detector.text
    card = {"sha256": {"ball_detector.bin": hashlib.sha256(data).hexdigest()}}
    (tmp_path / "ball_detector.json").write_text(json.dumps(card))
    assert next(iter(software.look_at_networks(tmp_path))).level is Level.OK
    (tmp_path / "ball_detector.json").write_text("{}")
    assert next(iter(software.look_at_networks(tmp_path))).level is Level.FAIL
    weights.unlink()
    (tmp_path / "number_reader.xml").unlink()
    detector, reader = software.look_at_networks(tmp_path)
    assert detector.level is Level.FAIL and reader.level is Level.WARN and "unknown" in reader.text


def test_cameras_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.look_at_cameras(tmp_path).level is Level.OK
    (tmp_path / "video0").touch()
    assert "video0" in machine.look_at_cameras(tmp_path).text
    monkeypatch.setattr(machine.os, "access", lambda path, mode: False)
    finding = machine.look_at_cameras(tmp_path)
    assert finding.level is Level.WARN and "group video" in finding.text


@pytest.mark.parametrize(("free_gib", "level"), [(0.1, Level.FAIL), (1.0, Level.WARN), (100.0, Level.OK)])
def test_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_gib: float, level: Level) -> None:
    whole = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: whole._replace(free=int(free_gib * 2**30)))
    findings = list(machine.look_at_room(tmp_path / "not" / "yet" / "there"))
    assert {f.level for f in findings} == {level} and str(tmp_path) in findings[0].text


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.os, "access", lambda path, mode: False)
    assert next(iter(machine.look_at_room(tmp_path))).level is Level.FAIL


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[Finding]:
        raise OSError("the disk is\non fire")

    monkeypatch.setattr(software, "look_at_codecs", broken)
    findings = list(examination.examine(Path(), measure=False))
    assert next(f for f in findings if f.name == "codecs").text == "OSError: the disk is on fire"
    assert findings[-1].name == "temporary files"


def test_the_speed_is_measured_and_told_in_times_of_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision_referee.doctor.speed.VIDEO_PX", (320, 180))
    speed = measure_speed()
    assert 0 < speed.decode_ms < 1000 and 0 < speed.network_ms < 5000
    twice = Speed(decode_ms=2 * speed.decode_ms, network_ms=2 * speed.network_ms)
    assert twice.times_real == pytest.approx(speed.times_real / 2)
    assert look_at_speed(Speed(decode_ms=1.0, network_ms=1.0)).level is Level.OK
    slow = look_at_speed(Speed(decode_ms=100.0, network_ms=300.0))
    assert slow.level is Level.WARN and re.search(r"about 0\.\d times real time", slow.text)


def test_the_detector_is_loaded_as_the_line_loads_it() -> None:
    """What `doctor` times is what `analyze` runs."""
    from vision_referee.detection.backends import has_gpu, open_backend

    assert has_gpu() or isinstance(open_backend(), OpenVinoBackend)


@pytest.mark.parametrize(
    ("findings", "status"), [([ok("a", "fine")], 0), ([ok("a", "fine"), fail("b", "gone; install it")], 1)]
)
def test_the_status_says_whether_a_match_can_be_refereed(
    findings: list[Finding], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "examine", lambda out, measure: iter(findings))
    run = CliRunner().invoke(build_app(), ["doctor"])
    assert run.exit_code == status
    assert run.stdout.splitlines()[: len(findings)] == [f"{f.level.value:<5}{f.name}: {f.text}" for f in findings]
