"""The archive's tables: Parquet files that DuckDB, Polars and pyarrow read where they lie (docs/archive.md).

``tables/TABLE/match=NAME/part.parquet``, one file a match and table, each replaced in one step: a reader never sees
half a file, and writers of different matches never meet. ``matches`` is written last, so what it lists is there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vision_referee.archive.facts import Pot, Stroke, match_facts, numbers, ruling_at, standing
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Contact, Event, Racked, Rest
from vision_referee.domain.rulings import Ruling
from vision_referee.record.events_jsonl import event_line, event_to_json
from vision_referee.record.match_folder import EVENTS, RULINGS, MatchFolder
from vision_referee.record.match_info import COMPLETE, MATCH, MatchInfo

PART = "part.parquet"
_STAMP = b"vision_referee.files"
_VERSION = "1"
"""Of the tables' columns: another one makes all tables anew."""

_F, _I, _S, _B = pa.float64(), pa.int64(), pa.string(), pa.bool_()
_STRINGS = pa.list_(_S)

SCHEMAS: dict[str, pa.Schema] = {
    "events": pa.schema(
        [
            ("id", _I), ("t", _F), ("type", _S), ("ruling", _I), ("player", _S), ("ball", _S), ("other_ball", _S),
            ("number", _I), ("x", _F), ("y", _F), ("vx", _F), ("vy", _F), ("pocket", _S), ("cushion", _S),
            ("line", _S), ("confidence", _F), ("source", _S), ("frame", _I), ("json", _S),
        ]
    ),
    "rulings": pa.schema(
        [
            ("ruling", _I), ("kind", _S), ("t_start", _F), ("t_end", _F), ("player", _S),
            ("fouls", pa.list_(pa.struct([
                ("code", _S), ("rule", _S), ("t", _F), ("balls", _STRINGS), ("confidence", _F),
            ]))),
            ("offender", _S), ("penalty_points", _I), ("penalty_balls", _I), ("penalty_to", _S),
            ("counted", pa.list_(pa.struct([("ball", _S), ("pocket", _S), ("points", _I)]))),
            ("restored", _STRINGS), ("spotted", _STRINGS), ("replay", _B), ("next_player", _S), ("next_cue_ball", _S),
            ("score", pa.list_(pa.struct([("player", _S), ("points", _I)]))), ("game_over", _B), ("winner", _S),
            ("confidence", _F), ("review", _B), ("overridden", _B), ("text_en", _S), ("text_ru", _S),
        ]
    ),
    "strokes": pa.schema(
        [
            ("stroke", _I), ("ruling", _I), ("player", _S), ("t_start", _F), ("t_end", _F), ("ball", _S), ("x", _F),
            ("y", _F), ("speed_mm_s", _F), ("first_ball", _S), ("cushions", _I), ("target", _S),
            ("target_x", _F), ("target_y", _F), ("pocket", _S), ("pocket_known_by", _S), ("distance_mm", _F),
            ("cue_distance_mm", _F), ("balls_fallen", _I), ("success", _B), ("points", _I), ("foul", _B),
            ("review", _B),
        ]
    ),
    "pots": pa.schema(
        [
            ("event", _I), ("t", _F), ("ball", _S), ("number", _I), ("pocket", _S), ("ruling", _I), ("kind", _S),
            ("player", _S), ("counted", _B), ("points", _I), ("distance_mm", _F), ("cushions", _I), ("confidence", _F),
        ]
    ),
    "matches": pa.schema(
        [
            ("id", _S), ("folder", _S), ("status", _S), ("created", _S), ("videos", _STRINGS), ("duration_s", _F),
            ("frames", _I), ("width", _I), ("height", _I), ("table", _S), ("residual_mm", _F), ("rules", _S),
            ("players", _STRINGS), ("score", pa.list_(pa.struct([("player", _S), ("points", _I)]))), ("winner", _S),
            ("strokes", _I), ("pots", _I), ("fouls", _I), ("rulings", _I), ("for_review", _I), ("software", _S),
            ("models", _S), ("warnings", _STRINGS),
        ]
    ),
}  # fmt: skip
"""Columns of each table besides ``match``, which is the folder's name. Times in seconds of the match, places in mm."""

Tell = Callable[[str], None]


class Tables:
    """The tables of an archive in their folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, match: Path) -> None:
        """Write a match folder's rows, in place of those that are there. Raises InputError when it cannot be read."""
        rows = rows_of(match)
        stamp = _stamp(match)
        for name, schema in SCHEMAS.items():
            stamped = schema.with_metadata({_STAMP: stamp})
            self._replace(name, match.name, pa.Table.from_pylist(rows[name], schema=stamped))

    def drop(self, match: str) -> None:
        for name in reversed(SCHEMAS):
            shutil.rmtree(self._folder / name / f"match={match}", ignore_errors=True)

    def refresh(self, matches: Path, tell: Tell) -> int:
        """Bring the tables up to date with the match folders in ``matches``; how many matches changed."""
        there = {path.parent.name: path.parent for path in matches.glob(f"*/{MATCH}") if path.parent.name[0] != "."}
        known = {path.name.removeprefix("match="): path / PART for path in (self._folder / "matches").glob("match=*")}
        changed = 0
        for name in known.keys() - there.keys():
            self.drop(name)
            changed += 1
        for name, match in sorted(there.items()):
            if name in known and _stamp_in(known[name]) == _stamp(match):
                continue
            try:
                if MatchFolder(match).info.status != COMPLETE:
                    continue
                self.put(match)
                changed += 1
            except InputError as error:
                tell(f"left out of the tables: {error}")
        return changed

    def _replace(self, name: str, match: str, table: pa.Table) -> None:
        folder = self._folder / name / f"match={match}"
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".{PART}.{os.getpid()}.tmp"
        pq.write_table(table, unfinished, compression="zstd")
        unfinished.replace(folder / PART)


def _stamp(match: Path) -> bytes:
    """Differs when the match's files have changed."""
    said = [_VERSION]
    for name in (MATCH, EVENTS, RULINGS):
        try:
            file = (match / name).stat()
            said.append(f"{file.st_size}-{file.st_mtime_ns}")
        except OSError:
            said.append("-")
    return " ".join(said).encode()


def _stamp_in(part: Path) -> bytes | None:
    try:
        metadata = pq.read_schema(part).metadata or {}
    except (pa.ArrowException, OSError):
        return None
    stamp: bytes | None = metadata.get(_STAMP)
    return stamp


def rows_of(match: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table for one match folder. Raises InputError when it cannot be read."""
    folder = MatchFolder(match)
    given, rulings = folder.events(), folder.rulings()
    events = standing(given)
    strokes, pots = match_facts(events, rulings, folder.info.table)
    known = numbers(events)
    return {
        "events": [_event_row(event, rulings, known) for event in events],
        "rulings": [_ruling_row(ruling) for ruling in rulings],
        "strokes": [_stroke_row(number, stroke) for number, stroke in enumerate(strokes, start=1)],
        "pots": [_pot_row(pot, known) for pot in pots],
        "matches": [_match_row(match, folder.info, rulings, strokes, pots)],
    }


def _event_row(event: Event, rulings: Sequence[Ruling], known: dict[str, int]) -> dict[str, Any]:
    values = event_to_json(event)
    ball, other = values.get("ball"), None
    if isinstance(event, Contact):
        ball, other = event.balls
    ruling = None if isinstance(event, Racked | Rest) else ruling_at(rulings, event.t)
    own = {name: values.get(name) for name in ("x", "y", "vx", "vy", "pocket", "cushion", "line", "frame")}
    player = getattr(event, "player", None) or (ruling.player if ruling else None)
    return own | {
        "id": event.id, "t": event.t, "type": event.type, "ruling": ruling.id if ruling else None, "player": player,
        "ball": ball, "other_ball": other, "number": known.get(ball) if isinstance(ball, str) else None,
        "confidence": event.confidence, "source": event.source.value, "json": event_line(event),
    }  # fmt: skip


def _ruling_row(r: Ruling) -> dict[str, Any]:
    penalty = r.penalty
    return {
        "ruling": r.id, "kind": r.kind.value, "t_start": r.t_start, "t_end": r.t_end, "player": r.player,
        "fouls": [
            {"code": f.code.value, "rule": f.rule, "t": f.t, "balls": list(f.balls), "confidence": f.confidence}
            for f in r.fouls
        ],
        "offender": ((penalty.offender if penalty else None) or r.player) if r.fouls else None,
        "penalty_points": penalty.points if penalty else None, "penalty_balls": penalty.balls if penalty else None,
        "penalty_to": penalty.to if penalty else None,
        "counted": [
            {"ball": c.ball, "pocket": c.pocket.value if c.pocket else None, "points": c.points} for c in r.counted
        ],
        "restored": [at.ball for at in r.restored], "spotted": [at.ball for at in r.spotted], "replay": r.replay,
        "next_player": r.next.player if r.next else None, "next_cue_ball": r.next.cue_ball.value if r.next else None,
        "score": _score(r.score), "game_over": r.game_over, "winner": r.winner, "confidence": r.confidence,
        "review": r.review, "overridden": r.overridden, "text_en": r.text.get("en"), "text_ru": r.text.get("ru"),
    }  # fmt: skip


def _stroke_row(number: int, s: Stroke) -> dict[str, Any]:
    ruling, at = s.ruling, s.target_at or (None, None)
    return {
        "stroke": number, "ruling": ruling.id if ruling else None, "player": ruling.player if ruling else None,
        "t_start": s.strike.t, "t_end": s.end_s, "ball": s.strike.ball, "x": s.strike.x, "y": s.strike.y,
        "speed_mm_s": (s.strike.vx**2 + s.strike.vy**2) ** 0.5, "first_ball": s.first_ball, "cushions": s.cushions,
        "target": s.target, "target_x": at[0], "target_y": at[1], "pocket": s.pocket.value if s.pocket else None,
        "pocket_known_by": s.by if s.pocket else None, "distance_mm": s.distance_mm,
        "cue_distance_mm": s.cue_distance_mm, "balls_fallen": len(s.pots), "success": s.success,
        "points": sum(c.points for c in ruling.counted) if ruling else 0, "foul": bool(ruling and ruling.fouls),
        "review": bool(ruling and ruling.review),
    }  # fmt: skip


def _pot_row(pot: Pot, known: dict[str, int]) -> dict[str, Any]:
    event, ruling = pot.event, pot.ruling
    return {
        "event": event.id, "t": event.t, "ball": event.ball, "number": known.get(event.ball),
        "pocket": event.pocket.value, "ruling": ruling.id if ruling else None,
        "kind": ruling.kind.value if ruling else None, "player": ruling.player if ruling else None,
        "counted": pot.counted, "points": pot.points, "distance_mm": pot.distance_mm, "cushions": pot.cushions,
        "confidence": event.confidence,
    }  # fmt: skip


def _match_row(
    match: Path, info: MatchInfo, rulings: Sequence[Ruling], strokes: Sequence[Stroke], pots: Sequence[Pot]
) -> dict[str, Any]:
    times = info.frame_times.as_array()
    residual = (info.calibration or {}).get("residual_mm")
    return {
        "id": info.id, "folder": str(match), "status": info.status, "created": info.created,
        "videos": [file.path for file in info.files], "duration_s": float(times[-1]) if len(times) else 0.0,
        "frames": len(times), "width": info.width, "height": info.height, "table": info.table.name,
        "residual_mm": float(residual) if isinstance(residual, int | float) else None, "rules": info.rules,
        "players": list(info.players), "score": _score(info.score), "winner": info.winner, "strokes": len(strokes),
        "pots": len(pots), "fouls": sum(len(r.fouls) for r in rulings), "rulings": len(rulings),
        "for_review": sum(r.review for r in rulings), "software": info.software.get("vision_referee"),
        "models": ", ".join(info.models.values()), "warnings": list(info.warnings),
    }  # fmt: skip


def _score(score: dict[str, int]) -> list[dict[str, Any]]:
    return [{"player": player, "points": points} for player, points in score.items()]
