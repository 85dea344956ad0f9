"""What the pages fetch: clips, pictures, a stroke's motion, the report, exports, news of changes, style and script."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse

from vision_referee.domain.errors import InputError
from vision_referee.record.events_jsonl import event_lines
from vision_referee.record.match_folder import RESTORE
from vision_referee.record.rulings_jsonl import ruling_lines
from vision_referee.review.exports import csv_text, rulings_csv, statistics_csv, statistics_json
from vision_referee.review.report import report_html, stylesheet
from vision_referee.review.restoration import picture_name
from vision_referee.review.server.desk import MatchDesk
from vision_referee.review.server.motion import motion_json
from vision_referee.review.server.pages import Match, desk_of, ruling_of
from vision_referee.review.server.pulse import MOST_LISTENERS
from vision_referee.review.server.visitor import visitor
from vision_referee.review.statistics import match_statistics

router = APIRouter()

_STATIC = Path(__file__).parent / "static"
_SCRIPTS = ("page.js", "stroke.js")


@router.get("/m/{key}/clip/{ruling_id}.mp4")
def clip(request: Request, match: Match, ruling_id: int) -> Response:
    """The ruling's clip; ranges are served, so that a browser can jump in it."""
    record = match.record()
    ruling = ruling_of(record, ruling_id)
    words = visitor(request, desk_of(request).lang).words
    try:
        path = desk_of(request).clips.clip(match.folder, record, ruling, words)
    except InputError as error:
        return PlainTextResponse(words("app.no_video", why=str(error)), status_code=404)
    return FileResponse(path, media_type="video/mp4", headers={"Cache-Control": "private, max-age=0, must-revalidate"})


@router.get("/m/{key}/restore/{ruling_id}.png")
def restoration(match: Match, ruling_id: int) -> Response:
    ruling_of(match.record(), ruling_id)
    path = match.path / RESTORE / picture_name(ruling_id)
    if not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, media_type="image/png")


@router.get("/m/{key}/r/{ruling_id}/motion.json")
def motion(match: Match, ruling_id: int) -> Response:
    return JSONResponse(motion_json(match.folder, ruling_of(match.record(), ruling_id)))


@router.get("/m/{key}/report")
def report(request: Request, match: Match) -> Response:
    """The report as it is now, in the reader's language."""
    request.state.inline_style = True
    match.record()
    return HTMLResponse(report_html(match.folder, lang=visitor(request, desk_of(request).lang).lang))


@router.get("/m/{key}/changes")
async def changes(request: Request, match: Match) -> Response:
    """Server-sent events: the match's stamp, now and whenever it changes."""
    pulse = desk_of(request).pulse
    if pulse.listeners >= MOST_LISTENERS:
        return PlainTextResponse("too many listeners", status_code=503, headers={"Retry-After": "10"})
    return StreamingResponse(pulse.listen(match), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@dataclass(frozen=True, slots=True)
class _Export:
    media_type: str
    text: Callable[[MatchDesk], str]


def _statistics(match: MatchDesk) -> str:
    return json.dumps(_stats_json(match), ensure_ascii=False, indent=1)


def _stats_json(match: MatchDesk) -> object:
    record = match.record()
    return statistics_json(match_statistics(record.info.players, record.rulings, record.events))


def _statistics_csv(match: MatchDesk) -> str:
    record = match.record()
    return statistics_csv(match_statistics(record.info.players, record.rulings, record.events))


def _rulings_csv(match: MatchDesk) -> str:
    record = match.record()
    return rulings_csv(record.rulings, record.info.players)


def _log_csv(match: MatchDesk) -> str:
    rows: list[list[object]] = [["id", "made_at", "who", "what", "ruling", "events", "undone_at", "undone_by"]]
    for c in match.changes():
        undone = c.undone_at.isoformat(timespec="seconds") if c.undone_at else ""
        what = json.dumps(c.events, ensure_ascii=False)
        made = c.made_at.isoformat(timespec="seconds")
        rows.append([c.id, made, c.who, c.what, c.ruling_id or "", what, undone, c.undone_by or ""])
    return csv_text(rows)


EXPORTS: dict[str, _Export] = {
    "events.jsonl": _Export("application/jsonl", lambda m: event_lines(m.record().events)),
    "rulings.jsonl": _Export("application/jsonl", lambda m: ruling_lines(m.record().rulings)),
    "rulings.csv": _Export("text/csv; charset=utf-8", _rulings_csv),
    "statistics.json": _Export("application/json", _statistics),
    "statistics.csv": _Export("text/csv; charset=utf-8", _statistics_csv),
    "log.csv": _Export("text/csv; charset=utf-8", _log_csv),
}


@router.get("/m/{key}/export/{name}")
def export(match: Match, name: str) -> Response:
    wanted = EXPORTS.get(name)
    if wanted is None:
        raise HTTPException(404)
    headers = {"Content-Disposition": f'attachment; filename="{match.key}-{name}"'}
    return Response(wanted.text(match), media_type=wanted.media_type, headers=headers)


@lru_cache
def _style() -> str:
    return stylesheet() + (_STATIC / "app.css").read_text(encoding="utf-8")


@router.get("/static/app.css")
def style() -> Response:
    return Response(_style(), media_type="text/css", headers={"Cache-Control": "private, max-age=60"})


@router.get("/static/{name}")
def script(name: str) -> Response:
    if name not in _SCRIPTS:
        raise HTTPException(404)
    headers = {"Cache-Control": "private, max-age=60"}
    return FileResponse(_STATIC / name, media_type="text/javascript", headers=headers)
