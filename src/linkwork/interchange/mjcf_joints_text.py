"""Joints as elements of MJCF: each elementary motion is one of MuJoCo's joints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model import Flat
from ..model.joints import Free, Hinge, Slider, Spherical
from ..model.joints.base import Joint, Motion
from ..model.rotation import Array, matrix, vector
from .alike import restates
from .mjcf_extension import Extension
from .tree import Branch, body_pose, joint_pose
from .values import HERE, Names, Pose
from .xml_text import Tag

ENDLESS = 1e9
"""What is written for a limit where there is none."""
_PER_RATE = {"damping": "damping", "friction": "frictionloss", "armature": "armature", "spring": "stiffness"}
"""Fields of joints, and what MJCF calls them."""


class Column(NamedTuple):
    """One of MuJoCo's joints: what it tells of which joint."""

    name: str
    kind: str
    """hinge, slide, ball or free."""
    branch: Branch
    rate: int
    """Its rate among those of the joint; of a ball or free joint, the first."""


class JointWriter:
    """Writes the joints of bodies, and knows afterwards what a reader finds."""

    def __init__(self, flat: Flat, extension: Extension):
        self.flat, self.extension, self.report = flat, extension, extension.report
        self.names = Names()
        self.columns: list[Column] = []
        """In MuJoCo's order."""
        self.read: dict[str, Joint] = {}
        """What is read under each name."""
        self.parts: dict[str, list[str]] = {}
        """MuJoCo's joints that a joint is, by its name."""
        self.screws: list[tuple[str, str, float]] = []
        """Slide, hinge, and way per angle."""
        self.still: list[tuple[str, float]] = []
        """Joints whose limits hold them, and where."""

    def write(self, branch: Branch, element: Tag, own: Pose, parent: str) -> list[Joint]:
        """Add the joints of a body to its element; returns them, outermost first, as they are read on their own."""
        joint = branch.joint
        place = joint_pose(self.flat, joint).seen_from(own)
        found: list[Joint] = []
        parts = self.parts.setdefault(joint.name, [])
        if joint.kind == "free":
            found.append(self._ball(branch, element, own, "free", 0, joint.name))
        else:
            motions = _by_rate(joint)
            for rate, motion in reversed(motions) if branch.backwards else motions:
                label = joint.name if len(motions) == 1 else f"{joint.name}_{motion.name}"
                if motion.ball:
                    found.append(self._ball(branch, element, own, "ball", rate, label))
                else:
                    found += self._single(branch, element, own, place, motion, rate, label)
        parts += [one.name for one in found]
        self._tell(joint, parts)
        return found

    def _ball(self, branch: Branch, element: Tag, own: Pose, kind: str, rate: int, label: str) -> Joint:
        joint, name = branch.joint, self.names.fit(label)
        place = joint_pose(self.flat, joint)
        at = place.p if kind == "ball" else own.p
        rates = 3 if kind == "ball" else 6
        said = {key: joint.per_rate(key)[rate : rate + rates] for key in _PER_RATE}
        shared: dict[str, Any] = {key: values[0] for key, values in said.items() if any(values)}
        element.add(
            "joint", name=name, type=kind, pos=own.R.T @ (at - own.p) if kind == "ball" else None,
            **{_PER_RATE[key]: value for key, value in shared.items()},
        )  # fmt: skip
        if any(len(set(values)) > 1 for values in said.values()):
            how = "MuJoCo has one number for all its rates: the first"
            self.report.add("approximated", f"joint '{joint.name}'", how)
        fields: dict[str, Any] = {"axis": vector(own.R[:, 2]), "reference": vector(own.R[:, 0])}
        if kind == "ball" and (bounds := joint.bounds()[rate]) != (None, None):
            reach = min(abs(end) for end in bounds if end is not None)
            element.inside[-1].attributes["range"] = f"0 {reach!r}"
            fields["limits"] = (-reach, reach)
            how = f"MuJoCo limits the angle of its rotation, to {reach:g}"
            self.report.add("approximated", f"limits of joint '{joint.name}'", how)
        self.columns.append(Column(name, kind, branch, rate))
        cls = Spherical if kind == "ball" else Free
        return cls(name, "ground", branch.body.name, at=vector(at), **fields, **shared)

    def _single(
        self, branch: Branch, element: Tag, own: Pose, place: Pose, motion: Motion, rate: int, label: str
    ) -> list[Joint]:
        """A hinge or a slide; of a screw, both."""
        joint = branch.joint
        axis = (-1.0 if branch.backwards else 1.0) * place.R[:, motion.axis]
        kinds = ["hinge"] * bool(motion.rot) + ["slide"] * bool(motion.trans)
        found: list[Joint] = []
        for kind in kinds:
            name = self.names.fit(label if kind == kinds[0] else f"{label}_travel")
            sign = -1.0 if kind == "slide" and joint.mirrored else 1.0
            made = element.add("joint", name=name, type=kind, pos=place.p, axis=_clean(sign * axis))
            fields: dict[str, Any] = {}
            if kind == kinds[0]:
                fields = self._resistance(joint, rate, made, name)
                self.columns.append(Column(name, kind, branch, rate))
            else:
                way = motion.trans / motion.rot
                self.screws.append((name, self.columns[-1].name, way))
                self.columns.append(Column(name, f"slide of {way!r}", branch, rate))
            cls = Hinge if kind == "hinge" else Slider
            where = vector(own.p + own.R @ place.p)
            seen = vector(own.R @ _clean(sign * axis))
            found.append(cls(name, "ground", branch.body.name, at=where, axis=seen, **fields))
        return found

    def _resistance(self, joint: Joint, rate: int, made: Tag, name: str) -> dict[str, Any]:
        """Spring, damping, friction, rotor and limits of one coordinate."""
        fields: dict[str, Any] = {}
        for key, called in _PER_RATE.items():
            if value := joint.per_rate(key)[rate]:
                fields[key] = value
                made.attributes[called] = repr(value)
        if "spring" in fields and (rest := joint.per_rate("rest")[rate]):
            made.attributes["springref"] = repr(rest)
            fields["rest"] = rest
        low, high = joint.bounds()[rate]
        if low is not None and low == high:
            self.still.append((name, low))
            fields |= {"limits": (low, low), "position": low}
        elif low is not None or high is not None:
            low, high = -ENDLESS if low is None else low, ENDLESS if high is None else high
            made.attributes["range"] = f"{low!r} {high!r}"
            fields["limits"] = (low, high)
            if not low <= 0.0 <= high:
                fields["position"] = low if low > 0.0 else high
        return fields

    def _tell(self, joint: Joint, parts: list[str]) -> None:
        """What became of a joint."""
        if joint.restitution:
            how = "MuJoCo's limits are soft; Linkwork reads it in the extension"
            self.report.add("dropped", f"restitution of joint '{joint.name}'", how)
        if joint.name not in self.flat.joints:
            how = f"it floats without a joint: by the free joint '{joint.name}'"
            self.report.add("mapped", f"body '{joint.b}'", how)
        elif parts == [joint.name]:
            self.report.add("taken", f"joint '{joint.name}'")
        else:
            self.report.add("mapped", f"joint '{joint.name}'", f"{joint.kind}: {', '.join(parts)}")

    def restate(self, branch: Branch) -> None:
        """Have Linkwork read all of a joint."""
        joint, parts = branch.joint, self.parts[branch.joint.name]
        if joint.name not in self.flat.joints:  # it floats without one
            self.extension.drop("joints", parts[0])
            return
        if not restates(joint, self.read.get(joint.name)):
            return
        for part in parts:
            if part != joint.name:
                self.extension.drop("joints", part)
        self.extension.add(joint, joint.name if joint.name in parts else None)

    # --- where it starts ---

    def start(self, q: dict[str, Array], v: dict[str, Array]) -> tuple[list[float], list[float]]:
        """Coordinates and rates of MuJoCo for those of every joint."""
        qpos: list[float] = []
        qvel: list[float] = []
        for column in self.columns:
            joint = column.branch.joint
            a, b = q[joint.name], v[joint.name]
            if column.kind in ("ball", "free"):
                place, rate = self._turned(column, a, b)
                qpos += place
                qvel += rate
            else:
                k = sum(_count(motion) for r, motion in _by_rate(joint) if r < column.rate)
                way = float(column.kind.split()[-1]) if " " in column.kind else 1.0
                qpos.append(way * float(a[k]))
                qvel.append(way * float(b[column.rate]))
        return qpos, qvel

    def _turned(self, column: Column, q: Array, v: Array) -> tuple[list[float], list[float]]:
        """Of a ball or free joint: MuJoCo counts along the world and in the axes of the body."""
        branch = column.branch
        joint, own = branch.joint, body_pose(self.flat, branch.body.name)
        J = joint_pose(self.flat, joint)
        sign = -1.0 if joint.mirrored else 1.0
        turn = Pose(sign * q[-7:-4] if column.kind == "free" else np.zeros(3), matrix(q[-4:]))
        spin, glide = v[-3:], sign * v[-6:-3] if column.kind == "free" else np.zeros(3)
        if branch.backwards:
            turn, spin, glide = (
                HERE.seen_from(turn),
                -turn.R @ spin,
                -turn.R.T @ (glide - np.cross(turn.R @ spin, turn.p)),
            )
        moved = J.then(turn).then(own.seen_from(J))
        if column.kind == "ball":
            relative = Pose(np.zeros(3), own.R.T @ moved.R)
            return list(relative.rotation), (own.R.T @ J.R @ spin).tolist()
        arm = moved.p - J.then(turn).p
        velocity = J.R @ glide + np.cross(J.R @ turn.R @ spin, arm)
        place = [*moved.p.tolist(), *moved.rotation]
        return place, [*velocity.tolist(), *(own.R.T @ J.R @ spin).tolist()]


def _by_rate(joint: Joint) -> list[tuple[int, Motion]]:
    """Motions with the place of their first rate."""
    found, rate = [], 0
    for motion in joint.motions():
        found.append((rate, motion))
        rate += len(motion.rates)
    return found


def _count(motion: Motion) -> int:
    return len(motion.coordinates)


def _clean(axis: Any) -> Array:
    """An axis without the dust of rounding."""
    found: Array = np.where(np.abs(axis) < 1e-15, 0.0, axis)
    return found
