"""URDF to models: links as bodies or markers, joints where they stand at zero, mimic joints as couplings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..io.files import stamp
from ..model import GROUND, Body, Marker, Model, Scenery
from ..model.body import inertia_matrix
from ..model.errors import LinkworkError, ModelError, nearest
from ..model.joints import Free, Hinge, Planar, Slider, Weld
from ..model.joints.base import Joint
from ..model.rotation import Array, matrix, vector
from ..model.shapes import MassProperties, combine
from .extension import TAG, read_extension
from .places import Places
from .report import Imported
from .touching import let_touch
from .urdf_drives import ENDLESS, read_mimics, read_transmissions
from .urdf_shapes import Geometry
from .urdf_tree import Link, LinkTree, end_of
from .values import Names, Pose, Values, six
from .xml_source import Element, read_xml

TYPES: dict[str, type[Joint]] = {
    "revolute": Hinge, "continuous": Hinge, "prismatic": Slider, "fixed": Weld, "floating": Free, "planar": Planar,
}  # fmt: skip
_KNOWN_IN_LINK = ("inertial", "visual", "collision")
_KNOWN_IN_JOINT = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
_UNREAD = {
    "safety_controller": "it bounds what controllers command: give these the bounds",
    "calibration": "it is for the encoders of the real robot",
}
"""Elements of joints that are no mechanics, and why."""
_NONE = (0.0, 0.0, 0.0)
_NOTHING: dict[str, Any] = {"mass": 0.0, "inertia": _NONE}
_POINT = 1e-14  # moments of a mass of 1 kg that are none [m²]
_TRIANGLE = 1e-6  # share of the largest moment that rounding of published inertias may take


def read_urdf(
    file: Path,
    *,
    search: Sequence[Path] = (),
    meshes: bool = True,
    free_base: bool = False,
    contact: bool = False,
) -> Imported:
    """The model that a URDF file describes, with all joints at zero, or as near as their limits allow.

    Its root is welded to the ground unless `free_base`; it touches nothing unless `contact`. Raises a ModelError with
    everything that is wrong, each with its line.
    """
    file = Path(file)
    known = {str(file.absolute()): stamp(str(file.absolute()))}
    root = read_xml(file)
    reader = _Reader(root, Places(file, tuple(search)), meshes)
    model = reader.read(free_base)
    if contact and not reader.values.problems:
        let_touch(model, reader.values.report)
    if reader.values.problems:
        raise ModelError(
            sorted(dict.fromkeys(reader.values.problems), key=lambda one: (one.line or 0, one.column or 0))
        )
    model.files = known
    return Imported(model, reader.values.report)


class _Reader:
    """Makes a model of the elements of a <robot>."""

    def __init__(self, root: Element, places: Places, meshes: bool):
        self.root = root
        self.values, self.model = Values(), Model()
        self.geometry = Geometry(self.values, places, meshes)
        self.tree = LinkTree(root, self.values)
        self.bodies, self.names = Names(), Names()
        self.carrier: dict[str, str] = {}
        """Body that a link is, or is part of, by the link's name."""
        self.poses: dict[str, Pose] = {}
        self.joint_of: dict[str, Joint] = {}

    def read(self, free_base: bool) -> Model:
        values, root = self.values, self.root
        if root.tag != "robot":
            values.refuse(
                root, f"is not URDF: its root must be <robot> (got <{root.tag[:40]}>){_advice(root.tag)}"
            )
            return self.model
        model = self.model
        model.name = root.attributes.get("name") or "robot"
        self.tree.sections()
        for material in self.tree.materials:
            self.geometry.color_of(material)
        order = self.tree.order()
        if values.problems:  # a broken tree makes the rest meaningless
            return model
        for link in order:
            self._link(model, link)
        self._root(model, order[0], free_base)
        for link in order[1:]:
            self._joint(model, link)
        read_mimics(model, self.tree.joints, self.joint_of, values)
        read_transmissions(model, root, self.tree.joints, self.joint_of, values)
        for element in root.all(TAG):
            read_extension(model, element, values)
        return model

    # --- links ---

    def _link(self, model: Model, link: Link) -> None:
        element, values = link.element, self.values
        name = element.attributes["name"]
        self.poses[name] = link.pose
        inertial = element.find("inertial")
        for child in element.children:
            if child.tag not in _KNOWN_IN_LINK:
                values.note(
                    "dropped", child, f"{child.tag} of link '{name}'", "it is no mechanics, or not known here"
                )
        shapes = self.geometry.shapes(element)
        fixed = link.joint is not None and link.joint.attributes.get("type") == "fixed"
        placed: dict[str, Any] = {"at": link.pose.at, "rotation": link.pose.rotation}
        fitting = self.bodies.fit(name) if (name != "world" or link.joint is not None or inertial) else GROUND
        try:
            if fitting == GROUND:
                self.carrier[name] = GROUND
                if shapes:
                    model.add(Scenery("world_shapes", shapes=shapes, **placed))
                values.note("mapped", element, f"link '{name}'", "it is the ground")
            elif inertial is None and fixed and not shapes:
                assert link.joint is not None
                self.carrier[name] = self.carrier[end_of(link.joint, "parent")]
                model.add(Marker(fitting, self.carrier[name], **placed))
                values.note("mapped", element, f"link '{name}'", "it has neither mass nor shape: a marker")
            else:
                weights = self._weights(element, inertial)
                if fixed and _impossible(weights):
                    weights = self._lumped(link, weights)
                model.add(Body(fitting, **weights, **placed, shapes=shapes))
                self.carrier[name] = fitting
                renamed = "" if fitting == name else f"it is called '{fitting}' here"
                values.note("mapped" if renamed else "taken", element, f"link '{name}'", renamed)
        except LinkworkError as error:
            self.carrier.setdefault(name, fitting)
            values.told(inertial or element, error)

    def _weights(self, link: Element, inertial: Element | None) -> dict[str, Any]:
        """Mass, centre and inertia about it in the axes of the link."""
        values = self.values
        if inertial is None:
            return _NOTHING
        pose = values.origin(inertial)
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        if mass is None or inertia is None:
            values.refuse(inertial, f"needs {'a mass' if mass is None else 'an inertia'}")
            return _NOTHING
        m = values.number(mass, "value")
        if m < 0.0:
            values.refuse(mass, f"must not be negative (got {m:g})", "value")
            m = 0.0
        xx, yy, zz, xy, xz, yz = (
            values.number(inertia, key, 0.0) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        )
        local = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        turned = pose.R @ local @ pose.R.T
        low, middle, high = np.linalg.eigvalsh(local)
        found: dict[str, Any] = {"mass": m, "com": pose.at}
        found["inertia"] = six(turned)
        if low + middle < high * (1 - _TRIANGLE) and low > -_TRIANGLE * high:
            found["trust_inertia"] = True
            what = "it violates the triangle inequality, which no mass distribution can; it is taken as published"
            values.note("mapped", inertia, f"inertia of link '{link.attributes['name']}'", what)
        if high <= _POINT * m:
            if local.any():
                values.note(
                    "approximated", inertia, f"inertia of link '{link.attributes['name']}'", "a point mass"
                )
            return {"mass": m, "com": pose.at, "inertia": _NONE} if m > 0.0 else _NOTHING
        return found

    def _lumped(self, link: Link, weights: dict[str, Any]) -> dict[str, Any]:
        """Put what a link weighs on the body that it is fixed to: alone its inertia could not be."""
        assert link.joint is not None
        held_by = self.carrier[end_of(link.joint, "parent")]
        if held_by == GROUND or held_by not in self.model.bodies:
            return weights
        own = MassProperties(weights["mass"], np.array(weights["com"]), inertia_matrix(weights["inertia"]))
        body = self.model.bodies[held_by]
        pose = link.pose.seen_from(Pose(np.array(body.at), matrix(body.rotation)))
        whole = combine([body.mass_properties, own.placed(pose.p, pose.R)])
        self.model.bodies[held_by] = dataclasses.replace(
            body, mass=whole.mass, com=vector(whole.com), inertia=six(whole.inertia)
        )
        what = f"it is not positive, so that the link cannot be alone: its mass is part of '{held_by}'"
        self.values.note("mapped", link.element, f"inertia of link '{link.element.attributes['name']}'", what)
        return _NOTHING

    # --- joints ---

    def _root(self, model: Model, root: Link, free: bool) -> None:
        """What holds the root: a weld, or nothing."""
        name = root.element.attributes["name"]
        if (body := self.carrier[name]) == GROUND or body not in model.bodies:
            return
        holder = self.names.fit(f"{body}_base")
        frame: dict[str, Any] = {"at": root.pose.at}
        if free:
            frame |= {"axis": (0.0, 0.0, 1.0), "reference": (1.0, 0.0, 0.0)}
        model.add((Free if free else Weld)(holder, GROUND, body, **frame))
        how = (
            "it moves freely" if free else "it is welded to the ground; free_base (--free-base) lets it move"
        )
        self.values.note("mapped", root.element, f"root link '{name}'", how)

    def _joint(self, model: Model, link: Link) -> None:
        element, values = link.joint, self.values
        assert element is not None
        name, kind = element.attributes["name"], values.text(element, "type")
        if kind not in TYPES:
            if kind:
                values.refuse(element, f"'{kind[:40]}' is not a type of joint{nearest(kind, TYPES)}", "type")
            return
        for child in element.children:
            if child.tag not in _KNOWN_IN_JOINT:
                how = _UNREAD.get(child.tag, "it is no mechanics, or not known here")
                values.note("dropped", child, f"{child.tag} of joint '{name}'", how)
        a, b = self.carrier[end_of(element, "parent")], self.carrier[end_of(element, "child")]
        if kind == "fixed" and a == b:
            return  # its link is a marker
        fitting = self.names.fit(name)
        fields: dict[str, Any] = {"at": link.pose.at}
        if kind == "floating":
            fields |= {"axis": vector(link.pose.R[:, 2]), "reference": vector(link.pose.R[:, 0])}
        elif kind != "fixed":
            fields["axis"] = vector(self._axis(element, link.pose.R))
            fields |= self._resistance(element) | (self._limits(element, kind) if kind != "planar" else {})
        try:
            self.joint_of[name] = model.add(TYPES[kind](fitting, a, b, **fields))
            values.note(
                "taken",
                element,
                f"joint '{name}'",
                "" if fitting == name else f"it is called '{fitting}' here",
            )
        except LinkworkError as error:
            values.told(element, error)

    def _axis(self, joint: Element, R: Array) -> Array:
        axis = joint.find("axis")
        local = np.array(
            (1.0, 0.0, 0.0) if axis is None else self.values.triple(axis, "xyz", (1.0, 0.0, 0.0))
        )
        if not local.any():
            self.values.refuse(axis or joint, "must not be the zero vector", "xyz")
            local = np.array((1.0, 0.0, 0.0))
        turned: Array = R @ (local / np.linalg.norm(local))
        return turned

    def _resistance(self, joint: Element) -> dict[str, Any]:
        dynamics = joint.find("dynamics")
        if dynamics is None:
            return {}
        found = {key: self.values.number(dynamics, key, 0.0) for key in ("damping", "friction")}
        for key, value in found.items():
            if value < 0.0:
                self.values.refuse(dynamics, f"must not be negative (got {value:g})", key)
        return {key: value for key, value in found.items() if value > 0.0}

    def _limits(self, joint: Element, kind: str) -> dict[str, Any]:
        """Limits, and the start if zero is outside of them."""
        values, limit = self.values, joint.find("limit")
        name = joint.attributes["name"]
        if kind == "continuous":
            return {}
        if limit is None:
            values.refuse(joint, f"a {kind} joint needs a <limit>; without limits it is 'continuous'")
            return {}
        low, high = values.number(limit, "lower", 0.0), values.number(limit, "upper", 0.0)
        if low > high:
            values.refuse(limit, f"the lower limit {low:g} is above the upper {high:g}", "lower")
            return {}
        if 0.0 < values.number(limit, "velocity", 0.0) < ENDLESS:
            values.note("dropped", limit, f"velocity limit of joint '{name}'", "nothing limits rates here")
        found: dict[str, Any] = {"limits": (low, high)}
        if not low <= 0.0 <= high:
            found["position"] = low if low > 0.0 else high
            how = f"it starts at its limit {found['position']:g}, for zero is outside of its limits"
            values.note("mapped", limit, f"start of joint '{name}'", how)
        return found


def _impossible(weights: dict[str, Any]) -> bool:
    """Whether a moment of inertia is negative."""
    inertia = weights.get("inertia")
    if inertia is None:
        return False
    moments = np.linalg.eigvalsh(inertia_matrix(inertia))
    return bool(moments[0] < -_TRIANGLE * moments[2])


def _advice(tag: str) -> str:
    return {
        "mujoco": "; it is MJCF: name the file .xml",
        "sdf": "; SDF is not read: convert it to URDF",
    }.get(tag, "")
