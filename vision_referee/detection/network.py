"""The slim network: ultralytics' building blocks, nothing fetched from anywhere; and its raw output as boxes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

os.environ.setdefault("YOLO_OFFLINE", "true")

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]

MODEL_FILE = Path(__file__).with_name("ball_yolo.yaml")
STRIDE_PX = 8
BINS = 16
"""Each side of a box is a distribution over 0..15 strides."""


def build_network(model_file: Path = MODEL_FILE) -> Any:
    """A fresh ``ultralytics`` DetectionModel with the default loss weights."""
    from ultralytics.cfg import get_cfg
    from ultralytics.nn.tasks import DetectionModel

    model: Any = DetectionModel
    network = model(str(model_file), ch=3, nc=1, verbose=False)
    network.args = get_cfg()
    network.names = {0: "ball"}
    return network


def raw_head(network: Any) -> Any:
    """A torch module: (1, 3, h, w) RGB 0..1 to ``scores`` (1, 1, h/8, w/8) in 0..1 and ``edges`` (1, 64, h/8, w/8).

    Convolutions only, so that the exported graph takes any size; :func:`boxes_from_maps` does the rest, and only where
    there is something to decode.
    """
    import torch

    class RawHead(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = network.model[:-1]
            self.save = network.save
            head = network.model[-1]
            self.edges, self.scores = head.cv2[0], head.cv3[0]

        def forward(self, x: Any) -> tuple[Any, Any]:
            kept: list[Any] = []
            for layer in self.body:
                if layer.f != -1:
                    x = kept[layer.f] if isinstance(layer.f, int) else [x if j == -1 else kept[j] for j in layer.f]
                x = layer(x)
                kept.append(x if layer.i in self.save else None)
            return self.scores(x).sigmoid(), self.edges(x)

    return RawHead().eval()


def boxes_from_maps(scores: F32, edges: F32, threshold: float) -> tuple[F64, F64]:
    """Boxes (n, 4) x0 y0 x1 y1 in input pixels and scores (n,) above ``threshold``, before suppression.

    ``scores`` (h, w), ``edges`` (4 * BINS, h, w): left, top, right, bottom distances from the cell's middle.
    """
    rows, columns = np.nonzero(scores > threshold)
    if len(rows) == 0:
        return np.zeros((0, 4)), np.zeros(0)
    logits = edges[:, rows, columns].astype(np.float64).reshape(4, BINS, -1)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    distance = (weights * np.arange(BINS)[None, :, None]).sum(axis=1) / weights.sum(axis=1)
    x, y = columns + 0.5, rows + 0.5
    boxes = np.stack([x - distance[0], y - distance[1], x + distance[2], y + distance[3]], axis=1) * STRIDE_PX
    return boxes, scores[rows, columns].astype(np.float64)


def suppress(boxes: F64, scores: F64, *, overlap: float = 0.6) -> npt.NDArray[np.intp]:
    """Indices of the boxes that stay, best first: greedy non-maximum suppression.

    A box goes when it overlaps a better one by more than ``overlap`` (intersection over union) or when their middles
    are closer than a third of the smaller one's size: two balls' never are.
    """
    order = np.argsort(-scores)
    if len(order) == 0:
        return order
    b = boxes[order]
    area = np.prod(b[:, 2:] - b[:, :2], axis=1)
    low = np.maximum(b[:, None, :2], b[None, :, :2])
    high = np.minimum(b[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.maximum(high - low, 0), axis=2)
    union = area[:, None] + area[None, :] - inter
    middle = (b[:, :2] + b[:, 2:]) / 2
    size = np.sqrt(np.minimum(area[:, None], area[None, :]))
    apart = np.linalg.norm(middle[:, None] - middle[None, :], axis=2)
    clash = (inter > overlap * union) | (apart < 0.33 * size)
    kept: list[int] = []
    gone = np.zeros(len(order), bool)
    for i in range(len(order)):
        if not gone[i]:
            kept.append(i)
            gone |= clash[i]
    return order[np.asarray(kept, np.intp)]
