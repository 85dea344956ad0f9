"""``vision-referee evaluate-detector``: the detector's figures on rendered test scenes and on real labelled sets."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command("evaluate-detector")
    def evaluate_detector(
        rendered: int = typer.Option(100, "--rendered", min=0, help="How many rendered test scenes (3 windows each)."),
        real: Path | None = typer.Option(
            None, "--real", help="The folder of the real labelled sets; else it is looked for."
        ),
        every: int = typer.Option(4, "--every", min=1, help="Take every n-th picture of the largest real set."),
        numbers: int = typer.Option(
            40, "--numbers", min=0, help="How many rendered sets of balls to read, 64 views each."
        ),
        matches: int = typer.Option(
            10, "--matches", min=0, help="How many pieces of simulated play to read numbers through."
        ),
        models: Path | None = typer.Option(
            None, "--models", help="The folder of the model's files; else the shipped ones."
        ),
        threshold: float = typer.Option(0.3, "--threshold", help="Confidence at which precision and recall are given."),
        json_file: Path | None = typer.Option(None, "--json", help="Write every figure here."),
    ) -> None:
        """Score the ball detector: AP50, precision, recall, centre error in px and mm, by ball size; numbers."""
        from vision_referee.detection.backends import open_backend
        from vision_referee.detection.numbers import open_reader
        from vision_referee.domain.errors import InputError
        from vision_referee.training.labelled_sets import real_folder
        from vision_referee.training.score_detector import score_real, score_rendered
        from vision_referee.training.score_numbers import score_numbers

        if real is not None and not (real / "images").is_dir():
            raise InputError(f"{real}: no folder 'images' in it; give the folder of the real labelled sets")
        backend = open_backend(models)
        tallies = []
        if rendered:
            tallies += score_rendered(backend, rendered, lambda line: typer.echo(line, err=True))
        folder = real or real_folder()
        if folder is not None:
            tallies += score_real(backend, folder, club_every=every)
        figures: dict[str, object] = {"threshold": threshold}
        figures["sets"] = [
            {**tally.figures(threshold), "reliability": tally.reliability()} for tally in tallies
        ]  # fmt: skip
        if (numbers or matches) and open_reader(models) is None:
            typer.echo("no number reader among the models: numbers are not scored", err=True)
        elif numbers or matches:
            figures["numbers"] = score_numbers(models, numbers, matches)
        for tally in tallies:
            _print(tally.figures(threshold))
        if "numbers" in figures:
            typer.echo(json.dumps(figures["numbers"], indent=1))
        if json_file is not None:
            try:
                json_file.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
            except OSError as error:
                raise InputError(f"{json_file}: cannot be written ({error.strerror or error})") from error


def _print(figures: dict[str, object]) -> None:
    sizes = figures.pop("by_size")
    typer.echo(f"{figures.pop('set')}: " + ", ".join(f"{key} {value}" for key, value in figures.items()))
    assert isinstance(sizes, dict)
    for size, row in sizes.items():
        typer.echo(f"    {size}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
