"""Play as a number reader meets it: the looks that the pipeline would take at each ball of simulated play.

Balls are where physics put them and are drawn one by one, so that reading and the summing of what was read can be
judged by hundreds of strokes without filming one. Detection and tracking are taken as perfect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.detection.number_crops import number_crops
from vision_referee.detection.reading_turns import ReadingTurns
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Pocketed, Rest
from vision_referee.simulation.cameras import camera_for, random_mounting
from vision_referee.simulation.clips import scene_table
from vision_referee.simulation.library import random_match_scene
from vision_referee.simulation.look import BallLook, random_look
from vision_referee.simulation.recording import Recording
from vision_referee.simulation.scene import BallPose
from vision_referee.simulation.staging import stage
from vision_referee.training.ball_tiles import TileRenderer, TileView

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

FIRST_SEED = 9_100_000
"""Play from 8,000,000 on is for fitting how looks are summed."""
_FPS = 30.0
_FILL = 0.985
"""The table fills the picture: a ball is 33 px wide at 1080p, 22 px at 720p."""
_EXPOSURE_S = 1 / 100
_FOCUSED_PX, _BURNT_OUT = 0.8, 0.15
_LEGIBLE_BLUR = 0.5
"""A streak longer than this part of the radius is not read, as in the detector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedLooks:
    """All looks at one piece of play, in time order: ``t_s`` (n,), ``ball`` (n,) which one, ``xy_mm`` (n, 2), ``crops``
    (n, 40, 40, 3). ``numbers``: each ball's true number, 0 the cue ball. ``pots`` (ball, time); ``rests_s`` when
    strokes were over. ``ball_px`` the balls' median width, ``look`` how they are printed, ``clear``: a person can read
    them, four or more faces, in focus, and not burnt out."""

    t_s: F64
    ball: I64
    xy_mm: F64
    crops: U8
    numbers: tuple[int, ...]
    pots: tuple[tuple[int, float], ...]
    rests_s: tuple[float, ...]
    ball_px: float
    look: BallLook
    clear: bool


def played_looks(seed: int, *, size_px: tuple[int, int], strokes: int = 2) -> PlayedLooks | None:
    """Play of one seed on a 12 ft pyramid table seen from above; None where the seed's play cannot be staged."""
    scene = random_match_scene(FIRST_SEED + seed, strokes=strokes, table="pyramid-12ft", overhead=True)
    table = scene_table(scene)
    try:
        play = stage(scene, table).recording
    except InputError:
        return None
    rng = np.random.default_rng([FIRST_SEED + seed, 5])
    look = replace(random_look(rng, family="pyramid", extremes=0.5), overlay=False)
    camera = camera_for(replace(random_mounting(rng, overhead=True), k1=0.0, fill=_FILL), table, size_px)
    renderer = TileRenderer(camera, table, look)
    labels = tuple(play.paths)
    turns = ReadingTurns()
    times: list[float] = []
    balls: list[int] = []
    poses: list[BallPose] = []
    for t_s in np.arange(0.0, play.duration_s, 1 / _FPS):
        seen = _seen(play, labels, camera, float(t_s))
        order = turns.choose(np.array([s[2] for s in seen]).reshape(-1, 2), np.array([s[3] for s in seen]))
        for k in order.tolist():
            times.append(float(t_s))
            balls.append(seen[k][0])
            poses.append(seen[k][1])
    crops: list[U8] = []
    for first in range(0, len(poses), 64):
        views = [TileView(ball=pose) for pose in poses[first : first + 64]]
        sheet = renderer.sheet(views, rng, exposure_s=_EXPOSURE_S)
        centres = sheet.centres_px + rng.normal(0, 0.015, sheet.centres_px.shape) * sheet.radius_px[:, None]
        crops.append(number_crops(sheet.pixels, centres, sheet.radius_px * np.exp(rng.normal(0, 0.02, len(views)))))
    drawn = np.concatenate(crops)
    burnt_out = float((drawn[:, 8:-8, 8:-8].min(axis=3) > 245).mean())
    index = {label: i for i, label in enumerate(labels)}
    places = np.array([pose.centre_mm for pose in poses])
    return PlayedLooks(
        t_s=np.array(times), ball=np.array(balls, np.int64), xy_mm=places[:, :2], crops=drawn,
        numbers=tuple(play.paths[label].number or 0 for label in labels),
        pots=tuple((index[e.ball], e.t) for e in play.events if isinstance(e, Pocketed)),
        rests_s=tuple(e.t for e in play.events if isinstance(e, Rest)),
        ball_px=float(np.median(2 * camera.ball_radius_px(places[:, :2], table.ball_radius_mm))), look=look.balls,
        clear=look.balls.faces >= 4 and look.defocus_px <= _FOCUSED_PX and burnt_out < _BURNT_OUT,
    )  # fmt: skip


def _seen(
    play: Recording, labels: tuple[str, ...], camera: Camera, t_s: float
) -> list[tuple[int, BallPose, F64, float]]:
    """The balls on the bed that are sharp enough to be read: index, pose, centre and radius in px."""
    out: list[tuple[int, BallPose, F64, float]] = []
    for i, label in enumerate(labels):
        if label not in play.present(t_s) or play.place(label, t_s) != "bed":
            continue
        pose = play.paths[label].pose_at(t_s)
        if pose is None:
            continue
        half = pose.velocity_mm_s * _EXPOSURE_S / 2
        px = camera.project(np.stack([pose.centre_mm - half, pose.centre_mm, pose.centre_mm + half]))
        radius = float(camera.ball_radius_px(pose.centre_mm[None, :2], play.table.ball_radius_mm)[0])
        if float(np.linalg.norm(px[2] - px[0])) < _LEGIBLE_BLUR * radius:
            out.append((i, pose, px[1], radius))
    return out
