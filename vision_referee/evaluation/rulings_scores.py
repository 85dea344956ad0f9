"""Rulings given against rulings due: right, wrong, or sent to a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vision_referee.domain.events import BallAt
from vision_referee.domain.rulings import Penalty, Ruling, RulingKind
from vision_referee.evaluation.labels import Labels
from vision_referee.evaluation.matching import one_to_one

_START_WITHIN_S = 1.0
"""Two rulings are of one stroke when they overlap in time or begin this close together."""
_OTHER_KIND_PRICE_S = 5.0
"""How much further in time a ruling of the same kind is preferred to one of another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingError:
    """A ruling that was not right; ``silent``: not sent to review either. ``differences`` say in what."""

    t_start: float
    t_end: float
    kind: str
    silent: bool
    differences: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "t_start": self.t_start,
            "t_end": self.t_end,
            "kind": self.kind,
            "silent": self.silent,
            "differences": list(self.differences),
        }


@dataclass(slots=True, kw_only=True)
class RulingScore:
    """``right`` and ``wrong`` decided without a person; ``review`` sent to one (of these ``review_right`` agree with
    the truth all the same); ``missing`` due but not given; ``extra`` given but not due."""

    right: int = 0
    wrong: int = 0
    review: int = 0
    review_right: int = 0
    missing: int = 0
    extra: int = 0
    clips_with_right_score: int = 0
    clips: int = 0
    errors: list[RulingError] = field(default_factory=list)

    def add(self, other: RulingScore) -> None:
        for name in ("right", "wrong", "review", "review_right", "missing", "extra", "clips_with_right_score", "clips"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.errors += other.errors

    @property
    def due(self) -> int:
        return self.right + self.wrong + self.review + self.missing

    @property
    def right_or_review(self) -> float | None:
        """Share of the rulings due that were right or sent to review; None where none was due."""
        return (self.right + self.review) / self.due if self.due else None

    def to_json(self) -> dict[str, Any]:
        return {
            "due": self.due,
            "right": self.right,
            "wrong": self.wrong,
            "review": self.review,
            "review_right": self.review_right,
            "missing": self.missing,
            "extra": self.extra,
            "right_or_review": self.right_or_review,
            "clips": self.clips,
            "clips_with_right_final_score": self.clips_with_right_score,
            "errors": [error.to_json() for error in self.errors],
        }


def score_rulings(
    truth: Sequence[Ruling], seen: Sequence[Ruling], labels: Labels, players: dict[str, str], diameter_mm: float
) -> RulingScore:
    """Compare ruling by ruling; each is judged by its own decision, so that one error is not counted again in every
    later score.

    Args:
        players: names in ``seen`` -> names in ``truth``.
    """
    due = [r for r in truth if _decides(r)]
    given = [r for r in seen if _decides(r)]
    cost = np.zeros((len(due), len(given)))
    allowed = np.zeros((len(due), len(given)), bool)
    for i, a in enumerate(due):
        for k, b in enumerate(given):
            overlap_s = min(a.t_end, b.t_end) - max(a.t_start, b.t_start)
            allowed[i, k] = overlap_s > 0 or abs(a.t_start - b.t_start) <= _START_WITHIN_S
            cost[i, k] = abs(a.t_start - b.t_start) + abs(a.t_end - b.t_end)
            cost[i, k] += _OTHER_KIND_PRICE_S * (a.kind is not b.kind)
    score = RulingScore(clips=1)
    pairs = one_to_one(cost, allowed)
    for i, k in pairs:
        differences = _differences(due[i], given[k], labels, players, diameter_mm)
        if given[k].review:
            score.review += 1
            score.review_right += not differences
        elif differences:
            score.wrong += 1
        else:
            score.right += 1
        if differences:
            score.errors.append(_error(due[i], not given[k].review, differences))
    for i in sorted(set(range(len(due))) - {i for i, _ in pairs}):
        score.missing += 1
        score.errors.append(_error(due[i], True, ["no ruling was given"]))
    for k in sorted(set(range(len(given))) - {k for _, k in pairs}):
        score.extra += 1
        score.errors.append(_error(given[k], not given[k].review, ["no ruling was due"]))
    score.errors.sort(key=lambda error: error.t_start)
    score.clips_with_right_score = int(_final(truth, {}) == _final(seen, players))
    return score


def _error(ruling: Ruling, silent: bool, differences: list[str]) -> RulingError:
    return RulingError(
        t_start=ruling.t_start,
        t_end=ruling.t_end,
        kind=ruling.kind.value,
        silent=silent,
        differences=tuple(differences),
    )


def _decides(ruling: Ruling) -> bool:
    """Whether the ruling changes anything: notes between strokes that change nothing may stand or not."""
    if ruling.kind not in (RulingKind.BETWEEN, RulingKind.GAME):
        return True
    penalised = ruling.penalty is not None and bool(ruling.penalty.points or ruling.penalty.balls)
    return bool(ruling.fouls or penalised or ruling.counted or ruling.spotted or ruling.restored or ruling.game_over)


def _final(rulings: Sequence[Ruling], players: dict[str, str]) -> dict[str, int]:
    score = rulings[-1].score if rulings else {}
    return {players.get(name, name): points for name, points in score.items()}


def _differences(due: Ruling, given: Ruling, labels: Labels, players: dict[str, str], diameter_mm: float) -> list[str]:
    def name(player: str | None) -> str | None:
        return None if player is None else players.get(player, player)

    out: list[str] = []

    def compare(what: str, a: Any, b: Any) -> None:
        if a != b:
            out.append(f"{what} {b} for {a}")

    compare("kind", due.kind.value, given.kind.value)
    compare("fouls", sorted({f.code.value for f in due.fouls}), sorted({f.code.value for f in given.fouls}))
    # Who played depends on all that was decided before: roles within the stroke are compared, not names.
    compare("penalty", _penalty(due.penalty, due.player), _penalty(given.penalty, given.player))
    counted_due = [(c.ball, (c.pocket and c.pocket.value, c.points)) for c in due.counted]
    counted_given = [(c.ball, (c.pocket and c.pocket.value, c.points)) for c in given.counted]
    if not _same(counted_due, counted_given, labels, given.t_end):
        compare("counted", _names(counted_due), _names(counted_given))
    for what, a, b in (("spotted", due.spotted, given.spotted), ("restored", due.restored, given.restored)):
        if not _same_places(a, b, labels, given.t_end, diameter_mm):
            out.append(f"{what} {_at(b)} for {_at(a)}")
    compare("replay", due.replay, given.replay)
    compare("game over", due.game_over, given.game_over)
    if due.game_over and given.game_over:
        compare("winner", due.winner, name(given.winner))
    elif due.next is not None and given.next is not None:
        compare("next to play", due.next.player == due.player, given.next.player == given.player)
        compare("cue ball", due.next.cue_ball.value, given.next.cue_ball.value)
    else:
        compare("next", due.next, given.next)
    if due.review and not given.review:
        out.append("decided where the truth itself leaves a doubt")
    return out


def _penalty(penalty: Penalty | None, player: str | None) -> tuple[int, int, bool] | None:
    points, balls = (penalty.points or 0, penalty.balls or 0) if penalty is not None else (0, 0)
    if penalty is None or not (points or balls):
        return None
    return points, balls, penalty.to is not None and penalty.to == player


def _same(due: list[tuple[str, Any]], given: list[tuple[str, Any]], labels: Labels, t_s: float) -> bool:
    if len(due) != len(given):
        return False
    allowed = np.array([[a[1] == b[1] and labels.may_be(b[0], a[0], t_s) for b in given] for a in due], bool)
    return len(one_to_one(np.zeros((len(due), len(given))), allowed)) == len(due) if due else True


def _same_places(
    due: Sequence[BallAt], given: Sequence[BallAt], labels: Labels, t_s: float, diameter_mm: float
) -> bool:
    if len(due) != len(given):
        return False
    allowed = np.array(
        [
            [np.hypot(a.x - b.x, a.y - b.y) <= diameter_mm and labels.may_be(b.ball, a.ball, t_s) for b in given]
            for a in due
        ],
        bool,
    )
    return len(one_to_one(np.zeros((len(due), len(given))), allowed)) == len(due) if due else True


def _names(balls: list[tuple[str, Any]]) -> str:
    return "+".join(f"{ball}({points})" for ball, (_, points) in balls) or "none"


def _at(balls: Sequence[BallAt]) -> str:
    return "+".join(f"{b.ball}@({b.x:.0f},{b.y:.0f})" for b in balls) or "none"
