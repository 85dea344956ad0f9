"""``vision-referee train``: renders the training scenes, trains detector and number reader, exports both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from vision_referee.detection.reliability import Reliability

VALIDATION_SCENES = 60
"""Rendered scenes on which the detector's confidences are mended."""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def train(
        work: Path = typer.Argument(
            ..., metavar="DIR", help="Scenes and checkpoints are kept here; a run goes on from them."
        ),
        scenes: int = typer.Option(1400, "--scenes", help="Rendered scenes for the detector, 3 windows each."),
        crops: int = typer.Option(120_000, "--crops", help="Crops the detector sees in all."),
        number_scenes: int = typer.Option(
            1050, "--number-scenes", help="Rendered sets of balls for the number reader, 64 views each."
        ),
        number_crops: int = typer.Option(
            200_000, "--number-crops", help="Crops the number reader sees in all; 0: leave it."
        ),
        real: Path | None = typer.Option(None, "--real", help="snooker_mit/train: real pictures to train on as well."),
        real_share: float = typer.Option(
            0.25, "--real-share", min=0.0, max=0.9, help="Part of the crops cut from them."
        ),
        threads: int = typer.Option(1, "--threads", min=1, help="Processor threads (a GPU is used when there is one)."),
        seed: int = typer.Option(0, "--seed"),
        models: Path | None = typer.Option(
            None, "--models", help="Where to write the models; else the shipped folder."
        ),
        export_only: bool = typer.Option(False, "--export-only", help="Only export the newest checkpoints."),
    ) -> None:
        """Train the detector and the number reader from rendered scenes (and real pictures), resumable; then export."""
        import cv2

        from vision_referee.domain.errors import InputError
        from vision_referee.resources import data_folder
        from vision_referee.training.export import export_detector
        from vision_referee.training.number_set import write_number_seeds
        from vision_referee.training.render_set import write_seed
        from vision_referee.training.scenes import SPLITS
        from vision_referee.training.train_detector import TrainSettings, train_detector
        from vision_referee.training.train_numbers import NumberSettings, export_reader, train_reader

        cv2.setNumThreads(1)
        if real is not None and not (real / "labels").is_dir():
            raise InputError(f"{real}: no folder 'labels' in it; give the train part of the snooker_mit set")
        target = models or data_folder("models")
        detector_run, number_run = work / "detector", work / "numbers"
        if not export_only:
            for index in range(scenes):
                write_seed(work / "scenes", index, SPLITS["train"])
            settings = TrainSettings(crops=crops, real_share=real_share if real else 0.0, threads=threads, seed=seed)
            train_detector(work / "scenes", real, detector_run, settings)
            if number_crops:
                for first in range(0, number_scenes, 25):
                    write_number_seeds(work / "number_scenes", first, 25, SPLITS["train"])
                train_reader(
                    work / "number_scenes", number_run, NumberSettings(crops=number_crops, threads=threads, seed=seed)
                )
        if (detector_run / "last.pt").exists():
            reliability = _reliability(detector_run / "last.pt", work / "unscaled")
            export_detector(detector_run / "last.pt", target, reliability=reliability)
            typer.echo(f"exported {detector_run / 'last.pt'} to {target}")
        if (number_run / "numbers.pt").exists():
            export_reader(number_run / "numbers.pt", target)
            typer.echo(f"exported {number_run / 'numbers.pt'} to {target}")


def _reliability(checkpoint: Path, folder: Path) -> Reliability:
    """The scaling that makes a detector's confidences true on rendered validation scenes."""
    import numpy as np

    from vision_referee.detection.backends import open_backend
    from vision_referee.training.export import export_detector
    from vision_referee.training.reliability import fit_reliability
    from vision_referee.training.score_detector import score_rendered

    export_detector(checkpoint, folder)
    tally = score_rendered(open_backend(folder), VALIDATION_SCENES, split="val")[0]
    return fit_reliability(np.array(tally.confidence), np.array(tally.right))
