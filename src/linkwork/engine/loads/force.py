"""A force on a point of a body."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from ...model.item import BodyName, Flag, Place, Polar, item
from ...model.load import Load, Site
from ...model.signals import Signal
from ..kernels.jit import kernel
from ..kernels.math3 import dot3, get9, rotate, scale3
from ..kernels.signal import signal_value
from .base import end_point, push


@item
class Force(Load):
    """A force on a point of a body, constant or scaled by a time signal."""

    kind = "force"

    body: BodyName
    """The body that it acts on."""
    _: KW_ONLY
    force: Polar
    """Force in world axes of the assembled pose [N]."""
    at: Place | None = None
    """Point of the body, in the world of the assembled pose [m], or a marker; default: the body's origin."""
    follows: Flag = False
    """True: the force turns with the body. False: it keeps its direction in the world."""
    signal: Signal | None = None
    """Factor of the force over time; default: 1."""

    def fill(self, row: np.void, site: Site) -> None:
        site.end(row, "a", self.body, self.at)
        row["value"][:3] = site.world_vector(self.body, self.force) if self.follows else self.force
        row["value"][3] = self.follows
        row["signal"] = site.signal(self.signal)


@kernel
def apply_force(load, tables, q, v, t):
    f = (load.value[0], load.value[1], load.value[2])
    if load.value[3] != 0.0:
        f = rotate(get9(tables.dofs[load.a].R), f)
    f = scale3(signal_value(tables, load.signal, t), f)
    r, velocity = end_point(tables, load.a, load.X_A)
    push(tables, load.a, r, f)
    return dot3(f, velocity), 0.0
