"""What `make fuzz` has found once: each stays one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import handmade_match as handmade
import pytest

from vision_referee.calibration.calibration import load_calibration
from vision_referee.domain.errors import InputError
from vision_referee.record.events_jsonl import read_events
from vision_referee.record.match_info import read_match_info
from vision_referee.record.rulings_jsonl import read_rulings, ruling_to_json


def refused(path: Path, text: str, read: object) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        read(path)  # type: ignore[operator]
    assert path.name in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", ['["strike"]', '{"a": 1}', "7", "null", "true"])
def test_a_type_that_is_no_word(tmp_path: Path, kind: str) -> None:
    refused(tmp_path / "events.jsonl", f'{{"t": 1, "type": {kind}}}\n', read_events)


def test_a_ruling_with_a_number_without_end(tmp_path: Path) -> None:
    ruling = json.dumps(ruling_to_json(handmade.rulings()[0])).replace('"id": 1', '"id": 1e999')
    refused(tmp_path / "rulings.jsonl", ruling + "\n", read_rulings)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": 1, "source": {"width": 1e999}}'])
def test_a_match_record_that_is_none(tmp_path: Path, text: str) -> None:
    refused(tmp_path / "match.json", text, lambda path: read_match_info(path.parent))


@pytest.mark.parametrize("size", ["[1920]", "[]", "[1e999, 1080]", "7", "null"])
def test_a_calibration_for_pictures_of_no_size(tmp_path: Path, size: str) -> None:
    whole = json.dumps(handmade.handmade_calibration(handmade.overhead_camera()).to_json())
    assert '"size_px": [640, 360]' in whole
    spoilt = whole.replace('"size_px": [640, 360]', f'"size_px": {size}')
    refused(tmp_path / "calibration.json", spoilt, load_calibration)
