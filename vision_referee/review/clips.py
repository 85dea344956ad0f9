"""A clip of each ruling that someone will want to see again: balls, paths, contacts, and the foul in words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from vision_referee.calibration.camera import Camera
from vision_referee.domain.balls import CUE
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.record.match_folder import CLIPS, MatchFolder
from vision_referee.review import overlay
from vision_referee.review.camera_view import CameraView
from vision_referee.review.ruling_words import consequences, headline
from vision_referee.review.source_frames import ShownFrame, SourceVideo
from vision_referee.review.stroke_view import BallPath, Mark, ball_paths, numbers_learned, stroke_view
from vision_referee.review.wording import Wording

_AROUND_S = 1.5
_LONGEST_S = 75.0
_WIDEST_PX = 1280
_TIME_BASE = Fraction(1, 90_000)
_MARK_SHOWN_S = 1.2
_CROWDED_RADII = 3.2
_H264 = {"crf": "23", "preset": "veryfast", "threads": "2"}


def needs_clip(ruling: Ruling) -> bool:
    """Whether the contract wants a clip: a foul, a restoration or doubt."""
    return bool(ruling.fouls or ruling.restored or ruling.review)


def clip_name(ruling_id: int) -> str:
    return f"{ruling_id:04d}.mp4"


def clip_span_s(ruling: Ruling) -> tuple[float, float]:
    """From when to when the clip runs: a second and a half around the ruling; of long ones the part that matters."""
    start, end = ruling.t_start - _AROUND_S, ruling.t_end + _AROUND_S
    if end - start > _LONGEST_S:
        if ruling.fouls:
            start = max(start, min(f.t for f in ruling.fouls) - 6.0)
            end = min(end, max(f.t for f in ruling.fouls) + 4.0)
        start = max(start, end - _LONGEST_S)
    return max(0.0, start), end


def make_clips(
    folder: MatchFolder, rulings: Iterable[Ruling], events: Sequence[Event], video: SourceVideo, words: Wording
) -> list[Path]:
    """Write ``clips/NNNN.mp4`` (NNNN the ruling's id) for each ruling given; returns the files."""
    target = folder.path / CLIPS
    target.mkdir(exist_ok=True)
    return [make_clip(folder, ruling, events, video, words, target / clip_name(ruling.id)) for ruling in rulings]


def make_clip(
    folder: MatchFolder, ruling: Ruling, events: Sequence[Event], video: SourceVideo, words: Wording, path: Path
) -> Path:
    """One clip: H.264, yuv420p, index at the front, the video's own times. It appears whole or not at all.

    Raises:
        InputError: the source video has no frame there, or ``path`` cannot be written.
    """
    start, end = clip_span_s(ruling)
    painter = _Painter(folder, ruling, events, words, start, end)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp.mp4")
    written = 0
    try:
        with av.open(str(unfinished), "w", format="mp4", options={"movflags": "+faststart"}) as out:
            stream = None
            for frame in video.frames(start, end):
                image = painter.paint(frame)
                if stream is None:
                    stream = out.add_stream("libx264", rate=30, options=_H264)
                    stream.width, stream.height, stream.pix_fmt = image.shape[1], image.shape[0], "yuv420p"
                    stream.codec_context.time_base = _TIME_BASE
                picture = av.VideoFrame.from_ndarray(image, format="bgr24")
                picture.pts = round((frame.t_s - start) / _TIME_BASE)
                picture.time_base = _TIME_BASE
                out.mux(stream.encode(picture))
                written += 1
            if stream is not None:
                out.mux(stream.encode())
        if not written:
            raise InputError(
                f"{path.name}: the video has no frame between {start:.1f} and {end:.1f} s; is it the same file?"
            )
        unfinished.replace(path)
    except (av.FFmpegError, OSError) as error:
        raise InputError(f"{path}: the clip cannot be written ({error})") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return path


class _Painter:
    """Draws one ruling onto frames. Holds the tracks of its own span only."""

    def __init__(
        self, folder: MatchFolder, ruling: Ruling, events: Sequence[Event], words: Wording, start: float, end: float
    ) -> None:
        self._ruling = ruling
        self._words = words
        self._cameras = CameraView(folder.info)
        self._radius_mm = folder.info.table.ball_radius_mm
        self._numbers = numbers_learned(events)
        self._paths = ball_paths(folder.tracks(t_from_s=start - 0.2, t_to_s=end + 0.2))
        view = stroke_view(folder, ruling, events)
        self._moved = {p.ball for p in view.paths}
        self._marks: tuple[Mark, ...] = view.marks
        self._captions: dict[int, tuple[overlay.U8, overlay.U8]] = {}
        self._told_from_s = min((f.t for f in ruling.fouls), default=ruling.t_end)

    def paint(self, frame: ShownFrame) -> overlay.U8:
        """The frame at the clip's size with everything drawn on it."""
        height, width = frame.bgr.shape[:2]
        scale = min(1.0, _WIDEST_PX / width)
        size = (int(width * scale) // 2 * 2, int(height * scale) // 2 * 2)
        image = frame.bgr.copy()
        if size != (width, height):
            image = np.asarray(cv2.resize(frame.bgr, size, interpolation=cv2.INTER_AREA), np.uint8)
        calibration = self._cameras.at(frame.t_s)
        if calibration is not None:
            to_image = np.array(size, np.float64) / np.array(calibration.camera.size_px, np.float64)
            self._paint_balls(image, frame.t_s, calibration.camera, to_image)
        return self._with_caption(image, told=frame.t_s >= self._told_from_s)

    def _paint_balls(self, image: overlay.U8, t_s: float, camera: Camera, to_image: overlay.F64) -> None:
        text_px = max(11, image.shape[0] // 42)
        for path in self._paths:
            if path.ball in self._moved:
                colour = overlay.CUE_BGR if path.ball == CUE else overlay.OBJECT_BGR
                until = path.xy_mm[(path.t_s <= t_s) & (path.t_s >= self._ruling.t_start - 0.05)]
                overlay.polyline(image, camera.project_plane(until, self._radius_mm) * to_image, colour)
        for mark in self._marks:
            if mark.t_s <= t_s <= mark.t_s + _MARK_SHOWN_S:
                at = camera.project_plane([[mark.x_mm, mark.y_mm]], self._radius_mm)[0] * to_image
                overlay.circle(image, at, max(3.0, text_px * 0.35), overlay.MARK_BGR, 2)
        fouled = {ball for foul in self._ruling.fouls if foul.t <= t_s for ball in foul.balls}
        seen = ((path.ball, _place_at(path, t_s)) for path in self._paths)
        places = {ball: place for ball, place in seen if place is not None}
        nameless = {ball for ball in places if ball != CUE and self._numbers.get(ball, ball).startswith("u")}
        unlabelled = nameless & crowded(places, self._radius_mm)
        for ball, place in places.items():
            centre = camera.project_plane(place[None], self._radius_mm)[0] * to_image
            radius = float(camera.ball_radius_px(place[None], self._radius_mm)[0] * to_image.mean())
            if ball in fouled:
                overlay.circle(image, centre, radius * 1.45, overlay.FOUL_BGR, 3)
            if ball in unlabelled:
                continue
            shown = self._numbers.get(ball, ball)
            text = "●" if shown == CUE else shown
            colour = overlay.CUE_BGR if ball == CUE else (255, 255, 255)
            sprite = overlay.label_sprite(text, text_px, colour, None)
            x = round(float(centre[0]) - sprite.shape[1] / 2)
            overlay.paste(image, sprite, x, round(float(centre[1]) - radius - sprite.shape[0]))

    def _with_caption(self, image: overlay.U8, *, told: bool) -> overlay.U8:
        """The words stand below the picture, not on it: they must not hide the near cushion. Every frame is as high."""
        width = image.shape[1]
        if width not in self._captions:
            before, after = (self._caption(width, max(13, image.shape[0] // 30), told=t) for t in (False, True))
            height = (max(len(before), len(after)) + 1) // 2 * 2
            self._captions[width] = (_strip(before, height), _strip(after, height))
        return np.vstack([image, self._captions[width][told]])

    def _caption(self, width_px: int, size_px: int, *, told: bool) -> overlay.U8:
        lines = caption_lines(self._ruling, self._words, told=told)
        serious = told and bool(self._ruling.fouls)
        accent = overlay.FOUL_BGR if serious else (overlay.MARK_BGR if self._ruling.review else (120, 200, 120))
        return overlay.caption_sprite(lines, width_px, size_px, accent)


def caption_lines(ruling: Ruling, words: Wording, *, told: bool = True) -> list[str]:
    """What stands below the picture, before and after it is told. No score: that depends on earlier rulings."""
    follows = " · ".join(consequences(ruling, words)) if told else ""
    return [headline(ruling, words, told=told), *([follows] if follows else [])]


def crowded(places: Mapping[str, overlay.F64], radius_mm: float) -> set[str]:
    """The balls that touch another or nearly: in a rack labels that say no number would only hide the balls."""
    return {
        ball
        for ball, at in places.items()
        if any(
            other != ball and np.hypot(*(at - there)) < _CROWDED_RADII * radius_mm for other, there in places.items()
        )
    }


def _strip(sprite: overlay.U8, height_px: int) -> overlay.U8:
    """A caption as opaque BGR pixels, made ``height_px`` high by more of its own ground."""
    rows = sprite[:, :, :3]
    return np.vstack([rows, np.repeat(rows[-1:], height_px - len(rows), axis=0)])


def _place_at(path: BallPath, t_s: float, gap_s: float = 0.12) -> overlay.F64 | None:
    """Where the ball is at ``t_s``, between its rows; None while it has none near."""
    after = int(np.searchsorted(path.t_s, t_s))
    if after == 0:
        return path.xy_mm[0] if path.t_s[0] - t_s < gap_s else None
    if after == len(path.t_s):
        return path.xy_mm[-1] if t_s - path.t_s[-1] < gap_s else None
    t0, t1 = path.t_s[after - 1], path.t_s[after]
    share = (t_s - t0) / (t1 - t0)
    return np.asarray(path.xy_mm[after - 1] * (1 - share) + path.xy_mm[after] * share, np.float64)
