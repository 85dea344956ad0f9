"""The match at this moment for all browsers that watch it: one snapshot serves them all."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from anyio import to_thread

from vision_referee.review.server.live_json import live_json
from vision_referee.review.server.live_match import Watched
from vision_referee.review.server.pulse import Pulse

MOVING_EVERY_S, STILL_EVERY_S = 0.11, 0.25


class LiveNews:
    """Server-sent events with the snapshot: nine a second while balls roll, four while they lie still."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self._made: dict[str, tuple[float, str, bool]] = {}
        self._lock = asyncio.Lock()
        self.listeners = 0
        self.closed = False

    async def snapshot(self, watched: Watched) -> tuple[str, bool]:
        """JSON text, not older than a few hundredths of a second; and whether balls roll."""
        async with self._lock:
            made_at, text, moving = self._made.get(watched.match.key, (float("-inf"), "", False))
            if time.monotonic() - made_at > MOVING_EVERY_S * 0.8:
                stamp = await self._pulse.stamp(watched.match)
                now = await to_thread.run_sync(watched.live.now)
                text = json.dumps({**live_json(now), "stamp": stamp}, ensure_ascii=False, separators=(",", ":"))
                moving = now.moving
                self._made[watched.match.key] = (time.monotonic(), text, moving)
            return text, moving

    async def listen(self, watched: Watched) -> AsyncIterator[str]:
        self.listeners += 1
        try:
            while not self.closed:
                text, moving = await self.snapshot(watched)
                yield f"data: {text}\n\n"
                await asyncio.sleep(MOVING_EVERY_S if moving else STILL_EVERY_S)
        finally:
            self.listeners -= 1
