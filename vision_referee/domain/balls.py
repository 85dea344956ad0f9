"""Ball labels: ``cue``, ``1`` … ``15`` when the number is known, ``u1``, ``u2`` … when it is not."""

from __future__ import annotations

import re

CUE = "cue"
_LABEL = re.compile(r"cue|[1-9]|1[0-5]|u[1-9][0-9]*")


def is_ball_label(text: str) -> bool:
    """Whether ``text`` is a label that the contract allows."""
    return _LABEL.fullmatch(text) is not None


def ball_number(label: str) -> int | None:
    """The printed number, or None for the cue ball and for a ball whose number is not known."""
    return int(label) if label.isdigit() else None
