"""Training of the number reader: a small convolutional net on crops of rendered balls."""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from vision_referee.detection.number_crops import CROP_PX
from vision_referee.training.number_losses import LEGIBLE_COS, finding_loss, reading_loss
from vision_referee.training.number_network import NumberNetwork

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]

_GIVEN = 2
"""Faces read of each ball while training; few show more."""
_EASY_COS, _EASY_PX, _EASY_OF_ALL = 0.7, 23.0, 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSettings:
    """``crops``: how many in all, repeats with other augmentation included."""

    crops: int = 200_000
    batch: int = 64
    learning_rate: float = 3e-3
    find_weight: float = 2.0
    read_weight: float = 0.5
    """Weights of finding the faces and of reading each alone, beside the ball's number."""
    easy_share: float = 0.3
    """For this part of the run mostly balls are shown whose print faces the camera and is large enough to be seen."""
    average: float = 0.999
    """Decay of the running average of the weights, which is what ships."""
    seed: int = 0
    threads: int = 1
    checkpoint_s: float = 120.0


@dataclass(frozen=True, slots=True)
class _Crops:
    pixels: U8
    labels: I64
    faces: F32
    easy: npt.NDArray[np.intp]

    @staticmethod
    def load(folder: Path) -> _Crops:
        parts = [np.load(path) for path in sorted(folder.glob("numbers-*.npz")) if ".part" not in path.name]
        pixels, labels, faces = (np.concatenate([p[key] for p in parts]) for key in ("crops", "labels", "faces"))
        sizes = np.concatenate([p["sizes"] for p in parts])
        facing = (faces[..., 2].max(axis=1) > _EASY_COS) & (sizes > _EASY_PX)
        return _Crops(pixels, labels, faces, np.flatnonzero(facing))


def train_reader(folder: Path, out: Path, settings: NumberSettings) -> Path:
    """Train until ``settings.crops`` were seen; resumable; returns the checkpoint's path."""
    out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu":
        torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    network = NumberNetwork().to(device).to(memory_format=torch.channels_last).train()
    average = copy.deepcopy(network).eval()
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.03)
    path, seen = out / "numbers.pt", 0
    if path.exists():
        state = torch.load(path, map_location="cpu", weights_only=True)
        network.load_state_dict(state["network"])
        average.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        seen = int(state["crops"])
    crops = _Crops.load(folder)
    files = len(list(folder.glob("*.npz")))
    rng = np.random.default_rng(settings.seed + seen)
    saved = time.monotonic()
    recent: list[tuple[float, float, float]] = []
    while seen < settings.crops:
        done = seen / settings.crops
        for group in optimiser.param_groups:
            group["lr"] = (
                settings.learning_rate
                * min(1.0, seen / 20_000 + 0.05)
                * (0.005 + 0.4975 * (1 + math.cos(math.pi * done)))
            )
        pick = rng.integers(0, len(crops.labels), settings.batch)
        if done < settings.easy_share:
            easy = crops.easy[rng.integers(0, len(crops.easy), settings.batch)]
            pick = np.where(rng.random(settings.batch) < _EASY_OF_ALL, easy, pick)
        pixels, places, cosine = augmented(rng, crops.pixels[pick], crops.faces[pick])
        image = torch.from_numpy(pixels).to(device).permute(0, 3, 1, 2).contiguous()
        label = torch.from_numpy(crops.labels[pick]).to(device)
        faces = torch.from_numpy(places).to(device), torch.from_numpy(cosine).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            logits, found, read, at = network(image, torch.from_numpy(_shown(rng, places, cosine)).to(device))
        loss = functional.cross_entropy(logits, label)
        finding, reading = finding_loss(found, *faces), reading_loss(read, at, *faces, label)
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss + settings.find_weight * finding + settings.read_weight * reading)
        optimiser.step()
        seen += settings.batch
        _follow(average, network, min(settings.average, seen / (seen + 20_000)))
        recent.append((loss.item(), finding.item(), reading.item()))
        if len(recent) == 200:
            told, where, what = np.mean(recent, axis=0)
            print(
                f"{seen} crops of {len(crops.labels)}: number {told:.3f} finding {where:.3f} reading {what:.3f}",
                flush=True,
            )
            recent.clear()
            if len(list(folder.glob("*.npz"))) > files * 1.1:
                crops = _Crops.load(folder)
                files = len(list(folder.glob("*.npz")))
        if time.monotonic() - saved > settings.checkpoint_s or seen >= settings.crops:
            part = path.with_suffix(".part")
            state = {"network": network.state_dict(), "average": average.state_dict()}
            torch.save(state | {"optimiser": optimiser.state_dict(), "crops": seen}, part)
            part.replace(path)
            saved = time.monotonic()
    return path


def _follow(average: Any, network: Any, decay: float) -> None:
    """Move ``average`` a little towards ``network``."""
    with torch.no_grad():
        for mean, now in zip(average.state_dict().values(), network.state_dict().values(), strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(now, 1 - decay)
            else:
                mean.copy_(now)


def augmented(rng: np.random.Generator, crops: U8, faces: F32) -> tuple[F32, F32, F32]:
    """Crops (n, 40, 40, 3) turned, shifted, blurred and recoloured a little, as 0..1; where their faces then are
    (n, 6, 2) in crop px, and the cosines (n, 6) at which these are seen. Never mirrored: digits are not symmetrical."""
    count = len(crops)
    middle = (CROP_PX - 1) / 2
    out = np.empty(crops.shape, np.float32)
    places = np.empty((count, faces.shape[1], 2), np.float32)
    for i, crop in enumerate(crops):
        turn = cv2.getRotationMatrix2D((middle, middle), float(rng.uniform(0, 360)), float(np.exp(rng.normal(0, 0.03))))
        turn[:, 2] = turn[:, 2] + rng.normal(0, 0.5, 2)
        turned = cv2.warpAffine(crop, turn, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
        if rng.random() < 0.2:
            turned = cv2.GaussianBlur(turned, (0, 0), float(rng.uniform(0.3, 0.9)))
        out[i] = turned
        places[i] = (faces[i, :, :2] + middle) @ turn[:, :2].T + turn[:, 2]
    gain = np.exp(rng.normal(0, 0.12, (count, 1, 1, 1)) + rng.normal(0, 0.04, (count, 1, 1, 3)))
    out *= gain.astype(np.float32)
    out += rng.normal(0, 6, (count, 1, 1, 1)).astype(np.float32)
    grain = np.where(rng.random(count) < 0.3, rng.uniform(1, 6, count), 0.0).astype(np.float32)
    noisy = np.flatnonzero(grain)
    out[noisy] += grain[noisy, None, None, None] * rng.standard_normal((len(noisy), *out.shape[1:]), np.float32)
    np.clip(out, 0, 255, out=out)
    out /= 255
    return out, places, np.ascontiguousarray(faces[..., 2])


def _shown(rng: np.random.Generator, places: F32, cosine: F32) -> F32:
    """(n, _GIVEN, 2): places to read, mostly the best seen faces, a little off; NaN: what the network finds itself.
    So it learns to read from the first step on, and to read what it finds."""
    order = np.argsort(-cosine, axis=1)[:, :_GIVEN]
    best = np.take_along_axis(places, order[..., None], axis=1)
    best = best + rng.normal(0, 0.6, best.shape).astype(np.float32)
    legible = np.take_along_axis(cosine, order, axis=1) > LEGIBLE_COS
    shown = legible & (rng.random(legible.shape) < 0.7)
    return np.where(shown[..., None], best, np.nan).astype(np.float32)


def export_reader(checkpoint: Path, folder: Path, *, temperature: float = 1.0) -> Path:
    """Write ``number_reader.xml`` + ``.bin`` (probabilities out, uint8 BGR crops in) and ``number_reader.pt``."""
    import openvino
    from openvino.preprocess import PrePostProcessor

    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network = NumberNetwork()
    network.load_state_dict(state["average"])

    class Probabilities(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network.eval()

        def forward(self, x: Any) -> Any:
            return torch.softmax(self.network(x)[0] / temperature, dim=1)

    folder.mkdir(parents=True, exist_ok=True)
    torch.save(state["average"], folder / "number_reader.pt")
    graph = openvino.convert_model(Probabilities(), example_input=torch.zeros(8, 3, CROP_PX, CROP_PX))
    graph.reshape([-1, 3, CROP_PX, CROP_PX])
    steps = PrePostProcessor(graph)
    steps.input().tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC"))
    steps.input().model().set_layout(openvino.Layout("NCHW"))
    steps.input().preprocess().convert_element_type(openvino.Type.f32).scale(255.0)
    openvino.save_model(steps.build(), str(folder / "number_reader.xml"), compress_to_fp16=True)
    return folder / "number_reader.xml"
