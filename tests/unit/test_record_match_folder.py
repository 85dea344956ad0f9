"""A match folder: whole or not there, on disk as it goes, and read back as it was given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import handmade_match as handmade
import pyarrow.parquet as pq
import pytest

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Call, Rest, Source
from vision_referee.record.match_folder import MatchFolder, MatchFolderWriter
from vision_referee.record.match_info import read_match_info
from vision_referee.record.tracks_parquet import TracksWriter, read_tracks
from vision_referee.tracking.tracks import BallState, TrackRow


def _info(rules: str = "small-russian") -> object:
    return handmade.match_info(Path("/videos/match.mp4"), handmade.overhead_camera(), rules=rules)


def test_a_folder_reads_back_as_it_was_written() -> None:
    match = MatchFolder(handmade.shared_match().folder)
    assert match.rulings() == handmade.rulings()
    assert [replace(e, id=None) for e in match.events()] == handmade.events()
    assert [e.id for e in match.events()] == list(range(1, len(handmade.events()) + 1))
    assert match.info.players == handmade.PLAYERS
    assert match.info.table == handmade.TABLE
    assert match.info.score == {"Anna": 7, "Boris": 0}
    assert match.info.status == "complete"
    assert len(match.info.frame_times) == 650


def test_tracks_have_the_contracts_columns_and_one_row_per_ball_per_frame() -> None:
    folder = handmade.shared_match().folder
    table = pq.read_table(folder / "tracks.parquet")
    assert table.column_names == ["t", "frame", "ball", "x", "y", "vx", "vy", "state", "confidence"]
    keys = list(zip(table["frame"].to_pylist(), table["ball"].to_pylist(), strict=True))
    assert len(keys) == len(set(keys))
    some = read_tracks(folder, t_from_s=3.0, t_to_s=3.2)
    assert {round(r.t, 2) for r in some} == {3.0, 3.04, 3.08, 3.12, 3.16, 3.2}
    cue = next(r for r in some if r.ball == "cue")
    assert (cue.x, cue.y) == pytest.approx(handmade.place("cue", 3.0), abs=0.01)
    assert cue.state is BallState.MOVING


def test_a_failed_analysis_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), MatchFolderWriter(tmp_path / "match") as writer:
        writer.add_rows(handmade.rows_at(0))
        writer.add_events(handmade.events())
        writer.add_ruling(handmade.rulings()[0])
        raise RuntimeError("the decoder gave up")
    assert list(tmp_path.iterdir()) == []


def test_until_published_the_folder_is_not_there(tmp_path: Path) -> None:
    out = tmp_path / "match"
    writer = MatchFolderWriter(out)
    writer.finish(_info())
    assert not out.exists()
    writer.publish()
    assert {p.name for p in out.iterdir()} == {"match.json", "tracks.parquet", "events.jsonl", "rulings.jsonl"}
    assert [p.name for p in tmp_path.iterdir()] == ["match"]


def test_a_failed_second_analysis_keeps_the_first(tmp_path: Path) -> None:
    out = tmp_path / "match"
    with MatchFolderWriter(out) as writer:
        writer.finish(replace(_info(), winner="Anna"))
        writer.publish()
    with pytest.raises(RuntimeError), MatchFolderWriter(out) as writer:
        raise RuntimeError
    assert read_match_info(out).winner == "Anna"


def test_another_analysis_replaces_the_match(tmp_path: Path) -> None:
    out = tmp_path / "match"
    for rules in ("russian", "moscow"):
        with MatchFolderWriter(out) as writer:
            writer.finish(_info(rules))
            writer.publish()
    assert read_match_info(out).rules == "moscow"
    assert [p.name for p in tmp_path.iterdir()] == ["match"]


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("keep me")
    with pytest.raises(InputError, match="holds other files"):
        MatchFolderWriter(tmp_path)
    assert (tmp_path / "letters.txt").read_text() == "keep me"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "match").write_text("a file")
    with pytest.raises(InputError, match="is a file"):
        MatchFolderWriter(tmp_path / "match")
    with pytest.raises(InputError, match="cannot be written"):
        MatchFolderWriter(tmp_path / "match" / "deeper")


def test_a_ruling_is_on_the_disk_at_once_and_the_last_word_counts(tmp_path: Path) -> None:
    writer = MatchFolderWriter(tmp_path / "match", live=True)
    writer.write_info(replace(_info(), status="running"))
    first, second = handmade.rulings()[:2]
    for frame in range(5):
        writer.add_rows(handmade.rows_at(frame))
    writer.add_events(handmade.events()[:3])
    writer.add_ruling(first)
    seen = MatchFolder(tmp_path / "match")
    assert seen.info.status == "running"
    assert seen.rulings() == [first]
    assert len(seen.events()) == 3
    assert {r.frame for r in seen.tracks()} == set(range(5))
    writer.add_ruling(second)
    anew = replace(first, score={"Anna": 0, "Boris": 0}, counted=())
    writer.add_ruling(anew)
    assert seen.rulings() == [anew, second]
    writer.finish(_info())
    writer.publish()
    assert len((tmp_path / "match" / "rulings.jsonl").read_text().splitlines()) == 2
    assert MatchFolder(tmp_path / "match").rulings() == [anew, second]


def test_events_that_came_late_stand_in_time_order_at_the_end(tmp_path: Path) -> None:
    with MatchFolderWriter(tmp_path / "match") as writer:
        writer.add_events([Rest(t=0.0, balls=()), Rest(t=9.0, balls=())])
        writer.add_events([Call(t=4.0, ball="3", source=Source.OFFICIAL)])
        writer.finish(_info())
        writer.publish()
    events = MatchFolder(tmp_path / "match").events()
    assert [e.t for e in events] == [0.0, 4.0, 9.0]
    assert [e.id for e in events] == [1, 3, 2]


def test_an_empty_match_can_be_read(tmp_path: Path) -> None:
    with MatchFolderWriter(tmp_path / "match") as writer:
        writer.finish(_info("none"))
        writer.publish()
    match = MatchFolder(tmp_path / "match")
    assert (match.events(), match.rulings(), match.tracks()) == ([], [], [])


def test_tracks_are_written_in_parts_so_that_memory_stays_flat(tmp_path: Path) -> None:
    writer = TracksWriter(tmp_path)
    row = TrackRow(t=0, frame=0, ball="7", x=1, y=2, vx=0, vy=0, state=BallState.RESTING, confidence=1)
    for frame in range(130):
        writer.add(replace(row, t=frame / 25, frame=frame) for _ in range(1000))
    assert len(list((tmp_path / "tracks.parts").iterdir())) == 2
    assert len(writer._rows) == 10_000
    writer.close()
    assert pq.ParquetFile(tmp_path / "tracks.parquet").num_row_groups == 3
    assert [p.name for p in tmp_path.iterdir()] == ["tracks.parquet"]
    assert len(read_tracks(tmp_path, t_from_s=129 / 25)) == 1000


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "not a match folder"), ("{", "not a match record"), ('{"format": 99}', "format 99"), ("[]", "not a match")],
)
def test_a_folder_that_is_no_match_is_refused_in_one_line(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "match.json").write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        MatchFolder(tmp_path)
    assert "\n" not in str(caught.value)


def test_unusable_tracks_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "tracks.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(InputError, match="not a tracks file") as caught:
        read_tracks(tmp_path)
    assert "\n" not in str(caught.value)


def test_fields_that_others_added_to_match_json_are_kept(tmp_path: Path) -> None:
    with MatchFolderWriter(tmp_path / "match") as writer:
        writer.finish(replace(_info(), extra={"venue": "Club 7"}))
        writer.publish()
    assert json.loads((tmp_path / "match" / "match.json").read_text())["venue"] == "Club 7"
    assert read_match_info(tmp_path / "match").extra == {"venue": "Club 7"}
