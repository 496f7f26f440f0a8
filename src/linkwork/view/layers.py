"""What pictures and the page draw alike: the pieces of every layer, springs, and how large markings are."""

from __future__ import annotations

from ..model.rotation import Array
from ..stage import geometry
from ..stage.bounds import typical_size
from ..stage.geometry import Color, Piece
from ..stage.stage import Poses, Stage

Bounds = tuple[Array, Array]
"""Lowest and highest corner of what there is to see [m]."""
STICKS_COLOR, SLIDES_COLOR = (0, 158, 115), (213, 94, 0)
"""Of contacts; of Okabe and Ito's, for the colour-blind too."""


class Layers:
    """Pieces of a stage of so much size [m], layer by layer."""

    def __init__(self, stage: Stage, bounds: Bounds, size: float):
        self.stage, self.bounds = stage, bounds
        self.mark = min(size, 4.0 * typical_size(stage) or size)
        """What joints and the like are drawn in proportion to [m]: not larger than bodies, where there are many."""
        self._springs = [
            (stage.index(s.a), s.at_a, stage.index(s.b), s.at_b, 0.0 if s.rod else 0.018 * self.mark)
            for s in stage.springs
        ]

    def pieces(self, layer: str, by_component: bool = False) -> list[Piece]:
        """All of a layer; bodies in their own colours or in those of their components."""
        if layer == "bodies":
            return geometry.body_pieces(self.stage, by_component)
        if layer == "scenery":
            return geometry.scenery_pieces(self.stage) + geometry.plane_pieces(self.stage, self.bounds)
        if layer == "joints":
            return geometry.joint_pieces(self.stage, self.mark, self.bounds)
        makers = {
            "limits": geometry.limit_pieces,
            "coms": geometry.com_pieces,
            "frames": geometry.frame_pieces,
        }
        return makers[layer](self.stage, self.mark)

    def coils(self, poses: Poses) -> list[Array]:
        """Lines of all springs and rods, n × 3 [m]."""
        return [
            geometry.coil(poses.place(a, at_a), poses.place(b, at_b), radius)
            for a, at_a, b, at_b, radius in self._springs
        ]


def ground_color(stage: Stage) -> Color | None:
    """Of the level ground, if the model has one with a colour."""
    grounds = geometry.levels(stage)
    return grounds[0][1] if grounds else None
