"""The browser app beside a match that is being played: the same app, in a thread of its own."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser

import uvicorn

from vision_referee.review.server.app import create_app
from vision_referee.review.server.live import router
from vision_referee.review.server.live_hints import LiveHints
from vision_referee.review.server.live_match import WatchedMatch
from vision_referee.review.server.live_news import LiveNews
from vision_referee.review.server.live_picture import LivePicture
from vision_referee.review.server.security import Access
from vision_referee.review.server.serve import AppServer, address_of
from vision_referee.review.wording import wording


class LiveServer:
    """``start`` and ``stop`` it; the pages are below ``address``."""

    def __init__(
        self,
        live: WatchedMatch,
        listener: socket.socket,
        *,
        host: str,
        token: str | None = None,
        lang: str | None = None,
        store_url: str | None = None,
    ) -> None:
        """Raises InputError when the store cannot be opened."""
        if lang is not None:
            wording(lang)
        access = Access.for_host(host, token)
        self._listener = listener
        self._app = create_app([live.folder], access=access, store_url=store_url, lang=lang)
        self._app.include_router(router)
        self._news = LiveNews(self._app.state.desk.pulse)
        self._app.state.live_news = self._news
        self._app.state.live_picture = LivePicture()
        self._app.state.live_hints = LiveHints()
        self.match = self._app.state.desk.shelf.connect(live.folder, live)
        base = address_of(host, listener.getsockname()[1], access)
        root, _, token_part = base.partition("?")
        self.address = f"{root}m/{self.match.key}/live" + (f"?{token_part}" if token_part else "")
        config = uvicorn.Config(
            self._app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        self._server = AppServer(config, self._app)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="browser app", daemon=True
        )

    def start(self, *, open_browser: bool) -> None:
        self._thread.start()
        print(f"vision_referee: {self.address}  (stop with Ctrl+C)", file=sys.stderr, flush=True)
        if open_browser:
            threading.Timer(0.8, webbrowser.open, [self.address]).start()

    def stop(self) -> None:
        """Tell the pages to let go and wait until the app has stopped."""
        self._news.closed = True
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(timeout=20)
        self._listener.close()
