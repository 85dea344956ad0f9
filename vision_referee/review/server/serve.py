"""Running the app: its socket, its address in words, the browser."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from vision_referee.domain.errors import InputError
from vision_referee.review.server.app import create_app
from vision_referee.review.server.security import Access
from vision_referee.review.wording import wording


def serve(
    folders: Sequence[Path],
    *,
    host: str,
    port: int,
    open_browser: bool,
    store_url: str | None = None,
    token: str | None = None,
    lang: str | None = None,
) -> None:
    """Serve until interrupted.

    Raises:
        InputError: a folder is no match folder, the store cannot be opened, or the address cannot be listened on.
    """
    if lang is not None:
        wording(lang)
    access = Access.for_host(host, token)
    app = create_app(folders, access=access, store_url=store_url, lang=lang)
    listener = listen(host, port)
    address = address_of(host, listener.getsockname()[1], access)
    print(f"vision_referee: {address}  (stop with Ctrl+C)", file=sys.stderr, flush=True)
    if open_browser:
        threading.Timer(0.8, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        # Pages hold a line open for news: at the end it is cut rather than waited for.
        timeout_graceful_shutdown=2,
    )
    AppServer(config, app).run(sockets=[listener])


class AppServer(uvicorn.Server):
    """Stops quietly: pages that hold a line open are told to let go first."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.desk.pulse.close()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, so that a port that is taken is one clear line."""
    try:
        family, kind, proto, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{host}:{port}: cannot be listened on ({reason}); give another --port or --host") from error
    return listener


def address_of(host: str, port: int, access: Access) -> str:
    shown = _own_address() if host in ("0.0.0.0", "::") else host
    name = f"[{shown}]" if ":" in shown else shown
    return f"http://{name}:{port}/" + (f"?token={access.token}" if access.token else "")


def _own_address() -> str:
    """The address by which others on the network reach us; a tablet seldom knows the computer by its name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only says which of its addresses it would send from.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
