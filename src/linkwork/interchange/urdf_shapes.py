"""Geometry and colours of URDF links."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from ..model import Box, Capsule, Cylinder, Mesh, Sphere
from ..model.errors import LinkworkError
from .places import PlaceError, Places
from .values import Pose, Values
from .xml_source import Element

MESHES = (".stl", ".obj", ".ply", ".glb", ".gltf", ".dae", ".3mf", ".off")
"""Endings of mesh files that can be read."""

Use = Literal["all", "picture", "contact"]


class Geometry:
    """Makes shapes of <visual> and <collision> elements."""

    def __init__(self, values: Values, places: Places, meshes: bool):
        self.values, self.places, self.meshes = values, places, meshes
        self.colors: dict[str, str] = {}
        """Of materials that have a name."""

    def shapes(self, link: Element) -> tuple[Any, ...]:
        """Of a link, in its frame. What has only one kind of geometry is seen and touches with that."""
        looks, solids = list(link.all("visual")), list(link.all("collision"))
        found: list[Any] = []
        for element in looks:
            found += self._shape(element, "picture")
        seen = bool(found)
        for element in solids:
            for shape in self._shape(element, "contact" if seen else "all"):
                twin = next((k for k, look in enumerate(found) if _alike(look, shape)), None)
                if twin is None:
                    found.append(shape)
                else:
                    found[twin] = dataclasses.replace(found[twin], use="all")
        return tuple(found)

    def _shape(self, element: Element, use: Use) -> list[Any]:
        values, pose = self.values, self.values.origin(element)
        what = f"{element.tag} of link"
        geometry = element.find("geometry")
        forms = [] if geometry is None else geometry.children
        if geometry is None or not forms:
            values.refuse(element, "needs a geometry: box, cylinder, sphere, capsule or mesh")
            return []
        color = self._color(element) if element.tag == "visual" else None
        form = forms[0]
        made: list[Any] = []
        try:
            shape = self._form(form, pose, {"use": use, "color": color})
        except LinkworkError as error:
            values.told(form, error)
            return []
        if shape is not None:
            made.append(shape)
            values.note("taken", element, what)
        return made

    def _form(self, form: Element, pose: Pose, common: dict[str, Any]) -> Any:
        values = self.values
        common = {**common, "at": pose.at, "rotation": pose.rotation}
        if form.tag == "box":
            size = values.triple(form, "size")
            if not all(size):
                values.note("dropped", form, "box without extent", "nothing of it is seen or touches")
                return None
            return Box(size, **common)
        if form.tag == "sphere":
            return Sphere(values.number(form, "radius"), **common)
        if form.tag == "cylinder":
            return Cylinder(values.number(form, "radius"), values.number(form, "length"), **common)
        if form.tag == "capsule":
            return Capsule(values.number(form, "radius"), values.number(form, "length"), **common)
        if form.tag == "mesh":
            return self._mesh(form, pose, common)
        values.refuse(form, f"'{form.tag}' is no shape known here: box, cylinder, sphere, capsule, mesh")
        return None

    def _mesh(self, form: Element, pose: Pose, common: dict[str, Any]) -> Any:
        values = self.values
        name = values.text(form, "filename")
        scale = np.array(values.triple(form, "scale", (1.0, 1.0, 1.0)))
        if not name:
            return None
        if not self.meshes:
            values.note("dropped", form, f"mesh '{name}'", "meshes were not asked for")
            return None
        if not name.lower().endswith(MESHES):
            values.note(
                "dropped",
                form,
                f"mesh '{name}'",
                f"its format is not read; convert it to one of {', '.join(MESHES)}",
            )
            return None
        if not scale.all():
            values.refuse(form, "must not be zero", "scale")
            return None
        try:
            file = self.places.find(name)
        except PlaceError as error:
            values.refuse(form, str(error), "filename")
            return None
        inverted, common["rotation"] = mirrored(pose, scale)
        size = np.abs(scale).tolist()
        common["scale"] = size[0] if size[0] == size[1] == size[2] else tuple(size)
        return Mesh(str(file), inverted=inverted, **common)

    def _color(self, visual: Element) -> str | None:
        """#rrggbb of a visual's material, stated there or elsewhere by its name."""
        material = visual.find("material")
        if material is None:
            return None
        return self.color_of(material) or self.colors.get(material.attributes.get("name", ""))

    def color_of(self, material: Element) -> str | None:
        """#rrggbb that a material states; textures are dropped."""
        if (texture := material.find("texture")) is not None:
            self.values.note("dropped", texture, "texture", "pictures show plain colours")
        color = material.find("color")
        if color is None or "rgba" not in color.attributes:
            return None
        parts = color.attributes["rgba"].split()
        try:
            rgba = [min(1.0, max(0.0, float(part))) for part in parts]
        except ValueError:
            rgba = []
        if len(rgba) not in (3, 4):
            self.values.refuse(
                color, f"must be four numbers from 0 to 1 (got '{' '.join(parts)[:40]}')", "rgba"
            )
            return None
        found = "#" + "".join(f"{round(255 * share):02x}" for share in rgba[:3])
        if name := material.attributes.get("name"):
            self.colors.setdefault(name, found)
        return found


def _alike(look: Any, solid: Any) -> bool:
    """Whether what is seen is also what touches."""
    if type(look) is not type(solid) or (look.use, solid.use) != ("picture", "contact"):
        return False
    return bool(dataclasses.replace(look, use="contact", color=None) == solid)


def mirrored(pose: Pose, scale: Any) -> tuple[bool, Any]:
    """Signs of a scale as a reflection through the origin, if they make one, and the turn that is left."""
    signs = np.sign(scale)
    inverted = bool(signs.prod() < 0)
    turned = Pose(pose.p, pose.R @ np.diag(-signs if inverted else signs))
    return inverted, turned.rotation
