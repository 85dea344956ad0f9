"""``vision-referee analyze``: recorded video(s) to a match folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vision_referee.commands.choices import check_choices


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def analyze(
        sources: Annotated[list[Path], typer.Argument(metavar="SOURCE…", help="Video file(s) of one match, in order.")],
        rules: Annotated[str, typer.Option(help="small-russian, russian, moscow, american, or none (events only).")],
        out: Annotated[Path, typer.Option(help="The match folder to make.")],
        players: Annotated[str | None, typer.Option(help='Names in order of play: "A,B".')] = None,
        calibration: Annotated[Path | None, typer.Option(help="Calibration file; else found from the video.")] = None,
        officials: Annotated[Path | None, typer.Option(help="What the officials said, JSON lines.")] = None,
        table: Annotated[str | None, typer.Option(help="Table name or file; else recognised.")] = None,
        head: Annotated[str | None, typer.Option(help="Side of the picture at which the head is.")] = None,
        set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A rules setting.")] = None,
        settings: Annotated[Path | None, typer.Option(help="TOML file with a [rules] table.")] = None,
        lang: Annotated[str, typer.Option(help="Language of report and clips: en or ru.")] = "en",
        resume: Annotated[
            bool, typer.Option("--resume", help="Go on with an analysis of the same videos that was broken off.")
        ] = False,
        quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    ) -> None:
        """Watch recorded video(s) of a match: tracks, events, rulings, clips and a report."""
        from vision_referee.record.rule_settings import rules_in_force
        from vision_referee.rules.settings import names_of_players

        check_choices(rules=rules, lang=lang, head=head)
        chosen = rules_in_force(rules, set_ or [], settings)
        names = names_of_players(rules, [] if players is None else players.split(","), chosen)

        from vision_referee.commands.match_summary import print_summary
        from vision_referee.commands.progress_line import progress_line
        from vision_referee.pipeline.recorded import AnalysisRequest
        from vision_referee.review.whole_match import analyze_whole

        request = AnalysisRequest(
            sources=tuple(sources), rules=rules, out=out, players=names, settings=chosen, calibration=calibration,
            officials=officials, table=table, head=head,
        )  # fmt: skip

        def warn(warning: str) -> None:
            typer.echo(f"warning: {warning}", err=True)

        with progress_line(quiet=quiet) as listener:
            folder = analyze_whole(request, lang=lang, listener=listener, warn=warn, resume=resume)
        print_summary(folder)
