"""``vision-referee detect IMAGE…``: the balls in still pictures, one JSON line a picture."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def detect(
        images: list[Path] = typer.Argument(..., metavar="IMAGE…", help="Pictures of a table (PNG, JPEG, …)."),
        calibration: Path | None = typer.Option(
            None,
            "--calibration",
            metavar="FILE",
            help="A calibration made by 'calibrate'; else the table is looked for.",
        ),
        table: str | None = typer.Option(None, "--table", metavar="NAME", help="The table's name, or a TOML file."),
        out: Path | None = typer.Option(
            None, "--out", metavar="FILE.jsonl", help="Write here and not to the terminal."
        ),
    ) -> None:
        """Find the balls in still pictures: in pixels, and in millimetres where the table is found."""
        from vision_referee.calibration.calibration import Calibration, load_calibration
        from vision_referee.calibration.tables import load_table
        from vision_referee.detection.backends import open_backend
        from vision_referee.detection.still import position, read_picture
        from vision_referee.domain.errors import CalibrationError, InputError

        spec = load_table(table) if table else None
        given = load_calibration(calibration) if calibration else None
        backend = open_backend()
        lines = []
        for path in images:
            pixels = read_picture(path)
            found: Calibration | None = given
            if found is None:
                from vision_referee.calibration.find import calibrate_image

                try:
                    found = calibrate_image(pixels, table=spec)
                except CalibrationError as error:
                    typer.echo(f"{path}: in pixels only: {error}", err=True)
            try:
                row = {"image": str(path), **position(pixels, found, backend)}
            except InputError as error:
                raise InputError(f"{path}: {error}") from error
            if out is None:
                typer.echo(json.dumps(row))
            lines.append(json.dumps(row))
        if out is not None:
            try:
                out.write_text("\n".join(lines) + "\n", encoding="utf-8")
            except OSError as error:
                raise InputError(f"{out}: cannot be written ({error.strerror or error})") from error
