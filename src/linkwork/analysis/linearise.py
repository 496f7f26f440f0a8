"""Linearisation of mechanisms, loops, rolling and elements included: about a state, a steady motion, or along one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..compile.compiler import Compiled
from ..engine.tables import LIMIT
from ..mechanism.assemble import assemble
from ..methods.capabilities import LINEAR, require
from ..model import Model
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..run.simulate import Simulation
from .field import Field, Reference
from .linear_system import LinearSystem, Port
from .slopes import Slopes, element

_STRIDE = 1e-3  # of differences of rates [rad, or shares of the mechanism's size]
_SLIPS = 1e-6  # velocity along a rough surface that is rolling with rounding, of the fastest rate in sizes
_AT_LIMIT = 1e-9  # a limit touches that is nearer than this [rad, or sizes of the mechanism]
_STEADY, _NEWTONS = 1e-10, 30


def linearise(
    what: Model | Simulation,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
    drop_cyclic: bool = False,
    steady: Mapping[str, float] | None = None,
) -> LinearSystem:
    """The linear equations of small motions, x' = A x + B u, y = C x + D u, about the start of a model, or about where
    a simulation stands.

    States are independent coordinates, their rates, and states of elements such as the force of an actuator; loops are
    reduced, and what touches rolls or sticks. `states` names coordinates to prefer among the independent ones.
    `inputs` are drives (their commands) and joint coordinates (a force along them); by default all drives. `outputs`
    are joint coordinates, `<coordinate>_rate`, `<coordinate>_acceleration`, `<body>.position.x`, `.velocity.x`,
    `.angular_velocity.x` and states of elements; by default the states.

    `drop_cyclic` leaves out positions on which no rate depends, such as where a vehicle is and how far its wheels have
    turned: about a steady motion what is left has constant coefficients. `steady` seeks a steady motion first, near the
    state, in which coordinates or rates have these values.

    Limits must not touch; dry friction of joints is left out where they rest, as in statics; contacts must not slide.
    """
    reference = _reference(what)
    field = Field(reference)
    _refuse(field, reference.v)
    field.choose(states)
    if steady is not None:
        field = _steady(field, steady, states)
    ports = [_input(field, name) for name in (_drives(field) if inputs is None else inputs)]
    return Slopes(field, [port.name for port in ports], outputs).system(ports, drop_cyclic=drop_cyclic)


def linearise_along(
    simulation: Simulation,
    times: Iterable[float],
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> list[LinearSystem]:
    """The linear equations about a motion, at increasing times [s] of a simulation, which goes on through them.

    All have the same states: deviations from the motion. The arguments are as for `linearise`.
    """
    wanted = [float(t) for t in times]
    if not wanted or any(b <= a for a, b in pairwise(wanted)) or wanted[0] < simulation.time:
        raise LinkworkError(f"times must increase, from {simulation.time:g} s on")
    found: list[LinearSystem] = []
    chosen = states
    for time in wanted:
        if (left := time - simulation.time) > 1e-12:
            simulation.step(max(1, round(left / simulation.dt)))
        found.append(linearise(simulation, inputs=inputs, outputs=outputs, states=chosen))
        chosen = found[0].coordinates
        if found[-1].states != found[0].states:
            raise LinkworkError(
                f"at {time:g} s the states {', '.join(found[0].coordinates)} are no longer independent; name others"
            )
        if progress is not None:
            progress((time - wanted[0]) / max(wanted[-1] - wanted[0], 1e-300))
    return found


def _reference(what: Model | Simulation) -> Reference:
    """What to linearise about: the start of a model, or where a simulation stands."""
    if not isinstance(what, Simulation):
        compiled = Compiled.of(what)
        require([LINEAR], compiled.flat)
        start = assemble(compiled.rows)
        return Reference(compiled, start.q, start.v)
    compiled_now = what.compiled
    if compiled_now is None:
        raise LinkworkError("this simulation was made of a compiled system: make it of the model")
    require([LINEAR], compiled_now.flat)
    names = [column.name for column in compiled_now.rows.coordinates]
    if names != [column.name for column in what.system.coordinates]:
        raise LinkworkError(
            f"method '{what.method.name}' has no joint coordinates to linearise in; use method 'simgc'"
        )
    if (np.asarray(what.method.scratch.values)[:, :1] > 0.0).any():
        raise LinkworkError(
            "a force was set while running: write it into the model (`alter`) to linearise with it"
        )
    memory = what.method.memory()
    reference = Reference(compiled_now, what.q.copy(), what.v.copy(), what.time, memory.get("commands"))
    field = Field(reference)
    states = [element(field.mech, int(row)).name for row in field.owners]
    return reference._replace(x=np.array([float(what[name]) for name in states]))


def _refuse(field: Field, given: Array) -> None:
    """Raise where there is no linear motion about the state."""
    mech = field.mech
    mech.kin.place(field.q0)
    rows = mech.kin.constraints.rows
    for r in np.flatnonzero(rows["role"][: mech.count] == LIMIT):
        if abs(rows["phi"][r]) < _AT_LIMIT * mech.sizes[r]:
            name = mech.kin.names[r].partition(":")[0]
            raise LinkworkError(
                f"limit '{name}' touches: there is no linear motion about it; start beside it"
            )
    speed, where = field.slip(given)
    if speed > _SLIPS * mech.length * max(1.0, mech.far(given)):
        raise LinkworkError(
            f"{where} slides at {speed:.3g} m/s: only contacts that roll or stick have a linear motion; "
            "set rates that roll, or a friction of 0"
        )


def _drives(field: Field) -> list[str]:
    """Drives whose commands are forces or places: a velocity servo is a constraint."""
    mech = field.mech
    rows = mech.kin.constraints.rows
    return list(dict.fromkeys(mech.drive_name(int(r)) for r in field.acting if rows["input"][r] >= 0))


def _input(field: Field, name: str) -> Port:
    mech = field.mech
    if name in mech.drives:
        if name not in _drives(field):
            raise LinkworkError(
                f"velocity servo '{name}' keeps a rate: its command is no input; take a torque source"
            )
        return Port(name, "1")
    if name in mech.coordinates:
        return Port(name, mech.force_unit(mech.index(name)))
    raise LinkworkError(
        f"there is no drive or joint coordinate '{name}'{nearest(name, [*mech.drives, *mech.coordinates])}"
    )


def _steady(field: Field, held: Mapping[str, float], states: Sequence[str] | None) -> Field:
    """The field about a steady motion near its state: no rate and no element changes, but cyclic positions go on."""
    names = [*field.place_names, *(f"{name}_rate" for name in field.rate_names)]
    for name in held:
        if name not in names:
            raise LinkworkError(
                f"'{name}' is no independent coordinate or rate to keep{nearest(name, names)}"
            )
    for _ in range(_NEWTONS):
        slopes = Slopes(field, [], None)
        f, p, n = slopes.f, slopes.p, len(slopes.ports)
        M, middle = slopes.matrix()
        rates = field.v0[field.places]
        keep, T = slopes.without_cyclic(M)
        value = middle.copy()
        value[:f] = rates
        wanted = np.array([held[name] for name in held])
        rows = [names.index(name) for name in held]
        now = np.r_[_values(field), field.v0[field.rates]]
        drift = np.zeros((n, n))
        drift[:f] = _rate_slopes(field, slopes)
        drift[f:] = M[f:]
        stays = [k for k in keep if k >= f] + [int(k) for k in keep if k < f]
        residual = np.r_[(T @ value)[[list(keep).index(k) for k in stays]], now[rows] - wanted]
        J = np.vstack([(T @ drift)[[list(keep).index(k) for k in stays]], np.eye(n)[rows]])
        if np.abs(residual).max(initial=0.0) < _STEADY:
            return field
        step = -slopes.sizes * np.linalg.lstsq(J * slopes.sizes, residual, rcond=1e-9)[0]
        q = field.pose(step[:f])
        v = field.rates_at(q, field.v0[field.rates] + step[f : f + p])
        field = Field(field.reference._replace(q=q, v=v, x=field.x0 + step[f + p :]))
        field.choose(states)
    raise LinkworkError(
        "no steady motion was found near this state: hold other values, or start nearer to one"
    )


def _values(field: Field) -> Array:
    """Independent coordinates now."""
    mech = field.mech
    mech.kin.place(field.q0)
    values = dict(zip(mech.coordinates, mech.values(), strict=True))
    return np.array([values[name] for name in field.place_names])


def _rate_slopes(field: Field, slopes: Slopes) -> Array:
    """Slopes of the rates of independent positions by all states."""
    f, p, n = slopes.f, slopes.p, len(slopes.ports)
    found = np.zeros((f, n))
    for i in range(f + p):
        for k, weight in ((1, 0.5), (-1, -0.5)):
            z = np.zeros(n)
            z[i] = k * _STRIDE * slopes.sizes[i]
            v = field.rates_at(field.pose(z[:f]), field.v0[field.rates] + z[f : f + p])
            found[:, i] += weight / (_STRIDE * slopes.sizes[i]) * v[field.places]
    return found
