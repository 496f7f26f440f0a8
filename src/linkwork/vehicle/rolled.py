"""A car while it rolls: where its bodies go, what of it has inertia, what springs back; in NumPy, by its kinematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.loads import Spring
from ..model.joints import Joint
from ..model.rotation import Array, matrix
from .axle import Axle
from .car import AXLES, Car
from .linkage import joint_axes
from .suspensions.base import GRAVITY
from .suspensions.whole_axle import SIDES

_MIRROR = np.diag([1.0, -1.0, 1.0])
_TURNS = 30
FREEDOMS = ("aside", "yaw", "roll", "front", "rear")
"""Lateral velocity and yaw rate of the chassis where its centre of mass is above the road, its roll, and how far the
suspensions of both axles have moved: the left wheel up and the right one down, in their coordinates."""
STEP = 1e-3
"""Of roll [rad] and of suspensions [rad or m], by which rates are taken."""


class Displaced(NamedTuple):
    """x -> R x + p of a body, in the axes of the chassis."""

    R: Array
    p: Array


FIXED = Displaced(np.eye(3), np.zeros(3))
Moves = dict[str, Displaced]


class Rolled:
    """A car with its wheels; its origin is on the road below the centre of the chassis' mass, as drawn at rest."""

    def __init__(self, car: Car):
        self.car = car
        self.model = car.model().flatten()
        self.bodies = {
            name: (*body.mass_properties, np.array(body.at, float), matrix(body.rotation))
            for name, body in self.model.bodies.items()
            if body.mass_properties.mass > 0.0
        }
        self.springs = [load for load in self.model.loads.values() if isinstance(load, Spring)]
        self.twists = [joint for joint in self.model.joints.values() if _sprung(joint)]
        self.moves = [self._mover(k) for k in range(2)]
        """Of each axle: where its bodies go at a coordinate."""
        self._found: dict[tuple[int, float], Moves] = {}

    def centre(self, axle: int, side: int) -> Array:
        """Of a wheel as drawn [m]."""
        x, y = (self.car.arms[0], -self.car.arms[1])[axle], (0.5, -0.5)[side] * self.car.track
        return np.array([x, y, self.car.centres[axle]])

    def at(self, axle: int, coordinate: float) -> Moves:
        """Where the bodies of an axle go; poses are closed once."""
        if (axle, coordinate) not in self._found:
            self._found[axle, coordinate] = self.moves[axle](coordinate)
        return self._found[axle, coordinate]

    def _mover(self, k: int) -> Callable[[float], Moves]:
        axle, name = self.car.axles[k], AXLES[k]
        middle = 0.5 * (self.centre(k, 0) + self.centre(k, 1))
        found = _together(axle, name, middle) if axle.whole else _apart(axle, name, middle)
        if axle.anti_roll is None:
            return found

        def with_bar(coordinate: float) -> Moves:
            moved = found(coordinate)
            for side in SIDES:
                moved[f"{name}.bar_{side}"] = self._bar(f"{name}.bar", side, moved)
            return moved

        return with_bar

    def _bar(self, bar: str, side: str, moved: Moves) -> Displaced:
        """A half of an anti-roll bar, turned about its bearing so that its link keeps its length."""
        link: Any = self.model.joints[f"{bar}_link_{side}"]
        at, top, foot = (
            np.array(x, float) for x in (self.model.bodies[f"{bar}_{side}"].at, link.at, link.to)
        )
        length, there = math.dist(top, foot), _point(moved, link.b, foot)
        angle = 0.0
        for _ in range(_TURNS):
            R = _about_y(angle)
            arm = R @ (top - at)
            way = at + arm - there
            off = float(np.linalg.norm(way)) - length
            angle -= off / float(way @ np.array([arm[2], 0.0, -arm[0]]) / np.linalg.norm(way))
            if abs(off) < 1e-15:
                break
        return Displaced(_about_y(angle), at - _about_y(angle) @ at)

    # --- energies ---

    def potential(self, roll: float, coordinates: tuple[float, float]) -> float:
        """Of weights, springs and tyres, the chassis turned by `roll` and both axles moved [J]."""
        from .tyre_rig import numbers

        moved = self.at(0, coordinates[0]) | self.at(1, coordinates[1])
        up = np.array([0.0, math.sin(roll), math.cos(roll)])  # of the road, seen from the chassis
        energy = 0.0
        for name, (mass, com, _, at, R) in self.bodies.items():
            energy += mass * GRAVITY * float(up @ _point(moved, name, at + R @ np.asarray(com)))
        for stiffness, _, stretch in self._stretches(moved):
            energy += 0.5 * stiffness * stretch**2
        for k, tyre in enumerate(self.car.tyres):
            assert tyre is not None
            radius, rate, growth = numbers(tyre)[:3]
            for side in range(2):
                name = f"{AXLES[k]}.{SIDES[side]}.wheel"
                axle = moved[name].R[:, 1]
                lowest = float(up @ _point(moved, name, self.centre(k, side)))
                pressed = radius * math.sqrt(1.0 - float(up @ axle) ** 2) - lowest
                energy += (0.5 * rate + growth * pressed / 3.0) * pressed**2
        return energy

    def _stretches(self, moved: Moves) -> list[tuple[float, float, float]]:
        """Stiffness, damping and stretch of every spring."""
        found = []
        for spring in self.springs:
            ends = [np.array(x, float) for x in (spring.at_a, spring.at_b)]
            slack = math.dist(*ends) if spring.length is None else spring.length
            here, there = (_point(moved, b, x) for b, x in zip((spring.a, spring.b), ends, strict=True))
            found.append((spring.stiffness, spring.damping, math.dist(here, there) - slack))
        for joint in self.twists:
            a, b = (moved.get(name, FIXED) for name in (joint.a, joint.b))
            F, P = joint_axes(joint), np.array(joint.at, float)
            turned, way = _turn(a.R.T @ b.R), a.R.T @ (b.R @ P + b.p - a.R @ P - a.p)
            lines = [(x.axis, turned if x.rot else way) for x in joint.motions()]
            for k, (stiffness, damping, rest) in enumerate(_sprung(joint)):
                axis, now = lines[k]
                found.append((stiffness, damping, float(F[:, axis] @ now) - rest))
        return found

    def damping(self, coordinates: tuple[float, float]) -> Array:
        """Of all springs against the rates of both coordinates, 2 × 2."""
        rates = np.zeros((len(self._stretches({})), 2))
        rated = np.array([damping for _, damping, _ in self._stretches({})])
        for k in range(2):
            ends = []
            for sign in (1.0, -1.0):
                at = list(coordinates)
                at[k] += sign * STEP
                moved = self.at(0, at[0]) | self.at(1, at[1])
                ends.append(np.array([stretch for _, _, stretch in self._stretches(moved)]))
            rates[:, k] = (ends[0] - ends[1]) / (2.0 * STEP)
        found: Array = rates.T @ (rated[:, None] * rates)
        return found

    # --- motion at rest, as drawn ---

    def rate(self, axle: int, name: str, x: Array) -> tuple[Array, Array]:
        """How fast a body turns [rad] and its point at x moves [m], per rate of an axle's coordinate."""
        moved = [self.at(axle, sign * STEP).get(name, FIXED) for sign in (1.0, -1.0)]
        shift = (moved[0].R - moved[1].R) @ x + moved[0].p - moved[1].p
        return _turn(moved[0].R @ moved[1].R.T) / (2.0 * STEP), shift / (2.0 * STEP)

    def jacobian(self, name: str, x: Array) -> tuple[Array, Array]:
        """How a body turns and its point at x moves with the rates of `FREEDOMS`, 3 × 5 each."""
        turning, shift = np.zeros((3, 5)), np.zeros((3, 5))
        shift[:, 0] = 0.0, 1.0, 0.0
        for k, axis in ((1, (0.0, 0.0, 1.0)), (2, (1.0, 0.0, 0.0))):
            turning[:, k], shift[:, k] = axis, np.cross(axis, x)
        for k in range(2):
            turning[:, 3 + k], shift[:, 3 + k] = self.rate(k, name, x)
        return turning, shift

    def inertia(self) -> Array:
        """Mass matrix of `FREEDOMS`; wheels do not take part in turns about their axles, but roll."""
        M = np.zeros((5, 5))
        wheels = {
            f"{axle}.{side}.wheel": (k, s) for k, axle in enumerate(AXLES) for s, side in enumerate(SIDES)
        }
        for name, (mass, com, inertia, at, R) in self.bodies.items():
            turning, shift = self.jacobian(name, at + R @ np.asarray(com))
            own = R @ np.asarray(inertia) @ R.T
            if name in wheels:
                k, s = wheels[name]
                spin = own[1, 1]
                own = own.copy()
                own[1] = own[:, 1] = 0.0
                rolled = self.jacobian(name, self.centre(k, s))[1][0] / self.rolling_radius(k)
                M += spin * np.outer(rolled, rolled)
            M += mass * shift.T @ shift + turning.T @ own @ turning
        return M

    def rolling_radius(self, axle: int) -> float:
        """Way per angle of its wheels [m]."""
        return 1.0 / self.car.rolling(1.0)[f"{AXLES[axle]}.left.axle.angle_rate"]

    def spins(self, axle: int) -> float:
        """Moments of inertia of both wheels of an axle about it [kg m²]."""
        found = [self.bodies[f"{AXLES[axle]}.{side}.wheel"] for side in SIDES]
        return float(sum((R @ np.asarray(J) @ R.T)[1, 1] for _, _, J, _, R in found))


def _sprung(joint: Joint) -> list[tuple[float, float, float]]:
    """Stiffness, damping and rest of a joint's coordinates; nothing if none of them is sprung."""
    given = [getattr(joint, name, 0.0) or 0.0 for name in ("spring", "damping", "rest")]
    count = len(joint.rates)
    lines = [np.broadcast_to(np.array(x, float), (count,)) for x in given]
    return [tuple(map(float, line)) for line in zip(*lines, strict=True)] if lines[0].any() else []  # type: ignore[misc]


def _apart(axle: Axle, name: str, middle: Array) -> Callable[[float], Moves]:
    """Wheels on suspensions of their own."""
    chain, half = axle.left.chain, axle.half

    def moved(coordinate: float) -> Moves:
        found: Moves = {}
        for side, sign, flip in (("left", 1.0, np.eye(3)), ("right", -1.0, _MIRROR)):
            pose = chain.at(sign * coordinate)
            origin = middle + np.array([0.0, sign * half, 0.0])
            names = [*(body.name for body in chain.bodies), "wheel"]
            for body, i in zip(names, [*range(len(chain.bodies)), chain.carrier], strict=True):
                R = flip @ pose.R[i] @ flip
                found[f"{name}.{side}.{body}"] = Displaced(R, origin - R @ origin + flip @ pose.p[i])
        return found

    return moved


def _together(axle: Axle, name: str, middle: Array) -> Callable[[float], Moves]:
    """Wheels on one suspension, whose coordinate is the left one's height [m]."""
    pair = axle.pair

    def moved(coordinate: float) -> Moves:
        pose = pair.at_heights(coordinate, -coordinate)
        names = [*(body.name for body in pair.bodies), *(f"{side}.wheel" for side in SIDES)]
        found = {}
        for body, i in zip(names, [*range(len(pair.bodies)), *pair.carriers], strict=True):
            found[f"{name}.{body}"] = Displaced(pose.R[i], middle - pose.R[i] @ middle + pose.p[i])
        return found

    return moved


def _point(moved: Moves, body: str, x: Array) -> Array:
    R, p = moved.get(body, FIXED)
    there: Array = R @ x + p
    return there


def _about_y(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _turn(R: Array) -> Array:
    """Rotation vector of a turn that is not large."""
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = float(np.linalg.norm(sine))
    turned: Array = sine * (math.asin(min(size, 1.0)) / size if size > 0.0 else 1.0)
    return turned


__all__ = ["FREEDOMS", "STEP", "Rolled"]
