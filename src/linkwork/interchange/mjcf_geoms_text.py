"""Shapes as geoms of MJCF, meshes and terrain as its assets, materials and groups as friction and masks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from ..model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Flat,
    HeightField,
    Mesh,
    NoContact,
    Plane,
    Scenery,
    Sphere,
)  # fmt: skip
from ..model.rotation import matrix
from .alike import restates
from .keep import Copies
from .mesh_text import mesh_for_mujoco
from .mjcf_extension import Extension
from .mjcf_masks import Masks
from .values import Names, Pose
from .xml_text import Tag

_BOTTOM = 1e-3
"""Thickness below the lowest point of terrain [m], which MuJoCo wants."""
Looked = tuple[Tag, Any]


class GeomWriter:
    """Writes the shapes of bodies and of what stands around them."""

    def __init__(self, flat: Flat, folder: Path, meshes: Path, extension: Extension):
        self.flat, self.folder, self.extension = flat, folder, extension
        self.report = extension.report
        self.copies = Copies(folder, meshes)
        self.masks = Masks(flat)
        self.asset = Tag("asset")
        self.names, self.assets_named = Names(), Names()
        self.known: dict[tuple[Any, ...], str] = {}
        self.touching = bool(self.masks.of)
        """Whether anything has a material. Otherwise contact is switched off, and shapes stay what they are."""
        self._tell()

    def _tell(self) -> None:
        """What MuJoCo's contact does otherwise."""
        flat = self.flat
        for material in flat.materials.values():
            self.extension.add(material)
            if material.restitution:
                how = "MuJoCo's contact is soft; Linkwork reads it in the extension"
                self.report.add("dropped", f"restitution of material '{material.name}'", how)
            self.report.add("taken", f"material '{material.name}'")
        if len({material.friction for material in flat.materials.values()}) > 1:
            how = "MuJoCo takes the larger friction of two materials, not the geometric mean"
            self.report.add("approximated", "friction of pairs", how)
        if self.touching:
            self.report.add("approximated", "contact", "MuJoCo's is soft: solref and solimp are its defaults")
        for rule in flat.no_contacts.values():
            if not self._is_exclude(rule):
                self.extension.add(rule)
            self.report.add("mapped", f"no_contact '{rule.name}'", "masks and excludes")
        if self.masks.crowded:
            how = "there are more than 31 groups of what touches what: MuJoCo lets the rest touch everything"
            self.report.add("approximated", "groups", how)

    def body(self, body: Body, element: Tag) -> tuple[Any, ...]:
        """Add the shapes of a body to its element; returns them as they are read."""
        found = []
        for shape in body.shapes:
            made = self._geom(shape, body.color, body.material, body.name, f"body '{body.name}'")
            if made is not None:
                element.inside.append(made[0])
                found.append(made[1])
        return tuple(found)

    def ground(self, world: Tag) -> None:
        """Add what stands around."""
        for thing in self.flat.scenery.values():
            home, made = Pose(np.array(thing.at), matrix(thing.rotation)), []
            for shape in thing.shapes:
                own = home.then(Pose(np.array(shape.at), matrix(shape.rotation)))
                moved = dataclasses.replace(shape, at=own.at, rotation=own.rotation)
                geom = self._geom(moved, thing.color, thing.material, thing.name, f"scenery '{thing.name}'")
                if geom is not None:
                    geom[0].attributes["name"] = self.names.fit(thing.name)
                    world.inside.append(geom[0])
                    made.append((geom[0].attributes["name"], geom[1]))
            self._restate(thing, made)
            self.report.add("taken", f"scenery '{thing.name}'")

    def _restate(self, thing: Scenery, made: list[tuple[str, Any]]) -> None:
        """Have Linkwork read all of a piece of scenery."""
        if len(made) == 1:
            name, shape = made[0]
            read = Scenery(name, shapes=(shape,), material=thing.material, group=thing.group)
            if not restates(thing, read):
                kept = {
                    key: value for key in ("material", "group") if (value := getattr(thing, key)) is not None
                }
                if kept:
                    self.extension.change("scenery", name, kept)
                return
        if self.extension.add(thing):
            for name, _ in made:
                self.extension.drop("scenery", name)

    # --- one shape ---

    def _geom(
        self, shape: Any, color: str | None, material: str | None, owner: str, whose: str
    ) -> Looked | None:
        """A shape as an element, and as it is read."""
        form = self._form(shape, whose)
        if form is None:
            return None
        attributes, pose, read = form
        made = Tag("geom", attributes)
        if pose.p.any():
            made.attributes["pos"] = _numbers(pose.p)
        if not np.array_equal(pose.R, np.eye(3)):
            made.attributes["quat"] = _numbers(pose.rotation)
        shown = shape.color or color
        if shown:
            shares = [int(shown[k : k + 2], 16) / 255 for k in (1, 3, 5)]
            made.attributes["rgba"] = _numbers([*shares, 1.0])
            read = dataclasses.replace(read, color=shown)
        touches = shape.touches and (material is not None or not self.touching)
        if touches and self.touching:
            self._grip(made, material, owner)
        elif not touches:
            made.attributes |= {"contype": "0", "conaffinity": "0"}
            if not shape.seen:
                how = "it touches nothing and is not seen"
                self.report.add("dropped", f"{shape.shape} of {whose}", how)
                return None
        if not shape.seen:
            made.attributes["group"] = "3"
        use = "all" if touches and shape.seen else "contact" if touches else "picture"
        return made, dataclasses.replace(read, use=use)

    def _form(self, shape: Any, whose: str) -> tuple[dict[str, str], Pose, Any] | None:
        """Type and size, the frame, and the shape."""
        pose = Pose(np.array(shape.at, float), matrix(shape.rotation))
        if isinstance(shape, Box):
            return {"type": "box", "size": _numbers(0.5 * np.array(shape.size))}, pose, shape
        if isinstance(shape, Sphere):
            return {"type": "sphere", "size": _numbers([shape.radius])}, pose, shape
        if isinstance(shape, Cylinder | Capsule):
            size = _numbers([shape.radius, 0.5 * shape.length])
            return {"type": shape.shape, "size": size}, pose, shape
        if isinstance(shape, Ellipsoid):
            return {"type": "ellipsoid", "size": _numbers(shape.radii)}, pose, shape
        if isinstance(shape, Plane):
            return {"type": "plane", "size": "0 0 1"}, pose, shape
        if isinstance(shape, Mesh):
            return self._mesh(shape, pose, whose)
        if isinstance(shape, HeightField) and shape.heights is not None:
            return self._heights(shape, pose)
        how = f"MJCF has no {shape.shape} like it; write it as a mesh"
        self.report.add("dropped", f"{shape.shape} of {whose}", how)
        return None

    def _mesh(self, shape: Mesh, pose: Pose, whose: str) -> tuple[dict[str, str], Pose, Any]:
        if shape.contact == "parts" and shape.touches:
            how = "MuJoCo touches with its convex hull; write its parts as meshes of their own"
            self.report.add("approximated", f"parts of mesh of {whose}", how)
        key = (shape.file, shape.scales, shape.inverted)
        if key not in self.known:
            file = mesh_for_mujoco(self.copies, shape, self.report, whose)
            name = self.assets_named.fit(Path(shape.file).stem)
            self.known[key] = name
            scale = np.array(shape.scales) * (-1.0 if shape.inverted else 1.0)
            self.asset.add(
                "mesh", name=name, file=file.relative_to(self.folder).as_posix(), inertia="shell",
                scale=None if np.array_equal(scale, np.ones(3)) else scale,
            )  # fmt: skip
        return {"type": "mesh", "mesh": self.known[key]}, pose, shape

    def _heights(self, shape: HeightField, pose: Pose) -> tuple[dict[str, str], Pose, Any]:
        rows = np.array(shape.heights)
        low, high = float(rows.min()), float(rows.max())
        name = self.assets_named.fit("heights")
        size = [0.5 * shape.size[0], 0.5 * shape.size[1], max(high - low, _BOTTOM), _BOTTOM]
        # The first row of a file is the one farthest along y.
        self.asset.add(
            "hfield", name=name, nrow=str(rows.shape[0]), ncol=str(rows.shape[1]), size=size,
            elevation=rows[::-1] - low,
        )  # fmt: skip
        if high == low:
            self.asset.inside[-1].attributes.pop("elevation")
        lifted = pose.then(Pose(np.array([0.0, 0.0, low]), np.eye(3)))
        share = (rows - low) / ((high - low) or 1.0)  # which MuJoCo keeps in single precision
        read = (high - low) * share.astype(np.float32).astype(float)
        told = dataclasses.replace(shape, at=lifted.at, heights=read.tolist(), smooth=False)
        return {"type": "hfield", "hfield": name}, lifted, told

    def _grip(self, made: Tag, material: str | None, owner: str) -> None:
        """Friction and masks."""
        surface = self.flat.materials[material or ""]
        dims = 6 if surface.rolling else 4 if surface.torsion else 3 if surface.friction else 1
        made.attributes["condim"] = str(dims)
        if dims > 1:
            made.attributes["friction"] = _numbers([surface.friction, surface.torsion, surface.rolling])
        kind, affinity = self.masks.of[owner]
        if (kind, affinity) != (1, 1):
            made.attributes |= {"contype": str(kind), "conaffinity": str(affinity)}

    # --- sections ---

    def assets(self) -> Tag | None:
        """Meshes and terrain."""
        return self.asset if self.asset.inside else None

    def contacts(self) -> Tag | None:
        """Bodies that leave each other alone."""
        section = Tag("contact")
        for rule in filter(self._is_exclude, self.flat.no_contacts.values()):
            section.add("exclude", name=rule.name, body1=rule.a, body2=rule.b)
        return section if section.inside else None

    def _is_exclude(self, rule: NoContact) -> bool:
        """Whether a rule is about two bodies."""
        return rule.a in self.flat.bodies and rule.b in self.flat.bodies and rule.a != rule.b


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))
