"""Whether the software that the referee stands on is there and whole: packages, codecs, networks, fonts."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vision_referee.doctor.finding import Finding, fail, ok, warn
from vision_referee.resources import data_folder

Import = Callable[[str], Any]

PACKAGES = {
    "av": "av", "numpy": "numpy", "scipy": "scipy", "openvino": "openvino", "filterpy.kalman": "filterpy",
    "pyarrow.parquet": "pyarrow", "pydantic": "pydantic", "yaml": "pyyaml", "PIL.Image": "pillow",
    "matplotlib": "matplotlib", "jinja2": "jinja2", "fastapi": "fastapi", "uvicorn": "uvicorn",
    "sqlalchemy": "sqlalchemy", "alembic": "alembic",
}  # fmt: skip
"""Module -> the package it comes in. OpenCV is looked at by itself."""
EXTRAS = {
    "cluster": (("ray",), "archive --ray"),
    "postgres": (("psycopg",), "the browser app's corrections in PostgreSQL"),
    "sim": (("pooltool",), "simulate"),
    "train": (("numba",), "train, simulate"),
}
"""Extra -> the modules it brings, and what needs it."""
DECODERS = ("h264", "hevc", "vp9", "av1", "mjpeg", "mpeg4", "vp8", "prores")
NEEDED_DECODER = "h264"
ENCODER = "libx264"
"""Clips and recordings of live matches are H.264."""


def look_at_packages(load: Import = importlib.import_module) -> Iterator[Finding]:
    """Each needed package loads; those that do not are named with what to do."""
    lacking = False
    for module, package in PACKAGES.items():
        try:
            load(module)
        except Exception as error:  # whatever a broken installation throws
            lacking = True
            yield fail(package, f"cannot be loaded ({_line(error)}); pip install --force-reinstall {package}")
    if not lacking:
        yield ok("packages", f"all {len(PACKAGES)} load")
    yield look_at_opencv(load)
    yield look_at_extras()


def look_at_opencv(load: Import = importlib.import_module) -> Finding:
    """OpenCV loads; on a bare Linux its build with windows lacks the system's libGL."""
    try:
        cv2 = load("cv2")
    except ImportError as error:
        if "libGL" in str(error):
            return fail(
                "opencv", "libGL.so.1 is missing; install it (Debian, Ubuntu: apt install libgl1), or: "
                "pip uninstall opencv-python && pip install opencv-python-headless",
            )  # fmt: skip
        if "lib" in str(error) and ".so" in str(error):
            return fail("opencv", f"a library of the system is missing ({_line(error)}); install the one it names")
        return fail("opencv", f"cannot be loaded ({_line(error)}); pip install --force-reinstall opencv-python")
    except Exception as error:
        return fail("opencv", f"cannot be loaded ({_line(error)}); pip install --force-reinstall opencv-python")
    return ok("opencv", str(cv2.__version__))


def look_at_extras() -> Finding:
    """Which optional parts are installed: none of them is needed for a match."""
    from importlib.util import find_spec

    here = [name for name, (modules, _) in EXTRAS.items() if all(find_spec(m) for m in modules)]
    away = [f"{name} ({what})" for name, (_, what) in EXTRAS.items() if name not in here]
    return ok("extras", f"installed: {', '.join(here) or 'none'}; not: {', '.join(away) or 'none'}")


def look_at_codecs() -> Iterator[Finding]:
    """Which videos can be read, and whether clips can be written; the encoder is tried, not only asked for."""
    import av

    known = av.codec.codecs_available
    lacking = [name for name in DECODERS if name not in known or not _opens(name, "r")]
    if NEEDED_DECODER in lacking:
        yield fail("decoders", "H.264 cannot be decoded; pip install --force-reinstall --only-binary av av")
    elif lacking:
        yield warn("decoders", f"no {', '.join(lacking)}: such videos must be converted first")
    else:
        yield ok("decoders", ", ".join(DECODERS))
    try:
        size = encoded_size()
    except Exception as error:
        yield warn(
            "encoder", f"{ENCODER} does not work ({_line(error)}): no clips, and live matches are not recorded; "
            "pip install --force-reinstall --only-binary av av",
        )  # fmt: skip
    else:
        yield ok("encoder", f"{ENCODER} ({size} bytes for a trial of five pictures)")


def _opens(name: str, mode: Any) -> bool:
    import av

    try:
        av.codec.Codec(name, mode)
    except (av.codec.codec.UnknownCodecError, ValueError):
        return False
    return True


def encoded_size(frames: int = 5) -> int:
    """Bytes of a few grey pictures as H.264. Raises whatever PyAV raises when it cannot."""
    import av
    import numpy as np

    encoder = av.CodecContext.create(ENCODER, "w")
    encoder.width, encoder.height, encoder.pix_fmt = 64, 64, "yuv420p"  # type: ignore[attr-defined]
    from fractions import Fraction

    encoder.time_base = Fraction(1, 30)
    size = 0
    for k in range(frames):
        picture = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 40 * k, np.uint8), format="bgr24")
        picture.pts = k
        size += sum(packet.size for packet in encoder.encode(picture))  # type: ignore[attr-defined]
    return size + sum(packet.size for packet in encoder.encode(None))  # type: ignore[attr-defined]


def look_at_networks(folder: Path | None = None) -> Iterator[Finding]:
    """The networks' files are there, and are the ones that their cards describe."""
    folder = folder or data_folder("models")
    yield _network(folder, "ball_detector", needed=True)
    yield _network(folder, "number_reader", needed=False)


def _network(folder: Path, name: str, *, needed: bool) -> Finding:
    bad = fail if needed else warn
    without = "" if needed else ": balls' numbers stay unknown"
    again = "install vision-referee again"
    missing = [f"{name}{end}" for end in (".xml", ".bin") if not (folder / f"{name}{end}").is_file()]
    if missing:
        return bad(name, f"{', '.join(missing)} not in {folder}{without}; {again}")
    card = folder / f"{name}.json"
    if not card.is_file():
        return ok(name, f"in {folder} (no card to check its hash by)")
    try:
        hashes: dict[str, str] = json.loads(card.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return bad(name, f"{card} is no model card ({_line(error)}); {again}")
    wrong = [
        file for file, digest in hashes.items()
        if (folder / file).is_file() and hashlib.sha256((folder / file).read_bytes()).hexdigest() != digest
    ]  # fmt: skip
    if wrong:
        return bad(name, f"{', '.join(wrong)} in {folder} is not what its card says (damaged?); {again}")
    return ok(name, f"hash right, {hashes[f'{name}.bin'][:12]}")


def look_at_fonts() -> Finding:
    """Clips and pictures are lettered in English and Russian with a font that matplotlib brings."""
    from vision_referee.review.overlay import font

    try:
        width = font(20).getlength("Штраф foul 7")
    except (OSError, ValueError) as error:
        return warn("fonts", f"no font for clips ({_line(error)}); pip install --force-reinstall matplotlib")
    return ok("fonts", "Latin and Cyrillic") if width > 0 else warn("fonts", "the clips' font has no letters")


def look_at_version() -> Finding:
    import platform

    from vision_referee.version import __version__

    try:
        installed = version("vision-referee")
    except PackageNotFoundError:
        installed = "not installed: run from its folder"
    return ok("vision-referee", f"{__version__} ({installed}), Python {platform.python_version()}")


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__
