"""Rule scenarios as YAML: reading them, writing their events, comparing rulings with what is expected."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
OFFICIAL = frozenset(
    [
        "call",
        "feet_off_floor",
        "illegal_tip",
        "body_out",
        "rail_roll",
        "warning",
        "interference",
        "shot_clock",
        "rerack",
        "concede_break",
        "handicap",
        "frame_over_mistake",
        "remove",
        "agree_draw",
        "starts",
        "override",
        "retract",
        "confirm",
    ]
)
Json = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One game situation: what comes in and what must come out."""

    id: str
    values: Json
    file: Path

    @property
    def why(self) -> str:
        return str(self.values.get("why", ""))

    @property
    def players(self) -> list[str]:
        return list(self.values.get("players", []))


def shared_folder() -> Path:
    """The folder of given scenarios, beside the checkout unless VISION_REFEREE_SHARED says otherwise."""
    named = os.environ.get("VISION_REFEREE_SHARED")
    return (Path(named) if named else HERE.parents[2] / "shared") / "scenarios"


def load(folder: Path) -> list[Scenario]:
    found = []
    for file in sorted(folder.glob("*.yaml")):
        for values in yaml.safe_load(file.read_text(encoding="utf-8")):
            found.append(Scenario(id=values["id"], values=values, file=file))
    return found


def events_text(scenario: Scenario, stroke_ids: dict[str, int] | None = None) -> str:
    """The events file: what the format leaves out is filled in."""
    if "file" in scenario.values:
        return str(scenario.values["file"] or "")
    lines = []
    for number, given in enumerate(scenario.values["events"], start=1):
        source = "official" if given["type"] in OFFICIAL else "vision"
        event = {"confidence": 1.0, "source": source, "id": number, **given}
        if event["source"] == "vision":
            event.setdefault("frame", round(event["t"] * 30))
        if event["type"] == "override" and stroke_ids:
            event["ruling"] = stroke_ids.get(event["ruling"], event["ruling"])
        lines.append(json.dumps(event))
    return "".join(line + "\n" for line in lines)


# --- comparing --------------------------------------------------------------------------------------------------------


def _kinds(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _same(expected: Any, got: Any) -> bool:
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(_same(v, got.get(k)) for k, v in expected.items())
    if isinstance(expected, float | int) and not isinstance(expected, bool) and isinstance(got, float | int):
        return abs(expected - got) <= 1.0 if isinstance(expected, float) or isinstance(got, float) else expected == got
    return bool(expected == got)


def _place(expected: Json, got: Json) -> bool:
    return all(abs(v - got[k]) <= 1.0 if k in "xy" else _same(v, got.get(k)) for k, v in expected.items())


def _each_in(expected: list[Json], got: list[Json]) -> bool:
    left = list(got)
    for one in expected:
        found = next((other for other in left if _place(one, other)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def mismatch(expected: Json, ruling: Json) -> str | None:
    """The first field in which a ruling is not as expected, or None."""
    for key, value in expected.items():
        got = ruling.get(key)
        codes = [foul["code"] for foul in ruling.get("fouls", [])]
        if key == "kind":
            ok = got in _kinds(value)
        elif key == "fouls":
            ok = sorted(value) == sorted(codes)
            got = codes
        elif key == "fouls_include":
            ok = set(value) <= set(codes)
            got = codes
        elif key in ("counted", "spotted"):
            ok = len(value) == len(got or []) and _each_in(value, got or [])
        elif key in ("restored", "spotted_include"):
            got = ruling.get(key.removesuffix("_include"))
            ok = _each_in(value, got or [])
        elif key == "penalty" and value is None:
            ok = got is None or not (got.get("points") or got.get("balls"))
        elif isinstance(value, dict) and got is not None:
            ok = all(_same(v, got.get(k)) for k, v in value.items())
        else:
            ok = _same(value, got)
        if not ok:
            return f"{key}: expected {value!r}, got {got!r}"
    return None


def changes_nothing(ruling: Json, before: Json | None) -> bool:
    """A ruling of kind between or game that may stand among those expected."""
    return ruling["kind"] in ("between", "game")


def disagreement(scenario: Scenario, rulings: list[Json]) -> str | None:
    """Why the rulings are not what the scenario expects, or None where they are."""
    values = scenario.values
    if "expect" in values:
        index = 0
        for expected in values["expect"]:
            while True:
                if index >= len(rulings):
                    return f"no ruling left for {expected!r}"
                wrong = mismatch(expected, rulings[index])
                if wrong is None:
                    break
                if not changes_nothing(rulings[index], None):
                    return f"ruling {index + 1} ({rulings[index]['kind']}): {wrong}"
                index += 1
            index += 1
        extra = [r for r in rulings[index:] if not changes_nothing(r, None)]
        if extra:
            return f"not expected: {extra[0]['kind']} at {extra[0]['t_start']}"
    for expected in values.get("some", []):
        if all(mismatch(expected, ruling) for ruling in rulings):
            return f"no ruling is like {expected!r}; {[mismatch(expected, r) for r in rulings]}"
    for unwanted in values.get("never", []):
        if any(mismatch(unwanted, ruling) is None for ruling in rulings):
            return f"a ruling is like {unwanted!r}"
    if "end" in values:
        end = dict(values["end"])
        if not rulings:
            return "there are no rulings"
        if "counted" in end:
            every = [ball for ruling in rulings for ball in ruling["counted"]]
            wanted = end.pop("counted")
            if len(wanted) != len(every) or not _each_in(wanted, every):
                return f"counted in all: expected {wanted!r}, got {every!r}"
        wrong = mismatch(end, rulings[-1])
        if wrong is not None:
            return f"the last ruling: {wrong}"
    return None
