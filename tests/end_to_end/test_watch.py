"""``watch`` as a user runs it: a video played as a camera, refereed as ``analyze`` does; the live pages in Chromium."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

import live_scene as scene

from vision_referee.calibration.saved import camera_file
from vision_referee.pipeline.live import LiveRequest, LiveSession
from vision_referee.record.match_folder import MatchFolder
from vision_referee.video.camera_feed import CameraFeed, FeedSettings

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_videos" / "cue_ball_pocketed.mp4"


def run(command: str, *arguments: object, folder: Path, timeout_s: float = 400) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    words = [sys.executable, "-m", "vision_referee.cli", command, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=timeout_s, check=False)


def _verdicts(folder: Path) -> list[tuple[Any, ...]]:
    """What was decided, without the times: a camera's are not the file's to the millisecond."""
    return [
        (r.kind, r.player, sorted(f.code for f in r.fouls), [(b.ball, b.pocket) for b in r.counted], r.score, r.review)
        for r in MatchFolder(folder).rulings()
    ]


@pytest.mark.slow
def test_a_file_played_as_a_camera_is_ruled_on_as_a_recording(tmp_path: Path) -> None:
    if not SAMPLE.exists():
        pytest.skip("needs sample_videos/cue_ball_pocketed.mp4")
    common = ["--rules", "small-russian", "--officials", SAMPLE.with_suffix(".officials.jsonl")]
    common += ["--calibration", SAMPLE.with_suffix(".truth") / "calibration.json"]
    begun = time.monotonic()
    done = run("analyze", SAMPLE, *common, "--out", tmp_path / "a", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    # Played no faster than this machine can look: on a quick one at its own speed.
    speed = max(0.03, min(1.0, 4.7 / (time.monotonic() - begun) / 1.5))
    watched = run(
        "watch", SAMPLE, *common, "--out", tmp_path / "w", "--no-browser", "--port", 0, "--speed", f"{speed:.3f}",
        folder=tmp_path,
    )  # fmt: skip
    assert watched.returncode == 0, watched.stderr
    assert "Traceback" not in watched.stderr
    match = MatchFolder(tmp_path / "w")
    assert match.info.status == "complete" and (tmp_path / "w" / "report.html").exists()
    assert _verdicts(tmp_path / "w") == _verdicts(tmp_path / "a") != []
    assert "table found" in watched.stderr and match.rulings()[0].text["en"] in watched.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("nowhere.mp4", "--rules", "russian"), 1, "nowhere.mp4"),
        (("0", "--rules", "chess"), 2, "chess"),
        (("http://127.0.0.1:9/x", "--rules", "russian", "--calibration", "none.json"), 1, "none.json"),
    ],
)
def test_what_cannot_be_watched_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], status: int, says: str
) -> None:
    done = run("watch", *arguments, "--out", tmp_path / "m", "--no-browser", "--port", 0, folder=tmp_path)
    assert done.returncode == status and says in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "m").exists()


def test_interrupted_before_a_table_is_found_it_leaves_nothing(tmp_path: Path) -> None:
    from video_files import write_video

    path = write_video(tmp_path / "bars.mp4", [k / 10 for k in range(400)], size=(640, 384))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    words = [sys.executable, "-m", "vision_referee.cli", "watch", str(path), "--rules", "none"]
    words += ["--out", str(tmp_path / "m"), "--no-browser", "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "no table yet" in line:
            break
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in rest
    assert "table" in rest
    assert not (tmp_path / "m").exists()


# --- the pages, in a browser ---


class Served:
    """A camera that is played back in real time, and goes on after the scene until told otherwise."""

    def __init__(self, folder: Path) -> None:
        from vision_referee.review.server.serve import listen
        from vision_referee.review.server.serve_live import LiveServer
        from vision_referee.video.camera_address import Shot

        self.hold = threading.Event()

        def shots() -> Iterator[Shot]:
            begun = time.monotonic()
            while True:
                # Before the first strike the scene waits for the test.
                t_s = min(time.monotonic() - begun, 1.4) if not self.hold.is_set() else self._since(begun)
                yield Shot(scene.draw(t_s), None)
                time.sleep(0.05)

        self._went: float | None = None
        self.session = LiveSession(
            LiveRequest(camera="7", rules="small-russian", out=folder / "m", players=("Anna", "Boris")),
            feed=CameraFeed(shots, settings=FeedSettings(buffer_frames=8)),
            finder=scene.finder,
            open_eye=lambda calibration: SceneEye(calibration, self),  # type: ignore[arg-type,return-value]
        )
        self.scene_s = 0.0
        listener = listen("127.0.0.1", 0)
        self.server = LiveServer(self.session, listener, host="127.0.0.1", store_url=f"sqlite:///{folder / 's.sqlite'}")
        self.session.start()
        self.server.start(open_browser=False)
        self.url = self.server.address
        end = time.monotonic() + 180
        while self.session.now().calibration is None:
            assert time.monotonic() < end, "the table is found"
            time.sleep(0.05)

    def _since(self, begun: float) -> float:
        if self._went is None:
            self._went = time.monotonic()
        return 1.4 + time.monotonic() - self._went

    def stop(self) -> None:
        self.session.stop()
        assert self.session.wait(30)
        self.server.stop()


class SceneEye(scene.ToldEye):
    """Sees the scene as far as it has been let go on."""

    def __init__(self, calibration: Any, served: Served) -> None:
        super().__init__(calibration)
        self._served = served
        self._begun_s: float | None = None

    def look(self, changed: Any) -> Any:
        t_s = changed.frame.t_s
        if self._served.hold.is_set() and self._begun_s is None:
            self._begun_s = t_s
        changed.frame.t_s = 1.4 + t_s - self._begun_s if self._begun_s is not None else min(t_s, 1.4)
        seen = super().look(changed)
        changed.frame.t_s = seen.t_s = t_s
        return seen


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("live")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        made = Served(folder)
        yield made
        made.stop()


@pytest.fixture
def page(served: Served, browser: Any) -> Iterator[Any]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 1000})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert problems == []


def test_twenty_viewers_cost_little_more_than_one(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    now = served.session.now
    monkeypatch.setattr(served.session, "now", lambda: asked.append(time.monotonic()) or now())
    heard = [0] * 20

    def watch(k: int) -> None:
        with urllib.request.urlopen(f"{served.url}/news", timeout=20) as lines:
            end = time.monotonic() + 3.0
            while time.monotonic() < end:
                line = lines.readline().decode()
                if line.startswith("data: "):
                    assert json.loads(line[6:])["phase"] == "running"
                    heard[k] += 1

    viewers = [threading.Thread(target=watch, args=(k,)) for k in range(20)]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join(40)
    assert min(heard) >= 4
    # One snapshot serves them all: at most nine a second, however many look.
    assert len(asked) <= 12 * (asked[-1] - asked[0]) + 12


def test_the_live_page_follows_the_match(page: Any, served: Served) -> None:
    from playwright.sync_api import expect

    page.goto(served.url)
    expect(page.locator("#state")).to_have_text("watching")
    expect(page.locator("#table-now .ball")).to_have_count(4)
    # A call in two taps, at the match's time.
    page.locator("#ball").select_option("cue")
    page.get_by_role("button", name="Both feet off the floor").click()
    expect(page.locator("#told")).to_contain_text("Entered")
    expect(page.locator("#log")).to_contain_text("feet off")
    page.locator("#log").get_by_role("button", name="Undo").click()
    expect(page.locator("#log li.undone")).to_have_count(1)
    before = page.locator("#table-now .ball.cue").get_attribute("transform")
    # The stroke is played: the ball moves on the diagram, and the ruling comes by itself.
    served.hold.set()
    expect(page.locator("#last .words")).to_contain_text("no object ball", timeout=60_000)
    expect(page.locator('#score [data-player="Boris"] b')).to_have_text("5")
    assert page.locator("#table-now .ball.cue").get_attribute("transform") != before
    # What only an official saw is added to the stroke, after its end.
    page.get_by_role("button", name="Not with the tip").click()
    expect(page.locator("#last")).to_contain_text("illegal stroke")
    rulings = [json.loads(line) for line in (served.session.folder / "rulings.jsonl").read_text().splitlines()]
    assert "illegal_stroke" in {f["code"] for f in rulings[-1]["fouls"]}
    page.get_by_text("Live picture").click()
    page.wait_for_timeout(800)
    assert page.evaluate("document.getElementById('picture').naturalWidth") == scene.CAMERA.size_px[0]


def test_the_last_ruling_is_overruled_beside_the_table(page: Any, served: Served) -> None:
    from playwright.sync_api import expect

    served.hold.set()
    end = time.monotonic() + 180
    while len(scene.strokes(served.session.book.rulings)) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    page.goto(served.url)
    before = page.locator("#score b").all_inner_texts()
    expect(page.locator("#last .tag.foul").first).to_be_visible()
    page.locator("#last").get_by_role("button", name="No foul").click()
    expect(page).to_have_url(re.compile(r"/live\?said=entered$"))
    expect(page.locator("#last .tag.foul")).to_have_count(0)
    assert page.locator("#score b").all_inner_texts() != before
    page.locator("#told").get_by_role("button", name="Undo").click()
    expect(page.locator("#last .tag.foul").first).to_be_visible()
    assert page.locator("#score b").all_inner_texts() == before


def test_what_is_put_back_is_shown_with_its_distance(page: Any, served: Served) -> None:
    """An outsider moved a ball: where it stood is drawn on the table and on the picture, with what is left to go."""
    from playwright.sync_api import expect

    from vision_referee.domain.events import Moved, MovedCause, Source

    served.hold.set()
    end = time.monotonic() + 180
    while len(scene.strokes(served.session.book.rulings)) < 2 or served.session.now().moving:
        assert time.monotonic() < end, "both strokes of the scene are played"
        time.sleep(0.05)
    page.goto(served.url)
    ball = next(b for b in served.session.now().balls if b.label not in (None, "cue"))
    assert ball.label is not None
    name = min(scene.OBJECTS, key=lambda n: abs(scene.OBJECTS[n][0] - ball.x_mm) + abs(scene.OBJECTS[n][1] - ball.y_mm))
    stood = scene.OBJECTS[name]
    try:
        scene.OBJECTS[name] = (stood[0] + 120, stood[1] + 90)
        moved = Moved(
            t=served.session.clock_s(), ball=ball.label, x=stood[0] + 120, y=stood[1] + 90, cause=MovedCause.OUTSIDER,
            source=Source.OFFICIAL, id=served.session.reserve_ids(1),
        )  # fmt: skip
        served.session.submit([moved])
        expect(page.locator("#back li b")).to_have_text(re.compile(r"^1[45]\d mm to go$"))
        expect(page.locator("#over .target").first).to_be_attached()
        scene.OBJECTS[name] = stood
        expect(page.locator("#back li.near b")).to_have_text(re.compile(r"^[0-5] mm to go$"))
    finally:
        scene.OBJECTS[name] = stood


def test_the_camera_page_draws_what_was_found_and_takes_corners(page: Any, served: Served) -> None:
    from playwright.sync_api import expect

    page.goto(served.url + "/camera")
    expect(page.locator("#over .nose")).to_have_count(1)
    expect(page.locator("#over .mouth")).to_have_count(6)
    expect(page.locator("#over .corner")).to_have_count(4)
    corner = page.locator("#over .corner").first
    box = corner.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 1, y + 1, steps=3)
    page.mouse.up()
    assert re.fullmatch(r"(-?[\d.]+,-?[\d.]+ ?){4}", page.locator("#corners").input_value())
    page.locator('[name="name"]').fill("hall one")
    page.get_by_role("button", name="Set").click()
    expect(page.locator(".notice")).to_contain_text("saved")
    expect(page.locator("code")).to_have_text("--calibration hall-one")
    assert json.loads(camera_file("hall one").read_text())["corners_px"]["points"]


def test_hints_follow_the_light(page: Any, served: Served) -> None:
    """The lamp is turned down and up again: the page says so without being opened anew."""
    from playwright.sync_api import expect

    page.goto(served.url + "/camera")
    expect(page.locator("#found")).not_to_contain_text("too dark")
    drawn = scene.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scene, "draw", lambda t_s: drawn(t_s) // 4)
        expect(page.locator("#found")).to_contain_text("too dark")
    expect(page.locator("#found")).not_to_contain_text("too dark")


def test_the_official_needs_no_pointer(page: Any, served: Served) -> None:
    """A number and a pocket's key call; one key enters a foul; what was entered is taken back beside its notice."""
    from playwright.sync_api import expect

    page.goto(served.url)
    expect(page.locator("#ball option")).not_to_have_count(1)
    page.keyboard.press("0")
    expect(page.locator("#ball")).to_have_value("cue")
    page.keyboard.press("e")
    expect(page.locator("#told")).to_contain_text("call: cue ball, foot left corner")
    page.keyboard.press("f")
    expect(page.locator("#told")).to_contain_text("feet off the floor")
    page.locator("#told").get_by_role("button", name="Undo").click()
    expect(page.locator("#told")).to_contain_text("Undone")
    expect(page.locator("#log li").first).to_have_class("undone")
    page.locator("#log").get_by_role("button", name="Undo").first.click()


def test_a_call_in_two_taps_of_a_thick_finger(page: Any, served: Served) -> None:
    """Beside the ball, then beside the pocket, on a tablet's diagram."""
    from playwright.sync_api import expect

    page.set_viewport_size({"width": 1180, "height": 820})
    page.goto(served.url)
    expect(page.locator("#ball option")).not_to_have_count(1)
    ball = next(b for b in served.session.now().balls if b.label not in (None, "cue"))
    box = page.locator("#table-now svg").bounding_box()
    rail = scene.TABLE.rail_width_mm
    scale = box["width"] / (scene.TABLE.length_mm + 2 * rail)

    def tap(x_mm: float, y_mm: float) -> None:
        page.mouse.click(box["x"] + (x_mm + rail) * scale, box["y"] + (scene.TABLE.width_mm - y_mm + rail) * scale)

    tap(ball.x_mm + 70, ball.y_mm - 70)
    expect(page.locator("#ball")).to_have_value(str(ball.label))
    tap(120, 110)
    expect(page.locator("#told")).to_contain_text("head right corner")
    page.locator("#told").get_by_role("button", name="Undo").click()


def test_no_serious_fault_of_accessibility(page: Any, served: Served) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    for path in ("", "/camera"):
        page.goto(served.url + path)
        page.wait_for_timeout(600)
        found = axe.Axe().run(page).response["violations"]
        serious = [
            (v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")
        ]
        assert serious == [], path


def test_it_fits_a_tablet_and_a_telephone(page: Any, served: Served) -> None:
    for width, height in ((820, 1180), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for path in ("", "/camera"):
            page.goto(served.url + path)
            spill = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert spill <= 0, f"{width} px wide, {path or 'match'}: {spill} px too wide"
