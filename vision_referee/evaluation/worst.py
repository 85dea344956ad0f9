"""Pictures of the worst errors: the frame, what was said, what is true, and a line that tells the error."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.calibration import Calibration
from vision_referee.domain.errors import InputError
from vision_referee.domain.table import PocketName
from vision_referee.evaluation.match_score import MatchScore
from vision_referee.evaluation.positions import FramePair, pair_frames
from vision_referee.evaluation.sides import Side
from vision_referee.evaluation.track_table import HIDDEN, TrackTable
from vision_referee.video.source import open_video

U8 = npt.NDArray[np.uint8]

_SEEN_BGR = (80, 220, 80)
_TRUE_BGR = (60, 60, 255)
_PLACE_BGR = (0, 220, 255)
_POSITION_ERRORS = 3
_FAR_DIAMETERS = 0.15
"""A ball further off than this (10 mm of 68) is worth a picture."""
_APART_S = 1.0
_GRAVITY = {
    "pocketed": 3.0,
    "strike": 3.0,
    "rest": 2.5,
    "left_table": 2.5,
    "touch": 2.0,
    "contact": 2.0,
    "hanging": 2.0,
}
"""How much an error of this type weighs: what decides points and turns comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One error to be shown: when, where (mm), how bad, and in words."""

    t_s: float
    name: str
    text: str
    weight: float
    place_mm: tuple[float, float] | None = None
    pocket: PocketName | None = None


def write_worst(
    seen: Side, truth: Side, score: MatchScore, folder: Path, *, video: Path | None = None, count: int = 12
) -> list[Path]:
    """Write up to ``count`` pictures of the worst errors, worst first, into ``folder``.

    Where no video or calibration is at hand, nothing is written and the score's notes say so.

    Raises:
        InputError: the folder cannot be written, or a given ``video`` cannot be read.
    """
    if video is not None and not video.exists():
        raise InputError(f"{video}: no such file; give the match's source video")
    # By the true camera, where it is known, the true marks lie on the balls and the said ones as far off as they are.
    calibration = truth.calibration or seen.calibration
    if calibration is None:
        score.notes.append("no pictures of errors: neither side has a calibration")
        return []
    shown = worst_errors(seen, truth, score, count)
    files = seen.videos if video is None else ((video, 0.0),)
    files = tuple((path, offset) for path, offset in files if path.exists())
    if not files:
        score.notes.append("no pictures of errors: the source video is not at hand; say where it is with --video")
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error}); give another --worst") from error
    written = []
    for rank, t_s, pixels in _pictures(files, shown):
        exhibit = shown[rank]
        picture = draw(pixels, exhibit, t_s, seen.tracks, truth.tracks, calibration)
        path = folder / f"{rank + 1:02d}_{exhibit.name}_{exhibit.t_s:.2f}s.png"
        if not cv2.imwrite(str(path), picture):
            raise InputError(f"{path}: cannot be written; give another --worst")
        written.append(path)
    return sorted(written)


def worst_errors(seen: Side, truth: Side, score: MatchScore, count: int) -> list[Exhibit]:
    """The errors worth a picture, worst first: silent rulings, events, then balls far from where they were."""
    exhibits = []
    for ruling in score.rulings.errors if score.rulings is not None else ():
        exhibits.append(
            Exhibit(
                t_s=ruling.t_end,
                name="ruling",
                weight=10.0 if ruling.silent else 1.0,
                text=f"ruling of {ruling.t_start:.2f}-{ruling.t_end:.2f} s: {'; '.join(ruling.differences)}",
            )
        )
    for error in score.events_total().errors:
        weight = _GRAVITY.get(error.type, 1.0) * (error.confidence if error.kind == "false" else 1.0)
        exhibits.append(
            Exhibit(
                t_s=error.t,
                name=f"{error.kind}_{error.type}",
                weight=weight,
                place_mm=error.place_mm,
                pocket=next((PocketName(value) for name, value in error.words if name == "pocket"), None),
                text=f"{error.t:.3f} s: {error}",
            )
        )
    if seen.tracks is not None and truth.tracks is not None:
        exhibits += _far_balls(seen.tracks, truth.tracks, truth.ball_diameter_mm or seen.ball_diameter_mm or 68.0)
    chosen: list[Exhibit] = []
    for exhibit in sorted(exhibits, key=lambda e: -e.weight):
        # One cause often makes several errors at once; one picture shows them.
        if all(abs(exhibit.t_s - other.t_s) > 0.02 or exhibit.name != other.name for other in chosen):
            chosen.append(exhibit)
        if len(chosen) == count:
            break
    return chosen


def _far_balls(seen: TrackTable, truth: TrackTable, diameter_mm: float) -> list[Exhibit]:
    frames: list[FramePair] = pair_frames(truth, seen, diameter_mm)
    far = sorted(
        (
            (apart, frame.t_s, a)
            for frame in frames
            for a, _, apart in frame.pairs
            if apart > _FAR_DIAMETERS * diameter_mm
        ),
        reverse=True,
    )
    chosen: list[Exhibit] = []
    for apart, t_s, a in far:
        if all(abs(t_s - other.t_s) > _APART_S for other in chosen):
            label = truth.labels[truth.ball[a]]
            chosen.append(
                Exhibit(
                    t_s=t_s,
                    name="position",
                    weight=0.9 * apart / diameter_mm,
                    text=f"ball {label} is {apart:.0f} mm off",
                    place_mm=(float(truth.x[a]), float(truth.y[a])),
                )
            )
        if len(chosen) == _POSITION_ERRORS:
            break
    return chosen


def _pictures(files: Sequence[tuple[Path, float]], exhibits: Sequence[Exhibit]) -> Iterator[tuple[int, float, U8]]:
    """(rank, time, pixels) of the frame nearest to each exhibit, each file read once and only as far as needed."""
    for k, (path, offset_s) in enumerate(files):
        end_s = files[k + 1][1] if k + 1 < len(files) else float("inf")
        first_s = offset_s if k else float("-inf")
        wanted = sorted((e.t_s - offset_s, rank) for rank, e in enumerate(exhibits) if first_s <= e.t_s < end_s)
        if not wanted:
            continue
        before = None
        for frame in open_video(path):
            while wanted and frame.t_s >= wanted[0][0]:
                t_s, rank = wanted.pop(0)
                near = frame if before is None or frame.t_s - t_s <= t_s - before.t_s else before
                yield rank, near.t_s + offset_s, near.bgr()
            if not wanted:
                break
            before = frame
        if before is not None:
            # Beyond the last frame the last one is shown.
            for _, rank in wanted:
                yield rank, before.t_s + offset_s, before.bgr()


def draw(
    pixels: U8,
    exhibit: Exhibit,
    t_s: float,
    seen: TrackTable | None,
    truth: TrackTable | None,
    calibration: Calibration,
) -> U8:
    """A copy of the (h, w, 3) BGR frame with both sides' balls, the error's place and a caption below."""
    picture = pixels.copy()
    scale = max(picture.shape[1] / 1280, 0.5)
    for table, colour, side in ((seen, _SEEN_BGR, "seen"), (truth, _TRUE_BGR, "true")):
        if table is not None:
            _draw_balls(picture, table, t_s, colour, side, calibration, scale)
    place_mm = exhibit.place_mm
    if place_mm is None and exhibit.pocket is not None:
        place_mm = calibration.table.pocket(exhibit.pocket).mouth_mm
    if place_mm is not None and np.isfinite(place_mm).all():
        around = _magnified(picture, _point(calibration, place_mm), round(60 * scale), max(1, round(2 * scale)))
        picture = np.hstack([picture, around])
    legend = f"frame at {t_s:.3f} s    green circle: said    red cross: true    yellow: the error's place"
    lines = [*textwrap.wrap(exhibit.text, 110), legend]
    step = round(26 * scale)
    band = np.full((step * len(lines) + round(12 * scale), picture.shape[1], 3), 24, np.uint8)
    for row, line in enumerate(lines):
        colour = (255, 255, 255) if row < len(lines) - 1 else (170, 170, 170)
        cv2.putText(
            band,
            line,
            (round(8 * scale), step * (row + 1)),
            cv2.FONT_HERSHEY_SIMPLEX,
            0.6 * scale,
            colour,
            max(1, round(scale)),
            cv2.LINE_AA,
        )
    return np.vstack([picture, band])


def _magnified(picture: U8, centre: tuple[int, int], half: int, thick: int) -> U8:
    """Frame the place, and give it four times as large, as a panel as high as the picture."""
    height, width = picture.shape[:2]
    x, y = centre
    around = np.zeros((2 * half, 2 * half, 3), np.uint8)
    x0, x1, y0, y1 = max(x - half, 0), min(x + half, width), max(y - half, 0), min(y + half, height)
    if x0 < x1 and y0 < y1:
        around[y0 - y + half : y1 - y + half, x0 - x + half : x1 - x + half] = picture[y0:y1, x0:x1]
    cv2.rectangle(picture, (x - half, y - half), (x + half, y + half), _PLACE_BGR, thick, cv2.LINE_AA)
    side = min(8 * half, height)
    large = cv2.resize(around, (side, side), interpolation=cv2.INTER_CUBIC)
    cv2.rectangle(large, (0, 0), (side - 1, side - 1), _PLACE_BGR, thick)
    panel = np.full((height, side, 3), 24, np.uint8)
    panel[(height - side) // 2 : (height - side) // 2 + side] = large
    return panel


def _draw_balls(
    picture: U8,
    table: TrackTable,
    t_s: float,
    colour: tuple[int, int, int],
    side: str,
    calibration: Calibration,
    scale: float,
) -> None:
    times, offsets = table.frames()
    if len(times) == 0:
        return
    k = int(np.argmin(np.abs(times - t_s)))
    thick = max(1, round(1.5 * scale))
    for row in range(int(offsets[k]), int(offsets[k + 1])):
        if table.state[row] > HIDDEN or not np.isfinite([table.x[row], table.y[row]]).all():
            continue
        place = (float(table.x[row]), float(table.y[row]))
        x, y = _point(calibration, place)
        radius = float(calibration.camera.ball_radius_px([place], calibration.table.ball_radius_mm)[0])
        label = table.labels[table.ball[row]]
        if side == "seen":
            cv2.circle(
                picture, (x, y), max(2, round(radius)), colour, 1 if table.state[row] == HIDDEN else thick, cv2.LINE_AA
            )
            at = (x + round(radius), y - round(radius))
        else:
            cv2.drawMarker(picture, (x, y), colour, cv2.MARKER_CROSS, max(6, round(radius)), thick, cv2.LINE_AA)
            at = (x + round(radius), y + round(1.6 * radius))
        cv2.putText(picture, label, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * scale, colour, thick, cv2.LINE_AA)


def _point(calibration: Calibration, place_mm: tuple[float, float]) -> tuple[int, int]:
    x, y = calibration.camera.project_plane([place_mm], calibration.table.ball_radius_mm)[0]
    return round(float(x)), round(float(y))
