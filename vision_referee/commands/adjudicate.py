"""``vision-referee adjudicate EVENTS.jsonl --rules RULES``: rules only, no video."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def adjudicate(
        events: Path = typer.Argument(..., metavar="EVENTS.jsonl", help="The events, one a line."),
        rules: str = typer.Option(..., "--rules", metavar="RULES", help="A rule set; see the command rules."),
        players: str = typer.Option("", "--players", metavar="A,B", help="The players in order of play."),
        table: str = typer.Option("", "--table", metavar="NAME", help="A table or a TOML file; else pyramid-12ft."),
        changes: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="One setting; may be given again."),
        settings: Path | None = typer.Option(
            None, "--settings", metavar="FILE.toml", help="Settings: a [rules] table."
        ),
        officials: Path | None = typer.Option(
            None, "--officials", metavar="FILE", help="Official lines to merge by time."
        ),
        out: Path | None = typer.Option(
            None, "--out", "-o", metavar="RULINGS.jsonl", help="Where to write; else stdout."
        ),
    ) -> None:
        """Judge a file of events: one ruling a line."""
        from vision_referee.calibration.tables import DEFAULT_TABLE, load_table
        from vision_referee.domain.errors import InputError
        from vision_referee.record.adjudication import adjudicate_events, load_events
        from vision_referee.record.atomic_write import replace_text
        from vision_referee.record.rule_settings import rules_in_force
        from vision_referee.record.rulings_jsonl import ruling_line
        from vision_referee.rules.settings import RULE_SETS

        if rules not in RULE_SETS:
            fail_call(f"--rules {rules}: no such rule set; choose one of {', '.join(RULE_SETS)}")
        in_force = rules_in_force(rules, changes, settings)
        judged = adjudicate_events(
            load_events(events, officials),
            rules=rules,
            settings=in_force,
            table=load_table(table or DEFAULT_TABLE),
            players=players.split(",") if players.strip() else [],
            path=events,
        )
        text = "".join(ruling_line(ruling) + "\n" for ruling in judged)
        if out is None:
            typer.echo(text, nl=False)
            return
        try:
            replace_text(out, text)
        except OSError as error:
            raise InputError(f"{out}: cannot be written ({error.strerror or error})") from None

    def fail_call(message: str) -> None:
        typer.echo(f"vision-referee: {message}", err=True)
        raise typer.Exit(2)
