"""The evaluate command: files in, tables and JSON out, one clear line where a file cannot be used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from evaluation_cases import rolling, still, track_rows
from typer.testing import CliRunner

from vision_referee.commands.evaluate import register
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import BallAt, Contact, Event, Pocketed, Rest, Strike
from vision_referee.domain.rulings import CountedBall, CueBallState, NextStroke, Ruling, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.evaluation.match_score import score_match
from vision_referee.evaluation.sides import read_match, read_truth
from vision_referee.record.events_jsonl import write_events
from vision_referee.record.rulings_jsonl import write_rulings
from vision_referee.tracking.tracks import BallState, TrackRow

EVENTS: list[Event] = [
    Rest(t=0.0, balls=(BallAt(ball="cue", x=500, y=500), BallAt(ball="7", x=2000, y=900))),
    Strike(t=0.5, ball="cue", x=500, y=500, vx=900, vy=0),
    Contact(t=1.0, balls=("cue", "7"), x=966, y=500),
    Pocketed(t=1.5, ball="7", pocket=PocketName.FOOT_LEFT),
    Rest(t=1.9, balls=(BallAt(ball="cue", x=1500, y=500),)),
]
RULING = Ruling(
    id=1,
    kind=RulingKind.STROKE,
    t_start=0.5,
    t_end=1.9,
    player="A",
    counted=(CountedBall(ball="7", pocket=PocketName.FOOT_LEFT, points=7),),
    next=NextStroke(player="A", cue_ball=CueBallState.IN_PLACE),
    score={"A": 7, "B": 0},
)


def rows(off_mm: float = 0.0, names: dict[str, str] | None = None) -> list[TrackRow]:
    names = names or {}
    return [
        *track_rows(names.get("cue", "cue"), rolling(500, 500 + off_mm, 500, 0), state=BallState.MOVING),
        *track_rows(names.get("7", "7"), still(2000, 900 + off_mm), stop=45),
    ]


def write_tracks(path: Path, track: Sequence[TrackRow]) -> None:
    table = pa.table({name: [getattr(r, name) for r in track] for name in ("t", "frame", "ball", "x", "y", "vx", "vy")})
    table = table.append_column("state", pa.array([r.state.value for r in track], pa.string()))
    table = table.append_column("confidence", pa.array([r.confidence for r in track], pa.float64()))
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, path)
    else:
        pq.write_table(table, path)


def folder(
    path: Path,
    *,
    events: Sequence[Event] = EVENTS,
    track: Sequence[TrackRow] | None = None,
    rulings: Sequence[Ruling] | None = (RULING,),
    tracks_name: str = "tracks.parquet",
) -> Path:
    path.mkdir()
    write_events(path / "events.jsonl", events)
    write_tracks(path / tracks_name, rows() if track is None else track)
    if rulings is not None:
        write_rulings(path / "rulings.jsonl", rulings)
    return path


def run(*arguments: object):
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, [str(a) for a in arguments])


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, InputError), result.output
    message = str(result.exception)
    assert "\n" not in message
    return message


def test_a_match_scored_against_itself_is_perfect(tmp_path: Path):
    match = folder(tmp_path / "m")
    result = run(match, match, "--json", tmp_path / "s.json")
    assert result.exit_code == 0
    total = json.loads((tmp_path / "s.json").read_text())["total"]
    assert total["events"]["all"]["f1"] == 1.0
    assert total["position_mm"]["all"]["max"] == 0.0
    assert total["detection"]["precision"] == total["detection"]["recall"] == 1.0
    assert total["identity"]["hota"] == pytest.approx(1.0) and total["identity"]["idf1"] == 1.0
    assert total["identity"]["strokes_kept"] == total["identity"]["strokes_with_contact"] == 1
    assert total["numbers"]["at_the_pot"]["accuracy"] == 1.0
    assert (total["rulings"]["right"], total["rulings"]["wrong"]) == (1, 0)
    assert total["rest_positions"]["balls"]["right"] == 3
    assert total["reliability"]["n"] == 5


def test_every_kind_of_error_shows_in_its_own_figure(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    said: list[Event] = [
        Rest(t=0.0, balls=(BallAt(ball="u1", x=503, y=500),)),
        Strike(t=0.53, ball="u1", x=500, y=503, vx=900, vy=0),
        Pocketed(t=1.48, ball="9", pocket=PocketName.FOOT_LEFT),
        Pocketed(t=1.6, ball="9", pocket=PocketName.FOOT_RIGHT),
        Rest(t=1.95, balls=(BallAt(ball="u1", x=1500, y=504),)),
    ]
    match = folder(tmp_path / "m", events=said, track=rows(3.0, {"cue": "u1", "7": "9"}), rulings=[])
    score = score_match(read_match(match), read_truth(truth)).to_json()
    by_type = score["events"]["by_type"]
    assert by_type["strike"]["timing"]["bias_s"] == pytest.approx(0.03)
    assert by_type["contact"]["missed"] == 1 and by_type["contact"]["recall"] == 0.0
    assert (by_type["pocketed"]["right"], by_type["pocketed"]["false"]) == (1, 1)
    assert by_type["pocketed"]["number_wrong"] == 1
    assert score["numbers"]["at_the_pot"] == {
        "right": 0, "wrong": 1, "unknown": 0, "accuracy": 0.0, "accuracy_of_read": 0.0,
    }  # fmt: skip
    assert score["position_mm"]["resting"]["median"] == pytest.approx(3.0)
    assert score["rest_positions"]["balls"]["missed"] == 1
    assert score["rulings"]["missing"] == 1
    assert score["identity"]["idf1"] == 1.0


def test_truth_by_hand_may_be_csv_or_one_file_alone(tmp_path: Path):
    match = folder(tmp_path / "m")
    by_hand = folder(tmp_path / "truth", tracks_name="tracks.csv", rulings=None)
    both = score_match(read_match(match), read_truth(by_hand)).to_json()
    assert both["position_mm"]["all"]["n"] == 105 and both["events"]["all"]["f1"] == 1.0
    assert both["rulings"] is None
    only_tracks = score_match(read_match(match), read_truth(by_hand / "tracks.csv")).to_json()
    assert only_tracks["events"] is None and only_tracks["detection"]["recall"] == 1.0
    only_events = score_match(read_match(match), read_truth(by_hand / "events.jsonl")).to_json()
    assert only_events["detection"] is None and only_events["events"]["all"]["f1"] == 1.0


def test_a_hand_made_table_with_numbers_alone_and_only_the_needed_columns(tmp_path: Path):
    match = folder(tmp_path / "m")
    path = tmp_path / "few.csv"
    path.write_text("ball,t,x,y,state\n" + "".join(f"7,{k / 30:.4f},2000,900,resting\n" for k in range(45)))
    score = score_match(read_match(match), read_truth(path)).to_json()
    assert (score["detection"]["right"], score["detection"]["missed"]) == (45, 0)


def test_pairs_are_summed_and_listed(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    good = folder(tmp_path / "good one")
    bad = folder(tmp_path / "bad", events=[], track=[], rulings=[])
    (tmp_path / "pairs.txt").write_text("# two clips\n'good one' truth\n\nbad truth\n")
    result = run("--list", tmp_path / "pairs.txt", "--json", tmp_path / "s.json")
    assert result.exit_code == 0
    data = json.loads((tmp_path / "s.json").read_text())
    assert [c["name"] for c in data["clips"]] == ["good one", "bad"]
    assert data["total"]["events"]["all"]["recall"] == 0.5
    assert data["total"]["detection"]["recall"] == 0.5
    assert (data["total"]["rulings"]["right"], data["total"]["rulings"]["missing"]) == (1, 1)
    assert [c["events"]["all"]["recall"] for c in data["clips"]] == [1.0, 0.0]
    assert run(good, truth, bad, truth).output == result.output


def test_in_a_pipe_the_tables_are_plain_and_whole(tmp_path: Path):
    match = folder(tmp_path / "m")
    output = run(match, match).output
    assert "\x1b" not in output and not set("─│┃━╭") & set(output)
    line = next(line for line in output.splitlines() if line.startswith("pocketed"))
    assert line.split()[:8] == ["pocketed", "1", "1", "0", "0", "1.000", "1.000", "1.000"]


def test_an_analysis_without_rules_has_no_rulings_to_score(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    match = folder(tmp_path / "m", rulings=[])
    (match / "match.json").write_text(json.dumps({"rules": "none", "players": ["A", "B"]}))
    score = score_match(read_match(match), read_truth(truth))
    assert score.rulings is None and "without rules" in score.notes[0]


def test_head_and_foot_exchanged_is_said(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    turned = [replace(r, x=3550 - r.x, y=1775 - r.y, vx=-r.vx, vy=-r.vy) for r in rows()]
    match = folder(tmp_path / "m", track=turned)
    table = {"length_mm": 3550.0, "width_mm": 1775.0, "ball_diameter_mm": 68.0}
    (match / "match.json").write_text(json.dumps({"table": table}))
    assert any("head and foot" in note for note in score_match(read_match(match), read_truth(truth)).notes)
    assert not score_match(read_match(truth), read_truth(truth)).notes


def test_nothing_in_the_files_is_nothing_found_not_a_failure(tmp_path: Path):
    truth = folder(tmp_path / "truth")
    match = folder(tmp_path / "m", track=[], rulings=[])
    (match / "events.jsonl").write_text("")
    result = run(match, truth)
    assert result.exit_code == 0
    score = score_match(read_match(match), read_truth(truth)).to_json()
    assert score["events"]["all"]["recall"] == 0.0 and score["events"]["all"]["precision"] is None
    assert score["detection"]["recall"] == 0.0
    empty = folder(tmp_path / "empty", events=[], track=[], rulings=[])
    assert run(empty, empty).exit_code == 0


def test_events_that_contradict_each_other_are_scored_not_refused(tmp_path: Path):
    twice = [*EVENTS[:4], Pocketed(t=1.6, ball="7", pocket=PocketName.FOOT_LEFT), EVENTS[4]]
    score = score_match(read_match(folder(tmp_path / "m", events=twice)), read_truth(folder(tmp_path / "truth")))
    assert score.to_json()["events"]["by_type"]["pocketed"]["false"] == 1


def test_missing_folders_and_files_get_one_line(tmp_path: Path):
    match = folder(tmp_path / "m")
    assert "nowhere" in refused(tmp_path / "nowhere", match)
    assert "nowhere" in refused(match, tmp_path / "nowhere")
    (tmp_path / "bare").mkdir()
    assert "bare" in refused(match, tmp_path / "bare")
    assert "whole match folder" in refused(tmp_path / "bare", match)
    assert "match folder first" in refused(match / "events.jsonl", match)
    assert "without its truth" in refused(match)
    assert "list" in refused("--list", tmp_path / "no.txt")
    assert run().exit_code == 2


def test_broken_files_get_one_line_that_names_them(tmp_path: Path):
    match = folder(tmp_path / "m")
    cases = {
        "no_state.csv": ("t,ball,x,y\n0,7,1,2\n", "state"),
        "text.csv": ("t,ball,x,y,state\n0,7,one,2,resting\n", "column x"),
        "ball.csv": ("t,ball,x,y,state\n0,eight,1,2,resting\n", "'eight'"),
        "state.csv": ("t,ball,x,y,state\n0,7,1,2,asleep\n", "'asleep'"),
        "time.csv": ("t,ball,x,y,state\n-1,7,1,2,resting\n", "time"),
        "empty.csv": ("", "empty"),
        "not.parquet": ("never a parquet file", "not.parquet"),
        "bad.jsonl": ('{"t": 1, "type": "pocketed"\n', "line 1"),
    }
    for name, (text, says) in cases.items():
        (tmp_path / name).write_text(text)
        message = refused(match, tmp_path / name)
        assert says in message and name in message
    broken = tmp_path / "broken"
    shutil.copytree(match, broken)
    (broken / "match.json").write_text("{")
    assert "match.json" in refused(broken, match)


def test_a_json_file_that_cannot_be_written_gets_one_line(tmp_path: Path):
    match = folder(tmp_path / "m")
    assert "cannot be written" in refused(match, match, "--json", tmp_path / "m" / "events.jsonl" / "s.json")


def test_a_list_with_a_wrong_line_names_the_line(tmp_path: Path):
    (tmp_path / "pairs.txt").write_text("a b\na b c\n")
    assert "line 2" in refused("--list", tmp_path / "pairs.txt")
    (tmp_path / "pairs.txt").write_text("# nothing\n")
    assert "names no pair" in refused("--list", tmp_path / "pairs.txt")
