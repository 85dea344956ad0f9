"""A window of play solved as a whole: tracklets linked to balls, each ball's path explained."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision_referee.domain.table import TableSpec
from vision_referee.tracking.association import assign
from vision_referee.tracking.identity import Ball, BallBook, alike
from vision_referee.tracking.linking import linked
from vision_referee.tracking.merging import merged
from vision_referee.tracking.mouths import nearest_mouth, outside_mm
from vision_referee.tracking.paths import BallPath, build_path, path_of_legs
from vision_referee.tracking.pieces import Piece, as_piece, cut_at_collisions
from vision_referee.tracking.tracker import Pooled, Tracker
from vision_referee.tracking.tracklets import Mode, Sightings, Tracklet

F64 = npt.NDArray[np.float64]
NOT_IN_PLAY = -1
"""``Tracklet.ball`` of what is followed but is no ball on the bed: in a net, on a rail, a mark on the wood."""


@dataclass(slots=True)
class SolvedWindow:
    """``paths`` by ball id; ``appeared`` are balls seen for the first time in this window (or again, from outside)."""

    start_s: float
    end_s: float
    frame_times_s: F64
    paths: dict[int, BallPath]
    appeared: set[int] = field(default_factory=set)


def solve_window(
    tracker: Tracker, book: BallBook, table: TableSpec, *, start_s: float, braking_mm_s2: float, after_cut: bool = False
) -> SolvedWindow:
    """Links the tracker's tracklets since ``start_s`` and builds every ball's path. Updates ``book`` and the tracker's
    tracks (which ball each is)."""
    frames = [f for f in tracker.frames if f.looked]
    end_s = tracker.frames[-1].t_s
    live = [(t.tracklet, True) for t in tracker.tracks] + [(t, False) for t in tracker.ended]
    resting = {t.tracklet.key for t in tracker.tracks if t.mode is Mode.REST}
    pieces = [
        as_piece(tracklet, alive=alive, resting=tracklet.key in resting, now_s=end_s, settle_mm_s=25.0)
        for tracklet, alive in live
        if len(tracklet) >= 3 and tracklet.ball != NOT_IN_PLAY
    ]
    pieces, stale = merged(pieces, table.ball_diameter_mm, 25.0)
    pieces = cut_at_collisions(pieces, table.ball_diameter_mm, 25.0)
    solved = SolvedWindow(start_s, end_s, np.array([f.t_s for f in frames]), {})
    owners: dict[int, tuple[Tracklet, int]] = {}
    chains = linked(pieces, table, window_start_s=frames[0].t_s if frames else start_s)
    again = _seen_again([[pieces[i] for i in chain] for chain in chains], book, table) if after_cut else {}
    for n, chain in enumerate(chains):
        parts = [pieces[i] for i in chain]
        ball = again.get(n) or _whose(parts, book, table, end_s)
        if ball is None:
            continue
        known = parts[0].ball is not None or n in again
        if not known:
            solved.appeared.add(ball.id)
        sightings = [p.sightings for p in parts]
        sightings += _strays_between(parts, tracker.stray, table)
        keys = tuple(p.tracklet.key for p in parts)
        if len(sightings) == 1:
            one = parts[0]
            path = path_of_legs(
                ball=ball.id, label=ball.label, known=known, alive=one.alive, sightings=one.sightings,
                noise=one.noise_mm, legs=one.legs, braking_mm_s2=braking_mm_s2, keys=keys,
            )  # fmt: skip
        else:
            path = build_path(
                ball=ball.id, label=ball.label, known=known, alive=parts[-1].alive, parts=sightings,
                braking_mm_s2=braking_mm_s2, keys=keys, still_at_end=parts[-1].tracklet.key in resting,
            )  # fmt: skip
        solved.paths[ball.id] = path
        for part in parts:
            if part.is_tail or 2 * len(part.sightings) > len(part.tracklet):
                ball.absorb(part.tracklet)
            if part.is_tail:
                owners[part.tracklet.key] = (part.tracklet, ball.id)
        stale |= {p.tracklet.key for p in parts[:-1] if p.is_tail}
        ball.xy_mm, ball.seen_s = path.at(path.end_s), path.end_s
    for tracklet, ball_id in owners.values():
        tracklet.ball = ball_id
    tracker.drop(stale)
    return solved


def _seen_again(chains: list[list[Piece]], book: BallBook, table: TableSpec) -> dict[int, Ball]:
    """After a cut: which chain (by index) is which ball of before, by place, colour and number together."""
    balls = book.on_table()
    if not balls or not chains:
        return {}
    cost = np.full((len(chains), len(balls)), np.inf)
    for n, parts in enumerate(chains):
        if sum(len(p.sightings) for p in parts) < 6:
            continue
        number_log = np.sum([p.tracklet.number_log for p in parts], axis=0)
        colour = np.sum([p.tracklet.colour_sum for p in parts], axis=0) / max(
            sum(p.tracklet.colour_n for p in parts), 1
        )
        for m, ball in enumerate(balls):
            if not alike(ball, number_log, colour, 1):
                continue
            away = float(np.hypot(*(parts[0].start.xy_mm - ball.xy_mm))) / table.ball_diameter_mm
            shade = float(np.linalg.norm(colour - ball.colour)) if ball.colour_n else 0.0
            cost[n, m] = min(away, 8.0) + (shade / 12.0) ** 2
    return {n: balls[m] for n, m in assign(cost)}


def _whose(parts: list[Piece], book: BallBook, table: TableSpec, end_s: float) -> Ball | None:
    """The ball that a chain is; None where it is too little to be one."""
    if parts[0].ball is not None:
        return book.balls[parts[0].ball]
    count = sum(len(p.sightings) for p in parts)
    first, last = parts[0].start, parts[-1].end
    span = last.t_s - first.t_s
    if count < 6 or span < 0.2:
        return None
    if (
        not parts[-1].alive
        and (count < 10 or span < 0.4)
        and nearest_mouth(table, last.xy_mm)[1] > table.ball_diameter_mm
    ):
        return None
    confidence = float(np.mean(np.concatenate([p.sightings.confidence for p in parts])))
    if confidence < 0.23:
        return None
    inside = min(outside_mm(table, p.start.xy_mm) for p in parts)
    inside = min(inside, min(outside_mm(table, p.end.xy_mm) for p in parts))
    if inside > -0.2 * table.ball_diameter_mm and nearest_mouth(table, last.xy_mm)[1] > 0.4 * table.ball_diameter_mm:
        if parts[-1].alive and len(parts) == 1:
            parts[0].tracklet.ball = NOT_IN_PLAY
        return None
    tracklets = [p.tracklet for p in parts]
    ball = book.lying_again(first.xy_mm, tracklets, 0.4 * table.ball_diameter_mm) or book.returning(tracklets)
    if ball is None:
        ball = book.new(first.xy_mm, first.t_s)
    ball.on_table, ball.away_since_s, ball.lost = True, None, False
    return ball


def _strays_between(parts: list[Piece], stray: list[Pooled], table: TableSpec) -> list[Sightings]:
    """Single detections that lie on the way across the gaps of a chain."""
    found: list[Sightings] = []
    for a, b in itertools.pairwise(parts):
        for pooled in stray:
            s = pooled.leftover
            if not a.end.t_s < s.t_s < b.start.t_s:
                continue
            at = np.array(s.xy_mm)
            miss = min(float(np.hypot(*(at - a.end.on(s.t_s)))), float(np.hypot(*(at - b.start.on(s.t_s)))))
            if miss < 0.2 * table.ball_diameter_mm + 3 * s.sigma_mm:
                found.append(
                    Sightings(
                        t_s=np.array([s.t_s]),
                        frame=np.array([pooled.frame]),
                        xy_mm=at.reshape(1, 2),
                        sigma_mm=np.array([s.sigma_mm]),
                        confidence=np.array([pooled.confidence]),
                    )
                )
    return found


def still_since(solved: SolvedWindow, tracklets: list[Tracklet]) -> dict[int, float]:
    """Since when each live tracklet's ball lies where it is, by tracklet key."""
    since: dict[int, float] = {}
    for tracklet in tracklets:
        path = solved.paths.get(tracklet.ball) if tracklet.ball is not None else None
        if path is None:
            continue
        last = path.legs[-1]
        stop = path.stops.get(len(path.legs) - 2)
        if last.resting:
            since[tracklet.key] = max(last.t0_s, stop.t_s if stop is not None else last.t0_s)
    return since
