"""The labelled pictures a detector is judged on: rendered scenes never trained on, and real sets in ``shared/real``."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A picture (pixel centres at whole numbers) with ``boxes`` (n, 4), or with ``centres_px`` (n, 2) and
    ``centres_mm`` (n, 2) of its balls.

    ``centres_mm`` are as the set gives them: from the table's middle, x to the right, y up the picture.
    """

    path: Path
    pixels: U8
    boxes: F64 | None = None
    centres_px: F64 | None = None
    centres_mm: F64 | None = None


def real_folder() -> Path | None:
    """``shared/real`` beside the checkout, or in $VISION_REFEREE_SHARED; None where there is none."""
    given = os.environ.get("VISION_REFEREE_SHARED")
    root = Path(given) if given else Path(__file__).resolve().parents[3] / "shared"
    return root / "real" if (root / "real").is_dir() else None


def first_last_frames(real: Path) -> Iterator[Labelled]:
    """Broadcast frames, 1024 x 576."""
    folder = real / "images" / "first_last_frames"
    rows: dict[str, list[list[float]]] = {}
    with (folder / "boxes.csv").open() as lines:
        for row in csv.DictReader(lines):
            x, y, w, h = (float(row[k]) for k in ("x", "y", "width", "height"))
            rows.setdefault(next(iter(row.values())), []).append([x, y, x + w, y + h])
    for name, boxes in rows.items():
        yield Labelled(path=folder / name, pixels=_read(folder / name), boxes=np.array(boxes) - 0.5)


def club_pictures(real: Path, *, every: int = 1) -> Iterator[Labelled]:
    """The snooker_mit test part, unsqueezed from 640 x 640 to 640 x 360 of the original's shape."""
    folder = real / "images" / "snooker_mit" / "test"
    for path in sorted((folder / "images").glob("*"))[::every]:
        lines = [
            line.split() for line in (folder / "labels" / f"{path.stem}.txt").read_text().splitlines() if line.strip()
        ]
        rows = np.array([line[:5] for line in lines], np.float64).reshape(-1, 5)
        balls = rows[rows[:, 0] == 0, 1:]
        size = (1138, 640)
        pixels = cv2.resize(_read(path), size, interpolation=cv2.INTER_LINEAR)
        low, high = balls[:, :2] - balls[:, 2:] / 2, balls[:, :2] + balls[:, 2:] / 2
        yield Labelled(path=path, pixels=np.asarray(pixels, np.uint8), boxes=np.hstack([low * size, high * size]) - 0.5)


def overhead_pictures(real: Path, name: str) -> Iterator[Labelled]:
    """``halo_2`` or ``without_halo``: 1280 x 720 overhead, centres in pixels and mm."""
    folder = real / "images" / "overhead_mm"
    rows: dict[str, list[list[float]]] = {}
    with (folder / f"{name}.csv").open() as lines:
        for row in csv.DictReader(lines):
            rows.setdefault(row["file"], []).append([float(row[k]) for k in ("px_x", "px_y", "mm_x", "mm_y")])
    for file, values in rows.items():
        table = np.array(values)
        path = folder / name / file
        yield Labelled(path=path, pixels=_read(path), centres_px=table[:, :2], centres_mm=table[:, 2:])


def _read(path: Path) -> U8:
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise FileNotFoundError(path)
    return np.asarray(pixels, np.uint8)
