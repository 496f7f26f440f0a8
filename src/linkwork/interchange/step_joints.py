"""Joints that the shapes of an assembly suggest: coaxial cylinders, concentric spheres, faces on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..model.rotation import Array, Vector, vector
from .step_surfaces import Round, Surfaces

_PARALLEL = 1e-6
"""Sine of the angle between directions that are one."""
_PLAY = 0.1
"""Share of a radius by which a shaft may be smaller than its hole."""


class Candidate(NamedTuple):
    """A joint that the shapes of two parts suggest."""

    a: str
    b: str
    kind: str
    at: Vector
    """[m]"""
    axis: Vector
    why: str

    @property
    def name(self) -> str:
        """Of the joint."""
        return f"{self.a}_{self.b}"


class Shape(NamedTuple):
    """A part as it matters here."""

    name: str
    surfaces: Surfaces
    low: Array
    high: Array
    """Corners of the box around it [m]."""


def candidates(shapes: Sequence[Shape], slack: float) -> list[Candidate]:
    """Joints between any two parts whose boxes meet; lengths below `slack` [m] are none."""
    found: list[Candidate] = []
    for one, other in combinations(shapes, 2):
        if np.all(one.low <= other.high + slack) and np.all(other.low <= one.high + slack):
            found += _between(one, other, slack)
    return found


def chosen(found: Sequence[Candidate], shapes: Sequence[Shape], slack: float) -> list[Candidate]:
    """Of the candidates about one axis those that are enough; a pin is part of what it is in first."""
    lines: list[list[Candidate]] = []
    rest = []
    for one in found:
        if one.kind not in ("hinge", "cylindrical"):
            rest.append(one)
            continue
        line = next((line for line in lines if _same_line(line[0], one, slack)), None)
        if line is None:
            lines.append([one])
        else:
            line.append(one)
    known = {shape.name: shape for shape in shapes}
    for line in lines:
        rest += _spanning(line, known, slack)
    order = {one: k for k, one in enumerate((c.a, c.b) for c in found)}
    rest = _held(rest)
    return sorted(rest, key=lambda one: order[one.a, one.b])


def _spanning(line: list[Candidate], known: dict[str, Shape], slack: float) -> Iterator[Candidate]:
    """A tree over the parts on one axis."""
    names = list(dict.fromkeys(name for one in line for name in (one.a, one.b)))
    pins = [name for name in names if len(names) > 2 and _is_pin(known[name], line[0], slack)]
    joined: dict[str, str] = {name: name for name in names}

    def root(name: str) -> str:
        while joined[name] != name:
            name = joined[name]
        return name

    welded: set[str] = set()
    # Where there is a pin, others turn about it, not about each other.
    for one in sorted(line, key=lambda c: not {c.a, c.b} & set(pins)):
        if root(one.a) == root(one.b):
            continue
        joined[root(one.a)] = root(one.b)
        pin = next((name for name in (one.a, one.b) if name in pins and name not in welded), None)
        if pin is not None:
            welded.add(pin)
            yield one._replace(kind="weld", why=f"'{pin}' is a pin: held by one, others turn about it")
            continue
        # What turns about a pin may be stopped by what is beside it.
        moved = {one.a, one.b} - set(pins)
        stopped = next((c for c in line if c.kind == "hinge" and moved & {c.a, c.b}), None)
        yield one if stopped is None else one._replace(kind="hinge", why=stopped.why)


def _is_pin(shape: Shape, line: Candidate, slack: float) -> bool:
    """Whether a part is a shaft about an axis and nothing else."""
    at, axis = np.array(line.at), np.array(line.axis)
    rounds = shape.surfaces.rounds
    return bool(rounds) and all(not one.hollow and _on_line(one, at, axis, slack) for one in rounds)


def _held(found: list[Candidate]) -> list[Candidate]:
    """Without faces that merely touch, where something else joins the two parts."""
    joined = {(one.a, one.b) for one in found if one.kind != "planar"}
    return [one for one in found if one.kind != "planar" or (one.a, one.b) not in joined]


def _between(one: Shape, other: Shape, slack: float) -> Iterator[Candidate]:
    """Candidates between two parts."""
    stops = list(_contacts(one, other, slack))
    lines = list(_shared_axes(one, other, slack))
    if len(lines) > 1 and all(_parallel(lines[0][1], axis) for _, axis, _ in lines):
        at = np.mean([at for at, _, _ in lines], axis=0)
        why = f"{len(lines)} parallel axes hold it, as bolts do"
        yield Candidate(one.name, other.name, "weld", vector(_clean(at)), vector(lines[0][1]), why)
        return
    for at, axis, radius in lines:
        stopped = any(_parallel(normal, axis) for _, normal in stops)
        kind = "hinge" if stopped else "cylindrical"
        why = f"coaxial cylinders of radius {1e3 * radius:.4g} mm" + (
            ", faces across the axis" if stopped else ""
        )
        yield Candidate(one.name, other.name, kind, vector(_clean(at)), vector(axis), why)
    for ball in one.surfaces.balls:
        for mate in other.surfaces.balls:
            near = np.linalg.norm(ball.centre - mate.centre) <= slack and ball.hollow != mate.hollow
            if near and abs(ball.radius - mate.radius) <= _PLAY * ball.radius:
                why = f"concentric spheres of radius {1e3 * ball.radius:.4g} mm"
                yield Candidate(
                    one.name, other.name, "spherical", vector(_clean(ball.centre)), (0.0, 0.0, 1.0), why
                )
                return
    if not lines and stops:
        yield _by_faces(one.name, other.name, stops)


def _shared_axes(one: Shape, other: Shape, slack: float) -> Iterator[tuple[Array, Array, float]]:
    """Middle, direction and radius of axes that a hole and a shaft, or two holes, have in common."""
    seen: list[tuple[Array, Array]] = []
    for own in one.surfaces.rounds:
        for mate in other.surfaces.rounds:
            if not _on_line(mate, own.point, own.axis, slack) or (not own.hollow and not mate.hollow):
                continue
            if any(_on_line(own, at, axis, slack) for at, axis in seen):
                continue
            if abs(own.radius - mate.radius) > _PLAY * max(own.radius, mate.radius):
                continue
            shift = float(own.axis @ (mate.point - own.point))
            sign = 1.0 if own.axis @ mate.axis > 0.0 else -1.0
            ends = sorted((shift + sign * mate.low, shift + sign * mate.high))
            low, high = max(own.low, ends[0]), min(own.high, ends[1])
            # Two holes lie one behind the other; a shaft is in its hole.
            if low > high + (min(own.radius, mate.radius) if own.hollow and mate.hollow else -slack):
                continue
            axis = _forward(own.axis)
            at = own.point + 0.5 * (low + high) * own.axis
            seen.append((at, axis))
            yield at, axis, min(own.radius, mate.radius)


def _contacts(one: Shape, other: Shape, slack: float) -> Iterator[tuple[Array, Array]]:
    """Middle and normal of faces that lie on each other."""
    for own in one.surfaces.flats:
        for mate in other.surfaces.flats:
            if (
                own.normal @ mate.normal > -1.0 + _PARALLEL
                or abs(own.normal @ (mate.point - own.point)) > slack
            ):
                continue
            low, high = np.maximum(own.low, mate.low), np.minimum(own.high, mate.high)
            if np.all(low <= high + slack) and np.sum(high - low > slack) >= 2:
                yield 0.5 * (low + high), own.normal


def _by_faces(a: str, b: str, stops: list[tuple[Array, Array]]) -> Candidate:
    """What faces that lie on each other leave free."""
    at = stops[0][0]
    normals: list[Array] = []
    for _, normal in stops:
        if not any(_parallel(normal, other) for other in normals):
            normals.append(normal)
    rank = np.linalg.matrix_rank(np.array(normals), tol=1e-6)
    if rank == 1:
        return Candidate(
            a, b, "planar", vector(_clean(at)), vector(_forward(normals[0])), "a face lies on a face"
        )
    if rank == 2:
        axis = np.cross(normals[0], normals[1])
        return Candidate(
            a, b, "slider", vector(_clean(at)), vector(_forward(axis)), "faces guide it in two directions"
        )
    return Candidate(a, b, "weld", vector(_clean(at)), (0.0, 0.0, 1.0), "faces hold it in three directions")


def _forward(axis: Array) -> Array:
    """One of the two directions of an axis, whichever part it is read from."""
    unit = axis / np.linalg.norm(axis)
    leading = unit[np.argmax(np.abs(unit) > 1e-6)]
    return _clean(unit if leading > 0.0 else -unit)


def _clean(values: Array) -> Array:
    """Numbers without the dust of rounding."""
    found: Array = np.where(np.abs(values) < 1e-12, 0.0, values)
    return found


def _parallel(one: Array, other: Array) -> bool:
    return bool(np.linalg.norm(np.cross(one, other)) <= _PARALLEL)


def _on_line(one: Round, at: Array, axis: Array, slack: float) -> bool:
    off = np.cross(one.point - at, axis)
    return _parallel(one.axis, axis) and bool(np.linalg.norm(off) <= slack)


def _same_line(one: Candidate, other: Candidate, slack: float) -> bool:
    axis = np.array(one.axis)
    off = np.cross(np.array(other.at) - np.array(one.at), axis)
    return _parallel(axis, np.array(other.axis)) and bool(np.linalg.norm(off) <= slack)
