"""Balls as spheres under lamps: shading, reflections of the lamps, printed faces, motion blur. Linear light."""

from __future__ import annotations

import math

import cv2
import numba
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.ballprint import BallPaint
from vision_referee.simulation.look import Look
from vision_referee.simulation.render_background import Background, Rays, ray_at
from vision_referee.simulation.scene import BallPose

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I16 = npt.NDArray[np.int16]


def lamp_rows(look: Look, table: TableSpec) -> F64:
    """(n, 6): centre x y z in mm, half sizes in mm, power as a part of the direct light."""
    total = sum(lamp.power for lamp in look.lamps) or 1.0
    return np.asarray(
        [
            [
                lamp.centre[0] * table.length_mm, lamp.centre[1] * table.width_mm, lamp.centre[2],
                lamp.half_mm[0], lamp.half_mm[1], lamp.power / total,
            ]
            for lamp in look.lamps
        ],
        np.float64,
    ).reshape(-1, 6)  # fmt: skip


@numba.njit(cache=True, fastmath=True)
def _paint(nx, ny, nz, base, band, band_cos, decal, tan_decal, faces):  # type: ignore[no-untyped-def]
    """Albedo at the unit vector (nx, ny, nz) of the ball's own frame."""
    b = base[0]
    g = base[1]
    r = base[2]
    if band_cos > 0.0 and abs(nz) < band_cos:
        b = band[0]
        g = band[1]
        r = band[2]
    if faces > 0:
        ax = abs(nx)
        ay = abs(ny)
        az = abs(nz)
        if ax >= ay and ax >= az:
            face = 0 if nx > 0 else 1
            u = (ny if nx > 0 else -ny) / ax
            v = -nz / ax
        elif ay >= az:
            face = 2 if ny > 0 else 3
            u = (-nx if ny > 0 else nx) / ay
            v = -nz / ay
        else:
            face = 4 if nz > 0 else 5
            u = ny / az
            v = (nx if nz > 0 else -nx) / az
        if face < faces and abs(u) < tan_decal and abs(v) < tan_decal:
            size = decal.shape[0]
            fu = (u / tan_decal * 0.5 + 0.5) * (size - 1)
            fv = (v / tan_decal * 0.5 + 0.5) * (size - 1)
            a = decal[int(fv + 0.5), int(fu + 0.5), 3]
            b = b * (1 - a) + decal[int(fv + 0.5), int(fu + 0.5), 0] * a
            g = g * (1 - a) + decal[int(fv + 0.5), int(fu + 0.5), 1] * a
            r = r * (1 - a) + decal[int(fv + 0.5), int(fu + 0.5), 2] * a
    return b, g, r


@numba.njit(cache=True, fastmath=True)
def _draw_ball(  # type: ignore[no-untyped-def]
    light, owner, depth, index, box, grid, to_table, origin, centres, spins, radius, samples, lamps, lit, tint, cloth,
    ambient, gloss, base, band, band_cos, decal, tan_decal, faces,
):  # fmt: skip
    """Composite one ball over ``light``; ``centres`` (n, 3) and ``spins`` (n, 3, 3) over the exposure.

    Returns the ball's whole area and its area not hidden by the table, in pixels."""
    steps = centres.shape[0]
    total = 0.0
    seen = 0.0
    weight = 1.0 / (steps * samples * samples)
    for i in range(box[1], box[3]):
        for j in range(box[0], box[2]):
            sb = 0.0
            sg = 0.0
            sr = 0.0
            alpha = 0.0
            limit = 1e9
            inside = 0 <= i < depth.shape[0] and 0 <= j < depth.shape[1]
            if inside:
                limit = depth[i, j]
            for a in range(samples):
                for c in range(samples):
                    px = j + (c + 0.5) / samples - 0.5
                    py = i + (a + 0.5) / samples - 0.5
                    dx, dy, dz = ray_at(px, py, grid, to_table)
                    for s in range(steps):
                        ox = origin[0] - centres[s, 0]
                        oy = origin[1] - centres[s, 1]
                        oz = origin[2] - centres[s, 2]
                        half_b = ox * dx + oy * dy + oz * dz
                        q = half_b * half_b - (ox * ox + oy * oy + oz * oz - radius * radius)
                        if q <= 0.0:
                            continue
                        t = -half_b - math.sqrt(q)
                        total += weight
                        # The depth is the pixel centre's: a rail's edge over a ball is not smoothed
                        if not inside or t > limit:
                            continue
                        alpha += weight
                        nx = (ox + t * dx) / radius
                        ny = (oy + t * dy) / radius
                        nz = (oz + t * dz) / radius
                        m = spins[s]
                        b, g, r = _paint(
                            m[0, 0] * nx + m[1, 0] * ny + m[2, 0] * nz,
                            m[0, 1] * nx + m[1, 1] * ny + m[2, 1] * nz,
                            m[0, 2] * nx + m[1, 2] * ny + m[2, 2] * nz,
                            base, band, band_cos, decal, tan_decal, faces,
                        )  # fmt: skip
                        x = centres[s, 0] + nx * radius
                        y = centres[s, 1] + ny * radius
                        z = centres[s, 2] + nz * radius
                        up = 0.5 + 0.5 * nz
                        near = min(1.0, max(0.0, z / radius))
                        sky = ambient * (0.25 + 0.75 * up) * (0.55 + 0.45 * near)
                        direct = 0.0
                        shine = 0.0
                        dot = dx * nx + dy * ny + dz * nz
                        rx = dx - 2 * dot * nx
                        ry = dy - 2 * dot * ny
                        rz = dz - 2 * dot * nz
                        for k in range(lamps.shape[0]):
                            lx = lamps[k, 0] - x
                            ly = lamps[k, 1] - y
                            lz = lamps[k, 2] - z
                            d = math.sqrt(lx * lx + ly * ly + lz * lz)
                            cosine = (lx * nx + ly * ny + lz * nz) / d
                            wrap = max(0.0, (cosine + 0.15) / 1.15)
                            direct += lamps[k, 5] * wrap
                            if rz > 0.02:
                                tl = lz / rz
                                ex = abs(x + tl * rx - lamps[k, 0]) - lamps[k, 3]
                                ey = abs(y + tl * ry - lamps[k, 1]) - lamps[k, 4]
                                e = max(ex, ey)
                                if e < 60.0:
                                    shine += (1.0 if e < 0 else 1.0 - e / 60.0) * min(4.0, 0.5 + lamps[k, 5] * 3.0)
                        fresnel = 0.04 + 0.5 * (1.0 + dot) ** 5
                        lum = sky + (1 - ambient) * direct * 1.3
                        bounce = (0.5 - 0.5 * nz) * 0.35
                        mirror = gloss * (shine * (0.8 + 3 * fresnel) + 0.12 * fresnel * up * (ambient + 0.3))
                        sb += weight * ((b * (lum + bounce * cloth[0])) * lit + mirror * lit) * tint[0]
                        sg += weight * ((g * (lum + bounce * cloth[1])) * lit + mirror * lit) * tint[1]
                        sr += weight * ((r * (lum + bounce * cloth[2])) * lit + mirror * lit) * tint[2]
            if alpha > 0.0:
                light[i, j, 0] = light[i, j, 0] * (1 - alpha) + sb
                light[i, j, 1] = light[i, j, 1] * (1 - alpha) + sg
                light[i, j, 2] = light[i, j, 2] * (1 - alpha) + sr
                seen += alpha
                if alpha > 0.3:
                    owner[i, j] = index
    return total, seen


@numba.njit(cache=True, fastmath=True)
def _ball_shadow(dark, cloth_mm, kind, x0, y0, x1, y1, cx, cy, cz, radius, lamps, ambient, strength):  # type: ignore[no-untyped-def]
    """Multiply ``dark`` (h, w) by what one ball leaves of the light on cloth, cushion and pocket."""
    for i in range(y0, y1):
        for j in range(x0, x1):
            if kind[i, j] > 6:
                continue
            x = cloth_mm[i, j, 0]
            y = cloth_mm[i, j, 1]
            qx = cx - x
            qy = cy - y
            far2 = qx * qx + qy * qy
            if far2 > 36.0 * radius * radius:
                continue
            lost = 0.0
            for k in range(lamps.shape[0]):
                lx = lamps[k, 0] - x
                ly = lamps[k, 1] - y
                lz = lamps[k, 2]
                d2 = lx * lx + ly * ly + lz * lz
                along = (lx * qx + ly * qy + lz * cz) / d2
                if along <= 0.0 or along >= 1.0:
                    continue
                ex = qx - along * lx
                ey = qy - along * ly
                ez = cz - along * lz
                miss = math.sqrt(ex * ex + ey * ey + ez * ez)
                soft = max(3.0, along * 0.5 * (lamps[k, 3] + lamps[k, 4]) * 0.9)
                v = (radius + soft - miss) / (2 * soft)
                v = min(1.0, max(0.0, v))
                v = v * v * (3 - 2 * v)
                full = min(1.0, (radius / soft) ** 2)
                lost += lamps[k, 5] * v * full
            # what the ball hides of the hall's even light: strongest where it touches
            d = math.sqrt(far2 + cz * cz)
            hidden = (radius / max(d, radius)) ** 2 * (cz / max(d, 1e-3))
            keep = 1.0 - strength * ((1 - ambient) * lost + ambient * 0.9 * min(1.0, hidden))
            dark[i, j] *= max(keep, 0.03)


def exposure_poses(ball: BallPose, exposure_s: float, steps: int) -> tuple[F64, F64]:
    """Centres (n, 3) and rotations (n, 3, 3) at n instants spread over the exposure, centred on the frame's time."""
    times = (np.arange(steps) + 0.5) / steps - 0.5 if steps > 1 else np.zeros(1)
    offsets = times * exposure_s
    centres = np.asarray(ball.centre_mm, np.float64) + offsets[:, None] * np.asarray(ball.velocity_mm_s, np.float64)
    spins = np.empty((steps, 3, 3))
    omega = np.asarray(ball.spin_rad_s, np.float64)
    speed = float(np.linalg.norm(omega))
    for s, dt in enumerate(offsets):
        spins[s] = _turn(omega, speed, float(dt)) @ ball.rotation if speed > 1e-6 else ball.rotation
    return centres, spins


def _turn(omega: F64, speed: float, dt: float) -> F64:
    axis = omega / speed
    angle = speed * dt
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross, np.float64)


def streak_steps(camera: Camera, ball: BallPose, exposure_s: float) -> int:
    """How many instants draw a smooth streak."""
    move = np.asarray(ball.velocity_mm_s) * exposure_s
    if float(np.linalg.norm(move)) < 0.5:
        return 1
    ends = camera.project(np.stack([ball.centre_mm - move / 2, ball.centre_mm + move / 2]))
    return int(np.clip(np.ceil(np.linalg.norm(ends[1] - ends[0]) / 1.5), 1, 40))


def ball_box(
    camera: Camera, centres_mm: F64, radius_mm: float, margin_px: float = 2.0
) -> tuple[int, int, int, int] | None:
    """Pixel box x0 y0 x1 y1 (half open, not clipped) that holds a ball at all ``centres_mm``; None behind the lens."""
    offsets = radius_mm * 1.05 * _BOX_DIRECTIONS
    points = (centres_mm[[0, -1], None, :] + offsets[None]).reshape(-1, 3)
    rotation = camera_rotation(camera)
    if np.any((points @ rotation.T + camera.tvec.reshape(3))[:, 2] < 50):
        return None
    px = camera.project(points)
    low = np.floor(px.min(axis=0) - margin_px)
    high = np.ceil(px.max(axis=0) + margin_px) + 1
    if not np.all(np.isfinite(px)) or np.any(high - low > 4000):
        return None
    return (int(low[0]), int(low[1]), int(high[0]), int(high[1]))


def camera_rotation(camera: Camera) -> F64:
    """The camera's rotation matrix (3, 3), table frame to camera frame."""
    return np.asarray(cv2.Rodrigues(camera.rvec)[0], np.float64)


_BOX_DIRECTIONS = np.array(
    [[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) != (0, 0, 0)], np.float64
)
_BOX_DIRECTIONS /= np.linalg.norm(_BOX_DIRECTIONS, axis=1, keepdims=True)
_BOX_DIRECTIONS *= 1.02


def draw_ball(
    light: F32,
    owner: I16,
    background: Background,
    camera: Camera,
    rays: Rays,
    *,
    index: int,
    ball: BallPose,
    paint: BallPaint,
    radius_mm: float,
    exposure_s: float,
    lamps: F64,
    look: Look,
    lit: float,
) -> tuple[float, float]:
    """Draw a ball over ``light`` (h, w, 3), and its ``index`` into ``owner`` (h, w).

    Returns its whole area and the part the table leaves open, in pixels (inside the picture and out of it).
    """
    steps = streak_steps(camera, ball, exposure_s)
    centres, spins = exposure_poses(ball, exposure_s, steps)
    box = ball_box(camera, centres, radius_mm)
    if box is None:
        return 0.0, 0.0
    height, width = light.shape[:2]
    if box[2] < 0 or box[3] < 0 or box[0] > width or box[1] > height:
        return 1.0, 0.0
    samples = 3 if steps < 4 else 2
    tan_decal = math.tan(math.radians(paint.decal_deg))
    cloth = np.power(np.asarray(look.cloth_bgr, np.float64), 2.2)
    total, seen = _draw_ball(
        light, owner, background.depth_mm, index, np.asarray(box, np.int64), rays.grid, rays.to_table, rays.origin_mm,
        centres, spins, radius_mm, samples, lamps, lit, np.asarray(look.light_bgr, np.float64), cloth, look.ambient,
        look.balls.gloss, paint.base, paint.band, paint.band_cos, paint.decal, tan_decal, paint.faces,
    )  # fmt: skip
    return float(total), float(seen)


def shade_under_ball(
    dark: F32,
    background: Background,
    camera: Camera,
    ball: BallPose,
    *,
    radius_mm: float,
    exposure_s: float,
    lamps: F64,
    look: Look,
) -> None:
    """Multiply ``dark`` (h, w) by a ball's soft shadow on the table."""
    steps = min(streak_steps(camera, ball, exposure_s), 6)
    centres, _ = exposure_poses(ball, exposure_s, steps)
    height, width = dark.shape
    cx, cy = float(ball.centre_mm[0]), float(ball.centre_mm[1])
    reach = radius_mm * 6.0
    corners = [[cx + sx * reach, cy + sy * reach, 0.0] for sx in (-1, 0, 1) for sy in (-1, 0, 1)]
    px = camera.project(np.asarray(corners))
    x0, y0 = (int(v) for v in np.clip(px.min(axis=0), 0, (width, height)))
    x1, y1 = (int(v) for v in np.clip(px.max(axis=0) + 1, 0, (width, height)))
    if x0 >= x1 or y0 >= y1:
        return
    strength = look.shadow / 1.0
    if steps == 1:
        _ball_shadow(
            dark,
            background.cloth_mm,
            background.kind,
            x0,
            y0,
            x1,
            y1,
            *centres[0],
            radius_mm,
            lamps,
            look.ambient,
            strength,
        )
        return
    patch = np.zeros((height, width), np.float32)
    for centre in centres:
        one = np.ones((height, width), np.float32)
        _ball_shadow(
            one, background.cloth_mm, background.kind, x0, y0, x1, y1, *centre, radius_mm, lamps, look.ambient, strength
        )
        patch += one
    dark *= patch / steps
