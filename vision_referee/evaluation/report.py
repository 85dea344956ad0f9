"""The scores as tables: drawn on a terminal, plain columns in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from vision_referee.evaluation.columns import CLIP_COLUMNS, EVENT_COLUMNS, Cell, clip_cells, event_cells
from vision_referee.evaluation.facts import SCORED_TYPES
from vision_referee.evaluation.match_score import MatchScore
from vision_referee.evaluation.positions import spread

_ERRORS_SHOWN = 15


def print_scores(scores: Sequence[MatchScore], total: MatchScore, console: Console | None = None) -> None:
    """Print each clip's line (where there are several) and the tables of the whole."""
    console = console or make_console()
    if len(scores) > 1:
        console.print(_clips(scores, total, console))
        console.print()
    for make in (_positions, _balls, _events, _reliability, _rulings):
        table = make(total, console)
        if table is not None:
            console.print(table)
            console.print()
    _print_errors(total, scores, console)
    for note in total.notes:
        console.print(f"note: {note}")


def make_console() -> Console:
    """A console as wide as the terminal; wide enough for whole rows where the output goes elsewhere."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    return console if console.is_terminal else Console(highlight=False, markup=False, soft_wrap=True, width=180)


def _table(console: Console, title: str, *columns: str) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD if console.is_terminal else None,
        pad_edge=False,
    )
    for k, column in enumerate(columns):
        table.add_column(column, justify="left" if k == 0 else "right", no_wrap=True)
    return table


def number(value: float | None, digits: int = 3) -> str:
    """A figure, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def _cell(value: Cell) -> str:
    return number(value) if value is None or isinstance(value, float) else str(value)


def _clips(scores: Sequence[MatchScore], total: MatchScore, console: Console) -> Table:
    table = _table(console, "clips", "clip", *CLIP_COLUMNS)
    for score in [*scores, total]:
        table.add_row(score.name, *map(_cell, clip_cells(score)))
    return table


def _positions(total: MatchScore, console: Console) -> Table | None:
    if total.positions is None:
        return None
    table = _table(console, "position error, mm", "balls", "n", "median", "p95", "p99", "largest")
    rows = {**total.positions.to_json(), "in rest events": total.rests.to_json()["error_mm"]}
    if total.calibration_mm:
        rows["by calibration alone"] = spread(total.calibration_mm)
    for name, values in rows.items():
        table.add_row(name, str(values["n"]), *[number(values[k], 2) for k in ("median", "p95", "p99", "max")])
    return table


def _balls(total: MatchScore, console: Console) -> Table | None:
    if total.detection is None or total.identity is None:
        return None
    table = _table(console, "balls", "what", "value", "of")
    detection, identity, numbers = total.detection, total.identity.to_json(), total.numbers.to_json()
    table.add_row("detection precision", number(detection.precision), str(detection.right + detection.false))
    table.add_row("detection recall", number(detection.recall), str(detection.right + detection.missed))
    for key in ("hota", "deta", "assa", "idf1"):
        table.add_row(key.upper(), number(identity[key]), "")
    strokes, kept = identity["strokes_with_contact"], identity["strokes_kept"]
    table.add_row("strokes with contact, identities kept", number(kept / strokes if strokes else None), str(strokes))
    for name, key in (("number right at the pot", "at_the_pot"), ("number right in frames", "in_frames")):
        shares = numbers[key]
        of = shares["right"] + shares["wrong"] + shares["unknown"]
        table.add_row(name, number(shares["accuracy"]), f"{of} ({shares['wrong']} wrong, {shares['unknown']} unknown)")
    return table


def _events(total: MatchScore, console: Console) -> Table | None:
    if total.events is None:
        return None
    table = _table(console, "events", "type", *EVENT_COLUMNS)
    for kind in SCORED_TYPES:
        if kind in total.events:
            table.add_row(kind, *map(_cell, event_cells(total.events[kind])))
    table.add_row("all", *map(_cell, event_cells(total.events_total())))
    return table


def _reliability(total: MatchScore, console: Console) -> Table | None:
    if not total.said:
        return None
    data = total.to_json()["reliability"]
    table = _table(
        console,
        f"reliability (mean gap {number(data['expected_error'])}, Brier {number(data['brier'])})",
        "said",
        "events",
        "mean said",
        "right",
    )
    for entry in data["bins"]:
        if entry["n"]:
            name = f"{entry['low']:.2f} to {entry['high']:.2f}"
            table.add_row(name, str(entry["n"]), number(entry["said"]), number(entry["right"]))
    return table


def _rulings(total: MatchScore, console: Console) -> Table | None:
    if total.rulings is None:
        return None
    score = total.rulings
    table = _table(console, "rulings", "what", "n")
    rows: list[tuple[str, Any]] = [
        ("due", score.due),
        ("right", score.right),
        ("wrong", score.wrong),
        ("sent to review", score.review),
        ("  of these with the right decision", score.review_right),
        ("missing", score.missing),
        ("given but not due", score.extra),
        ("right or sent to review", number(score.right_or_review)),
        ("right final score", f"{score.clips_with_right_score}/{score.clips}"),
    ]
    for name, value in rows:
        table.add_row(name, str(value))
    return table


def _print_errors(total: MatchScore, scores: Sequence[MatchScore], console: Console) -> None:
    lines = []
    for score in scores:
        where = f"{score.name} " if len(scores) > 1 else ""
        errors = score.events_total().errors
        lines += [f"{where}{error.t:.2f} s {error}" for error in sorted(errors, key=lambda e: e.t)]
        if score.rulings is not None:
            lines += [
                f"{where}{r.t_start:.2f} s {'' if r.silent else '(in review) '}ruling: {'; '.join(r.differences)}"
                for r in score.rulings.errors
            ]
    if not lines:
        return
    console.print(f"errors ({len(lines)})")
    for line in lines[:_ERRORS_SHOWN]:
        console.print("  " + line)
    if len(lines) > _ERRORS_SHOWN:
        console.print(f"  … and {len(lines) - _ERRORS_SHOWN} more; --json FILE has them all")
