"""From a cloth mask to quadrilaterals: the lines that bound the cloth, and the sets of four that can be a table."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

_MAX_LINES = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A straight border: ``normal`` (2,) unit, pointing into the cloth; points on it have normal . p = ``offset``.

    ``support_px`` is the length of mask border that lies on it, ``span`` (2, 2) the ends of that border.
    """

    normal: F64
    offset: float
    support_px: float
    span: F64

    def distance(self, points: F64) -> F64:
        """Signed distances (n,) of points (n, 2): positive toward the cloth."""
        return np.asarray(points @ self.normal - self.offset, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quad:
    """Four border lines clockwise in the picture, ``corners`` (4, 2) where neighbours meet (corner i: lines i-1, i).

    ``coverage`` is the mask's share of overlap with the quadrilateral (intersection over union inside the picture).
    ``open_side`` is the index of a line that is the picture's own edge (the table goes on outside), else None.
    """

    lines: tuple[Line, Line, Line, Line]
    corners: F64
    coverage: float
    support: float
    open_side: int | None = None


def border_points(mask: U8, border_px: int = 3) -> tuple[F64, F64]:
    """The mask's outer border (n, 2), and its direction (n, 2); points on the picture's own edge are left out."""
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    contour = max(contours, key=cv2.contourArea).reshape(-1, 2).astype(np.float64)
    step = max(3, len(contour) // 250)
    tangent = np.roll(contour, -step, axis=0) - np.roll(contour, step, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1), 1e-9)[:, None]
    height, width = mask.shape
    x, y = contour.T
    inner = (x >= border_px) & (y >= border_px) & (x < width - border_px) & (y < height - border_px)
    return contour[inner], tangent[inner]


def border_lines(mask: U8, tolerance_px: float = 2.0) -> list[Line]:
    """Straight stretches of the mask's border that have the cloth on one side, longest first."""
    points, tangents = border_points(mask)
    if len(points) < 40:
        return []
    hull = cv2.convexHull(points.astype(np.float32)).reshape(-1, 2).astype(np.float64)
    centre = np.argwhere(mask > 0).mean(axis=0)[::-1]
    inside = np.argwhere(mask[::4, ::4] > 0)[:, ::-1] * 4.0
    left = np.ones(len(points), bool)
    rng = np.random.default_rng(5)
    lines: list[Line] = []
    shortest = 0.035 * len(points)
    for _ in range(_MAX_LINES):
        index = np.flatnonzero(left)
        if len(index) < shortest:
            break
        best: tuple[float, F64, float] | None = None
        gaps = rng.uniform(0.03, 0.25, 160)
        starts = rng.integers(0, len(index), 160)
        for start, gap in zip(starts, gaps, strict=True):
            a = points[index[start]]
            b = points[index[(start + int(gap * len(points)) + 8) % len(index)]]
            along = b - a
            size = float(np.hypot(*along))
            if size < 12:
                continue
            normal = np.array([-along[1], along[0]]) / size
            offset = float(normal @ a)
            if normal @ centre < offset:
                normal, offset = -normal, -offset
            if (inside @ normal < offset - 2 * tolerance_px - 2).mean() > 0.04:
                continue
            off = np.abs(points @ normal - offset)
            agrees = left & (off < tolerance_px) & (np.abs(tangents @ normal) < 0.35)
            count = float(agrees.sum()) * (1.0 - 3.0 * float((hull @ normal < offset - 3 * tolerance_px).mean()) * 0.1)
            if best is None or count > best[0]:
                best = (count, normal, offset)
        if best is None or best[0] < shortest:
            break
        line, members = _refined(points, tangents, left, best[1], best[2], tolerance_px)
        left &= ~members
        # What the line explains, and a little beside it, must not come back as a second line.
        left &= np.abs(line.distance(points)) > 1.5 * tolerance_px
        lines.append(line)
    lines += [line for line in _hull_sides(hull, mask.shape) if not any(_alike(line, other) for other in lines)]
    return sorted(lines, key=lambda one: -one.support_px)


def _hull_sides(hull: F64, shape: tuple[int, ...]) -> list[Line]:
    """The sides of the tightest quadrilateral round the mask: where balls or people break up a side's border."""
    if len(hull) < 5:
        return []
    four = np.asarray(cv2.approxPolyN(hull.astype(np.float32).reshape(-1, 1, 2), 4), np.float64).reshape(-1, 2)
    centre = hull.mean(axis=0)
    height, width = shape[:2]
    lines = []
    for a, b in zip(four, np.roll(four, -1, axis=0), strict=True):
        way = b - a
        size = float(np.hypot(*way))
        middle = (a + b) / 2
        if size < 12 or not (4 < middle[0] < width - 5 and 4 < middle[1] < height - 5):
            continue
        normal = np.array([-way[1], way[0]]) / size
        if normal @ (centre - a) < 0:
            normal = -normal
        lines.append(Line(normal=normal, offset=float(normal @ a), support_px=1.0, span=np.stack([a, b])))
    return lines


def _alike(a: Line, b: Line) -> bool:
    return float(a.normal @ b.normal) > 0.995 and float(np.abs(b.distance(a.span)).max()) < 4.0


def _refined(
    points: F64, tangents: F64, left: npt.NDArray[np.bool_], normal: F64, offset: float, tolerance_px: float
) -> tuple[Line, npt.NDArray[np.bool_]]:
    members = left
    for _ in range(3):
        off = points @ normal - offset
        members = left & (np.abs(off) < tolerance_px) & (np.abs(tangents @ normal) < 0.35)
        if members.sum() < 8:
            break
        chosen = points[members]
        middle = chosen.mean(axis=0)
        _, _, axes = np.linalg.svd(chosen - middle, full_matrices=False)
        turned = axes[1] if axes[1] @ normal > 0 else -axes[1]
        normal, offset = turned, float(turned @ middle)
    chosen = points[members]
    along = chosen @ np.array([-normal[1], normal[0]])
    span = chosen[[int(np.argmin(along)), int(np.argmax(along))]]
    return Line(normal=normal, offset=offset, support_px=float(members.sum()), span=span), members


def meeting_point(a: Line, b: Line) -> F64 | None:
    """Where two lines cross (2,), None for parallels."""
    system = np.array([a.normal, b.normal])
    if abs(float(np.linalg.det(system))) < 0.02:
        return None
    return np.asarray(np.linalg.solve(system, np.array([a.offset, b.offset])), np.float64)


def _picture_edges(width: int, height: int) -> list[Line]:
    span = np.zeros((2, 2))
    make = [((1.0, 0.0), 0.0), ((-1.0, 0.0), -(width - 1.0)), ((0.0, 1.0), 0.0), ((0.0, -1.0), -(height - 1.0))]
    return [Line(normal=np.array(n), offset=o, support_px=0.0, span=span) for n, o in make]


def quads(mask: U8, lines: list[Line], keep: int = 4) -> list[Quad]:
    """The likeliest quadrilaterals that four of the lines make, best first; then those with one side cut off.

    Each is convex, clockwise in the picture, and overlaps the mask by at least 70 %.
    """
    height, width = mask.shape
    found: list[Quad] = []
    total = sum(line.support_px for line in lines) or 1.0
    for four in itertools.combinations(lines, 4):
        quad = _quad_of(mask, list(four), total, None)
        if quad is not None:
            found.append(quad)
    on_edge = _touching(mask)
    for three in itertools.combinations(lines, 3):
        for index, edge in enumerate(_picture_edges(width, height)):
            if not on_edge[index]:
                continue
            quad = _quad_of(mask, [*three, edge], total, edge)
            if quad is not None:
                found.append(quad)
    found.sort(key=lambda q: -(q.coverage + 0.3 * q.support - (0.1 if q.open_side is not None else 0.0)))
    return found[:keep]


def _touching(mask: U8) -> list[bool]:
    """Whether the mask meets the picture's left, right, top and bottom edge over a good stretch."""
    height, width = mask.shape
    shares = (
        (mask[:, :3] > 0).any(axis=1).sum() / height,
        (mask[:, -3:] > 0).any(axis=1).sum() / height,
        (mask[:3] > 0).any(axis=0).sum() / width,
        (mask[-3:] > 0).any(axis=0).sum() / width,
    )
    return [share > 0.08 for share in shares]


def _quad_of(mask: U8, four: list[Line], total: float, edge: Line | None) -> Quad | None:
    # Clockwise in the picture: order the sides by the angle of their outward normals.
    four = sorted(four, key=lambda line: float(np.arctan2(-line.normal[1], -line.normal[0])))
    corners = [meeting_point(four[i - 1], four[i]) for i in range(4)]
    if any(c is None for c in corners):
        return None
    points = np.array(corners)
    height, width = mask.shape
    if np.abs(points - [width / 2, height / 2]).max() > 4 * max(width, height):
        return None
    sides = np.roll(points, -1, axis=0) - points
    turn = sides[:, 0] * np.roll(sides, -1, axis=0)[:, 1] - sides[:, 1] * np.roll(sides, -1, axis=0)[:, 0]
    if not (turn > 0).all():
        return None
    drawn = np.zeros_like(mask)
    cv2.fillConvexPoly(drawn, np.round(points).astype(np.int32), (255.0,))
    both = int(((drawn > 0) & (mask > 0)).sum())
    either = int(((drawn > 0) | (mask > 0)).sum())
    coverage = both / max(either, 1)
    if coverage < 0.7:
        return None
    open_side = None if edge is None else next(i for i, line in enumerate(four) if line is edge)
    return Quad(
        lines=(four[0], four[1], four[2], four[3]),
        corners=points,
        coverage=coverage,
        support=sum(line.support_px for line in four) / total,
        open_side=open_side,
    )
