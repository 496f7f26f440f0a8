"""STEP files through the CAD kernel Open CASCADE: the tree of parts with names, colours, places and what they weigh.

Runs in a process of its own (`python -m linkwork.interchange.step_kernel FILE`), for damaged files crash the kernel; it
writes what it finds as JSON. The kernel turns all units into millimetres; what leaves this module is in metres.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from .step_surfaces import surfaces
from .values import HERE, Pose

MM = 1e-3
"""Metres of the kernel's unit of length."""
_SAME = 1e-9
"""Relative difference of two quadratures of a volume that agree."""
_FINE = 1e-13
"""Relative error of the volume under each face that the finer one is to have."""
_COARSE, _TURN = 2e-3, 0.3
"""How far triangles may be from a surface, as a share of its part's size, and how far they may turn [rad]."""
_NO_NAMES = ("=>", "NAUO", "Open CASCADE")
_MOST = 20_000
"""Parts of an assembly."""


class KernelError(Exception):
    """What the kernel cannot do with a file."""


def describe(file: str, meshes: bool) -> dict[str, Any]:
    """All solids of a STEP file, in the order of its tree, and the meshes of their shapes."""
    from OCP.collections import Sequence_TDF_Label

    document, tool = _document(file)
    roots = Sequence_TDF_Label()
    tool.GetFreeShapes(roots)
    labels = (roots.Value(k + 1) for k in range(roots.Length()))
    walks = (_walk(tool, label, HERE, (), None) for label in labels)
    parts: list[dict[str, Any]] = []
    solids: dict[int, dict[str, Any]] = {}
    for part, shape in itertools.islice(itertools.chain.from_iterable(walks), _MOST + 1):
        key = hash(shape.TShape())
        if key not in solids:
            solids[key] = moments(shape) | {"mesh": mesh_text(shape) if meshes else ""}
        pose = part.pop("pose")
        low, high = _box(shape, pose)
        parts.append(
            part
            | {"solid": str(key), "at": pose.p.tolist(), "turn": pose.R.tolist(), "low": low, "high": high}
            | surfaces(shape, pose, MM).plain()
        )
    del document
    if len(parts) > _MOST:
        raise KernelError(f"has more than {_MOST} parts")
    if not parts:
        raise KernelError("has no solids: wires and surfaces alone weigh nothing")
    return {"parts": parts, "solids": {str(key): solid for key, solid in solids.items()}}


def _document(file: str) -> tuple[Any, Any]:
    """The document of the file and its tool for shapes; both must be kept."""
    from OCP.IFSelect import IFSelect_RetDone
    from OCP.STEPCAFControl import STEPCAFControl_Reader
    from OCP.TCollection import TCollection_ExtendedString
    from OCP.TDocStd import TDocStd_Document
    from OCP.XCAFDoc import XCAFDoc_DocumentTool

    document = TDocStd_Document(TCollection_ExtendedString("XCAF"))
    reader = STEPCAFControl_Reader()
    reader.SetNameMode(True)
    reader.SetColorMode(True)
    reader.SetMatMode(True)
    if reader.ReadFile(file) != IFSelect_RetDone or not reader.Transfer(document):
        raise KernelError("the CAD kernel finds no shapes in it that it can read")
    return document, XCAFDoc_DocumentTool.ShapeTool_s(document.Main())


def _walk(
    tool: Any, label: Any, home: Pose, path: tuple[str, ...], color: str | None
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Parts below a label that stands in `home`, and their shapes in their own frames [mm]."""
    from OCP.collections import Sequence_TDF_Label
    from OCP.TDF import TDF_Label

    target = label
    if tool.IsReference_s(label):
        target = TDF_Label()
        tool.GetReferredShape_s(label, target)
    pose = home.then(_pose(tool.GetLocation_s(label)))
    own, general = _name(label), _name(target)
    name = own if own and not own.startswith(_NO_NAMES) else general or own or "part"
    color = _color(label) or _color(target) or color
    if tool.IsAssembly_s(target):
        inner = Sequence_TDF_Label()
        tool.GetComponents_s(target, inner)
        for k in range(inner.Length()):
            yield from _walk(tool, inner.Value(k + 1), pose, (*path, name), color)
        return
    shape = tool.GetShape_s(target)
    # The place of the shape itself stands in its label, when it is no reference.
    pose = pose if target is not label else home.then(_pose(shape.Location()))
    shape = shape.Located(type(shape.Location())())
    if any(True for _ in _explore(shape, "SOLID")):
        color = color or _face_color(tool, target, shape)
        told = {"name": name, "path": path, "pose": pose, "color": color, "density": _density(target)}
        yield told, shape


def _explore(shape: Any, kind: str) -> Iterator[Any]:
    """Faces or solids of a shape."""
    import OCP.TopAbs
    from OCP.TopExp import TopExp_Explorer

    explorer = TopExp_Explorer(shape, getattr(OCP.TopAbs, f"TopAbs_{kind}"))
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def _pose(location: Any) -> Pose:
    trsf = location.Transformation()
    rows = np.array([[trsf.Value(i, j) for j in range(1, 5)] for i in range(1, 4)])
    return Pose(MM * rows[:, 3], rows[:, :3])


def _name(label: Any) -> str:
    from OCP.TDataStd import TDataStd_Name

    found = TDataStd_Name()
    if not label.FindAttribute(TDataStd_Name.GetID_s(), found):
        return ""
    text = str(found.Get().ToExtString())
    return "".join(sign for sign in text if sign.isprintable()).strip()


def _color(label: Any) -> str | None:
    from OCP.Quantity import Quantity_ColorRGBA
    from OCP.XCAFDoc import XCAFDoc_ColorGen, XCAFDoc_ColorSurf, XCAFDoc_ColorTool

    found = Quantity_ColorRGBA()
    for kind in (XCAFDoc_ColorSurf, XCAFDoc_ColorGen):
        if XCAFDoc_ColorTool.GetColor_s(label, kind, found):
            return _hex(found)
    return None


def _face_color(tool: Any, label: Any, shape: Any) -> str | None:
    """Colour of a part whose faces have colours of their own: that of the first one."""
    from OCP.Quantity import Quantity_ColorRGBA
    from OCP.XCAFDoc import XCAFDoc_ColorSurf, XCAFDoc_DocumentTool

    colors = XCAFDoc_DocumentTool.ColorTool_s(label)
    found = Quantity_ColorRGBA()
    for thing in itertools.chain(_explore(shape, "SOLID"), _explore(shape, "FACE")):
        if colors.GetColor(thing, XCAFDoc_ColorSurf, found):
            return _hex(found)
    return None


def _hex(color: Any) -> str:
    rgb = color.GetRGB()
    shares = []
    for linear in (rgb.Red(), rgb.Green(), rgb.Blue()):  # the kernel keeps light, files and screens sRGB
        value = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
        shares.append(round(255 * min(1.0, max(0.0, value))))
    return "#" + "".join(f"{share:02x}" for share in shares)


def _density(label: Any) -> float | None:
    """[kg/m³] of the material that a part says it is of."""
    from OCP.XCAFDoc import XCAFDoc_MaterialTool

    found = float(XCAFDoc_MaterialTool.GetDensityForShape_s(label))  # [g/cm³]
    return 1e3 * found if found > 0.0 else None


# --- what a part weighs and looks like ---


def moments(shape: Any) -> dict[str, Any]:
    """Volume [m³], centre [m] and inertia about it at a density of 1 [m⁵], of the exact surfaces.

    Gauss points of fixed number are exact to rounding on planes, cylinders, cones, spheres and tori, of free surfaces
    they may be too few; refined until the volume converges, they lose digits of the inertia of simple ones.
    """
    from OCP.BRepGProp import BRepGProp
    from OCP.GProp import GProp_GProps

    props, finer = GProp_GProps(), GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, props)
    BRepGProp.VolumeProperties_s(shape, finer, 1e-3 * _SAME, False, False)
    if abs(props.Mass() - finer.Mass()) > _SAME * abs(finer.Mass()):
        props = GProp_GProps()
        BRepGProp.VolumeProperties_s(shape, props, _FINE, False, False)
    centre = props.CentreOfMass()
    inertia = props.MatrixOfInertia()
    rows = np.array([[inertia.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)])
    return {
        "volume": MM**3 * float(props.Mass()),
        "centre": [MM * x for x in (centre.X(), centre.Y(), centre.Z())],
        "inertia": (MM**5 * 0.5 * (rows + rows.T)).tolist(),
    }


def mesh_text(shape: Any) -> str:
    """Its surface in triangles, as OBJ [m]."""
    from OCP.Bnd import Bnd_Box
    from OCP.BRep import BRep_Tool
    from OCP.BRepBndLib import BRepBndLib
    from OCP.BRepMesh import BRepMesh_IncrementalMesh
    from OCP.TopAbs import TopAbs_REVERSED
    from OCP.TopLoc import TopLoc_Location
    from OCP.TopoDS import TopoDS

    box = Bnd_Box()
    BRepBndLib.Add_s(shape, box)
    BRepMesh_IncrementalMesh(
        shape, max(_COARSE * float(np.sqrt(box.SquareExtent())), 1e-4), False, _TURN, False
    )
    points: dict[tuple[float, float, float], int] = {}
    corners: list[tuple[int, int, int]] = []
    for face in _explore(shape, "FACE"):
        place = TopLoc_Location()
        triangles = BRep_Tool.Triangulation_s(TopoDS.Face(face), place)
        if triangles is None:
            continue
        trsf, backwards = place.Transformation(), face.Orientation() == TopAbs_REVERSED
        own = []
        for k in range(1, triangles.NbNodes() + 1):
            point = triangles.Node(k).Transformed(trsf)
            key = tuple(round(MM * x, 9) + 0.0 for x in (point.X(), point.Y(), point.Z()))
            own.append(points.setdefault(key, len(points) + 1))
        for k in range(1, triangles.NbTriangles() + 1):
            a, b, c = (own[i - 1] for i in triangles.Triangle(k).Get())
            if len({a, b, c}) == 3:
                corners.append((a, c, b) if backwards else (a, b, c))
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points]
    lines += [f"f {a} {b} {c}" for a, b, c in corners]
    return "\n".join(lines) + "\n"


def _box(shape: Any, pose: Pose) -> tuple[list[float], list[float]]:
    """Corners of the box around a part in the assembly [m]."""
    from OCP.Bnd import Bnd_Box
    from OCP.BRepBndLib import BRepBndLib

    box = Bnd_Box()
    BRepBndLib.Add_s(shape, box)
    ends = [[MM * x for x in (p.X(), p.Y(), p.Z())] for p in (box.CornerMin(), box.CornerMax())]
    placed = pose.p + np.array(list(itertools.product(*zip(*ends, strict=True)))) @ pose.R.T
    return placed.min(axis=0).tolist(), placed.max(axis=0).tolist()


def main() -> None:
    """Describe the file of the first argument on the standard output, on which the kernel writes nothing."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        found = describe(sys.argv[1], "--meshes" in sys.argv[2:])
    except KernelError as error:
        found = {"error": str(error)}
    except Exception as error:  # the kernel has errors of its own
        found = {"error": f"the CAD kernel cannot read it: {type(error).__name__}: {str(error)[:200]}"}
    with out:
        json.dump(found, out)


if __name__ == "__main__":
    main()
