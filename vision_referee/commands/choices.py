"""What several commands let a user choose from, checked in one place."""

from __future__ import annotations

import typer

LANGUAGES = ("en", "ru")
_SIDES = ("top", "bottom", "left", "right")


def check_choices(*, rules: str, lang: str | None, head: str | None) -> None:
    """Refuses a rule set, a language or a side of the picture that there is not; None is left to be found.

    Raises:
        typer.BadParameter: which option, and what it may be.
    """
    from vision_referee.rules.settings import RULE_SETS

    if rules not in RULE_SETS:
        raise typer.BadParameter(f"{rules!r} is not one of {', '.join(RULE_SETS)}", param_hint="--rules")
    if lang is not None and lang not in LANGUAGES:
        raise typer.BadParameter(f"{lang!r} is not one of {', '.join(LANGUAGES)}", param_hint="--lang")
    if head is not None and head not in _SIDES:
        raise typer.BadParameter(f"{head!r} is not top, bottom, left or right", param_hint="--head")
