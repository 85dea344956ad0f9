"""The wheel holds all that a match needs and works away from the checkout; the Dockerfile is sound."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("needs the package hatchling")
    out = tmp_path_factory.mktemp("wheel")
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(out)], cwd=ROOT, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_everything_the_package_reads_is_in_the_wheel(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    data = {"models": "vision_referee/_data/models", "calibration": "vision_referee/_data/calibration"}
    lacking = []
    for folder in ("vision_referee", *data):
        for path in (ROOT / folder).rglob("*"):
            inner = path.relative_to(ROOT / folder).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
                name = f"{data.get(folder, folder)}/{inner}"
                lacking += [name] if name not in packed else []
    assert lacking == []
    assert "vision_referee/py.typed" in packed
    assert not any(name.startswith(("tests/", "benchmarks/", "sample_videos/")) for name in packed)


def test_the_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Unpacked somewhere else, it is that copy that runs, with its own networks, tables, texts and pages."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    (tmp_path / "home").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path / "home")}
    program = (
        "import vision_referee, vision_referee.resources as r\n"
        "from vision_referee.calibration.tables import load_table\n"
        "from vision_referee.detection.backends import open_backend\n"
        "from vision_referee.detection.numbers import open_reader\n"
        "from vision_referee.review.wording import wording\n"
        "print(vision_referee.__file__); print(r.data_folder('models'))\n"
        "load_table('pyramid-12ft'); open_backend(); assert open_reader() is not None; wording('ru')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert all(line.startswith(str(site)) for line in run.stdout.splitlines()), run.stdout
    doctor = subprocess.run(
        [sys.executable, "-m", "vision_referee.cli", "doctor", "--no-speed"], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert doctor.returncode == 0, doctor.stdout
    assert f"in {site}" in doctor.stdout or "hash right" in doctor.stdout


def test_the_dockerfile_is_sound() -> None:
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if hadolint is None:
        pytest.skip("needs hadolint")
    run = subprocess.run(
        [hadolint, "--no-color", str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout


def test_the_dockerfile_takes_all_that_the_wheel_is_built_from() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in ("vision_referee", "models", "calibration", "pyproject.toml", "README.md", "LICENSE"):
        assert name in text and f"!{name}" in allowed
