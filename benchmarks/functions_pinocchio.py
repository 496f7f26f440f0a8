"""Functions of an open chain's state in Pinocchio: a batch, and one state from Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .peer_pinocchio import build

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

HOW = (
    "abaInParallel and rneaInParallel over the batch, one thread: its own loop in C++; of crba and "
    "computeJointJacobian, which have none, a loop in Python less the time of the same calls on a single hinge"
)
HOW_SINGLE = "aba, rnea, crba, computeJointJacobian from Python"
_CALLS = 2000


class PinocchioFunctions:
    """Forward and inverse dynamics, mass matrix and Jacobian of the last body."""

    def __init__(self, system: System, q: Array, v: Array, a: Array):
        import pinocchio as pin

        self.pin, self.model = pin, build(system)
        self.data = self.model.createData()
        self.states = q, v, a
        # A state per column, columns contiguous: what its matrices are made of, so that nothing is copied.
        self._columns = tuple(np.asfortranarray(part.T) for part in (q, v, a))
        self._tau = np.zeros_like(self._columns[1], order="F")
        self.out = np.zeros_like(self._columns[1], order="F")
        self._pool = pin.ModelPool(self.model, 1)

    def batch(self, what: str) -> None:
        """A batch."""
        pin, (q, v, a) = self.pin, self._columns
        if what == "forward":
            pin.abaInParallel(1, self._pool, q, v, self._tau, self.out)
        elif what == "inverse":
            pin.rneaInParallel(1, self._pool, q, v, a, self.out)
        else:
            call = self._call(what, self.model, self.data)
            for i in range(q.shape[1]):
                call(q[:, i])

    def overhead_us(self, what: str) -> float:
        """By how much the figure of a batch must be reduced per state [µs]."""
        if what in ("forward", "inverse"):
            return 0.0
        pin = self.pin
        model = pin.Model()
        joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        call, q = self._call(what, model, model.createData()), np.zeros((1, _CALLS), order="F")
        best = np.inf
        for _ in range(5):
            began = time.process_time()
            for i in range(_CALLS):
                call(q[:, i])
            best = min(best, time.process_time() - began)
        return 1e6 * best / _CALLS

    def _call(self, what: str, model: Any, data: Any) -> Callable[[Array], Any]:
        """The mass matrix or the Jacobian of coordinates."""
        pin = self.pin
        if what == "mass matrix":
            return lambda q: pin.crba(model, data, q)
        last = model.njoints - 1
        return lambda q: pin.computeJointJacobian(model, data, q, last)

    def single(self, what: str) -> Callable[[], object]:
        """A function of the first state, from Python."""
        pin, model, data = self.pin, self.model, self.data
        q, v, a = (part[0].copy() for part in self.states)
        zero = np.zeros(model.nv)
        if what == "forward":
            return lambda: pin.aba(model, data, q, v, zero)
        if what == "inverse":
            return lambda: pin.rnea(model, data, q, v, a)
        call = self._call(what, model, data)
        return lambda: call(q)
