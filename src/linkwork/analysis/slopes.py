"""Slopes of the equations of motion in independent coordinates, and of what is measured of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine.coordinates.dynamics import body_pose, body_twist
from ..mechanism.kinematics import Indices
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from .field import Field
from .linear_system import LinearSystem, Port
from .mechanism import Mechanism

_STRIDE = 1e-3  # of differences of order 4: in radians, sizes of the mechanism, shares of what a value is
_CYCLIC = 1e-8  # of the largest slopes: what matters less than this does not matter
_DEPENDS = 1e-6  # of the largest slope of an output
_BODY = {"position": "m", "velocity": "m/s", "angular_velocity": "rad/s"}
_DERIVED = (("_rate", "/s"), ("_acceleration", "/s²"), ("", ""))  # of a coordinate, and what its unit gains


class Slopes:
    """Derivatives of a field by central differences of fourth order, with strides of 1e-3 of each kind of quantity:
    exact to some 1e-11 of the largest slope."""

    def __init__(self, field: Field, inputs: Sequence[str], outputs: Sequence[str] | None):
        self.field, self.inputs = field, list(inputs)
        mech = field.mech
        strides = mech.strides
        elements = [element(mech, int(r)) for r in field.owners]
        units = [column.unit for column in field.system.rates]
        self.ports = [
            *(
                Port(n, units[k].removesuffix("/s"))
                for n, k in zip(field.place_names, field.places, strict=True)
            ),
            *(Port(f"{n}_rate", units[k]) for n, k in zip(field.rate_names, field.rates, strict=True)),
            *elements,
        ]
        """Names and units of all states."""
        owned = [port.name for port in elements]
        self.outputs = self.ports if outputs is None else [self._output(name, owned) for name in outputs]
        self.sizes = np.r_[
            strides[field.places],
            strides[field.rates] * max(1.0, mech.far(field.v0)),
            [_scale(mech, int(r), value) for r, value in zip(field.owners, field.x0, strict=True)],
            np.ones(len(self.inputs)),
        ]
        self.f: int = len(field.places)
        self.p: int = len(field.rates)

    def at(self, z: Array) -> Array:
        """Derivatives of the states and outputs where states and inputs differ by z from the reference."""
        field, f, p = self.field, self.f, self.p
        mech = field.mech
        y, w = z[:f], field.v0[field.rates] + z[f : f + p]
        x = field.x0 + z[f + p : f + p + len(field.x0)]
        self._command(z[f + p + len(field.x0) :])
        q = field.pose(y)
        v = field.rates_at(q, w)
        motion = field.motion(q, v, x)
        told = [*field.drift(q, v), *motion.a[field.rates], *motion.flow]
        if self.outputs is not self.ports:
            told += [self._read(mech, port.name, q, v, motion.a, x) for port in self.outputs]
        return np.array(told)

    def matrix(self) -> tuple[Array, Array]:
        """Slopes of what `at` gives, by all states and inputs, and its value at the reference."""
        n = len(self.sizes)
        middle = self.at(np.zeros(n))
        M = np.zeros((len(middle), n))
        for i in range(n):
            for k, weight in ((1, 2 / 3), (-1, -2 / 3), (2, -1 / 12), (-2, 1 / 12)):
                z = np.zeros(n)
                z[i] = k * _STRIDE * self.sizes[i]
                M[:, i] += weight / (_STRIDE * self.sizes[i]) * self.at(z)
        self._command(np.zeros(len(self.inputs)))
        return M, middle

    def system(self, ports: Sequence[Port], *, drop_cyclic: bool) -> LinearSystem:
        """All about it."""
        field, n = self.field, len(self.ports)
        M, middle = self.matrix()
        A, B = M[:n, :n], M[:n, n:]
        C, D = (
            (np.eye(n), np.zeros((n, len(ports)))) if self.outputs is self.ports else (M[n:, :n], M[n:, n:])
        )
        keep: Indices = np.arange(n)
        outputs = list(self.outputs)
        if drop_cyclic:
            keep, T = self.without_cyclic(A)
            if self.outputs is self.ports:
                C, D, outputs = C[keep], D[keep], [outputs[k] for k in keep]
            else:
                self._refuse_cyclic(C, C[:, keep] @ T, outputs)
            A, B, C, middle = T @ A[:, keep], T @ B, C[:, keep], T @ middle[:n]
        notes = list(field.mech.system.notes)
        if len(field.mech.friction):
            joints = ", ".join(field.mech.kin.names[i].partition(":")[0] for i in field.mech.friction)
            notes.append(f"dry friction is left out ({joints})")
        return LinearSystem(
            field.system.name, A, B, C, D, [self.ports[k] for k in keep], list(ports), outputs,
            field.reference, residual=float(np.abs(middle[: len(A)]).max(initial=0.0)), notes=notes,
            scales=self.sizes[keep], coordinates=tuple(dict.fromkeys([*field.place_names, *field.rate_names])),
        )  # fmt: skip

    def _refuse_cyclic(self, C: Array, reduced: Array, outputs: Sequence[Port]) -> None:
        """Raise if an output depends on a coordinate that is dropped."""
        off = np.abs(C - reduced).max(axis=1, initial=0.0)
        wrong = np.flatnonzero(off > _DEPENDS * np.abs(C).max(axis=1, initial=1e-300))
        if len(wrong):
            name = outputs[int(wrong[0])].name
            raise LinkworkError(
                f"output '{name}' depends on a cyclic coordinate, which is dropped: leave either out"
            )

    def without_cyclic(self, A: Array) -> tuple[Indices, Array]:
        """States that stay, and how they follow from all: x = T x_all, for positions that nothing else depends on.

        These are the largest subspace of positions that the motion keeps: unobservable by rates and elements.
        """
        n, f = len(A), self.f
        sizes = self.sizes[:n]
        scaled = A / sizes[:, None] * sizes
        basis = np.eye(n)[:, :f]
        while basis.shape[1]:
            out = scaled @ basis
            out -= basis @ (basis.T @ out)
            _, s, Vt = np.linalg.svd(out)
            kept = np.r_[s, np.zeros(basis.shape[1] - len(s))] <= _CYCLIC * np.abs(scaled).max()
            if kept.all():
                break
            basis = np.linalg.qr(basis @ Vt[kept].T)[0] if kept.any() else basis[:, :0]
        count = basis.shape[1]
        dropped: list[int] = []
        rest = basis.copy()
        for _ in range(count):  # the coordinates that move most along them stand for them
            lengths = np.linalg.norm(rest, axis=1)
            k = int(np.argmax(lengths > (1.0 - 1e-6) * lengths.max()))
            dropped.append(k)
            axis = rest[k] / lengths[k]
            rest = rest - np.outer(rest @ axis, axis)
        keep = np.setdiff1d(np.arange(n), dropped)
        T = np.eye(n)[keep]
        if count:
            T[:, dropped] = -basis[keep] @ np.linalg.inv(basis[dropped])
        T[np.abs(T) < 1e-12] = 0.0
        return keep, T / sizes * sizes[keep, None]

    def _command(self, u: Array) -> None:
        field = self.field
        field.commands[:], field.pushes[:] = 0.0, 0.0
        rows = field.mech.kin.constraints.rows
        for name, value in zip(self.inputs, u, strict=True):
            if name in field.mech.drives:
                for r in field.acting:
                    if rows["input"][r] >= 0 and field.mech.drive_name(int(r)) == name:
                        field.commands[r] = value
            else:
                field.pushes[field.mech.index(name)] = value

    def _output(self, name: str, elements: Sequence[str]) -> Port:
        mech = self.field.mech
        for ending, unit in _DERIVED:
            base = name.removesuffix(ending)
            if base in mech.coordinates and (ending == "" or base != name):
                return Port(name, mech.unit(mech.index(base)) + unit)
        body, _, rest = name.rpartition(".")
        body, _, what = body.rpartition(".")
        if body in self.field.system.bodies and what in _BODY and rest in ("x", "y", "z"):
            return Port(name, _BODY[what])
        if name in elements:
            return next(port for port in self.ports if port.name == name)
        known = [f"{c}{e}" for c in mech.coordinates for e in ("", "_rate", "_acceleration")]
        known += [f"{b}.{w}.{a}" for b in self.field.system.bodies for w in _BODY for a in "xyz"]
        raise LinkworkError(f"there is no output '{name}'{nearest(name, [*known, *elements])}")

    def _read(self, mech: Mechanism, name: str, q: Array, v: Array, a: Array, x: Array) -> float:
        """An output of a state."""
        for k, port in enumerate(self.ports[self.f + self.p :]):
            if port.name == name:
                return float(x[k])
        mech.kin.place(q, v)
        for ending, _ in _DERIVED:
            base = name.removesuffix(ending)
            if base in mech.coordinates and (ending == "" or base != name):
                c = mech.index(base)
                if not ending:
                    return float(mech.values()[c])
                push = np.array([mech.pushes[c]])
                J = mech.kin.jacobian(push)[0]
                return float(J @ v) if ending == "_rate" else float(J @ a + mech.kin.bias()[push[0]])
        path, _, axis = name.rpartition(".")
        body, _, what = path.rpartition(".")
        index = self.field.system.body(body)
        (p, _), (w, u) = body_pose(mech.kin.tables, index), body_twist(mech.kin.tables, index)
        return float({"position": p, "velocity": u, "angular_velocity": w}[what]["xyz".index(axis)])


def element(mech: Mechanism, row: int) -> Port:
    """The state of an element: its name and unit."""
    name = mech.kin.names[row].partition(":")[0]
    law = mech.drives[name].law if name in mech.drives else None
    if law is None or not law.state:
        return Port(f"{name}.state", "1")
    unit = mech.row_force_unit(row) if law.state[1] == "force" else law.state[1]
    return Port(f"{name}.{law.state[0]}", unit)


def _scale(mech: Mechanism, row: int, value: float) -> float:
    """A change of an element's state that matters."""
    return max(1.0, abs(value), float(np.sqrt(abs(mech.kin.constraints.rows["value"][row]).max(initial=0.0))))
