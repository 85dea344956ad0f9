"""A finished simulation: where everything was at any time, and what truly happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from vision_referee.domain.events import Event
from vision_referee.domain.table import TableSpec
from vision_referee.simulation.facts import true_events
from vision_referee.simulation.physics import Motion
from vision_referee.simulation.scene import Capsule, SceneFrame
from vision_referee.simulation.trajectory import BallPath, Place
from vision_referee.simulation.world import World


class Actor(Protocol):
    """Something in the way that moves: a cue, a hand, a person."""

    def capsules(self, t_s: float) -> tuple[Capsule, ...]:
        """What is seen of it at a time; empty while it is out of the picture."""
        ...


@dataclass(slots=True)
class Recording:
    """``duration_s`` from the clip's beginning; ``events`` vision events in time order (see :mod:`facts`)."""

    table: TableSpec
    paths: dict[str, BallPath]
    events: list[Event]
    duration_s: float
    actors: list[Actor] = field(default_factory=list)
    shakes_s: tuple[float, ...] = ()

    def motion(self, label: str, t_s: float) -> Motion:
        """Position, velocity, spin of a ball at a time."""
        return self.paths[label].at(t_s)

    def place(self, label: str, t_s: float) -> Place:
        return self.paths[label].place_at(t_s)

    def present(self, t_s: float) -> tuple[str, ...]:
        """Balls that have come into the recording by then."""
        return tuple(k for k, p in self.paths.items() if p.starts_s[0] <= t_s + 1e-9)

    def frame(self, t_s: float) -> SceneFrame:
        """What there is to be drawn at a time."""
        poses = [self.paths[label].pose_at(t_s) for label in self.present(t_s)]
        capsules = [c for actor in self.actors for c in actor.capsules(t_s)]
        return SceneFrame(t_s=t_s, balls=tuple(p for p in poses if p is not None), occluders=tuple(capsules))


def record(world: World, *, actors: list[Actor] | None = None, shakes_s: tuple[float, ...] = ()) -> Recording:
    """Close a world at its present time."""
    return Recording(
        table=world.table, paths=world.paths, events=true_events(world), duration_s=world.t_s,
        actors=actors or [], shakes_s=shakes_s,
    )  # fmt: skip
