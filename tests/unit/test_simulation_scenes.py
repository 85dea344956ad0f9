"""Scene files: easy to write, refused in plain words when wrong, and turned into a clip with its truth beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from vision_referee.calibration.calibration import calibration_from_json
from vision_referee.calibration.tables import load_table
from vision_referee.cli import build_app
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Pocketed
from vision_referee.record.events_jsonl import read_events, read_officials
from vision_referee.record.rulings_jsonl import read_rulings
from vision_referee.record.tracks_parquet import read_tracks
from vision_referee.simulation.cameras import MOUNTINGS, camera_for, random_mounting
from vision_referee.simulation.clips import make_clip, scene_table
from vision_referee.simulation.frame_clock import frame_clock
from vision_referee.simulation.library import library_scene, random_match_scene, scene_names, seen_by
from vision_referee.simulation.scene_file import Video, load_scene, scene_from
from vision_referee.simulation.staging import stage
from vision_referee.video.source import open_video

SMALL = {"size": [320, 180], "fps": 10, "crf": 30}


def sim() -> None:
    pytest.importorskip("pooltool", reason="pooltool is not installed: run `make sim`")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "scene.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", scene_names())
def test_every_shipped_scene_can_be_read_and_says_what_it_is_about(name: str) -> None:
    scene = library_scene(name)
    assert scene.name == name
    assert scene.about
    assert scene_table(scene).name == scene.table


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("acts: [{wait: soon}]", "acts.0.wait"),
        ("acts: [{wait: 1, shake: {}}]", "exactly one"),
        ("acts: [{dance: {}}]", "acts.0.dance"),
        ("balls: {seventeen: [1, 2]}", "balls.seventeen"),
        ("balls: {cue: [1]}", "balls.cue"),
        ("colour: red", "colour"),
        ("acts: [{strike: {speed_mm_s: -3}}]", "speed_mm_s"),
        ("- a list", "mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_a_wrong_scene_is_refused_in_one_line_that_says_where(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        load_scene(written(tmp_path, text))
    assert says in str(error.value)
    assert "scene.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_scene_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        load_scene(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("balls", "acts", "says"),
    [
        ({"cue": [500, 500], "1": [520, 500]}, [], "in ball cue"),
        ({"cue": [9000, 500]}, [], "not on the table"),
        ({"1": [500, 500]}, [{"strike": {"at": "1"}}], "no ball cue"),
        ({"cue": [500, 500]}, [{"strike": {}}], "nowhere"),
        ({"cue": [500, 500], "1": [900, 900]}, [{"fall": {"ball": "1"}}], "near no pocket"),
        ({"cue": [500, 500]}, [{"hand_picks_up": {"ball": "4"}}], "ball 4"),
        ({"cue": [500, 500]}, [{"strike": {"pot": True}}], "no ball can be potted"),
    ],
)
def test_an_act_that_cannot_be_done_is_named(balls: dict[str, Any], acts: list[Any], says: str) -> None:
    sim()
    scene = scene_from({"name": "x", "balls": balls, "acts": acts}, "x")
    with pytest.raises(InputError) as error:
        stage(scene, scene_table(scene))
    assert says in str(error.value)


@pytest.mark.parametrize("preset", sorted(MOUNTINGS))
def test_each_named_camera_sees_the_whole_table_and_inverts(preset: str) -> None:
    table = load_table("pyramid-12ft")
    camera = camera_for(MOUNTINGS[preset], table, (1280, 720))
    margin = table.rail_width_mm
    along, across = np.linspace(-margin, 3550 + margin, 7), np.linspace(-margin, 1775 + margin, 5)
    grid = np.array([(x, y) for x in along for y in across])
    px = camera.project_plane(grid, 34.0)
    assert np.all((px > 0) & (px < [1280, 720]))
    assert np.allclose(camera.unproject(px, 34.0), grid, atol=0.01)
    # Seen from above: head-right, head-left, foot-left, foot-right go clockwise in the picture.
    c = camera.project_plane([[0, 0], [0, 1775], [3550, 1775], [3550, 0]], 0.0)
    turn = np.cross(np.append(c[1] - c[0], 0), np.append(c[2] - c[1], 0))[2]
    assert turn > 0


def test_random_cameras_are_many_and_whole() -> None:
    table = load_table("snooker-12ft")
    heights = set()
    for seed in range(60):
        camera = camera_for(random_mounting(np.random.default_rng(seed)), table, (1280, 720))
        length, width = table.length_mm, table.width_mm
        px = camera.project_plane([[0, 0], [0, width], [length, 0], [length, width]], 0)
        assert np.all((px > 0) & (px < [1280, 720]))
        heights.add(round(camera.position_mm[2] / 200))
    assert len(heights) > 15


def test_frames_keep_true_times_when_some_are_lost_or_uneven() -> None:
    rng = np.random.default_rng(0)
    even = frame_clock(Video(fps=25), 4.0, rng)
    assert np.allclose(even.video_s, np.arange(101) / 25, atol=1e-5)
    lossy = frame_clock(Video(fps=25, drop=0.3), 4.0, rng)
    assert 50 < len(lossy.ticks) < 90
    assert np.allclose(lossy.scene_s, lossy.video_s)
    uneven = frame_clock(Video(fps=25, jitter=0.4), 4.0, rng)
    assert np.all(np.diff(uneven.ticks) > 0)
    assert np.diff(uneven.video_s).std() > 0.005


def test_repeated_frames_show_the_picture_before() -> None:
    clock = frame_clock(Video(fps=30, repeat=2), 1.0, np.random.default_rng(0))
    assert np.allclose(clock.picture_s[1::2], clock.picture_s[0:-1:2])
    assert np.all(np.diff(clock.video_s) > 0)


def test_a_cut_takes_time_and_events_out_of_the_video() -> None:
    video = Video.model_validate({"fps": 30, "cuts": [{"from_s": 2, "to_s": 3}], "start_s": 0.5})
    clock = frame_clock(video, 5.0, np.random.default_rng(0))
    assert clock.video_s[-1] == pytest.approx(3.5, abs=0.04)
    assert clock.to_video_s(1.5) == pytest.approx(1.0)
    assert clock.to_video_s(2.5) is None
    assert clock.to_video_s(3.5) == pytest.approx(2.0)
    assert clock.to_video_s(0.2) is None
    assert not np.any((clock.scene_s > 2.001) & (clock.scene_s < 2.999))


def test_the_clip_and_its_truth_agree_and_can_be_read_by_every_stage(tmp_path: Path) -> None:
    sim()
    scene = library_scene("cue_ball_follows")
    scene = scene.model_copy(update={"video": Video.model_validate(SMALL)})
    clip = make_clip(scene, tmp_path)
    assert clip.video is not None
    frames = list(open_video(clip.video))
    assert len(frames) == clip.frames
    events = read_events(clip.truth / "events.jsonl")
    assert [e.t for e in events] == sorted(e.t for e in events)
    falls = [e for e in events if isinstance(e, Pocketed)]
    assert [f.ball for f in falls] == ["9", "cue"]
    assert all(frames[f.frame].t_s <= f.t < frames[f.frame].t_s + 0.1001 for f in falls if f.frame is not None)
    assert clip.officials is not None
    assert [e.type for e in read_officials(clip.officials)] == ["call"]
    rows = read_tracks(clip.truth)
    assert {round(r.t, 4) for r in rows} == {round(f.t_s, 4) for f in frames}
    assert {r.state.value for r in rows if r.ball == "cue"} >= {"moving", "resting", "pocketed"}
    (ruling, *_) = read_rulings(clip.truth / "rulings.jsonl")
    assert [f.code for f in ruling.fouls] == ["cue_ball_pocketed"]
    calibration = calibration_from_json(json.loads((clip.truth / "calibration.json").read_text()))
    assert calibration.camera.size_px == (320, 180)
    assert json.loads((clip.truth / "match.json").read_text())["rules"] == "russian"


def test_a_hidden_ball_is_called_hidden(tmp_path: Path) -> None:
    sim()
    scene = scene_from(
        {"name": "hidden", "balls": {"cue": [1500, 400], "1": [3000, 1400]}, "video": SMALL,
         "acts": [{"person": {"side": "right", "along_mm": 1500, "reach_mm": 600, "for_s": 2}}, {"wait": 2.5}]},
        "test",
    )  # fmt: skip
    clip = make_clip(scene, tmp_path)
    rows = read_tracks(clip.truth)
    states = {b: [r.state.value for r in rows if r.ball == b] for b in ("cue", "1")}
    assert "hidden" in states["cue"]
    assert states["cue"][-1] == "resting"
    assert set(states["1"]) == {"resting"}


def test_the_command_makes_clips_and_names_what_is_wrong(tmp_path: Path) -> None:
    sim()
    text = "name: two\nballs: {cue: [500, 500]}\nacts: [{wait: 0.5}]\nvideo: {size: [320, 180], fps: 10}\n"
    good = written(tmp_path, text)
    done = CliRunner().invoke(build_app(), ["simulate", str(good), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "two.mp4").exists()
    assert (tmp_path / "out" / "two.truth" / "events.jsonl").exists()
    bad = CliRunner().invoke(build_app(), ["simulate", str(tmp_path / "no.yaml"), "-o", str(tmp_path / "out2")])
    assert isinstance(bad.exception, InputError)
    assert not (tmp_path / "out2").exists()


def test_random_scenes_follow_from_their_seed_and_differ_by_it() -> None:
    assert random_match_scene(7) == random_match_scene(7)
    scenes = [random_match_scene(seed) for seed in range(60)]
    assert len({s.model_dump_json() for s in scenes}) == 60
    assert len({s.table for s in scenes}) >= 4
    assert len({s.video.fps for s in scenes}) >= 3
    assert any(s.rack for s in scenes)
    assert {len(s.balls) for s in scenes} >= {2, 3, 16}


@pytest.mark.parametrize("seed", [3, 12])
def test_random_scenes_can_be_played_and_ruled_on(tmp_path: Path, seed: int) -> None:
    sim()
    clip = make_clip(random_match_scene(seed), tmp_path, with_video=False)
    events = read_events(clip.truth / "events.jsonl")
    assert {"strike", "rest"} <= {e.type for e in events}


def test_a_scene_can_be_seen_by_another_camera() -> None:
    scene = library_scene("plain_stroke")
    other = seen_by(scene, camera="side_low", look=5)
    assert other.name == "plain_stroke__side_low_5"
    assert other.balls == scene.balls
    assert other.camera.preset == "side_low"


@pytest.mark.parametrize("name", ["hanging_ball", "cue_ball_pocketed"])
def test_a_sample_videos_truth_follows_from_its_scene(tmp_path: Path, name: str) -> None:
    sim()
    samples = Path(__file__).parents[2] / "sample_videos"
    clip = make_clip(load_scene(samples / f"{name}.yaml"), tmp_path, with_video=False)
    told = read_events(samples / f"{name}.truth" / "events.jsonl")
    assert [e.type for e in clip.events] == [e.type for e in told]
    assert np.allclose([e.t for e in clip.events], [e.t for e in told], atol=0.01)
    info = open_video(samples / f"{name}.mp4").info
    assert (info.width, info.height) == (1280, 720)
    assert (samples / f"{name}.mp4").stat().st_size < 3_000_000
