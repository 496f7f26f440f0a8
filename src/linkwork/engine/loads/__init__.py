"""The registry of loads: one file each."""

from ...model.belts import BeltTyre
from ...model.load import Load
from ...model.tyres import BrushTyre, MagicTyre, Tyre
from ..kernels.jit import kernel
from .bushing import Bushing, apply_bushing
from .force import Force, apply_force
from .function import BodyFunction, JointFunction, apply_body_function, apply_joint_function
from .line import LineFunction, apply_line_function
from .spring import Spring, apply_spring
from .torque import Torque, apply_torque

_ORDER = (Force, Torque, Spring, BodyFunction, JointFunction, LineFunction, Bushing)

LOADS: dict[str, type[Load]] = {load.kind: load for load in (*_ORDER, BeltTyre, BrushTyre, MagicTyre)}
"""Every load by the name that model files call it. Tyres have rows and nothing but rows: no kernel here."""

KIND_CODES: dict[type[Load], int] = {load: code for code, load in enumerate(_ORDER)}
"""Number of each kind in the load table: its place in `_ORDER`, and in `apply_load` below."""
JOINT_FUNCTION = KIND_CODES[JointFunction]


@kernel
def apply_load(load, tables, q, v, t):
    """The kernel of one load. A plain chain of comparisons: as fast as any dispatch, and cached."""
    if load.kind == 0:
        return apply_force(load, tables, q, v, t)
    if load.kind == 1:
        return apply_torque(load, tables, q, v, t)
    if load.kind == 2:
        return apply_spring(load, tables, q, v, t)
    if load.kind == 3:
        return apply_body_function(load, tables, q, v, t)
    if load.kind == 4:
        return apply_joint_function(load, tables, q, v, t)
    if load.kind == 5:
        return apply_line_function(load, tables, q, v, t)
    return apply_bushing(load, tables, q, v, t)


@kernel
def apply_loads(tables, q, v, t):
    """(placed tables, t) => forces added to p and tau; returns (supplied, dissipated) power [W]."""
    loads = tables.loads
    supplied, dissipated = 0.0, 0.0
    for i in range(loads.shape[0]):
        gain, loss = apply_load(loads[i], tables, q, v, t)
        supplied += gain
        dissipated += loss
    return supplied, dissipated


__all__ = [
    "KIND_CODES", "LOADS", "BeltTyre", "BodyFunction", "BrushTyre", "Bushing", "Force", "JointFunction", "LineFunction",
    "Load", "MagicTyre", "Spring", "Torque", "Tyre", "apply_loads",
]  # fmt: skip
