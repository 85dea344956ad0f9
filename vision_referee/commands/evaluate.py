"""``vision-referee evaluate DIR TRUTH``: scores match folders against ground truth."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def evaluate(
        paths: list[Path] = typer.Argument(
            None,
            metavar="DIR TRUTH…",
            help="A match folder and its truth (a folder or one file); several pairs are summed.",
        ),
        listed: Path | None = typer.Option(None, "--list", help="A text file with DIR TRUTH a line, for many pairs."),
        json_file: Path | None = typer.Option(None, "--json", help="Write every figure and every error here."),
        worst: Path | None = typer.Option(None, "--worst", help="Write pictures of the worst errors into this folder."),
        video: Path | None = typer.Option(None, "--video", help="The source video for --worst, where it has moved."),
        worst_count: int = typer.Option(
            12, "--worst-count", min=1, help="How many pictures --worst writes for each pair."
        ),
    ) -> None:
        """Score match folders against ground truth: positions, balls, identity, numbers, events, rulings."""
        from vision_referee.domain.errors import InputError
        from vision_referee.evaluation.match_score import score_match, total_of
        from vision_referee.evaluation.pairs import pairs_from_arguments, pairs_from_list
        from vision_referee.evaluation.report import print_scores
        from vision_referee.evaluation.sides import read_match, read_truth

        pairs = pairs_from_arguments(paths or [])
        if listed is not None:
            pairs += pairs_from_list(listed)
        if not pairs:
            raise typer.BadParameter("give DIR TRUTH, or --list FILE")
        scores = []
        for folder, truth_path in pairs:
            seen, truth = read_match(folder), read_truth(truth_path)
            score = score_match(seen, truth)
            scores.append(score)
            if worst is not None:
                from vision_referee.evaluation.worst import write_worst

                target = worst / seen.name if len(pairs) > 1 else worst
                write_worst(seen, truth, score, target, video=video, count=worst_count)
        total = total_of(scores) if len(scores) > 1 else scores[0]
        print_scores(scores, total)
        if json_file is not None:
            text = json.dumps(
                {"total": total.to_json(), "clips": [s.to_json() for s in scores]}, indent=1, ensure_ascii=False
            )
            try:
                json_file.parent.mkdir(parents=True, exist_ok=True)
                json_file.write_text(text + "\n", encoding="utf-8")
            except OSError as error:
                raise InputError(
                    f"{json_file}: cannot be written ({error.strerror or error}); give another --json"
                ) from error
