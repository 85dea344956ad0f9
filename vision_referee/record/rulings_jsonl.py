"""Rulings as JSON lines (CONTRACT: Rulings)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import BallAt
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
from vision_referee.domain.table import PocketName
from vision_referee.record.atomic_write import replace_text
from vision_referee.record.events_jsonl import short


def ruling_to_json(ruling: Ruling) -> dict[str, Any]:
    """The contract's JSON of a ruling, with ``doubts``, ``notes``, ``match`` and ``overridden`` added."""
    values: dict[str, Any] = {
        "id": ruling.id,
        "kind": ruling.kind.value,
        "t_start": short(ruling.t_start),
        "t_end": short(ruling.t_end),
        "player": ruling.player,
        "fouls": [
            {
                "code": foul.code.value,
                "rule": foul.rule,
                "t": short(foul.t),
                "balls": list(foul.balls),
                "confidence": short(foul.confidence),
            }
            for foul in ruling.fouls
        ],
        "penalty": _penalty_to_json(ruling.penalty),
        "counted": [
            {"ball": ball.ball, "pocket": ball.pocket.value if ball.pocket else None, "points": ball.points}
            for ball in ruling.counted
        ],
        "spotted": [_at_to_json(at) for at in ruling.spotted],
        "restored": [_at_to_json(at) for at in ruling.restored],
        "replay": ruling.replay,
        "next": {"player": ruling.next.player, "cue_ball": ruling.next.cue_ball.value} if ruling.next else None,
        "score": dict(ruling.score),
        "game_over": ruling.game_over,
        "winner": ruling.winner,
        "confidence": short(ruling.confidence),
        "review": ruling.review,
        "text": dict(ruling.text),
        "doubts": list(ruling.doubts),
        "notes": list(ruling.notes),
        "match": dict(ruling.match),
        "match_over": ruling.match_over,
        "overridden": ruling.overridden,
    }
    if ruling.choice:
        values["choice"] = list(ruling.choice)
    return values


def _penalty_to_json(penalty: Penalty | None) -> dict[str, Any] | None:
    if penalty is None:
        return None
    values: dict[str, Any] = {}
    if penalty.points is not None:
        values["points"] = penalty.points
    if penalty.balls is not None:
        values["balls"] = penalty.balls
    if penalty.to is not None:
        values["to"] = penalty.to
    if penalty.offender is not None:
        values["offender"] = penalty.offender
    return values


def _at_to_json(at: BallAt) -> dict[str, Any]:
    return {"ball": at.ball, "x": short(at.x, 1), "y": short(at.y, 1)}


def ruling_from_json(values: dict[str, Any]) -> Ruling:
    """The ruling of a JSON object. Raises KeyError, TypeError or ValueError where it is none."""
    penalty, following = values.get("penalty"), values.get("next")
    return Ruling(
        id=int(values["id"]),
        kind=RulingKind(values["kind"]),
        t_start=float(values["t_start"]),
        t_end=float(values["t_end"]),
        player=values.get("player"),
        fouls=tuple(
            Foul(
                code=FoulCode(foul["code"]),
                rule=foul.get("rule", ""),
                t=float(foul.get("t", values["t_end"])),
                balls=tuple(foul.get("balls", ())),
                confidence=float(foul.get("confidence", 1.0)),
            )
            for foul in values.get("fouls") or ()
        ),
        penalty=_penalty_from_json(penalty),
        counted=tuple(
            CountedBall(
                ball=ball["ball"],
                pocket=PocketName(ball["pocket"]) if ball.get("pocket") else None,
                points=int(ball["points"]),
            )
            for ball in values.get("counted") or ()
        ),
        spotted=tuple(_at_from_json(at) for at in values.get("spotted") or ()),
        restored=tuple(_at_from_json(at) for at in values.get("restored") or ()),
        replay=bool(values.get("replay", False)),
        next=NextStroke(player=following["player"], cue_ball=CueBallState(following["cue_ball"]))
        if following
        else None,
        score=dict(values.get("score") or {}),
        game_over=bool(values.get("game_over", False)),
        winner=values.get("winner"),
        confidence=float(values.get("confidence", 1.0)),
        review=bool(values.get("review", False)),
        doubts=tuple(values.get("doubts") or ()),
        notes=tuple(values.get("notes") or ()),
        choice=tuple(values.get("choice") or ()),
        overridden=bool(values.get("overridden", False)),
        match=dict(values.get("match") or {}),
        match_over=bool(values.get("match_over", False)),
        text=dict(values.get("text") or {}),
    )


def _penalty_from_json(values: dict[str, Any] | None) -> Penalty | None:
    if not values:
        return None
    return Penalty(
        points=values.get("points"), balls=values.get("balls"), to=values.get("to"), offender=values.get("offender")
    )


def _at_from_json(values: dict[str, Any]) -> BallAt:
    return BallAt(ball=values["ball"], x=float(values["x"]), y=float(values["y"]))


def ruling_line(ruling: Ruling) -> str:
    """One line of rulings.jsonl, without its end."""
    return json.dumps(ruling_to_json(ruling), ensure_ascii=False, allow_nan=False)


def ruling_lines(rulings: Iterable[Ruling]) -> str:
    """Whole lines, one a ruling."""
    return "".join(ruling_line(ruling) + "\n" for ruling in rulings)


def write_rulings(path: Path | str, rulings: Iterable[Ruling]) -> None:
    """Write a whole rulings file, in one step."""
    replace_text(Path(path), ruling_lines(rulings))


def read_rulings(path: Path | str) -> list[Ruling]:
    """The rulings of a file. Raises InputError naming file, line and reason."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text ({error})") from None
    rulings = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rulings.append(ruling_from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: not a ruling ({type(error).__name__}: {error})") from None
    return rulings
