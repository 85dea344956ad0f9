"""``vision-referee review``: the browser app over match folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("review")(review)


def review(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Match folders, or folders of match folders.")],
    host: Annotated[str, typer.Option(help="Address to listen on. Other than loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Database of the corrections (default: SQLite in your data folder)."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="VISION_REFEREE_TOKEN", help="The token visitors need (made up where one is needed)."),
    ] = None,
    lang: Annotated[str | None, typer.Option(help="Language, en or ru (default: the browser's).")] = None,
) -> None:
    """Look at what was ruled, play the clips, and have the last word."""
    from vision_referee.review.server.serve import serve
    from vision_referee.review.wording import LANGUAGES

    if lang is not None and lang not in LANGUAGES:
        raise typer.BadParameter(f"{lang!r} is not one of {', '.join(LANGUAGES)}", param_hint="--lang")

    serve(folders, host=host, port=port, open_browser=not no_browser, store_url=store, token=token, lang=lang)
