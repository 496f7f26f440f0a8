"""Random mechanisms: trees with loops of any joint, redundant on purpose, with everything that joints can carry.

`build` turns a plan into a model. Every number follows from the plan's seed and the key of the item alone, so that
taking one item away leaves the others as they were. Numbers are such that steps of a millisecond make sense at any
mass ratio:

* Bodies are of similar size, whatever their mass. Gravity then turns them at g/length, some 10 to 50 rad/s².
* What acts on a joint coordinate is scaled by the inertia 1/(J H⁻¹ Jᵀ) that it feels in the tree: springs by their
  frequency alone (FREQUENCY), dampers by their decay, friction and drives by the acceleration that they can cause.
  With several springs no frequency is above the root of the sum of their squares, for that sum is the trace of H⁻¹ K;
  loops only add inertia. Without this, a spring meant for a tonne would throw a gram.
* Loops are closed as the mechanism is drawn, so that any closure fits at the start. Start rates are random ones
  projected on those that the loops allow, in the metric of inertia, and scaled to SPIN and DRIFT at most.
* One restitution serves all limits of a mechanism: several impacts at once with different ones may gain energy by
  Newton's law itself, which would be no fault of a method.
* Servos have a strength. Two unlimited ones in a mechanism of one degree of freedom contradict each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import compile_model
from ..compile.system import System
from ..engine.coordinates.dynamics import body_twist
from ..mechanism.kinematics import Kinematics
from ..model import Body, Component, Model
from ..model.errors import LinkworkError
from ..model.item import Item
from ..model.joints import JOINTS, Joint
from ..model.rotation import IDENTITY, Array, Quaternion, about, matrix, quaternion, vector
from ..model.shapes import Box, Capsule, Plane, Sphere
from ..model.touch import Material, NoContact, Scenery
from .divided import divide
from .random_actions import DRIFT, SPIN, Actions, unit
from .random_plan import (
    DRIVES,
    FEATURES,
    LOOP_KEYS,
    MODEL_KEY,
    ON_GROUND,
    RUBBER,
    STATEFUL,
    SWITCHED,
    Extra,
    Link,
    Loop,
    Plan,
    random_plan,
)

__all__ = ["Extra", "Link", "Loop", "Plan", "allowed_rates", "build", "random_mechanism", "random_plan"]

SIZE, MARGIN = 0.1, 0.002  # of shapes that touch, and of the floor below them, at most [m]
MATERIAL, PIECES = "stuff", "pieces"
SHAPE_KEYS = 10_000
REACH = 0.5  # of pivots from origins along each axis [m]
OFFSET = 1e-3  # of starts that have to be assembled, at most [rad or m]
# A singular value below this share of the largest is zero: geometry is random, so that true ones seldom fall below
# 1e-4, and rounding leaves 1e-15 of a redundant one.
RANK = 1e-9


def random_mechanism(seed: int, **options: Any) -> Model:
    """A random mechanism; options as for `random_plan`."""
    return build(random_plan(seed, **options))


class _Frame(NamedTuple):
    """Where a joint stands, and between whom."""

    kind: str
    a: str
    b: str
    at: Array
    axis: Array
    reference: Array | None
    pitch: float


def build(plan: Plan) -> Model:
    """The mechanism of a plan."""
    return _Builder(plan).model()


class _Builder(Actions):
    def __init__(self, plan: Plan):
        self.plan = plan
        self.frames: dict[int, _Frame] = {}
        self.origins: dict[int, Array] = {ON_GROUND: np.zeros(3)}
        self.bodies: dict[int, Body] = {}
        self.names = {link.key: f"joint{link.key}" for link in plan.links if link.joint is not None}
        self.names |= {loop.key: f"loop{loop.key - LOOP_KEYS}" for loop in plan.loops}

    def model(self) -> Model:
        for link in self._outward():
            self._link(link)
        for loop in self.plan.loops:
            self._loop(loop)
        self._measure()
        fields: dict[int, dict[str, Any]] = {key: {} for key in self.frames}
        items: list[Item] = []
        for extra in self.plan.extras:
            if extra.kind in (*FEATURES, *SWITCHED):
                fields[extra.on].update(self.feature(extra))
            elif extra.kind in DRIVES:
                items += self.drive(extra)
            elif extra.kind in STATEFUL:
                items += self.stateful(extra)
            else:
                items.append(self.load(extra))
        for key, start in self.start.items():
            fields[key].update(start)
        return self._place(
            [*self._bodies(), *(self.joint(key, **fields[key]) for key in self._joints()), *items]
        )

    def _outward(self) -> Iterable[Link]:
        """Links in an order in which parents come first."""
        waiting = list(self.plan.links)
        known = {ON_GROUND}
        while waiting:
            ready = [link for link in waiting if link.parent in known or link.joint is None]
            if not ready:
                raise LinkworkError(
                    f"links {[link.key for link in waiting]} hang on a link that is not there"
                )
            yield from ready
            known |= {link.key for link in ready}
            waiting = [link for link in waiting if link.key not in known]

    def _link(self, link: Link) -> None:
        rng = self.rng(link.key)
        base = self.origins[ON_GROUND if link.joint is None else link.parent]
        pivot = np.array(self.vector(base + rng.uniform(-REACH, REACH, 3)))
        origin = np.array(self.vector(pivot + rng.uniform(-REACH, REACH, 3)))
        self.origins[link.key] = origin
        self.bodies[link.key] = self._body(rng, link.key, origin)
        axis, reference, pitch = self._axes(rng)
        if link.joint is None:
            return
        if link.parallel and link.parent in self.frames:
            axis, reference = self.frames[link.parent].axis, None
        ends = [self.body_name(link.parent), self.body_name(link.key)]
        if link.backwards:
            ends.reverse()
        self.frames[link.key] = _Frame(link.joint, ends[0], ends[1], pivot, axis, reference, pitch)

    def _axes(self, rng: np.random.Generator) -> tuple[Array, Array | None, float]:
        """Axis, reference (or none) and pitch of a joint."""
        axis, reference = np.array(self.vector(unit(rng))), np.array(self.vector(unit(rng)))
        pitch = self.number(rng.choice([-1, 1]) * rng.uniform(0.1, 0.5))
        return axis, reference if rng.random() < 0.7 else None, pitch

    def _body(self, rng: np.random.Generator, key: int, origin: Array) -> Body:
        """Principal moments m (b² + c²), m (a² + c²), m (a² + b²) are those of some distribution of mass."""
        decades = self.plan.decades
        mass = self.number(10.0 ** rng.uniform(-decades / 2, decades / 2))
        a, b, c = rng.uniform(0.05, 0.4, 3) ** 2
        turned, rotation, com = matrix(unit(rng, 4)), unit(rng, 4), rng.uniform(-0.2, 0.2, 3)
        moments = np.array([b + c, a + c, a + b]) * mass
        if self.plan.plain:
            inertia = tuple(self.number(moment) for moment in moments)
            return Body(f"body{key}", at=self.vector(origin), mass=mass, inertia=inertia)
        J = turned @ np.diag(moments) @ turned.T
        full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        quaternion: Quaternion = tuple(float(x) for x in rotation)  # type: ignore[assignment]
        return Body(
            f"body{key}",
            at=self.vector(origin),
            rotation=quaternion,
            mass=mass,
            com=self.vector(com),
            inertia=tuple(self.number(x) for x in full),
        )

    def _with_shape(self, body: Body) -> Body:
        shape = self._shape(self._key[body.name])
        return dataclasses.replace(body, shapes=(shape,), material=MATERIAL, group=PIECES)

    def _shape(self, key: int) -> Any:
        """Something round or with corners that stays within SIZE of the body's origin."""
        rng = self.rng(SHAPE_KEYS + key)
        size = self.number(SIZE * rng.uniform(0.3, 1.0))
        match int(rng.integers(5)):
            case 0:
                return Capsule(0.4 * size, size)
            case 1 | 2 | 3:
                return Sphere(size)
        edges = self.vector(0.5 * size * rng.uniform(0.5, 1.0, 3) + 0.01)
        return Box(edges)

    def _loop(self, loop: Loop) -> None:
        rng = self.rng(loop.key)
        share = rng.uniform()
        between = (1 - share) * self.origins[loop.a] + share * self.origins[loop.b]
        at = np.array(self.vector(between + rng.uniform(-0.3, 0.3, 3)))
        axis, reference, pitch = self._axes(rng)
        a, b = self.body_name(loop.a), self.body_name(loop.b)
        like = self.frames.get(loop.like)
        if like is not None and loop.how != "anywhere":
            axis, reference = like.axis, like.reference
            if loop.how == "same":
                at, pitch = like.at, like.pitch
            elif loop.how == "coaxial":
                at, pitch = like.at + rng.uniform(-0.5, 0.5) * axis, like.pitch
        self.frames[loop.key] = _Frame(loop.joint, a, b, at, axis, reference, pitch)

    def joint(self, key: int, **fields: Any) -> Joint:
        frame = self.frames[key]
        if frame.reference is not None:
            fields["reference"] = vector(frame.reference)
        if frame.kind == "screw":
            fields["pitch"] = frame.pitch
        kind, name = JOINTS[frame.kind], self.names[key]
        return kind(name, frame.a, frame.b, at=vector(frame.at), axis=vector(frame.axis), **fields)

    # --- what the mechanism feels ---

    def _measure(self) -> None:
        """Inertia that every joint coordinate and point spring feels, and start rates that the loops allow."""
        self.inertia: dict[str, float] = {}
        self.start: dict[int, dict[str, Any]] = {}
        if not (self.plan.extras or self.plan.speed or self.plan.offset):
            return
        # Friction on every coordinate and a spring for every load make the rows whose Jacobians are wanted.
        model = Model("measured")
        couplings = [extra for extra in self.plan.extras if extra.kind == "repeater"]
        springs = [extra for extra in self.plan.extras if extra.kind == "spring_load"]
        # These close loops wherever they are, so that the tree is the one that moves.
        kinds = SWITCHED
        switched = {
            extra.on: {"attached": ((0.0, 1.0),)} for extra in self.plan.extras if extra.kind in kinds
        }
        bushings = [extra for extra in self.plan.extras if extra.kind == RUBBER]
        for thing in [
            *self._bodies(),
            *(self.joint(key, friction=1.0, **switched.get(key, {})) for key in self._joints()),
            *(item for extra in couplings for item in self.drive(extra)),
            *(self.spring(extra, 1.0, 0.0) for extra in springs),
            *(self.bushing(extra, np.ones(3), np.zeros(3)) for extra in bushings),
        ]:
            model.add(thing)
        system = compile_model(model, rows=True)
        kinematics = Kinematics(system)
        kinematics.place(system.q0)
        J = kinematics.jacobian()
        H = kinematics.inertia()
        A = np.sum(np.linalg.solve(np.linalg.cholesky(H), J.T) ** 2, axis=0)  # diagonal of J H⁻¹ Jᵀ
        # A coordinate that cannot move, between bodies welded together, feels no end of inertia.
        most = 10.0 * sum(body.mass_properties.mass for body in self.bodies.values())
        for name, inverse in zip(kinematics.names, A, strict=True):
            self.inertia[name] = 1.0 / max(float(inverse), 1.0 / most)
        if self.plan.speed:
            self._start_rates(system, kinematics, J[kinematics.hold], H)
        elif self.plan.offset:
            self._start_offsets(system)

    def _start_rates(self, system: System, kinematics: Kinematics, J: Array, H: Array) -> None:
        keys = {name: key for key, name in self.names.items()}
        free = np.zeros(system.nv, bool)  # a part that hangs on nothing has rates that no joint can tell
        wanted = np.zeros(system.nv)
        for name, placed in system.joints.items():
            if placed.in_tree and name in keys:
                free[placed.v] = True
                wanted[placed.v] = self.rng(MODEL_KEY + 1 + keys[name]).normal(size=len(placed.joint.rates))
        rates = np.zeros(system.nv)
        rates[free] = allowed_rates(J[:, free], wanted[free], H[np.ix_(free, free)])
        kinematics.place(system.q0, rates)
        fastest = [float(np.abs(rates).max(initial=0.0)) / SPIN]
        for index in range(len(system.bodies)):
            w, u = body_twist(kinematics.tables, index)
            fastest += [float(np.linalg.norm(w)) / SPIN, float(np.linalg.norm(u)) / DRIFT]
        if max(fastest) < RANK:  # locked: what is left is rounding
            return
        rates *= self.plan.speed / max(fastest)
        for name, placed in system.joints.items():
            if name in keys and placed.in_tree and placed.joint.rates:
                self.start[keys[name]] = {"velocity": tuple(map(float, rates[placed.v]))}

    def _start_offsets(self, system: System) -> None:
        size = OFFSET * self.plan.offset
        keys = {name: key for key, name in self.names.items()}
        for name, placed in system.joints.items():
            if name not in keys or not placed.in_tree or not placed.joint.rates:
                continue
            rng = self.rng(MODEL_KEY + 1 + keys[name])
            values: list[float] = []
            for motion in placed.joint.motions():
                values += about(unit(rng), size) if motion.ball else [float(rng.uniform(-size, size))]
            self.start[keys[name]] = {"position": tuple(values)}

    def _bodies(self) -> list[Body]:
        """In any order: it decides where the tree of a part that hangs on nothing begins."""
        return [self.bodies[key] for key in sorted(self.bodies, key=self._rank)]

    def _joints(self) -> list[int]:
        """Keys in any order: it decides which of equal joints close the loops."""
        return sorted(self.frames, key=self._rank)

    @property
    def _key(self) -> dict[str, int]:
        """Of bodies, by name."""
        return {f"body{key}": key for key in self.bodies}

    def _rank(self, key: int) -> float:
        return float(np.random.default_rng([self.plan.seed, MODEL_KEY, key]).random())

    def _place(self, things: list[Item]) -> Model:
        rng = self.rng(MODEL_KEY)
        direction = unit(rng)
        gravity = self.vector(9.81 * direction) if self.plan.gravity else (0.0, 0.0, 0.0)
        model = Model(f"random_{self.plan.seed}", gravity=gravity)
        if self.plan.touching:
            shaped = [self._with_shape(body) for body in things if isinstance(body, Body)]
            things = [*shaped, *(thing for thing in things if not isinstance(thing, Body))]
            things += floor_below(-direction, shaped, rng)
        if self.plan.parts > 1:
            divide(
                model,
                things,
                self.plan.parts,
                lambda name: int(self._rank(self._key[name]) * self.plan.parts),
            )
            return model
        part = model if self.plan.placed == "here" else Component("part")
        for thing in things:
            part.add(thing)
        if self.plan.placed == "here":
            return model
        if self.plan.placed == "nested":
            inner, part = part, Component("outer")
            at = self.vector(rng.normal(size=3))
            part.add(inner.instance("inner", mirror=self.vector(unit(rng)), at=at))
        mirror = self.vector(unit(rng)) if self.plan.placed == "mirrored" else None
        rotation = IDENTITY if self.plan.digits is not None else tuple(map(float, unit(rng, 4)))
        at = self.vector(rng.normal(size=3))
        model.add(part.instance("part", at=at, rotation=rotation, mirror=mirror))
        return model


def floor_below(up: Array, bodies: Iterable[Body], rng: np.random.Generator) -> list[Item]:
    """A floor close below all bodies, of random friction, on which they do not touch each other."""
    lowest = min(float(up @ np.asarray(body.at)) - _reach(body.shapes[0]) for body in bodies)
    height = lowest - rng.uniform(0.0, MARGIN)
    turn = quaternion(basis(up))
    plane = Plane(at=vector(height * up), rotation=turn)
    restitution = float(rng.choice([0.0, 0.0, 0.5]))
    return [
        Material(MATERIAL, friction=float(rng.uniform(0.0, 1.0)), restitution=restitution),
        Scenery("floor", shapes=(plane,), material=MATERIAL),
        NoContact("apart", PIECES, PIECES),
    ]


def _reach(shape: Any) -> float:
    """How far a shape may reach from its middle [m]."""
    if isinstance(shape, Box):
        return 0.5 * float(np.linalg.norm(shape.size))
    return float(shape.radius) + 0.5 * float(getattr(shape, "length", 0.0))


def basis(z: Array) -> Array:
    """A rotation matrix whose last column is a unit vector."""
    x = np.cross(z, np.eye(3)[int(np.abs(z).argmin())])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def allowed_rates(J: Array, v: Array, H: Array) -> Array:
    """The rates nearest to v, in the metric of the inertia H, with J v = 0."""
    if len(J) == 0 or len(v) == 0:
        return v
    L = np.linalg.cholesky(H)
    B = _scaled(np.linalg.solve(L, J.T).T)  # J v = B y with y = Lᵀ v, in which the metric is plain
    y = L.T @ v
    v = np.linalg.solve(L.T, y - np.linalg.pinv(B, rcond=RANK) @ (B @ y))
    # At mass ratios of a million rounding leaves some of J v: it goes in plain rates.
    J = _scaled(J)
    for _ in range(2):
        v = v - np.linalg.pinv(J, rcond=RANK) @ (J @ v)
    return v


def _scaled(J: Array) -> Array:
    """Rows of unit length; those of rounding alone are zero."""
    length = np.linalg.norm(J, axis=1)
    keep = length > 1e-12 * max(1.0, float(length.max(initial=0.0)))
    return np.asarray(J[keep] / length[keep, None])
