"""A finished match in a few lines on the terminal."""

from __future__ import annotations

from pathlib import Path

import typer


def print_summary(folder: Path) -> None:
    """Warnings to stderr; what was seen and ruled, the score, and where the report is, to stdout."""
    from vision_referee.record.match_folder import REPORT, MatchFolder

    match = MatchFolder(folder)
    for warning in match.info.warnings:
        typer.echo(f"warning: {warning}", err=True)
    events = match.events()
    rulings = match.rulings()
    residual = (match.info.calibration or {}).get("residual_mm")
    strokes = sum(event.type == "strike" for event in events)
    pots = sum(event.type == "pocketed" for event in events)
    typer.echo(
        f"{folder}: {strokes} strikes, {pots} balls pocketed, {len(events)} events, {len(rulings)} rulings"
        + (f", {sum(r.review for r in rulings)} for review" if rulings else "")
        + (f"; calibration residual {residual:.1f} mm" if isinstance(residual, float | int) else "")
    )
    if match.info.score:
        typer.echo("score " + " : ".join(f"{name} {points}" for name, points in match.info.score.items()))
    typer.echo(f"report: {folder / REPORT}")
