"""What the machine offers: processor, GPU, cameras, room on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vision_referee.doctor.finding import Finding, fail, ok, warn

_GIB = 2**30
ROOM_NEEDED_GIB = 0.2
"""A short match with its clips."""
ROOM_WANTED_GIB = 5.0
"""An evening recorded live at some 5 Mb/s, with its clips."""


def look_at_processor() -> Iterator[Finding]:
    """Cores and memory, and that OpenVINO finds the processor."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = _memory_gib()
    text = f"{cores} core{'s' if cores > 1 else ''}" + (f", {memory:.0f} GiB memory" if memory else "")
    small = cores < 2 or (memory is not None and memory < 2)
    yield warn("machine", f"{text}: live matches need two cores and 2 GiB") if small else ok("machine", text)
    try:
        import openvino

        devices = list(openvino.Core().available_devices)
    except Exception as error:
        yield fail("openvino", f"does not run ({' '.join(str(error).split())[:160]}); reinstall openvino")
        return
    if "CPU" in devices:
        yield ok("openvino", f"devices {', '.join(devices)}; the processor is used")
    else:
        yield fail("openvino", f"finds no processor that it can use (devices: {', '.join(devices) or 'none'})")


def _memory_gib() -> float | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    except (ValueError, OSError, AttributeError):
        return None


def look_at_gpu() -> Finding:
    """Whether PyTorch has a GPU; without one OpenVINO on the processor does the work."""
    from vision_referee.detection.backends import has_gpu

    try:
        if not has_gpu():
            return ok("gpu", "none: the processor does the work")
        import torch

        return ok("gpu", f"{torch.cuda.get_device_name(0)}: it runs the networks")
    except Exception as error:
        return warn("gpu", f"there, but does not work ({' '.join(str(error).split())[:160]}); check its driver")


def look_at_cameras(devices: Path = Path("/dev")) -> Finding:
    """Cameras at this machine that may be read."""
    cameras = sorted(devices.glob("video[0-9]*"))
    if not cameras:
        return ok("cameras", "none at this machine (files and network cameras need none)")
    closed = [camera for camera in cameras if not os.access(camera, os.R_OK | os.W_OK)]
    if closed:
        names = ", ".join(str(camera) for camera in closed)
        return warn("cameras", f"{names} may not be read: add yourself to the group video and log in again")
    return ok("cameras", f"{', '.join(str(camera) for camera in cameras)}; watch takes the number")


def look_at_room(out: Path) -> Iterator[Finding]:
    """Room on the disks where matches and temporary files go, and the right to write there."""
    for name, folder in (("disk", _standing(out)), ("temporary files", Path(tempfile.gettempdir()))):
        if not os.access(folder, os.W_OK):
            yield fail(name, f"{folder} may not be written; choose another folder for matches")
            continue
        free = shutil.disk_usage(folder).free / _GIB
        text = f"{free:.1f} GiB free at {folder}"
        if free < ROOM_NEEDED_GIB:
            yield fail(name, f"{text}: too little for a match; make room")
        elif free < ROOM_WANTED_GIB:
            yield warn(name, f"{text}: little for an evening recorded live; make room")
        else:
            yield ok(name, text)


def _standing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.is_dir())
