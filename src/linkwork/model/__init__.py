"""What the user writes. Names are loaded on first use, so that errors and rotations come without all of it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "body": ("Body", "Marker"),
    "component": ("Component", "Flat", "Instance", "Model"),
    "item": ("GROUND",),
    "joints": (
        "Cylindrical",
        "Distance",
        "Free",
        "Hinge",
        "Planar",
        "Screw",
        "Slider",
        "Spherical",
        "Universal",
        "Weld",
    ),
    "rotation": ("about",),
    "sealed": ("Port", "Sealed"),
    "shapes": (
        "Box",
        "Capsule",
        "Cylinder",
        "Ellipsoid",
        "HeightField",
        "Mesh",
        "Plane",
        "Shape",
        "Sphere",
        "Torus",
    ),
    "signals": ("Sine", "Table"),
    "touch": ("Material", "MaterialPair", "NoContact", "Scenery"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "GROUND", "Body", "Box", "Capsule", "Component", "Cylinder", "Cylindrical", "Distance", "Ellipsoid", "Flat", "Free",
    "HeightField", "Hinge", "Instance", "Marker", "Material", "MaterialPair", "Mesh", "Model", "NoContact", "Planar",
    "Plane", "Port", "Scenery", "Screw", "Sealed", "Shape", "Sine", "Slider", "Sphere", "Spherical", "Table", "Torus",
    "Universal", "Weld", "about",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


if TYPE_CHECKING:
    from .body import Body, Marker
    from .component import Component, Flat, Instance, Model
    from .item import GROUND
    from .joints import Cylindrical, Distance, Free, Hinge, Planar, Screw, Slider, Spherical, Universal, Weld
    from .rotation import about
    from .sealed import Port, Sealed
    from .shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere, Torus
    from .signals import Sine, Table
    from .touch import Material, MaterialPair, NoContact, Scenery
