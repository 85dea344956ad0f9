"""Twenty people watch one match at once: each hears of every change, and leaving costs the app nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import handmade_match as handmade
import httpx
import pytest
import uvicorn

from vision_referee.domain.events import Override, Source
from vision_referee.review.server.app import create_app
from vision_referee.review.server.pages import Desk
from vision_referee.review.server.serve import AppServer, listen

VIEWERS = 20


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Desk]]:
    folder = handmade.copied_match(tmp_path / "final").folder
    app = create_app([folder], store_url=f"sqlite:///{tmp_path / 'review.sqlite'}", cache=tmp_path / "cache")
    listener = listen("127.0.0.1", 0)
    server = AppServer(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2), app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", app.state.desk
    server.should_exit = True
    thread.join(timeout=60)
    assert not thread.is_alive()


def _until(holds: object, timeout_s: float = 30.0) -> None:
    assert callable(holds)
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end, "never"
        time.sleep(0.02)


def test_twenty_viewers_hear_of_a_change_and_leave_nothing_behind(served: tuple[str, Desk]) -> None:
    url, desk = served
    match = desk.shelf.desks()[0]
    looks = 0
    plain = match.stamp

    def counted() -> str:
        nonlocal looks
        looks += 1
        return plain()

    match.stamp = counted  # type: ignore[method-assign]
    heard: list[list[tuple[float, str]]] = [[] for _ in range(VIEWERS)]

    def watch(own: list[tuple[float, str]]) -> None:
        with httpx.Client(timeout=60) as client, client.stream("GET", f"{url}/m/final/changes") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    own.append((time.monotonic(), line))
                    if len(own) == 2:
                        return

    threads = [threading.Thread(target=watch, args=(own,), daemon=True) for own in heard]
    for thread in threads:
        thread.start()
    _until(lambda: all(heard))
    assert desk.pulse.listeners == VIEWERS
    begun, looked = time.monotonic(), looks
    time.sleep(1.0)
    assert looks - looked <= 2 + (time.monotonic() - begun) / 0.36, "the match is looked at once for all, not once each"
    override = Override(t=11.0, source=Source.OFFICIAL, ruling=2, fields={"fouls": []})
    match.change(who="Kim", what="no_foul", ruling_id=2, events=[override])
    judged_at = time.monotonic()
    _until(lambda: all(len(own) == 2 for own in heard))
    assert {own[1][1] for own in heard} != {heard[0][0][1]}
    assert max(own[1][0] for own in heard) - judged_at < 10.0, "about half a second on an idle machine"
    for thread in threads:
        thread.join(timeout=10)
    _until(lambda: desk.pulse.listeners == 0)
