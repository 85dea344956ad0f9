"""``vision-referee archive``: many matches into one archive, in parallel, with tables over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vision_referee.commands.choices import check_choices


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def archive(
        out: Annotated[Path, typer.Option(help="The archive: match folders, tables, failures.")],
        inputs: Annotated[
            list[str] | None,
            typer.Argument(metavar="INPUTS…", help="Videos, folders, patterns, @LIST. None: only renew the tables."),
        ] = None,
        rules: Annotated[
            str, typer.Option(help="small-russian, russian, moscow, american, or none (events only).")
        ] = "none",
        lists: Annotated[
            list[Path] | None, typer.Option("--list", help="A list: paths, or a table with a column 'source'.")
        ] = None,
        players: Annotated[str | None, typer.Option(help='Names in order of play, of every match: "A,B".')] = None,
        calibration: Annotated[Path | None, typer.Option(help="One calibration for all; else found each time.")] = None,
        table: Annotated[str | None, typer.Option(help="Table name or file; else recognised.")] = None,
        head: Annotated[str | None, typer.Option(help="Side of the picture at which the head is.")] = None,
        set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A rules setting.")] = None,
        settings: Annotated[Path | None, typer.Option(help="TOML file with a [rules] table.")] = None,
        lang: Annotated[str, typer.Option(help="Language of reports and clips: en or ru.")] = "en",
        jobs: Annotated[
            int | None, typer.Option(min=1, help="Matches at once on this machine (default: half the cores).")
        ] = None,
        ray: Annotated[
            str | None, typer.Option(metavar="ADDRESS", help="Work on this Ray cluster (extra 'cluster').")
        ] = None,
        retries: Annotated[int, typer.Option(min=0, help="How often a match whose worker died is tried again.")] = 2,
        again: Annotated[bool, typer.Option("--again", help="Do matches anew that are done already.")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", help="Tell failures only.")] = False,
    ) -> None:
        """Analyse an archive of matches; what is done stays done, and no video stops the others."""
        from vision_referee.archive.inputs import Wishes, jobs_of
        from vision_referee.archive.ray_runner import RayRunner
        from vision_referee.archive.run import FAILURES, TABLES, Archive
        from vision_referee.archive.runners import LocalRunner, Runner

        check_choices(rules=rules, lang=lang, head=head)
        wishes = Wishes(
            rules=rules, players=players or "", changes=tuple(set_ or ()), settings_file=settings, table=table,
            head=head, calibration=calibration, lang=lang,
        )  # fmt: skip

        def tell(line: str) -> None:
            if not quiet:
                typer.echo(line, err=True)

        archive = Archive(out)
        wanted = jobs_of(inputs or (), lists or (), wishes, archive.matches)
        runner: Runner = RayRunner(ray) if ray is not None else LocalRunner(jobs)
        try:
            tally = archive.run(wanted, runner, retries=retries, again=again, tell=tell)
        except KeyboardInterrupt:
            tell("interrupted; the same command goes on where this one stopped")
            raise
        finally:
            archive.refresh_tables(tell)
        typer.echo(f"{out}: {tally.done} matches done, {tally.kept} kept, {len(tally.failed)} failed")
        typer.echo(f"tables: {archive.out / TABLES}")
        for record in tally.failed:
            typer.echo(f"failed: {record.source}: {record.problem}", err=True)
        if tally.failed:
            typer.echo(f"the failures are in {archive.out / FAILURES}; the same command tries them again", err=True)
            raise typer.Exit(1)
