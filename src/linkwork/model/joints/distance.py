"""The distance joint: a rod without mass."""

from dataclasses import KW_ONLY
from typing import Any, Self

from pydantic import model_validator

from ..item import Place, Positive, _moved_fields, item
from ..rotation import Placement
from .base import Joint, Motion

_SAY_NOTHING = (
    "axis", "reference", "position", "velocity", "damping", "spring", "rest", "limits", "restitution", "friction",
    "armature", "attached",
)  # fmt: skip


@item
class Distance(Joint):
    """A point of a and a point of b keep their distance, as if by a rod without mass on balls.

    One equation, and no coordinate: it only closes loops, and carries no body; fields about axes and coordinates are
    refused. A body that hangs on nothing else floats. Its two points must not meet.
    """

    kind = "distance"

    _: KW_ONLY
    to: Place
    """The point of b, in the world of the assembled pose [m], or a marker; that of a is `at`."""
    length: Positive | None = None
    """Length of the rod [m]; default: as drawn."""

    @property
    def closes_only(self) -> bool:
        return True

    @property
    def held(self) -> int:
        return 1

    def motions(self) -> tuple[Motion, ...]:
        return ()

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ()

    def moved_fields(self, placement: Placement) -> dict[str, Any]:
        return _moved_fields(self, placement)

    @model_validator(mode="after")
    def _is_a_rod(self) -> Self:
        for field in _SAY_NOTHING:
            if getattr(self, field) not in (None, 0.0):
                raise ValueError(
                    f"{field}: a distance joint is a rod, which has no coordinate and no axes; leave it out"
                )
        if self.at == self.to and self.length is None:
            raise ValueError(f"a rod of zero length: its points at and to are the same, {self.at}; move one")
        return self
