"""A match told in a few lines, for the tests of the rules: events are built as a file would hold them."""

from __future__ import annotations

import math
from typing import Any

from vision_referee.calibration.tables import load_table
from vision_referee.domain.events import Event
from vision_referee.domain.rulings import Ruling, RulingKind
from vision_referee.record.events_jsonl import event_from_json
from vision_referee.rules.referee import Referee, replay
from vision_referee.rules.settings import build_settings

TABLE = load_table("pyramid-12ft")
Place = tuple[float, float]
FOOT_SPOT = (2662.5, 887.5)
CALLED = ("small-russian", "russian")
ALL_GAMES = ("small-russian", "russian", "moscow", "american")


class Match:
    """Events as they are told; ``rulings()`` judges all of them."""

    def __init__(self, rules: str, players: str = "AB", **settings: Any) -> None:
        self.rules, self.players = rules, tuple(players)
        self.settings = build_settings(rules, settings)
        self.values: list[dict[str, Any]] = []
        self.t = 0.0
        self.places: dict[str, Place] = {}

    # --- telling ---

    def say(self, kind: str, /, *, wait: float = 5.0, **fields: Any) -> Match:
        """One event, ``wait`` seconds after the last."""
        self.t = round(self.t + wait, 3)
        return self.at(self.t, kind, **fields)

    def at(self, t: float, kind: str, /, **fields: Any) -> Match:
        self.values.append({"t": t, "type": kind, "id": len(self.values) + 1, **fields})
        return self

    def lie(self, turn: str = "A", **balls: Place) -> Match:
        """The game begins in the middle; balls by label, ``b7`` for the seven."""
        self.places = {label.removeprefix("b"): place for label, place in balls.items()}
        self.at(self.t, "starts", player=turn)
        return self.at(self.t, "rest", balls=self._balls())

    def rack(self, labels: list[str] | None = None, *, dx: float = 0.0, order_ok: bool | None = True) -> Match:
        """A true rack, moved by ``dx`` along the table."""
        order = labels or ["4", "5", "6", "7", "15", "8", "9", "14", "13", "10", "2", "1", "12", "11", "3"]
        spots = []
        for row in range(5):
            spots += [(2662.5 + dx + row * 34 * math.sqrt(3), 887.5 + (row - 2 * i) * 34) for i in range(row + 1)]
        self.places = dict(zip(order, spots, strict=False))
        self.say("racked", balls=self._balls(), order_ok=order_ok)
        self.places["cue"] = (600.0, 887.5)
        return self

    def stroke(
        self, *hits: str, ball: str = "cue", at: Place | None = None, v: Place | None = None, pots: str = "",
        call: str = "", off: str = "", ends: dict[str, Place] | None = None, extra: list[dict[str, Any]] | None = None,
        wait: float = 15.0, rest: bool = True, confidence: float = 1.0, how: str | None = None,
    ) -> Match:  # fmt: skip
        """A stroke: the struck ball meets ``hits`` in turn; ``pots`` as "7 foot_left, cue foot_left".

        ``extra`` events carry ``dt`` from the strike; the balls end where ``ends`` says, else where they were.
        """
        self.t = round(self.t + wait, 3)
        start = self.t
        if call:
            named, _, pocket = call.partition(" ")
            self.at(start - 3, "call", ball=named, pocket=pocket, **({"how": how} if how else {}))
        x, y = at or self.places.get(ball, (600.0, 887.5))
        self.places[ball] = (x, y)
        told: list[tuple[float, dict[str, Any]]] = []
        first = next(iter(hits), None)
        target = self.places.get(first, (3000.0, 887.5)) if first else (3000.0, 300.0)
        length = math.dist((x, y), target) or 1.0
        vx, vy = v or (2500 * (target[0] - x) / length, 2500 * (target[1] - y) / length)
        for n, hit in enumerate(hits):
            told.append((0.3 + n / 10, {"type": "contact", "balls": [ball, hit], "x": target[0], "y": target[1]}))
        gone = []
        for n, pot in enumerate(part.strip() for part in pots.split(",") if part.strip()):
            label, _, pocket = pot.partition(" ")
            told.append((0.8 + n / 10, {"type": "pocketed", "ball": label, "pocket": pocket}))
            gone.append(label)
        for n, label in enumerate(part for part in off.split() if part):
            told.append((1.2 + n / 10, {"type": "left_table", "ball": label, "x": 3700.0, "y": 900.0}))
            gone.append(label)
        for event in extra or []:
            event = dict(event)
            told.append((event.pop("dt", 0.5), event))
        self.places |= ends or {}
        self.places = {label: place for label, place in self.places.items() if label not in gone}
        self.at(start, "strike", ball=ball, x=x, y=y, vx=vx, vy=vy, confidence=confidence)
        for dt, event in sorted(told, key=lambda item: item[0]):
            self.at(round(start + dt, 3), event.pop("type"), **event)
        self.t = round(start + 3, 3)
        if rest:
            self.at(self.t, "rest", balls=self._balls())
        return self

    def _balls(self) -> list[dict[str, Any]]:
        return [{"ball": label, "x": x, "y": y} for label, (x, y) in self.places.items()]

    # --- judging ---

    def events(self) -> list[Event]:
        return [event_from_json(values) for values in self.values]

    def rulings(self) -> list[Ruling]:
        return replay(self.events(), rules=self.rules, players=self.players, table=TABLE, settings=self.settings)

    def referee(self) -> Referee:
        return Referee(rules=self.rules, players=self.players, table=TABLE, settings=self.settings)

    def last(self) -> Ruling:
        return self.rulings()[-1]

    def of_kind(self, kind: str) -> list[Ruling]:
        return [ruling for ruling in self.rulings() if ruling.kind is RulingKind(kind)]


def codes(ruling: Ruling) -> list[str]:
    return sorted(foul.code.value for foul in ruling.fouls)


def counted(ruling: Ruling) -> dict[str, int]:
    return {ball.ball: ball.points for ball in ruling.counted}


def spots(ruling: Ruling) -> dict[str, Place]:
    return {ball.ball: (round(ball.x, 1), round(ball.y, 1)) for ball in ruling.spotted}


def restored(ruling: Ruling) -> dict[str, Place]:
    return {ball.ball: (round(ball.x, 1), round(ball.y, 1)) for ball in ruling.restored}


def following(ruling: Ruling) -> tuple[str, str] | None:
    return (ruling.next.player, ruling.next.cue_ball.value) if ruling.next else None


def penalty(ruling: Ruling) -> tuple[int, str | None] | None:
    given = ruling.penalty
    return (given.points or given.balls or 0, given.to) if given else None


def table_for(rules: str, turn: str = "A", players: str = "AB", **settings: Any) -> Match:
    """The usual middle of a game: cue ball and three object balls in the open."""
    match = Match(rules, players, **settings)
    return match.lie(turn, cue=(2700, 1000), b7=(3200, 1450), b9=(1200, 600), b12=(2300, 1500))
