"""``vision-referee watch``: referee a match while it is played, with the browser app beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vision_referee.commands.choices import check_choices

if TYPE_CHECKING:
    from vision_referee.pipeline.live import LiveRequest, LiveSession


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def watch(
        camera: Annotated[
            str,
            typer.Argument(metavar="CAMERA", help="Device number, rtsp://… or http://… address, or a video file."),
        ],
        rules: Annotated[str, typer.Option(help="small-russian, russian, moscow, american, or none (events only).")],
        out: Annotated[Path, typer.Option(help="The match folder to make.")],
        players: Annotated[str | None, typer.Option(help='Names in order of play: "A,B".')] = None,
        calibration: Annotated[Path | None, typer.Option(help="Calibration file; else found from the picture.")] = None,
        officials: Annotated[Path | None, typer.Option(help="What the officials said, JSON lines.")] = None,
        table: Annotated[str | None, typer.Option(help="Table name or file; else recognised.")] = None,
        head: Annotated[str | None, typer.Option(help="Side of the picture at which the head is.")] = None,
        set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A rules setting.")] = None,
        settings: Annotated[Path | None, typer.Option(help="TOML file with a [rules] table.")] = None,
        lang: Annotated[str | None, typer.Option(help="Language, en or ru (pages: the browser's, else en).")] = None,
        host: Annotated[
            str, typer.Option(help="Address to listen on. Other than loopback needs a token.")
        ] = "127.0.0.1",
        port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
        no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
        token: Annotated[
            str | None,
            typer.Option(envvar="VISION_REFEREE_TOKEN", help="The token visitors need (made up where one is needed)."),
        ] = None,
        store: Annotated[
            str | None,
            typer.Option(metavar="URL", help="Database of the corrections (default: SQLite in your data folder)."),
        ] = None,
        for_s: Annotated[
            float | None, typer.Option("--for", metavar="SECONDS", min=0.1, help="Stop after so many seconds.")
        ] = None,
        speed: Annotated[float, typer.Option(min=0.01, max=100, help="How fast a file is played.")] = 1.0,
    ) -> None:
        """Referee a match live: every ruling within a second of the rest, in the terminal and in the browser."""
        from vision_referee.record.rule_settings import rules_in_force
        from vision_referee.rules.settings import names_of_players

        check_choices(rules=rules, lang=lang, head=head)
        chosen = rules_in_force(rules, set_ or [], settings)
        names = names_of_players(rules, [] if players is None else players.split(","), chosen)

        from vision_referee.pipeline.live import LiveRequest

        request = LiveRequest(
            camera=camera, rules=rules, out=out, players=names, settings=chosen, calibration=calibration,
            officials=officials, table=table, head=head, lang=lang or "en", speed=speed,
        )  # fmt: skip
        _watch(
            request, lang=lang, host=host, port=port, open_browser=not no_browser, token=token, store=store, for_s=for_s
        )


def _watch(
    request: LiveRequest, *, lang: str | None, host: str, port: int, open_browser: bool, token: str | None,
    store: str | None, for_s: float | None,
) -> None:  # fmt: skip
    from vision_referee.commands.match_summary import print_summary
    from vision_referee.pipeline.live import LiveSession
    from vision_referee.review.products import make_products
    from vision_referee.review.server.serve import listen
    from vision_referee.review.server.serve_live import LiveServer

    # A port that is taken is said before anything is written.
    listener = listen(host, port)
    session = LiveSession(request, tell=_say, on_ruling=lambda ruling: typer.echo(_line(ruling, lang or "en")))
    try:
        server = LiveServer(session, listener, host=host, token=token, lang=lang, store_url=store)
    except BaseException:
        session.abandon()
        raise
    session.start()
    try:
        server.start(open_browser=open_browser)
        _until_done(session, for_s)
    finally:
        session.stop()
        server.stop()
    if session.failure is not None:
        raise session.failure
    for warning in make_products(session.folder, lang=request.lang):
        typer.echo(f"warning: {warning}", err=True)
    print_summary(session.folder)


def _until_done(session: LiveSession, for_s: float | None) -> None:
    """Until the file has ended, the time is up or Ctrl+C; then until all is written."""
    import signal

    def interrupted(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupted)
    end = time.monotonic() + for_s if for_s is not None else float("inf")
    try:
        while not session.wait(0.2):
            if time.monotonic() >= end:
                break
    except KeyboardInterrupt:
        _say("stopping: writing what is known (Ctrl+C again: at once)")
    finally:
        signal.signal(signal.SIGTERM, previous)
    session.stop()
    session.wait()


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _line(ruling: object, lang: str) -> str:
    from vision_referee.domain.rulings import Ruling

    assert isinstance(ruling, Ruling)
    seconds = round(ruling.t_start)
    return f"{seconds // 60}:{seconds % 60:02d}  {ruling.id}. {ruling.text.get(lang, '')}"
