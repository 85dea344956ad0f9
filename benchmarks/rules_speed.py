"""How long a match of 500 strokes takes to be judged again: ``python benchmarks/rules_speed.py``."""

from __future__ import annotations

import time
from dataclasses import replace

from vision_referee.calibration.tables import load_table
from vision_referee.domain.events import (
    BallAt,
    Call,
    Contact,
    CushionHit,
    Event,
    Pocketed,
    Racked,
    Rest,
    Source,
    Stopped,
    Strike,
)
from vision_referee.domain.table import Cushion, PocketName
from vision_referee.rules.rack import rack_places
from vision_referee.rules.referee import replay

STROKES = 500


def match_of(strokes: int) -> list[Event]:
    """Games of small Russian pyramid, a ball pocketed by every third stroke, sixteen balls moving in each."""
    table = load_table("pyramid-12ft")
    spots = [place for row in rack_places(table) for place in row]
    order = [4, 5, 6, 7, 15, 8, 9, 14, 13, 10, 2, 1, 12, 11, 3]
    events: list[Event] = []
    t = 0.0
    left: list[str] = []
    for number in range(strokes):
        t += 30
        if len(left) < 8:
            racked = tuple(BallAt(ball=str(n), x=x, y=y) for n, (x, y) in zip(order, spots, strict=True))
            left = [str(n) for n in order]
            events.append(Racked(t=t - 20, balls=racked, order_ok=True))
        ball = left[-1]
        events.append(Call(t=t - 3, ball=ball, pocket=PocketName.FOOT_LEFT, source=Source.OFFICIAL))
        events.append(Strike(t=t, ball="cue", x=600, y=800, vx=3000, vy=100))
        for index, other in enumerate(left):
            events.append(Contact(t=t + 0.3 + index / 50, balls=("cue", other), x=2000, y=800))
            events.append(CushionHit(t=t + 1 + index / 50, ball=other, cushion=Cushion.LEFT, x=1000, y=1741))
        if number % 3 == 0:
            events.append(Pocketed(t=t + 2, ball=ball, pocket=PocketName.FOOT_LEFT))
            left = left[:-1]
        events += [Stopped(t=t + 3, ball=other, x=300 + 90 * i, y=700) for i, other in enumerate(left)]
        lying = [BallAt(ball=other, x=300 + 90 * i, y=700) for i, other in enumerate(left)]
        events.append(Rest(t=t + 4, balls=(BallAt(ball="cue", x=600, y=800), *lying)))
    return [replace(event, id=n) for n, event in enumerate(sorted(events, key=lambda event: event.t), start=1)]


def main() -> None:
    events = match_of(STROKES)
    best = min(_timed(events) for _ in range(5))
    print(f"{STROKES} strokes, {len(events)} events: {best:.3f} s")


def _timed(events: list[Event]) -> float:
    begin = time.process_time()
    replay(events, rules="small-russian", players=("A", "B"), table=load_table("pyramid-12ft"))
    return time.process_time() - begin


if __name__ == "__main__":
    main()
