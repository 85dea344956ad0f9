"""The pages: the list of matches, a match, a ruling. Plain HTML that works without script; forms post and redirect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from vision_referee.domain.balls import ball_number
from vision_referee.domain.errors import InputError
from vision_referee.domain.events import Event, Pocketed, Racked, Rest
from vision_referee.domain.rulings import CueBallState, FoulCode, Ruling, RulingKind
from vision_referee.domain.table import PocketName
from vision_referee.record.events_jsonl import event_from_json
from vision_referee.record.match_folder import RESTORE
from vision_referee.review.diagram import moving_svg
from vision_referee.review.event_words import event_words
from vision_referee.review.report import games_won, tone
from vision_referee.review.restoration import picture_name
from vision_referee.review.ruling_words import kind_and_player, penalty_words, ruling_text
from vision_referee.review.server.clip_shop import ClipShop
from vision_referee.review.server.desk import MatchDesk, Record
from vision_referee.review.server.filters import ONLY, AskedFilter, Filter
from vision_referee.review.server.pulse import Pulse
from vision_referee.review.server.requests import OFFICIAL_FIELDS, default_time_s, requested_events, whole_number
from vision_referee.review.server.security import FORM_FIELD, form_is_ours, form_token, keep_form_token
from vision_referee.review.server.shelf import Shelf
from vision_referee.review.server.store import Change
from vision_referee.review.server.timeline import timeline
from vision_referee.review.server.visitor import THEMES, Visitor, keep_preferences, visitor
from vision_referee.review.sheet import games_of, happened
from vision_referee.review.stroke_view import numbers_learned, stroke_view
from vision_referee.review.wording import LANGUAGES, Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the routes share."""

    shelf: Shelf
    clips: ClipShop
    pulse: Pulse
    lang: str | None
    templates: Environment = field(
        default_factory=lambda: Environment(
            loader=ChoiceLoader(
                [PackageLoader("vision_referee.review.server"), PackageLoader("vision_referee.review")]
            ),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
    )


SPEEDS = (1.0, 0.5, 0.25)
_MINOR = frozenset({"crossed", "stopped"})
"""Events that only now and then decide anything: a page with a script shows them when asked."""

router = APIRouter()


def desk_of(request: Request) -> Desk:
    shared: Desk = request.app.state.desk
    return shared


def match_of(key: str, request: Request) -> MatchDesk:
    found = desk_of(request).shelf.desk(key)
    if found is None:
        raise HTTPException(404)
    return found


def ruling_of(record: Record, ruling_id: int) -> Ruling:
    ruling = record.ruling(ruling_id)
    if ruling is None:
        raise HTTPException(404)
    return ruling


Match = Annotated[MatchDesk, Depends(match_of)]


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Render a page with what every page needs."""
    shared, person, token = desk_of(request), visitor(request, desk_of(request).lang), form_token(request)
    html = shared.templates.get_template(template).render(
        w=person.words,
        person=person,
        languages=LANGUAGES,
        themes=THEMES,
        csrf=Markup(f'<input type="hidden" name="{FORM_FIELD}" value="{token}">'),
        here=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        **values,
    )
    response = HTMLResponse(html, status_code=status)
    keep_form_token(response, token)
    return response


@router.get("/")
def list_of_matches(request: Request) -> Response:
    desks = desk_of(request).shelf.desks()
    rows = []
    for desk in desks:
        try:
            record = desk.record()
        except InputError:
            continue
        rows.append((desk, record, sum(1 for r in record.rulings if r.review)))
    return page(request, "matches.html.j2", rows=rows)


@router.get("/m/{key}")
def match_page(request: Request, match: Match, wanted: AskedFilter) -> Response:
    record = match.record()
    person = visitor(request, desk_of(request).lang)
    rulings, info = record.rulings, record.info
    players = _players(record)
    times = info.frame_times.as_array()
    return page(
        request,
        "match.html.j2",
        match=match,
        record=record,
        info=info,
        players=players,
        score=rulings[-1].score if rulings else info.score,
        games=games_won(rulings),
        sheet=[(game, [r for r in game.rulings if wanted.wants(r)]) for game in games_of(rulings)],
        filters=wanted,
        to_decide=[r.id for r in rulings if r.review],
        kinds=[k for k in RulingKind if any(r.kind is k for r in rulings)],
        only_choices=ONLY,
        line=timeline(rulings, players, float(times[-1]) if len(times) else 0.0),
        tone=tone,
        happened=lambda r: happened(r, person.words),
        penalty=lambda r: penalty_words(r.penalty, person.words),
        title_of=lambda r: kind_and_player(r, person.words),
        changes=list(reversed(match.changes())),
        told=lambda change: change_words(change, person.words),
        said=_said(request, person),
        problem=None,
    )


@router.get("/m/{key}/r/{ruling_id}")
def ruling_page(request: Request, match: Match, ruling_id: int, wanted: AskedFilter) -> Response:
    return _ruling_page(request, match, ruling_id, wanted)


@router.post("/m/{key}/r/{ruling_id}")
async def change_ruling(request: Request, match: Match, ruling_id: int, wanted: AskedFilter) -> Response:
    from starlette.concurrency import run_in_threadpool

    form = {key: value for key, value in (await request.form()).items() if isinstance(value, str)}
    return await run_in_threadpool(_change, request, match, ruling_id, wanted, form)


def _change(request: Request, match: MatchDesk, ruling_id: int, wanted: Filter, form: Mapping[str, str]) -> Response:
    person = visitor(request, desk_of(request).lang)
    if not form_is_ours(request, form.get(FORM_FIELD, "")):
        return _ruling_page(request, match, ruling_id, wanted, problem=person.words("app.form_stale"), status=403)
    record = match.record()
    ruling = ruling_of(record, ruling_id)
    action = form.get("action", "")
    try:
        events = requested_events(action, form, ruling, record.events)
        match.change(who=person.signed, what=action, ruling_id=ruling_id, events=events)
    except (InputError, ValueError) as error:
        return _ruling_page(request, match, ruling_id, wanted, problem=str(error), status=400)
    if form.get("back") == "live" and match.live is not None:
        return RedirectResponse(f"/m/{match.key}/live?said=entered", status_code=303)
    return RedirectResponse(_with_said(f"/m/{match.key}/r/{ruling_id}{wanted.query}", "done"), status_code=303)


@router.post("/m/{key}/undo")
def undo(
    request: Request,
    match: Match,
    change: Annotated[str, Form()],
    csrf: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "",
) -> Response:
    person = visitor(request, desk_of(request).lang)
    if not form_is_ours(request, csrf):
        return page(request, "problem.html.j2", status=403, problem=person.words("app.form_stale"), match=match)
    change_id = whole_number(change)
    try:
        undone = None if change_id is None else match.undo(who=person.signed, change_id=change_id)
    except InputError as error:
        return page(request, "problem.html.j2", status=400, problem=str(error), match=match)
    said = "undone_done" if undone is not None else "already_undone"
    ruling_id = whole_number(back)
    where = f"/r/{ruling_id}" if ruling_id is not None and match.record().ruling(ruling_id) else ""
    return RedirectResponse(f"/m/{match.key}{where}?said={said}", status_code=303)


@router.post("/preferences")
def preferences(
    request: Request,
    csrf: Annotated[str, Form()] = "",
    lang: Annotated[str, Form()] = "",
    theme: Annotated[str, Form()] = "",
    who: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/",
) -> Response:
    person = visitor(request, desk_of(request).lang)
    if not form_is_ours(request, csrf):
        return page(request, "problem.html.j2", status=403, problem=person.words("app.form_stale"), match=None)
    # Only a path of our own: "//host" and "/\host" would lead elsewhere.
    ours = back.startswith("/") and not back.startswith(("//", "/\\")) and "\\" not in back
    response = RedirectResponse(back if ours else "/", status_code=303)
    keep_preferences(
        response,
        lang=lang if lang in LANGUAGES else person.lang,
        theme=theme if theme in THEMES else person.theme,
        who=who,
    )
    return response


def _ruling_page(
    request: Request, match: MatchDesk, ruling_id: int, wanted: Filter, *, problem: str | None = None, status: int = 200
) -> Response:
    record = match.record()
    ruling = ruling_of(record, ruling_id)
    person = visitor(request, desk_of(request).lang)
    words, events = person.words, record.events
    view = stroke_view(match.folder, ruling, events)
    before, after = wanted.neighbours(record.rulings, ruling_id)
    numbers = numbers_learned(events)
    own = [e for e in events if ruling.t_start - 1e-6 <= e.t <= ruling.t_end + 0.02 or _about(e, ruling, events)]
    counted = {c.ball for c in ruling.counted}
    changes = match.changes()
    withdrawn = {int(e["ref"]) for c in changes if c.in_force for e in c.events if e["type"] == "retract"}
    return page(
        request,
        "ruling.html.j2",
        status=status,
        match=match,
        record=record,
        info=record.info,
        ruling=ruling,
        title=kind_and_player(ruling, words),
        text=ruling_text(ruling, words),
        tone=tone(ruling),
        rules=[(f.rule, words.get(f"rule.{f.rule}", "")) for f in ruling.fouls],
        diagram=moving_svg(record.info.table, view, title=words("report.diagram", number=ruling.id)),
        before=before,
        after=after,
        filters=wanted,
        shown_words=_shown_words(wanted, words),
        clip_version=abs(hash((record.stamp, words.lang))) % 10**9,
        picture=(match.path / RESTORE / picture_name(ruling.id)).exists(),
        events=[(e, event_words(e, words, numbers), e.type in _MINOR) for e in own],
        pots=[e for e in own if isinstance(e, Pocketed) and e.id not in withdrawn],
        withdrawn=withdrawn,
        balls=_balls(events),
        counted={e.id for e in own if isinstance(e, Pocketed) and {e.ball, numbers.get(e.ball)} & counted},
        foul_codes=list(FoulCode),
        pockets=list(PocketName),
        cue_balls=list(CueBallState),
        players=_players(record),
        official_fields=OFFICIAL_FIELDS,
        times={kind: round(default_time_s(kind, ruling), 2) for kind in OFFICIAL_FIELDS},
        speeds=SPEEDS,
        changes=list(reversed(changes)),
        told=lambda change: change_words(change, words),
        last_change=next((c for c in reversed(changes) if c.in_force), None),
        said=_said(request, person),
        problem=problem,
    )


def change_words(change: Change, words: Wording) -> str:
    """What a change entered, event by event."""
    return "; ".join(event_words(event_from_json(e), words) for e in change.events)


def _about(event: Event, ruling: Ruling, events: Sequence[Event]) -> bool:
    """Calls since the stroke before: they belong to this one (S-6)."""
    if event.type != "call" or event.t > ruling.t_start:
        return False
    return not any(event.t < e.t < ruling.t_start - 1e-6 for e in events if e.type == "strike")


def _balls(events: Sequence[Event]) -> list[str]:
    """Every ball of the match: the cue ball, numbers in order, then unknown ones."""
    labels = {at.ball for e in events if isinstance(e, Rest | Racked) for at in e.balls} | {"cue"}
    labels |= set(numbers_learned(events).values())
    return sorted(labels, key=lambda b: (b != "cue", ball_number(b) or 100, len(b), b))


def _players(record: Record) -> list[str]:
    extra = sorted({r.player for r in record.rulings if r.player and r.player not in record.info.players})
    return [*record.info.players, *extra]


def _with_said(address: str, said: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}said={said}"


def _shown_words(wanted: Filter, words: Wording) -> str:
    """Which rulings are shown, as the choices of the score sheet say it."""
    kind = words.get(f"kind.{wanted.kind}", "") if wanted.kind else ""
    only = words(f"app.only_{wanted.only}") if wanted.only in ONLY[1:] else ""
    return ", ".join(part for part in (kind, wanted.player, only) if part)


def _said(request: Request, person: Visitor) -> str | None:
    said = request.query_params.get("said", "")
    return person.words(f"app.{said}") if said in ("done", "undone_done", "already_undone") else None
