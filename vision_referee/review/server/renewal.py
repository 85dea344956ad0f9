"""After a correction the folder's clips, pictures and report are made anew, in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from vision_referee.domain.errors import InputError
from vision_referee.domain.rulings import Ruling
from vision_referee.review.products import renew_products
from vision_referee.review.server.desk import MatchDesk, Record

_LOG = logging.getLogger(__name__)
_QUIET_S = 1.5
"""Corrections often come in twos and threes: wait until a person pauses."""


class Renewal:
    """One worker thread; what waits is kept by match, with the rulings that its products still show."""

    def __init__(self) -> None:
        self._waiting: dict[MatchDesk, Sequence[Ruling]] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def changed(self, desk: MatchDesk, before: Record, after: Record) -> None:
        with self._lock:
            self._waiting.setdefault(desk, before.rulings)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="renewal", daemon=True)
                self._thread.start()
        self._wake.set()

    def close(self) -> None:
        """Finish what waits and stop."""
        self._stopped = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=60)

    def _work(self) -> None:
        while True:
            self._wake.wait()
            if not self._stopped:
                self._wake.clear()
                if self._wake.wait(_QUIET_S) and not self._stopped:
                    continue
            with self._lock:
                waiting, self._waiting = self._waiting, {}
            for desk, before in waiting.items():
                try:
                    for warning in renew_products(desk.path, before, lang=desk.folder.info.lang):
                        _LOG.warning("%s: %s", desk.path.name, warning)
                except (InputError, OSError) as error:
                    _LOG.warning("%s: report and clips could not be renewed: %s", desk.path.name, error)
            if self._stopped:
                return
