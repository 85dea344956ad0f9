"""What changed on the table is noticed, what noise changes is not, and tiles cover all of it at little cost."""

from __future__ import annotations

import cv2
import numpy as np
from drawn_table import camera_over

from vision_referee.calibration.tables import load_table
from vision_referee.detection.attention import Attention, Spot
from vision_referee.detection.region import table_region
from vision_referee.detection.tiles import tiles_of
from vision_referee.video.frames import Frame

TABLE = load_table("pyramid-12ft")
CAMERA = camera_over(TABLE, elevation_deg=89.9, fill=0.95)
CLOTH_BGR = (60, 110, 40)
AS_BRIGHT_BGR = (20, 68, 160)
"""A red that is as bright as that cloth."""
RNG = np.random.default_rng(4)


def attention() -> Attention:
    region = table_region(CAMERA, TABLE, pixels=960 * 544, least_ball_px=13, most_pixels=1280 * 736)
    return Attention(CAMERA, TABLE, region)


def shown(
    balls_mm: list[tuple[float, float]], colour: tuple[int, int, int] = (235, 240, 240), noise: float = 2.0
) -> Frame:
    bgr = np.full((720, 1280, 3), CLOTH_BGR, np.uint8)
    for (x, y), r in zip(CAMERA.project_plane(balls_mm, 34.0), CAMERA.ball_radius_px(balls_mm, 34.0), strict=True):
        cv2.circle(bgr, (round(x * 16), round(y * 16)), round(r * 16), colour, -1, cv2.LINE_AA, 4)
    noisy = cv2.GaussianBlur(bgr, (0, 0), 0.7) + RNG.normal(0, noise, bgr.shape)
    return Frame.still(np.clip(noisy, 0, 255).astype(np.uint8))


def places(balls_mm: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    return CAMERA.project_plane(balls_mm, 34.0), CAMERA.ball_radius_px(balls_mm, 34.0) * 1.1


def warmed(balls: list[tuple[float, float]], **look: object) -> Attention:
    """Has seen some quiet frames."""
    watch = attention()
    for _ in range(6):
        watch.changes(shown(balls, **look))  # type: ignore[arg-type]
        watch.looked()
    return watch


def test_noise_alone_stirs_no_ball_and_makes_no_spot() -> None:
    balls = [(800.0, 700.0), (2000.0, 1200.0), (3000.0, 300.0)]
    watch = warmed(balls)
    nothing = np.zeros(watch.shape, np.uint8)
    for _ in range(5):
        changes = watch.changes(shown(balls))
        assert not watch.stirred(changes, *places(balls)).any()
        assert watch.spots(changes, nothing)[0] == []


def test_a_ball_that_stirs_by_a_millimetre_or_two_is_noticed_and_only_that_one() -> None:
    balls = [(800.0, 700.0), (2000.0, 1200.0), (3000.0, 300.0)]
    watch = warmed(balls)
    changes = watch.changes(shown([balls[0], (2002.5, 1200.0), balls[2]]))
    assert watch.stirred(changes, *places(balls)).tolist() == [False, True, False]


def test_a_ball_as_bright_as_the_cloth_is_noticed_by_its_colour() -> None:
    balls = [(800.0, 700.0), (2000.0, 1200.0)]
    watch = warmed(balls, colour=AS_BRIGHT_BGR)
    changes = watch.changes(shown([balls[0], (2006.0, 1200.0)], AS_BRIGHT_BGR))
    assert watch.stirred(changes, *places(balls)).tolist() == [False, True]


def test_a_creeping_ball_adds_up_until_it_is_noticed() -> None:
    watch = warmed([(2000.0, 800.0)])
    noticed = None
    for k in range(1, 12):
        at = [(2000.0 + 0.4 * k, 800.0)]
        changes = watch.changes(shown(at))
        if watch.stirred(changes, *places([(2000.0, 800.0)])).any():
            noticed = 0.4 * k
            break
    assert noticed is not None and noticed < 3.5


def test_a_new_ball_is_a_spot_of_about_a_balls_size_and_is_forgotten_once_looked_at() -> None:
    watch = warmed([(800.0, 700.0)])
    both = [(800.0, 700.0), (2500.0, 400.0)]
    changes = watch.changes(shown(both))
    spots, labels = watch.spots(changes, np.zeros(watch.shape, np.uint8))
    assert len(spots) == 1 and 0.8 < spots[0].balls < 9
    at = CAMERA.project_plane([both[1]], 34.0)
    assert watch.at(labels, at)[0] == spots[0].label
    assert spots[0].x0 < at[0, 0] < spots[0].x1 and spots[0].y0 < at[0, 1] < spots[0].y1
    watch.looked(labels == spots[0].label)
    assert watch.spots(watch.changes(shown(both)), np.zeros(watch.shape, np.uint8))[0] == []


def test_what_happens_off_the_table_is_nothing() -> None:
    watch = warmed([(800.0, 700.0)])
    frame = shown([(800.0, 700.0)])
    bgr = frame.bgr().copy()
    bgr[:6, :] = 250
    assert watch.spots(watch.changes(Frame.still(bgr)), np.zeros(watch.shape, np.uint8))[0] == []


def spot(x: float, y: float, label: int, *, size: float = 30.0, ball_px: float = 22.0) -> Spot:
    return Spot(x0=int(x), y0=int(y), x1=int(x + size), y1=int(y + size), ball_px=ball_px, balls=2.0, label=label)


def test_tiles_cover_every_spot_with_room_around_and_stay_in_the_picture() -> None:
    spots = [spot(4, 4, 1), spot(600, 300, 2), spot(640, 310, 3), spot(1245, 685, 4), spot(100, 650, 5, size=200.0)]
    tiles = tiles_of(spots, (1280, 720))
    assert sorted(label for tile in tiles for label in tile.labels) == [1, 2, 3, 4, 5]
    for tile in tiles:
        region = tile.region
        assert 0 <= region.x0 < region.x1 <= 1280 and 0 <= region.y0 < region.y1 <= 720
        for one in spots:
            if one.label in tile.labels:
                assert region.x0 <= max(0, one.x0 - 15) and region.x1 >= min(1280, one.x1 + 15)
                assert region.y0 <= max(0, one.y0 - 15) and region.y1 >= min(720, one.y1 + 15)


def test_neighbours_share_a_tile_and_far_ones_do_not() -> None:
    assert len(tiles_of([spot(600, 300, 1, size=12), spot(615, 305, 2, size=12)], (1280, 720))) == 1
    assert len(tiles_of([spot(100, 100, 1), spot(1100, 600, 2)], (1280, 720))) == 2


def test_tiles_have_few_sizes() -> None:
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(200):
        one = spot(*rng.uniform(200, 500, 2), 1, size=rng.uniform(10, 130), ball_px=rng.uniform(10, 50))
        sizes |= {tile.region.input_px for tile in tiles_of([one], (1280, 720)) if max(tile.region.input_px) < 1000}
    assert len(sizes) <= 4
