"""The number reader's network: find the printed faces, turn each to the front, read it at any angle.

A print may stand anywhere on the ball and at any angle. To learn all of that from pixels takes millions of crops. What
is known is built in instead: a ball is a sphere, so a face found anywhere on it can be sampled as if seen from the
front; and sampled in polar coordinates (radius down, angle across, which closes on itself) a turned number is a shifted
one, which a convolution does not mind.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from vision_referee.detection.number_crops import BALL_PX, CLASSES, CROP_PX

FACES = 3
"""At most so many faces of a ball can be read at once."""
GRID = CROP_PX // 2
"""The map of faces has a cell for two by two pixels."""
ILLEGIBLE = 15
"""A face's class after the numbers 1..15."""
_RINGS, _SPOKES, _RING_DEG = 10, 32, 3.6
_MIDDLE = (CROP_PX - 1) / 2
_STEEPEST = 0.93
"""Faces are sought up to this part of the radius from the middle."""


def _block(a: int, b: int, *, dilation: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(a, b, 3, 1, dilation, dilation, bias=False), nn.BatchNorm2d(b), nn.SiLU()]


class _Around(nn.Module):
    """A convolution of polar patches: angles (columns) go round, radii (rows) do not."""

    def __init__(self, a: int, b: int, rows: int = 3, *, pad_rows: bool = True) -> None:
        super().__init__()
        self.pad = (1, 1, 0, 0)
        self.conv = nn.Conv2d(a, b, (rows, 3), 1, (rows // 2 if pad_rows else 0, 0), bias=False)
        self.norm = nn.BatchNorm2d(b)

    def forward(self, x: Any) -> Any:
        x = torch.cat([x[..., -1:], x, x[..., :1]], dim=3)
        return functional.silu(self.norm(self.conv(x)))


class NumberNetwork(nn.Module):
    """(n, 3, 40, 40) BGR 0..1 to logits (n, 17), the map of faces (n, 3, 20, 20): log-odds and the way to the middle in
    px, and of each face read its logits (n, FACES, 16) and place (n, FACES, 2) in crop px."""

    def __init__(self) -> None:
        super().__init__()
        self.finder = nn.Sequential(
            nn.PixelUnshuffle(2), *_block(16, 24), *_block(24, 24), *_block(24, 32, dilation=2), *_block(32, 32)
        )
        self.found = nn.Conv2d(32, 3, 1)
        self.whole = nn.Linear(70, CLASSES)
        self.polar = nn.Sequential(_Around(4, 24), _Around(24, 40), nn.AvgPool2d(2), _Around(40, 56))
        self.across = _Around(56, 64, _RINGS // 2, pad_rows=False)
        self.drop = nn.Dropout(0.1)
        self.read = nn.Linear(129, ILLEGIBLE + 1)
        self.trust = nn.Parameter(torch.ones(1))
        self.ahead: torch.Tensor
        self.aside: torch.Tensor
        assert self.found.bias is not None
        nn.init.constant_(self.found.bias[:1], -2.0)  # faces are few
        angle = torch.arange(_SPOKES) * (2 * math.pi / _SPOKES)
        ring = (torch.arange(_RINGS) + 0.5) * math.radians(_RING_DEG)
        self.register_buffer("ahead", torch.cos(ring)[:, None, None].expand(-1, _SPOKES, 1).clone(), persistent=False)
        aside = torch.sin(ring)[:, None, None] * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)[None]
        self.register_buffer("aside", aside, persistent=False)

    def forward(self, x: Any, given: Any = None) -> tuple[Any, Any, Any, Any]:
        """``given`` (n, m, 2): places in crop px that are read instead of those found; NaN: the one found is read."""
        x = torch.cat([x, _local_contrast(x)], dim=1)
        features = self.finder(x)
        found = self.found(features).float()
        places, odds = _strongest(found)
        if given is not None:
            known = torch.isfinite(given)
            places = torch.where(known, given, places[:, : given.shape[1]])
            odds = torch.where(
                known[..., 0], torch.full_like(odds[:, : given.shape[1]], 4.0), odds[:, : given.shape[1]]
            )
        faces = self._faces(x, places.detach())
        chance = torch.softmax(faces, dim=2)
        # What is illegible may be any number.
        evidence = torch.log((chance[..., :ILLEGIBLE] * ILLEGIBLE + chance[..., ILLEGIBLE:]).clamp_min(1e-4))
        named = (evidence * torch.sigmoid(odds.detach())[..., None]).sum(dim=1)
        inner = x[:, :3, 8:-8, 8:-8].flatten(2)
        flat = features.flatten(2)
        looks = torch.cat([flat.mean(dim=2), flat.amax(dim=2), inner.mean(dim=2), inner.std(dim=2)], dim=1)
        whole = self.whole(self.drop(looks)).float()
        return (
            torch.cat([whole[:, :1], whole[:, 1:-1] + self.trust * named, whole[:, -1:]], dim=1),
            found,
            faces,
            places,
        )

    def _faces(self, x: Any, places: Any) -> Any:
        """Logits (n, FACES, 16) of the faces at ``places`` (n, FACES, 2)."""
        count = places.shape[1]
        flat = (places - _MIDDLE) / (BALL_PX / 2)
        flat = flat / (flat.norm(dim=2, keepdim=True) / _STEEPEST).clamp_min(1.0)
        toward = torch.cat([flat, (1 - (flat * flat).sum(dim=2, keepdim=True)).clamp_min(1e-4).sqrt()], dim=2)
        # Square to the line of sight to the face: first the direction nearest to the picture's right, then down.
        first = torch.cat([1 - toward[..., :1] ** 2, -toward[..., :1] * toward[..., 1:]], dim=2)
        first = first / first.norm(dim=2, keepdim=True)
        second = torch.stack(
            [
                toward[..., 1] * first[..., 2] - toward[..., 2] * first[..., 1],
                toward[..., 2] * first[..., 0] - toward[..., 0] * first[..., 2],
            ],
            dim=2,
        )
        at = (
            toward[:, :, None, None, :2] * self.ahead
            + first[:, :, None, None, :2] * self.aside[..., :1]
            + second[:, :, None, None, :] * self.aside[..., 1:]
        )
        grid = (at * (BALL_PX / 2) + _MIDDLE + 0.5) * (2 / CROP_PX) - 1
        grid = grid.reshape(-1, count * _RINGS, _SPOKES, 2)
        patches = functional.grid_sample(x.float(), grid, padding_mode="border", align_corners=False)
        patches = patches.reshape(-1, 4, count, _RINGS, _SPOKES).transpose(1, 2).reshape(-1, 4, _RINGS, _SPOKES)
        read = self.across(self.polar(patches)).flatten(2)
        seen = torch.cat([read.mean(dim=2), read.amax(dim=2), toward[..., 2].reshape(-1, 1)], dim=1)
        return self.read(self.drop(seen)).float().reshape(-1, count, ILLEGIBLE + 1)


def _local_contrast(x: Any) -> Any:
    """(n, 1, h, w): brightness against its surroundings, in units of how much it varies there: faint prints look like
    bold ones."""
    light = x.mean(dim=1, keepdim=True)
    mean = functional.avg_pool2d(light, 9, 1, 4, count_include_pad=False)
    spread = functional.avg_pool2d((light - mean) ** 2, 9, 1, 4, count_include_pad=False).clamp_min(0).sqrt()
    return (light - mean) / (spread + 0.03)


def _strongest(found: Any) -> tuple[Any, Any]:
    """Places (n, FACES, 2) in crop px and log-odds (n, FACES) of the map's highest peaks."""
    odds = found[:, :1]
    peak = odds >= functional.max_pool2d(odds, 5, 1, 2)
    score = torch.where(peak, odds, torch.full_like(odds, -12.0)).flatten(1)
    best, index = score.topk(FACES, dim=1)
    column = (index % GRID).to(found.dtype)
    row = torch.div(index, GRID, rounding_mode="floor").to(found.dtype)
    shift = torch.stack([found[:, k].flatten(1).gather(1, index) for k in (1, 2)], dim=2)
    return torch.stack([column, row], dim=2) * 2 + 0.5 + shift, best
