"""A small match made by hand: a camera, a video drawn through it, tracks, events and rulings that belong together.

Small Russian pyramid, players Anna and Boris, four rulings: 1 a called ball pocketed; 2 the cue ball pocketed (a foul);
3 a hanging ball that fell late and is put back; 4 a miss that is in doubt.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import av
import cv2
import numpy as np

from vision_referee.calibration.calibration import Calibration
from vision_referee.calibration.camera import Camera
from vision_referee.domain.events import (
    BallAt,
    Call,
    Contact,
    CushionHit,
    Event,
    Hanging,
    Pocketed,
    Rest,
    Source,
    Starts,
    Stopped,
    Strike,
)
from vision_referee.domain.rulings import (
    CountedBall,
    CueBallState,
    Foul,
    FoulCode,
    NextStroke,
    Penalty,
    Ruling,
    RulingKind,
)
from vision_referee.domain.table import PocketName, TableSpec
from vision_referee.record.frame_times import FrameTimes
from vision_referee.record.match_folder import MatchFolderWriter
from vision_referee.record.match_info import MatchInfo, SourceFile, read_match_info, write_match_info
from vision_referee.tracking.tracks import BallState, TrackRow

PLAYERS = ("Anna", "Boris")
FPS = 25
DURATION_S = 26.0
TABLE = TableSpec(
    name="pyramid-12ft", family="pyramid", length_mm=3550, width_mm=1775, ball_diameter_mm=68, ball_mass_kg=0.285,
    corner_mouth_mm=73, middle_mouth_mm=83, nose_height_mm=43,
)  # fmt: skip

_POCKET_7 = TABLE.pocket(PocketName.FOOT_LEFT).mouth_mm
_POCKET_CUE = TABLE.pocket(PocketName.HEAD_RIGHT).mouth_mm
_POCKET_3 = TABLE.pocket(PocketName.MIDDLE_LEFT).mouth_mm

# Ball -> [(t, x, y), ...]: where it lies or passes; straight and steady between. A ball is gone after its last point.
WAYPOINTS: dict[str, list[tuple[float, float, float]]] = {
    "cue": [
        (0, 800, 880), (2.0, 800, 880), (2.8, 2310, 1290), (3.8, 2000, 1500), (8.0, 2000, 1500), (9.0, 1300, 420),
        (9.8, *_POCKET_CUE), (9.84, *_POCKET_CUE),
    ],
    "7": [(0, 2366, 1310), (2.8, 2366, 1310), (3.5, *_POCKET_7), (3.54, *_POCKET_7)],
    "3": [(0, 1775, 1735), (16.0, 1775, 1735), (16.1, *_POCKET_3), (16.14, *_POCKET_3)],
    "11": [(0, 1250, 370), (9.0, 1250, 370), (10.5, 1050, 60), (26.0, 1050, 60)],
    "u1": [(0, 3000, 600), (26.0, 3000, 600)],
}  # fmt: skip
_CUE_AGAIN = [(14.0, 500.0, 900.0), (20.0, 500.0, 900.0), (21.5, 2900.0, 1200.0), (26.0, 2900.0, 1200.0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handmade:
    folder: Path
    video: Path
    camera: Camera


def overhead_camera(size_px: tuple[int, int] = (640, 360)) -> Camera:
    """A camera 5.2 m above the table and a little aside, that sees all of it."""
    width, height = size_px
    focal = width * 1.15
    eye = np.array([1775.0, 300.0, 5200.0])
    target = np.array([1775.0, 880.0, 0.0])
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.array([1.0, 0.0, 0.0])
    down = np.cross(forward, right)
    rotation = np.vstack([right, down, forward])
    rvec, _ = cv2.Rodrigues(rotation)
    return Camera(
        matrix=np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1.0]]),
        distortion=np.zeros(5),
        rvec=rvec.reshape(3),
        tvec=-rotation @ eye,
        size_px=size_px,
    )


def handmade_calibration(camera: Camera) -> Calibration:
    corners = [[0, 0], [0, TABLE.width_mm], [TABLE.length_mm, TABLE.width_mm], [TABLE.length_mm, 0]]
    return Calibration(
        table=TABLE, camera=camera, residual_mm=1.3, residual_px=0.2,
        corners_px=camera.project_plane(corners, TABLE.nose_height_mm), head_side="left", head_known=True,
    )  # fmt: skip


def place(ball: str, t_s: float) -> tuple[float, float] | None:
    """Where a ball is, None when it is not on the bed."""
    points = WAYPOINTS[ball]
    if ball == "cue" and t_s >= _CUE_AGAIN[0][0]:
        points = _CUE_AGAIN
    if not points[0][0] <= t_s <= points[-1][0]:
        return None
    times = [p[0] for p in points]
    return float(np.interp(t_s, times, [p[1] for p in points])), float(np.interp(t_s, times, [p[2] for p in points]))


def rows_at(frame: int) -> list[TrackRow]:
    t = frame / FPS
    rows = []
    for ball in WAYPOINTS:
        here = place(ball, t)
        if here is not None:
            before = place(ball, max(t - 1 / FPS, 0)) or here
            v = ((here[0] - before[0]) * FPS, (here[1] - before[1]) * FPS)
            state = BallState.MOVING if np.hypot(*v) > 1 else BallState.RESTING
            x, y = here
            rows.append(TrackRow(t=t, frame=frame, ball=ball, x=x, y=y, vx=v[0], vy=v[1], state=state, confidence=0.97))
    return rows


def lying(t_s: float) -> tuple[BallAt, ...]:
    places = ((ball, place(ball, t_s)) for ball in WAYPOINTS)
    return tuple(BallAt(ball=ball, x=p[0], y=p[1]) for ball, p in places if p is not None)


def events() -> list[Event]:
    foot_left, head_right, middle_left = PocketName.FOOT_LEFT, PocketName.HEAD_RIGHT, PocketName.MIDDLE_LEFT
    official = Source.OFFICIAL
    return [
        Rest(t=0.0, balls=lying(0.0)),
        Starts(t=0.1, player="Anna", source=official),
        Call(t=1.0, ball="7", pocket=foot_left, source=official),
        Strike(t=2.0, ball="cue", x=800, y=880, vx=1887, vy=512, frame=50),
        Contact(t=2.8, balls=("cue", "7"), x=2338, y=1300, frame=70),
        Pocketed(t=3.5, ball="7", pocket=foot_left, confidence=0.98, frame=87),
        Stopped(t=3.8, ball="cue", x=2000, y=1500),
        Rest(t=3.8, balls=lying(3.8)),
        Hanging(t=3.8, ball="3", pocket=middle_left, x=1775, y=1735),
        Call(t=6.0, ball="11", pocket=head_right, source=official),
        Strike(t=8.0, ball="cue", x=2000, y=1500, vx=-700, vy=-1080, frame=200),
        Contact(t=9.0, balls=("cue", "11"), x=1275, y=395, frame=225),
        Pocketed(t=9.8, ball="cue", pocket=head_right, confidence=0.99, frame=245),
        CushionHit(t=10.4, ball="11", cushion="right", x=1060, y=34),  # type: ignore[arg-type]
        Stopped(t=10.5, ball="11", x=1050, y=60),
        Rest(t=10.5, balls=lying(10.5)),
        Pocketed(t=16.1, ball="3", pocket=middle_left, confidence=0.97, frame=402),
        Strike(t=20.0, ball="cue", x=500, y=900, vx=1600, vy=200, frame=500),
        Stopped(t=21.5, ball="cue", x=2900, y=1200),
        Rest(t=21.5, balls=lying(21.5)),
    ]


def rulings() -> list[Ruling]:
    return [
        Ruling(
            id=1, kind=RulingKind.STROKE, t_start=2.0, t_end=3.8, player="Anna",
            counted=(CountedBall(ball="7", pocket=PocketName.FOOT_LEFT, points=7),),
            next=NextStroke(player="Anna", cue_ball=CueBallState.IN_PLACE), score={"Anna": 7, "Boris": 0},
            confidence=0.98, text={
                "en": "Ball 7 in the foot left pocket: 7 points. Anna goes on.",
                "ru": "Седьмой в заднюю левую: 7 очков. Анна продолжает.",
            },
        ),
        Ruling(
            id=2, kind=RulingKind.STROKE, t_start=8.0, t_end=10.5, player="Anna",
            fouls=(Foul(code=FoulCode.CUE_BALL_POCKETED, rule="G-20.13", t=9.8, balls=("cue",), confidence=0.99),),
            penalty=Penalty(points=5, to="Boris"), next=NextStroke(player="Boris", cue_ball=CueBallState.IN_HAND_HOUSE),
            score={"Anna": 2, "Boris": 5}, confidence=0.99,
            text={
                "en": "Cue ball pocketed. 5 points to Boris, who plays from hand.",
                "ru": "Падение битка. 5 очков Борису, он играет с руки из дома.",
            },
        ),
        Ruling(
            id=3, kind=RulingKind.HANGING, t_start=16.0, t_end=16.5, player=None,
            restored=(BallAt(ball="3", x=1775, y=1735),),
            next=NextStroke(player="Boris", cue_ball=CueBallState.IN_HAND_HOUSE),
            score={"Anna": 2, "Boris": 5}, confidence=0.97,
            text={
                "en": "Ball 3 hung for more than 5 s and fell: it is put back.",
                "ru": "Третий висел больше 5 с и упал: поставить на место.",
            },
        ),
        Ruling(
            id=4, kind=RulingKind.STROKE, t_start=20.0, t_end=21.5, player="Boris",
            fouls=(Foul(code=FoulCode.NO_CONTACT, rule="G-20.1", t=21.5, balls=("cue",), confidence=0.7),),
            penalty=Penalty(points=5, to="Anna"), next=NextStroke(player="Anna", cue_ball=CueBallState.IN_PLACE),
            score={"Anna": 7, "Boris": 0}, confidence=0.7, review=True,
            text={
                "en": "No object ball touched, it seems. 5 points to Anna.",
                "ru": "Похоже, биток не коснулся шара. 5 очков Анне.",
            },
        ),
    ]  # fmt: skip


def draw_frame(camera: Camera, t_s: float) -> np.ndarray:
    width, height = camera.size_px
    image = np.full((height, width, 3), (60, 45, 40), np.uint8)
    m = TABLE.rail_width_mm
    for margin, colour in ((m, (40, 60, 90)), (0.0, (70, 110, 40))):
        far_x, far_y = TABLE.length_mm + margin, TABLE.width_mm + margin
        corners = [[-margin, -margin], [-margin, far_y], [far_x, far_y], [far_x, -margin]]
        cv2.fillPoly(image, [np.round(camera.project_plane(corners, 0.0)).astype(np.int32)], colour)
    for ball in WAYPOINTS:
        here = place(ball, t_s)
        if here is not None:
            centre = camera.project_plane([here], TABLE.ball_radius_mm)[0]
            radius = camera.ball_radius_px([here], TABLE.ball_radius_mm)[0]
            colour = (60, 60, 200) if ball == "cue" else (225, 235, 240)
            fixed = (round(centre[0] * 16), round(centre[1] * 16))
            cv2.circle(image, fixed, round(radius * 16), colour, -1, cv2.LINE_AA, 4)
    return image


def write_video(path: Path, camera: Camera) -> None:
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=FPS, options={"preset": "ultrafast", "g": "25"})
        stream.width, stream.height = camera.size_px
        stream.pix_fmt = "yuv420p"
        for index in range(round(DURATION_S * FPS)):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(draw_frame(camera, index / FPS), format="bgr24")))
        out.mux(stream.encode())


def match_info(video: Path, camera: Camera, *, rules: str = "small-russian") -> MatchInfo:
    frames = round(DURATION_S * FPS)
    return MatchInfo(
        files=(SourceFile(path=str(video)),), width=camera.size_px[0], height=camera.size_px[1],
        frame_times=FrameTimes(round(i / FPS, 6) for i in range(frames)), table=TABLE, table_reason="given by --table",
        calibration=handmade_calibration(camera).to_json(), rules=rules, players=PLAYERS,
        settings={"edition": "1994", "hanging_s": 5.0, "handicap": {}}, models={"balls": "handmade"},
        warnings=("the clip is drawn by hand",),
    )  # fmt: skip


def write_match(folder: Path, *, rules: str = "small-russian") -> Handmade:
    """Make ``folder`` and, beside it, its video."""
    camera = overhead_camera()
    video = folder.with_name(f"{folder.name}.mp4")
    write_video(video, camera)
    with MatchFolderWriter(folder) as writer:
        for frame in range(round(DURATION_S * FPS)):
            writer.add_rows(rows_at(frame))
        writer.add_events(events())
        if rules != "none":
            for ruling in rulings():
                writer.add_ruling(ruling)
        writer.finish(match_info(video, camera, rules=rules))
        writer.publish()
    return Handmade(folder=folder, video=video, camera=camera)


@cache
def shared_match() -> Handmade:
    """One match for all tests that only read it."""
    top = Path(tempfile.mkdtemp(prefix="handmade-match-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    return write_match(top / "match")


def copied_match(folder: Path) -> Handmade:
    """The same match in ``folder``, to be changed; the video is shared."""
    made = shared_match()
    shutil.copytree(made.folder, folder)
    write_match_info(folder, replace(read_match_info(folder), id=uuid.uuid4().hex))
    return Handmade(folder=folder, video=made.video, camera=made.camera)
