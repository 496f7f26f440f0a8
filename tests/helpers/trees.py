"""Random open mechanisms, and random states of them.

A mechanism is drawn in two steps. A `Plan` says what hangs on what by which joint; it is small, prints as
a reproducer and shrinks well. `build` turns it into a model; every number in it follows from the plan's
seed and the number of the link, so that taking a link away leaves the others as they were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from linkwork.compile.system import System
from linkwork.engine.loads import Force, Spring, Torque
from linkwork.model import Body, Component, Model
from linkwork.model.item import GROUND
from linkwork.model.joints import JOINTS, Joint
from linkwork.model.rotation import about, matrix
from linkwork.model.signals import Sine

EPS = np.finfo(float).eps
KINDS = tuple(JOINTS)
ROOTS = (None, *KINDS)
PLACED = ("here", "moved", "mirrored", "nested")

# The everyday run draws the same examples each time, so that only a change of the code can turn it red;
# the slow run looks at new ones every time and prints how to repeat a failure.
FAST = settings(max_examples=40, deadline=None, derandomize=True, database=None)
SLOW = settings(max_examples=200, deadline=None, print_blob=True)


@dataclass(frozen=True)
class Link:
    """One body and what carries it."""

    joint: str | None
    """Kind of the joint to its parent; None: it hangs on nothing."""
    parent: int = -1
    """Number of an earlier link; -1 is the ground."""
    backwards: bool = False
    """The joint is written from this link to its parent."""


@dataclass(frozen=True)
class Plan:
    """A random mechanism before its numbers are drawn."""

    links: tuple[Link, ...]
    seed: int = 0
    passive: bool = True
    """Springs, dampers and armature in the joints."""
    loads: int = 0
    """How many loads act on it."""
    load_kinds: tuple[str, ...] = ("force", "torque", "spring")
    placed: str = "here"
    """In the model itself, or in a component that is 'moved', 'mirrored' or 'nested' (moved and mirrored)."""
    decades: float = 4.0
    """Ratio of the heaviest to the lightest mass, as a power of ten."""
    gravity: bool = True
    even_balls: bool = False
    """Dampers and armature of a quaternion joint are the same about all its axes, as some engines have it."""


def unit(rng, n=3):
    """A random direction."""
    x = rng.normal(size=n)
    return x / np.linalg.norm(x)


def triple(x):
    return tuple(map(float, x))


def random_body(rng, name, at, decades=4.0):
    """A body with any frame, centre of mass and full inertia that some distribution of mass has.

    Principal moments m (b² + c²), m (a² + c²), m (a² + b²) satisfy the triangle inequality for any a, b, c.
    """
    mass = 10.0 ** rng.uniform(-decades / 2, decades / 2)
    a, b, c = rng.uniform(0.05, 0.4, 3) ** 2
    Q = matrix(unit(rng, 4))
    J = Q @ np.diag([b + c, a + c, a + b]) @ Q.T * mass
    return Body(
        name,
        at=triple(at),
        rotation=tuple(unit(rng, 4)),
        mass=mass,
        com=triple(rng.uniform(-0.2, 0.2, 3)),
        inertia=triple([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]),
    )


def make_joint(kind, name, a, b, **fields) -> Joint:
    """A joint of any kind in the registry; what only some kinds need has a default."""
    if kind == "screw":
        fields.setdefault("pitch", 0.3)
    return JOINTS[kind](name, a, b, **fields)


def random_joint(rng, kind, name, a, b, at, passive=True, even_balls=False) -> Joint:
    """A joint of any direction; with springs, dampers and armature if `passive`."""
    fields = {"at": triple(at), "axis": triple(unit(rng)), "reference": triple(unit(rng))}
    if rng.random() < 0.3:
        del fields["reference"]
    if kind == "screw":
        fields["pitch"] = float(rng.choice([-1, 1]) * rng.uniform(0.05, 0.5))
    if passive:
        n = len(make_joint(kind, name, a, b).rates)
        for field, top in (("damping", 1.0), ("spring", 10.0), ("rest", 0.5), ("armature", 0.1)):
            if rng.random() < 0.5:
                values = rng.uniform(0, top, n)
                if even_balls and kind in ("spherical", "free") and field in ("damping", "armature"):
                    values[-3:] = values[-1]
                fields[field] = tuple(values.tolist())
    return JOINTS[kind](name, a, b, **fields)


def random_load(rng, name, bodies, kinds=("force", "torque", "spring")):
    """A force, a torque or a spring on random bodies; `bodies` maps names to origins."""
    names = [*bodies, GROUND]
    a = names[rng.integers(len(names))]
    near = triple(np.asarray(bodies.get(a, (0, 0, 0))) + rng.uniform(-0.3, 0.3, 3))
    signal = Sine(float(rng.uniform(0.1, 2)), phase=float(rng.uniform(0, 6)), offset=0.5)
    common = {"follows": bool(rng.random() < 0.5), "signal": signal if rng.random() < 0.5 else None}
    match kinds[rng.integers(len(kinds))]:
        case "force":
            at = near if rng.random() < 0.7 else None
            return Force(name, a, force=triple(rng.normal(size=3) * 5), at=at, **common)
        case "torque":
            return Torque(name, a, torque=triple(rng.normal(size=3)), **common)
    b = names[(names.index(a) + 1 + rng.integers(len(names) - 1)) % len(names)]
    far = triple(np.asarray(bodies.get(b, (0, 0, 0))) + rng.uniform(-0.3, 0.3, 3) + (0, 0, 1))
    k, c = rng.uniform(0, 50), rng.uniform(0, 2)
    length = None if rng.random() < 0.5 else float(rng.uniform(0, 1))
    return Spring(name, a, b, at_a=near, at_b=far, stiffness=k, damping=c, length=length)


def build(plan: Plan) -> Model:
    """The mechanism of a plan."""
    bodies, joints, at = [], [], []
    for i, link in enumerate(plan.links):
        rng = np.random.default_rng([plan.seed, i])
        grounded = link.joint is None or link.parent < 0
        base = np.zeros(3) if grounded else at[link.parent]
        pivot = base + rng.uniform(-0.5, 0.5, 3)
        at.append(pivot + rng.uniform(-0.5, 0.5, 3))
        bodies.append(random_body(rng, f"body{i}", at[i], plan.decades))
        if link.joint is not None:
            ends = [GROUND if link.parent < 0 else f"body{link.parent}", f"body{i}"]
            if link.backwards:
                ends.reverse()
            name = f"joint{i}"
            joints.append(random_joint(rng, link.joint, name, *ends, pivot, plan.passive, plan.even_balls))
    origins = {body.name: body.at for body in bodies}
    loads = [
        random_load(np.random.default_rng([plan.seed, 100 + k]), f"load{k}", origins, plan.load_kinds)
        for k in range(plan.loads)
    ]

    rng = np.random.default_rng([plan.seed, 1000])
    gravity = triple(9.81 * unit(rng)) if plan.gravity else (0.0, 0.0, 0.0)
    model = Model("random", gravity=gravity)
    part = model if plan.placed == "here" else Component("part")
    # The order of declaration decides where the tree of a part that hangs on nothing begins.
    for things in (bodies, joints, loads):
        for k in rng.permutation(len(things)):
            part.add(things[k])
    if plan.placed == "here":
        return model
    rng = np.random.default_rng([plan.seed, 1001])
    if plan.placed == "nested":
        inner, part = part, Component("outer")
        part.add(inner.instance("inner", mirror=triple(unit(rng)), at=triple(rng.normal(size=3))))
    mirror = triple(unit(rng)) if plan.placed == "mirrored" else None
    model.add(
        part.instance("part", at=triple(rng.normal(size=3)), rotation=tuple(unit(rng, 4)), mirror=mirror)
    )
    return model


@st.composite
def plans(draw, *, max_links=12, kinds=KINDS, roots=ROOTS, passive=None, max_loads=4, placed=PLACED, **fixed):
    """Plans of 1 to `max_links` bodies; `roots` are the kinds of joint (None: none at all) to the ground."""
    links = []
    for i in range(draw(st.integers(1, max_links))):
        parent = draw(st.integers(-1, i - 1))
        kind = draw(st.sampled_from(roots if parent < 0 else kinds))
        links.append(Link(kind, parent, kind is not None and draw(st.booleans())))
    return Plan(
        tuple(links),
        seed=draw(st.integers(0, 2**32 - 1)),
        passive=draw(st.booleans()) if passive is None else passive,
        loads=draw(st.integers(0, max_loads)),
        placed=draw(st.sampled_from(placed)),
        **fixed,
    )


def random_plan(seed, *, max_links=12, kinds=KINDS, roots=ROOTS, **fixed) -> Plan:
    """The same distribution from a seed alone, for tests that count their mechanisms."""
    rng = np.random.default_rng([seed, 7])
    links = []
    for i in range(rng.integers(1, max_links + 1)):
        parent = int(rng.integers(-1, i)) if rng.random() < 0.3 else i - 1
        options = roots if parent < 0 else kinds
        kind = options[rng.integers(len(options))]
        links.append(Link(kind, parent, kind is not None and bool(rng.random() < 0.5)))
    placed = ("here", "moved", "mirrored", "nested")[rng.integers(4)]
    fields = {
        "seed": seed,
        "passive": bool(rng.random() < 0.7),
        "loads": int(rng.integers(5)),
        "placed": placed,
    }
    return Plan(tuple(links), **(fields | fixed))


def random_state(system: System, seed, speed=2.0):
    """Coordinates and rates: quaternions up to 2.8 rad from the drawn pose, of either sign."""
    rng = np.random.default_rng([seed, 3])
    q, v = np.zeros(system.nq), speed * rng.normal(size=system.nv)
    for placed in system.joints.values():
        i = placed.q.start
        for motion in placed.joint.motions():
            if motion.ball:
                q[i : i + 4] = np.array(about(unit(rng), rng.uniform(0, 2.8))) * rng.choice([-1, 1])
            else:
                q[i] = rng.uniform(-2, 2) if motion.rot else rng.uniform(-0.5, 0.5)
            i += len(motion.coordinates)
    return q, v


def placed_model(model: Model, *, at=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0), mirror=None) -> Model:
    """The whole mechanism, its gravity included, standing somewhere else in the world."""
    part = Component("part")
    for shelf in (model.bodies, model.joints, model.loads, model.markers, model.instances):
        for thing in shelf.values():
            part.add(thing)
    instance = part.instance("there", at=at, rotation=rotation, mirror=mirror)
    M = reflection(mirror) if mirror is not None else np.eye(3)
    moved = Model("placed", gravity=triple(matrix(rotation) @ M @ np.array(model.gravity)))
    moved.add(instance)
    return moved


def reflection(normal):
    """Matrix of a mirror."""
    n = np.asarray(normal) / np.linalg.norm(normal)
    return np.eye(3) - 2 * np.outer(n, n)
