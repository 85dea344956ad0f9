"""Telling browsers that a match has changed: server-sent events, one cheap look at the match for all who watch it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from anyio import to_thread

from vision_referee.review.server.desk import MatchDesk

_EVERY_S = 0.4
_HEARTBEAT_S = 15.0
MOST_LISTENERS = 200


class Pulse:
    """Keeps each match's stamp for a moment, so that twenty viewers cost as little as one."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[float, str]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self.listeners = 0
        self._closed = False

    def close(self) -> None:
        """End every line that is held open, soon: the app is about to stop."""
        self._closed = True

    async def stamp(self, desk: MatchDesk) -> str:
        lock = self._locks.setdefault(desk.key, asyncio.Lock())
        async with lock:
            taken_at, stamp = self._stamps.get(desk.key, (float("-inf"), ""))
            if time.monotonic() - taken_at > _EVERY_S * 0.9:
                stamp = await to_thread.run_sync(desk.stamp)
                self._stamps[desk.key] = (time.monotonic(), stamp)
            return stamp

    async def listen(self, desk: MatchDesk) -> AsyncIterator[str]:
        """``data: <stamp>`` now and after every change, and a comment now and then so that the line stays open."""
        self.listeners += 1
        try:
            told, told_at = None, time.monotonic()
            while not self._closed:
                stamp = await self.stamp(desk)
                if stamp != told:
                    told, told_at = stamp, time.monotonic()
                    yield f"data: {stamp}\n\n"
                elif time.monotonic() - told_at > _HEARTBEAT_S:
                    told_at = time.monotonic()
                    yield ": still here\n\n"
                await asyncio.sleep(_EVERY_S)
        finally:
            self.listeners -= 1
