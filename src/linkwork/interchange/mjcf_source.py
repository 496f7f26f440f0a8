"""An MJCF file as MuJoCo understands it: defaults, classes, frames and includes resolved, with lines for messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import MissingExtraError, ModelError, Problem
from ..model.rotation import matrix
from .mjcf_scan import scan
from .places import Places
from .report import Fate, LossReport
from .values import Names, Pose

_NAMED = re.compile(r"(\w+) '([^']*)'")
_TAGS = {"keyframe": "key"}
"""Elements that errors call otherwise."""
_LINE = re.compile(r"line (\d+)")


class Source:
    """The compiled model, its specification, and how to name and place what is in them."""

    def __init__(self, file: Path, places: Places):
        try:
            import mujoco
        except ImportError:
            raise MissingExtraError("mujoco", "mjcf", f"reading '{file}'") from None
        self.mujoco, self.path = mujoco, file
        self.files, self.roots, self.attaches = scan(file, places)
        self.places = places
        try:
            self.spec = mujoco.MjSpec.from_file(str(file))
            for texture in list(self.spec.textures):  # nobody looks at them, and they may be large
                self.spec.delete(texture)
            for material in self.spec.materials:
                material.textures = [""] * len(material.textures)
            self.m = self.spec.compile()
        except Exception as error:  # MuJoCo raises ValueError and errors of its own
            raise self._error(error) from None
        self.report = LossReport()
        self.problems: list[Problem] = []
        self._lines = {
            kind: {int(element.id): _line(element.info) for element in getattr(self.spec, kind)}
            for kind in _KINDS.values()
        }
        self.bodies, self.joints, self.others = Names(), Names(), Names()
        self.poses = self._poses()

    def _error(self, error: Exception) -> ModelError:
        text = " ".join(str(error).split())
        found = _LINE.search(text)
        line = int(found[1]) if found else self._line_of(text)
        return ModelError([Problem("", f"MuJoCo cannot read it: {text[:400]}", self.path, line)])

    def _line_of(self, text: str) -> int | None:
        """Of what an error names by its kind and name: `keyframe 'home': invalid qpos size`."""
        named = [(_TAGS.get(kind, kind), name) for kind, name in _NAMED.findall(text)]
        if "allocate memory" in text:
            named.append(("size", ""))
        waiting = list(self.roots)
        while waiting:
            element = waiting.pop()
            if (element.tag, element.attributes.get("name", "")) in named:
                return element.line
            waiting += element.children
        return None

    def line(self, kind: str, i: int) -> int | None:
        """Where a thing stands, if that is known."""
        return self._lines.get(_KINDS.get(kind, ""), {}).get(i)

    def name(self, kind: str, i: int) -> str:
        """Name of a thing in the file, or one made of its kind and number."""
        given = self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), i)
        return given or f"{kind}{i}"

    def note(self, fate: Fate, kind: str, i: int, how: str = "", part: str = "") -> None:
        """Note what became of a thing."""
        label = f"{part} of " if part else ""
        self.report.add(fate, f"{label}{kind} '{self.name(kind, i)}'", how, self.path, self.line(kind, i))

    def drop(self, kind: str, count: int, how: str) -> None:
        """Note that all things of a kind are dropped."""
        for i in range(count):
            self.note("dropped", kind, i, how)

    def _poses(self) -> list[Pose]:
        """Of every body in the world as the file is written."""
        m, found = self.m, [Pose(np.zeros(3), np.eye(3))]
        for i in range(1, m.nbody):
            own = Pose(np.array(m.body_pos[i]), matrix(m.body_quat[i]))
            found.append(found[m.body_parentid[i]].then(own))
        return found

    def has(self, kind: str, i: int, enum: str) -> bool:
        """Whether an enumerated field of a thing has a value such as `mjtJoint.mjJNT_FREE`."""
        group, _, value = enum.partition(".")
        return int(getattr(self.m, kind)[i]) == int(getattr(getattr(self.mujoco, group), value))


_KINDS = {
    "body": "bodies", "joint": "joints", "geom": "geoms", "site": "sites", "camera": "cameras", "light": "lights",
    "equality": "equalities", "tendon": "tendons", "actuator": "actuators", "sensor": "sensors", "key": "keys",
    "exclude": "excludes", "pair": "pairs",
}  # fmt: skip


def _line(info: str) -> int | None:
    found = _LINE.search(info or "")
    return int(found[1]) if found else None


def floats(values: Any) -> tuple[float, ...]:
    """Numbers of an array as Python's."""
    return tuple(float(x) for x in np.ravel(values))
