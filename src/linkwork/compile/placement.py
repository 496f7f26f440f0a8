"""Where things stand in a model that is being compiled: frames, and what its parts read of the compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..model import Flat
from ..model.joints import Joint
from ..model.load import Site
from ..model.rotation import Array
from .spanning import Edge


@dataclass(frozen=True)
class Frame:
    """A frame in the world of the assembled pose."""

    p: Array
    """Origin [m]."""
    R: Array
    """Axes, as columns."""

    def of(self, other: Frame) -> Frame:
        """`other` as seen from this frame."""
        return Frame(self.R.T @ (other.p - self.p), self.R.T @ other.R)


class Placement(Site, Protocol):
    """A model whose dofs are laid out: all that rows and colliders have to know of it."""

    flat: Flat
    notes: list[str]
    """What the user should know, for `System.notes`."""
    q0: Array
    """Coordinates at the start."""

    @property
    def dofs(self) -> Any:
        """The dof table."""

    @property
    def frames(self) -> Sequence[Frame]:
        """Of every dof in the assembled pose."""

    @property
    def tree_edges(self) -> Sequence[Edge]:
        """Joints that form the tree in joint coordinates, whatever the coordinates here."""

    @property
    def link_of(self) -> Mapping[str, int]:
        """The dof that carries a body."""

    @property
    def spans(self) -> Mapping[str, tuple[slice, slice]]:
        """Coordinates and rates of every joint of the tree."""

    def joint_frame(self, joint: Joint) -> Frame:
        """Where a joint stands."""
