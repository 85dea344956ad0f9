"""What an official's ``override`` replaces in a ruling: the named fields; all else is derived anew from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vision_referee.domain.balls import is_ball_label
from vision_referee.domain.events import BallAt
from vision_referee.domain.rulings import CueBallState, Foul, FoulCode, Penalty
from vision_referee.domain.table import PocketName
from vision_referee.rules.fouls_ids import RULE_OF


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedBall:
    """A counted ball as a person gave it; what he left out is taken from what was seen."""

    ball: str
    pocket: PocketName | None = None
    points: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The fields that were given, parsed. ``given`` says which; the others hold nothing."""

    given: frozenset[str] = frozenset()
    player: str | None = None
    fouls: tuple[Foul, ...] = ()
    penalty: Penalty | None = None
    counted: tuple[CorrectedBall, ...] = ()
    spotted: tuple[BallAt, ...] = ()
    restored: tuple[BallAt, ...] = ()
    replay: bool = False
    next_player: str | None = None
    cue_ball: CueBallState | None = None
    score: Mapping[str, int] = field(default_factory=dict)
    game_over: bool = False
    winner: str | None = None
    review: bool = False
    choice: tuple[str, ...] = ()
    text: Mapping[str, str] = field(default_factory=dict)

    def players(self) -> tuple[str, ...]:
        """Every player that it names."""
        named = (self.player, self.next_player, self.winner, self.penalty.to if self.penalty else None, *self.score)
        return tuple(name for name in named if name is not None)

    def has(self, name: str) -> bool:
        return name in self.given


NONE = Correction()


def parse_correction(fields: Mapping[str, Any], t: float = 0.0) -> Correction:
    """The fields of an ``override``. Raises ValueError with a reason in words. Unknown fields are ignored."""
    for name, kind in _SHAPES.items():
        if fields.get(name) is not None and not isinstance(fields[name], kind):
            raise ValueError(f"override: {name} must be as in a ruling, {_SHOWN[name]}")
    try:
        return _parse(fields, t)
    except KeyError as error:
        raise ValueError(f"override: the field {error} is missing in it") from None
    except (TypeError, AttributeError):
        raise ValueError("override: a field is not as in a ruling") from None


def _parse(fields: Mapping[str, Any], t: float) -> Correction:
    following = fields.get("next") or {}
    penalty = fields.get("penalty") or None
    return Correction(
        given=frozenset(fields),
        player=_name(fields.get("player")),
        fouls=tuple(_foul(value, t) for value in fields.get("fouls") or ()),
        penalty=_penalty(penalty),
        counted=tuple(_counted(value) for value in fields.get("counted") or ()),
        spotted=tuple(_at(value) for value in fields.get("spotted") or ()),
        restored=tuple(_at(value) for value in fields.get("restored") or ()),
        replay=bool(fields.get("replay", False)),
        next_player=_name(following.get("player")),
        cue_ball=CueBallState(following["cue_ball"]) if following.get("cue_ball") else None,
        score={str(name): int(points) for name, points in (fields.get("score") or {}).items()},
        game_over=bool(fields.get("game_over", False)),
        winner=_name(fields.get("winner")),
        review=bool(fields.get("review", False)),
        choice=tuple(str(value) for value in fields.get("choice") or ()),
        text={str(language): str(words) for language, words in (fields.get("text") or {}).items()},
    )


_SHOWN = {
    "fouls": '["push"] or [{"code": "push"}]',
    "penalty": '{"points": 5}',
    "counted": '["7"] or [{"ball": "7"}]',
    "spotted": '[{"ball": "7", "x": 2662.5, "y": 887.5}]',
    "restored": '[{"ball": "7", "x": 2662.5, "y": 887.5}]',
    "next": '{"player": "A", "cue_ball": "in_place"}',
    "score": '{"A": 7, "B": 5}',
    "text": '{"en": "..."}',
}
_SHAPES: dict[str, type] = {name: list if shown.startswith("[") else Mapping for name, shown in _SHOWN.items()}


def _ball(value: Any) -> str:
    if not isinstance(value, str) or not is_ball_label(value):
        raise ValueError(f"override: {value!r} is not a ball; balls are cue, 1 … 15, u1, u2, …")
    return value


def _code(value: Any) -> FoulCode:
    if value not in list(FoulCode):
        raise ValueError(f"override: {value!r} is not a foul's code; codes are {', '.join(FoulCode)}")
    return FoulCode(value)


def _name(value: Any) -> str | None:
    return None if value is None else str(value)


def _foul(value: Any, t: float) -> Foul:
    values = {"code": value} if isinstance(value, str) else dict(value)
    code = _code(values["code"])
    return Foul(
        code=code, rule=str(values.get("rule", RULE_OF[code])), t=float(values.get("t", t)),
        balls=tuple(_ball(ball) for ball in values.get("balls") or ()),
    )  # fmt: skip


def _penalty(value: Any) -> Penalty | None:
    if value is None or not (value.get("points") or value.get("balls")):
        return None
    points, balls = value.get("points"), value.get("balls")
    return Penalty(
        points=None if points is None else int(points),
        balls=None if balls is None else int(balls),
        to=_name(value.get("to")),
    )


def _counted(value: Any) -> CorrectedBall:
    values = {"ball": value} if isinstance(value, str) else dict(value)
    return CorrectedBall(
        ball=_ball(values["ball"]),
        pocket=PocketName(values["pocket"]) if values.get("pocket") else None,
        points=None if values.get("points") is None else int(values["points"]),
    )


def _at(value: Any) -> BallAt:
    return BallAt(ball=_ball(value["ball"]), x=float(value["x"]), y=float(value["y"]))
