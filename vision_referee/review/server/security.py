"""Who may use the app: loopback freely, other addresses with a token; no page of another site may post to it."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_COOKIE = "vr_token"
FORM_COOKIE = "vr_form"
FORM_FIELD = "csrf"
LARGEST_FORM_BYTES = 64 * 1024
_YEAR_S = 365 * 24 * 3600

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'{inline}; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """``token``: what a visitor must bring, None on loopback. ``own_names``: hosts by which the app may be called."""

    token: str | None
    own_names: frozenset[str] | None

    @staticmethod
    def for_host(host: str, token: str | None = None) -> Access:
        """Loopback: no token, only loopback names (a page elsewhere cannot rebind its name to us). Else: a token."""
        if is_loopback(host):
            return Access(token=token, own_names=frozenset({"localhost", "127.0.0.1", "[::1]", host}))
        return Access(token=token or secrets.token_urlsafe(18), own_names=None)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware: host, token, size, cross-site posts; and the headers that every answer carries.

    Plain ASGI, so that a browser that leaves ends the line it held open for news.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                inline = " 'unsafe-inline'" if getattr(request.state, "inline_style", False) else ""
                headers.setdefault("Content-Security-Policy", _POLICY.format(inline=inline))
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(request)
        await (refusal if refusal is not None else self._app)(scope, receive, send_guarded)

    def _refusal(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        if self._access.own_names is not None and _name_of(host) not in self._access.own_names:
            return PlainTextResponse("unknown host", status_code=400)
        if self._access.token is not None:
            given = request.query_params.get("token")
            if given is not None and _same(given, self._access.token) and request.method == "GET":
                return self._admitted(request)
            if not _same(request.cookies.get(TOKEN_COOKIE, ""), self._access.token):
                return HTMLResponse(_ASK, status_code=401)
        if request.method not in ("GET", "HEAD"):
            return _cross_site(request, host)
        return None

    def _admitted(self, request: Request) -> Response:
        """The token moves from the address, where it would be seen, into a cookie."""
        response = RedirectResponse(request.url.path, status_code=303)
        assert self._access.token is not None
        response.set_cookie(TOKEN_COOKIE, self._access.token, max_age=_YEAR_S, httponly=True, samesite="strict")
        return response


_ASK = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>vision_referee</title>"
    "<p>This page needs the token that was printed when the app was started: open the address that ends in ?token=…"
)


def _cross_site(request: Request, host: str) -> Response | None:
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LARGEST_FORM_BYTES or "transfer-encoding" in request.headers:
        return PlainTextResponse("too large", status_code=413)
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return PlainTextResponse("only plain forms are taken", status_code=415)
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return PlainTextResponse("this form came from another site", status_code=403)
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("this form came from another site", status_code=403)
    return None


def form_token(request: Request) -> str:
    """The secret that this browser's forms carry; a new one where it has none yet (``keep_form_token`` sets it)."""
    known = request.cookies.get(FORM_COOKIE, "")
    return known if len(known) >= 20 else secrets.token_urlsafe(24)


def keep_form_token(response: Response, token: str) -> None:
    response.set_cookie(FORM_COOKIE, token, max_age=_YEAR_S, httponly=True, samesite="strict")


def form_is_ours(request: Request, given: str) -> bool:
    """Whether a posted form carries the secret of the browser that sent it."""
    known = request.cookies.get(FORM_COOKIE, "")
    return len(known) >= 20 and _same(given, known)


def _same(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(), b.encode())


def _name_of(host: str) -> str | None:
    """The name in a Host header, in small letters; None where it is no name with at most a port."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[\w.-]+)(:\d+)?", host, re.ASCII | re.IGNORECASE)
    return found[1].lower() if found else None
