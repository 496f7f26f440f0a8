"""Geoms of MJCF as shapes, their friction as materials, their masks as groups."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.kernels.store import cache_directory
from ..model import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Material,
    Mesh,
    Model,
    NoContact,
    Plane,
    Scenery,
    Sphere,
)  # fmt: skip
from ..model.errors import LinkworkError
from ..model.rotation import matrix
from .mjcf_source import Source, floats
from .places import PlaceError
from .urdf_shapes import mirrored
from .values import HERE, Names, Pose

_HIDDEN = 3
"""Groups from this on are not shown by MuJoCo's viewer: by custom, shapes for contact alone."""
_PLAIN = (0.5, 0.5, 0.5, 1.0)
"""Colour of geoms that state none."""
Mask = tuple[int, int]
Grip = tuple[float, float, float]


class Geoms:
    """Shapes of all bodies, and what they are made of."""

    def __init__(self, source: Source, model: Model, contact: bool, meshes: bool):
        self.source, self.model, self.contact, self.meshes = source, model, contact, meshes
        self.materials: dict[Grip, str] = {}
        self.masks: dict[Mask, str] = {}
        self.labels = Names()
        self.scenery = Names()

    def read(self) -> dict[int, dict[str, Any]]:
        """Shapes, material and group of every body that has some, by its number. What stands on the world is added."""
        m, source = self.source.m, self.source
        found: dict[int, dict[str, Any]] = {}
        for body in range(m.nbody):
            first = int(m.body_geomadr[body])
            own = range(first, first + int(m.body_geomnum[body]))
            shapes, touching = [], []
            for g in own:
                shape = self._shape(g)
                if shape is None:
                    continue
                if body == 0 or isinstance(shape, Plane | HeightField):
                    self._scenery(g, shape)
                    continue
                shapes.append(shape)
                if shape.touches:
                    touching.append(g)
                source.note("taken", "geom", g)
            if shapes:
                found[body] = {"shapes": tuple(shapes), **self._touch(touching, body)}
        self._apart()
        return found

    def _scenery(self, g: int, shape: Any) -> None:
        """A geom that never moves."""
        source, m = self.source, self.source.m
        body = int(m.geom_bodyid[g])
        if m.body_weldid[body] != 0:
            source.note("dropped", "geom", g, "planes and height fields do not move here")
            return
        pose = source.poses[body]
        name = self.scenery.fit(source.name("geom", g))
        try:
            made = self._touch([g] if shape.touches else [], body)
            self.model.add(Scenery(name, at=pose.at, rotation=pose.rotation, shapes=(shape,), **made))
            source.note("taken", "geom", g)
        except LinkworkError as error:
            source.note("dropped", "geom", g, str(error))

    def _shape(self, g: int) -> Any:
        m, source = self.source.m, self.source
        touches = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        rgba = m.mat_rgba[m.geom_matid[g]] if m.geom_matid[g] >= 0 else m.geom_rgba[g]
        seen = m.geom_group[g] < _HIDDEN and rgba[3] > 0.0
        if not touches and not seen:
            source.note("dropped", "geom", g, "it is neither seen nor touches")
            return None
        common: dict[str, Any] = {
            "at": floats(m.geom_pos[g]), "rotation": floats(m.geom_quat[g]),
            "use": "all" if touches and seen else "contact" if touches else "picture",
            "color": None if m.geom_matid[g] < 0 and floats(rgba) == _PLAIN else _hex(rgba),
        }  # fmt: skip
        kind = self.source.mujoco.mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_")
        x, y, z = floats(m.geom_size[g])
        try:
            if kind == "SPHERE":
                return Sphere(x, **common)
            if kind == "CAPSULE":
                return Capsule(x, 2 * y, **common)
            if kind == "CYLINDER":
                return Cylinder(x, 2 * y, **common)
            if kind == "ELLIPSOID":
                return Ellipsoid((x, y, z), **common)
            if kind == "BOX":
                return Box((2 * x, 2 * y, 2 * z), **common)
            if kind == "PLANE":
                return Plane(**common)
            if kind == "HFIELD":
                return self._heights(int(m.geom_dataid[g]), common)
            if kind == "MESH":
                return self._mesh(g, common)
        except LinkworkError as error:
            source.note("dropped", "geom", g, str(error))
            return None
        source.note("dropped", "geom", g, f"shapes of type {kind.lower()} are not known here")
        return None

    def _heights(self, i: int, common: dict[str, Any]) -> Any:
        m = self.source.m
        rows, columns, first = int(m.hfield_nrow[i]), int(m.hfield_ncol[i]), int(m.hfield_adr[i])
        x, y, top, _ = floats(m.hfield_size[i])
        data = np.array(m.hfield_data[first : first + rows * columns], float).reshape(rows, columns)
        return HeightField((2 * x, 2 * y), heights=(top * data).tolist(), **common)

    def _mesh(self, g: int, common: dict[str, Any]) -> Any:
        """The file that a mesh is of, or what MuJoCo made of it: moved to its centre, in single precision."""
        source, m, i = self.source, self.source.m, int(self.source.m.geom_dataid[g])
        if not self.meshes:
            source.note("dropped", "geom", g, "meshes were not asked for")
            return None
        if (found := mesh_file(source, i)) is not None:
            file, scale = found
            centred = pose_of(m.mesh_pos[i], m.mesh_quat[i])
            pose = pose_of(m.geom_pos[g], m.geom_quat[g]).then(HERE.seen_from(centred))
            inverted, common["rotation"] = mirrored(pose, scale)
            size = np.abs(scale).tolist()
            common |= {"at": pose.at, "scale": size[0] if len(set(size)) == 1 else tuple(size)}
            return Mesh(str(file), inverted=inverted, **common)
        v, f = int(m.mesh_vertadr[i]), int(m.mesh_faceadr[i])
        points = np.array(m.mesh_vert[v : v + int(m.mesh_vertnum[i])], float)
        corners = np.array(m.mesh_face[f : f + int(m.mesh_facenum[i])]) + 1
        lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
        lines += [f"f {a} {b} {c}" for a, b, c in corners.tolist()]
        return Mesh(
            str(kept_file(source.name("mesh", i), ".obj", ("\n".join(lines) + "\n").encode())), **common
        )

    # --- touching ---

    def _touch(self, geoms: list[int], body: int) -> dict[str, Any]:
        """Material and group of a body with these geoms."""
        if not self.contact or not geoms:
            return {}
        source = self.source
        grips, masks = Counter(map(self._grip, geoms)), Counter(map(self._mask, geoms))
        if len(grips) > 1 or len(masks) > 1:
            how = "a body has one material and one group: those of most of its geoms"
            source.note("approximated", "body", body, how, "friction and masks")
        (grip, _), (mask, _) = grips.most_common(1)[0], masks.most_common(1)[0]
        if grip not in self.materials:
            slide, torsion, rolling = grip
            name = self.labels.fit(f"surface{len(self.materials) + 1}")
            self.materials[grip] = name
            self.model.add(Material(name, friction=slide, torsion=torsion, rolling=rolling))
        found = {"material": self.materials[grip]}
        if mask not in self.masks:
            self.masks[mask] = self.labels.fit(
                "touching" if mask == (1, 1) else f"touching_{mask[0]}_{mask[1]}"
            )
        return {**found, "group": self.masks[mask]}

    def _grip(self, g: int) -> Grip:
        m, dims = self.source.m, int(self.source.m.geom_condim[g])
        slide, torsion, rolling = floats(m.geom_friction[g])
        return slide if dims >= 3 else 0.0, torsion if dims >= 4 else 0.0, rolling if dims >= 6 else 0.0

    def _mask(self, g: int) -> Mask:
        return int(self.source.m.geom_contype[g]), int(self.source.m.geom_conaffinity[g])

    def _apart(self) -> None:
        """Groups whose masks leave each other alone, and what is said of pairs."""
        source, m = self.source, self.source.m
        for a, b in combinations_with_replacement(sorted(self.masks), 2):
            if not (a[0] & b[1] or b[0] & a[1]):
                self.model.add(
                    NoContact(f"{self.masks[a]}_and_{self.masks[b]}", self.masks[a], self.masks[b])
                )
        if len(self.materials) > 1:
            how = "two materials have the geometric mean of their friction, not the larger one; state a material pair"
            source.report.add("approximated", "friction of pairs", how, source.path)
        if self.contact and self.materials:
            source.report.add(
                "approximated",
                "contact",
                "it is rigid: solref, solimp, margin and gap are left out",
                source.path,
            )
        source.drop(
            "pair", m.npair if self.contact else 0, "pairs follow from bodies, materials and groups here"
        )


def kept_file(name: str, suffix: str, content: bytes) -> Path:
    """A file with this content that stays: in the cache, under a name made of its content."""
    home = cache_directory()
    if home is None:
        raise LinkworkError(
            "there is no folder to keep meshes in; set LINKWORK_CACHE_DIR to one that can be written"
        )
    folder = home.parent / "meshes" / hashlib.sha256(content).hexdigest()[:24]
    file = folder / f"{Names().fit(name)[:60]}{suffix}"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f".{os.getpid()}.part"
        part.write_bytes(content)
        os.replace(part, file)
    return file


def mesh_file(source: Source, i: int) -> tuple[Path, Any] | None:
    """The file of a mesh and its scale, where the mesh is just that."""
    spec = next((mesh for mesh in source.spec.meshes if int(mesh.id) == i), None)
    if spec is None or source.attaches or Path(spec.file).suffix.lower() not in (".stl", ".obj"):
        return None  # of a model that is attached, the name says nothing of the folder
    if np.any(spec.refpos) or not np.array_equal(spec.refquat, (1.0, 0.0, 0.0, 0.0)):
        return None
    folder = source.spec.meshdir
    try:
        file = source.places.find(f"{folder.rstrip('/')}/{spec.file}" if folder else spec.file)
    except PlaceError:  # of a file that another one includes
        return None
    return file, np.array(spec.scale)


def _hex(rgba: Any) -> str:
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, float(share)))):02x}" for share in rgba[:3])


def pose_of(pos: Any, quat: Any) -> Pose:
    """A frame by MuJoCo's numbers."""
    return Pose(np.array(pos, float), matrix(quat))
