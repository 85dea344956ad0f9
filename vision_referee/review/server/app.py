"""The browser app put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from vision_referee.domain.errors import InputError
from vision_referee.review.server import files, pages
from vision_referee.review.server.clip_shop import ClipShop
from vision_referee.review.server.pages import Desk, desk_of, page
from vision_referee.review.server.pulse import Pulse
from vision_referee.review.server.renewal import Renewal
from vision_referee.review.server.security import Access, Guard
from vision_referee.review.server.shelf import Shelf
from vision_referee.review.server.store import Store, default_url
from vision_referee.review.server.visitor import visitor


def create_app(
    folders: Iterable[Path],
    *,
    access: Access | None = None,
    store_url: str | None = None,
    lang: str | None = None,
    cache: Path | None = None,
) -> FastAPI:
    """The app over match folders. ``app.state.desk.shelf`` is where a match that is being played is connected.

    Raises:
        InputError: a folder is no match folder, or the store cannot be opened.
    """
    store = Store(store_url or default_url())
    renewal = Renewal()
    shelf = Shelf(folders, store, on_change=renewal.changed)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        renewal.close()
        store.close()

    app = FastAPI(title="vision_referee", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.desk = Desk(shelf=shelf, clips=ClipShop(cache), pulse=Pulse(), lang=lang)
    app.add_middleware(Guard, access=access or Access.for_host("127.0.0.1"))
    app.include_router(files.router)
    app.include_router(pages.router)
    app.add_exception_handler(StarletteHTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(InputError, _input_problem)
    return app


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException | HTTPException)
    words = visitor(request, desk_of(request).lang).words
    text = words("app.not_found") if error.status_code == 404 else str(error.detail)
    return page(request, "problem.html.j2", status=error.status_code, problem=text, match=None)


async def _not_understood(request: Request, error: Exception) -> Response:
    return await _http_problem(request, HTTPException(404))


async def _input_problem(request: Request, error: Exception) -> Response:
    return page(request, "problem.html.j2", status=500, problem=str(error), match=None)
