"""From a checkpoint to what ships: PyTorch weights, the OpenVINO graph with colour and scale inside, and a record."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vision_referee.detection.backends import MODEL_NAME
from vision_referee.detection.network import build_network, raw_head
from vision_referee.detection.reliability import Reliability


def export_detector(checkpoint: Path, folder: Path, *, reliability: Reliability | None = None) -> dict[str, Any]:
    """Write ``ball_detector.pt``, ``.xml`` + ``.bin`` (half precision) and ``.json`` to ``folder``; returns the record.

    The averaged weights of the checkpoint are what ships; ``reliability`` goes into the record.
    """
    import openvino
    import torch
    from openvino.preprocess import ColorFormat, PrePostProcessor

    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network = build_network()
    network.load_state_dict(state["average"])
    network.eval()
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / f"{MODEL_NAME}.pt"
    torch.save({k: v.half() if v.dtype.is_floating_point else v for k, v in state["average"].items()}, weights)
    graph = openvino.convert_model(raw_head(network.fuse(verbose=False)), example_input=torch.zeros(1, 3, 352, 640))
    graph.reshape([1, 3, -1, -1])
    steps = PrePostProcessor(graph)
    steps.input().tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC"))
    steps.input().tensor().set_color_format(ColorFormat.BGR)
    steps.input().model().set_layout(openvino.Layout("NCHW"))
    steps.input().preprocess().convert_element_type(openvino.Type.f32).convert_color(ColorFormat.RGB).scale(255.0)
    openvino.save_model(steps.build(), str(folder / f"{MODEL_NAME}.xml"), compress_to_fp16=True)
    record = {
        "name": MODEL_NAME,
        "crops": int(state["crops"]),
        "training_s": round(float(state["spent_s"])),
        "reliability": asdict(reliability or Reliability()),
        "sha256": {p.name: _sha256(p) for p in sorted(folder.glob(f"{MODEL_NAME}.*")) if p.suffix != ".json"},
    }
    (folder / f"{MODEL_NAME}.json").write_text(json.dumps(record, indent=1) + "\n")
    return record


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
