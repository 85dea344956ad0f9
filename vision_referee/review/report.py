"""report.html: the score sheet, the rulings with diagrams and the statistics, in one file that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling
from vision_referee.domain.table import PocketName
from vision_referee.record.atomic_write import replace_text
from vision_referee.record.match_folder import CLIPS, REPORT, RESTORE, MatchFolder
from vision_referee.review.charts import heat_map_svg, shot_chart_svg
from vision_referee.review.clips import clip_name
from vision_referee.review.diagram import stroke_svg
from vision_referee.review.restoration import picture_name
from vision_referee.review.ruling_words import consequences, kind_and_player, penalty_words, ruling_text
from vision_referee.review.sheet import games_of, happened
from vision_referee.review.statistics import MatchStatistics, PlayerStatistics, match_statistics
from vision_referee.review.stroke_view import stroke_view
from vision_referee.review.wording import Wording, wording

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingCard:
    """One ruling as the report and the pages show it. ``tone``: ``foul``, ``doubt``, ``restore`` or nothing."""

    ruling: Ruling
    title: str
    tone: str
    text: str
    lines: list[str]
    diagram: Markup
    clip: str | None
    picture: str | None


def write_report(folder: MatchFolder, *, lang: str) -> Path:
    """Write ``report.html`` into the folder in one language; returns the file."""
    path = folder.path / REPORT
    replace_text(path, report_html(folder, lang=lang))
    return path


def report_html(folder: MatchFolder, *, lang: str) -> str:
    """The report's text: a whole page with its style and pictures inside."""
    words = wording(lang)
    info, rulings, events = folder.info, folder.rulings(), folder.events()
    stats = match_statistics(info.players, rulings, events)
    times = info.frame_times.as_array()
    return environment().get_template("report.html.j2").render(
        w=words,
        info=info,
        css=Markup(stylesheet()),
        known_rules=f"rules.{info.rules}" in words,
        rulings=rulings,
        sheet=games_of(rulings) if rulings else [],
        happened=lambda ruling: happened(ruling, words),
        players=[p.player for p in stats.players] or list(info.players),
        score=rulings[-1].score if rulings else info.score,
        games=games_won(rulings),
        doubts=sum(1 for r in rulings if r.review),
        duration_s=float(times[-1] - times[0]) if len(times) else 0.0,
        residual=(info.calibration or {}).get("residual_mm"),
        penalty=lambda ruling: penalty_words(ruling.penalty, words),
        setting=setting_text,
        cards=[ruling_card(folder, ruling, events, words) for ruling in rulings],
        event_counts=sorted(Counter(e.type for e in events).items()),
        stats=stats,
        stat_rows=statistic_rows(called=stats.called),
        pot_players=list(stats.pots),
        pockets=list(PocketName),
        shot_chart=shot_chart_svg(info.table, stats.shots, title=words("report.shots")),
        heat_map=heat_map_svg(info.table, stats.resting_places, title=words("report.heat")),
    )  # fmt: skip


def ruling_card(folder: MatchFolder, ruling: Ruling, events: Sequence[Event], words: Wording) -> RulingCard:
    view = stroke_view(folder, ruling, events)
    labels = {kind: words(f"report.{kind}", balls="").strip(": ") for kind in ("spotted", "restored")}
    clip, picture = f"{CLIPS}/{clip_name(ruling.id)}", f"{RESTORE}/{picture_name(ruling.id)}"
    return RulingCard(
        ruling=ruling,
        title=kind_and_player(ruling, words),
        tone=tone(ruling),
        text=ruling_text(ruling, words),
        lines=consequences(ruling, words),
        diagram=stroke_svg(folder.info.table, view, title=words("report.diagram", number=ruling.id), labels=labels),
        clip=clip if (folder.path / clip).exists() else None,
        picture=picture if (folder.path / picture).exists() else None,
    )


def games_won(rulings: Sequence[Ruling]) -> dict[str, int]:
    """Games won so far by each player; empty while no game of the match has been won."""
    return dict(rulings[-1].match) if rulings and any(rulings[-1].match.values()) else {}


def tone(ruling: Ruling) -> str:
    if ruling.review:
        return "doubt"
    if ruling.fouls:
        return "foul"
    return "restore" if ruling.restored else ""


def statistic_rows(*, called: bool) -> list[tuple[str, Callable[[PlayerStatistics], str]]]:
    """The statistics table: the text's key and how a player's cell is written."""

    def seconds(value: float | None) -> str:
        return "–" if value is None else f"{value:.1f}"

    return [
        ("strokes", lambda p: str(p.strokes)),
        *([("attempts", lambda p: str(p.attempts))] if called else []),
        ("successes", lambda p: str(p.successes)),
        ("success", lambda p: "–" if p.success is None else f"{p.success:.0%}".replace("%", " %")),
        ("balls", lambda p: str(p.balls)),
        ("points_made", lambda p: str(p.points)),
        ("longest", lambda p: str(p.longest_series)),
        ("safeties" if called else "quiet", lambda p: str(p.safeties)),
        ("fouls_made", lambda p: str(p.fouls)),
        ("stroke_time", lambda p: seconds(p.stroke_s)),
        ("thinking_time", lambda p: seconds(p.thinking_s)),
    ]


def environment() -> Environment:
    """Jinja with escaping on; a name that a template does not get is an error, not an empty place."""
    return Environment(
        loader=PackageLoader("vision_referee.review"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def stylesheet() -> str:
    return "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "diagram.css"))


def setting_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{k}:{v}" for k, v in value.items()) or "–"
    if isinstance(value, list | tuple):
        return ", ".join(str(v) for v in value) or "–"
    return str(value)


__all__ = ["MatchStatistics", "RulingCard", "environment", "report_html", "ruling_card", "write_report"]
