"""Events files: what cannot be used is refused with file, line and reason; what is written is read back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vision_referee.domain.errors import InputError
from vision_referee.record.events_jsonl import (
    event_from_json,
    event_line,
    read_consistent_events,
    read_events,
    read_officials,
    write_events,
)

REST = {"t": 1, "type": "rest", "balls": [{"ball": "cue", "x": 1, "y": 2}, {"ball": "7", "x": 300, "y": 400}]}
STRIKE = {"t": 2, "type": "strike", "ball": "cue", "x": 1, "y": 2, "vx": 1, "vy": 0}
POT = {"t": 3, "type": "pocketed", "ball": "7", "pocket": "foot_left"}


def _file(folder: Path, *lines: object) -> Path:
    path = folder / "events.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"t": 2, "type": "stri', "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ({"t": 2, "type": "flies"}, "unknown event type 'flies'"),
        ({"t": 2}, "'type' is missing"),
        ({"type": "shake"}, "'t' is missing"),
        ({"t": -1, "type": "shake"}, "t:"),
        ({"t": "2", "type": "shake"}, "t: must be a number"),
        ('{"t": NaN, "type": "shake"}', "t: must be finite"),
        ('{"t": Infinity, "type": "shake"}', "t: must be finite"),
        ('{"t": 1e999, "type": "shake"}', "t: must be finite"),
        ({"t": True, "type": "shake"}, "t: must be a number"),
        ({"t": 0.5, "type": "shake"}, "earlier than the line before"),
        ({"t": 2, "type": "shake", "confidence": 1.5}, "confidence"),
        ({"t": 2, "type": "shake", "source": "rumour"}, "source"),
        ({**STRIKE, "ball": "16"}, "'16' is not a ball"),
        ({**STRIKE, "ball": "0"}, "'0' is not a ball"),
        ({**STRIKE, "ball": "9"}, "ball 9 is unknown"),
        ({"t": 2, "type": "contact", "balls": ["cue", "cue"], "x": 1, "y": 1}, "two different balls"),
        ({"t": 2, "type": "pocketed", "ball": "7"}, "'pocket' is missing"),
        ({"t": 2, "type": "pocketed", "ball": "7", "pocket": "left"}, "pocket"),
        (
            {"t": 2, "type": "rest", "balls": [{"ball": "7", "x": 1, "y": 1}, {"ball": "7", "x": 9, "y": 9}]},
            "listed twice",
        ),
        ({"t": 2, "type": "retract", "ref": 99}, "refers to event 99"),
        ({"t": 2, "type": "override", "ruling": 1, "fouls": ["cheating"]}, "cheating"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: object, reason: str) -> None:
    path = _file(tmp_path, REST, line)
    with pytest.raises(InputError) as caught:
        read_consistent_events(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 2: ") and reason in message and "\n" not in message


def test_a_ball_may_fall_again_only_after_it_came_back(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4: ball 7 is pocketed again"):
        read_consistent_events(_file(tmp_path, REST, STRIKE, POT, {**POT, "t": 4}))
    back = {"t": 3.5, "type": "placed", "ball": "7", "x": 2662.5, "y": 887.5}
    assert len(read_consistent_events(_file(tmp_path, REST, STRIKE, POT, back, {**POT, "t": 4}))) == 5
    hit = {"t": 3.5, "type": "contact", "balls": ["cue", "7"], "x": 2662.5, "y": 887.5}
    assert len(read_consistent_events(_file(tmp_path, REST, STRIKE, POT, hit, {**POT, "t": 4}))) == 5
    retracted = {"t": 5, "type": "retract", "ref": 3}
    assert len(read_consistent_events(_file(tmp_path, REST, STRIKE, POT, {**POT, "t": 4}, retracted))) == 5


@pytest.mark.parametrize("text", ["", "\n\n", "  \n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match="empty"):
        read_consistent_events(path)


def test_no_file_a_folder_and_bytes_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00{")
    for path in (tmp_path / "none", tmp_path, tmp_path / "bytes"):
        with pytest.raises(InputError) as caught:
            read_consistent_events(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_official_lines_may_come_out_of_order_and_more_fields_are_no_harm(tmp_path: Path) -> None:
    call = {"t": 0.5, "type": "call", "ball": "7", "pocket": "foot_left", "mood": "cheerful"}
    assert len(read_consistent_events(_file(tmp_path, REST, STRIKE, call, POT))) == 4
    assert read_officials(_file(tmp_path, call))[0].id is None


def test_a_line_without_an_id_has_its_number(tmp_path: Path) -> None:
    assert [event.id for event in read_consistent_events(_file(tmp_path, {**REST, "id": 501}, STRIKE))] == [501, 2]


@pytest.mark.parametrize(
    "values",
    [
        REST,
        STRIKE,
        POT,
        {"t": 1.25, "type": "racked", "balls": [{"ball": "u1", "x": 2662.5, "y": 887.5}], "order_ok": None},
        {"t": 1, "type": "contact", "balls": ["cue", "u7"], "x": 3.25, "y": 4},
        {"t": 1, "type": "crossed", "ball": "cue", "line": "centre", "direction": -1},
        {
            "t": 1,
            "type": "touch",
            "ball": "7",
            "by": "hand",
            "moved_mm": 6,
            "player": "A",
            "confidence": 0.97,
            "id": 501,
        },
        {
            "t": 1,
            "type": "interference",
            "by": "opponent",
            "intentional": False,
            "stopped_ball": "7",
            "pocket": "foot_left",
        },
        {"t": 1, "type": "override", "ruling": 3, "fouls": [], "next": {"player": "A"}},
        {"t": 1, "type": "identified", "ball": "u3", "number": 7, "frame": 30},
    ],
)
def test_what_is_written_is_read_back(tmp_path: Path, values: dict[str, object]) -> None:
    event = event_from_json(values)
    write_events(tmp_path / "e.jsonl", [event])
    written = json.loads((tmp_path / "e.jsonl").read_text())
    assert event_from_json(written) == event
    assert all(written[key] == value for key, value in values.items())
    assert ".0" not in event_line(event)


def test_a_match_folders_own_events_are_read_as_they_stand(tmp_path: Path) -> None:
    path = _file(tmp_path, REST, STRIKE, POT, {**POT, "t": 2.5})
    assert [event.t for event in read_events(path)] == [1, 2, 3, 2.5]
