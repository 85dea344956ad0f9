"""The tables over an archive: what they hold of a match, how they are renewed, and the manual's queries."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import handmade_match as handmade
import pyarrow.parquet as pq
import pytest

from vision_referee.archive.facts import match_facts, standing
from vision_referee.archive.tables import SCHEMAS, Tables, rows_of
from vision_referee.domain.events import (
    BallAt,
    Confirm,
    Contact,
    Identified,
    Pocketed,
    Rest,
    Retract,
    Source,
    Strike,
)
from vision_referee.domain.rulings import CountedBall, Ruling, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.record.events_jsonl import write_events
from vision_referee.record.match_folder import EVENTS, RULINGS, MatchFolder
from vision_referee.record.rulings_jsonl import write_rulings

duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")
polars = pytest.importorskip("polars", reason="needs the package polars")

MANUAL = Path(__file__).parents[2] / "docs" / "archive.md"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches: the handmade one, and the same without its first stroke's pot."""
    out = tmp_path_factory.mktemp("archive")
    for name in ("evening-1", "evening-2"):
        shutil.copytree(handmade.shared_match().folder, out / "matches" / name)
    second = out / "matches" / "evening-2"
    write_events(second / EVENTS, [e for e in handmade.events() if not (isinstance(e, Pocketed) and e.ball == "7")])
    rulings = handmade.rulings()
    write_rulings(second / RULINGS, [replace(rulings[0], counted=()), *rulings[1:]])
    assert Tables(out / "tables").refresh(out / "matches", print) == 2
    return out


# --- what they hold ---


def test_a_stroke_knows_what_it_was_aimed_at() -> None:
    strokes, _ = match_facts(standing(handmade.events()), handmade.rulings(), handmade.TABLE)
    called, missed, wild = strokes
    assert (called.target, called.pocket, called.by, called.success) == ("7", PocketName.FOOT_LEFT, "call", True)
    x, y = 2366.0, 1310.0
    mouth = handmade.TABLE.pocket(PocketName.FOOT_LEFT).mouth_mm
    assert called.distance_mm == pytest.approx(((x - mouth[0]) ** 2 + (y - mouth[1]) ** 2) ** 0.5)
    assert called.cue_distance_mm == pytest.approx(((x - 800) ** 2 + (y - 880) ** 2) ** 0.5)
    # The cue ball fell where the 11 was called: what was aimed at is what was called, and it did not succeed.
    assert (missed.target, missed.pocket, missed.by, missed.success) == ("11", PocketName.HEAD_RIGHT, "call", False)
    assert (wild.target, wild.pocket, wild.first_ball, wild.success) == (None, None, None, False)


def _stroke(*, ball: tuple[float, float], contact: tuple[float, float], more: tuple[Any, ...] = ()) -> Any:
    events = [
        Rest(t=0.0, balls=(BallAt(ball="cue", x=900, y=900), BallAt(ball="5", x=ball[0], y=ball[1]))),
        Strike(t=1.0, ball="cue", x=900, y=900, vx=1500, vy=0),
        Contact(t=1.5, balls=("cue", "5"), x=contact[0], y=contact[1]),
        *more,
        Rest(t=4.0, balls=(BallAt(ball="cue", x=1500, y=900),)),
    ]
    (stroke,), pots = match_facts(events, [], handmade.TABLE)
    return stroke, pots


def test_a_miss_without_a_call_was_aimed_where_the_first_ball_went() -> None:
    # Struck from behind, the ball goes straight on toward the foot-left corner.
    mouth = handmade.TABLE.pocket(PocketName.FOOT_LEFT).mouth_mm
    ball = (2500.0, 1100.0)
    away = ((mouth[0] - ball[0]), (mouth[1] - ball[1]))
    norm = (away[0] ** 2 + away[1] ** 2) ** 0.5
    stroke, _ = _stroke(ball=ball, contact=(ball[0] - 34 * away[0] / norm, ball[1] - 34 * away[1] / norm))
    assert (stroke.target, stroke.pocket, stroke.by) == ("5", PocketName.FOOT_LEFT, "path")
    assert stroke.distance_mm == pytest.approx(norm) and not stroke.success


def test_a_ball_sent_at_a_cushion_was_aimed_at_no_pocket() -> None:
    stroke, _ = _stroke(ball=(2500.0, 887.5), contact=(2466.0, 887.5))
    assert (stroke.target, stroke.pocket, stroke.by, stroke.distance_mm) == ("5", None, None, None)


def test_what_fell_tells_more_than_where_the_first_ball_went() -> None:
    fell = Pocketed(t=2.5, ball="5", pocket=PocketName.MIDDLE_LEFT)
    stroke, (pot,) = _stroke(ball=(2500.0, 887.5), contact=(2466.0, 887.5), more=(fell,))
    assert (stroke.pocket, stroke.by, stroke.success) == (PocketName.MIDDLE_LEFT, "pot", True)
    mouth = handmade.TABLE.pocket(PocketName.MIDDLE_LEFT).mouth_mm
    assert pot.distance_mm == pytest.approx(((2500 - mouth[0]) ** 2 + (887.5 - mouth[1]) ** 2) ** 0.5)


def test_the_cue_ball_off_an_object_ball_is_a_pot_where_it_counts() -> None:
    fell = Pocketed(t=2.5, ball="cue", pocket=PocketName.FOOT_RIGHT)
    events = [
        Rest(t=0.0, balls=(BallAt(ball="cue", x=900, y=900), BallAt(ball="5", x=2500, y=887.5))),
        Strike(t=1.0, ball="cue", x=900, y=900, vx=1500, vy=0),
        Contact(t=1.5, balls=("cue", "5"), x=2466, y=887.5),
        fell,
        Rest(t=4.0, balls=()),
    ]
    counted = CountedBall(ball="cue", pocket=PocketName.FOOT_RIGHT, points=1)
    ruling = Ruling(id=1, kind=RulingKind.STROKE, t_start=1.0, t_end=4.0, player="A", counted=(counted,))
    (stroke,), (pot,) = match_facts(events, [ruling], handmade.TABLE)
    assert (stroke.target, stroke.pocket, stroke.by, stroke.success) == ("cue", PocketName.FOOT_RIGHT, "pot", True)
    assert pot.counted and pot.points == 1
    # Where it is an accident, the stroke was aimed at what was met first.
    (stroke,), _ = match_facts(events, [], handmade.TABLE)
    assert stroke.target == "5" and not stroke.success


def test_a_lag_is_no_stroke() -> None:
    lag = Strike(t=1.0, ball="u1", x=800, y=400, vx=2000, vy=0, player="Anna")
    assert match_facts([lag], [], handmade.TABLE) == ([], [])


def test_withdrawn_and_unlikely_events_do_not_stand_unless_a_person_says_so() -> None:
    fell = Pocketed(t=2.0, ball="5", pocket=PocketName.FOOT_LEFT, id=1)
    doubted = Pocketed(t=3.0, ball="6", pocket=PocketName.FOOT_LEFT, id=2, confidence=0.3)
    official = Source.OFFICIAL
    assert standing([fell, doubted]) == [fell]
    assert standing([fell, doubted, Retract(t=4.0, ref=1, source=official)]) == []
    assert standing([fell, doubted, Confirm(t=4.0, ref=2, source=official)]) == [fell, doubted]


def test_every_column_is_filled_from_the_match(archive: Path) -> None:
    rows = rows_of(archive / "matches" / "evening-1")
    for name, schema in SCHEMAS.items():
        assert rows[name], name
        for row in rows[name]:
            assert set(row) == set(schema.names), name
    (match,) = rows["matches"]
    assert (match["strokes"], match["pots"], match["fouls"], match["for_review"]) == (3, 3, 2, 1)
    assert match["score"] == [{"player": "Anna", "points": 7}, {"player": "Boris", "points": 0}]
    hung = next(row for row in rows["pots"] if row["ball"] == "3")
    assert (hung["kind"], hung["player"], hung["counted"], hung["number"]) == ("hanging", None, False, 3)
    contact = next(row for row in rows["events"] if row["type"] == "contact")
    assert (contact["ball"], contact["other_ball"], contact["player"], contact["ruling"]) == ("cue", "7", "Anna", 1)


def test_a_number_read_late_is_known_throughout() -> None:
    from vision_referee.archive.facts import numbers

    events = [Pocketed(t=2.0, ball="u1", pocket=PocketName.FOOT_LEFT), Identified(t=2.0, ball="u1", number=12)]
    assert numbers(events) == {"u1": 12}


# --- how they are renewed ---


def test_only_what_changed_is_written_again(archive: Path, tmp_path: Path) -> None:
    shutil.copytree(archive / "matches", tmp_path / "matches")
    tables = Tables(tmp_path / "tables")
    assert tables.refresh(tmp_path / "matches", print) == 2
    assert tables.refresh(tmp_path / "matches", print) == 0
    kept = tmp_path / "tables" / "rulings" / "match=evening-2" / "part.parquet"
    before = kept.stat().st_mtime_ns
    changed = tmp_path / "matches" / "evening-1"
    write_rulings(changed / RULINGS, MatchFolder(changed).rulings()[:1])
    assert tables.refresh(tmp_path / "matches", print) == 1
    assert kept.stat().st_mtime_ns == before
    assert pq.read_table(tmp_path / "tables" / "rulings" / "match=evening-1" / "part.parquet").num_rows == 1
    shutil.rmtree(changed)
    assert tables.refresh(tmp_path / "matches", print) == 1
    for name in SCHEMAS:
        assert [p.name for p in (tmp_path / "tables" / name).iterdir()] == ["match=evening-2"]


def test_a_match_that_cannot_be_read_is_told_and_the_others_are_there(archive: Path, tmp_path: Path) -> None:
    shutil.copytree(archive / "matches", tmp_path / "matches")
    (tmp_path / "matches" / "evening-1" / "events.jsonl").write_text("{not json\n")
    told: list[str] = []
    assert Tables(tmp_path / "tables").refresh(tmp_path / "matches", told.append) == 1
    assert len(told) == 1 and "evening-1" in told[0]
    assert [p.name for p in (tmp_path / "tables" / "matches").iterdir()] == ["match=evening-2"]


# --- the manual's queries ---


def _examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)


FOULS = [("evening-1", 2, "cue_ball_pocketed"), ("evening-2", 2, "cue_ball_pocketed")]
SUCCESS = [("foot_left", 1000, 2, 0.5), ("head_right", 1000, 2, 0.0)]
HANGING = [("evening-1", "3", "middle_left", 12.3), ("evening-2", "3", "middle_left", 12.3)]


def test_the_queries_of_the_manual_in_duckdb(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(archive)
    fouls, success, hanging, people = [duckdb.connect().execute(query).fetchall() for query in _examples("sql")]
    assert [row[:3] for row in fouls] == FOULS
    assert success == SUCCESS
    assert [(*row[:3], round(row[4], 3)) for row in hanging] == HANGING
    assert people == [("Anna", 4, 1, 2), ("Boris", 2, 0, 2)]


def test_the_queries_of_the_manual_in_polars(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(archive)
    found = []
    for code in _examples("python"):
        names: dict[str, Any] = {}
        exec(compile(code, "docs/archive.md", "exec"), names)
        found.append(names["found"].rows())
    fouls, success, hanging = found
    assert [row[:3] for row in fouls] == FOULS
    assert success == SUCCESS
    assert [(*row[:3], round(row[4], 3)) for row in hanging] == HANGING


def test_they_are_read_while_they_are_written(archive: Path, tmp_path: Path) -> None:
    """Each file is replaced in one step, and what is unfinished is in nobody's way."""
    shutil.copytree(archive / "matches", tmp_path / "matches")
    tables = Tables(tmp_path / "tables")
    tables.refresh(tmp_path / "matches", print)
    (tmp_path / "tables" / "pots" / "match=evening-1" / ".part.parquet.77.tmp").write_bytes(b"half")
    count = f"SELECT count(*) FROM read_parquet('{tmp_path}/tables/pots/*/*.parquet', hive_partitioning = true)"
    assert duckdb.connect().execute(count).fetchone() == (5,)
