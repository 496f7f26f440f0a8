"""Numbers, places and names out of XML attributes; what is wrong with them is gathered, each with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..model.errors import LinkworkError, ModelError, Problem
from ..model.item import GROUND
from ..model.rotation import Array, Quaternion, Vector, quaternion, vector
from .report import Fate, LossReport
from .xml_source import Element

_UNFIT = re.compile(r"[\s/:\\\"'.]+")


class Pose(NamedTuple):
    """Position [m] and rotation matrix of a frame."""

    p: Array
    R: Array

    def then(self, other: Pose) -> Pose:
        """A frame that stands at `other` in this one."""
        return Pose(self.p + self.R @ other.p, self.R @ other.R)

    def seen_from(self, home: Pose) -> Pose:
        """This frame as it stands in `home`."""
        return Pose(home.R.T @ (self.p - home.p), home.R.T @ self.R)

    @property
    def at(self) -> Vector:
        """Position [m]."""
        return vector(self.p)

    @property
    def rotation(self) -> Quaternion:
        """As a quaternion."""
        return quaternion(self.R)


HERE = Pose(np.zeros(3), np.eye(3))


def from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix of turns about the fixed axes x, y and z, in this order."""
    (a, b, c), (s, t, u) = (tuple(map(f, (roll, pitch, yaw))) for f in (math.cos, math.sin))
    return np.array(
        [
            [b * c, s * t * c - a * u, a * t * c + s * u],
            [b * u, s * t * u + a * c, a * t * u - s * c],
            [-t, s * b, a * b],
        ]
    )


def to_rpy(R: Array) -> tuple[float, float, float]:
    """Turns about the fixed axes x, y and z that make a rotation; to rounding also where y turns by a right angle."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    yaw = math.atan2(R[1, 0], R[0, 0]) if math.hypot(R[0, 0], R[1, 0]) > 1e-12 else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def six(inertia: Array) -> tuple[float, ...]:
    """(xx, yy, zz, xy, xz, yz) of an inertia matrix."""
    return tuple(float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


class Names:
    """Names that models accept, each once, for names that other formats accept."""

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = {GROUND, *taken}

    def fit(self, name: str) -> str:
        """A name like this one, free until now."""
        base = _UNFIT.sub("_", name)[:180] or "unnamed"
        fitting, number = base, 1
        while fitting in self._taken:
            number += 1
            fitting = f"{base}_{number}"
        self._taken.add(fitting)
        return fitting


class Values:
    """Reads attributes; problems and what became of things are gathered here."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.report = LossReport()

    def refuse(self, element: Element, what: str, attribute: str = "") -> None:
        """Note something wrong."""
        self.problems.append(element.problem(what, attribute))

    def note(self, fate: Fate, element: Element, what: str, how: str = "") -> None:
        """Note what became of a thing."""
        self.report.add(fate, what, how, element.file, element.line)

    def told(self, element: Element, error: LinkworkError) -> None:
        """Note what a constructor found wrong with an element."""
        if not isinstance(error, ModelError):
            raise error
        for problem in error.problems:
            self.refuse(element, f"{problem.where}: {problem.what}" if problem.where else problem.what)

    def text(self, element: Element, attribute: str) -> str:
        """An attribute that must be there; empty if it is not."""
        value = element.attributes.get(attribute, "")
        if not value:
            self.refuse(element, "is required", attribute)
        return value

    def number(self, element: Element, attribute: str, default: float | None = None) -> float:
        """A finite number; the default, or zero after a problem, if it is none."""
        text = element.attributes.get(attribute)
        if text is None:
            if default is None:
                self.refuse(element, "is required", attribute)
            return default or 0.0
        found = self._numbers(element, attribute, text)
        if len(found) != 1:
            self.refuse(element, f"must be one number (got '{text[:40]}')", attribute)
            return 1.0
        return found[0]

    def triple(self, element: Element, attribute: str, default: Vector | None = None) -> Vector:
        """Three finite numbers."""
        text = element.attributes.get(attribute)
        if text is None:
            if default is None:
                self.refuse(element, "is required", attribute)
            return default or (1.0, 1.0, 1.0)
        found = self._numbers(element, attribute, text)
        if len(found) != 3:
            self.refuse(element, f"must be three numbers (got '{text[:60]}')", attribute)
            return default or (1.0, 1.0, 1.0)
        return found[0], found[1], found[2]

    def _numbers(self, element: Element, attribute: str, text: str) -> list[float]:
        found = []
        for word in text.split():
            try:
                value = float(word) if "_" not in word else math.nan
            except ValueError:
                hint = "; it is a formula of xacro: read the output of xacro instead" if "$" in text else ""
                self.refuse(element, f"'{word[:40]}' is not a number{hint}", attribute)
                value = 1.0
            if not math.isfinite(value):
                self.refuse(element, f"must be a finite number (got '{word[:40]}')", attribute)
                value = 1.0
            found.append(value)
        return found

    def origin(self, element: Element) -> Pose:
        """The frame that an <origin> inside an element describes."""
        origin = element.find("origin")
        if origin is None:
            return HERE
        p = np.array(self.triple(origin, "xyz", (0.0, 0.0, 0.0)))
        if "quat_xyzw" in origin.attributes:
            self.refuse(origin, "quat_xyzw is not known here; write rpy", "quat_xyzw")
        return Pose(p, from_rpy(*self.triple(origin, "rpy", (0.0, 0.0, 0.0))))
