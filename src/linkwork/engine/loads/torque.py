"""A torque on a body."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from ...model.item import Axial, BodyName, Flag, item
from ...model.load import Load, Site
from ...model.signals import Signal
from ..kernels.jit import kernel
from ..kernels.math3 import dot3, get9, rotate, scale3
from ..kernels.signal import signal_value
from .base import twist


@item
class Torque(Load):
    """A torque on a body, constant or scaled by a time signal."""

    kind = "torque"

    body: BodyName
    """The body that it acts on."""
    _: KW_ONLY
    torque: Axial
    """Torque in world axes of the assembled pose [N m]."""
    follows: Flag = False
    """True: the torque turns with the body. False: it keeps its direction in the world."""
    signal: Signal | None = None
    """Factor of the torque over time; default: 1."""

    def fill(self, row: np.void, site: Site) -> None:
        site.end(row, "a", self.body, None)
        row["value"][:3] = site.world_vector(self.body, self.torque) if self.follows else self.torque
        row["value"][3] = self.follows
        row["signal"] = site.signal(self.signal)


@kernel
def apply_torque(load, tables, q, v, t):
    dof = tables.dofs[load.a]
    n = (load.value[0], load.value[1], load.value[2])
    if load.value[3] != 0.0:
        n = rotate(get9(dof.R), n)
    n = scale3(signal_value(tables, load.signal, t), n)
    twist(tables, load.a, n)
    return dot3(n, (dof.V[0], dof.V[1], dof.V[2])), 0.0
