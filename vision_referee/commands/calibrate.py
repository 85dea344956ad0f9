"""``vision-referee calibrate SOURCE --table NAME -o FILE``: find the table and the camera."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp"}
_FRAMES = 15


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def calibrate(
        source: Path = typer.Argument(..., metavar="SOURCE", help="A video, or a picture of the table."),
        out: Path = typer.Option(..., "--out", "-o", metavar="FILE", help="Where to write the calibration (JSON)."),
        table: str = typer.Option("", "--table", metavar="NAME", help="A table or a TOML file; else pyramid-12ft."),
        corners: str = typer.Option(
            "", "--corners", metavar='"x,y x,y x,y x,y"',
            help="The corners of the playing surface in pixels, where the cushion noses meet, in any order.",
        ),
        preview: Path | None = typer.Option(None, "--preview", metavar="PNG", help="A picture of what was found."),
        head: str = typer.Option("", "--head", metavar="SIDE", help="Where the head is: top, bottom, left or right."),
    ) -> None:  # fmt: skip
        """Find the table and the camera in a video or picture."""
        from vision_referee.calibration.find import calibrate_frames
        from vision_referee.calibration.hints import rate_hint
        from vision_referee.calibration.preview import draw_preview
        from vision_referee.calibration.tables import load_table
        from vision_referee.domain.errors import CalibrationError, InputError

        spec = load_table(table) if table else None
        marked = _corners(corners) if corners else None
        if head and head not in ("top", "bottom", "left", "right"):
            typer.echo(f"--head {head}: choose top, bottom, left or right", err=True)
            raise typer.Exit(2)
        frames, rate_hz = _frames(source)
        try:
            found = calibrate_frames(frames, table=spec, head=head or None, corners_px=marked)
        except CalibrationError as error:
            raise InputError(f"{source}: {error}") from error
        found.save(out)
        if preview is not None:
            _write_picture(preview, draw_preview(frames[len(frames) // 2], found))
        typer.echo(
            f"{found.table.name} ({found.table_reason}): "
            f"residual {found.residual_px:.2f} px = {found.residual_mm:.1f} mm, "
            f"balls' places known to {found.expected_error_mm:.1f} mm, "
            f"camera {found.elevation_deg:.0f} degrees above the cloth, head at the {found.head_side}"
            f"{'' if found.head_known else ' (not known; say --head)'}"
        )
        slow = rate_hint(rate_hz)
        for hint in [*found.hints, *([slow.text] if slow else [])]:
            typer.echo(f"hint: {hint}")


def _corners(text: str) -> list[tuple[float, float]]:
    try:
        points = [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]
    except ValueError:
        points = []
    if len(points) != 4:
        typer.echo(f'--corners "{text}": four points are needed, written as "x,y x,y x,y x,y"', err=True)
        raise typer.Exit(2)
    return points


def _frames(source: Path) -> tuple[list[npt.NDArray[np.uint8]], float]:
    """The picture, or frames spread over the video; and how many come a second (0: a picture)."""
    from vision_referee.domain.errors import InputError

    if source.suffix.lower() in _PICTURES:
        import cv2
        import numpy as np

        if not source.is_file():
            raise InputError(f"{source}: no such file")
        picture = cv2.imread(str(source), cv2.IMREAD_COLOR)
        if picture is None:
            raise InputError(f"{source}: not a picture that can be read")
        return [picture.astype(np.uint8, copy=False)], 0.0
    from vision_referee.video.source import open_video, sample_frames

    video = open_video(source)
    return [frame.bgr() for frame in sample_frames(video, _FRAMES)], video.info.rate_hz


def _write_picture(path: Path, pixels: npt.NDArray[np.uint8]) -> None:
    import cv2

    from vision_referee.domain.errors import InputError

    try:
        done = cv2.imwrite(str(path), pixels)
    except cv2.error:
        done = False
    if not done:
        raise InputError(f"{path}: cannot write the preview picture; give a .png in an existing folder")
