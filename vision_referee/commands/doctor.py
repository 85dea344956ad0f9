"""``vision-referee doctor``: what is missing on this machine, and what speed to expect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def doctor(
        out: Annotated[Path, typer.Option(help="Where matches will be written.")] = Path(),
        no_speed: Annotated[bool, typer.Option("--no-speed", help="Do not measure the speed (takes seconds).")] = False,
    ) -> None:
        """Look the machine over: one line a check; status 1 if recorded matches cannot be refereed here."""
        from vision_referee.doctor.examination import examine
        from vision_referee.doctor.finding import Level

        findings = []
        for finding in examine(out, measure=not no_speed):
            findings.append(finding)
            typer.echo(f"{finding.level.value:<5}{finding.name}: {finding.text}")
        failed = sum(finding.level is Level.FAIL for finding in findings)
        if failed:
            typer.echo(f"{failed} of these must be put right before a match can be refereed", err=True)
            raise typer.Exit(1)
