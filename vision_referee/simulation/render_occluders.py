"""Things in the way: cues, rests, hands, arms, heads and bodies as shaded capsules that cast shadows. Linear light."""

from __future__ import annotations

import itertools
import math

import cv2
import numba
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.simulation.ballprint import linear
from vision_referee.simulation.look import Look
from vision_referee.simulation.render_background import Background
from vision_referee.simulation.render_balls import camera_rotation
from vision_referee.simulation.scene import Capsule

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I16 = npt.NDArray[np.int16]

PIECE_MM = 220.0
_NOISE = np.random.default_rng(7).random((64, 64)).astype(np.float32)


@numba.njit(cache=True, fastmath=True)
def _draw_capsule(  # type: ignore[no-untyped-def]
    light,
    owner,
    depth,
    box,
    ax,
    ay,
    ar,
    ad,
    bx,
    by,
    br,
    bd,
    colour_a,
    colour_b,
    shade,
    cloth,
    lx,
    ly,
    lz,
    ambient,
    noise,
    seed,
):
    """A tapered capsule in the picture plane, lit as a cylinder from the direction (lx, ly, lz) of the camera frame."""
    ex = bx - ax
    ey = by - ay
    l2 = max(ex * ex + ey * ey, 1e-9)
    ln = math.sqrt(l2)
    for i in range(box[1], box[3]):
        for j in range(box[0], box[2]):
            qx = j - ax
            qy = i - ay
            t = min(1.0, max(0.0, (qx * ex + qy * ey) / l2))
            r = ar + (br - ar) * t
            rx = qx - t * ex
            ry = qy - t * ey
            d = math.sqrt(rx * rx + ry * ry)
            alpha = r + 0.5 - d
            if r < 0.5:
                alpha = (1.0 - d) * 2 * r
            if alpha <= 0.0:
                continue
            alpha = min(1.0, alpha)
            if ad + (bd - ad) * t > depth[i, j]:
                continue
            k = min(d / max(r, 0.6), 1.0)
            nz = math.sqrt(max(0.0, 1.0 - k * k))
            inv = k / max(d, 1e-6)
            n = max(0.0, rx * inv * lx + ry * inv * ly + nz * lz)
            s = (ambient * (0.5 + 0.5 * nz) + (1 - ambient) * n) * shade
            if cloth > 0.0:
                u = int(abs(t * ln * 0.45 + seed)) % 64
                v = int(abs((qx * ey - qy * ex) / ln * 0.45 + 32 + seed * 3)) % 64
                s *= 1.0 + cloth * (noise[u, v] - 0.5)
            for c in range(3):
                col = colour_a[c] * (1 - t) + colour_b[c] * t
                light[i, j, c] = light[i, j, c] * (1 - alpha) + col * s * alpha
            if alpha > 0.5:
                owner[i, j] = -2


@numba.njit(cache=True, fastmath=True)
def _capsule_shadow(dark, cloth_mm, kind, step, ax, ay, ar, bx, by, br, soft_a, soft_b, weight):  # type: ignore[no-untyped-def]
    """Multiply the coarse map ``dark`` by a capsule's shadow as thrown on the cloth by one lamp."""
    ex = bx - ax
    ey = by - ay
    l2 = max(ex * ex + ey * ey, 1e-9)
    for i in range(dark.shape[0]):
        for j in range(dark.shape[1]):
            x = cloth_mm[i * step, j * step, 0]
            y = cloth_mm[i * step, j * step, 1]
            qx = x - ax
            qy = y - ay
            t = min(1.0, max(0.0, (qx * ex + qy * ey) / l2))
            r = ar + (br - ar) * t
            soft = soft_a + (soft_b - soft_a) * t
            d = math.sqrt((qx - t * ex) ** 2 + (qy - t * ey) ** 2)
            if d > r + soft:
                continue
            v = min(1.0, (r + soft - d) / (2 * soft))
            v = v * v * (3 - 2 * v) * min(1.0, 1.5 * r / soft)
            dark[i, j] *= 1.0 - weight * v


def pieces(capsule: Capsule) -> list[tuple[Capsule, F32, F32]]:
    """A long capsule cut into short ones with their end colours (linear), so that depth order holds along it."""
    a = np.asarray(capsule.a_mm, np.float64)
    b = np.asarray(capsule.b_mm, np.float64)
    length = float(np.linalg.norm(b - a))
    count = int(np.clip(math.ceil(length / PIECE_MM), 1, 10))
    stops = np.linspace(0.0, 1.0, count + 1)
    thin_first = capsule.radius_a_mm <= capsule.radius_b_mm
    if capsule.kind == "cue" and length > 200:
        near = np.array([0.0, 10.0, 35.0]) / length
        stops = np.unique(np.concatenate([stops, near if thin_first else 1 - near]))
    made = []
    for u, v in itertools.pairwise(stops.tolist()):
        piece = Capsule(
            a_mm=a + u * (b - a),
            b_mm=a + v * (b - a),
            radius_a_mm=capsule.radius_a_mm + u * (capsule.radius_b_mm - capsule.radius_a_mm),
            radius_b_mm=capsule.radius_a_mm + v * (capsule.radius_b_mm - capsule.radius_a_mm),
            colour_bgr=capsule.colour_bgr,
            kind=capsule.kind,
        )
        colour = linear(capsule.colour_bgr)
        if capsule.kind == "cue":
            middle = ((u + v) / 2 if thin_first else 1 - (u + v) / 2) * length
            if middle < 10.0:
                colour = linear((0.55, 0.35, 0.12))
            elif middle < 35.0:
                colour = linear((0.85, 0.9, 0.92))
            elif middle > 0.55 * length:
                colour = colour * np.float32(0.25)
        made.append((piece, colour, colour))
    return made


def draw_capsule(
    light: F32,
    owner: I16,
    background: Background,
    camera: Camera,
    piece: Capsule,
    colours: tuple[F32, F32],
    look: Look,
    shade: float,
) -> None:
    """Draw one short capsule over ``light`` and mark its pixels in ``owner`` with -2."""
    rotation = camera_rotation(camera)
    ends = np.stack([piece.a_mm, piece.b_mm]).astype(np.float64)
    depth = (ends @ rotation.T + camera.tvec.reshape(3))[:, 2]
    if np.any(depth < 100):
        return
    px = camera.project(ends)
    focal = (camera.matrix[0, 0] + camera.matrix[1, 1]) / 2
    ra, rb = (float(v) for v in focal * np.array([piece.radius_a_mm, piece.radius_b_mm]) / depth)
    if not np.all(np.isfinite(px)) or np.abs(px).max() > 2e4:
        return
    height, width = light.shape[:2]
    reach = max(ra, rb) + 2
    low = np.clip(np.floor(px.min(axis=0) - reach), 0, (width, height)).astype(np.int64)
    high = np.clip(np.ceil(px.max(axis=0) + reach), 0, (width, height)).astype(np.int64)
    if low[0] >= high[0] or low[1] >= high[1]:
        return
    distance = np.linalg.norm(ends - camera.position_mm, axis=1) - np.array([piece.radius_a_mm, piece.radius_b_mm])
    up = rotation @ np.array([0.15, 0.1, 1.0])
    up = up / np.linalg.norm(up)
    cloth = 0.5 if piece.kind in ("body", "arm") else 0.12
    _draw_capsule(
        light,
        owner,
        background.depth_mm,
        np.array([low[0], low[1], high[0], high[1]]),
        px[0, 0],
        px[0, 1],
        ra,
        float(distance[0]),
        px[1, 0],
        px[1, 1],
        rb,
        float(distance[1]),
        colours[0],
        colours[1],
        shade,
        cloth,
        up[0],
        up[1],
        -up[2],
        max(look.ambient, 0.25),
        _NOISE,
        int(piece.radius_a_mm * 7) % 64,
    )


def capsule_shadows(background: Background, capsules: tuple[Capsule, ...], lamps: F64, look: Look) -> F32 | None:
    """(h, w) factor by which things in the way darken the cloth, or None when there are none."""
    if not capsules:
        return None
    step = 4
    height, width = background.kind.shape
    coarse = np.ones(((height + step - 1) // step, (width + step - 1) // step), np.float32)
    for capsule in capsules:
        for lamp in lamps:
            cast = _cast(capsule, lamp)
            if cast is not None:
                weight = float(look.shadow * (1 - look.ambient) * lamp[5])
                _capsule_shadow(coarse, background.cloth_mm, background.kind, step, *cast, weight)
        low = min(float(capsule.a_mm[2]) - capsule.radius_a_mm, float(capsule.b_mm[2]) - capsule.radius_b_mm)
        if low < 150:  # close to the cloth it also hides the even light
            soft = max(low, 0.0) + capsule.radius_a_mm + 12.0
            _capsule_shadow(
                coarse,
                background.cloth_mm,
                background.kind,
                step,
                float(capsule.a_mm[0]),
                float(capsule.a_mm[1]),
                capsule.radius_a_mm,
                float(capsule.b_mm[0]),
                float(capsule.b_mm[1]),
                capsule.radius_b_mm,
                soft,
                soft,
                0.5 * look.shadow * look.ambient,
            )
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _cast(capsule: Capsule, lamp: F64) -> tuple[float, ...] | None:
    rows = []
    for end, radius in ((capsule.a_mm, capsule.radius_a_mm), (capsule.b_mm, capsule.radius_b_mm)):
        z = max(float(end[2]), 0.0)
        if z > 0.75 * lamp[2]:
            z = 0.75 * float(lamp[2])
        k = float(lamp[2]) / (float(lamp[2]) - z)
        x = float(lamp[0]) + (float(end[0]) - float(lamp[0])) * k
        y = float(lamp[1]) + (float(end[1]) - float(lamp[1])) * k
        soft = max(4.0, (k - 1.0) * 0.5 * float(lamp[3] + lamp[4]))
        rows.append((x, y, radius * k, soft))
    (ax, ay, ar, sa), (bx, by, br, sb) = rows
    return (ax, ay, ar, bx, by, br, sa, sb)
