"""``vision-referee simulate SCENE… -o DIR``: scenes to videos with their ground truth."""

from __future__ import annotations

import sys
from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def simulate(
        scenes: list[Path] = typer.Argument(..., metavar="SCENE…", help="Scene files (YAML), or folders of them."),
        out: Path = typer.Option(..., "-o", "--out", metavar="DIR", help="Where the clips and their truth go."),
        video: bool = typer.Option(True, help="Make the video; --no-video writes only the truth."),
    ) -> None:
        """Make videos of simulated play, each with its ground truth beside it."""
        from rich.progress import Progress

        from vision_referee.domain.errors import InputError
        from vision_referee.simulation.clips import make_clip
        from vision_referee.simulation.scene_file import load_scene

        files = [f for path in scenes for f in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
        if not files:
            raise InputError(f"{scenes[0]}: no scene files (*.yaml) in this folder")
        loaded = [load_scene(f) for f in files]
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{out}: cannot be made or written ({error.strerror}); give another folder") from None
        with Progress(disable=not sys.stderr.isatty(), transient=True) as bar:
            for scene in loaded:
                task = bar.add_task(scene.name, total=None)
                clip = make_clip(
                    scene, out, with_video=video,
                    progress=lambda n, total, task=task: bar.update(task, completed=n, total=total),  # type: ignore[misc]
                )  # fmt: skip
                bar.remove_task(task)
                bar.console.print(
                    f"{clip.video or clip.truth}: {clip.frames} frames, {len(clip.events)} events", highlight=False
                )
