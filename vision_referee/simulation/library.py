"""Scenes that ship with the program, one for each kind of event and each hard case, and random ones without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vision_referee.domain.errors import InputError
from vision_referee.simulation.cameras import MOUNTINGS
from vision_referee.simulation.scene_file import CameraSpec, LookSpec, Scene, load_scene, scene_from

_FOLDER = Path(__file__).with_name("scenes")


def scene_names() -> tuple[str, ...]:
    """The shipped scenes, in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def library_scene(name: str) -> Scene:
    """A shipped scene. Raises :class:`InputError` for a name that is none."""
    path = _FOLDER / f"{name}.yaml"
    if not path.is_file():
        raise InputError(f"there is no scene '{name}'; scenes are {', '.join(scene_names())}")
    return load_scene(path)


def seen_by(
    scene: Scene, *, camera: str | int | None = None, look: str | int | None = None, seed: int | None = None
) -> Scene:
    """The same scene by another camera (a preset's name, or a seed for a random one), in another look, or with other
    dice (people's clothes, racks' gaps, physics where the scene draws it)."""
    changes: dict[str, Any] = {}
    if camera is not None:
        changes["camera"] = CameraSpec(random=camera) if isinstance(camera, int) else CameraSpec(preset=camera)
    if look is not None:
        changes["look"] = LookSpec(random=look) if isinstance(look, int) else LookSpec(named=look)
    if seed is not None:
        changes["seed"] = seed
    tag = "_".join(str(v) for v in (camera, look, seed) if v is not None)
    return scene.model_copy(update=changes | {"name": f"{scene.name}__{tag}" if tag else scene.name})


def random_match_scene(
    seed: int, *, strokes: int | None = None, table: str | None = None, overhead: bool | None = None
) -> Scene:
    """A piece of play that nobody wrote: 2 to 16 balls or a break, one to three strokes, and now and then a mishap.

    Everything follows from ``seed``: table, cloth, cushions, camera, look, timing of frames, people. Different seeds
    share nothing. ``overhead`` True or False settles the camera's kind.
    """
    rng = np.random.default_rng([seed, 4242])
    names = ["pyramid-12ft"] * 7 + ["pyramid-10ft", "pyramid-9ft", "pyramid-8ft", "pool-9ft", "snooker-12ft"]
    table = table or str(rng.choice(names))
    pyramid = table.startswith("pyramid")
    broken = bool(rng.random() < 0.2) and not table.startswith("snooker")
    scene: dict[str, Any] = {
        "name": f"random_{seed:05d}",
        "about": "Random play.",
        "table": table,
        "seed": seed,
        "rules": str(rng.choice(["american", "moscow", "small-russian"])) if pyramid else "none",
        "physics": {"random": True},
        "camera": {"random": seed, "overhead": overhead},
        "look": {"random": seed},
        "video": _random_video(rng),
    }
    acts: list[dict[str, Any]] = [{"wait": round(float(rng.uniform(0.5, 1.5)), 2)}]
    if broken:
        scene["rack"] = {"gap_mm": round(float(rng.uniform(0.0, 0.5)), 2)}
        scene["balls"] = {"cue": "house"}
    else:
        count = int(rng.choice([2, 3, 4, 5, 6, 7, 8, 10, 12, 16]))
        labels = [str(n) for n in rng.permutation(np.arange(1, 16))[: count - 1]]
        scene["balls"] = {"cue": "anywhere"} | dict.fromkeys(labels, "anywhere")
        if count <= 10 and rng.random() < 0.25:
            pocket = str(rng.choice(["foot_left", "foot_right", "head_left", "head_right", "middle_left"]))
            scene["balls"][labels[0]] = {"hanging": pocket, "short_mm": round(float(rng.uniform(4, 22)), 1)}
    for n in range(strokes if strokes is not None else int(rng.integers(1, 4))):
        acts += _between(rng, first=n == 0)
        acts.append({"hand_places": {"ball": "cue", "at": "house", "only_if_off": True}})
        strike: dict[str, Any] = {"anything": True, "aim_s": round(float(rng.uniform(0.5, 1.4)), 2)}
        if broken and n == 0:
            apex = "1" if table.startswith("pool") else "4"
            strike = {"at": apex, "cut": round(float(rng.uniform(-0.6, 0.6)), 3), "aim_s": 0.8,
                      "speed_mm_s": round(float(rng.uniform(4000, 9500)))}  # fmt: skip
        strike["called"] = scene["rules"] == "small-russian"
        if rng.random() < 0.06:
            strike["during"] = [{"jump": {"ball": "any", "lands": str(rng.choice(["floor", "rail", "returns"]))}}]
        acts.append({"strike": strike})
    acts.append({"wait": round(float(rng.uniform(0.6, 1.4)), 2)})
    scene["acts"] = acts
    return scene_from(scene, f"random scene {seed}")


def _between(rng: np.random.Generator, *, first: bool) -> list[dict[str, Any]]:
    """What may happen before a stroke."""
    acts: list[dict[str, Any]] = [] if first else [{"wait": round(float(rng.uniform(0.4, 1.5)), 2)}]
    along = round(float(rng.uniform(300, 3000)))
    side = str(rng.choice(["left", "right"]))
    dice = rng.random()
    if dice < 0.06:
        angle = float(rng.uniform(0, 2 * np.pi))
        by = [round(float(60 * np.cos(angle)), 1), round(float(60 * np.sin(angle)), 1)]
        acts += [{"hand_moves": {"ball": "any", "by_mm": by}}, {"wait": 0.8}]
    elif dice < 0.11:
        by_what = str(rng.choice(["cue", "hand", "clothing"]))
        speed = round(float(rng.uniform(40, 200)))
        acts += [{"brush": {"ball": "any", "by": by_what, "speed_mm_s": speed}}, {"wait": 0.6}]
    elif dice < 0.15:
        acts += [{"shake": {"mm": round(float(rng.uniform(5, 14)), 1)}}, {"wait": 1.0}]
    elif dice < 0.19:
        acts += [{"hand_picks_up": {"ball": "any"}}, {"wait": 0.8}]
    elif dice < 0.32:
        after, lasts = round(float(rng.uniform(0, 3)), 2), round(float(rng.uniform(1, 3)), 2)
        reach = round(float(rng.uniform(150, 900)))
        acts.append({"person": {"side": side, "along_mm": along, "reach_mm": reach, "after_s": after, "for_s": lasts}})
    elif dice < 0.45:
        acts.append({"walk": {"side": side, "after_s": round(float(rng.uniform(0, 2)), 2), "for_s": 3.5}})
    return acts


def _random_video(rng: np.random.Generator) -> dict[str, Any]:
    video: dict[str, Any] = {
        "size": [int(v) for v in ((1280, 720), (1280, 720), (1920, 1080), (960, 540))[int(rng.integers(4))]],
        "fps": float(rng.choice([25, 30, 30, 30, 50, 60])),
        "exposure_s": round(float(np.exp(rng.uniform(np.log(1 / 500), np.log(1 / 60)))), 5),
        "crf": int(rng.integers(20, 31)),
    }
    dice = rng.random()
    if dice < 0.08:
        video["repeat"] = 2
    elif dice < 0.14:
        video["drop"] = 0.08
    elif dice < 0.20:
        video["jitter"] = 0.3
    return video


def camera_names() -> tuple[str, ...]:
    """The named camera mountings."""
    return tuple(MOUNTINGS)
