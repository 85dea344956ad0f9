"""What a browser's cookies say of its user: language, colours, name."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from fastapi import Request
from fastapi.responses import Response

from vision_referee.review.wording import LANGUAGES, Wording, wording

THEMES = ("auto", "light", "dark")
_YEAR_S = 365 * 24 * 3600
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    lang: str
    theme: str
    who: str

    @property
    def words(self) -> Wording:
        return wording(self.lang)

    @property
    def signed(self) -> str:
        """The name that goes into the log."""
        return self.who or self.words("app.official")


def visitor(request: Request, default_lang: str | None) -> Visitor:
    """Cookies first; then the app's language, then what the browser asks for."""
    lang = request.cookies.get("vr_lang", "")
    if lang not in LANGUAGES:
        lang = default_lang or _asked(request.headers.get("accept-language", ""))
    theme = request.cookies.get("vr_theme", "")
    return Visitor(
        lang=lang,
        theme=theme if theme in THEMES else "auto",
        who=_clean(unquote(request.cookies.get("vr_who", ""))),
    )


def keep_preferences(response: Response, *, lang: str, theme: str, who: str) -> None:
    for name, value in (("vr_lang", lang), ("vr_theme", theme), ("vr_who", quote(_clean(who)))):
        response.set_cookie(name, value, max_age=_YEAR_S, httponly=True, samesite="strict")


def _clean(name: str) -> str:
    return " ".join(name.split())[:_LONGEST_NAME]


def _asked(header: str) -> str:
    for part in header.split(","):
        code = part.split(";")[0].strip()[:2].lower()
        if code in LANGUAGES:
            return code
    return LANGUAGES[0]
