"""Linkwork: a multibody dynamics simulator for mechanisms, robots and vehicles.

Names are loaded on first use, so that `import linkwork` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

_HOMES = {
    "linkwork.drives": ("DCMotor", "PositionServo", "Repeater", "TorqueSource", "VelocityServo"),
    "linkwork.errors": ("LinkworkError", "ModelError", "Problem", "SimulationError", "UnsupportedError"),
    "linkwork.io": ("load_model", "save_model"),
    "linkwork.joints": (
        "Cylindrical", "Free", "Hinge", "Planar", "Screw", "Slider", "Spherical", "Universal", "Weld",
    ),
    "linkwork.loads": ("BodyFunction", "Bushing", "Force", "JointFunction", "LineFunction", "Spring", "Torque"),
    "linkwork.methods.components": ("Components",),
    "linkwork.methods.direct": ("Direct",),
    "linkwork.methods.implicit": ("Hybrid", "Topological"),
    "linkwork.methods.impulses": ("Impulses",),
    "linkwork.methods.natural": ("Global",),
    "linkwork.methods.tree": ("Tree",),
    "linkwork.model": (
        "Body", "Component", "Marker", "Material", "MaterialPair", "Model", "NoContact", "Scenery", "Sealed",
    ),
    "linkwork.record": ("Record",),
    "linkwork.rotation": ("about",),
    "linkwork.scenes": ("scene",),
    "linkwork.shapes": ("Box", "Capsule", "Cylinder", "HeightField", "Mesh", "Plane", "Sphere"),
    "linkwork.signals": ("Sine", "Table"),
    "linkwork.simulate": ("Simulation",),
    "linkwork.study.check": ("check",),
    "linkwork.study.inverse": ("inverse",),
    "linkwork.study.statics": ("equilibrium",),
    "linkwork.switching": ("JointChange",),
    "linkwork.view.live": ("show",),
    "linkwork.view.render": ("render",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'linkwork' has no attribute '{name}'")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])


if TYPE_CHECKING:
    from .drives import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
    from .errors import LinkworkError, ModelError, Problem, SimulationError, UnsupportedError
    from .io import load_model, save_model
    from .joints import Cylindrical, Free, Hinge, Planar, Screw, Slider, Spherical, Universal, Weld
    from .loads import BodyFunction, Bushing, Force, JointFunction, LineFunction, Spring, Torque
    from .methods.components import Components
    from .methods.direct import Direct
    from .methods.implicit import Hybrid, Topological
    from .methods.impulses import Impulses
    from .methods.natural import Global
    from .methods.tree import Tree
    from .model import Body, Component, Marker, Material, MaterialPair, Model, NoContact, Scenery, Sealed
    from .record import Record
    from .rotation import about
    from .scenes import scene
    from .shapes import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
    from .signals import Sine, Table
    from .simulate import Simulation
    from .study.check import check
    from .study.inverse import inverse
    from .study.statics import equilibrium
    from .switching import JointChange
    from .view.live import show
    from .view.render import render
