"""What a diagnosis of redundant joints found."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..mechanism.mobility import Mobility
from .loosen import Replacement


@dataclass(frozen=True)
class Redundant:
    """A joint some of whose equations the rest of the mechanism already holds."""

    joint: str
    kind: str
    equations: int
    dependent: int
    """How many of them could be given up without a new freedom, all others kept."""


@dataclass(frozen=True)
class Loop:
    """Joints in a ring, and by how many equations they hold each other too often."""

    joints: tuple[str, ...]
    excess: int


@dataclass
class Diagnosis:
    """Mobility of a model, the joints and loops that are overconstrained, and a cure."""

    mobility: Mobility
    redundant: list[Redundant] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    cures: list[tuple[Loop, list[Replacement]]] = field(default_factory=list)
    """Per loop, changes that together leave no redundant equation and the mobility as it is."""
    idle: list[str] = field(default_factory=list)
    """Bodies that can spin about themselves between spherical joints while everything else stands still."""
    remaining: int = 0
    """Redundant equations that the cures leave."""
    skipped: str = ""
    """Why joints or cures were not looked for, or why there is none."""

    @property
    def replacements(self) -> list[Replacement]:
        return [change for _, changes in self.cures for change in changes]
