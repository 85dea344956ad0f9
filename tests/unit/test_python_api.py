"""The referee from Python: events and rulings as they become known, nothing loaded before it is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import live_scene as scene
import pytest

import vision_referee
from vision_referee import Event, InputError, Ruling, analyze, api, referee
from vision_referee.domain.events import Call, Source, Strike
from vision_referee.pipeline.recorded import Recording, Sight
from vision_referee.review.whole_match import analyze_whole

TOLD = Sight(find=scene.finder, open_eye=scene.ToldEye)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene.write_video(tmp_path_factory.mktemp("scene") / "scene.mp4")


def test_importing_the_package_loads_none_of_the_line() -> None:
    heavy = "import vision_referee, sys; print([m for m in ('numpy', 'cv2', 'openvino', 'av') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other() -> None:
    for name in vision_referee.__all__:
        assert getattr(vision_referee, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = vision_referee.nothing


def test_events_and_rulings_come_as_they_become_known(video: Path) -> None:
    reached: list[float] = []
    told: list[tuple[float, Event | Ruling]] = []
    for item in referee(video, rules="small-russian", players=("Anna", "Boris"), see=TOLD,
                        progress=lambda p: reached.append(p.done_s)):  # fmt: skip
        told.append((max(reached, default=0.0), item))
    events = [item for _, item in told if not isinstance(item, Ruling)]
    rulings = [item for _, item in told if isinstance(item, Ruling) and item.kind == "stroke"]
    assert [e.t for e in events if isinstance(e, Strike)] == pytest.approx([1.5, 5.0], abs=0.06)
    assert len({e.id for e in events}) == len(events)
    assert [r.fouls[0].code for r in rulings] == ["no_contact", "no_contact"]
    assert [r.player for r in rulings] == ["Anna", "Boris"] and rulings[0].text["en"]
    first = next(at for at, item in told if isinstance(item, Ruling) and item.kind == "stroke")
    assert first < 5.0, "the first ruling is told before the second stroke is looked at"


def test_without_rules_there_are_events_alone(video: Path) -> None:
    told = list(referee(str(video), see=TOLD))
    assert any(isinstance(item, Strike) for item in told)
    assert not any(isinstance(item, Ruling) for item in told)


def test_officials_are_heard_from_a_list(video: Path) -> None:
    call = Call(t=1.0, ball="4", pocket=None, source=Source.OFFICIAL)
    assert any(isinstance(item, Call) for item in referee(video, rules="small-russian", officials=[call], see=TOLD))


def test_settings_are_those_of_the_rule_set(video: Path) -> None:
    with pytest.raises(InputError, match="no such setting"):
        referee(video, rules="american", settings={"yawning": 5})


def test_what_cannot_be_used_is_said_at_once() -> None:
    for wrong in ({"rules": "chess"}, {"head": "sideways"}, {"table": "pyramid-99ft"}, {"players": ("A", "A")}):
        with pytest.raises(InputError):
            referee("nowhere.mp4", **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"nowhere\.mp4"):
        referee("nowhere.mp4")
    with pytest.raises(InputError, match="no video"):
        referee([])


def test_a_match_folder_is_made_and_read(video: Path, tmp_path: Path) -> None:
    match = analyze(video, out=tmp_path / "m", rules="small-russian", players=("Anna", "Boris"), lang="ru", see=TOLD)
    assert match.path == tmp_path / "m" and match.info.status == "complete" and match.info.lang == "ru"
    told = list(referee(video, rules="small-russian", players=("Anna", "Boris"), see=TOLD))
    assert [e.type for e in match.events()] == [item.type for item in told if not isinstance(item, Ruling)]
    assert (tmp_path / "m" / "report.html").exists()


@pytest.mark.parametrize("number", range(3))
def test_the_examples_of_the_manual_run(
    video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 3
    (tmp_path / "match.mp4").symlink_to(video)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(api, "Recording", lambda request, said, **_: Recording(request, said, see=TOLD))
    monkeypatch.setattr(api, "analyze_whole", lambda request, **more: analyze_whole(request, **more | {"see": TOLD}))
    exec(compile(examples[number], f"docs/python.md example {number + 1}", "exec"), {})
