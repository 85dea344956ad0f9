"""The live pages: the match as it is played, the official's panel, the camera's set-up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.concurrency import run_in_threadpool

from vision_referee.calibration.calibration import SIDES
from vision_referee.calibration.saved import saved_cameras
from vision_referee.domain.errors import InputError
from vision_referee.domain.rulings import CueBallState
from vision_referee.domain.table import PocketName
from vision_referee.review.diagram import table_svg
from vision_referee.review.report import games_won, tone
from vision_referee.review.ruling_words import kind_and_player, ruling_text
from vision_referee.review.server.live_hints import hint_words
from vision_referee.review.server.live_json import live_json, set_up_json, table_key
from vision_referee.review.server.live_match import Watched, WatchedHere
from vision_referee.review.server.live_news import LiveNews
from vision_referee.review.server.live_picture import LivePicture
from vision_referee.review.server.live_say import BALL_TAPS, KEYS, TAPS, BallNeeded, said_event
from vision_referee.review.server.pages import change_words, desk_of, page
from vision_referee.review.server.pulse import MOST_LISTENERS
from vision_referee.review.server.requests import whole_number
from vision_referee.review.server.security import FORM_FIELD, form_is_ours
from vision_referee.review.server.visitor import visitor
from vision_referee.review.wording import Wording
from vision_referee.rules.settings import BALL_GAMES, CALLED

router = APIRouter()

_STATIC = Path(__file__).parent / "static"
_FILES = {"live.js": "text/javascript", "camera.js": "text/javascript", "live.css": "text/css"}


@router.get("/live-static/{name}")
def static(name: str) -> Response:
    if name not in _FILES:
        raise HTTPException(404)
    return FileResponse(_STATIC / name, media_type=_FILES[name], headers={"Cache-Control": "private, max-age=60"})


@router.get("/m/{key}/live")
def live_page(request: Request, here: WatchedHere) -> Response:
    return _live_page(request, here)


def _live_page(request: Request, here: Watched, *, problem: str | None = None, status: int = 200) -> Response:
    match, record, now = here.match, here.match.record(), here.live.now()
    person = visitor(request, desk_of(request).lang)
    words, info = person.words, record.info
    last = record.rulings[-1] if record.rulings else None
    changes = list(reversed(match.changes()))
    balls = sorted({b.label for b in now.balls if b.label}, key=lambda b: (b != "cue", len(b), b))
    return page(
        request,
        "live.html.j2",
        status=status,
        match=match,
        record=record,
        info=info,
        now=now,
        table_key=table_key(now),
        snapshot=json.dumps(live_json(now), ensure_ascii=False),
        script_words=json.dumps(_script_words(words), ensure_ascii=False),
        diagram=table_svg(now.table, [], title=words("live.diagram")),
        last=last,
        last_title=kind_and_player(last, words) if last else "",
        last_text=ruling_text(last, words) if last else "",
        tone=tone(last) if last else "",
        score=last.score if last else info.score,
        games=games_won(record.rulings),
        players=info.players,
        balls=balls,
        pockets=list(PocketName),
        called=info.rules in CALLED,
        shelves=info.rules in BALL_GAMES,
        taps=list(TAPS),
        ball_taps=list(BALL_TAPS),
        keys=KEYS,
        changes=changes[:12],
        newest=next((c for c in changes if c.in_force), None),
        told=lambda change: change_words(change, words),
        said=_said(request, person.words),
        problem=problem,
        size=_size(here),
    )


@router.get("/m/{key}/live/now.json")
def now_json(here: WatchedHere) -> Response:
    """The snapshot once, for programs."""
    return JSONResponse(live_json(here.live.now()))


@router.get("/m/{key}/live/news")
async def news(request: Request, here: WatchedHere) -> Response:
    """Server-sent events: the match at this moment, several times a second."""
    live_news: LiveNews = request.app.state.live_news
    if live_news.listeners >= MOST_LISTENERS:
        return PlainTextResponse("too many listeners", status_code=503, headers={"Retry-After": "10"})
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(live_news.listen(here), media_type="text/event-stream", headers=headers)


@router.get("/m/{key}/live/picture.jpg")
def picture(request: Request, here: WatchedHere) -> Response:
    """The newest picture, at most 1280 pixels wide."""
    shown = here.live.picture()
    if shown is None:
        raise HTTPException(404)
    newest: LivePicture = request.app.state.live_picture
    return Response(newest.jpeg(shown), media_type="image/jpeg")


@router.post("/m/{key}/live/say")
async def say(request: Request, here: WatchedHere) -> Response:
    # The time of the tap, before anything is waited for.
    t_s = here.live.clock_s()
    form = await _form(request)
    return await run_in_threadpool(_say, request, here, form, t_s)


def _say(request: Request, here: Watched, form: Mapping[str, str], t_s: float) -> Response:
    person = visitor(request, desk_of(request).lang)
    if not form_is_ours(request, form.get(FORM_FIELD, "")):
        return _live_page(request, here, problem=person.words("app.form_stale"), status=403)
    try:
        event = said_event(form, t_s, here.match.record().info.players)
        here.match.change(who=person.signed, what="official", ruling_id=None, events=[event])
    except BallNeeded:
        return _live_page(request, here, problem=person.words("live.choose_ball"), status=400)
    except InputError as error:
        return _live_page(request, here, problem=str(error), status=400)
    return RedirectResponse(f"/m/{here.match.key}/live?said=entered", status_code=303)


@router.post("/m/{key}/live/undo")
async def undo(request: Request, here: WatchedHere) -> Response:
    form = await _form(request)
    return await run_in_threadpool(_undo, request, here, form)


def _undo(request: Request, here: Watched, form: Mapping[str, str]) -> Response:
    person = visitor(request, desk_of(request).lang)
    if not form_is_ours(request, form.get(FORM_FIELD, "")):
        return _live_page(request, here, problem=person.words("app.form_stale"), status=403)
    change_id = whole_number(form.get("change", ""))
    try:
        if change_id is None:
            raise InputError("which change is to be undone?")
        here.match.undo(who=person.signed, change_id=change_id)
    except InputError as error:
        return _live_page(request, here, problem=str(error), status=400)
    return RedirectResponse(f"/m/{here.match.key}/live?said=undone", status_code=303)


# --- the camera's set-up ---


@router.get("/m/{key}/live/camera")
def camera_page(request: Request, here: WatchedHere) -> Response:
    return _camera_page(request, here)


def _camera_page(request: Request, here: Watched, *, problem: str | None = None, status: int = 200) -> Response:
    now, record = here.live.now(), here.match.record()
    calibration = now.calibration
    size = _size(here)
    words = visitor(request, desk_of(request).lang).words
    hints = request.app.state.live_hints.of(here.live.picture(), now)
    return page(
        request,
        "camera.html.j2",
        status=status,
        match=here.match,
        record=record,
        now=now,
        calibration=calibration,
        table_key=table_key(now),
        drawing=json.dumps(set_up_json(calibration, size, hints)),
        script_words=json.dumps(_script_words(words), ensure_ascii=False),
        size=size,
        sides=SIDES,
        hints=[hint_words(hint, words) for hint in hints],
        expected=_expected_mm(now),
        saved=saved_cameras(),
        said=_said(request, words),
        problem=problem,
    )


@router.post("/m/{key}/live/camera")
async def set_up(request: Request, here: WatchedHere) -> Response:
    form = await _form(request)
    return await run_in_threadpool(_set_up, request, here, form)


def _set_up(request: Request, here: Watched, form: Mapping[str, str]) -> Response:
    from vision_referee.pipeline.set_up import SetUpWish

    person = visitor(request, desk_of(request).lang)
    if not form_is_ours(request, form.get(FORM_FIELD, "")):
        return _camera_page(request, here, problem=person.words("app.form_stale"), status=403)
    head = form.get("head", "").strip()
    try:
        corners = _corners(form.get("corners", ""))
        wish = SetUpWish(
            corners_px=corners, head=head if head in SIDES else None, name=form.get("name", "").strip() or None
        )
        here.live.set_up(wish)
    except InputError as error:
        return _camera_page(request, here, problem=str(error), status=400)
    said = "saved" if wish.name else "set"
    return RedirectResponse(f"/m/{here.match.key}/live/camera?said={said}", status_code=303)


def _corners(text: str) -> Any:
    """``x,y x,y x,y x,y`` in pixels; None where nobody moved a corner."""
    if not text.strip():
        return None
    try:
        points = np.array([[float(v) for v in pair.split(",")] for pair in text.split()], np.float64)
    except ValueError:
        points = np.zeros((0, 2))
    if points.shape != (4, 2) or not np.isfinite(points).all():
        raise InputError("four corners are needed, each as x,y in pixels")
    return points


def _expected_mm(now: Any) -> tuple[float, float] | None:
    """Millimetres that a pixel spans at the nearest and at the farthest corner."""
    calibration = now.calibration
    if calibration is None:
        return None
    length, width = calibration.table.length_mm, calibration.table.width_mm
    corners = calibration.mm_per_px([[x, y] for x in (0.0, length) for y in (0.0, width)])
    return float(corners.min()), float(corners.max())


async def _form(request: Request) -> dict[str, str]:
    return {key: value for key, value in (await request.form()).items() if isinstance(value, str)}


def _size(here: Watched) -> tuple[int, int]:
    shown = here.live.picture()
    return (shown.bgr.shape[1], shown.bgr.shape[0]) if shown is not None else (1280, 720)


def _script_words(words: Wording) -> dict[str, str]:
    pockets = {f"pocket.{p.value}": words(f"pocket.{p.value}") for p in PocketName}
    return words.group("live.script") | pockets | {f"next.{c.value}": words(f"next.{c.value}") for c in CueBallState}


def _said(request: Request, words: Wording) -> str | None:
    said = request.query_params.get("said", "")
    return words(f"live.said_{said}") if said in ("entered", "undone", "set", "saved") else None
