"""What the number reader is taught beside the ball's number: where its printed faces are, and what each alone says."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from vision_referee.training.number_network import GRID, ILLEGIBLE

LEGIBLE_COS, _HINTED_COS = 0.4, 0.2
"""Cosine of the angle at which a face must be seen to be asked for; a little less, and it may be found or not."""
_NEAR_PX = 3.0
_MATCH_PX = 4.0
"""A place read this near to a face's middle is that face."""


def finding_loss(found: Any, places: Any, cosine: Any) -> Any:
    """How well the map (n, 3, 20, 20) tells where the legible faces' middles are."""
    at = torch.arange(GRID, device=found.device) * 2 + 0.5
    dx = places[:, :, 0, None, None] - at[None, None, None, :]
    dy = places[:, :, 1, None, None] - at[None, None, :, None]
    away = (dx * dx + dy * dy).sqrt()
    legible = (cosine > LEGIBLE_COS)[..., None, None]
    wanted = torch.where(legible, torch.exp(-0.5 * (away / 1.5) ** 2), torch.zeros_like(away)).amax(dim=1)
    doubtful = ((cosine > _HINTED_COS)[..., None, None] & ~legible & (away < 5.0)).any(dim=1)
    odds = functional.binary_cross_entropy_with_logits(found[:, 0], wanted, reduction="none")
    odds = torch.where(doubtful, torch.zeros_like(odds), odds * (1 + 4 * wanted))
    nearest = torch.where(legible, away, torch.full_like(away, 99.0)).argmin(dim=1, keepdim=True)
    wide, tall = dx.expand_as(away).gather(1, nearest)[:, 0], dy.expand_as(away).gather(1, nearest)[:, 0]
    close = (torch.where(legible, away, torch.full_like(away, 99.0)).amin(dim=1) < _NEAR_PX).float()
    off = ((found[:, 1] - wide).abs() + (found[:, 2] - tall).abs()) * close
    return odds.mean() + 0.05 * off.sum() / close.sum().clamp_min(1.0)


def reading_loss(read: Any, at: Any, places: Any, cosine: Any, label: Any) -> Any:
    """How well each face read (n, m, 16) at ``at`` (n, m, 2) is told, or told to be none."""
    away = (at[:, :, None] - places[:, None]).norm(dim=3)
    legible = (cosine > LEGIBLE_COS)[:, None]
    matched = ((away < _MATCH_PX) & legible).any(dim=2)
    hinted = ((away < _MATCH_PX) & (cosine > _HINTED_COS)[:, None]).any(dim=2) & ~matched
    wanted = torch.where(
        matched, (label - 1)[:, None].clamp(0, ILLEGIBLE - 1), torch.full_like(label, ILLEGIBLE)[:, None]
    )
    wanted = torch.where(hinted, torch.full_like(wanted, -1), wanted)
    return functional.cross_entropy(read.flatten(0, 1), wanted.flatten(), ignore_index=-1)
