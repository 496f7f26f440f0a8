"""Pinocchio as a contender: forward dynamics (ABA) of a batch of states of the same chain."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .serial import gravity, serial_links

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

PARALLEL = "abaInParallel over a batch of states, 1 thread; no integration of the step, in Pinocchio's favour"
LOOP = "aba in a Python loop, less the cost of such a call on a single hinge; no integration of the step"
_CALLS = 2000


def build(system: System) -> Any:
    """A pinocchio.Model with the same frames, masses and inertias."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = gravity(system)
    joint = 0
    for i, link in enumerate(serial_links(system)):
        kind = pin.JointModelRZ() if link.hinge else pin.JointModelPZ()
        joint = model.addJoint(joint, kind, pin.SE3(link.R, link.p), f"joint{i + 1}")
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), pin.SE3.Identity())
    return model


class PinocchioForward:
    """Joint accelerations of a batch of states (a row each)."""

    def __init__(self, system: System, q: Array, v: Array):
        import pinocchio as pin

        self._pin = pin
        self._model = build(system)
        # A state per column, columns contiguous: what its matrices are made of, so that nothing is copied.
        self._q, self._v = np.asfortranarray(q.T), np.asfortranarray(v.T)
        self._tau = np.zeros_like(self._v, order="F")
        self._a = np.zeros_like(self._v, order="F")
        self.parallel = hasattr(pin, "abaInParallel")
        self.how = PARALLEL if self.parallel else LOOP
        if self.parallel:
            self._pool = pin.ModelPool(self._model, 1)
        else:
            self._data = self._model.createData()

    @property
    def accelerations(self) -> Array:
        """A row per state."""
        return self._a.T.copy()

    def run(self, batches: int) -> None:
        """Go through the batch that many times."""
        if self.parallel:
            for _ in range(batches):
                self._pin.abaInParallel(1, self._pool, self._q, self._v, self._tau, self._a)
            return
        for _ in range(batches):
            for i in range(self._q.shape[1]):
                self._a[:, i] = self._pin.aba(
                    self._model, self._data, self._q[:, i], self._v[:, i], self._tau[:, i]
                )

    def overhead_us(self) -> float:
        """What a figure must be reduced by: nothing, or the call from Python on a model of one hinge [µs]."""
        if self.parallel:
            return 0.0
        pin = self._pin
        model = pin.Model()
        model.appendBodyToJoint(
            model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge"),
            pin.Inertia.Random(),
            pin.SE3.Identity(),
        )
        data, zero, out = model.createData(), np.zeros((1, 1), order="F"), np.zeros((1, 1), order="F")
        began = time.perf_counter()
        for _ in range(_CALLS):
            out[:, 0] = pin.aba(model, data, zero[:, 0], zero[:, 0], zero[:, 0])
        return 1e6 * (time.perf_counter() - began) / _CALLS
