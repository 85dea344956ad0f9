"""Which number is printed on a ball: a small classifier on its crop.

Its answer is a probability over the cue ball, 1..15 and "a ball without a number". Where nothing is legible it says
nearly the same for all: that even part is given as "cannot be told".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vision_referee.detection.number_crops import CLASSES, CROP_PX, UNNUMBERED, frame_crops
from vision_referee.resources import data_folder
from vision_referee.video.frames import Frame

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

MODEL_NAME = "number_reader"
_AT_ONCE = 32


class NumberReader:
    """Reads balls' numbers with the exported network."""

    def __init__(self, model_xml: Path, *, threads: int = 2) -> None:
        import openvino

        core = openvino.Core()
        options: dict[str, Any] = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
        model = core.read_model(str(model_xml))
        model.reshape([-1, CROP_PX, CROP_PX, 3])
        self._request = core.compile_model(model, "CPU", options).create_infer_request()

    def probabilities(self, frame: Frame, centres_px: F64, radius_px: F64) -> F64:
        """(n, 17) as in ``Detections.number_p``: cue, 1..15, cannot be told; each row sums to 1."""
        return honest(self.run(frame_crops(frame, centres_px, radius_px)))

    def run(self, crops: U8) -> F64:
        """The network's own 17 probabilities (n, 17) for crops (n, CROP_PX, CROP_PX, 3) BGR: cue, 1..15, no number."""
        if len(crops) == 0:
            return np.zeros((0, CLASSES))
        parts = []
        for first in range(0, len(crops), _AT_ONCE):
            self._request.infer([crops[first : first + _AT_ONCE]])
            parts.append(np.asarray(self._request.get_output_tensor(0).data, np.float64))
        return np.concatenate(parts)


def open_reader(folder: Path | None = None, *, threads: int = 2) -> NumberReader | None:
    """The shipped number reader, or None where there is none: then numbers stay unknown."""
    graph = (folder or data_folder("models")) / f"{MODEL_NAME}.xml"
    return NumberReader(graph, threads=threads) if graph.is_file() else None


def honest(p: F64) -> F64:
    """The network's 17 classes to ``number_p``: what is spread evenly over cue and 1..15 becomes "cannot be told"."""
    named = p[:, :UNNUMBERED]
    even = named.min(axis=1, keepdims=True)
    return np.column_stack([named - even, p[:, UNNUMBERED] + UNNUMBERED * even[:, 0]])
