"""The referee from Python: ``for told in referee("match.mp4", rules="small-russian"): …`` (docs/python.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vision_referee.domain.errors import InputError as InputError
from vision_referee.domain.events import Event as Event
from vision_referee.domain.rulings import Ruling as Ruling
from vision_referee.pipeline.progress import Listener
from vision_referee.pipeline.recorded import AnalysisRequest, Recording, Sight
from vision_referee.record.event_ids import EventIds
from vision_referee.record.match_folder import MatchFolder
from vision_referee.review.whole_match import analyze_whole
from vision_referee.rules.settings import RULE_SETS, build_settings, names_of_players
from vision_referee.tracking.tracks import TrackRow

__all__ = ["Event", "InputError", "Ruling", "analyze", "referee"]

PathLike = str | os.PathLike[str]


def referee(
    video: PathLike | Sequence[PathLike],
    *,
    rules: str = "none",
    players: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    officials: PathLike | Iterable[Event] = (),
    table: str | None = None,
    head: str | None = None,
    calibration: PathLike | None = None,
    progress: Listener | None = None,
    see: Sight | None = None,
) -> Iterator[Event | Ruling]:
    """Watch recorded video(s) of one match and yield what is seen and ruled, as soon as it is known.

    Events come stroke by stroke, in order of time and each with an ``id``; the rulings that a batch of events makes new
    or changes follow it. A ruling that comes again under its ``id`` replaces the earlier one. Nothing is written.

    Args:
        video: a file, or the files of one match in order.
        rules: ``small-russian``, ``russian``, ``moscow``, ``american``, or ``none`` for events alone.
        players: names in order of play; A and B where none are given.
        settings: settings of the rule set by key (``vision-referee rules RULES`` lists them).
        officials: what the officials said: a JSON lines file, or events.
        table: a table's name or file; recognised where it is not said.
        head: side of the picture (``top bottom left right``) at which the head is, where nothing in the video tells.
        calibration: a file of ``vision-referee calibrate``; found from the video where there is none.
        progress: hears how far it is.
        see: other eyes than the shipped ones.

    Raises:
        InputError: something given cannot be used; at once where it can be told at once, else while iterating.
    """
    request = _request(
        video, rules=rules, players=players, settings=settings, table=table, head=head, calibration=calibration,
        officials=Path(officials) if isinstance(officials, str | os.PathLike) else None,
    )  # fmt: skip
    said = () if isinstance(officials, str | os.PathLike) else tuple(officials)
    return _told(Recording(request, said, see=see), progress)


def analyze(
    video: PathLike | Sequence[PathLike],
    *,
    out: PathLike,
    rules: str,
    players: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    officials: PathLike | None = None,
    table: str | None = None,
    head: str | None = None,
    calibration: PathLike | None = None,
    lang: str = "en",
    progress: Listener | None = None,
    see: Sight | None = None,
) -> MatchFolder:
    """Analyse recorded video(s) of one match into the match folder ``out``, as ``vision-referee analyze`` does.

    The arguments are those of :func:`referee`. Returns the folder, to be read: ``events()``, ``rulings()``,
    ``tracks()`` and ``info``.

    Raises:
        InputError: an input cannot be used or the folder cannot be written; nothing is left behind.
    """
    request = _request(
        video, rules=rules, players=players, settings=settings, table=table, head=head, calibration=calibration,
        officials=None if officials is None else Path(officials), out=Path(out),
    )  # fmt: skip
    return MatchFolder(analyze_whole(request, lang=lang, listener=progress, see=see))


def _request(
    video: PathLike | Sequence[PathLike], *, rules: str, players: Sequence[str], settings: Mapping[str, Any] | None,
    officials: Path | None, table: str | None, head: str | None, calibration: PathLike | None, out: Path = Path(),
) -> AnalysisRequest:  # fmt: skip
    if rules not in RULE_SETS:
        raise InputError(f"rules={rules!r} is not one of {', '.join(RULE_SETS)}")
    if head not in (None, "top", "bottom", "left", "right"):
        raise InputError(f"head={head!r} is not top, bottom, left or right")
    files = [video] if isinstance(video, str | os.PathLike) else list(video)
    if not files:
        raise InputError("no video is given; give at least one file")
    chosen = build_settings(rules, settings or {})
    return AnalysisRequest(
        sources=tuple(Path(file) for file in files), rules=rules, out=out,
        players=names_of_players(rules, list(players), chosen), settings=chosen, officials=officials, table=table,
        head=head, calibration=None if calibration is None else Path(calibration),
    )  # fmt: skip


def _told(recording: Recording, progress: Listener | None) -> Iterator[Event | Ruling]:
    for told in recording.told(_Unrecorded(), progress):
        yield from told.events
        yield from told.rulings


class _Unrecorded:
    """Keeps nothing; gives events the ids that a match folder would."""

    def __init__(self) -> None:
        self._ids = EventIds()

    def add_rows(self, rows: Iterable[TrackRow]) -> None:
        pass

    def add_events(self, events: Iterable[Event]) -> list[Event]:
        return self._ids.given(events)

    def add_ruling(self, ruling: Ruling) -> None:
        pass
