"""Planes, cylinders and spheres of a part: what joints are found by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..model.rotation import Array
from .values import Pose

_FULL = 0.99 * np.pi
"""Of a cylinder that can hold a shaft, angle that its face spans at least [rad]."""


class Round(NamedTuple):
    """A cylindrical face."""

    point: Array
    """Of its axis [m]."""
    axis: Array
    radius: float
    low: float
    """Where it begins and ends along the axis, from `point` [m]."""
    high: float
    hollow: bool
    """A hole; otherwise a shaft."""


class Flat(NamedTuple):
    """A plane face."""

    point: Array
    normal: Array
    """Out of the part."""
    low: Array
    """Corners of the box around it [m]."""
    high: Array


class Ball(NamedTuple):
    """A spherical face."""

    centre: Array
    radius: float
    hollow: bool


@dataclass
class Surfaces:
    """Of a part, in the assembly [m]."""

    rounds: list[Round] = field(default_factory=list)
    flats: list[Flat] = field(default_factory=list)
    balls: list[Ball] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            key: [[x.tolist() if isinstance(x, np.ndarray) else x for x in one] for one in getattr(self, key)]
            for key in ("rounds", "flats", "balls")
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Surfaces:
        """Out of what `plain` made."""
        kinds = (("rounds", Round), ("flats", Flat), ("balls", Ball))
        return cls(*([kind(*map(_array, one)) for one in plain[key]] for key, kind in kinds))  # type: ignore[arg-type]


def _array(value: Any) -> Any:
    return np.array(value) if isinstance(value, list) else value


def surfaces(shape: Any, pose: Pose, unit: float) -> Surfaces:
    """What the faces of a shape are, where it stands at `pose`; `unit` are the metres of its unit of length."""
    from OCP.Bnd import Bnd_Box
    from OCP.BRepAdaptor import BRepAdaptor_Surface
    from OCP.BRepBndLib import BRepBndLib
    from OCP.GeomAbs import GeomAbs_Cylinder, GeomAbs_Plane, GeomAbs_Sphere
    from OCP.TopAbs import TopAbs_FACE, TopAbs_REVERSED
    from OCP.TopExp import TopExp_Explorer
    from OCP.TopoDS import TopoDS

    def point(p: Any) -> Array:
        found: Array = pose.p + pose.R @ (unit * np.array([p.X(), p.Y(), p.Z()]))
        return found

    def along(d: Any) -> Array:
        found: Array = pose.R @ np.array([d.X(), d.Y(), d.Z()])
        return found

    found = Surfaces()
    explorer = TopExp_Explorer(shape, TopAbs_FACE)
    while explorer.More():
        face = TopoDS.Face(explorer.Current())
        explorer.Next()
        surface = BRepAdaptor_Surface(face, True)
        backwards = face.Orientation() == TopAbs_REVERSED
        kind = surface.GetType()
        if kind == GeomAbs_Cylinder:
            if surface.LastUParameter() - surface.FirstUParameter() < _FULL:
                continue
            cylinder = surface.Cylinder()
            place = cylinder.Position()
            ends = unit * surface.FirstVParameter(), unit * surface.LastVParameter()
            left = not place.Direct()
            found.rounds.append(
                Round(
                    point(place.Location()), along(place.Direction()), unit * cylinder.Radius(), *ends,
                    hollow=backwards != left,
                )
            )  # fmt: skip
        elif kind == GeomAbs_Plane:
            place = surface.Plane().Position()
            sign = -1.0 if backwards != (not place.Direct()) else 1.0
            box = Bnd_Box()
            BRepBndLib.AddOptimal_s(face, box, False, False)
            corners = np.array([[p.X(), p.Y(), p.Z()] for p in (box.CornerMin(), box.CornerMax())])
            spread = np.array(
                [
                    [corners[i, 0], corners[j, 1], corners[k, 2]]
                    for i in (0, 1)
                    for j in (0, 1)
                    for k in (0, 1)
                ]
            )
            placed = pose.p + unit * spread @ pose.R.T
            found.flats.append(
                Flat(
                    point(place.Location()),
                    sign * along(place.Direction()),
                    placed.min(axis=0),
                    placed.max(axis=0),
                )
            )
        elif kind == GeomAbs_Sphere:
            sphere = surface.Sphere()
            found.balls.append(Ball(point(sphere.Location()), unit * sphere.Radius(), hollow=backwards))
    return found
