"""The registry of joints: one file each."""

from .base import Joint, Motion
from .cylindrical import Cylindrical
from .distance import Distance
from .free import Free
from .hinge import Hinge
from .planar import Planar
from .screw import Screw
from .slider import Slider
from .spherical import Spherical
from .universal import Universal
from .weld import Weld

JOINTS: dict[str, type[Joint]] = {
    joint.kind: joint
    for joint in (Hinge, Slider, Cylindrical, Universal, Spherical, Planar, Screw, Weld, Free)
}
"""Every joint that can carry a body, by the name that model files call it."""

ALL_JOINTS: dict[str, type[Joint]] = {**JOINTS, Distance.kind: Distance}
"""These and joints that only close loops."""

__all__ = [
    "ALL_JOINTS", "JOINTS", "Cylindrical", "Distance", "Free", "Hinge", "Joint", "Motion", "Planar", "Screw", "Slider",
    "Spherical", "Universal", "Weld",
]  # fmt: skip
