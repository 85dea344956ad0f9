"""Where an analysis stood, so that it can go on after a kill with the same result as if it had never stopped.

A checkpoint is the state of every stage at one frame, and how far the folder was written by then. It is written now and
then beside the match; what lies behind it is seen again. A line of JSON says what it belongs to; the state behind it is
pickled, and only what the stages are made of is ever loaded from it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import pickle
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vision_referee.detection.backends import OpenVinoBackend, TorchBackend, open_backend
from vision_referee.detection.numbers import NumberReader, open_reader
from vision_referee.record.atomic_write import replace_bytes
from vision_referee.record.match_folder import CHECKPOINT, FolderMark

_LOG = logging.getLogger(__name__)
EVERY_S = 10.0
"""Time of work between checkpoints: what a kill costs at most."""
_SHARE = 0.02
"""... and at most this share of the work goes into them."""
_FORMAT = 1
_RECORD = "record"


class Checkpoints:
    """Writes checkpoints into a folder when it is time to; ``every_s`` 0: whenever it is asked."""

    def __init__(self, folder: Path, fingerprint: str, *, every_s: float = EVERY_S) -> None:
        self._path = folder / CHECKPOINT
        self._fingerprint = fingerprint
        self._every_s = every_s
        self._next_s = time.monotonic() + every_s

    @property
    def due(self) -> bool:
        return time.monotonic() >= self._next_s

    def save(self, state: object, record: object, mark: FolderMark) -> None:
        """Replace the checkpoint in one step. One that cannot be written leaves the one before."""
        begun = time.monotonic()
        try:
            body = _pickled(state, record)
        except (pickle.PicklingError, AttributeError, TypeError):
            # Somebody's own eye that cannot be put down: the match goes on without checkpoints.
            _LOG.warning("no checkpoints of this match can be made", exc_info=True)
            self._next_s = float("inf")
            return
        head = {"format": _FORMAT, "of": self._fingerprint, "mark": asdict(mark), "crc": zlib.crc32(body)}
        # Where the disk is full, what is written of the match itself will say so.
        with contextlib.suppress(OSError):
            replace_bytes(self._path, json.dumps(head).encode() + b"\n" + body)
        now = time.monotonic()
        self._next_s = now + (max(self._every_s, (now - begun) / _SHARE) if self._every_s else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    mark: FolderMark
    body: bytes

    def state(self, record: object, eyes_from: str) -> Any:
        """The state, with ``record`` where the record was. ``eyes_from``: the module whose eye looks, which is trusted.

        Raises pickle.UnpicklingError for what is no state.
        """
        return _Loader(io.BytesIO(self.body), record, eyes_from).load()


def read_checkpoint(folder: Path, fingerprint: str) -> Checkpoint | None:
    """The checkpoint of this very analysis; None where there is none, or it is damaged or another's."""
    try:
        head_line, _, body = (folder / CHECKPOINT).read_bytes().partition(b"\n")
        head = json.loads(head_line)
        if head["format"] != _FORMAT or head["of"] != fingerprint or head["crc"] != zlib.crc32(body):
            return None
        mark = FolderMark(**head["mark"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Checkpoint(mark=mark, body=body)


def fingerprint_of(said: object) -> str:
    """A short text that differs where anything of ``said`` (made of JSON's types, paths allowed) differs."""
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


# --- the state in bytes ---


class _Saver(pickle.Pickler):
    def __init__(self, file: io.BytesIO, record: object) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._record = record

    def persistent_id(self, value: object) -> str | None:
        return _RECORD if value is self._record else None

    def reducer_override(self, value: object) -> Any:
        # Networks are opened again: their weights are no state.
        if isinstance(value, OpenVinoBackend | TorchBackend):
            return open_backend, ()
        if isinstance(value, NumberReader):
            return open_reader, ()
        return NotImplemented


def _pickled(state: object, record: object) -> bytes:
    file = io.BytesIO()
    _Saver(file, record).dump(state)
    return file.getvalue()


_ALLOWED = {
    "builtins": {"set", "frozenset", "slice", "range", "bytearray", "complex", "object"},
    "collections": {"deque", "OrderedDict", "defaultdict", "Counter"},
    "array": {"array", "_array_reconstructor"},
    "pathlib": {"PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"},
    "filterpy.kalman.kalman_filter": {"KalmanFilter"},
    "numpy": {"ndarray", "dtype"},
    "numpy.linalg": {"inv"},
    "copyreg": {"_reconstructor"},
    open_backend.__module__: {open_backend.__name__},
    open_reader.__module__: {open_reader.__name__},
}
_NUMPY_MAKERS = {"_reconstruct", "scalar", "_frombuffer"}


class _Loader(pickle.Unpickler):
    """Loads values and the stages' own classes, nothing else: a folder from elsewhere can run no code of its own."""

    def __init__(self, file: io.BytesIO, record: object, eyes_from: str) -> None:
        super().__init__(file)
        self._record = record
        self._own = ("vision_referee", eyes_from.partition(".")[0])

    def persistent_load(self, name: Any) -> object:
        if name != _RECORD:
            raise pickle.UnpicklingError(f"{name!r} is not part of a match")
        return self._record

    def find_class(self, module: str, name: str) -> Any:
        maker = module.startswith(("numpy.core.", "numpy._core.")) and name in _NUMPY_MAKERS
        if maker or name in _ALLOWED.get(module, ()):
            return super().find_class(module, name)
        if module.partition(".")[0] in self._own:
            found = super().find_class(module, name)
            # A dotted name could reach what a module has imported.
            if isinstance(found, type) and found.__module__.partition(".")[0] in self._own:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a match")
