"""Training of the number reader: a small convolutional net on crops of rendered balls."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision_referee.detection.number_crops import CLASSES, CROP_PX

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]


EASY_PX = 27.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSettings:
    """``crops``: how many in all, repeats with other augmentation included."""

    crops: int = 400_000
    batch: int = 48
    learning_rate: float = 2.5e-3
    easy_share: float = 0.5
    """For this part of the run only balls of EASY_PX and more are shown: their print can be made out."""
    seed: int = 0
    threads: int = 1
    checkpoint_s: float = 120.0


def build_reader() -> Any:
    """The reader: (n, 3, 40, 40) BGR 0..1 to logits (n, 17)."""
    import torch
    from torch import nn

    def block(a: int, b: int, stride: int) -> list[Any]:
        return [nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.SiLU()]

    class Reader(nn.Module):
        """A print may stand anywhere on the ball and at any angle: what was found counts, not where."""

        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *block(3, 24, 1),
                *block(24, 40, 2),
                *block(40, 48, 1),
                *block(48, 72, 2),
                *block(72, 96, 1),
                *block(96, 96, 1),
            )
            self.drop = nn.Dropout(0.1)
            self.head = nn.Linear(192, CLASSES)

        def forward(self, x: Any) -> Any:
            x = self.body(x).flatten(2)
            return self.head(self.drop(torch.cat([x.mean(dim=2), x.amax(dim=2)], dim=1)))

    return Reader()


def load_crops(folder: Path) -> tuple[U8, I64, npt.NDArray[np.intp]]:
    """All crops and labels of a folder, and the indices of those that are large enough to begin with."""
    parts = [np.load(path) for path in sorted(folder.glob("numbers-*.npz")) if ".part" not in path.name]
    sizes = np.concatenate([p["sizes"] for p in parts])
    crops, labels = np.concatenate([p["crops"] for p in parts]), np.concatenate([p["labels"] for p in parts])
    return crops, labels, np.flatnonzero(sizes >= EASY_PX)


def train_reader(folder: Path, out: Path, settings: NumberSettings) -> Path:
    """Train until ``settings.crops`` were seen; resumable; returns the checkpoint's path."""
    import torch
    from torch.nn import functional

    out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu":
        torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    network = build_reader().to(device=device, memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.02)
    path, seen = out / "numbers.pt", 0
    if path.exists():
        state = torch.load(path, map_location="cpu", weights_only=True)
        network.load_state_dict(state["network"])
        optimiser.load_state_dict(state["optimiser"])
        seen = int(state["crops"])
    crops, labels, easy = load_crops(folder)
    files = len(list(folder.glob("*.npz")))
    rng = np.random.default_rng(settings.seed + seen)
    saved = time.monotonic()
    recent: list[float] = []
    while seen < settings.crops:
        done = seen / settings.crops
        for group in optimiser.param_groups:
            group["lr"] = (
                settings.learning_rate
                * min(1.0, seen / 6000 + 0.05)
                * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))
            )
        pick = rng.integers(0, len(crops), settings.batch)
        if done < settings.easy_share:
            pick = easy[rng.integers(0, len(easy), settings.batch)]
        pixels = np.stack([augmented(rng, crops[i]) for i in pick])
        image = torch.from_numpy(pixels).to(device).permute(0, 3, 1, 2).float() / 255
        with torch.autocast(device.type, torch.bfloat16):
            logits = network(image.contiguous(memory_format=torch.channels_last))
        loss = functional.cross_entropy(logits.float(), torch.from_numpy(labels[pick]).to(device), label_smoothing=0.01)
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimiser.step()
        seen += settings.batch
        recent.append(loss.item())
        if len(recent) == 200:
            print(f"{seen} crops of {len(crops)}: loss {np.mean(recent):.3f}", flush=True)
            recent.clear()
            if len(list(folder.glob("*.npz"))) > files * 1.1:
                crops, labels, easy = load_crops(folder)
                files = len(list(folder.glob("*.npz")))
        if time.monotonic() - saved > settings.checkpoint_s or seen >= settings.crops:
            part = path.with_suffix(".part")
            torch.save({"network": network.state_dict(), "optimiser": optimiser.state_dict(), "crops": seen}, part)
            part.replace(path)
            saved = time.monotonic()
    return path


def augmented(rng: np.random.Generator, crop: U8) -> U8:
    """A crop turned, shifted, blurred and recoloured a little. Never mirrored: digits are not symmetrical."""
    middle = (CROP_PX - 1) / 2
    turn = cv2.getRotationMatrix2D((middle, middle), float(rng.uniform(0, 360)), float(np.exp(rng.normal(0, 0.03))))
    turn[:, 2] = turn[:, 2] + rng.normal(0, 0.5, 2)
    out = cv2.warpAffine(crop, turn, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    if rng.random() < 0.25:
        out = cv2.GaussianBlur(out, (0, 0), float(rng.uniform(0.3, 1.0)))
    gain = np.exp(rng.normal(0, 0.12) + rng.normal(0, 0.04, 3))
    values = np.asarray(out, np.float64) * gain + rng.normal(0, 6)
    if rng.random() < 0.3:
        values = values + rng.normal(0, rng.uniform(1, 6), out.shape)
    return np.asarray(np.clip(values, 0, 255), np.uint8)


def export_reader(checkpoint: Path, folder: Path, *, temperature: float = 1.0) -> Path:
    """Write ``number_reader.xml`` + ``.bin`` (probabilities out, uint8 BGR crops in) and ``number_reader.pt``."""
    import openvino
    import torch
    from openvino.preprocess import PrePostProcessor

    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network = build_reader()
    network.load_state_dict(state["network"])

    class Probabilities(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network.eval()

        def forward(self, x: Any) -> Any:
            return torch.softmax(self.network(x) / temperature, dim=1)

    folder.mkdir(parents=True, exist_ok=True)
    torch.save(state["network"], folder / "number_reader.pt")
    graph = openvino.convert_model(Probabilities(), example_input=torch.zeros(8, 3, CROP_PX, CROP_PX))
    graph.reshape([-1, 3, CROP_PX, CROP_PX])
    steps = PrePostProcessor(graph)
    steps.input().tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC"))
    steps.input().model().set_layout(openvino.Layout("NCHW"))
    steps.input().preprocess().convert_element_type(openvino.Type.f32).scale(255.0)
    openvino.save_model(steps.build(), str(folder / "number_reader.xml"), compress_to_fp16=True)
    return folder / "number_reader.xml"
