"""Running the network: OpenVINO on the processor, PyTorch where there is a GPU. Both give the same raw maps."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from vision_referee.detection.reliability import Reliability, read_reliability
from vision_referee.domain.errors import InputError
from vision_referee.resources import data_folder

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]

MODEL_NAME = "ball_detector"
_FOR_ONE_THREAD_PX = 110_000


class Backend(Protocol):
    """A way to run the network. ``reliability``: how its scores become confidences."""

    reliability: Reliability

    def maps(self, pixels: U8) -> tuple[F32, F32]:
        """(h, w, 3) uint8 BGR, sides multiples of 32, to ``scores`` (h/8, w/8) and ``edges`` (64, h/8, w/8)."""


class OpenVinoBackend:
    """The exported graph; colour order and scale are inside it. One compiled graph is kept per input size: of several
    sizes in turn, one graph for all of them would take twice the time."""

    def __init__(self, model_xml: Path, *, threads: int = 2) -> None:
        import openvino

        self.reliability = read_reliability(model_xml.with_suffix(".json"))
        self._core = openvino.Core()
        self._model = self._core.read_model(str(model_xml))
        self._threads = threads
        self._requests: dict[tuple[int, int], Any] = {}
        self._one_at_a_time = threading.Lock()

    def maps(self, pixels: U8) -> tuple[F32, F32]:
        with self._one_at_a_time:
            request = self._request((pixels.shape[0], pixels.shape[1]))
            request.infer([pixels[None]])
            scores, edges = (request.get_output_tensor(k).data for k in (0, 1))
            return scores[0, 0].copy(), edges[0].copy()

    def _request(self, size: tuple[int, int]) -> Any:
        if size not in self._requests:
            self._model.reshape([1, *size, 3])
            # A small input is done before a second thread has woken.
            threads = self._threads if size[0] * size[1] > _FOR_ONE_THREAD_PX else 1
            options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
            self._requests[size] = self._core.compile_model(self._model, "CPU", options).create_infer_request()
        return self._requests[size]


class TorchBackend:
    """The trained weights in PyTorch, on a GPU when there is one."""

    def __init__(self, weights: Path, *, device: str | None = None) -> None:
        import torch

        from vision_referee.detection.network import build_network, raw_head

        self._torch = torch
        self.reliability = read_reliability(weights.with_suffix(".json"))
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        network = build_network()
        network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
        self._head = raw_head(network.eval()).to(self._device)

    def maps(self, pixels: U8) -> tuple[F32, F32]:
        torch = self._torch
        with torch.inference_mode():
            image = torch.from_numpy(pixels).to(self._device).permute(2, 0, 1).flip(0)[None].float() / 255
            scores, edges = self._head(image)
            return scores[0, 0].cpu().numpy(), edges[0].cpu().numpy()


def open_backend(folder: Path | None = None, *, threads: int = 2) -> Backend:
    """The best backend for this machine; ``folder`` holds the model's files (default: the shipped ones).

    A network is compiled once in a process: who asks again gets the same backend, which threads may share.

    Raises InputError when the files are not there.
    """
    folder = folder or data_folder("models")
    graph, weights = folder / f"{MODEL_NAME}.xml", folder / f"{MODEL_NAME}.pt"
    if weights.is_file() and has_gpu():
        return _opened(weights, 0, weights.stat().st_mtime_ns)
    if not graph.is_file():
        raise InputError(f"{graph}: the detector's model is not there; install the package again or run 'make train'")
    return _opened(graph, threads, graph.stat().st_mtime_ns)


@cache
def _opened(path: Path, threads: int, changed_ns: int) -> Backend:
    return OpenVinoBackend(path, threads=threads) if path.suffix == ".xml" else TorchBackend(path)


def has_gpu() -> bool:
    """Whether PyTorch has a GPU here."""
    from importlib.util import find_spec

    if find_spec("torch") is None or not Path("/dev/nvidia0").exists():
        return False
    import torch

    return bool(torch.cuda.is_available())
