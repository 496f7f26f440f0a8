"""The share of a model that one process holds: bodies, joints, loads and drives of some of its subsystems.

Bodies of other processes that border on them stand there as bodies without mass, in the same place: a row between
the two is then measured as everywhere.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..compile.compiler import Compiled, compile_apart
from ..compile.elimination import Placement
from ..compile.scratch import Scratch, settable_forces
from ..compile.subsystems import Border, Subsystem, Tie, borders
from ..engine.solvers.hierarchy import FOREIGN
from ..engine.steppers.samples import Samples, new_samples
from ..mechanism.kinematics import settle
from ..methods.capabilities import DISTANT_REPEATERS, IN_RANKS, refuse
from ..methods.part import Part, Steps
from ..model import Body, Flat, Model
from ..model.errors import LinkworkError
from ..model.item import GROUND, Refers, Vector
from ..model.rotation import Array, matrix


def stand_in(body: Body, mass: float = 0.0) -> Body:
    """A body in the same place that stands for one of another process."""
    inertia = None if mass == 0.0 else (mass, mass, mass)
    return Body(body.name, at=body.at, rotation=body.rotation, mass=mass, inertia=inertia)


def centre(body: Body) -> Vector:
    """Where its centre of mass is in the assembled pose [m]."""
    x, y, z = np.array(body.at) + matrix(body.rotation) @ body.mass_properties.com
    return float(x), float(y), float(z)


def excerpt(
    name: str,
    gravity: Vector,
    flat: Flat,
    bodies: Sequence[str],
    guests: Sequence[Body],
    held: Collection[tuple[str, str]],
) -> Model:
    """The model of some bodies, their guests and what is `held` here (shelf, name) of joints, loads, drives and
    couplings."""
    model = Model(name, gravity=gravity)
    model.bodies = {body: flat.bodies[body] for body in bodies} | {guest.name: guest for guest in guests}
    for shelf in ("joints", "loads", "drives", "couplings"):
        setattr(
            model, shelf, {key: thing for key, thing in getattr(flat, shelf).items() if (shelf, key) in held}
        )
    model.markers = {
        key: marker
        for key, marker in flat.markers.items()
        if marker.body in model.bodies or marker.body == GROUND
    }
    for coupling in (*model.couplings.values(), *model.drives.values()):
        for _, what, target in coupling.references():
            if what is Refers.JOINT and target not in model.joints:
                items = [f"'{coupling.name}' couples joint '{target}', which another process holds"]
                refuse(["components", IN_RANKS], {DISTANT_REPEATERS: items})
    return model


class Share:
    """A part made of an excerpt, in motion."""

    def __init__(
        self,
        model: Model | Compiled,
        tops: Sequence[Subsystem],
        tied: Sequence[Tie],
        steps: Steps,
        ports: Mapping[str, Sequence[str]] = {},
        remote: Collection[str] = (),
        points: Mapping[str, Vector] = {},
    ):
        """`ports`: bodies of each top that another process is tied to; `remote`: subsystems that others compute;
        `points`: where bodies float that do not at their centres of mass."""
        found: dict[str, Border] = {}
        for top in tops:
            found |= borders(top, tied, ports.get(top.name, ()), remote)
        compiled = Compiled.of(model)
        self.system = compile_apart(compiled, points)
        self.scratch = Scratch(settable_forces(compiled.flat))
        assert self.system.rows is not None
        self.part = Part(self.system, self.system.rows, Placement(tops, found, remote), steps)

    def begin(self, q: Array, v: Array) -> None:
        """Take up a motion at time zero."""
        assert self.system.rows is not None
        tables = self.scratch.tables("step", self.system)
        constraints = self.part.rows.fresh()
        every_row = constraints._replace(rows=self.system.rows.fresh().rows)
        settle(tables, constraints, q)
        settle(tables, every_row, q)
        self.part.begin(tables, constraints, every_row, q, v)

    def room(self, count: int) -> Samples:
        """Room for samples."""
        coords, rows = len(self.part.constraints.coords), len(self.part.constraints.rows)
        return new_samples(count, self.system.nq, self.system.nv, coords, rows, len(self.part.rows.recorded))

    def pack(self) -> bytes:
        """Its state as bytes, always as many."""
        state, buffer = self.part.state, io.BytesIO()
        np.savez(buffer, allow_pickle=False, **state.arrays(), **self.part.memory())
        return buffer.getvalue()

    def unpack(self, packed: bytes) -> None:
        """Go on from there."""
        state = self.part.state
        try:
            with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
                for name, array in {**state.arrays(), **self.part.memory()}.items():
                    array[...] = stored[name]
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise LinkworkError(f"a saved state of another component, or damaged ({error})") from None


def foreign(part: Part, names: Collection[str]) -> None:
    """Count what flows through the ports of these subsystems as work."""
    for name in names:
        part.work.node["remote"][part.placement.number[name]] = FOREIGN


def without_ports(model: Model, flat: Flat, mass: float) -> Model:
    """The model with the ports of sealed components as bodies of so much mass [kg]."""
    from ..model.sealed import Port

    made = Model(model.name, gravity=model.gravity)
    made.take_from(flat)
    ports = {name: stand_in(body, mass) for name, body in flat.bodies.items() if isinstance(body, Port)}
    made.bodies = {name: body for name, body in flat.bodies.items() if name not in ports} | ports
    return made
