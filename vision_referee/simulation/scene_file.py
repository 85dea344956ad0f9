"""Scene files: what a person writes to have a video and its truth made. YAML, checked by pydantic.

A scene lays out balls and lists acts in time. Each act is a one-key mapping: its name, and what it needs. Places are
``[x_mm, y_mm]`` in the table frame, or a word: ``head_spot centre_spot foot_spot``, ``house`` and ``anywhere`` (some
free place there), or ``{hanging: POCKET}``, ``{frozen: CUSHION, along_mm: …}``, ``{beside: BALL, gap_mm: …}``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from vision_referee.domain.errors import InputError
from vision_referee.domain.events import InterferenceBy, MovedCause, TipKind, TouchedBy
from vision_referee.domain.table import Cushion, PocketName


def _label(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


Label = Annotated[str, BeforeValidator(_label), Field(pattern=r"^(cue|[1-9]|1[0-5]|u[1-9][0-9]*)$")]
AnyLabel = Annotated[str, BeforeValidator(_label), Field(pattern=r"^(any|cue|[1-9]|1[0-5]|u[1-9][0-9]*)$")]
"""A ball, or `any`: one of the object balls on the bed."""
PointMm = tuple[float, float]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_PartT = TypeVar("_PartT", bound=_Part)


class HangingPlace(_Part):
    """On a pocket's lip; ``short_mm`` is how much further the centre could go before it falls."""

    hanging: PocketName
    short_mm: float = Field(default=3.0, gt=0, le=30)


class FrozenPlace(_Part):
    """Against a cushion: ``frozen: left, along_mm: 900`` (along the cushion from its head or right end)."""

    frozen: Cushion
    along_mm: float


class BesidePlace(_Part):
    """Next to another ball: ``gap_mm`` between them, in ``direction_deg`` from it."""

    beside: Label
    gap_mm: float = 0.0
    direction_deg: float = 0.0


PlaceWord = Literal["head_spot", "centre_spot", "foot_spot", "house", "anywhere"]
PlaceSpec = PointMm | PlaceWord | HangingPlace | FrozenPlace | BesidePlace


class Rack(_Part):
    """A triangle; ``order`` row by row from the apex, ``gap_mm`` how far from tight, ``off_mm`` shifts the whole."""

    order: tuple[Label, ...] | None = None
    gap_mm: float = Field(default=0.15, ge=0, le=4)
    off_mm: PointMm = (0.0, 0.0)


class Physics(_Part):
    """Any of pooltool's coefficients; left out: usual values, or drawn with ``random: true``."""

    random: bool = False
    sliding_friction: float | None = Field(default=None, gt=0, lt=1)
    rolling_friction: float | None = Field(default=None, gt=0, lt=0.1)
    spin_friction: float | None = Field(default=None, gt=0, lt=3)
    ball_restitution: float | None = Field(default=None, gt=0.3, le=1)
    cushion_restitution: float | None = Field(default=None, gt=0.2, le=1)
    cushion_friction: float | None = Field(default=None, ge=0.01, lt=1)


class Want(_Part):
    """What a stroke must lead to: direction, speed and spin are varied a little until it does."""

    pocketed: tuple[Label, ...] = ()
    """Exactly these fall."""
    falls: int | None = Field(default=None, ge=0)
    """So many fall, the struck ball not among them."""
    into: PocketName | None = None
    """… and the first of them here."""
    hanging: Label | None = None
    touched: tuple[Label, ...] | None = None
    """The struck ball meets exactly these, in this order (an empty list: none)."""
    cushions: int | None = None
    """At least so many cushions are met by any ball."""
    near_miss: PocketName | None = None
    """A ball meets this pocket's jaws and does not fall."""
    tries: int = Field(default=300, ge=1, le=5000)


class Jump(_Part):
    """The next time ``ball`` meets ``cushion`` (any, if none is named) it leaves the table over it.

    With `any` it is the first ball that meets one at 1.2 m/s or more.
    """

    ball: AnyLabel
    cushion: Cushion | None = None
    lands: Literal["floor", "rail", "returns", "person"] = "floor"
    """``returns``: off the rail's top back onto the bed; ``person``: off somebody back onto the bed."""


class BounceOut(_Part):
    """The next time ``ball`` falls over a lip it comes back from the pocket's inside."""

    ball: Label
    restitution: float = Field(default=0.45, gt=0.05, le=0.95)


class StopBall(_Part):
    """``after_s`` after the strike something is in the ball's way and stops it."""

    ball: Label
    after_s: float = Field(gt=0)
    by: TouchedBy = TouchedBy.HAND
    cause: MovedCause | None = None
    """Whose hand: then a `moved` event says so too."""


class During(_Part):
    """One thing that happens while a stroke runs."""

    jump: Jump | None = None
    bounce_out: BounceOut | None = None
    stop: StopBall | None = None

    @model_validator(mode="after")
    def _one(self) -> During:
        return _exactly_one(self)


class Strike(_Part):
    """A stroke. Say where to: ``direction_deg``, ``toward_mm``, or ``at`` a ball.

    ``at``: full on it, or ``cut`` (−1..1 of a grazing hit, positive passes it on its left), or so that it goes to
    ``pocket`` or ``send_mm``.
    """

    ball: Label = "cue"
    at: Label | None = None
    cut: float | None = Field(default=None, ge=-0.999, le=0.999)
    pocket: PocketName | None = None
    send_mm: PointMm | None = None
    toward_mm: PointMm | None = None
    direction_deg: float | None = None
    pot: bool = False
    """Whatever ball and pocket are easiest (of the ball and the pocket that are named, if they are)."""
    anything: bool = False
    """Some plausible stroke, drawn by the scene's seed: a try at a pot, a thicker or thinner hit, a bank."""
    called: bool = False
    """An official enters the ball and the pocket that are played at, as the player takes aim."""
    speed_mm_s: float = Field(default=2500.0, gt=0, le=12_000)
    side: float = Field(default=0.0, ge=-0.6, le=0.6)
    top: float = Field(default=0.0, ge=-0.6, le=0.6)
    player: str | None = None
    aim_s: float = Field(default=1.0, ge=0, le=30)
    """How long the cue is seen at the ball before it strikes; 0: no cue and no player are seen."""
    follow_mm: float = Field(default=120.0, ge=0, le=400)
    rest_stick: bool = False
    tip: TipKind | None = None
    """What the tip does wrong."""
    run_s: float | None = Field(default=None, gt=0)
    """Go on with the next act after this long, though balls may still move."""
    during: tuple[During, ...] = ()
    want: Want | None = None


class HandPlaces(_Part):
    """A hand brings a ball (from where it lies, or from off the table); ``only_if_off``: only one that is not on it."""

    ball: Label
    only_if_off: bool = False
    at: PlaceSpec
    take_s: float = Field(default=1.1, gt=0.2)


class HandPicksUp(_Part):
    ball: AnyLabel
    take_s: float = Field(default=0.9, gt=0.2)


class HandMoves(_Part):
    """A hand pushes a ball that lies on the bed, ``by_mm`` or ``to``; ``cause`` makes it an interference."""

    ball: AnyLabel
    by_mm: PointMm | None = None
    to: PlaceSpec | None = None
    take_s: float = Field(default=0.5, gt=0.05)
    cause: MovedCause | None = None


class Brush(_Part):
    """Something touches a ball at rest, which rolls off at ``speed_mm_s`` (0: it does not move)."""

    ball: AnyLabel
    by: TouchedBy = TouchedBy.CUE
    speed_mm_s: float = Field(default=120.0, ge=0, le=3000)
    direction_deg: float | None = None


class HandRacks(_Part):
    """All balls of the rack are brought in a triangle and set."""

    rack: Rack = Rack()
    take_s: float = Field(default=2.0, gt=0.5)


class Fall(_Part):
    """A hanging ball falls, ``after_s`` from now, while the following acts go on."""

    ball: Label
    after_s: float = Field(default=0.0, ge=0)


class Shake(_Part):
    """The table is jolted: the picture quivers by ``mm``; balls start to roll at up to ``balls_mm_s``."""

    mm: float = Field(default=6.0, ge=0, le=40)
    balls_mm_s: float = Field(default=0.0, ge=0, le=200)


class Person(_Part):
    """Somebody leans over the table, from ``after_s`` from now for ``for_s``, while the following acts go on."""

    side: Cushion = Cushion.RIGHT
    along_mm: float = 1700.0
    reach_mm: float = Field(default=600.0, ge=0, le=2500)
    after_s: float = Field(default=0.0, ge=0)
    for_s: float = Field(default=2.0, gt=0.4)


class Walk(_Part):
    """Somebody walks past outside a rail, while the following acts go on."""

    side: Cushion = Cushion.RIGHT
    from_mm: float = -500.0
    to_mm: float = 4000.0
    out_mm: float = 450.0
    after_s: float = Field(default=0.0, ge=0)
    for_s: float = Field(default=3.0, gt=0.4)


class Call(_Part):
    ball: Label | None = None
    pocket: PocketName | None = None
    how: str | None = None


class InterferenceAct(_Part):
    by: InterferenceBy = InterferenceBy.OUTSIDER
    intentional: bool = False
    stopped_ball: Label | None = None
    pocket: PocketName | None = None


class Act(_Part):
    """Exactly one of these. ``official`` holds any official event by its own fields."""

    wait: float | None = Field(default=None, ge=0, le=600)
    strike: Strike | None = None
    hand_places: HandPlaces | None = None
    hand_picks_up: HandPicksUp | None = None
    hand_moves: HandMoves | None = None
    hand_racks: HandRacks | None = None
    brush: Brush | None = None
    fall: Fall | None = None
    shake: Shake | None = None
    person: Person | None = None
    walk: Walk | None = None
    call: Call | None = None
    interference: InterferenceAct | None = None
    official: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one(self) -> Act:
        return _exactly_one(self)


class CameraSpec(_Part):
    """A named mounting, changed where fields are given; or drawn from a seed with ``random``."""

    preset: str = "overhead"
    random: int | None = None
    overhead: bool | None = None
    elevation_deg: float | None = None
    azimuth_deg: float | None = None
    fov_deg: float | None = Field(default=None, gt=5, lt=150)
    roll_deg: float | None = None
    k1: float | None = None
    k2: float | None = None
    aim: PointMm | None = None
    fill: float | None = Field(default=None, gt=0.2, le=1.0)


class LookSpec(_Part):
    """A named look or one drawn from a seed, its fields overridden by ``change``."""

    named: str | None = None
    random: int | None = None
    change: dict[str, Any] = Field(default_factory=dict)


class Cut(_Part):
    """The stretch from ``from_s`` to ``to_s`` (scene time) is cut out of the video."""

    from_s: float = Field(ge=0)
    to_s: float


class Video(_Part):
    """``repeat`` 2: each picture stored twice. ``drop``: share of frames missing. ``jitter``: of a frame's period."""

    size: tuple[int, int] = (1280, 720)
    fps: float = Field(default=30.0, gt=1, le=240)
    exposure_s: float = Field(default=0.004, ge=0, le=0.05)
    crf: int = Field(default=23, ge=0, le=51)
    codec: Literal["h264", "hevc", "mjpeg", "vp9"] = "h264"
    repeat: int = Field(default=1, ge=1, le=4)
    drop: float = Field(default=0.0, ge=0, lt=0.9)
    jitter: float = Field(default=0.0, ge=0, lt=0.49)
    cuts: tuple[Cut, ...] = ()
    start_s: float = Field(default=0.0, ge=0)
    """Where in the scene the video begins (in the middle of a stroke, say)."""
    end_s: float | None = None


class Scene(_Part):
    """A scene. ``balls`` maps labels to places; ``rack`` sets a triangle besides."""

    name: str = ""
    about: str = ""
    table: str = "pyramid-12ft"
    ball_diameter_mm: float | None = Field(default=None, gt=20, lt=100)
    seed: int = 0
    rules: Literal["small-russian", "russian", "moscow", "american", "none"] = "none"
    players: tuple[str, ...] = ("A", "B")
    settings: dict[str, Any] = Field(default_factory=dict)
    numbers: bool = True
    """Whether numbers are printed on the balls (their labels keep them either way)."""
    physics: Physics = Physics()
    rack: Rack | None = None
    balls: dict[Label, PlaceSpec] = Field(default_factory=dict)
    acts: tuple[Act, ...] = ()
    camera: CameraSpec = CameraSpec()
    look: LookSpec = LookSpec()
    video: Video = Video()


def _exactly_one(part: _PartT) -> _PartT:
    given = [k for k in type(part).model_fields if getattr(part, k) is not None]
    if len(given) != 1:
        every = ", ".join(type(part).model_fields)
        raise ValueError(f"give exactly one of {every} (here: {', '.join(given) or 'none'})")
    return part


def scene_from(data: Any, source: str) -> Scene:
    """A scene from plain values. Raises :class:`InputError` with the first fault, where it is and what it is."""
    if not isinstance(data, dict):
        raise InputError(f"{source}: a scene is a mapping (name, table, balls, acts …), not {type(data).__name__}")
    try:
        return Scene.model_validate(data)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(p) for p in fault["loc"]) or "scene"
        raise InputError(f"{source}: {where}: {fault['msg']}; see the scenes that ship with the program") from None


def load_scene(path: Path) -> Scene:
    """Read a scene file; its name defaults to the file's. Raises :class:`InputError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the scene cannot be read ({error})") from None
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    scene = scene_from(data, str(path))
    return scene if scene.name else scene.model_copy(update={"name": path.stem})
