"""Linkwork: a multibody dynamics simulator for mechanisms, robots and vehicles.

Names are loaded on first use, so that `import linkwork` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

_HOMES = {
    "linkwork.engine.elements": (
        "PID", "Actuator", "AxleMotor", "Backlash", "Brake", "Clutch", "DCMotor", "HydraulicCylinder", "PositionServo",
        "Repeater", "TorqueSource", "TractionMotor", "VelocityServo",
    ),
    "linkwork.model.errors": ("LinkworkError", "ModelError", "Problem", "SimulationError", "UnsupportedError"),
    "linkwork.interchange.export_file": ("export_model",),
    "linkwork.interchange.open_file": ("import_model",),
    "linkwork.io": ("load_model", "save_model"),
    "linkwork.model.joints": (
        "Cylindrical", "Distance", "Free", "Hinge", "Planar", "Screw", "Slider", "Spherical", "Universal", "Weld",
    ),
    "linkwork.engine.loads": ("BodyFunction", "Bushing", "Force", "JointFunction", "LineFunction", "Spring", "Torque"),
    "linkwork.methods.components": ("Components",),
    "linkwork.methods.direct": ("Direct",),
    "linkwork.methods.implicit": ("Hybrid", "Topological"),
    "linkwork.methods.impulses": ("Impulses",),
    "linkwork.methods.natural": ("Global",),
    "linkwork.methods.tree": ("Tree",),
    "linkwork.model": (
        "Body", "Component", "Marker", "Material", "MaterialPair", "Model", "NoContact", "Scenery", "Sealed",
    ),
    "linkwork.results.record": ("Record",),
    "linkwork.model.rotation": ("about",),
    "linkwork.scenes": ("scene",),
    "linkwork.model.shapes": (
        "Box", "Capsule", "Cylinder", "Ellipsoid", "HeightField", "Mesh", "Plane", "Sphere", "Torus",
    ),
    "linkwork.model.signals": ("Sine", "Table"),
    "linkwork.model.belts": ("BeltTyre",),
    "linkwork.model.tyres": ("BrushTyre", "MagicTyre"),
    "linkwork.run.simulate": ("Simulation",),
    "linkwork.dynamics": ("Dynamics",),
    "linkwork.analysis.check": ("check",),
    "linkwork.analysis.inverse": ("inverse",),
    "linkwork.analysis.linearise": ("linearise",),
    "linkwork.analysis.statics": ("equilibrium",),
    "linkwork.mechanism.switching": ("JointChange",),
    "linkwork.studies.fit": ("fit",),
    "linkwork.studies.optimise": ("optimise",),
    "linkwork.studies.sensitivity": ("sensitivity",),
    "linkwork.studies.sweep": ("sweep",),
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
    from .analysis.check import check
    from .analysis.inverse import inverse
    from .analysis.linearise import linearise
    from .analysis.statics import equilibrium
    from .dynamics import Dynamics
    from .engine.elements import (
        PID,
        Actuator,
        AxleMotor,
        Backlash,
        Brake,
        Clutch,
        DCMotor,
        HydraulicCylinder,
        PositionServo,
        Repeater,
        TorqueSource,
        TractionMotor,
        VelocityServo,
    )
    from .engine.loads import BodyFunction, Bushing, Force, JointFunction, LineFunction, Spring, Torque
    from .interchange.export_file import export_model
    from .interchange.open_file import import_model
    from .io import load_model, save_model
    from .mechanism.switching import JointChange
    from .methods.components import Components
    from .methods.direct import Direct
    from .methods.implicit import Hybrid, Topological
    from .methods.impulses import Impulses
    from .methods.natural import Global
    from .methods.tree import Tree
    from .model import Body, Component, Marker, Material, MaterialPair, Model, NoContact, Scenery, Sealed
    from .model.belts import BeltTyre
    from .model.errors import LinkworkError, ModelError, Problem, SimulationError, UnsupportedError
    from .model.joints import (
        Cylindrical,
        Distance,
        Free,
        Hinge,
        Planar,
        Screw,
        Slider,
        Spherical,
        Universal,
        Weld,
    )
    from .model.rotation import about
    from .model.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere, Torus
    from .model.signals import Sine, Table
    from .model.tyres import BrushTyre, MagicTyre
    from .results.record import Record
    from .run.simulate import Simulation
    from .scenes import scene
    from .studies.fit import fit
    from .studies.optimise import optimise
    from .studies.sensitivity import sensitivity
    from .studies.sweep import sweep
    from .view.live import show
    from .view.render import render
