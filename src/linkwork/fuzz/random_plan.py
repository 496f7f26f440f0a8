"""Plans of random mechanisms: what hangs on what, which joints close loops, what acts where.

A plan has no numbers but a seed. It is small, prints as a reproducer and shrinks well: items know each other by keys
that stay when others are taken away. `random_mechanisms.build` turns it into a model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..model.item import GROUND
from ..model.joints import JOINTS

KINDS = tuple(JOINTS)
FEATURES = ("limits", "friction", "spring", "damping", "armature")
"""What a joint can carry."""
DRIVES = ("torque_source", "velocity_servo", "position_servo", "dc_motor", "repeater")
LOADS = ("force", "torque", "spring_load")
STATEFUL = ("actuator", "hydraulic_cylinder", "pid", "backlash", "backlash_between")
"""What acts on joints and has states, samples or free play."""
SWITCHED = ("released", "attached")
"""Joints that let go during the run, and that take hold during it."""
RUBBER = "bushing"
HOW = ("anywhere", "parallel", "coaxial", "same")
"""Where a closure stands: somewhere; with its axis parallel to that of another joint; on the same axis between the same
bodies; in the very frame of a joint, between the same bodies, of the same kind: the same joint twice."""
PLACED = ("here", "moved", "mirrored", "nested")
PARTS = 3
"""Components that a mechanism may be divided into, at most."""

ON_GROUND = -1
LOOP_KEYS, EXTRA_KEYS, MODEL_KEY = (
    100,
    1000,
    10**6,
)  # keys of links begin at 0, those of closures and extras here


@dataclass(frozen=True)
class Link:
    """One body and what carries it."""

    key: int
    joint: str | None
    """Kind of the joint to its parent; None: it hangs on nothing."""
    parent: int = ON_GROUND
    """Key of another link; -1 is the ground."""
    backwards: bool = False
    """The joint is written from this link to its parent."""
    parallel: bool = False
    """Its axis is parallel to that of the joint that carries its parent."""


@dataclass(frozen=True)
class Loop:
    """A joint between bodies that are connected already."""

    key: int
    joint: str
    a: int
    b: int
    how: str = "anywhere"
    like: int = ON_GROUND
    """Key of the link or closure whose joint it resembles; -1: none."""


@dataclass(frozen=True)
class Extra:
    """Something that acts on a joint (features and drives) or on bodies (loads)."""

    key: int
    kind: str
    on: int
    """Key of a link or closure, whose joint is meant; of a load, of a link, whose body is meant."""
    other: int = ON_GROUND
    """The second joint of a repeater or of free play; the second body of a spring or bushing."""


@dataclass(frozen=True)
class Plan:
    """A random mechanism before its numbers are drawn."""

    links: tuple[Link, ...]
    loops: tuple[Loop, ...] = ()
    extras: tuple[Extra, ...] = ()
    seed: int = 0
    decades: float = 2.0
    """Largest ratio of masses, as a power of ten."""
    gravity: bool = True
    speed: float = 0.0
    """Share of the largest start rates; 0: at rest."""
    restitution: float = 0.0
    """Of all limits."""
    offset: float = 0.0
    """Share of the largest offset by which joints of the tree start away from the pose as drawn."""
    placed: str = "here"
    """In the model itself, or in a component that is 'moved', 'mirrored' or 'nested' (moved and mirrored)."""
    parts: int = 1
    """Components that its bodies are divided among, with joints between them; more than one only if placed 'here'."""
    touching: bool = False
    """Bodies have shapes, and a floor below them; only if placed 'here'."""
    plain: bool = False
    """Bodies with frames along the world's axes and the centre of mass at the origin."""
    digits: int | None = None
    """Numbers rounded to so many digits, for failures that people read."""

    def __str__(self) -> str:
        """The plan as a program, without what is left at its default."""
        lines = ["Plan("]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, tuple):
                lines += [f"    {field.name}=(", *(f"        {_short(item)}," for item in value), "    ),"]
            else:
                lines.append(f"    {field.name}={value!r},")
        return "\n".join([*lines, ")"])


def _short(item: Any) -> str:
    """A link, closure or extra as a call, without what is left at its default."""
    fields = [f for f in dataclasses.fields(item) if getattr(item, f.name) != f.default]
    return f"{type(item).__name__}({', '.join(f'{f.name}={getattr(item, f.name)!r}' for f in fields)})"


def random_plan(
    seed: int,
    *,
    bodies: tuple[int, int] = (1, 8),
    loops: tuple[int, int] = (0, 3),
    decades: float = 6.0,
    redundant: float = 0.2,
    extras: bool = True,
    moving: bool = True,
    offset: bool = False,
) -> Plan:
    """A plan drawn from a seed.

    `bodies` and `loops` are the smallest and largest numbers of them (closures that are redundant on purpose come on
    top); `decades` bounds the ratio of masses as a power of ten; `redundant` is the probability of closures that
    repeat what is held already; without `extras` there are bodies and joints alone, without `moving` everything
    starts at rest; with `offset` loops start slightly open, and everything at rest.
    """
    if not 1 <= bodies[0] <= bodies[1] <= LOOP_KEYS:
        raise LinkworkError(f"bodies must be a range within 1 to {LOOP_KEYS}, not {bodies[0]} to {bodies[1]}")
    if not 0 <= loops[0] <= loops[1]:
        raise LinkworkError(f"loops must be a range from 0, not {loops[0]} to {loops[1]}")
    if not 0.0 <= decades <= 12.0:
        raise LinkworkError(f"decades must be within 0 and 12, not {decades:g}")
    rng = np.random.default_rng([seed, MODEL_KEY])
    count = int(rng.integers(bodies[0], bodies[1] + 1))
    links: list[Link] = []
    closures: list[Loop] = []
    while len(links) < count:
        if count - len(links) >= 3 and rng.random() < 0.05 and len(closures) < loops[1]:
            _add_four_bar(rng, links, closures)
        else:
            links.append(_random_link(rng, links))
    _add_loops(rng, links, closures, loops[0], int(rng.integers(loops[0], loops[1] + 1)))
    if rng.random() < redundant:
        _add_redundant(rng, links, closures)
    at_rest = offset or not moving or rng.random() < 0.3
    carried = _random_extras(rng, links, closures) if extras else ()
    # From a generator of their own: what was drawn before they were known stays as it was.
    further = np.random.default_rng([seed, MODEL_KEY, 1])
    parts, touching = 1, False
    if extras:
        carried += _further_extras(further, links, closures, len(carried), switched=not offset)
        parts = int(further.integers(2, PARTS + 1)) if further.random() < 0.2 else 1
        touching = bool(further.random() < 0.15) and not offset and parts == 1
    if offset:  # repeaters hold the relation that joints start in, and might contradict the loops that are to be closed
        carried = tuple(extra for extra in carried if extra.kind != "repeater")
    return Plan(
        tuple(links),
        tuple(closures),
        carried,
        seed=seed,
        decades=float(np.round(rng.uniform(0.0, decades), 2)),
        gravity=bool(rng.random() < 0.85),
        speed=0.0 if at_rest else float(np.round(rng.uniform(0.1, 1.0), 2)),
        restitution=float(rng.choice([0.0, 0.0, 0.3, 0.7])),
        offset=float(np.round(rng.uniform(0.1, 1.0), 2)) if offset else 0.0,
        placed="here" if (place := PLACED[rng.integers(len(PLACED))]) and (parts > 1 or touching) else place,
        parts=parts,
        touching=touching,
    )


def _random_link(rng: np.random.Generator, links: list[Link]) -> Link:
    key = len(links)
    parent = key - 1
    if key and rng.random() < 0.4:
        parent = int(rng.integers(-1, key))
    if rng.random() < 0.05:
        return Link(key, None)
    kind = KINDS[rng.integers(len(KINDS))]
    # They take mechanisms to pieces, or make two bodies one.
    if kind in ("free", "weld") and rng.random() < 0.7:
        kind = "hinge"
    return Link(key, kind, parent, bool(rng.random() < 0.5), bool(rng.random() < 0.15))


def _add_four_bar(rng: np.random.Generator, links: list[Link], closures: list[Loop]) -> None:
    """Three links on parallel hinges, closed by a fourth: planar, of spatial joints, so over-constrained by three."""
    base, first = int(rng.integers(-1, len(links))), len(links)
    for key in range(first, first + 3):
        parent = base if key == first else key - 1
        links += [Link(key, "hinge", parent, bool(rng.random() < 0.5), key > first)]
    closures.append(Loop(LOOP_KEYS + len(closures), "hinge", first + 2, base, "parallel", first + 2))


def _add_loops(
    rng: np.random.Generator, links: list[Link], closures: list[Loop], fewest: int, count: int
) -> None:
    """Closures between random bodies, most of them such that what they close can still move."""
    ends = [ON_GROUND, *(link.key for link in links)]

    def pair() -> tuple[int, int]:
        a, b = rng.choice(len(ends), 2, replace=False)
        return ends[a], ends[b]

    for _ in range(count - len(closures)):
        a, b = pair()
        kinds: Sequence[str] = KINDS
        if rng.random() < 0.85:
            a, b = max([(a, b), *(pair() for _ in range(4))], key=lambda p: spare(links, closures, *p))
            left = spare(links, closures, a, b)
            kinds = [kind for kind in KINDS if 0 < 6 - _rates(kind) < left]
        if not kinds and len(closures) < fewest:
            kinds = KINDS
        if kinds:
            kind = kinds[int(rng.integers(len(kinds)))]
            closures.append(Loop(LOOP_KEYS + len(closures), kind, a, b))


def spare(links: Iterable[Link], closures: Iterable[Loop], a: int, b: int) -> int:
    """Degrees of freedom between two bodies by counting: joints on the path less closures that share any of them."""
    known = {link.key: link for link in links}
    path = _path(known, a, b)
    used = sum(6 - _rates(loop.joint) for loop in closures if _path(known, loop.a, loop.b) & path)
    return sum(_rates(known[key].joint) for key in path) - used


def _path(links: dict[int, Link], a: int, b: int) -> set[int]:
    """Keys of the links whose joints lie between two bodies."""
    ways = []
    for key in (a, b):
        way = set()
        while key != ON_GROUND:
            way.add(key)
            key = ON_GROUND if links[key].joint is None else links[key].parent
        ways.append(way)
    return ways[0] ^ ways[1]


def _rates(kind: str | None) -> int:
    """Degrees of freedom that a kind of joint leaves."""
    needed: dict[str, Any] = {"pitch": 0.3} if kind == "screw" else {}
    return 6 if kind is None else len(JOINTS[kind]("joint", GROUND, "body", **needed).rates)


def _add_redundant(rng: np.random.Generator, links: list[Link], closures: list[Loop]) -> None:
    """A closure that repeats another joint: the same once more, on its axis, or parallel to it (which may lock)."""
    joints: list[Link | Loop] = [*(link for link in links if link.joint not in (None, "free")), *closures]
    for _ in range(int(rng.integers(1, 3)) if joints else 0):
        like = joints[rng.integers(len(joints))]
        assert like.joint is not None
        a, b = (like.a, like.b) if isinstance(like, Loop) else (like.parent, like.key)
        if rng.random() < 0.5:
            a, b = b, a
        how = str(rng.choice(["same", "same", "same", "coaxial", "coaxial", "parallel"]))
        kind = like.joint if how != "coaxial" else str(rng.choice(["hinge", "cylindrical", like.joint]))
        closures.append(Loop(LOOP_KEYS + len(closures), kind, a, b, how, like.key))


def _random_extras(rng: np.random.Generator, links: list[Link], closures: list[Loop]) -> tuple[Extra, ...]:
    found: list[Extra] = []

    def add(kind: str, on: int, other: int = ON_GROUND) -> None:
        found.append(Extra(EXTRA_KEYS + len(found), kind, on, other))

    joints: list[Link | Loop] = [*links, *closures]
    movable = [item.key for item in joints if item.joint not in (None, "weld")]
    for key in movable:
        for kind, share in zip(FEATURES, (0.2, 0.2, 0.15, 0.2, 0.1), strict=True):
            if rng.random() < share:
                add(kind, key)
    for _ in range(int(rng.choice(3, p=(0.5, 0.3, 0.2))) if movable else 0):
        kind = DRIVES[rng.integers(len(DRIVES))]
        on, other = (int(k) for k in rng.choice(movable, 2))
        if kind != "repeater":
            add(kind, on)
        elif on != other:
            add(kind, on, other)
    ends = [ON_GROUND, *(link.key for link in links)]
    for _ in range(int(rng.choice(3, p=(0.5, 0.3, 0.2)))):
        kind = LOADS[rng.integers(len(LOADS))]
        on = links[rng.integers(len(links))].key
        other = ends[rng.integers(len(ends))]
        add(kind, on, other if other != on and kind == "spring_load" else ON_GROUND)
    return tuple(found)


def _further_extras(
    rng: np.random.Generator, links: list[Link], closures: list[Loop], before: int, switched: bool
) -> tuple[Extra, ...]:
    """Elements with states, bushings, and joints that are attached and released; `before`: so many extras are there."""
    found: list[Extra] = []

    def add(kind: str, on: int, other: int = ON_GROUND) -> None:
        found.append(Extra(EXTRA_KEYS + before + len(found), kind, on, other))

    joints: list[Link | Loop] = [*links, *closures]
    movable = [item.key for item in joints if item.joint not in (None, "weld")]
    for _ in range(int(rng.choice(3, p=(0.65, 0.25, 0.1))) if movable else 0):
        kind = STATEFUL[rng.integers(len(STATEFUL))]
        on, other = (int(k) for k in rng.choice(movable, 2))
        if kind != "backlash_between":
            add(kind, on)
        elif on != other:
            add(kind, on, other)
    if rng.random() < 0.1:
        on = links[rng.integers(len(links))].key
        other = [ON_GROUND, *(link.key for link in links)][rng.integers(len(links) + 1)]
        add(RUBBER, on, other if other != on else ON_GROUND)
    if switched and rng.random() < 0.2:
        jointed = [item.key for item in joints if item.joint not in (None, "free")]
        if jointed:
            add(SWITCHED[0], int(rng.choice(jointed)))
        if closures and rng.random() < 0.5:
            add(SWITCHED[1], int(rng.choice([loop.key for loop in closures])))
    return tuple(found)
