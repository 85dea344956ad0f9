"""When a camera's frame was taken, told from its own stamp and from when it arrived."""

from __future__ import annotations

_JUMP_S = 1.0
"""A stamp that leaves the line by more than this belongs to a clock that was started again."""
_CREEP = 0.002
"""How fast a camera's clock may fall behind ours, seconds a second: far more than a bad quartz."""
_JUDGED_OVER_S = 3.0
_FALSE_RATE = 0.04
"""Stamps whose second is longer or shorter than ours by more than this are made up from a nominal frame rate."""


class StreamClock:
    """Maps a stream's own stamps to our clock.

    Frames reach us late by an amount that varies; the stamps say how they were spaced in truth. The frame that came
    with the least delay so far fixes the difference between the clocks, so jitter of the network does not become
    jitter of velocities. The difference follows slowly when the clocks drift apart. Some streams (pictures over HTTP)
    carry no stamps, and the demuxer counts frames at a rate of its own: such stamps are found out and not used.
    """

    def __init__(self) -> None:
        self._from: tuple[float, float] | None = None
        """Stamp and arrival since which the stamps' rate is judged."""
        self._false = 0
        self._offset_s: float | None = None
        self._seen_s = 0.0

    def time_s(self, stamp_s: float | None, arrived_s: float) -> float:
        """The frame's time on our clock, never later than its arrival. ``stamp_s`` None: the arrival it is."""
        if stamp_s is None or not self._true(stamp_s, arrived_s):
            return arrived_s
        offset = arrived_s - stamp_s
        held = self._offset_s
        if held is None or abs(offset - held) > _JUMP_S or offset < held:
            held = offset
        else:
            held = min(offset, held + _CREEP * max(arrived_s - self._seen_s, 0.0))
        self._offset_s, self._seen_s = held, arrived_s
        return stamp_s + held

    def _true(self, stamp_s: float, arrived_s: float) -> bool:
        """Whether the stamps keep time: false after two stretches of a few seconds in which they did not."""
        if self._false >= 2:
            return False
        if self._from is None or stamp_s < self._from[0]:
            self._from = (stamp_s, arrived_s)
        passed = arrived_s - self._from[1]
        if passed > _JUDGED_OVER_S:
            off = abs((stamp_s - self._from[0]) / passed - 1.0)
            self._false = self._false + 1 if off > _FALSE_RATE else 0
            self._from = (stamp_s, arrived_s)
        return True
