"""Shapes as <visual> and <collision> elements."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Body, Box, Capsule, Cylinder, Mesh, Sphere
from ..model.rotation import matrix, vector
from .keep import Copies
from .report import LossReport
from .values import to_rpy
from .xml_text import Tag


class Looks:
    """Writes shapes; meshes from elsewhere are copied beside the file."""

    def __init__(self, folder: Path, meshes: Path):
        self.folder, self.copies, self.report = (
            Path(os.path.abspath(folder)),
            Copies(folder, meshes),
            LossReport(),
        )

    def parts(self, body: Body, shift: Any) -> Iterator[Tag]:
        """Of a body that stands at `shift` in its link."""
        for shape in body.shapes:
            form = self._form(shape)
            if form is None:
                how = f"URDF has no {shape.shape}; write it as a mesh"
                self.report.add("dropped", f"{shape.shape} of body '{body.name}'", how)
                continue
            placed = dataclasses.replace(shape, at=vector(np.array(shape.at) + shift))
            if shape.seen:
                yield self._part("visual", placed, form, shape.color or body.color)
            if shape.touches:
                yield self._part("collision", placed, form, None)

    def _part(self, tag: str, shape: Any, form: Tag, color: str | None) -> Tag:
        made = Tag(tag)
        turn = to_rpy(matrix(shape.rotation))
        if any(shape.at) or any(turn):
            made.add("origin", xyz=shape.at, rpy=turn)
        made.add("geometry").inside.append(form)
        if color:
            shares = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
            made.add("material", name=f"color_{color[1:]}").add("color", rgba=[*shares, 1.0])
        return made

    def _form(self, shape: Any) -> Tag | None:
        if isinstance(shape, Box):
            return Tag("geometry").add("box", size=shape.size)
        if isinstance(shape, Sphere):
            return Tag("geometry").add("sphere", radius=shape.radius)
        if isinstance(shape, Cylinder):
            return Tag("geometry").add("cylinder", radius=shape.radius, length=shape.length)
        if isinstance(shape, Capsule):
            return Tag("geometry").add("capsule", radius=shape.radius, length=shape.length)
        if isinstance(shape, Mesh):
            file = Path(self.copies.shape(shape).file).relative_to(self.folder).as_posix()
            scale = np.array(shape.scales) * (-1.0 if shape.inverted else 1.0)
            return Tag("geometry").add("mesh", filename=file, scale=scale)
        return None
