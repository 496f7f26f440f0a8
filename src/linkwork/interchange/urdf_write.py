"""Models to URDF. What the format cannot say stands in the extension, which Linkwork reads and others ignore."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.elements import Repeater, TorqueSource, VelocityServo
from ..model import GROUND, Body, Model
from ..model.joints.base import Joint
from ..model.rotation import Vector, vector
from .extension import TAG
from .extension_text import fields_of, item_tag, set_tag
from .report import LossReport
from .tree import Branch, Trunk, as_tree, body_pose, joint_pose
from .urdf_drives import ENDLESS
from .urdf_shapes_text import Looks
from .values import Pose, to_rpy
from .xml_text import Tag

KINDS = {
    "hinge": "revolute", "slider": "prismatic", "weld": "fixed", "free": "floating", "planar": "planar",
}  # fmt: skip
WORLD = "world"
_SAME = 1e-15  # how far a body's frame may be from its joint [m]


def write_urdf(model: Model, folder: Path, meshes: Path) -> tuple[str, LossReport]:
    """The text of a URDF file in `folder`, with copies of meshes from elsewhere in `meshes`, and what was lost."""
    writer = _Writer(model, Looks(folder, meshes))
    return writer.text(), writer.report


class _Writer:
    def __init__(self, model: Model, looks: Looks):
        self.model, self.looks = model, looks
        self.report = looks.report
        self.trunk: Trunk = as_tree(model, tuple(KINDS))
        self.flat = self.trunk.flat
        self.robot = Tag("robot", {"name": model.name})
        self.extension = Tag(TAG)
        self.frames: dict[str, Pose] = {GROUND: Pose(np.zeros(3), np.eye(3))}
        """Of every link, in the world with all joints at zero."""
        self.root = ""
        """Name of the link that stands for the ground."""
        self.in_tree = {branch.joint.name for branch in self.trunk.branches}

    def text(self) -> str:
        """All of it."""
        self._ground()
        for branch in self.trunk.branches:
            self._branch(branch)
        self._markers()
        self._couplings()
        self._drives()
        self._others()
        if self.extension.inside:
            self.robot.inside.append(self.extension)
        return '<?xml version="1.0"?>\n' + self.robot.text()

    def _ground(self) -> None:
        """A link for the ground."""
        self.root = WORLD if WORLD not in self.flat.bodies else f"{WORLD}_of_{self.model.name}"
        self.robot.add("link", name=self.root)
        if self.root != WORLD:
            self.report.add(
                "approximated", "the ground", f"it is the link '{self.root}', for a body is called {WORLD}"
            )
        if self.model.gravity != (0.0, 0.0, -9.81):
            self.extension.inside.append(set_tag("model", "", {"gravity": self.model.gravity}))
            self.report.add("approximated", "gravity", "URDF has none: other readers take their own")

    def _name(self, body: str) -> str:
        return self.root if body == GROUND else body

    def _origin(self, element: Tag, frame: Pose, home: Pose) -> None:
        """Where a frame stands in another."""
        seen = frame.seen_from(home)
        if seen.p.any() or not np.array_equal(seen.R, np.eye(3)):
            element.add("origin", xyz=seen.p, rpy=to_rpy(seen.R))

    # --- bodies ---

    def _branch(self, branch: Branch) -> None:
        body, joint = branch.body, branch.joint
        own, place = body_pose(self.flat, body.name), joint_pose(self.flat, joint)
        frame = own if joint.kind == "weld" else Pose(place.p, own.R)
        if np.abs(frame.p - own.p).max() <= _SAME:
            frame = own
        else:
            self.extension.add("frame", name=body.name, at=f"[{', '.join(map(repr, vector(own.p)))}]")
        self.frames[body.name] = frame
        self._link(body, own.seen_from(frame).p)
        self._joint(branch, place)

    def _link(self, body: Body, shift: Any) -> None:
        """A link whose body stands at `shift` in it."""
        link = self.robot.add("link", name=body.name)
        mass, com, inertia = body.mass_properties
        held = link.add("inertial")
        if (com + shift).any():
            held.add("origin", xyz=com + shift)
        held.add("mass", value=mass)
        xx, yy, zz, xy, xz, yz = (
            float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        )
        held.add("inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
        if body.density is not None:
            self.report.add("mapped", f"density of body '{body.name}'", "its mass and inertia")
        for part in self.looks.parts(body, shift):
            link.inside.append(part)
        kept = {
            key: getattr(body, key)
            for key in ("material", "group", "color")
            if getattr(body, key) is not None
        }
        if kept:
            self.extension.inside.append(set_tag("bodies", body.name, kept))
            if "material" in kept:
                self.report.add("dropped", f"material of body '{body.name}'", "other readers do not know it")
        self.report.add("taken", f"body '{body.name}'")

    # --- joints ---

    def _joint(self, branch: Branch, place: Pose) -> None:
        body, joint = branch.body, branch.joint
        kind = KINDS.get(joint.kind, "floating")
        bounds = joint.bounds()
        one = joint.kind in ("hinge", "slider")
        low, high = bounds[0] if one else (None, None)
        if joint.kind == "hinge" and (low is None or high is None):
            kind = "continuous"
        element = self.robot.add("joint", name=joint.name, type=kind)
        element.add("parent", link=self._name(branch.parent))
        element.add("child", link=body.name)
        frame = self.frames[body.name]
        self._origin(element, frame, self.frames[branch.parent])
        if kind in ("revolute", "continuous", "prismatic", "planar"):
            sign = -1.0 if branch.backwards else 1.0
            sign *= -1.0 if joint.mirrored and joint.kind == "slider" else 1.0
            element.add("axis", xyz=_clean(sign * frame.R.T @ place.R[:, 2]))
        if kind in ("revolute", "prismatic"):
            unlimited = (-ENDLESS, ENDLESS) if kind == "prismatic" else (0.0, 0.0)
            low, high = (unlimited[0] if low is None else low), (unlimited[1] if high is None else high)
            effort = max((d.strength for d in self._servos(joint)), default=math.inf)
            element.add("limit", lower=low, upper=high, effort=min(effort, ENDLESS), velocity=ENDLESS)
        if one and (joint.per_rate("damping")[0] or joint.per_rate("friction")[0]):
            element.add(
                "dynamics", damping=joint.per_rate("damping")[0], friction=joint.per_rate("friction")[0]
            )
        self._kept(branch, kind)

    def _servos(self, joint: Joint) -> list[VelocityServo]:
        return [
            d for d in self.flat.drives.values() if isinstance(d, VelocityServo) and d.joint == joint.name
        ]

    def _kept(self, branch: Branch, kind: str) -> None:
        """What of a joint URDF does not say."""
        joint, name = branch.joint, branch.joint.name
        if name not in self.flat.joints:
            self.extension.add("drop", shelf="joints", name=name)
            how = f"it floats without a joint: by the floating joint '{name}'"
            self.report.add("mapped", f"body '{joint.b}'", how)
            return
        if joint.kind not in KINDS:
            tag = item_tag(joint, self.report)
            assert tag is not None
            self.extension.inside.append(tag)
            how = f"other readers see a floating joint; Linkwork reads the {joint.kind} joint beside it"
            self.report.add("approximated", f"joint '{name}'", how)
            return
        if branch.backwards or joint.mirrored:
            self.report.add("mapped", f"joint '{name}'", "it is turned round, from its parent to its child")
        said = {"name", "a", "b", "at", "axis", "mirrored"}
        if joint.kind in ("hinge", "slider"):
            said |= {"damping", "friction"}
            low, high = joint.bounds()[0]
            if low is not None and high is not None and kind != "continuous":
                said.add("limits")
                if not low <= 0.0 <= high and joint.position == (low if low > 0.0 else high):
                    said.add("position")
        if joint.kind in ("free", "weld", "planar") and joint.kind != "planar":
            # A floating joint is read along the axes of its link.
            frame = self.frames[branch.body.name]
            home = np.column_stack([frame.R[:, 0], frame.R[:, 2]])
            place = joint_pose(self.flat, joint)
            if joint.kind == "weld" or np.abs(home - place.R[:, [0, 2]]).max() < 1e-14:
                said.add("reference")
            else:
                said.discard("axis")
        kept = fields_of(joint, said)
        if kind == "prismatic" and joint.limits is None:
            kept["limits"] = None
        if kept:
            self.extension.inside.append(set_tag("joints", name, kept))
        told = [key for key in kept if key not in ("reference", "axis")]
        if told:
            how = "Linkwork reads it in the extension; other readers do not"
            self.report.add("dropped", f"{', '.join(told)} of joint '{name}'", how)
        else:
            self.report.add("taken", f"joint '{name}'")

    # --- what hangs on bodies and joints ---

    def _markers(self) -> None:
        """Links without mass."""
        for marker in self.flat.markers.values():
            named = f"{marker.name}_frame"
            if marker.name in (self.root, *self.flat.bodies) or named in self.flat.joints:
                self._extend(marker, "something else has its name; other readers do not see it")
                continue
            self.robot.add("link", name=marker.name)
            element = self.robot.add("joint", name=named, type="fixed")
            element.add("parent", link=self._name(marker.body))
            element.add("child", link=marker.name)
            p, R = marker.frame
            self._origin(element, Pose(p, R), self.frames[marker.body])
            self.report.add("mapped", f"marker '{marker.name}'", "a link without mass")

    def _couplings(self) -> None:
        """Mimic joints."""
        led: set[str] = set()
        for coupling in self.flat.couplings.values():
            if not isinstance(coupling, Repeater) or coupling.a in led:
                self._extend(coupling, "other readers do not know it")
                continue
            one, other = self.flat.joints[coupling.a], self.flat.joints[coupling.b]
            if not all(
                joint.kind in ("hinge", "slider") and joint.name in self.in_tree for joint in (one, other)
            ):
                self._extend(coupling, "other readers do not know it")
                continue
            led.add(one.name)
            ratio = coupling.ratio
            offset = one.start()[0] - ratio * other.start()[0]
            for element in self.robot.inside:
                if element.name == "joint" and element.attributes["name"] == one.name:
                    element.add("mimic", joint=other.name, multiplier=ratio, offset=offset)
            self.report.add("mapped", f"repeater '{coupling.name}'", f"'{one.name}' mimics '{other.name}'")

    def _drives(self) -> None:
        """Transmissions."""
        driven: set[str] = set()
        for drive in self.flat.drives.values():
            joint = self.flat.joints[drive.joint]
            known = {TorqueSource: "EffortJointInterface", VelocityServo: "VelocityJointInterface"}.get(
                type(drive)
            )
            movable = joint.kind in ("hinge", "slider") and joint.name in self.in_tree
            if known is None or not movable or joint.name in driven:
                self._extend(drive, "URDF has no such drive; other readers do not see it")
                continue
            driven.add(joint.name)
            element = self.robot.add("transmission", name=drive.name)
            element.inside.append(_filled("type", "transmission_interface/SimpleTransmission"))
            inner = element.add("joint", name=joint.name)
            inner.inside.append(_filled("hardwareInterface", f"hardware_interface/{known}"))
            actuator = element.add("actuator", name=f"{drive.name}_actuator")
            actuator.inside.append(_filled("mechanicalReduction", "1"))
            limited = isinstance(drive, VelocityServo) and (
                None in joint.bounds()[0] or not math.isfinite(drive.strength)
            )
            said = {"name", "joint"} if limited else {"name", "joint", "strength"}
            if kept := fields_of(drive, said):
                self.extension.inside.append(set_tag("drives", drive.name, kept))
            self.report.add("mapped", f"{drive.kind} '{drive.name}'", "a transmission")

    def _others(self) -> None:
        """What only the extension can say."""
        for joint in self.trunk.closing:
            self._extend(joint, "URDF has no loops; other readers see an open mechanism")
        flat = self.flat
        shelves: list[dict[str, Any]] = [flat.materials, flat.material_pairs, flat.no_contacts, flat.loads]
        for shelf in shelves:
            for thing in shelf.values():
                self._extend(thing, "URDF has nothing like it; other readers do not see it")
        for thing in flat.scenery.values():
            if any(hasattr(shape, "file") and shape.file for shape in thing.shapes):
                self.report.add(
                    "dropped", f"scenery '{thing.name}'", "meshes and files of scenery cannot be written"
                )
            else:
                self._extend(thing, "other readers do not see it")

    def _extend(self, item: Any, how: str) -> None:
        tag = item_tag(item, self.report)
        if tag is not None:
            self.extension.inside.append(tag)
            self.report.add(
                "dropped", f"{item.kind} '{item.name}'", f"{how}; Linkwork reads it in the extension"
            )


def _filled(name: str, text: str) -> Tag:
    """An element with a text."""
    return Tag(name, words=text)


def _clean(axis: Any) -> Vector:
    """An axis without the dust of rounding."""
    return vector(np.where(np.abs(axis) < 1e-15, 0.0, axis))
