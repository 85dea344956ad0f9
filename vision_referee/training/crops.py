"""What the detector learns from: random square crops of rendered windows and of real photographs, with boxes."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

CROP_PX = 352
LEAST_VISIBLE = 0.30
"""A ball of which less can be seen is not asked for."""
SMALLEST_PX, LARGEST_PX = 7.0, 66.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A labelled picture on disk."""

    image: Path
    boxes: F64
    """(n, 4) x0 y0 x1 y1 in pixels of the stored picture, its left and upper edge at 0."""
    stretch: float = 1.0
    """Height over width by which the stored picture must be squeezed to undo its distortion."""


def _rows(label: Path) -> F64:
    """Numbers of a label file, a row a line; (0, 0) when it is empty."""
    lines = [line.split() for line in label.read_text().splitlines() if line.strip()]
    return np.asarray(lines, np.float64) if lines else np.zeros((0, 0))


def rendered_pictures(folder: Path) -> list[Picture]:
    """Windows that the renderer has finished so far."""
    out = []
    for label in sorted(folder.glob("*.txt")):
        rows = _rows(label)
        # The renderer's pixel centres lie at whole numbers; here a picture's left edge is 0.
        boxes = rows[rows[:, 4] >= LEAST_VISIBLE, :4] + 0.5 if rows.size else np.zeros((0, 4))
        out.append(Picture(image=label.with_suffix(".jpg"), boxes=boxes))
    return out


def real_pictures(folder: Path) -> tuple[list[Picture], list[Picture]]:
    """The training part of the snooker_mit set: (broadcast frames, single photographs).

    Pictures there were squeezed to 640 x 640; balls are round, so the median shape of their boxes says by how much.
    Boxes under 2 px and over five times the picture's median are labelling faults or balls at the lens: dropped.
    """
    broadcast: list[Picture] = []
    photos: list[Picture] = []
    for label in sorted((folder / "labels").glob("*.txt")):
        image = folder / "images" / f"{label.stem}.jpg"
        rows = _rows(label)
        picture = cv2.imread(str(image))
        if picture is None:
            continue
        height, width = picture.shape[:2]
        balls = rows[rows[:, 0] == 0, 1:5] if rows.size else np.zeros((0, 4))
        sizes = balls[:, 2:] * (width, height)
        is_broadcast = label.stem.startswith("yt-")
        stretch = 16 / 9 if is_broadcast else 4 / 3
        if len(balls) >= 2 and not is_broadcast:
            stretch = float(np.clip(np.median(sizes[:, 1] / np.maximum(sizes[:, 0], 1)), 0.7, 1.8))
        if len(balls):
            middle = float(np.median(sizes[:, 0]))
            keep = (sizes.min(axis=1) >= 2) & (sizes[:, 0] < 5 * middle)
            balls, sizes = balls[keep], sizes[keep]
        centre = balls[:, :2] * (width, height)
        made = Picture(image=image, boxes=np.hstack([centre - sizes / 2, centre + sizes / 2]), stretch=stretch)
        (broadcast if is_broadcast else photos).append(made)
    return broadcast, photos


def _scales(rng: np.random.Generator, picture: Picture) -> tuple[float, float]:
    """Horizontal and vertical factor: undoes the stored stretch and varies the balls' size."""
    if picture.stretch == 1.0:
        scale = float(np.exp(rng.normal(0, 0.15))) if rng.random() < 0.5 else 1.0
        return scale, scale
    sizes = picture.boxes[:, 2] - picture.boxes[:, 0]
    target = float(np.exp(rng.uniform(np.log(9), np.log(34))))
    scale = target / float(np.median(sizes)) if len(sizes) else float(rng.uniform(0.6, 1.5))
    scale = float(np.clip(scale, 0.4, 3.0))
    return scale, scale / picture.stretch


def random_crop(rng: np.random.Generator, picture: Picture, side: int = CROP_PX) -> tuple[U8, F64] | None:
    """A (side, side, 3) BGR crop, turned, mirrored and recoloured at random, and its boxes (n, 4). None: unreadable."""
    pixels = cv2.imread(str(picture.image), cv2.IMREAD_COLOR)
    if pixels is None:
        return None
    sx, sy = _scales(rng, picture)
    boxes = picture.boxes * (sx, sy, sx, sy)
    if sx < 0.6:
        pixels = cv2.resize(pixels, None, fx=sx, fy=sx, interpolation=cv2.INTER_AREA)
        sx, sy = 1.0, sy / sx
    height, width = round(pixels.shape[0] * sy), round(pixels.shape[1] * sx)
    spare = np.array([width - side, height - side])
    if len(boxes) and rng.random() < 0.7 and spare.max() > 0:
        corner = boxes[int(rng.integers(len(boxes))), :2] - rng.uniform(0.1, 0.9, 2) * side
    else:
        corner = rng.uniform(np.minimum(spare, 0), np.maximum(spare, 0) + 1)
    x, y = (float(v) for v in np.clip(np.round(corner), np.minimum(spare, 0), np.maximum(spare, 0)))
    # Pixel centres lie at whole numbers: (p + 0.5) * s - 0.5 - corner.
    affine = np.array([[sx, 0.0, 0.5 * sx - 0.5 - x], [0.0, sy, 0.5 * sy - 0.5 - y]])
    crop = cv2.warpAffine(pixels, affine, (side, side), flags=cv2.INTER_LINEAR, borderValue=(114.0, 114.0, 114.0))
    moved = boxes - (x, y, x, y)
    clipped = np.clip(moved, 0, side)
    area = np.prod(moved[:, 2:] - moved[:, :2], axis=1)
    left = np.prod(np.maximum(clipped[:, 2:] - clipped[:, :2], 0), axis=1)
    size = np.sqrt(np.maximum(area, 1e-6))
    keep = (left > 0.4 * area) & (size >= SMALLEST_PX * 0.7) & (size < LARGEST_PX * 3)
    turned, kept = _turn(rng, np.asarray(crop, np.uint8), clipped[keep])
    return _recolour(rng, turned, strong=picture.stretch != 1.0), kept


def _turn(rng: np.random.Generator, crop: U8, boxes: F64) -> tuple[U8, F64]:
    side = float(len(crop))
    if rng.random() < 0.5:
        crop, boxes = crop[:, ::-1], np.column_stack([side - boxes[:, 2], boxes[:, 1], side - boxes[:, 0], boxes[:, 3]])
    if rng.random() < 0.25:
        crop, boxes = crop[::-1], np.column_stack([boxes[:, 0], side - boxes[:, 3], boxes[:, 2], side - boxes[:, 1]])
    if rng.random() < 0.25:
        crop, boxes = crop.transpose(1, 0, 2), boxes[:, [1, 0, 3, 2]]
    return np.ascontiguousarray(crop), boxes


def _recolour(rng: np.random.Generator, crop: U8, *, strong: bool) -> U8:
    if rng.random() < (0.5 if strong else 0.15):
        hsv = cv2.cvtColor(crop, cv2.COLOR_BGR2HSV)
        hsv[..., 0] = (hsv[..., 0].astype(np.int32) + int(rng.integers(0, 180))) % 180
        crop = cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR).astype(np.uint8)
    gain = np.exp(rng.normal(0, 0.2) + rng.normal(0, 0.06, 3))
    bias = rng.normal(0, 8)
    gamma = float(np.exp(rng.normal(0, 0.15)))
    levels = np.power(np.arange(256) / 255, gamma)[:, None] * 255 * gain + bias
    lut = np.clip(levels, 0, 255).astype(np.uint8)
    crop = cv2.LUT(crop, lut.reshape(1, 256, 3)).astype(np.uint8)
    if rng.random() < 0.15:
        crop = cv2.GaussianBlur(crop, (0, 0), float(rng.uniform(0.4, 1.4))).astype(np.uint8)
    if rng.random() < 0.15:
        noise = rng.integers(-12, 13, crop.shape, dtype=np.int16)
        crop = np.clip(crop.astype(np.int16) + noise, 0, 255).astype(np.uint8)
    return crop


class CropSource:
    """Batches of crops, made ahead in a thread. Shares: rendered, broadcast, photographs."""

    def __init__(self, rendered: Path, real: Path | None, *, batch: int, seed: int, real_share: float = 0.25) -> None:
        self._rendered_folder = rendered
        self._batch = batch
        self._rng = np.random.default_rng(seed)
        self._groups: list[list[Picture]] = [rendered_pictures(rendered)]
        self._shares = [1.0]
        if real is not None:
            broadcast, photos = real_pictures(real)
            self._groups += [broadcast, photos]
            self._shares = [1 - real_share, real_share * 0.35, real_share * 0.65]
        self._known = len(self._groups[0])
        self._queue: queue.Queue[tuple[U8, list[F64]]] = queue.Queue(maxsize=6)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._fill, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread; the source gives nothing more."""
        self._stop.set()
        while self._thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self._queue.get(timeout=0.1)
        self._thread.join()

    def __iter__(self) -> Iterator[tuple[U8, list[F64]]]:
        while True:
            yield self._queue.get()

    def _fill(self) -> None:
        made = 0
        while not self._stop.is_set():
            if made % 400 == 399:  # the renderer may still be at work
                fresh = sorted(self._rendered_folder.glob("*.txt"))
                if len(fresh) > self._known * 1.05:
                    self._groups[0] = rendered_pictures(self._rendered_folder)
                    self._known = len(fresh)
            pixels = np.empty((self._batch, CROP_PX, CROP_PX, 3), np.uint8)
            boxes: list[F64] = []
            while len(boxes) < self._batch:
                group = self._groups[int(self._rng.choice(len(self._groups), p=self._shares))]
                made_one = random_crop(self._rng, group[int(self._rng.integers(len(group)))])
                if made_one is not None:
                    pixels[len(boxes)] = made_one[0]
                    boxes.append(made_one[1])
            self._queue.put((pixels, boxes))
            made += 1
