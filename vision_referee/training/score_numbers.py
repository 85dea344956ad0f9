"""The number reader on rendered test balls: one look at a time, and by all looks at a ball through simulated play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.detection.numbers import NumberReader, honest, open_reader
from vision_referee.domain.errors import InputError
from vision_referee.simulation.look import BallLook
from vision_referee.tracking.identity import Ball, BallBook
from vision_referee.tracking.tracklets import Tracklet
from vision_referee.training.number_matches import PlayedLooks, played_looks
from vision_referee.training.number_set import number_seed
from vision_referee.training.scenes import SPLITS

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

_BEFORE_PLAY_S = 1.0
_ANSWER = 0.8
"""Probability above which one look counts as answered."""
_SIZES = (("14-19 px", 14, 19), ("19-26 px", 19, 26), ("26-33 px", 26, 33), ("33-45 px", 33, 45), ("45+ px", 45, 1e9))
PICTURES = {"1080p": (1920, 1080), "720p": (1280, 720)}
"""Seen from above, a 12 ft table's balls are 33 and 22 px wide in these."""


def score_numbers(models: Path | None, seeds: int, matches: int) -> dict[str, object]:
    """``looks``: single views by ball width and by way of printing, pyramid and pool balls 1..15 of ``seeds`` sets,
    views from which no print can be seen among them; ``play``: at each picture size, what is known of the numbers
    after the first still moments, at every rest, and of a ball when it is potted, over ``matches`` pieces of play.

    Raises InputError where there is no model.
    """
    reader = open_reader(models)
    if reader is None:
        raise InputError("the number reader's model is not there; run 'make train'")
    return {"looks": _looks(reader, seeds) if seeds else {}, "play": _play(reader, matches) if matches else {}}


def _looks(reader: NumberReader, seeds: int) -> dict[str, object]:
    views = [number_seed(seed, SPLITS["test"]) for seed in range(seeds)]
    p = [honest(reader.run(v.crops)) for v in views]
    every, label = np.concatenate(p), np.concatenate([v.labels for v in views])
    size = np.concatenate([v.sizes_px for v in views])
    numbered = (label >= 1) & (label <= 15)
    out: dict[str, object] = {}
    for name, low, high in _SIZES:
        there = numbered & (size >= low) & (size < high)
        if there.any():
            out[name] = _figures(every[there], label[there])
    ways: dict[str, list[tuple[F64, npt.NDArray[np.int64]]]] = {}
    for v, row in zip(views, p, strict=True):
        fit = (v.labels >= 1) & (v.labels <= 15) & (v.sizes_px >= 26)
        if v.look.family != "snooker" and fit.any():
            for way in ways_of_printing(v.look):
                ways.setdefault(way, []).append((row[fit], v.labels[fit]))
    for way, rows in sorted(ways.items()):
        out[f"26+ px, {way}"] = _figures(np.concatenate([r for r, _ in rows]), np.concatenate([n for _, n in rows]))
    cue = label == 0
    out["cue ball"] = {"views": int(cue.sum()), "p_over_half": _share(every[cue, 0] > 0.5)}
    out["false cue"] = _share(every[~cue, 0] > 0.5)
    return out


def ways_of_printing(look: BallLook) -> tuple[str, ...]:
    """What is to be told apart in tables of figures."""
    if look.family == "pool":
        return ("pool set",)
    size = "small print" if look.number_deg < 22 else "middling print" if look.number_deg < 28 else "large print"
    return (f"{look.faces} faces", "in a ring" if look.ring else "no ring", size, "all pyramid sets")


def _figures(p: F64, label: npt.NDArray[np.int64]) -> dict[str, object]:
    best = p[:, :16].argmax(axis=1)
    sure = p[np.arange(len(p)), best] > _ANSWER
    right = best == label
    return {
        "views": len(label), "right": _share(right), "answered": _share(sure), "right_of_answered": _share(right[sure])
    }  # fmt: skip


def _play(reader: NumberReader, matches: int) -> dict[str, object]:
    out: dict[str, object] = {}
    for name, size_px in PICTURES.items():
        played = [looks for seed in range(matches) if (looks := played_looks(seed, size_px=size_px)) is not None]
        moments = [list(told_in_play(looks, honest(reader.run(looks.crops)))) for looks in played]
        for kind, chosen in (("all sets", [True] * len(played)), ("clear sets", [looks.clear for looks in played])):
            marks: dict[str, list[tuple[bool, bool]]] = {}
            for told in (told for told, wanted in zip(moments, chosen, strict=True) if wanted):
                for moment, *mark in told:
                    marks.setdefault(moment, []).append((mark[0], mark[1]))
            figures: dict[str, Any] = {"pieces of play": sum(chosen)}
            for moment, pairs in sorted(marks.items()):
                answered, right = np.array(pairs, bool).T
                figures[moment] = {
                    "balls": len(pairs), "answered": _share(answered), "right_of_answered": _share(right[answered])
                }  # fmt: skip
            out[f"{name}, {kind}"] = figures
        out[f"{name}, ball width"] = round(float(np.median([looks.ball_px for looks in played])), 1) if played else None
    return out


def told_in_play(looks: PlayedLooks, number_p: F64) -> Iterator[tuple[str, bool, bool]]:
    """Moment, told?, told right? for each object ball at the start and at each rest, and for each potted ball.

    ``number_p`` (n, 17) of the looks. The balls' book is the product's own; nothing is told to it but the looks.
    """
    book = BallBook()
    balls = [book.new(np.zeros(2), 0.0) for _ in looks.numbers]
    tracklets = [Tracklet(key=i) for i in range(len(balls))]
    for ball, number in zip(balls, looks.numbers, strict=True):
        ball.label = "cue" if number == 0 else f"u{ball.id + 1}"
    pots = [(t_s, "at the pot", [ball]) for ball, t_s in looks.pots]
    objects = [i for i, number in enumerate(looks.numbers) if number]
    ends = [t_s for t_s in looks.rests_s if t_s > _BEFORE_PLAY_S]
    rests = [(t_s, f"after stroke {k + 1}", objects) for k, t_s in enumerate(ends)]
    moments = sorted([(_BEFORE_PLAY_S, "at first", objects), *rests, *pots], key=lambda m: m[0])
    seen = 0
    for t_s, moment, asked in moments:
        while seen < len(looks.t_s) and looks.t_s[seen] <= t_s:
            k = int(looks.ball[seen])
            tracklets[k].add(
                t_s=float(looks.t_s[seen]), frame=seen, xy_mm=looks.xy_mm[seen], sigma_mm=1.0, confidence=1.0,
                number_p=number_p[seen], colour=np.zeros(3),
            )  # fmt: skip
            seen += 1
        _learn(book, balls, tracklets)
        for i in asked:
            if looks.numbers[i]:
                yield moment, balls[i].number is not None, balls[i].number == looks.numbers[i]


def _learn(book: BallBook, balls: Sequence[Ball], tracklets: Sequence[Tracklet]) -> None:
    for ball, tracklet in zip(balls, tracklets, strict=True):
        if tracklet.number_log[16] > 0:
            ball.absorb(tracklet)
    book.newly_identified()


def _share(values: Bool) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
