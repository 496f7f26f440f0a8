"""Everything that is measured of a motion, declared once: the signals of records, simulations, plots, the live page.

A quantity is an entry of `STORED` or `DERIVED`: its group in a record, the names and units of its columns, and how it
is measured. All else follows from the entry: `record[...]`, `sim[...]`, HDF5 files, tables, plots, the live page, the
command line, the table in docs/results.md.

`STORED` quantities are measured while a simulation runs and kept. `DERIVED` ones follow from them and are computed when
somebody asks, from a simulation, a record in memory or a file; they take no room.

(Signals over time that *drive* a model, such as `Sine`, are in `signals.py`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .frames import Frames
from .quantity import BODY_GROUPS, Columns, Derived, Observed, Stored, group_of, vectors
from .schema import Group

ENERGIES = ("kinetic", "gravity", "strain", "supplied", "dissipated", "balance")
REACTIONS = ("forces", "torques")
"""Groups that may be left out of a record, for the time they take: what joints transmit."""


def measurable(observed: Observed) -> dict[str, tuple[Stored, Group]]:
    """Quantities that a simulation has and records, with their groups."""
    found = {}
    for quantity in STORED:
        group = group_of(quantity, observed)
        if group is not None:
            found[quantity.group] = (quantity, group)
    return found


def why_missing(
    name: str, rates: Iterable[str], unavailable: Mapping[str, str], joints: Iterable[str] = ()
) -> str | None:
    """Why a signal is missing, if it would belong to a group that is `unavailable`: the reason of that.

    None if no joint or coordinate of these rates would have it, nor one of the `joints`, which may have no rates.
    """
    bare = name[:-2] if name[-2:] in (".x", ".y", ".z") else name
    owners = {owner for rate in rates for owner in (rate.removesuffix("_rate"), rate.rpartition(".")[0])}
    owners |= set(joints)
    for quantity in STORED:
        owner = bare.removesuffix(quantity.ending)
        if quantity.group in unavailable and owner != bare and owner in owners:
            return unavailable[quantity.group]
    return None


def why_no_group(group: str, unavailable: Mapping[str, str]) -> str | None:
    """Why a group that is declared is missing: it is `unavailable`, or the model has nothing that would have it."""
    if group not in {stored.group for stored in STORED} | {derived.group for derived in DERIVED}:
        return None
    return unavailable.get(group, "nothing in this model has such signals")


def derivable(frames: Frames, have: Sequence[str]) -> dict[str, tuple[Derived, Group]]:
    """Derived quantities that follow from the groups at hand and are not among them, with their groups."""
    found = {}
    for quantity in DERIVED:
        group = group_of(quantity, frames)
        if group is not None and quantity.group not in have and set(quantity.needs) <= set(have):
            found[quantity.group] = (quantity, group)
    return found


def _accelerations(rates: Columns | None) -> Columns | None:
    """`pivot.angle_rate` => `pivot.angle_acceleration`, `ball.wx` => `ball.wx_acceleration`."""
    if rates is None:
        return None
    return [(f"{rate.removesuffix('_rate')}_acceleration", f"{unit}²") for rate, unit in rates]


def _pattern(owner: str, quantity: str, axes: str = "xyz") -> str:
    """Names of signals, for readers."""
    return ", ".join([f"`{owner}.{quantity}.{axes[0]}`", *(f"`.{axis}`" for axis in axes[1:])])


def _of_bodies(group: str, quantity: str, unit: str, about: str, axes: str = "xyz") -> Stored:
    """A part of the motion of every body."""
    part = BODY_GROUPS.index(group)
    return Stored(
        group, _pattern("<body>", quantity, axes), unit, about,
        lambda observer: vectors(observer.bodies, quantity, unit, axes),
        lambda sampled: sampled.bodies[part],
    )  # fmt: skip


def _of_frames(
    group: str, quantity: str, unit: str, about: str, needs: tuple[str, ...], axes: str = "xyz"
) -> Derived:
    """A part of the motion of every marker and point, called as in `MovingFrames`."""
    return Derived(
        group, f"{_pattern('<marker>', quantity, axes)}, also of points", unit, about, needs,
        lambda frames: vectors(list(frames.fixed) or None, quantity, unit, axes),
        lambda motion: [getattr(motion, quantity)(frame) for frame in motion.frames.fixed.values()],
    )  # fmt: skip


def _of_centres(group: str, quantity: str, unit: str, about: str, needs: tuple[str, ...]) -> Derived:
    """A part of the motion of every centre of mass, called as in `MovingFrames`."""
    return Derived(
        group, f"{_pattern('com', quantity)}; `<component>.com.{quantity}.x` ...", unit, about, needs,
        lambda frames: vectors(list(frames.centres) or None, quantity, unit),
        lambda motion: [
            motion.mean(parts, getattr(motion, quantity)) for parts in motion.frames.centres.values()
        ],
    )  # fmt: skip


_MEAN = "of methods with impulses, the mean over the last step, not a number before the first"
_PLACED, _MOVES = BODY_GROUPS[:2], BODY_GROUPS[:4]
STORED: list[Stored] = [
    Stored(
        "coordinates",
        "`<joint>.angle`, `<joint>.x` ...; of a ball `<joint>.qw`, `.qx`, `.qy`, `.qz`",
        "rad, m, 1",
        "coordinates of joints",
        lambda observer: observer.coordinates,
        lambda sampled: sampled.joints[0],
    ),
    Stored(
        "rates",
        "`<joint>.angle_rate`, `<joint>.x_rate` ...; of a ball `<joint>.wx`, `.wy`, `.wz`",
        "rad/s, m/s",
        "their rates",
        lambda observer: observer.rates,
        lambda sampled: sampled.joints[1],
    ),
    Stored(
        "accelerations",
        "`<joint>.angle_acceleration`, `<joint>.x_acceleration`, `<joint>.wx_acceleration` ...",
        "rad/s², m/s²",
        "their accelerations, where the method's own rates are those of joints: not `simmc`, `global`, `components`, "
        "nor with impulses",
        lambda observer: _accelerations(observer.accelerating),
        lambda sampled: sampled.a,
        feature="accelerations",
        ending="_acceleration",
    ),
    _of_bodies("positions", "position", "m", "origin of the body's frame in the world"),
    _of_bodies(
        "rotations", "rotation", "1", "a unit quaternion, from the body's axes to the world's", "wxyz"
    ),
    _of_bodies("body_velocities", "velocity", "m/s", "of the origin, world axes"),
    _of_bodies("body_angular_velocities", "angular_velocity", "rad/s", "world axes"),
    _of_bodies("body_accelerations", "acceleration", "m/s²", f"of the origin, world axes; {_MEAN}"),
    _of_bodies("body_angular_accelerations", "angular_acceleration", "rad/s²", "world axes; likewise"),
    Stored(
        "markers",
        _pattern("<marker>", "position"),
        "m",
        "in the world",
        lambda observer: vectors(list(observer.frames.markers) or None, "position", "m"),
        lambda sampled: np.hstack(
            [sampled.frames.position(frame) for frame in sampled.frames.frames.markers.values()]
        ),
    ),
    Stored(
        "element_forces",
        "`<drive>.force`; `<backlash>.force`; `<spring>.force`, `<line function>.force`; "
        "`<bushing>.force.x`, `.y`, `.z`; "
        "`<joint>.angle_spring_force`, `.angle_friction_force`, `.angle_limit_force` ...",
        "N, N m",
        f"what elements exert, see below; {_MEAN}",
        lambda observer: observer.elements or None,
        lambda sampled: sampled.element_forces,
    ),
    Stored(
        "element_states",
        "`<actuator>.built_up`, `<cylinder>.pressure`, `<controller>.output` ...",
        "N, N m, Pa ...",
        "states that elements own, continuous and sampled",
        lambda observer: observer.states or None,
        lambda sampled: sampled.states,
    ),
    Stored(
        "contact_forces",
        "`<body>.contact_force.x`, `.y`, `.z`, also of scenery",
        "N",
        "sum of all contacts on it, world axes; mean over the last step",
        lambda observer: vectors(observer.touching or None, "contact_force", "N"),
        lambda sampled: sampled.contact_forces,
    ),
    Stored(
        "pair_forces",
        "`contact.<one>.<other>.force.x`, `.y`, `.z`",
        "N",
        "of pairs that the user chose: sum of all contacts of the first on the second, world axes; mean over the last "
        "step",
        lambda observer: vectors([f"contact.{a}.{b}" for a, b in observer.pairs] or None, "force", "N"),
        lambda sampled: sampled.pair_forces,
    ),
    Stored(
        "forces",
        _pattern("<joint>", "force"),
        "N",
        "what a transmits to b through the joint, world axes; not with impulses nor `global`",
        lambda observer: vectors(observer.transmitting, "force", "N"),
        lambda sampled: sampled.transmitted[0],
        feature="reactions of joints",
        ending=".force",
    ),
    Stored(
        "torques",
        _pattern("<joint>", "torque"),
        "N m",
        "likewise, at the joint's frame on the outer body",
        lambda observer: vectors(observer.transmitting, "torque", "N m"),
        lambda sampled: sampled.transmitted[1],
        feature="reactions of joints",
        ending=".torque",
    ),
    Stored(
        "energy",
        "`energy.kinetic`, `.gravity`, `.strain`, `.supplied`, `.dissipated`, `.balance`",
        "J",
        "stored; since the start; gained from nowhere",
        lambda observer: [(f"energy.{name}", "J") for name in ENERGIES],
        lambda sampled: sampled.energy,
    ),
    Stored(
        "solver",
        "`solver.iterations`, `solver.gap`; with contact `contact.patches`, `.depth`, `.residual`",
        "1, m, m/s",
        "how the last step went: evaluations or iterations, largest gap of a joint, patches that touch, how deep, what"
        " is left of their equations",
        lambda observer: observer.report or None,
        lambda sampled: sampled.report,
    ),
]
DERIVED: list[Derived] = [
    Derived(
        "point_positions",
        _pattern("<point>", "position"),
        "m",
        "points that the user chose",
        _PLACED,
        lambda frames: vectors(list(frames.points) or None, "position", "m"),
        lambda motion: [motion.position(frame) for frame in motion.frames.points.values()],
    ),
    _of_frames(
        "frame_rotations", "rotation", "1", "unit quaternions; of a point, that of its body", _PLACED, "wxyz"
    ),
    _of_frames("frame_velocities", "velocity", "m/s", "world axes", _MOVES),
    _of_frames("frame_angular_velocities", "angular_velocity", "rad/s", "world axes", _MOVES),
    _of_frames("frame_accelerations", "acceleration", "m/s²", "world axes, as of bodies", BODY_GROUPS),
    _of_frames(
        "frame_angular_accelerations",
        "angular_acceleration",
        "rad/s²",
        "world axes, as of bodies",
        BODY_GROUPS,
    ),
    _of_centres(
        "com_positions", "position", "m", "centre of mass of the model and of each component", _PLACED
    ),
    _of_centres("com_velocities", "velocity", "m/s", "world axes", _MOVES),
    _of_centres("com_accelerations", "acceleration", "m/s²", "world axes, as of bodies", BODY_GROUPS),
]
