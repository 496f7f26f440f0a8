"""The registry of joints: one file each."""

from .base import Joint, Motion
from .cylindrical import Cylindrical
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
"""Every joint by the name that model files call it."""

__all__ = [
    "JOINTS", "Cylindrical", "Free", "Hinge", "Joint", "Motion", "Planar", "Screw", "Slider", "Spherical",
    "Universal", "Weld",
]  # fmt: skip
