"""The empty table as a camera sees it: one ray a pixel, edges supersampled. Linear light.

The table is drawn as a few planes: the cloth at z = 0, the cushions and rails at the nose's height, pockets as holes
through both, the apron below the rail, the floor below the table, and a wall where rays do not meet the floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numba
import numpy as np
import numpy.typing as npt

from vision_referee.calibration.camera import Camera, undistorted_rays
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.look import Look
from vision_referee.simulation.render_textures import (
    CLOTH_MM_PER_TEXEL,
    FLOOR_SPAN_MM,
    cloth_texture,
    floor_texture,
    rail_texture,
)

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

GRID_PX = 8
FLOOR_Z_MM = -820.0
LIGHT_MARGIN_MM = 400.0
CLOTH, CUSHION, FACE, RAIL, SIGHT, CORNER, RIM, HOLE, WALL_OF_HOLE, APRON, FLOOR, WALL = range(12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """``light`` (h, w, 3) linear BGR; ``depth_mm`` (h, w) along the ray; ``kind`` (h, w) uint8, one of the constants
    above; ``cloth_mm`` (h, w, 2) where the pixel's ray meets z = 0 (table frame)."""

    light: F32
    depth_mm: F32
    kind: npt.NDArray[np.uint8]
    cloth_mm: F32


@dataclass(frozen=True, slots=True, kw_only=True)
class Rays:
    """``grid`` (gh, gw, 2) undistorted normalised coordinates every GRID_PX pixels from pixel (-GRID_PX, -GRID_PX);
    ``to_table`` (3, 3) camera frame to table frame; ``origin_mm`` (3,) the lens."""

    grid: F32
    to_table: F64
    origin_mm: F64


def camera_rays(camera: Camera) -> Rays:
    """Rays of a camera, tabulated so that a kernel can ask for any sub-pixel place."""
    width, height = camera.size_px
    xs = np.arange(-GRID_PX, width + 2 * GRID_PX, GRID_PX, dtype=np.float64)
    ys = np.arange(-GRID_PX, height + 2 * GRID_PX, GRID_PX, dtype=np.float64)
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    flat = undistorted_rays(points, camera.matrix, camera.distortion)
    rotation, _ = cv2.Rodrigues(camera.rvec)
    return Rays(
        grid=np.asarray(flat.reshape(len(ys), len(xs), 2), np.float32),
        to_table=np.ascontiguousarray(rotation.T),
        origin_mm=camera.position_mm,
    )


@numba.njit(cache=True, fastmath=True, inline="always")
def ray_at(px, py, grid, to_table):  # type: ignore[no-untyped-def]
    """Unit direction in the table frame of the ray through pixel (px, py)."""
    u = px / 8.0 + 1.0
    v = py / 8.0 + 1.0
    i = min(max(int(v), 0), grid.shape[0] - 2)
    j = min(max(int(u), 0), grid.shape[1] - 2)
    fu = u - j
    fv = v - i
    x = (grid[i, j, 0] * (1 - fu) + grid[i, j + 1, 0] * fu) * (1 - fv) + (
        grid[i + 1, j, 0] * (1 - fu) + grid[i + 1, j + 1, 0] * fu
    ) * fv
    y = (grid[i, j, 1] * (1 - fu) + grid[i, j + 1, 1] * fu) * (1 - fv) + (
        grid[i + 1, j, 1] * (1 - fu) + grid[i + 1, j + 1, 1] * fu
    ) * fv
    n = 1.0 / math.sqrt(x * x + y * y + 1.0)
    dx = (to_table[0, 0] * x + to_table[0, 1] * y + to_table[0, 2]) * n
    dy = (to_table[1, 0] * x + to_table[1, 1] * y + to_table[1, 2]) * n
    dz = (to_table[2, 0] * x + to_table[2, 1] * y + to_table[2, 2]) * n
    return dx, dy, dz


@numba.njit(cache=True, fastmath=True, inline="always")
def _in_pockets(x, y, pockets, extra):  # type: ignore[no-untyped-def]
    """1 when in a pocket's hole, 2 when in the channel between its jaws, else 0. Columns: mouth x y, inward x y,
    half mouth, hole x y r, flare."""
    for k in range(pockets.shape[0]):
        ex = x - pockets[k, 5]
        ey = y - pockets[k, 6]
        r = pockets[k, 7] + extra
        if ex * ex + ey * ey < r * r:
            return 1
        mx = x - pockets[k, 0]
        my = y - pockets[k, 1]
        s = mx * pockets[k, 2] + my * pockets[k, 3]
        lateral = abs(-mx * pockets[k, 3] + my * pockets[k, 2])
        reach = (pockets[k, 5] - pockets[k, 0]) * pockets[k, 2] + (pockets[k, 6] - pockets[k, 1]) * pockets[k, 3]
        if reach < s < 60.0 and lateral < pockets[k, 4] + pockets[k, 8] * (s if s < 0 else 0.0) + extra:
            return 2
    return 0


@numba.njit(cache=True, fastmath=True, inline="always")
def _sample(tex, u, v):  # type: ignore[no-untyped-def]
    h = tex.shape[0]
    w = tex.shape[1]
    u = min(max(u, 0.0), w - 1.001)
    v = min(max(v, 0.0), h - 1.001)
    j = int(u)
    i = int(v)
    fu = u - j
    fv = v - i
    a = (1 - fu) * (1 - fv)
    b = fu * (1 - fv)
    c = (1 - fu) * fv
    d = fu * fv
    return (
        tex[i, j, 0] * a + tex[i, j + 1, 0] * b + tex[i + 1, j, 0] * c + tex[i + 1, j + 1, 0] * d,
        tex[i, j, 1] * a + tex[i, j + 1, 1] * b + tex[i + 1, j, 1] * c + tex[i + 1, j + 1, 1] * d,
        tex[i, j, 2] * a + tex[i, j + 1, 2] * b + tex[i + 1, j, 2] * c + tex[i + 1, j + 1, 2] * d,
    )


@numba.njit(cache=True, fastmath=True)
def _trace(px, py, grid, to_table, origin, g, colours, pockets, cloth, rail, floor, lamp_light):  # type: ignore[no-untyped-def]
    """Linear (b, g, r), depth, kind of one ray. ``g``: see `_pack`."""
    dx, dy, dz = ray_at(px, py, grid, to_table)
    length = g[0]
    width = g[1]
    top = g[2]
    cushion_w = g[3]
    rail_w = g[4]
    if dz > -1e-4:
        k = 0.6 + 0.4 * min(1.0, max(0.0, dz * 3))
        return colours[6, 0] * k, colours[6, 1] * k, colours[6, 2] * k, 1e6, WALL
    t = (top - origin[2]) / dz
    x = origin[0] + t * dx
    y = origin[1] + t * dy
    out = max(max(-x, x - length), max(-y, y - width))
    pocket = 0
    if out > -20.0:
        pocket = _in_pockets(x, y, pockets, 0.0)
    # rounded outer edge
    ox = max(abs(x - length / 2) - (length / 2 + rail_w - g[5]), 0.0)
    oy = max(abs(y - width / 2) - (width / 2 + rail_w - g[5]), 0.0)
    inside_outer = out < rail_w and ox * ox + oy * oy < g[5] * g[5]
    if out <= 0.0 or pocket > 0:
        t0 = -origin[2] / dz
        x0 = origin[0] + t0 * dx
        y0 = origin[1] + t0 * dy
        out0 = max(max(-x0, x0 - length), max(-y0, y0 - width))
        hole = 0
        if out0 > -20.0:
            hole = _in_pockets(x0, y0, pockets, 0.0)
        lu = (x0 + 400.0) / 50.0
        lv = (y0 + 400.0) / 50.0
        lb, lg, lr = _sample(lamp_light, lu, lv)
        if hole == 1:
            depth = -60.0 if g[9] > 1.5 else -160.0
            td = (depth - origin[2]) / dz
            xd = origin[0] + td * dx
            yd = origin[1] + td * dy
            if _in_pockets(xd, yd, pockets, 4.0) == 1:
                k = 0.06
                if g[9] > 1.5:  # a net
                    m = 2 * math.pi / 19.0
                    k = 0.9 if max(math.cos((xd + yd) * m * 0.7), math.cos((xd - yd) * m * 0.7)) > 0.72 else 0.05
                    return 0.8 * k * lb, 0.85 * k * lg, 0.85 * k * lr, td, HOLE
                return colours[4, 0] * k * lb, colours[4, 1] * k * lg, colours[4, 2] * k * lr, td, HOLE
            k = 0.45
            return colours[4, 0] * k * lb, colours[4, 1] * k * lg, colours[4, 2] * k * lr, t0, WALL_OF_HOLE
        if out0 <= 0.0 or hole == 2:
            b, gg, r = _sample(cloth, x0 / 2.5, y0 / 2.5)
            near = min(max(-out0, 0.0), 200.0)
            k = 1.0 - g[8] * math.exp(-near / 18.0)
            if hole == 2 and out0 > 0.0:
                k *= 0.7
            return b * lb * k, gg * lg * k, r * lr * k, t0, CLOTH
        if pocket == 1:
            k = 0.3
            return colours[4, 0] * k * lb, colours[4, 1] * k * lg, colours[4, 2] * k * lr, t0, WALL_OF_HOLE
        # the cushion's face, below the nose
        z = max(0.0, top * (1.0 - out0 / max(out0 - out, 1e-3)))
        k = 0.28 + 0.4 * z / top
        return colours[0, 0] * k * lb, colours[0, 1] * k * lg, colours[0, 2] * k * lr, (t + t0) * 0.5, FACE
    if inside_outer:
        lb, lg, lr = _sample(lamp_light, (x + 400.0) / 50.0, (y + 400.0) / 50.0)
        if _in_pockets(x, y, pockets, g[10]) == 1:
            return colours[3, 0] * lb, colours[3, 1] * lg, colours[3, 2] * lr, t, RIM
        if out < cushion_w:
            k = g[6] * (1.0 + g[7] * math.exp(-out / 6.0)) * (1.0 - 0.25 * max(0.0, (out - cushion_w + 8.0) / 8.0))
            return colours[0, 0] * k * lb, colours[0, 1] * k * lg, colours[0, 2] * k * lr, t, CUSHION
        if g[11] > 0 and (min(x, length - x) < g[11] - rail_w and min(y, width - y) < g[11] - rail_w):
            return colours[2, 0] * lb, colours[2, 1] * lg, colours[2, 2] * lr, t, CORNER
        middle = cushion_w + (rail_w - cushion_w) * 0.5
        across = max(-y, y - width)
        along = x
        step = length / 8.0
        if max(-x, x - length) > across:
            across = max(-x, x - length)
            along = y
            step = width / 4.0
        if g[12] > 0:
            n = math.floor(along / step + 0.5)
            e = along - n * step
            if e * e + (across - middle) * (across - middle) < g[12] * g[12] and 0 < n * step < (
                length if step == length / 8.0 else width
            ):
                return colours[1, 0] * lb, colours[1, 1] * lg, colours[1, 2] * lr, t, SIGHT
        b, gg, r = _sample(rail, (along + 300.0) * 0.23, (across - cushion_w) / max(rail_w - cushion_w, 1.0) * 62.0)
        sheen = g[13] * math.exp(-(((across - middle) / 25.0) ** 2))
        return (b + sheen) * lb, (gg + sheen) * lg, (r + sheen) * lr, t, RAIL
    ta = (-g[14] - origin[2]) / dz
    xa = origin[0] + ta * dx
    ya = origin[1] + ta * dy
    if max(max(-xa, xa - length), max(-ya, ya - width)) < rail_w:
        return colours[5, 0], colours[5, 1], colours[5, 2], ta, APRON
    tf = (FLOOR_Z_MM - origin[2]) / dz
    xf = origin[0] + tf * dx
    yf = origin[1] + tf * dy
    if abs(xf - length / 2) > 4450.0 or abs(yf - width / 2) > 4450.0:
        return colours[6, 0], colours[6, 1], colours[6, 2], tf, WALL
    k = FLOOR_K * 1.0
    b, gg, r = _sample(floor, (xf - length / 2 + 4500.0) * k, (yf - width / 2 + 4500.0) * k)
    d = max(max(-xf, xf - length), max(-yf, yf - width))
    k = 0.35 + 0.65 * min(1.0, max(0.0, d / 700.0))
    return b * k, gg * k, r * k, tf, FLOOR


FLOOR_K = 1024.0 / FLOOR_SPAN_MM


@numba.njit(cache=True, fastmath=True)
def _draw(light, depth, kind, cloth_mm, grid, to_table, origin, g, colours, pockets, cloth, rail, floor, lamp_light):  # type: ignore[no-untyped-def]
    height, width = depth.shape
    for i in range(height):
        for j in range(width):
            b, gg, r, t, c = _trace(
                j * 1.0, i * 1.0, grid, to_table, origin, g, colours, pockets, cloth, rail, floor, lamp_light
            )
            light[i, j, 0] = b
            light[i, j, 1] = gg
            light[i, j, 2] = r
            depth[i, j] = t
            kind[i, j] = c
            dx, dy, dz = ray_at(j * 1.0, i * 1.0, grid, to_table)
            if dz < -1e-4:
                t0 = -origin[2] / dz
                cloth_mm[i, j, 0] = origin[0] + t0 * dx
                cloth_mm[i, j, 1] = origin[1] + t0 * dy
            else:
                cloth_mm[i, j, 0] = 1e7
                cloth_mm[i, j, 1] = 1e7


@numba.njit(cache=True, fastmath=True)
def _smooth_edges(light, kind, grid, to_table, origin, g, colours, pockets, cloth, rail, floor, lamp_light):  # type: ignore[no-untyped-def]
    height, width = kind.shape
    for i in range(height):
        for j in range(width):
            c = kind[i, j]
            edge = c == HOLE
            if (i > 0 and kind[i - 1, j] != c) or (i < height - 1 and kind[i + 1, j] != c):
                edge = True
            if (j > 0 and kind[i, j - 1] != c) or (j < width - 1 and kind[i, j + 1] != c):
                edge = True
            if not edge:
                continue
            sb = 0.0
            sg = 0.0
            sr = 0.0
            for a in range(4):
                for d in range(4):
                    b, gg, r, _, _ = _trace(
                        j + (d - 1.5) * 0.25,
                        i + (a - 1.5) * 0.25,
                        grid,
                        to_table,
                        origin,
                        g,
                        colours,
                        pockets,
                        cloth,
                        rail,
                        floor,
                        lamp_light,
                    )
                    sb += b
                    sg += gg
                    sr += r
            light[i, j, 0] = sb / 16
            light[i, j, 1] = sg / 16
            light[i, j, 2] = sr / 16


def pocket_rows(table: TableSpec) -> F64:
    """(6, 9) for the kernels: mouth x y, inward x y, half mouth, hole x y r, flare."""
    rows = []
    for pocket in table.pockets():
        mouth = pocket.width_mm
        corner = abs(pocket.inward[0]) > 0.1
        hole = max(mouth * (0.54 if corner else 0.60), table.ball_radius_mm * 1.15)
        offset = hole * (0.72 if corner else 0.95) + (8.0 if corner else 22.0)
        mx, my = pocket.mouth_mm
        ix, iy = pocket.inward
        rows.append([mx, my, ix, iy, mouth / 2, mx - ix * offset, my - iy * offset, hole, 0.25 if corner else 0.35])
    return np.asarray(rows, np.float64)


def lamp_light(look: Look, table: TableSpec) -> F32:
    """Linear light (rows y, columns x, 3) on the plane of the cloth, 50 mm a texel from -LIGHT_MARGIN_MM."""
    xs = np.arange(-LIGHT_MARGIN_MM, table.length_mm + LIGHT_MARGIN_MM + 100, 50.0)
    ys = np.arange(-LIGHT_MARGIN_MM, table.width_mm + LIGHT_MARGIN_MM + 100, 50.0)
    x, y = np.meshgrid(xs, ys)
    direct = np.zeros_like(x)
    for lamp in look.lamps:
        for sx in (-0.6, 0.6):
            for sy in (-0.6, 0.6):
                lx = lamp.centre[0] * table.length_mm + sx * lamp.half_mm[0]
                ly = lamp.centre[1] * table.width_mm + sy * lamp.half_mm[1]
                d2 = (x - lx) ** 2 + (y - ly) ** 2 + lamp.centre[2] ** 2
                direct += lamp.power * lamp.centre[2] ** 2 / d2**2
    middle = direct[4:-4, 4:-4].mean()
    light = look.ambient + (1 - look.ambient) * direct / middle
    return np.asarray(light[..., None] * np.asarray(look.light_bgr), np.float32)


def draw_background(camera: Camera, table: TableSpec, look: Look, rays: Rays) -> Background:
    """Draw the empty table; a few hundredths of a second at 640 x 384."""
    width, height = camera.size_px
    light = np.zeros((height, width, 3), np.float32)
    depth = np.zeros((height, width), np.float32)
    kind = np.zeros((height, width), np.uint8)
    cloth_mm = np.zeros((height, width, 2), np.float32)
    geometry, colours = _pack(table, look)
    args = (
        rays.grid,
        rays.to_table,
        rays.origin_mm,
        geometry,
        colours,
        pocket_rows(table),
        cloth_texture(look, table),
        rail_texture(look),
        floor_texture(look),
        lamp_light(look, table),
    )
    _draw(light, depth, kind, cloth_mm, *args)
    _smooth_edges(light, kind, *args)
    return Background(light=light, depth_mm=depth, kind=kind, cloth_mm=cloth_mm)


def _pack(table: TableSpec, look: Look) -> tuple[F64, F64]:
    style = {"dark": 0.0, "leather": 1.0, "bag": 1.0, "net": 2.0}[look.pocket_style]
    geometry = np.array(
        [
            table.length_mm,
            table.width_mm,
            table.nose_height_mm,
            min(look.cushion_width_mm, table.rail_width_mm * 0.6),
            table.rail_width_mm,
            min(look.outer_round_mm, table.rail_width_mm),
            look.cushion_light,
            look.nose_line,
            0.35 * look.shadow,
            style,
            look.rim_mm,
            look.corner_mm if look.corner_bgr else 0.0,
            look.diamond_mm,
            0.15 * look.rail_gloss,
            look.apron_mm,
        ],
        np.float64,
    )
    cushion = look.cushion_bgr or look.cloth_bgr
    palette = (cushion, look.diamond_bgr, look.corner_bgr or look.rail_bgr, look.rim_bgr, look.pocket_bgr)
    colours = np.power(np.asarray([*palette, look.apron_bgr, look.wall_bgr], np.float64), 2.2)
    colours[5] *= 0.25 + 0.3 * look.hall
    colours[6] *= look.hall
    return geometry, colours


assert CLOTH_MM_PER_TEXEL == 2.5  # the kernel's own constant
