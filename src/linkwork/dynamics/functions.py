"""How functions of a state reach compiled code: names, checks, places on bodies, one state or arrays of states."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..engine.functions import compute as ask
from ..engine.functions import slopes as ask_slopes
from ..engine.functions.lockstep import compute_lanes
from ..engine.kernels.jit import compiled
from ..engine.kernels.lanes import LANES
from ..engine.kernels.record import new_record
from ..engine.kernels.steady import slots
from ..model import Model
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array, matrix
from .arrays import Shape, fits, given, leading, room_for
from .mechanism import mechanism_of
from .single import Single

Vector3 = Sequence[float] | Array
Pair = tuple[Array, Array]
ORIGIN, START = (0.0, 0.0, 0.0), 0.0
NOTHING = np.empty(0)
empty = np.empty
_LOCKSTEP = (
    4 * LANES
)  # states from which on several are gone through at a time: fewer are not worth compiling it
_REMEMBERED = 1000  # points of bodies that were asked for


class Derivatives(NamedTuple):
    """Derivatives of accelerations or generalised forces, (..., nv, nv) each: rows are what changes."""

    by_q: Array
    """By displacements of coordinates, numbered like rates."""
    by_v: Array
    """By rates."""
    by_force: Array
    """By generalised forces (of `forward`) or accelerations (of `inverse`)."""


class Place(NamedTuple):
    """A point of a body, and axes there."""

    body: int
    at: tuple[float, ...]
    """In the frame of the body [m]."""
    axes: Array | None
    """Their rotation against the body's; None for the same."""


class Functions:
    """A mechanism whose state can be asked for functions; see `Dynamics`."""

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
        self._single = Single(made, self._asked, self._usual)
        self._single_slopes = Single(made, self._asked, self._usual, slopes=True)
        self._spare, self._square, self._wide = np.empty(self._rows), (self.nv, self.nv), (6, self.nv)
        asked = np.asarray(self._asked)
        self._body, self._at = slots(asked["body"].reshape(1)), slots(asked["at"])
        self._looked: Place | None = None
        self._looked_at: str | None = None
        """The body or marker at whose origin was looked last."""
        self._points: dict[tuple[str, Vector3], Place] = {}
        self._places: dict[str, Place] = {}
        for index, name in enumerate(system.bodies):
            self._places[name] = Place(index, ORIGIN, None)
        for mark in system.markers:
            if mark.body >= 0:
                at, turned = tuple(map(float, mark.at)), matrix(mark.rotation)
                straight = bool((turned == np.eye(3)).all())
                self._places.setdefault(mark.name, Place(mark.body, at, None if straight else turned))

    # --- what users give ---

    def _q(self, q: Any) -> Array:
        return given("q", q, self.nq, self.coordinates)

    def _v(self, v: Any) -> Array:
        return given("v", v, self.nv, self.rates)

    def _state(
        self, q: Any, v: Any, force: tuple[str, Any], x: Any = None, u: Any = None, t: Any = START
    ) -> dict[str, Array]:
        """All of a state that is given, checked; `force` with the name that errors call it."""
        found = {"q": self._q(q)}
        if v is not None:
            found["v"] = self._v(v)
        if force[1] is not None:
            found["force"] = given(*force, self.nv, self.rates)
        if x is not None:
            found["x"] = given("x", x, self.nx, self.states)
        if u is not None:
            found["u"] = given("u", u, self.nu, self.inputs)
        if t is not START:
            found["t"] = given("t", np.expand_dims(t, -1), 1, ())
        return found

    def _place(self, body: str, at: Vector3) -> Place:
        """A point of a body or marker; `at` is in its frame [m]."""
        place = self._places.get(body)
        if place is None:
            raise LinkworkError(f"there is no body or marker '{body}'{nearest(body, list(self._places))}")
        if at is ORIGIN:
            return place
        key = (body, tuple(at)) if isinstance(at, list | np.ndarray) else (body, at)
        if (known := self._points.get(key)) is not None:
            return known
        point = given("at", at, 3, ("x", "y", "z"))
        moved = np.array(place.at) + (point if place.axes is None else place.axes @ point)
        found = Place(place.body, tuple(moved.tolist()), place.axes)
        if len(self._points) < _REMEMBERED:
            self._points[key] = found
        return found

    def _look_at(self, body: str, at: Vector3) -> Place:
        """Let the next function be of this point."""
        place = self._places.get(body) if at is ORIGIN else None
        if place is None:
            place = self._place(body, at)
        self._looked_at = body if at is ORIGIN else None
        if place is not self._looked:
            self._looked = place
            self._body[0] = place.body
            self._at[0], self._at[1], self._at[2] = place.at
        return place

    # --- and what they get ---

    def _one(
        self, what: int, shape: Shape, out: Array | None, q: Any, v: Any = None, force: Any = None, x: Any = None,
        u: Any = None, t: Any = START, name: str = "force", spare: Array = NOTHING,
    ) -> Array:  # fmt: skip
        """One result; `name`: what errors call the force; `spare`: for a second result that nobody wants."""
        if out is None or fits(out, shape):
            result = empty(shape) if out is None else out
            single = self._single
            if single.ask(single.told, what, q, v, force, x, u, t, result, spare):
                return result
        inputs = self._state(q, v, (name, force), x, u, t)
        axes = leading(inputs)
        result = room_for(out, (*axes, *shape))
        self._compute(what, inputs, result, np.empty((*axes, len(spare))), len(shape))
        return result

    def _two(
        self, what: int, shape: Shape, more: Shape, q: Any, v: Any = None, force: Any = None, x: Any = None,
        u: Any = None, t: Any = START, *, name: str = "force", out: Pair | None = None,
    ) -> Pair:  # fmt: skip
        """Two results."""
        if out is not None and not (isinstance(out, tuple | list) and len(out) == 2):
            raise LinkworkError("out must be two arrays, one for each result")
        if out is None or (fits(out[0], shape) and fits(out[1], more)):
            first, second = (empty(shape), empty(more)) if out is None else out
            single = self._single
            if single.ask(single.told, what, q, v, force, x, u, t, first, second):
                return first, second
        inputs = self._state(q, v, (name, force), x, u, t)
        axes = leading(inputs)
        a, b = (None, None) if out is None else out
        first, second = room_for(a, (*axes, *shape)), room_for(b, (*axes, *more))
        self._compute(what, inputs, first, second, len(shape))
        return first, second

    def _slopes(
        self, what: int, out: Array | None, q: Any, v: Any, force: Any, x: Any, u: Any, t: Any, *, name: str
    ) -> Derivatives:
        """Derivatives by coordinates, rates, and forces or accelerations."""
        shape = (3, self.nv, self.nv)
        if out is None or fits(out, shape):
            result = empty(shape) if out is None else out
            single = self._single_slopes
            if single.ask(single.told, what, q, v, force, x, u, t, result, NOTHING):
                return Derivatives(result[0], result[1], result[2])
        inputs = self._state(q, v, (name, force), x, u, t)
        axes, made = leading(inputs), self._mechanism
        result = room_for(out, (*axes, *shape))
        room, slopes = made.scratch_for_slopes
        self._asked["what"], self._asked["count"] = what, math.prod(axes)
        ask_slopes.differentiate(
            made.tables, made.constraints, room, slopes, self._asked, self._inputs(inputs), result.reshape(-1)
        )
        return Derivatives(result[..., 0, :, :], result[..., 1, :, :], result[..., 2, :, :])

    def _inputs(self, given: dict[str, Array]) -> ask.Inputs:
        """What the kernel is told, flat."""
        return ask.Inputs(**{**self._usual, **{name: array.reshape(-1) for name, array in given.items()}})

    def _compute(self, what: int, inputs: dict[str, Array], out: Array, more: Array, dims: int) -> None:
        """Call the kernel; `dims` is how many axes of `out` a single state has."""
        asked, made = self._asked, self._mechanism
        count = math.prod(out.shape[: out.ndim - dims])
        asked["what"], asked["count"] = what, count
        asked["width"], asked["more"] = math.prod(out.shape[out.ndim - dims :]), more.size // max(count, 1)
        told = asked, self._inputs(inputs), out.reshape(-1), more.reshape(-1)
        if count >= _LOCKSTEP and compiled() and made.goes_in_lockstep(what):
            compute_lanes(made.tables, made.scratch_for_lockstep, *told)
        else:
            ask.compute(made.tables, made.constraints, made.room, *told)


def _fixed(array: Array) -> Array:
    """A copy that nobody changes."""
    array = np.array(array)
    array.flags.writeable = False
    return array
