"""restore/NNNN.png: where each ball stood, as a diagram with millimetres and on the video's own frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from vision_referee.domain.events import BallAt, Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_folder import RESTORE, MatchFolder
from vision_referee.review import overlay
from vision_referee.review.camera_view import CameraView
from vision_referee.review.source_frames import ShownFrame, SourceVideo
from vision_referee.review.stroke_view import StrokeView, stroke_view
from vision_referee.review.table_picture import ShownBall, table_picture
from vision_referee.review.wording import Wording

_WIDTH_PX = 1600
_PLACED_BGR: overlay.Bgr = (60, 196, 255)
_OTHER_BGR: overlay.Bgr = (230, 230, 230)


def picture_name(ruling_id: int) -> str:
    return f"{ruling_id:04d}.png"


def make_restorations(
    folder: MatchFolder, rulings: Iterable[Ruling], events: Sequence[Event], video: SourceVideo | None, words: Wording
) -> list[Path]:
    """Write ``restore/NNNN.png`` for each ruling that puts balls back; returns the files.

    Without a video the picture is the diagram alone.
    """
    target = folder.path / RESTORE
    target.mkdir(exist_ok=True)
    written: list[Path] = []
    for ruling in rulings:
        if ruling.restored:
            frame = video.frame_at(ruling.t_end) if video is not None else None
            image = restoration_picture(folder, ruling, events, frame, words)
            path = target / picture_name(ruling.id)
            unfinished = path.with_suffix(".tmp")
            image.save(unfinished, format="PNG", optimize=True)
            unfinished.replace(path)
            written.append(path)
    return written


def restoration_picture(
    folder: MatchFolder, ruling: Ruling, events: Sequence[Event], frame: ShownFrame | None, words: Wording
) -> Image.Image:
    """Heading, table diagram and, below it, the frame after the event with a ring where each ball belongs."""
    view = stroke_view(folder, ruling, events)
    position = position_before(view)
    restored = {b.ball for b in ruling.restored}
    table = folder.info.table
    parts = [
        table_picture(
            table,
            [ShownBall(at=b, text=view.shown(b.ball), important=b.ball in restored) for b in position],
            width_px=_WIDTH_PX,
        )
    ]
    calibration = CameraView(folder.info).at(ruling.t_end)
    if frame is not None and calibration is not None:
        image = frame.bgr.copy()
        to_image = np.array(image.shape[1::-1], np.float64) / np.array(calibration.camera.size_px, np.float64)
        for b in sorted(position, key=lambda b: b.ball in restored):
            place = np.array([[b.x, b.y]])
            centre = calibration.camera.project_plane(place, table.ball_radius_mm)[0] * to_image
            radius = float(calibration.camera.ball_radius_px(place, table.ball_radius_mm)[0] * to_image.mean())
            important = b.ball in restored
            overlay.circle(image, centre, radius, _PLACED_BGR if important else _OTHER_BGR, 2 if important else 1)
            if important:
                text = f"{words.ball(view.shown(b.ball))}  {b.x:.0f} / {b.y:.0f}"
                sprite = overlay.label_sprite(text, max(13, image.shape[0] // 40), _PLACED_BGR, (20, 20, 20))
                x = min(max(0, round(float(centre[0]) + radius)), image.shape[1] - sprite.shape[1])
                overlay.paste(image, sprite, x, round(float(centre[1]) - radius - sprite.shape[0]))
        parts.append(_scaled(Image.fromarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))))
    title = words("restore.title", number=ruling.id, time=words.clock(ruling.t_start))
    lines = [title, words("restore.origin")]
    lines += [
        words("restore.ball", ball=words.ball(view.shown(b.ball)), x=f"{b.x:.0f}", y=f"{b.y:.0f}")
        for b in ruling.restored
    ]
    heading = overlay.caption_sprite(lines, _WIDTH_PX, 30, _PLACED_BGR)
    parts.insert(0, Image.fromarray(heading[:, :, 2::-1].copy()))
    return _stacked(parts)


def position_before(view: StrokeView) -> tuple[BallAt, ...]:
    """Every ball where it belongs: the position before, with the ruling's own restored places in it."""
    restored = {b.ball: b for b in view.ruling.restored}
    return (*(b for b in view.start if b.ball not in restored), *restored.values())


def _scaled(image: Image.Image) -> Image.Image:
    return image.resize((_WIDTH_PX, round(image.height * _WIDTH_PX / image.width)), Image.Resampling.LANCZOS)


def _stacked(parts: Sequence[Image.Image]) -> Image.Image:
    whole = Image.new("RGB", (_WIDTH_PX, sum(p.height for p in parts)), (12, 14, 18))
    y = 0
    for part in parts:
        whole.paste(part, (0, y))
        y += part.height
    return whole
