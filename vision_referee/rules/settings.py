"""What an agreement or an edition may change: every setting with its default, its meaning and its rule id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from vision_referee.domain.errors import InputError
from vision_referee.rules.setting_values import (
    choice,
    number_within,
    player_name,
    points_ahead,
    whole_within,
    yes_no,
)

RULE_SETS = ("small-russian", "russian", "moscow", "american", "none")
CALLED = ("small-russian", "russian")
BALL_GAMES = ("moscow", "american")
GAMES = (*CALLED, *BALL_GAMES)

EDITION_1994 = "1994"
FEDERATION = "federation"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """The settings in force. A None is decided by the rule set and the edition (see :func:`resolved`)."""

    edition: str = EDITION_1994
    call: str = "ball_pocket"
    players: int | None = None
    handicap: tuple[tuple[str, int], ...] = ()
    seventy_all: str = "draw"
    penalty_points_touch: bool = True
    penalty_points_butt: bool = True
    penalty_line_mm: float = 0.0
    hanging_s: float = 5.0
    shake_s: float = 1.0
    shot_clock_s: float = 60.0
    legal_safety: bool | None = None
    break_rule: bool | None = None
    who_starts: str = ""
    next_break: str = ""
    race_to: int = 0
    games: int = 0
    lag_equal_mm: float = 5.0
    rack_off_mm: float = 5.0
    sure: float = 0.9
    position_error_mm: float = 1.0
    time_error_s: float = 0.1
    angle_error_deg: float = 2.0

    @property
    def wins_needed(self) -> int:
        """Games that win the match; 0 where the match has no set length."""
        return self.race_to or (self.games // 2 + 1 if self.games else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One line of ``vision-referee rules RULES``."""

    key: str
    rule: str
    meaning: str
    rule_sets: tuple[str, ...]
    parse: Callable[[Any], Any]
    default: str = ""
    """How the default reads where the value itself does not say it."""


SETTINGS: tuple[Setting, ...] = (
    Setting(
        key="edition",
        rule="M-4",
        rule_sets=GAMES,
        parse=choice(EDITION_1994, FEDERATION),
        meaning="the rule book of 1994, or the federation's rules of today",
    ),
    Setting(
        key="call",
        rule="S-6",
        rule_sets=CALLED,
        parse=choice("ball_pocket", "pure"),
        meaning="what is called: ball and pocket, or ball, pocket and way (pure)",
    ),
    Setting(
        key="players",
        rule="S-5",
        rule_sets=GAMES,
        parse=whole_within(2, 4),
        default="as many as are named, else 2",
        meaning="how many play: 2 to 4 in small-russian, 2 in the other games",
    ),
    Setting(
        key="handicap",
        rule="S-12",
        rule_sets=GAMES,
        parse=points_ahead,
        default="none",
        meaning="points (balls in moscow and american) ahead, such as A:10",
    ),
    Setting(
        key="seventy_all",
        rule="R-5",
        rule_sets=CALLED,
        parse=choice("draw", "respot"),
        meaning="70 : 70 is a draw, or the last ball is spotted and the lag decides who plays it",
    ),
    Setting(
        key="penalty_points_touch",
        rule="S-9",
        rule_sets=CALLED,
        parse=yes_no,
        meaning="whether touching a ball costs points",
    ),
    Setting(
        key="penalty_points_butt",
        rule="S-9",
        rule_sets=CALLED,
        parse=yes_no,
        meaning="whether a stroke with the butt or the side of the cue costs points",
    ),
    Setting(
        key="penalty_line_mm",
        rule="G-14",
        rule_sets=GAMES,
        parse=number_within(-200, 200),
        meaning="how far beyond the close ball's centre the penalty line lies, mm",
    ),
    Setting(
        key="hanging_s",
        rule="G-16",
        rule_sets=GAMES,
        parse=number_within(0, 600),
        meaning="a ball that hung this long after the stroke and then falls is put back, s",
    ),
    Setting(
        key="shake_s",
        rule="G-16",
        rule_sets=GAMES,
        parse=number_within(0, 60),
        meaning="a hanging ball that falls within this time of a jolt fell from it, s",
    ),
    Setting(
        key="shot_clock_s",
        rule="G-19",
        rule_sets=GAMES,
        parse=number_within(1, 3600),
        meaning="time for a stroke once the official has switched the clock on, s",
    ),
    Setting(
        key="legal_safety",
        rule="M-7",
        rule_sets=BALL_GAMES,
        parse=yes_no,
        default="moscow: true in edition federation; american: true",
        meaning="whether a stroke that pockets nothing must bring balls to cushions",
    ),
    Setting(
        key="break_rule",
        rule="M-8",
        rule_sets=BALL_GAMES,
        parse=yes_no,
        default="true in edition federation",
        meaning="whether the break must pocket a ball or bring balls to cushions",
    ),
    Setting(
        key="who_starts",
        rule="S-12",
        rule_sets=GAMES,
        parse=player_name,
        default="the first player named",
        meaning="the player who starts the first game where no lag is played and no official says",
    ),
    Setting(
        key="next_break",
        rule="G-3",
        rule_sets=GAMES,
        parse=choice("winner", "alternate"),
        default="small-russian: winner; the others: alternate",
        meaning="who starts the games after the first",
    ),
    Setting(
        key="race_to",
        rule="G-3",
        rule_sets=GAMES,
        parse=whole_within(0, 99),
        default="0: no end",
        meaning="games that win the match",
    ),
    Setting(
        key="games",
        rule="G-3",
        rule_sets=GAMES,
        parse=whole_within(0, 99),
        default="0: no end",
        meaning="the match is the best of so many games",
    ),
    Setting(
        key="lag_equal_mm",
        rule="G-2",
        rule_sets=GAMES,
        parse=number_within(0, 100),
        meaning="distances in the lag that differ by no more are equal, mm",
    ),
    Setting(
        key="rack_off_mm",
        rule="G-4",
        rule_sets=GAMES,
        parse=number_within(0, 100),
        meaning="a rack farther off than this is reported, mm",
    ),
    Setting(
        key="sure",
        rule="G-20",
        rule_sets=GAMES,
        parse=number_within(0.5, 1),
        meaning="a fact with less confidence that would change the ruling sends it to a person",
    ),
    Setting(
        key="position_error_mm",
        rule="G-12",
        rule_sets=GAMES,
        parse=number_within(0, 50),
        meaning="the error of a measured place: nearer to an edge than this is doubt, mm",
    ),
    Setting(
        key="time_error_s",
        rule="G-16",
        rule_sets=GAMES,
        parse=number_within(0, 2),
        meaning="the error of a measured time: nearer to an edge than this is doubt, s",
    ),
    Setting(
        key="angle_error_deg",
        rule="G-14",
        rule_sets=GAMES,
        parse=number_within(0, 20),
        meaning="the error of a measured angle: nearer to an edge than this is doubt, degrees",
    ),
)
_BY_KEY = {setting.key: setting for setting in SETTINGS}


def settings_of(rules: str) -> tuple[Setting, ...]:
    """The settings that this rule set has."""
    return tuple(setting for setting in SETTINGS if rules in setting.rule_sets)


def parse_setting(rules: str, key: str, value: Any) -> Any:
    """The value of one setting. Raises InputError when there is no such setting or it cannot have that value."""
    setting = _BY_KEY.get(key)
    if setting is None or rules not in setting.rule_sets:
        known = ", ".join(s.key for s in settings_of(rules)) or "none"
        raise InputError(f"{key}: no such setting of the rule set {rules}; its settings are {known}")
    try:
        return setting.parse(value)
    except ValueError as error:
        raise InputError(f"{key}={value}: {error}") from None


def build_settings(rules: str, values: Mapping[str, Any]) -> RuleSettings:
    """Settings from keys and values (texts of ``--set``, or TOML values). Raises InputError."""
    parsed = {key: parse_setting(rules, key, value) for key, value in values.items()}
    if parsed.get("who_starts") in ("winner", "alternate"):
        # Said of the games after the first.
        parsed.setdefault("next_break", parsed.pop("who_starts"))
        parsed.pop("who_starts", None)
    return RuleSettings(**parsed)


def split_set(texts: list[str]) -> dict[str, str]:
    """``KEY=VALUE`` texts as a mapping; several handicaps add up. Raises InputError."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise InputError(f"--set {text}: write it as KEY=VALUE")
        if key == "handicap" and key in found:
            value = f"{found[key]},{value}"
        found[key] = value.strip()
    return found


def resolved(rules: str, settings: RuleSettings) -> RuleSettings:
    """The settings with what the rule set and the edition decide filled in."""
    federation = settings.edition == FEDERATION
    changes: dict[str, Any] = {}
    if settings.legal_safety is None:
        # M-7: federation only; A-3: both editions.
        changes["legal_safety"] = rules == "american" or (rules == "moscow" and federation)
    if settings.break_rule is None:
        changes["break_rule"] = rules in BALL_GAMES and federation  # M-8, A-3
    if not settings.next_break:
        changes["next_break"] = "winner" if rules == "small-russian" else "alternate"  # S-12, G-3
    return replace(settings, **changes)


def in_force(rules: str, settings: RuleSettings) -> dict[str, Any]:
    """What match.json writes: every setting of the rule set with its value."""
    full = resolved(rules, settings)
    values = {field.name: getattr(full, field.name) for field in fields(full)}
    values["handicap"] = dict(full.handicap)
    return {setting.key: values[setting.key] for setting in settings_of(rules)}


def names_of_players(rules: str, names: list[str], settings: RuleSettings) -> tuple[str, ...]:
    """The players in order of play. Raises InputError where names and settings do not fit the game."""
    wanted = settings.players
    players = tuple(name.strip() for name in names) or ("A", "B", "C", "D")[: wanted or 2]
    if any(not name for name in players) or len(set(players)) != len(players):
        raise InputError(f"players {', '.join(players)!r}: give each player one name, and no name twice")
    if wanted is not None and wanted != len(players):
        raise InputError(f"players={wanted}, but {len(players)} are named: {', '.join(players)}")
    most = 4 if rules in ("small-russian", "none") else 2  # S-5; R: for two players
    if not 2 <= len(players) <= most:
        allowed = "2 to 4 players" if most == 4 else "2 players"
        raise InputError(f"{rules} is played by {allowed}, not {len(players)}: {', '.join(players)}")
    for name in [name for name, _ in settings.handicap] + ([settings.who_starts] if settings.who_starts else []):
        if name not in players:
            raise InputError(f"{name!r} is not one of the players {', '.join(players)}")
    return players
