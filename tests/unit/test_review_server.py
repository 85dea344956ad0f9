"""The app without a browser: who gets in, what is refused, what a correction does to files and log."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import handmade_match as handmade
import pytest
from fastapi.testclient import TestClient

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Call, FeetOffFloor, Override, Retract, Source
from vision_referee.record.being_watched import WatchMark
from vision_referee.record.match_folder import RULINGS, MatchFolder, MatchFolderWriter
from vision_referee.record.rulings_jsonl import write_rulings
from vision_referee.review.server.app import create_app
from vision_referee.review.server.desk import MatchDesk
from vision_referee.review.server.rejudge import rejudge
from vision_referee.review.server.requests import OFFICIAL_FIELDS, requested_events
from vision_referee.review.server.security import Access, is_loopback
from vision_referee.review.server.serve import address_of, listen
from vision_referee.review.server.shelf import Shelf
from vision_referee.review.server.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = handmade.copied_match(tmp_path / "matches" / "final")
    match = MatchFolder(copy.folder)
    write_rulings(copy.folder / RULINGS, rejudge(match.info, match.events(), []))
    return copy.folder


POSTGRES = os.environ.get("VISION_REFEREE_TEST_POSTGRES", "")
"""An empty PostgreSQL database's URL, such as postgresql+psycopg://referee@/review?host=/tmp&port=5544."""


@pytest.fixture(params=["sqlite", "postgresql"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "postgresql" and not POSTGRES:
        pytest.skip("needs VISION_REFEREE_TEST_POSTGRES, an empty database's URL")
    opened = Store(POSTGRES if request.param == "postgresql" else f"sqlite:///{tmp_path / 'deep' / 'review.sqlite'}")
    yield opened
    opened.close()


@pytest.fixture
def desk(folder: Path, store: Store) -> MatchDesk:
    return Shelf([folder], store).desks()[0]


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    app = create_app([folder], store_url=f"sqlite:///{tmp_path / 'app.sqlite'}", cache=tmp_path / "cache", lang="en")
    with TestClient(app, base_url="http://127.0.0.1:8000") as opened:
        yield opened


def _csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found
    return found[1]


# --- who gets in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.4", False),
        ("::", False),
        ("table.club", False),
    ],
)
def test_which_addresses_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    assert (Access.for_host(host).token is None) is loopback


def test_another_address_needs_the_token(folder: Path, tmp_path: Path) -> None:
    access = Access.for_host("0.0.0.0", "a-token-nobody-guesses")
    app = create_app([folder], access=access, store_url=f"sqlite:///{tmp_path / 'a.sqlite'}")
    with TestClient(app, base_url="http://table.club:8000", follow_redirects=False) as client:
        for path in ("/", "/m/final", "/m/final/clip/2.mp4", "/m/final/changes", "/static/app.css"):
            assert client.get(path).status_code == 401
            assert client.get(path, params={"token": "wrong"}).status_code == 401
        admitted = client.get("/m/final", params={"token": "a-token-nobody-guesses"})
        assert (admitted.status_code, admitted.headers["location"]) == (303, "/m/final")
        assert "HttpOnly" in admitted.headers["set-cookie"]
        assert client.get("/m/final").status_code == 200
    assert address_of("0.0.0.0", 8000, access).endswith(":8000/?token=a-token-nobody-guesses")
    assert "0.0.0.0" not in address_of("0.0.0.0", 8000, access), "an address that a tablet can open"


def test_on_loopback_no_other_name_leads_here(client: TestClient) -> None:
    evil = ("evil.example:8000", "127.0.0.1.evil.example", "127.0.0.1:8000@evil.example", "127.0.0.1, evil.example", "")
    for host in (*evil, "0.0.0.0:8000", "[::1].evil.example"):
        assert client.get("/", headers={"host": host}).status_code == 400, host
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LocalHost:8000"):
        assert client.get("/", headers={"host": host}).status_code == 200


def test_posts_of_other_sites_change_nothing(client: TestClient, folder: Path) -> None:
    before = (folder / "rulings.jsonl").read_bytes()
    csrf = _csrf(client.get("/m/final/r/2").text)
    form = {"action": "no_foul", "csrf": csrf}
    refused = [
        client.post("/m/final/r/2", data=form, headers={"origin": "http://evil.example"}),
        client.post("/m/final/r/2", data=form, headers={"sec-fetch-site": "cross-site"}),
        client.post("/m/final/r/2", data=form, headers={"origin": "null"}),
        client.post("/m/final/r/2", data={"action": "no_foul"}),
        client.post("/m/final/r/2", data=form | {"csrf": "x" * 32}),
        client.post("/m/final/undo", data={"change": "1"}),
        client.post("/preferences", data={"lang": "ru"}),
        client.post("/m/final/r/2", json=form),
        client.post("/m/final/r/2", files={"action": b"no_foul"}),
    ]
    assert [r.status_code for r in refused] == [403] * 7 + [415] * 2
    assert (folder / "rulings.jsonl").read_bytes() == before
    assert client.post("/m/final/r/2", data=form, follow_redirects=False).status_code == 303
    assert (folder / "rulings.jsonl").read_bytes() != before


def test_a_form_that_is_too_large_is_refused(client: TestClient) -> None:
    csrf = _csrf(client.get("/m/final/r/2").text)
    assert client.post("/m/final/r/2", data={"csrf": csrf, "how": "x" * 100_000}).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/m/..%2F..%2Fetc/r/1",
        "/m/final/clip/..%2F..%2Fmatch.json",
        "/m/final/restore/../match.json",
        "/m/nobody",
        "/static/..%2Fserve.py",
        "/static/app.py",
        "/m/final/export/match.json",
        "/m/final/export/..%2Fmatch.json",
        "/m/final/clip/-1.mp4",
        "/m/final/clip/99.mp4",
        "/m/final/r/2%00",
        "/docs",
        "/openapi.json",
    ],
)
def test_no_path_leaves_the_match_folders(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "camera" not in answer.text and "import" not in answer.text


def test_pages_forbid_foreign_scripts_and_frames(client: TestClient) -> None:
    policy = client.get("/m/final").headers["content-security-policy"]
    assert "script-src 'self';" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy


@pytest.mark.parametrize(("change", "back"), [("9" * 40, "2"), ("²", "²"), ("-1", "../../etc"), ("1; drop table", "")])
def test_an_undo_of_nothing_undoes_nothing(client: TestClient, folder: Path, change: str, back: str) -> None:
    csrf = _csrf(client.get("/m/final/r/2").text)
    before = (folder / "rulings.jsonl").read_bytes()
    form = {"csrf": csrf, "change": change, "back": back}
    answer = client.post("/m/final/undo", data=form, follow_redirects=False)
    assert answer.status_code == 303
    assert re.fullmatch(r"/m/final(/r/2)?\?said=already_undone", answer.headers["location"])
    assert (folder / "rulings.jsonl").read_bytes() == before


def test_a_redirect_never_leaves_the_app(client: TestClient) -> None:
    csrf = _csrf(client.get("/").text)
    for back in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
        answer = client.post("/preferences", data={"csrf": csrf, "back": back}, follow_redirects=False)
        assert answer.headers["location"] == "/"


def test_a_port_that_is_taken_is_one_clear_line() -> None:
    taken = listen("127.0.0.1", 0)
    with pytest.raises(InputError, match="cannot be listened on"):
        listen("127.0.0.1", taken.getsockname()[1])
    taken.close()


# --- corrections ------------------------------------------------------------------------------------------------------


def _override(ruling: int, **fields: object) -> Override:
    return Override(t=11.0, source=Source.OFFICIAL, ruling=ruling, fields=dict(fields))


def test_a_correction_judges_the_rest_anew_and_is_logged(desk: MatchDesk) -> None:
    assert desk.record().rulings[-1].score == {"Anna": 7, "Boris": 0}
    change = desk.change(who="Kim", what="no_foul", ruling_id=2, events=[_override(2, fouls=[])])
    record = desk.record()
    assert record.ruling(2).fouls == ()  # type: ignore[union-attr]
    assert record.rulings[-1].score == {"Anna": 12, "Boris": -5}
    assert record.info.score == {"Anna": 12, "Boris": -5}
    assert [e.type for e in record.events].count("override") == 1
    (logged,) = desk.changes()
    assert (logged.who, logged.what, logged.ruling_id, logged.in_force) == ("Kim", "no_foul", 2, True)
    assert logged.made_at.tzinfo is not None
    desk.undo(who="Lee", change_id=change.id)
    assert desk.record().rulings[-1].score == {"Anna": 7, "Boris": 0}
    assert [e.type for e in desk.record().events].count("override") == 0
    (logged,) = desk.changes()
    assert (logged.undone_by, logged.in_force) == ("Lee", False)
    assert desk.undo(who="Lee", change_id=change.id) is None


def test_undoing_an_earlier_change_keeps_the_later_ones(desk: MatchDesk) -> None:
    first = desk.change(who="Kim", what="no_foul", ruling_id=2, events=[_override(2, fouls=[])])
    desk.change(who="Kim", what="no_foul", ruling_id=4, events=[_override(4, fouls=[])])
    assert desk.record().rulings[-1].score == {"Anna": 7, "Boris": 0}
    desk.undo(who="Kim", change_id=first.id)
    assert desk.record().rulings[-1].score == {"Anna": 2, "Boris": 5}
    assert desk.record().ruling(4).fouls == ()  # type: ignore[union-attr]


def test_a_correction_that_makes_no_sense_changes_nothing(desk: MatchDesk, folder: Path) -> None:
    files = {name: (folder / name).read_bytes() for name in ("events.jsonl", "rulings.jsonl", "match.json")}
    with pytest.raises(InputError):
        desk.change(who="Kim", what="foul", ruling_id=2, events=[_override(2, fouls=["nonsense"])])
    assert desk.changes() == []
    assert files == {name: (folder / name).read_bytes() for name in files}


def test_corrections_outlive_the_program(folder: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'log.sqlite'}"
    first = Shelf([folder], Store(url)).desks()[0]
    change = first.change(who="Kim", what="no_foul", ruling_id=2, events=[_override(2, fouls=[])])
    again = Shelf([folder.parent], Store(url)).desks()[0]
    assert [c.id for c in again.changes()] == [change.id]
    again.undo(who="Kim", change_id=change.id)
    assert again.record().rulings[-1].score == {"Anna": 7, "Boris": 0}


def test_many_at_once_lose_nothing(desk: MatchDesk) -> None:
    def enter(k: int) -> None:
        desk.change(who=f"official {k}", what="official", ruling_id=1, events=[Call(t=1.5, ball="7", how=str(k))])

    threads = [threading.Thread(target=enter, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = desk.record().events
    assert sum(isinstance(e, Call) and e.how is not None for e in events) == 8
    assert len({e.id for e in events}) == len(events)


def test_a_match_that_another_program_plays_is_not_written_to(folder: Path, store: Store, tmp_path: Path) -> None:
    writer = MatchFolderWriter(tmp_path / "live", live=True)
    info = MatchFolder(folder).info
    writer.write_info(replace(info, status="running", id="live"))
    mark = WatchMark(tmp_path / "live")
    desk = Shelf([tmp_path / "live"], store).desks()[0]
    assert desk.playing and not desk.cut_short
    with pytest.raises(InputError, match="being played"):
        desk.change(who="Kim", what="official", ruling_id=None, events=[FeetOffFloor(t=1.0)])
    mark.release()
    assert desk.cut_short and not desk.playing
    said: list[object] = []

    class Live:
        def reserve_ids(self, count: int) -> int:
            return 1

        def submit(self, events: object) -> None:
            said.append(events)

        def withdraw(self, event_ids: object) -> None:
            said.append(event_ids)

    desk.live = Live()  # type: ignore[assignment]
    change = desk.change(who="Kim", what="official", ruling_id=None, events=[FeetOffFloor(t=1.0)])
    desk.undo(who="Kim", change_id=change.id)
    assert len(said) == 2 and said[1] == [1]
    writer.discard()


def test_a_match_whose_program_was_killed_can_be_corrected(folder: Path, store: Store) -> None:
    """The power failed in the midst of it: nobody watches it any more, though match.json says that it is running."""
    data = json.loads((folder / "match.json").read_text(encoding="utf-8"))
    (folder / "match.json").write_text(json.dumps(data | {"status": "running"}), encoding="utf-8")
    (folder / ".watched").touch()
    desk = Shelf([folder], store).desks()[0]
    assert desk.cut_short
    desk.change(who="Kim", what="no_foul", ruling_id=2, events=[_override(2, fouls=[])])
    assert desk.record().ruling(2).fouls == ()  # type: ignore[union-attr]


# --- what a form asks for ---------------------------------------------------------------------------------------------


def _asked(action: str, **form: str) -> list[object]:
    events = MatchFolder(handmade.shared_match().folder).events()
    return list(requested_events(action, form, handmade.rulings()[1], events))


def test_forms_become_official_events() -> None:
    (confirm,) = _asked("confirm")
    assert isinstance(confirm, Override) and confirm.fields == {"review": False} and confirm.ruling == 2
    (foul,) = _asked("foul", code="push", ball="11")
    assert isinstance(foul, Override)
    assert foul.fields["fouls"] == [{"code": "push", "rule": "G-20.8", "t": 10.5, "balls": ["11"]}]
    retract, pot = _asked("pot", ref="13", ball="11", pocket="head_left")
    assert isinstance(retract, Retract) and retract.ref == 13
    assert (pot.t, pot.ball, pot.pocket) == (9.8, "11", "head_left")  # type: ignore[attr-defined]
    (call,) = _asked("official", type="call", ball="11", pocket="foot_left")
    assert call.t < 8.0, "a call is made before the stroke"  # type: ignore[attr-defined]
    (feet,) = _asked("official", type="feet_off_floor", t="9,25")
    assert feet.t == 9.25  # type: ignore[attr-defined]
    assert all(e.source is Source.OFFICIAL for e in (confirm, foul, retract, pot, call, feet))  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", sorted(OFFICIAL_FIELDS))
def test_everything_an_official_may_enter_can_be_entered(kind: str) -> None:
    values = {"ball": "11", "pocket": "foot_left", "by": "hand", "interference_by": "opponent", "kind": "push"}
    values |= {"number": "3", "points": "10", "player": "Anna", "what": "slow_play", "on": "1"}
    (event,) = _asked("official", type=kind, **values)
    assert event.type == kind and 7.9 < event.t < 10.6  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("action", "form"),
    [
        ("nonsense", {}),
        ("pot", {"ref": "12", "ball": "3", "pocket": "foot_left"}),
        ("pot", {"ref": "999"}),
        ("official", {"type": "strike"}),
        ("official", {"type": "remove"}),
        ("official", {"type": "call", "t": "soon"}),
        ("official", {"type": "remove", "ball": "99"}),
        ("foul", {"code": "nonsense"}),
        ("foul", {}),
        ("retract", {}),
        ("official", {"type": "feet_off_floor", "t": "nan"}),
        ("official", {"type": "feet_off_floor", "t": "-1"}),
        ("official", {"type": "feet_off_floor", "t": "1e999"}),
        ("official", {"type": "handicap", "player": "Anna", "points": "9" * 40}),
        ("official", {"type": "call", "ball": "\0", "pocket": "foot_left"}),
        ("retract", {"ref": "9" * 40}),
        ("retract", {"ref": "²"}),
    ],
)
def test_forms_that_make_no_sense_are_refused(client: TestClient, action: str, form: dict[str, str]) -> None:
    csrf = _csrf(client.get("/m/final/r/2").text)
    answer = client.post("/m/final/r/2", data={"csrf": csrf, "action": action, **form})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "Nothing has been changed" in answer.text


# --- what is fetched --------------------------------------------------------------------------------------------------


def test_clips_are_served_in_ranges_and_made_when_missing(client: TestClient, folder: Path) -> None:
    whole = client.get("/m/final/clip/1.mp4")
    assert whole.status_code == 200 and whole.headers["content-type"] == "video/mp4"
    part = client.get("/m/final/clip/1.mp4", headers={"range": "bytes=0-99"})
    assert part.status_code == 206 and part.content == whole.content[:100]
    assert not (folder / "clips" / "0001.mp4").exists(), "the folder holds only the clips that the contract names"


def test_the_motion_of_a_stroke_for_the_script(client: TestClient) -> None:
    motion = client.get("/m/final/r/2/motion.json").json()
    cue = motion["balls"]["cue"]
    at = cue["t"].index(9.0)
    assert (cue["x"][at], cue["y"][at]) == pytest.approx(handmade.place("cue", 9.0), abs=0.1)
    assert len(motion["balls"]["u1"]["t"]) == 2, "a ball that lies still is two moments"
    assert motion["frames"][1] - motion["frames"][0] == pytest.approx(0.04)


def test_exports_can_be_read_back(client: TestClient) -> None:
    rows = client.get("/m/final/export/rulings.csv").text.splitlines()
    assert rows[0].startswith("id,kind,t_start") and len(rows) == 5
    assert json.loads(client.get("/m/final/export/statistics.json").text)["players"][0]["player"] == "Anna"
    assert client.get("/m/final/export/log.csv").text.startswith("id,made_at,who")
    events = client.get("/m/final/export/events.jsonl").text.splitlines()
    assert [json.loads(e)["type"] for e in events][:2] == ["rest", "starts"]


def test_a_corrected_match_is_renewed_in_its_folder(folder: Path, tmp_path: Path) -> None:
    from vision_referee.review.products import make_products

    make_products(folder, lang="en")
    old = (folder / "clips" / "0004.mp4").stat().st_mtime_ns
    app = create_app([folder], store_url=f"sqlite:///{tmp_path / 'app.sqlite'}", cache=tmp_path / "cache", lang="en")
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        csrf = _csrf(client.get("/m/final/r/2").text)
        client.post("/m/final/r/2", data={"csrf": csrf, "action": "no_foul"})
    assert not (folder / "clips" / "0002.mp4").exists(), "no foul, no clip"
    assert (folder / "clips" / "0004.mp4").stat().st_mtime_ns == old, "what is unchanged is not made again"
    assert "cue ball pocketed</span>" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("folders", ["missing", "empty"])
def test_folders_without_a_match_are_refused_in_one_line(tmp_path: Path, folders: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no such folder|holds no match") as caught:
        create_app([tmp_path / folders], store_url="sqlite://")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["nonsense", "foo://x", "sqlite:////proc/nowhere/review.sqlite"])
def test_a_store_that_cannot_be_opened_is_one_line(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Store(url)
    assert "\n" not in str(caught.value)


def test_a_password_in_the_stores_address_is_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        Store("postgresql+nodriver://referee:secret@db/x")
    assert "secret" not in str(caught.value)
