"""Training of the ball detector: a short loop on ultralytics' network and loss that makes the most of few cores.

Resumable: the checkpoint holds network, average, optimiser, and how many crops were seen. The learning rate follows a
cosine over ``crops``; a run may be resumed with another total.
"""

from __future__ import annotations

import copy
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vision_referee.detection.network import build_network
from vision_referee.training.crops import CropSource


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """``crops``: how many in all. ``real_share``: part of them cut from real pictures."""

    crops: int = 120_000
    batch: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.02
    warm_up_crops: int = 2_000
    real_share: float = 0.25
    average: float = 0.9995
    """Decay of the running average of the weights, which is what ships; a short last stretch wants a shorter one."""
    seed: int = 0
    threads: int = 1
    checkpoint_s: float = 180.0


def train_detector(rendered: Path, real: Path | None, out: Path, settings: TrainSettings) -> Path:
    """Train until ``settings.crops`` were seen; returns the checkpoint's path (``last.pt`` in ``out``)."""
    import torch

    out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu":
        torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    network = build_network().to(device=device, memory_format=torch.channels_last)
    average = copy.deepcopy(network).eval().requires_grad_(False)
    optimiser = torch.optim.AdamW(_groups(network, settings), lr=settings.learning_rate, betas=(0.9, 0.999))
    seen, spent = _resume(out / "last.pt", network, average, optimiser)
    loss_of = network.init_criterion()
    source = CropSource(rendered, real, batch=settings.batch, seed=settings.seed + seen, real_share=settings.real_share)
    (out / "settings.json").write_text(json.dumps(asdict(settings), indent=1))
    started = saved = time.monotonic()
    recent: list[Any] = []
    network.train()
    for pixels, boxes in source:
        if seen >= settings.crops:
            break
        for group in optimiser.param_groups:
            group["lr"] = settings.learning_rate * _schedule(seen, settings)
        batch = _batch(pixels, boxes, device)
        with torch.autocast(device.type, torch.bfloat16):
            predicted = network(batch["img"])
        loss, parts = loss_of(_as_float(predicted), batch)
        loss.sum().backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 10.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        seen += settings.batch
        _follow(average, network, decay=min(settings.average, 1 - 1 / (1 + seen / settings.batch * 0.1)))
        recent.append([float(value) for value in parts.values()] if isinstance(parts, dict) else parts.tolist())
        now = time.monotonic()
        if len(recent) == 100:
            box, cls, dfl = np.mean(recent, axis=0)[:3]
            total = spent + now - started
            print(f"{seen} crops {total:.0f} s: box {box:.3f} class {cls:.3f} edges {dfl:.3f}", flush=True)
            recent.clear()
        if now - saved > settings.checkpoint_s:
            _save(out, network, average, optimiser, seen, spent + now - started)
            saved = now
    source.close()
    return _save(out, network, average, optimiser, seen, spent + time.monotonic() - started)


def _groups(network: Any, settings: TrainSettings) -> list[dict[str, Any]]:
    decayed = [p for p in network.parameters() if p.ndim > 1]
    plain = [p for p in network.parameters() if p.ndim <= 1]
    return [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}]


def _schedule(seen: int, settings: TrainSettings) -> float:
    if seen < settings.warm_up_crops:
        return 0.02 + 0.98 * seen / settings.warm_up_crops
    done = min(1.0, (seen - settings.warm_up_crops) / max(1, settings.crops - settings.warm_up_crops))
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))


def _batch(pixels: Any, boxes: list[Any], device: Any) -> dict[str, Any]:
    import torch

    image = torch.from_numpy(pixels).to(device).permute(0, 3, 1, 2).flip(1).float() / 255
    side = pixels.shape[1]
    rows = [np.column_stack([np.full(len(b), i), b]) for i, b in enumerate(boxes)]
    flat = np.concatenate(rows).astype(np.float32) if rows else np.zeros((0, 5), np.float32)
    corners = torch.from_numpy(flat[:, 1:] / side)
    xywh = torch.cat([(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], dim=1)
    return {
        "img": image.contiguous(memory_format=torch.channels_last),
        "batch_idx": torch.from_numpy(flat[:, 0]).to(device),
        "cls": torch.zeros(len(flat), 1, device=device),
        "bboxes": xywh.to(device),
    }


def _as_float(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_float(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_as_float(one) for one in value]
    return value.float()


def _follow(average: Any, network: Any, decay: float) -> None:
    import torch

    with torch.no_grad():
        for kept, new in zip(average.state_dict().values(), network.state_dict().values(), strict=True):
            if kept.dtype.is_floating_point:
                kept.lerp_(new, 1 - decay)
            else:
                kept.copy_(new)


def _save(out: Path, network: Any, average: Any, optimiser: Any, seen: int, spent_s: float) -> Path:
    import torch

    state = {
        "network": network.state_dict(), "average": average.state_dict(), "optimiser": optimiser.state_dict(),
        "crops": seen, "spent_s": spent_s,
    }  # fmt: skip
    path = out / "last.pt"
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)
    return path


def _resume(path: Path, network: Any, average: Any, optimiser: Any) -> tuple[int, float]:
    import torch

    if not path.exists():
        return 0, 0.0
    state = torch.load(path, map_location="cpu", weights_only=True)
    network.load_state_dict(state["network"])
    average.load_state_dict(state["average"])
    optimiser.load_state_dict(state["optimiser"])
    return int(state["crops"]), float(state["spent_s"])
