"""The live pages and what they take: taps become events at the match's time now, by the app's own rules of safety."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import live_scene as scene
import numpy as np
import pytest
from fastapi.testclient import TestClient

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import BallAt, Hanging, Rest, Strike
from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.events.line import BallNow
from vision_referee.pipeline.live import LiveRequest, LiveSession, Shown
from vision_referee.pipeline.live_facts import LiveFacts
from vision_referee.review.server.live_picture import LivePicture
from vision_referee.review.server.live_say import BALL_TAPS, TAPS, said_event
from vision_referee.review.server.serve import listen
from vision_referee.review.server.serve_live import LiveServer
from vision_referee.review.wording import wording
from vision_referee.video.camera_feed import CameraFeed, FeedSettings


class Live:
    def __init__(self, folder: Path) -> None:
        self.camera = scene.FakeCamera(3.0)
        feed = CameraFeed(self.camera.open, settings=FeedSettings(buffer_frames=100_000), clock=self.camera.clock)
        self.session = LiveSession(
            LiveRequest(camera="7", rules="small-russian", out=folder / "m", players=("Anna", "Boris")),
            feed=feed, finder=scene.finder, open_eye=scene.ToldEye,  # type: ignore[arg-type]
        )  # fmt: skip
        listener = listen("127.0.0.1", 0)
        self.server = LiveServer(
            self.session, listener, host="127.0.0.1", store_url=f"sqlite:///{folder / 'store.sqlite'}"
        )
        self.client = TestClient(self.server._app, base_url="http://127.0.0.1")
        self.session.start()

    def page(self, path: str = "live") -> str:
        answer = self.client.get(f"/m/m/{path}")
        assert answer.status_code == 200
        return answer.text

    def post(self, path: str, **form: str) -> tuple[int, str]:
        secret = re.search(r'name="csrf" value="([^"]+)"', self.page())
        assert secret is not None
        answer = self.client.post(f"/m/m/live/{path}", data={"csrf": secret[1], **form}, follow_redirects=False)
        return answer.status_code, answer.text


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        yield from _live(folder)


def _live(folder: Path) -> Iterator[Live]:
    made = Live(folder)
    end = time.monotonic() + 60
    while made.session.now().t_s < 2.9:
        assert time.monotonic() < end
        time.sleep(0.02)
    yield made
    made.session.stop()
    made.session.wait(30)
    made.client.close()


def _events(live: Live) -> list[dict[str, object]]:
    return [
        json.loads(line) for line in (live.session.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def test_the_page_shows_table_score_and_panel_in_both_languages(live: Live) -> None:
    for lang in ("en", "ru"):
        live.client.cookies.set("vr_lang", lang)
        text = live.page()
        words = wording(lang)
        for key in ("live.official", "live.say.feet_off_floor", "live.restoration", "pocket.foot_left"):
            assert words(key) in text
        assert words("live.head") in live.page("live/camera")
    live.client.cookies.delete("vr_lang")


def test_a_tap_is_entered_at_the_matchs_time_and_can_be_undone(live: Live) -> None:
    status, _ = live.post("say", say="feet_off_floor")
    assert status == 303
    (event,) = [e for e in _events(live) if e["type"] == "feet_off_floor"]
    assert event["source"] == "official" and abs(float(str(event["t"])) - live.session.clock_s()) < 0.5
    change = live.server.match.changes()[-1]
    status, _ = live.post("undo", change=str(change.id))
    assert status == 303
    assert not [e for e in _events(live) if e["type"] == "feet_off_floor"]


def test_a_call_names_ball_and_pocket(live: Live) -> None:
    assert live.post("say", say="call:foot_left", ball="4")[0] == 303
    (call,) = [e for e in _events(live) if e["type"] == "call"]
    assert (call["ball"], call["pocket"]) == ("4", "foot_left")
    status, text = live.post("say", say="call:foot_left")
    assert status == 400 and wording("en")("live.choose_ball") in text
    live.client.cookies.set("vr_lang", "ru")
    assert wording("ru")("live.choose_ball") in live.post("say", say="touch_hand")[1]
    live.client.cookies.delete("vr_lang")


def test_a_post_without_the_forms_secret_changes_nothing(live: Live) -> None:
    before = _events(live)
    for path in ("say", "undo", "camera"):
        answer = live.client.post(f"/m/m/live/{path}", data={"say": "rerack"}, follow_redirects=False)
        assert answer.status_code == 403
    foreign = live.client.post("/m/m/live/say", data={"say": "rerack"}, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert _events(live) == before


def test_the_snapshot_says_where_the_balls_are(live: Live) -> None:
    now = live.client.get("/m/m/live/now.json").json()
    assert now["phase"] == "running" and now["camera"]["ok"]
    found = {(b[3], b[4]) for b in now["balls"]}
    for x, y in scene.OBJECTS.values():
        assert any(abs(a - x) < 4 and abs(b - y) < 4 for a, b in found)


def test_the_picture_is_served(live: Live) -> None:
    answer = live.client.get("/m/m/live/picture.jpg")
    assert answer.headers["content-type"] == "image/jpeg" and answer.content[:2] == b"\xff\xd8"


def test_one_picture_is_encoded_once_for_all_who_look() -> None:
    newest = LivePicture()
    shown = Shown(t_s=1.0, bgr=np.full((900, 1600, 3), 90, np.uint8))
    assert len({newest.jpeg(shown) for _ in range(20)}) == 1 and newest.made == 1
    picture = cv2.imdecode(np.frombuffer(newest.jpeg(shown), np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None and picture.shape[:2] == (720, 1280)
    newest.jpeg(Shown(t_s=1.1, bgr=shown.bgr))
    assert newest.made == 2


def test_other_matches_have_no_live_page(live: Live) -> None:
    assert live.client.get("/m/other/live").status_code == 404
    assert live.client.get("/live-static/../app.py").status_code == 404
    assert live.client.get("/live-static/live.js").status_code == 200


@pytest.mark.parametrize("name", ["../evil", "a/b", ".hidden", "x" * 60])
def test_a_calibrations_name_is_no_path(live: Live, name: str) -> None:
    status, text = live.post("camera", name=name)
    assert status == 400 and "no name" in text


def test_corners_that_are_no_corners_are_refused(live: Live) -> None:
    for corners in ("1,2 3,4", "a,b c,d e,f g,h", "nan,1 2,3 4,5 6,7"):
        assert live.post("camera", corners=corners)[0] == 400


# --- what is said and shown ---


@pytest.mark.parametrize("say", [*TAPS, *BALL_TAPS, "call:head_left", "starts:Boris"])
def test_every_button_makes_an_event(say: str) -> None:
    event = said_event({"say": say, "ball": "4"}, 12.3456, ("Anna", "Boris"))
    assert event.t == 12.346 and event.source.value == "official"


@pytest.mark.parametrize("say", ["", "override", "retract", "starts:Clara", "call:nowhere"])
def test_what_is_no_button_is_refused(say: str) -> None:
    with pytest.raises(InputError):
        said_event({"say": say, "ball": "4"}, 1.0, ("Anna", "Boris"))


def _ruling(**fields: object) -> Ruling:
    return Ruling(id=1, kind=RulingKind.STROKE, t_start=1.0, t_end=3.0, player="Anna", **fields)  # type: ignore[arg-type]


def test_a_hanging_balls_seconds_count_from_the_strokes_end() -> None:
    facts = LiveFacts()
    rest = Rest(t=3.0, balls=())
    facts.hear([Strike(t=1.0, ball="cue", x=0, y=0, vx=1, vy=0), rest])
    facts.hear([Hanging(t=3.0, ball="4", pocket=PocketName.FOOT_LEFT, x=1, y=1)])
    (hanging,) = facts.hanging_now(None, 5.5, 5.0)
    assert hanging.for_s == pytest.approx(2.5) and hanging.since_s == 3.0
    assert facts.hanging_now(None, 12.0, 5.0) == (), "long over"
    facts.hear([Strike(t=7.0, ball="cue", x=0, y=0, vx=1, vy=0)])
    assert facts.hanging_now(None, 7.1, 5.0) == ()


def test_what_has_to_be_put_back_and_how_far_it_is_to_go() -> None:
    facts = LiveFacts()
    facts.hear([Strike(t=1.0, ball="cue", x=0, y=0, vx=1, vy=0)])
    facts.ruled([_ruling(restored=(BallAt(ball="4", x=100, y=100), BallAt(ball="9", x=500, y=500)))])
    balls = [
        BallNow(key=1, label="4", x_mm=103, y_mm=104, moving=False, seen=True),
        BallNow(key=2, label=None, x_mm=800, y_mm=900, moving=False, seen=True),
        BallNow(key=3, label="2", x_mm=500, y_mm=501, moving=False, seen=True),
    ]
    four, nine = facts.put_back(balls)
    assert four.go_mm == pytest.approx(5.0) and four.now == (103, 104)
    # Another known ball that lies near is not it; the one without a name may be.
    assert nine.now == (800, 900) and nine.go_mm == pytest.approx(np.hypot(300, 400))
    assert facts.put_back([])[0].now is None
    facts.hear([Strike(t=9.0, ball="cue", x=0, y=0, vx=1, vy=0)])
    assert facts.put_back(balls) == ()
