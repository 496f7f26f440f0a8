"""`linkwork.Dynamics`: what a mechanism does, as functions of arrays."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..engine.functions import compute as ask
from ..engine.functions import slopes as ask_slopes
from ..engine.kernels.record import new_record
from ..model import Model
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array, matrix, rotation_vectors
from .arrays import Shape, given, leading, room_for
from .mechanism import mechanism_of

Vector3 = Sequence[float] | Array
_ORIGIN, _START = (0.0, 0.0, 0.0), 0.0
_NOWHERE = (0, np.zeros(3))
_CLOSED = 1e-10  # gaps that count as closed [m or rad]


class Derivatives(NamedTuple):
    """Derivatives of accelerations or generalised forces, (..., nv, nv) each: rows are what changes."""

    by_q: Array
    """By displacements of coordinates, numbered like rates."""
    by_v: Array
    """By rates."""
    by_force: Array
    """By generalised forces (of `forward`) or accelerations (of `inverse`)."""


class Dynamics:
    """A mechanism's dynamics as functions of arrays: kinematics, forces, constraints, energies.

    With coordinates q, rates v, accelerations a (derivatives of v), generalised forces τ, states of elements x,
    commands of drives u and the time t [s],

        H(q) a + h(q, v) = τ + Q(q, v, x, u, t) + Jᵀ(q) λ,      J a = w(q, v, u, t)

    H is the `mass_matrix`, h the `bias` of velocities and gravity, Q what springs, dampers, loads and drives of the
    model do (`applied`), and J (`constraint_jacobian`) the equations of joints that close loops, of couplings, and of
    servos that keep a rate. Open mechanisms have no such rows. Loops are cut where `Simulation` cuts them; q and v are
    the coordinates and rates of the joints in the tree, in the order of `coordinates` and `rates`. Orientations of
    balls are unit quaternions (w, x, y, z), so that q may be longer than v.

    Every function takes one state, or arrays of them: any leading axes, which all arguments share that are not a single
    state. Results have the same leading axes; `out` takes an array for them. An array of states is gone through in
    compiled code that lets other threads run; one object must not be used by two threads at once.

    Limits, dry friction, contact, sampled controllers, servos of limited strength and joints that come and go do what
    depends on more than the state: a model with any is refused, unless told to be taken `without` them. Joints then
    stay attached or not as they start, and sampled controllers at what they hold at the start.
    """

    def __init__(self, model: Model | Compiled, *, without: Collection[str] = ()):
        self._mechanism = made = mechanism_of(model, without)
        system = made.system
        self.system = system
        """The compiled model."""
        self.coordinates = tuple(column.name for column in system.coordinates)
        """Names of the numbers in q, such as `pivot.angle`."""
        self.rates = tuple(column.name for column in system.rates)
        """Names of the numbers in v, such as `pivot.angle_rate`; τ and a are numbered alike."""
        table = system.rows
        self.inputs = () if table is None else table.drives
        """Names of drives, whose commands are the numbers in u."""
        self.states = made.states
        """Names of the continuous states of elements in x."""
        self.constraints = made.names
        """Names of the rows of J."""
        self.bodies = system.bodies
        """Names of bodies, in the order of `poses` and `twists`."""
        self.units = {column.name: column.unit for column in (*system.coordinates, *system.rates)}
        """Units of coordinates and rates."""
        self.nq, self.nv = system.nq, system.nv
        self.nx, self.nu, self.nc = len(made.x), len(made.u), len(made.names)
        self.q0, self.v0, self.x0, self.u0 = (_fixed(part) for part in (made.q, made.v, made.x, made.u))
        """How the model starts, its loops closed: coordinates, rates, states of elements, commands."""
        self._zeros = _fixed(np.zeros(self.nv))
        self._rows, self._equations = made.rows, made.equations
        self._usual = {
            "q": np.array(made.q), "v": np.zeros(self.nv), "force": np.zeros(self.nv),
            "x": np.array(made.x), "u": np.array(made.u), "t": np.zeros(1),
        }  # fmt: skip
        self._asked: Any = new_record(ask.ASKED)
        self._asked["nq"], self._asked["nv"], self._asked["nx"], self._asked["nu"] = (
            self.nq, self.nv, self.nx, self.nu,
        )  # fmt: skip
        self._places: dict[str, tuple[int, Array, Array]] = {}
        for index, name in enumerate(system.bodies):
            self._places[name] = index, np.zeros(3), np.eye(3)
        for mark in system.markers:
            if mark.body >= 0:
                self._places.setdefault(mark.name, (mark.body, mark.at, matrix(mark.rotation)))

    # --- where things are and how they move ---

    def poses(self, q: Any) -> tuple[Array, Array]:
        """Positions of all bodies [m], (..., bodies, 3), and rotation matrices, (..., bodies, 3, 3), in the world."""
        q, count = self._q(q), len(self.bodies)
        return self._two(ask.POSES, (count, 3), (count, 3, 3), q=q)

    def pose(self, q: Any, body: str, at: Vector3 = _ORIGIN) -> tuple[Array, Array]:
        """Position of a point of a body or marker [m], (..., 3), and its rotation matrix, (..., 3, 3), in the world.

        `at` is in the frame of the body or marker [m].
        """
        p, R = self._two(ask.POSE, (3,), (3, 3), q=self._q(q), body=self._place(body, at))
        turned = self._places[body][2]
        return p, R if (turned == np.eye(3)).all() else R @ turned

    def twists(self, q: Any, v: Any, *, out: Array | None = None) -> Array:
        """Angular velocity [rad/s] and velocity of the origin [m/s] of all bodies, world axes: (..., bodies, 6)."""
        return self._one(ask.TWISTS, (len(self.bodies), 6), out, q=self._q(q), v=self._v(v))

    def jacobian(self, q: Any, body: str, at: Vector3 = _ORIGIN, *, out: Array | None = None) -> Array:
        """How rates make the angular velocity of a body or marker, and the velocity of its point `at`: (..., 6, nv).

        World axes; the angular velocity comes first.
        """
        return self._one(ask.JACOBIAN, (6, self.nv), out, q=self._q(q), body=self._place(body, at))

    def jacobian_drift(
        self, q: Any, v: Any, body: str, at: Vector3 = _ORIGIN, *, out: Array | None = None
    ) -> Array:
        """J̇ v of that Jacobian, (..., 6): angular acceleration [rad/s²] and acceleration of the point [m/s²], world
        axes, while no joint accelerates."""
        return self._one(ask.DRIFT, (6,), out, q=self._q(q), v=self._v(v), body=self._place(body, at))

    def centre_of_mass(self, q: Any, *, out: Array | None = None) -> Array:
        """Common centre of mass of all bodies [m]: (..., 3)."""
        return self._one(ask.CENTRE, (3,), out, q=self._q(q))

    def centre_of_mass_jacobian(self, q: Any, *, out: Array | None = None) -> Array:
        """How rates move the common centre of mass: (..., 3, nv)."""
        return self._one(ask.CENTRE_JACOBIAN, (3, self.nv), out, q=self._q(q))

    def momentum(self, q: Any, v: Any, *, out: Array | None = None) -> Array:
        """Angular momentum about the world's origin [N m s] and linear momentum [N s]: (..., 6)."""
        return self._one(ask.MOMENTUM, (6,), out, q=self._q(q), v=self._v(v))

    def energies(self, q: Any, v: Any, x: Any = None, u: Any = None, t: Any = _START) -> Array:
        """Kinetic energy, potential of gravity (zero at the world's origin) and of springs [J]: (..., 3)."""
        return self._one(ask.ENERGIES, (3,), None, q=self._q(q), v=self._v(v), **self._told(x, u, t))

    def move(self, q: Any, displacement: Any) -> Array:
        """q ⊕ displacement: coordinates after a displacement, numbered like rates [rad, m]; quaternions stay unit."""
        return self._one(
            ask.MOVED,
            (self.nq,),
            None,
            q=self._q(q),
            force=given("displacement", displacement, self.nv, self.rates),
        )

    def difference(self, start: Any, end: Any) -> Array:
        """The displacement that takes one q to another, numbered like rates: the inverse of `move`."""
        a, b = self._q(start), self._q(end)
        a, b = np.broadcast_arrays(a, b)
        delta = np.empty((*a.shape[:-1], self.nv))
        dofs = self.system.tables.dofs[1:]
        single = dofs["motion"] == 0
        delta[..., dofs["v"][single]] = b[..., dofs["q"][single]] - a[..., dofs["q"][single]]
        for ball in dofs[dofs["motion"] == 1]:
            i, k = int(ball["q"]), int(ball["v"])
            w, n, W, N = a[..., i], a[..., i + 1 : i + 4], b[..., i], b[..., i + 1 : i + 4]
            real = w * W + (n * N).sum(-1)
            axis = w[..., None] * N - W[..., None] * n - np.cross(n, N)
            turn = np.concatenate([real[..., None], axis], -1).reshape(-1, 4)
            delta[..., k : k + 3] = rotation_vectors(turn).reshape(*a.shape[:-1], 3)
        return delta

    # --- forces ---

    def mass_matrix(self, q: Any, *, out: Array | None = None) -> Array:
        """H(q), rotors included: (..., nv, nv) [kg, kg m, kg m²]."""
        return self._one(ask.INERTIA, (self.nv, self.nv), out, q=self._q(q))

    def bias(self, q: Any, v: Any, *, out: Array | None = None) -> Array:
        """h(q, v): generalised forces of velocities and gravity, to be overcome, [N m, N]: (..., nv)."""
        return self._one(ask.BIAS, (self.nv,), out, q=self._q(q), v=self._v(v))

    def gravity(self, q: Any, *, out: Array | None = None) -> Array:
        """h(q, 0): generalised forces that hold the mechanism against gravity [N m, N]: (..., nv)."""
        return self.bias(q, self._zeros, out=out)

    def applied(self, q: Any, v: Any, x: Any = None, u: Any = None, t: Any = _START) -> Array:
        """Q: generalised forces of the model's springs, dampers, loads and drives [N m, N]: (..., nv).

        Without what goes into the inertia of rotors.
        """
        return self.bias(q, v) - self.inverse(q, v, self._zeros, x, u, t)

    def forward(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        x: Any = None,
        u: Any = None,
        t: Any = _START,
        *,
        out: Array | None = None,
    ) -> Array:
        """Forward dynamics: accelerations a [rad/s², m/s²], (..., nv), under τ [N m, N], what the model applies, and
        the loops.

        τ is zero if not given, x and u are as the model starts. Equations that follow from others are harmless.
        """
        return self._one(ask.FORWARD, (self.nv,), out, more=self._rows, **self._motion(q, v, tau, x, u, t))

    def constraint_forces(
        self, q: Any, v: Any, tau: Any = None, x: Any = None, u: Any = None, t: Any = _START
    ) -> Array:
        """λ of the same motion [N, N m]: (..., constraints). Of equations that follow from others, zero."""
        made = self._two(ask.FORWARD, (self.nv,), (self._rows,), **self._motion(q, v, tau, x, u, t))
        return made[1][..., self._equations]

    def inverse(
        self,
        q: Any,
        v: Any,
        a: Any,
        x: Any = None,
        u: Any = None,
        t: Any = _START,
        *,
        out: Array | None = None,
    ) -> Array:
        """Inverse dynamics: H a + h - Q, the generalised forces [N m, N] that cause accelerations: (..., nv).

        With loops this is what joints of the tree and the loops supply together: `actuate` shares it out.
        """
        a = given("a", a, self.nv, self.rates)
        return self._one(
            ask.INVERSE, (self.nv,), out, q=self._q(q), v=self._v(v), force=a, **self._told(x, u, t)
        )

    def state_rates(self, q: Any, v: Any, x: Any = None, u: Any = None, t: Any = _START) -> Array:
        """Derivatives of the states of elements: (..., nx)."""
        return self._one(ask.FLOW, (self.nx,), None, q=self._q(q), v=self._v(v), **self._told(x, u, t))

    def forward_derivatives(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        x: Any = None,
        u: Any = None,
        t: Any = _START,
        *,
        out: Array | None = None,
    ) -> Derivatives:
        """Derivatives of `forward` by displacements of q (see `move`), v and τ: (..., nv, nv) each.

        With loops, of motions on them: gaps are not corrected, and the third is singular: it leaves out what the loops
        take. `out` (..., 3, nv, nv) takes all three.
        """
        return self._slopes(ask_slopes.FORWARD, out, self._motion(q, v, tau, x, u, t))

    def inverse_derivatives(
        self,
        q: Any,
        v: Any,
        a: Any,
        x: Any = None,
        u: Any = None,
        t: Any = _START,
        *,
        out: Array | None = None,
    ) -> Derivatives:
        """Derivatives of `inverse` by displacements of q (see `move`), v and a: (..., nv, nv) each; the last is H.

        `out` (..., 3, nv, nv) takes all three.
        """
        a = given("a", a, self.nv, self.rates)
        inputs = {"q": self._q(q), "v": self._v(v), "force": a, **self._told(x, u, t)}
        return self._slopes(ask_slopes.INVERSE, out, inputs)

    # --- constraints ---

    def constraint_gaps(self, q: Any, *, out: Array | None = None) -> Array:
        """How far each equation is from zero [m, rad]: (..., constraints); zero for servos that keep a rate."""
        return self._one(ask.GAPS, (self.nc,), out, q=self._q(q))

    def constraint_jacobian(self, q: Any, *, out: Array | None = None) -> Array:
        """J(q): (..., constraints, nv)."""
        return self._one(ask.ROWS, (self.nc, self.nv), out, q=self._q(q))

    def constraint_rates(
        self, q: Any, v: Any, u: Any = None, t: Any = _START, *, out: Array | None = None
    ) -> Array:
        """J v, less the rates that servos are told: zero for a motion that is allowed [m/s, rad/s]."""
        return self._one(ask.RATES, (self.nc,), out, q=self._q(q), v=self._v(v), **self._told(None, u, t))

    def constraint_accelerations(
        self, q: Any, v: Any, u: Any = None, t: Any = _START, *, out: Array | None = None
    ) -> Array:
        """w: what J a must be, -J̇ v but for servos [m/s², rad/s²]."""
        return self._one(ask.WANTS, (self.nc,), out, q=self._q(q), v=self._v(v), **self._told(None, u, t))

    def project(self, q: Any, v: Any = None, u: Any = None, t: Any = _START) -> tuple[Array, Array]:
        """The nearest q and v, in the metric of inertia, with all loops closed and rates that they allow.

        v is zero if not given. Raises where loops cannot be closed from there.
        """
        inputs = {"q": self._q(q), "v": self._v(self._zeros if v is None else v), **self._told(None, u, t)}
        axes = leading(inputs)
        if not self.nc:
            return _spread(inputs["q"], axes), _spread(inputs["v"], axes)
        inputs["force"] = np.zeros((*axes, self.nv))
        q, v = self._two(ask.PROJECT, (self.nq,), (self.nv,), **inputs)
        gaps = np.abs(self.constraint_gaps(q))
        if not (gaps < _CLOSED).all():
            gaps = np.where(np.isfinite(gaps), gaps, np.inf)
            *state, row = (int(i) for i in np.unravel_index(np.argmax(gaps), gaps.shape))
            where = f" of state {tuple(state)}" if state else ""
            raise LinkworkError(
                f"'{self.constraints[row]}'{where} stays open by {gaps.max():.3g}: "
                "from there the loops cannot be closed"
            )
        return q, v

    # --- how arrays reach the kernel ---

    def _q(self, q: Any) -> Array:
        return given("q", q, self.nq, self.coordinates)

    def _v(self, v: Any) -> Array:
        return given("v", v, self.nv, self.rates)

    def _told(self, x: Any, u: Any, t: Any) -> dict[str, Any]:
        """States of elements, commands and times, as far as they are given."""
        found: dict[str, Any] = {}
        if x is not None:
            found["x"] = given("x", x, self.nx, self.states)
        if u is not None:
            found["u"] = given("u", u, self.nu, self.inputs)
        if t is not _START:
            found["t"] = given("t", np.expand_dims(t, -1), 1, ())
        return found

    def _motion(self, q: Any, v: Any, tau: Any, x: Any, u: Any, t: Any) -> dict[str, Any]:
        force = {} if tau is None else {"force": given("tau", tau, self.nv, self.rates)}
        return {"q": self._q(q), "v": self._v(v), **force, **self._told(x, u, t)}

    def _place(self, body: str, at: Vector3) -> tuple[int, Array]:
        """Index of a body or marker, and a point of it in the frame of the body [m]."""
        try:
            index, origin, turned = self._places[body]
        except KeyError:
            raise LinkworkError(
                f"there is no body or marker '{body}'{nearest(body, list(self._places))}"
            ) from None
        if at is _ORIGIN:
            return index, origin
        point = given("at", at, 3, ("x", "y", "z"))
        return index, origin + turned @ point

    def _one(self, what: int, shape: Shape, out: Array | None, more: int = 0, **inputs: Any) -> Array:
        """One result."""
        body = inputs.pop("body", _NOWHERE)
        axes = leading(inputs)
        result = room_for(out, (*axes, *shape))
        self._compute(what, body, inputs, result, np.empty((*axes, more)), len(shape))
        return result

    def _two(self, what: int, shape: Shape, more: Shape, **inputs: Any) -> tuple[Array, Array]:
        """Two results."""
        body = inputs.pop("body", _NOWHERE)
        axes = leading(inputs)
        first, second = np.empty((*axes, *shape)), np.empty((*axes, *more))
        self._compute(what, body, inputs, first, second, len(shape))
        return first, second

    def _slopes(self, what: int, out: Array | None, inputs: dict[str, Array]) -> Derivatives:
        """Derivatives by coordinates, rates, and forces or accelerations."""
        axes, made = leading(inputs), self._mechanism
        result = room_for(out, (*axes, 3, self.nv, self.nv))
        room, slopes = made.scratch_for_slopes
        self._asked["what"], self._asked["count"] = what, math.prod(axes)
        ask_slopes.differentiate(
            made.tables, made.constraints, room, slopes, self._asked, self._inputs(inputs), result.reshape(-1)
        )
        return Derivatives(result[..., 0, :, :], result[..., 1, :, :], result[..., 2, :, :])

    def _inputs(self, given: dict[str, Array]) -> ask.Inputs:
        """What the kernel is told, flat."""
        return ask.Inputs(**{**self._usual, **{name: array.reshape(-1) for name, array in given.items()}})

    def _compute(
        self, what: int, body: tuple[int, Array], inputs: dict[str, Array], out: Array, more: Array, dims: int
    ) -> None:
        """Call the kernel; `dims` is how many axes of `out` a single state has."""
        asked, made = self._asked, self._mechanism
        asked["what"], asked["count"] = what, math.prod(out.shape[: out.ndim - dims])
        asked["body"], asked["at"] = body
        asked["width"], asked["more"] = (
            math.prod(out.shape[out.ndim - dims :]),
            more.size // max(asked["count"], 1),
        )
        ask.compute(
            made.tables, made.constraints, made.room, asked,
            self._inputs(inputs), out.reshape(-1), more.reshape(-1),
        )  # fmt: skip


def _fixed(array: Array) -> Array:
    """A copy that nobody changes."""
    array = np.array(array)
    array.flags.writeable = False
    return array


def _spread(array: Array, axes: Shape) -> Array:
    """A copy with these leading axes."""
    return np.array(np.broadcast_to(array, (*axes, array.shape[-1])))
