"""Models to MJCF: bodies nested as they hang on each other. What the format cannot say stands in texts that Linkwork
reads and MuJoCo leaves alone (`mjcf_extension.py`)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..model import GROUND, Body, Marker, Model
from ..model.errors import LinkworkError, ModelError, Problem
from ..model.joints import Weld
from ..model.joints.base import Joint
from ..model.rotation import quaternion, vector
from .alike import restates, unlike
from .mjcf_extension import Extension
from .mjcf_geoms_text import GeomWriter
from .mjcf_joints_text import JointWriter
from .mjcf_ties_text import TieWriter
from .report import LossReport
from .tree import Branch, Trunk, as_tree, body_pose, children
from .values import HERE, Names, Pose, six
from .xml_text import Tag

KINDS = ("free", "hinge", "slider", "planar", "cylindrical", "universal", "screw")
"""Joints that the tree takes before others, so that those which MuJoCo's equalities know close the loops."""
_FEATHER = 1e-9
"""Mass [kg] of what has none, for MuJoCo moves nothing without."""
_THIN = 1e-10
"""Moment of inertia of a mass point of 1 kg [m²], for MuJoCo turns nothing without."""
_LEAST = 1e-14
"""Masses [kg] and moments [kg m²] below this are none to MuJoCo."""
_DEEPEST = 400
"""MuJoCo's parser reads elements that are nested 500 deep."""


def write_mjcf(model: Model, folder: Path, meshes: Path) -> tuple[str, LossReport]:
    """The text of an MJCF file in `folder`, with copies of meshes in `meshes`, and what was lost."""
    writer = _Writer(model, folder, meshes)
    return writer.text(), writer.report


class Chain(NamedTuple):
    """A body with the joints that hold it: several where bodies without mass are between them."""

    branches: list[Branch]
    """From the parent outward; the last one is of the body itself."""

    @property
    def body(self) -> Body:
        """The body that moves."""
        return self.branches[-1].body


class _Writer:
    def __init__(self, model: Model, folder: Path, meshes: Path):
        self.model, self.report = model, LossReport()
        self.extension = Extension(self.report)
        self.trunk: Trunk = as_tree(model, KINDS)
        self.flat = self.trunk.flat
        self.children = children(self.trunk)
        self.busy = self._referred()
        self.root = Tag("mujoco", {"model": model.name})
        self.option = self.root.add("option", gravity=model.gravity)
        self.root.inside.insert(0, Tag("compiler", {"angle": "radian", "autolimits": "true", "meshdir": "."}))
        self.geoms = GeomWriter(self.flat, folder, meshes, self.extension)
        self.joints = JointWriter(self.flat, self.extension)
        self.body_names, self.joint_names = Names(), self.joints.names
        self.holders: dict[str, Tag] = {}
        """Element of every body."""

    def text(self) -> str:
        """All of it."""
        world = Tag("worldbody")
        self.holders[GROUND] = world
        self.geoms.ground(world)
        waiting = [(branch, world, HERE, 1) for branch in reversed(self.children[GROUND])]
        while waiting:
            branch, holder, home, depth = waiting.pop()
            if depth > _DEEPEST:
                what = f"body '{branch.body.name}' hangs on {depth} others; MuJoCo reads up to {_DEEPEST}"
                raise LinkworkError(what)
            chain = self._chain(branch)
            element, pose = self._body(chain, holder, home)
            waiting += [
                (other, element, pose, depth + 1) for other in reversed(self.children[chain.body.name])
            ]
        self._markers()
        sections = TieWriter(
            self.trunk, self.model.gravity, self.extension, self.joints, self.holders
        ).sections()
        for branch in self.trunk.branches:
            if branch.joint.kind != "weld":
                self.joints.restate(branch)
        for section in (self.geoms.assets(), world, self.geoms.contacts(), *sections):
            if section is not None:
                self.root.inside.append(section)
        if not self.geoms.touching:
            self.option.add("flag", contact="disable")
        self._unknown()
        if (texts := self.extension.texts()) is not None:
            self.root.inside.append(texts)
        return self.root.text()

    # --- bodies ---

    def _referred(self) -> set[str]:
        """Bodies that something but the joints of the tree names."""
        in_tree = {branch.joint.name for branch in self.trunk.branches}
        found = set()
        for thing in self.flat.items():
            if isinstance(thing, Joint) and thing.name in in_tree:
                continue
            found |= {target for _, _, target in thing.references()}
        return found

    def _chain(self, branch: Branch) -> Chain:
        """A body, or those without mass that stand between the joints of one."""
        found = [branch]
        while True:
            body, held = found[-1].body, self.children[found[-1].body.name]
            light = body.mass == 0.0 and not body.shapes and body.name not in self.busy
            if not light or len(held) != 1 or held[0].joint.kind in ("weld", "free"):
                return Chain(found)
            if found[-1].joint.kind in ("weld", "free"):
                return Chain(found)
            found.append(held[0])

    def _body(self, chain: Chain, holder: Tag, home: Pose) -> tuple[Tag, Pose]:
        """A body as an element of its parent."""
        body = chain.body
        own = body_pose(self.flat, body.name)
        # A free joint leads from the world, wherever its other body is.
        loose = chain.branches[-1].joint.kind == "free" and chain.branches[-1].parent != GROUND
        if loose:
            holder, home = self.holders[GROUND], HERE
        if body.name == "world":
            raise ModelError([Problem("body 'world'", "MuJoCo calls the ground so; call the body otherwise")])
        name = self.body_names.fit(body.name)
        element = holder.add("body", name=name, **placed(own.seen_from(home)))
        self.holders[body.name] = element
        parents = [GROUND if loose else branch.parent for branch in chain.branches]
        self._joints(chain, element, own, parents)
        self._inertia(body, element, chain.branches[-1].joint.kind != "weld")
        shapes = self.geoms.body(body, element)
        self._restate(body, name, own, shapes)
        return element, own

    def _joints(self, chain: Chain, element: Tag, own: Pose, parents: list[str]) -> None:
        """Joints of a body, the outermost last, and the bodies without mass that Linkwork finds between them."""
        name, last = chain.body.name, len(chain.branches) - 1
        found: list[Joint] = []
        for branch in chain.branches:
            found += self.joints.write(branch, element, own, parents[0])
        if not found:
            self._weld(chain.branches[0], name, own)
            return
        # How the reader will chain them.
        parent, links = parents[0], []
        for k, joint in enumerate(found):
            child = name
            if k < len(found) - 1:
                child = self.body_names.fit(f"{name}_{joint.name}")
                links.append(Body(child, mass=0.0, at=own.at, rotation=own.rotation))
            self.joints.read[joint.name] = dataclasses.replace(joint, a=parent, b=child)
            parent = child
        middle = [branch.body for branch in chain.branches[:last]]
        if len(middle) == len(links) and not any(map(restates, middle, links)):
            return
        for link in links:
            self.extension.drop("bodies", link.name)
        for one in middle:
            self.extension.add(one)
            self.report.add("mapped", f"body '{one.name}'", f"the joints of '{name}' stand beside each other")

    def _weld(self, branch: Branch, name: str, own: Pose) -> None:
        read = Weld(self.joint_names.fit(f"{name}_weld"), branch.parent, name, at=own.at)
        if restates(branch.joint, read):
            self.extension.add(branch.joint, read.name)
        self.report.add("taken", f"joint '{branch.joint.name}'")

    def _inertia(self, body: Body, element: Tag, moves: bool) -> None:
        """What a body weighs; MuJoCo moves nothing that weighs nothing."""
        mass, com, inertia = body.mass_properties
        if not moves and mass == 0.0:
            return
        low, middle, high = np.linalg.eigvalsh(inertia)
        if mass < _LEAST or low < _LEAST:
            thin = max(_THIN * mass, 10.0 * _LEAST)
            what = f"{_FEATHER:g} kg" if mass < _LEAST else f"moments of inertia of at least {thin:g} kg m²"
            mass = max(mass, _FEATHER)
            inertia = inertia + (thin - min(low, 0.0)) * np.eye(3)
            self.report.add("approximated", f"body '{body.name}'", f"MuJoCo gets {what}, for it needs some")
        elif low + middle < high:
            self.root.inside[0].attributes["balanceinertia"] = "true"
            how = "it violates the triangle inequality: MuJoCo takes the mean of its moments"
            self.report.add("approximated", f"inertia of body '{body.name}'", how)
        if not (inertia - np.diag(np.diag(inertia))).any():
            element.add("inertial", pos=com, mass=mass, diaginertia=np.diag(inertia))
        else:
            element.add("inertial", pos=com, mass=mass, fullinertia=six(inertia))

    def _restate(self, body: Body, name: str, own: Pose, shapes: tuple[Any, ...]) -> None:
        """Have Linkwork read all of a body."""
        mass, com, inertia = body.mass_properties
        if body.density is not None:
            self.report.add("mapped", f"density of body '{body.name}'", "its mass and inertia")
        kept: dict[str, Any] = {
            key: getattr(body, key) for key in ("material", "group") if getattr(body, key) is not None
        }
        if body.material is not None and not any(shape.touches for shape in shapes):
            kept.pop("material")
            how = "none of its shapes that touch can be written"
            self.report.add("dropped", f"material of body '{body.name}'", how)
        low, middle, high = np.linalg.eigvalsh(inertia)
        if mass < _LEAST or low < _LEAST or low + middle < high or body.trust_inertia:
            kept |= {"mass": mass, "com": vector(com), "inertia": six(inertia)}
            if body.trust_inertia:
                kept["trust_inertia"] = True
        if kept:
            self.extension.change("bodies", name, kept)
        self.report.add("taken", f"body '{body.name}'")

    # --- the rest ---

    def _markers(self) -> None:
        """Sites."""
        for marker in self.flat.markers.values():
            p, R = marker.frame
            home = body_pose(self.flat, marker.body)
            self.holders[marker.body].add("site", name=marker.name, **placed(Pose(p, R).seen_from(home)))
            read = Marker(marker.name, marker.body, at=vector(p), rotation=quaternion(R))
            if unlike(marker, read):
                self.extension.add(marker, marker.name)
            self.report.add("taken", f"marker '{marker.name}'")

    def _unknown(self) -> None:
        """What MJCF has nothing for at all."""
        for pair in self.flat.material_pairs.values():
            self.extension.add(pair)
            how = "MuJoCo takes the larger friction of two; Linkwork reads it in the extension"
            self.report.add("dropped", f"material_pair '{pair.name}'", how)


def placed(pose: Pose) -> dict[str, Any]:
    """Attributes of a frame, without those that say nothing."""
    turn = None if np.array_equal(pose.R, np.eye(3)) else pose.rotation
    return {"pos": pose.p if pose.p.any() else None, "quat": turn}
