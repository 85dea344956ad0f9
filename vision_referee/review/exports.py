"""A match's rulings, statistics and log as CSV and JSON, for spreadsheets and other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import PocketName
from vision_referee.review.statistics import MatchStatistics

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def rulings_csv(rulings: Sequence[Ruling], players: Sequence[str]) -> str:
    """One line a ruling; lists are separated by spaces, scores have a column a player."""
    columns = (
        "id kind t_start t_end player fouls rules penalty_points penalty_balls penalty_to counted spotted restored"
    )
    more = "replay next_player next_cue_ball confidence review overridden game_over winner"
    rows: list[Sequence[object]] = [[*columns.split(), *more.split(), *(f"score {p}" for p in players)]]
    for r in rulings:
        points, balls, to = (r.penalty.points, r.penalty.balls, r.penalty.to) if r.penalty else (None, None, None)
        rows.append(
            [
                r.id,
                r.kind.value,
                round(r.t_start, 3),
                round(r.t_end, 3),
                r.player,
                " ".join(f.code.value for f in r.fouls),
                " ".join(f.rule for f in r.fouls),
                points,
                balls,
                to,
                " ".join(c.ball for c in r.counted),
                " ".join(b.ball for b in r.spotted),
                " ".join(b.ball for b in r.restored),
                int(r.replay),
                r.next.player if r.next else None,
                r.next.cue_ball.value if r.next else None,
                round(r.confidence, 4),
                int(r.review),
                int(r.overridden),
                int(r.game_over),
                r.winner,
                *(r.score.get(p, 0) for p in players),
            ]
        )
    return csv_text(rows)


def statistics_json(stats: MatchStatistics) -> dict[str, Any]:
    """Figures by player, pots by player and pocket, shots."""
    return {
        "players": [
            {
                "player": p.player,
                "strokes": p.strokes,
                "attempts": p.attempts,
                "successes": p.successes,
                "success": p.success,
                "balls": p.balls,
                "points": p.points,
                "fouls": p.fouls,
                "safeties": p.safeties,
                "longest_series": p.longest_series,
                "stroke_s": p.stroke_s,
                "thinking_s": p.thinking_s,
            }
            for p in stats.players
        ],
        "pots": [
            {"player": player or None, "pocket": pocket.value, "balls": count}
            for player, own in stats.pots.items()
            for pocket, count in own.items()
        ],
        "shots": [
            {
                "ruling": s.ruling_id,
                "player": s.player,
                "start": s.start,
                "end": s.end,
                "counted": s.counted,
                "foul": s.foul,
            }
            for s in stats.shots
        ],
    }


def statistics_csv(stats: MatchStatistics) -> str:
    """A line a figure, a column a player; then the balls that fell, a line a pocket."""
    rows: list[list[object]] = [["figure", *(p.player for p in stats.players)]]
    names = ("strokes", "attempts", "successes", "success", "balls", "points", "fouls", "safeties", "longest_series")
    for name in (*names, "stroke_s", "thinking_s"):
        values = [getattr(p, name) for p in stats.players]
        rows.append([name, *("" if v is None else round(v, 3) for v in values)])
    for pocket in PocketName:
        rows.append([f"fell {pocket.value}", *(stats.pots.get(p.player, {}).get(pocket, 0) for p in stats.players)])
    return csv_text(rows)


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    """Comma-separated text. A name that a spreadsheet would take for a formula is quoted by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
