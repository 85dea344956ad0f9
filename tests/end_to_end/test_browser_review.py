"""The review app in a real browser: headless Chromium on a match made by hand and judged by the rules."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import handmade_match as handmade
import pytest

pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
uvicorn = pytest.importorskip("uvicorn")

from playwright.sync_api import Browser, Page, expect  # noqa: E402

from vision_referee.record.match_folder import RULINGS, MatchFolder  # noqa: E402
from vision_referee.record.rulings_jsonl import write_rulings  # noqa: E402
from vision_referee.review.server.app import create_app  # noqa: E402
from vision_referee.review.server.rejudge import rejudge  # noqa: E402
from vision_referee.review.server.serve import AppServer, listen  # noqa: E402


@dataclass(frozen=True, slots=True)
class Served:
    url: str
    folder: Path
    key: str

    @property
    def match_url(self) -> str:
        return f"{self.url}/m/{self.key}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app over a folder of matches, of which each test has its own."""
    top = tmp_path_factory.mktemp("app")
    first = handmade.copied_match(top / "matches" / "first").folder
    app = create_app([first.parent], store_url=f"sqlite:///{top / 'review.sqlite'}", cache=top / "cache")
    listener = listen("127.0.0.1", 0)
    running = AppServer(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2), app)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.02)
    yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}", first.parent, "first")
    running.should_exit = True
    thread.join(timeout=60)
    assert not thread.is_alive(), "the app stops when told to"
    assert app.state.desk.pulse.listeners == 0


@pytest.fixture
def served(server: Served, request: pytest.FixtureRequest) -> Served:
    """A match whose rulings are the rules' own."""
    key = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    folder = handmade.copied_match(server.folder / key).folder
    match = MatchFolder(folder)
    write_rulings(folder / RULINGS, rejudge(match.info, match.events(), []))
    return Served(server.url, folder, key)


@pytest.fixture
def problems() -> list[str]:
    """What the page complained of in its console; a test that expects a complaint clears it."""
    return []


@pytest.fixture
def page(browser: Browser, served: Served, problems: list[str]) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    elsewhere: list[str] = []
    opened.on("request", lambda r: elsewhere.append(r.url) if not r.url.startswith((served.url, "data:")) else None)
    yield opened
    context.close()
    assert elsewhere == [], "the app works without the internet"
    assert problems == []


def _open(page: Page, served: Served, ruling: int | None = None) -> None:
    page.goto(served.match_url + (f"/r/{ruling}" if ruling else ""))


def _press(page: Page, served: Served, key: str) -> None:
    """Press a key on a ruling's page, once that page is there."""
    expect(page).to_have_url(re.compile(rf"{re.escape(served.match_url)}/r/"))
    page.wait_for_load_state("domcontentloaded")
    page.keyboard.press(key)


def _until(page: Page, expression: str, timeout_s: float = 30.0) -> None:
    """Wait in the test, not in the page: its policy forbids scripts made from text."""
    end = time.monotonic() + timeout_s
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never: {expression}"
        page.wait_for_timeout(50)


def _clip_ready(page: Page) -> None:
    _until(page, "document.getElementById('clip').readyState >= 2", 60)
    expect(page.locator(".transport")).to_be_visible()


def _score(page: Page) -> list[str]:
    return page.locator("#score b").all_inner_texts()


def _rulings(served: Served) -> dict[int, dict[str, Any]]:
    lines = (served.folder / "rulings.jsonl").read_text(encoding="utf-8").splitlines()
    return {r["id"]: r for r in map(json.loads, lines)}


def test_from_the_list_to_a_clip_that_plays(page: Page, served: Served) -> None:
    page.goto(served.url)
    page.get_by_role("link", name=served.key).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Anna – Boris")
    assert _score(page) == ["7", "0"]
    page.get_by_role("link", name="Stroke 1 · Anna", exact=True).click()
    _clip_ready(page)
    page.keyboard.press("Space")
    _until(page, "document.getElementById('clip').currentTime > 0.4")
    page.keyboard.press("Space")
    assert page.evaluate("document.getElementById('clip').paused")
    assert page.evaluate("document.getElementById('clip').videoWidth") == 640


def test_frames_and_speeds(page: Page, served: Served) -> None:
    _open(page, served, 2)
    _clip_ready(page)
    page.keyboard.press("3")
    assert page.evaluate("document.getElementById('clip').playbackRate") == 0.25
    page.get_by_role("button", name="½×").click()
    assert page.evaluate("document.getElementById('clip').playbackRate") == 0.5
    page.get_by_role("button", name="0:09.0").first.click()
    expect(page.locator("#clock")).to_have_text("0:09.00")
    for key, shows in (("ArrowRight", "0:09.04"), ("ArrowRight", "0:09.08"), ("ArrowLeft", "0:09.04")):
        page.keyboard.press(key)
        expect(page.locator("#clock")).to_have_text(shows)


def test_the_diagram_moves_with_the_clip(page: Page, served: Served) -> None:
    _open(page, served, 2)
    _clip_ready(page)
    cue = page.locator('#diagram .ball[data-ball="cue"]')

    def place() -> tuple[float, float]:
        x, y = re.findall(r"[\d.]+", cue.get_attribute("transform") or "")
        return float(x), handmade.TABLE.width_mm - float(y)

    for button, t in (("0:08.0", 8.0), ("0:09.0", 9.0)):
        page.get_by_role("button", name=button).first.click()
        expect(page.locator("#clock")).to_have_text(f"0:{t:05.2f}")
        expected = handmade.place("cue", t)
        assert expected is not None
        assert place() == pytest.approx(expected, abs=4)
    page.evaluate("document.getElementById('clip').currentTime = 5.2")
    expect(cue).to_be_hidden()


def test_overruling_a_foul_changes_the_score_and_can_be_undone(page: Page, served: Served) -> None:
    _open(page, served, 2)
    _press(page, served, "x")
    expect(page.locator("[role=status].notice")).to_contain_text("judged anew")
    expect(page.locator("#ruling .tag.foul")).to_have_count(0)
    # Without the penalty of stroke 2 Anna has 7 + 5 for the miss of stroke 4.
    assert _rulings(served)[4]["score"] == {"Anna": 12, "Boris": -5}
    _press(page, served, "m")
    expect(page.locator("#score")).to_contain_text("12")
    expect(page.locator("#log")).to_contain_text("no foul")
    page.get_by_role("link", name="Stroke 2 · Anna", exact=True).click()
    _press(page, served, "z")
    expect(page.locator("[role=status].notice")).to_contain_text("Undone")
    expect(page.locator("#ruling .tag.foul")).to_have_text("cue ball pocketed")
    assert _rulings(served)[4]["score"] == {"Anna": 7, "Boris": 0}
    types = [json.loads(line)["type"] for line in (served.folder / "events.jsonl").read_text().splitlines()]
    assert "override" not in types


def test_another_foul_chosen_by_keyboard_alone(page: Page, served: Served) -> None:
    _open(page, served, 1)
    _press(page, served, "f")
    expect(page.locator("select[name=code]")).to_be_focused()
    page.keyboard.type("double")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#ruling .tag.foul")).to_have_text("double hit")
    ruling = _rulings(served)[1]
    assert ruling["counted"] == []
    assert (ruling["penalty"]["points"], ruling["penalty"]["to"]) == (5, "Boris")
    assert ruling["overridden"]


def test_another_ball_fell(page: Page, served: Served) -> None:
    """The 7 was called; if it was another ball that fell, nothing counts."""
    _open(page, served, 1)
    page.get_by_text("Balls that fell").click()
    form = page.locator("form", has=page.get_by_role("button", name="Did not fall"))
    form.get_by_label("Ball").select_option("11")
    form.get_by_role("button", name="Set").click()
    expect(page.locator("#log")).to_contain_text("another pot")
    assert _rulings(served)[1]["counted"] == []


def test_which_balls_count_is_ticked(page: Page, served: Served) -> None:
    """What was seen stands, and yet the ball does not count; the next player plays on."""
    _open(page, served, 1)
    _press(page, served, "b")
    box = page.get_by_role("checkbox", name="7, foot left corner")
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#log")).to_contain_text("which balls count")
    assert _rulings(served)[1]["counted"] == [] and _rulings(served)[1]["fouls"] == []
    expect(page.locator("#events tr.undone")).to_have_count(0)


def test_from_foul_to_foul_with_every_decision(page: Page, served: Served) -> None:
    """Who reviews fouls sees those alone, one after the other, though each decision changes what is left."""
    _open(page, served)
    page.get_by_label("Only").select_option("fouls")
    page.get_by_role("link", name="Stroke 2 · Anna", exact=True).last.click()
    expect(page.get_by_role("link", name="Previous")).to_have_count(0)
    _press(page, served, "x")
    expect(page.locator("#ruling .tag.foul")).to_have_count(0)
    _press(page, served, "j")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Stroke 4 · Boris")
    expect(page.get_by_role("link", name="Previous")).to_have_count(0)
    _press(page, served, "m")
    expect(page.locator("table.sheet tbody tr")).to_have_count(1)
    expect(page.get_by_label("Only")).to_have_value("fouls")


def test_events_that_seldom_matter_are_shown_when_asked_for(page: Page, served: Served) -> None:
    _open(page, served, 2)
    rows = page.locator("#events tbody tr:visible")
    expect(page.locator("#events")).not_to_contain_text("stopped", use_inner_text=True)
    few = rows.count()
    page.get_by_label("Lines crossed and stops too").check()
    expect(rows).to_have_count(few + 1)


def test_a_call_is_added(page: Page, served: Served) -> None:
    _open(page, served, 4)
    _press(page, served, "a")
    form = page.locator("form", has=page.locator('input[value="call"]'))
    form.get_by_label("Ball").select_option("11")
    form.get_by_label("Pocket").select_option("middle_right")
    form.get_by_role("button", name="Add").click()
    expect(page.locator("#events")).to_contain_text("call: 11, right middle")
    calls = [
        e for e in map(json.loads, (served.folder / "events.jsonl").read_text().splitlines()) if e["type"] == "call"
    ]
    assert calls[-1]["t"] < 20.0 and calls[-1]["source"] == "official" and calls[-1]["pocket"] == "middle_right"


def test_what_only_an_official_sees_is_entered(page: Page, served: Served) -> None:
    _open(page, served, 4)
    _press(page, served, "o")
    page.locator("#official-kind").select_option("illegal_tip")
    form = page.locator('form.official[data-kind="illegal_tip"]')
    expect(page.locator("form.official:visible")).to_have_count(1)
    form.get_by_role("button", name="Add").click()
    expect(page.locator("#ruling")).to_contain_text("illegal stroke")
    codes = [f["code"] for f in _rulings(served)[4]["fouls"]]
    assert "illegal_stroke" in codes


def test_an_event_is_withdrawn(page: Page, served: Served) -> None:
    _open(page, served, 2)
    page.get_by_role("button", name="Not so: fell: cue ball, head right corner").click()
    expect(page.locator("#events tr.undone")).to_contain_text("fell: cue ball")
    assert _rulings(served)[2]["fouls"] == []


def test_two_browsers_see_each_others_changes(browser: Browser, page: Page, served: Served) -> None:
    other_context = browser.new_context(locale="ru-RU")
    other = other_context.new_page()
    other.goto(served.match_url)
    expect(other.locator("#score")).to_contain_text("7")
    _open(page, served, 2)
    _press(page, served, "x")
    expect(other.locator("#score")).to_contain_text("12")
    expect(other.locator("#log")).to_contain_text("без нарушения")
    expect(other.locator("#news")).to_contain_text("изменился")
    # And back: what the other undoes is seen here without a reload.
    other.locator("#log").get_by_role("button", name="Отменить").click()
    expect(page.locator("#ruling .tag.foul")).to_have_text("cue ball pocketed")
    other_context.close()


def test_language_colours_and_name_are_kept(page: Page, served: Served) -> None:
    _open(page, served, 2)
    page.get_by_text("Settings").click()
    page.get_by_label("Language").select_option("ru")
    page.get_by_label("Colours").select_option("dark")
    page.get_by_label("Your name").fill("Судья Ким")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    expect(page.locator("#ruling .tag.foul")).to_have_text("падение битка")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 23, 21)"
    _press(page, served, "c")
    expect(page.locator("#log")).to_contain_text("Судья Ким")
    page.goto(served.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Матчи")


def test_filters_show_what_is_asked_for(page: Page, served: Served) -> None:
    _open(page, served)
    expect(page.locator("table.sheet tbody tr")).to_have_count(4)
    page.get_by_label("Only").select_option("fouls")
    expect(page.locator("table.sheet tbody tr")).to_have_count(2)
    page.get_by_label("Player").select_option("Boris")
    expect(page.locator("table.sheet tbody tr")).to_have_count(1)
    page.get_by_label("Only").select_option("restored")
    page.get_by_label("Player").select_option("")
    expect(page.locator("table.sheet tbody tr")).to_have_count(1)


def test_it_works_without_its_script(browser: Browser, served: Served) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    plain = context.new_page()
    plain.goto(f"{served.match_url}/r/2")
    plain.get_by_role("button", name="No foul").click()
    assert plain.url.endswith("/r/2?said=done")
    plain.goto(f"{served.match_url}?only=decided")
    assert plain.locator("table.sheet tbody tr").count() == 1
    context.close()


def test_printing_gives_the_score_sheet(page: Page, served: Served) -> None:
    _open(page, served)
    page.emulate_media(media="print")
    expect(page.locator("table.sheet")).to_be_visible()
    for hidden in ("header.bar", ".filters", "#timeline"):
        expect(page.locator(hidden)).to_be_hidden()


def test_it_can_be_read_on_a_tablet_and_a_telephone(page: Page, served: Served) -> None:
    for width, height in ((820, 1180), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for ruling in (None, 2):
            _open(page, served, ruling)
            spill = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert spill <= 0, f"{width} px wide, ruling {ruling}: {spill} px too wide"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(page: Page, served: Served, problems: list[str], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for path in ("/r/2", "", "/report", "/../..", "/r/99"):
        page.goto(served.match_url + path)
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        found = axe.Axe().run(page).response["violations"]
        serious = [
            (v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")
        ]
        assert serious == [], path
    assert [p for p in problems if "404" not in p] == [], "the last page is one that is not there"
    problems.clear()


def test_a_clip_whose_video_is_gone_says_so(page: Page, served: Served, problems: list[str]) -> None:
    match_json = served.folder / "match.json"
    text = match_json.read_text(encoding="utf-8")
    match_json.write_text(re.sub(r'"path": "[^"]*"', '"path": "/nowhere/gone.mp4"', text), encoding="utf-8")
    _open(page, served, 1)
    expect(page.locator("#no-clip")).to_contain_text("gone.mp4")
    # The diagram is played all the same.
    cue = page.locator('#diagram .ball[data-ball="cue"]')
    page.get_by_role("button", name="0:02.0").first.click()
    before = cue.get_attribute("transform")
    page.keyboard.press("Space")
    _until(page, "document.getElementById('clock').textContent > '0:02.60'")
    page.keyboard.press("Space")
    assert cue.get_attribute("transform") != before
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert all("404" in p for p in problems)
    problems.clear()
