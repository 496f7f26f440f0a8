"""`linkwork.Dynamics`: what a mechanism does, as functions of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.functions import compute as ask
from ..engine.functions import slopes as ask_slopes
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from .arrays import Shape, given, leading, room_for
from .functions import NOTHING, START, Derivatives, Pair, empty
from .kinematics import Kinematics

_CLOSED = 1e-10  # gaps that count as closed [m or rad]
_FOLLOWS = 1e-9  # share of the largest below which what is left of an equation follows from others


class Dynamics(Kinematics):
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

    # --- forces ---

    # What controllers ask for most is asked for here at once where one state goes in and a new array comes out: each
    # call of Python's costs 50 ns, a fifth of what is computed.

    def mass_matrix(self, q: Any, *, out: Array | None = None) -> Array:
        """H(q), rotors included: (..., nv, nv) [kg, kg m, kg m²]."""
        one = self._single
        if out is None and one.ask(
            one.told, ask.INERTIA, q, None, None, None, None, START, made := empty(self._square), NOTHING
        ):
            return made
        return self._one(ask.INERTIA, (self.nv, self.nv), out, q)

    def bias(self, q: Any, v: Any, *, out: Array | None = None) -> Array:
        """h(q, v): generalised forces of velocities and gravity, to be overcome, [N m, N]: (..., nv)."""
        one = self._single
        if out is None and one.ask(
            one.told, ask.BIAS, q, v, None, None, None, START, made := empty(self.nv), NOTHING
        ):
            return made
        return self._one(ask.BIAS, (self.nv,), out, q, v)

    def gravity(self, q: Any, *, out: Array | None = None) -> Array:
        """h(q, 0): generalised forces that hold the mechanism against gravity [N m, N]: (..., nv)."""
        return self.bias(q, self._zeros, out=out)

    def applied(
        self, q: Any, v: Any, x: Any = None, u: Any = None, t: Any = START, *, out: Array | None = None
    ) -> Array:
        """Q: generalised forces of the model's springs, dampers, loads and drives [N m, N]: (..., nv).

        Without what goes into the inertia of rotors.
        """
        forces = self.inverse(q, v, self._zeros, x, u, t, out=out)
        return np.subtract(self.bias(q, v), forces, out=forces)

    def forward(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        x: Any = None,
        u: Any = None,
        t: Any = START,
        *,
        out: Array | None = None,
    ) -> Array:
        """Forward dynamics: accelerations a [rad/s², m/s²], (..., nv), under τ [N m, N], what the model applies, and
        the loops.

        τ is zero if not given, x and u are as the model starts. Equations that follow from others are harmless.
        """
        one = self._single
        if out is None and one.ask(
            one.told, ask.FORWARD, q, v, tau, x, u, t, made := empty(self.nv), self._spare
        ):
            return made
        return self._one(ask.FORWARD, (self.nv,), out, q, v, tau, x, u, t, "tau", self._spare)

    def constraint_forces(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        x: Any = None,
        u: Any = None,
        t: Any = START,
        *,
        out: Array | None = None,
    ) -> Array:
        """λ of the same motion [N, N m]: (..., constraints). Of equations that follow from others, zero."""
        made = self._two(ask.FORWARD, (self.nv,), (self._rows,), q, v, tau, x, u, t, name="tau")
        found = room_for(out, (*made[1].shape[:-1], self.nc))
        found[...] = made[1][..., self._equations]
        return found

    def inverse(
        self,
        q: Any,
        v: Any,
        a: Any,
        x: Any = None,
        u: Any = None,
        t: Any = START,
        *,
        out: Array | None = None,
    ) -> Array:
        """Inverse dynamics: H a + h - Q, the generalised forces [N m, N] that cause accelerations: (..., nv).

        With loops this is what joints of the tree and the loops supply together: `actuate` shares it out.
        """
        one = self._single
        if out is None and one.ask(one.told, ask.INVERSE, q, v, a, x, u, t, made := empty(self.nv), NOTHING):
            return made
        return self._one(ask.INVERSE, (self.nv,), out, q, v, a, x, u, t, "a")

    def actuate(self, q: Any, tau: Any, by: Sequence[str], *, out: Array | None = None) -> Array:
        """Forces along some coordinates of the tree alone that move a mechanism with loops as τ does [N m, N]:
        (..., names).

        `by` names coordinates or rates. What τ does against the loops is left to them; of more names than freedoms the
        smallest forces are given. Raises if no forces along these can do it.
        """
        columns = [self._column(name) for name in by]
        wanted = given("tau", tau, self.nv, self.rates)
        J = self.constraint_jacobian(q)
        moves = np.eye(self.nv) - np.linalg.pinv(J, rcond=_FOLLOWS) @ J
        B = moves[..., columns]
        felt = moves @ wanted[..., None]
        made = np.linalg.pinv(B, rcond=_FOLLOWS) @ felt
        left = np.abs(felt - B @ made).max(initial=0.0)
        if left > _FOLLOWS * np.abs(felt).max(initial=0.0):
            raise LinkworkError(
                f"forces along {', '.join(by) or 'nothing'} cannot do what tau does: {left:.3g} N or N m of it remain; "
                "name as many independent coordinates as there are freedoms"
            )
        found = room_for(out, made.shape[:-1])
        found[...] = made[..., 0]
        return found

    def _column(self, name: str) -> int:
        """The number of a rate, or of a coordinate's rate."""
        for rate in (name, f"{name}_rate"):
            if rate in self.rates:
                return self.rates.index(rate)
        known = [*self.coordinates, *self.rates]
        raise LinkworkError(f"there is no coordinate or rate '{name}' in the tree{nearest(name, known)}")

    # --- reactions ---

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of joints, in the order of `reactions`."""
        return self._mechanism.reactions.joints

    def reactions(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        x: Any = None,
        u: Any = None,
        t: Any = START,
        *,
        out: Pair | None = None,
    ) -> Pair:
        """Forces [N] and torques [N m] in all joints in the motion that `forward` gives: (..., joints, 3) each.

        Of a on b, in world axes, at b's joint frame (a's, if the tree leads from b to a), with all that springs, drives
        and τ transmit along a joint. Where bodies do not determine them, the smallest. `out` is an array for each.
        """
        made = self._mechanism.reactions
        inputs = self._state(q, v, ("tau", tau), x, u, t)
        axes = leading(inputs)
        count = math.prod(axes)
        a, rows = self._two(ask.FORWARD, (self.nv,), (self._rows,), q, v, tau, x, u, t, name="tau")

        def each(name: str) -> Array:
            array = inputs.get(name, self._usual[name])
            return np.broadcast_to(array, (*axes, array.shape[-1])).reshape(count, array.shape[-1])

        told = made.of(
            each("t")[:, 0],
            each("q"),
            each("v"),
            a.reshape(count, self.nv),
            rows.reshape(count, self._rows),
            each("force"),
        )
        shape = (*axes, len(made.joints), 3)
        forces, torques = (room_for(array, shape) for array in out or (None, None))
        forces[...], torques[...] = (part.reshape(shape) for part in told)
        return forces, torques

    def state_rates(
        self, q: Any, v: Any, x: Any = None, u: Any = None, t: Any = START, *, out: Array | None = None
    ) -> Array:
        """Derivatives of the states of elements: (..., nx)."""
        return self._one(ask.FLOW, (self.nx,), out, q, v, None, x, u, t)

    def forward_derivatives(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        x: Any = None,
        u: Any = None,
        t: Any = START,
        *,
        out: Array | None = None,
    ) -> Derivatives:
        """Derivatives of `forward` by displacements of q (see `move`), v and τ: (..., nv, nv) each.

        With loops, of motions on them: gaps are not corrected, and the third is singular: it leaves out what the loops
        take. `out` (..., 3, nv, nv) takes all three.
        """
        return self._slopes(ask_slopes.FORWARD, out, q, v, tau, x, u, t, name="tau")

    def inverse_derivatives(
        self,
        q: Any,
        v: Any,
        a: Any,
        x: Any = None,
        u: Any = None,
        t: Any = START,
        *,
        out: Array | None = None,
    ) -> Derivatives:
        """Derivatives of `inverse` by displacements of q (see `move`), v and a: (..., nv, nv) each; the last is H.

        `out` (..., 3, nv, nv) takes all three.
        """
        return self._slopes(ask_slopes.INVERSE, out, q, v, a, x, u, t, name="a")

    # --- constraints ---

    def constraint_gaps(self, q: Any, *, out: Array | None = None) -> Array:
        """How far each equation is from zero [m, rad]: (..., constraints); zero for servos that keep a rate."""
        return self._one(ask.GAPS, (self.nc,), out, q)

    def constraint_jacobian(self, q: Any, *, out: Array | None = None) -> Array:
        """J(q): (..., constraints, nv)."""
        return self._one(ask.ROWS, (self.nc, self.nv), out, q)

    def constraint_rates(
        self, q: Any, v: Any, u: Any = None, t: Any = START, *, out: Array | None = None
    ) -> Array:
        """J v, less the rates that servos are told: zero for a motion that is allowed [m/s, rad/s]."""
        return self._one(ask.RATES, (self.nc,), out, q, v, None, None, u, t)

    def constraint_accelerations(
        self, q: Any, v: Any, u: Any = None, t: Any = START, *, out: Array | None = None
    ) -> Array:
        """w: what J a must be, -J̇ v but for servos [m/s², rad/s²]."""
        return self._one(ask.WANTS, (self.nc,), out, q, v, None, None, u, t)

    def project(
        self, q: Any, v: Any = None, u: Any = None, t: Any = START, *, out: Pair | None = None
    ) -> Pair:
        """The nearest q and v, in the metric of inertia, with all loops closed and rates that they allow.

        v is zero if not given; `out` is an array for each. Raises where loops cannot be closed from there.
        """
        v = self._zeros if v is None else v
        inputs = self._state(q, v, ("", None), None, u, t)
        axes = leading(inputs)
        if not self.nc:
            to_q, to_v = out or (None, None)
            return _spread(inputs["q"], axes, to_q), _spread(inputs["v"], axes, to_v)
        scratch = np.zeros((*axes, self.nv))
        q, v = self._two(ask.PROJECT, (self.nq,), (self.nv,), q, v, scratch, None, u, t, out=out)
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


def _spread(array: Array, axes: Shape, out: Array | None) -> Array:
    """A copy with these leading axes."""
    found = room_for(out, (*axes, array.shape[-1]))
    found[...] = array
    return found
