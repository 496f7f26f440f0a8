"""A four-bar linkage of ten parts as a STEP assembly, with what its parts weigh by formulas."""

from __future__ import annotations

from math import atan2, degrees, hypot, pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

BORE = 6.0
"""Radius of pins and holes [mm]."""


class Solid(NamedTuple):
    """By formulas."""

    volume: float
    """[m³]"""
    centre: tuple[float, float, float]
    """In the assembly [m]."""
    inertia: Any
    """About the centre, in axes of the assembly, at a density of 1 [m⁵]."""


def box(x: float, y: float, z: float) -> tuple[float, Any]:
    """Volume and inertia about the centre."""
    volume = x * y * z
    return volume, volume / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])


def rod(r: float, h: float) -> tuple[float, Any]:
    """A cylinder along y."""
    volume = pi * r * r * h
    across = volume * (r * r / 4 + h * h / 12)
    return volume, np.diag([across, volume * r * r / 2, across])


def solid(at: Any, *parts: tuple[float, tuple[float, Any], Any], turn: Any = None) -> Solid:
    """Sum of parts (sign, (volume, inertia), place) around `at`, in mm."""
    volume = sum(sign * v for sign, (v, _), _ in parts)
    centre = sum(sign * v * np.array(p, float) for sign, (v, _), p in parts) / volume
    inertia = np.zeros((3, 3))
    for sign, (v, own), p in parts:
        d = np.array(p, float) - centre
        inertia += sign * (own + v * (d @ d * np.eye(3) - np.outer(d, d)))
    R = np.eye(3) if turn is None else turn
    place = np.array(at, float) + R @ centre
    return Solid(1e-9 * volume, tuple(1e-3 * place), 1e-15 * R @ inertia @ R.T)  # type: ignore[arg-type]


def four_bar(file: Path, **options: Any) -> dict[str, Solid]:
    """Write it in millimetres, or as `options` of build123d's export_step say; returns what its parts are.

    Everything turns about y. The base has a groove with a block in it; the weight is with the coupler in an assembly.
    """
    import build123d as cad

    solids: dict[str, Solid] = {}
    shapes: dict[str, Any] = {}

    def add(name: str, shape: Any, at: Any, color: str, turn: float = 0.0) -> None:
        made = cad.Pos(*at) * cad.Rot(0, turn, 0) * shape
        made.label, made.color = name, cad.Color(color)
        shapes[name] = made

    def along_y(r: float, h: float) -> Any:
        return cad.Rot(90, 0, 0) * cad.Cylinder(r, h)

    def bar(length: float) -> Any:
        """Along z, with holes at its ends."""
        made = cad.Box(20, 10, length + 40)
        for z in (-length / 2, length / 2):
            made -= cad.Pos(0, 0, z) * along_y(BORE, 12)
        return made

    def bar_solid(length: float, at: Any, turn: Any = None) -> Solid:
        ends = [(-1.0, rod(BORE, 10), (0, 0, sign * length / 2)) for sign in (-1, 1)]
        return solid(at, (1.0, box(20, 10, length + 40), (0, 0, 0)), *ends, turn=turn)

    base = cad.Box(400, 20, 60) - cad.Pos(0, 0, 25) * cad.Box(100, 20, 10)
    for x in (-150, 150):
        base -= cad.Pos(x, 0, 0) * along_y(BORE, 22)
    add("base", base, (0, 0, 0), "gray")
    solids["base"] = solid(
        (0, 0, 0), (1.0, box(400, 20, 60), (0, 0, 0)), (-1.0, box(100, 20, 10), (0, 0, 25)),
        *((-1.0, rod(BORE, 20), (x, 0, 0)) for x in (-150, 150)),
    )  # fmt: skip
    add("block", cad.Box(100, 30, 10), (0, 0, 25), "orange")
    solids["block"] = solid((0, 0, 25), (1.0, box(100, 30, 10), (0, 0, 0)))
    for name, x, length in (("crank", -150, 100), ("lever", 150, 160)):
        add(name, bar(length), (x, -15, length / 2), "red" if x < 0 else "green")
        solids[name] = bar_solid(length, (x, -15, length / 2))
    for name, at, length in (
        ("left_pin", (-150, -5, 0), 30), ("right_pin", (150, -5, 0), 30),
        ("crank_pin", (-150, -20, 100), 20), ("lever_pin", (150, -20, 160), 20),
    ):  # fmt: skip
        add(name, along_y(BORE, length), at, "blue")
        solids[name] = solid(at, (1.0, rod(BORE, length), (0, 0, 0)))
    # From the end of the crank to that of the lever.
    angle = pi / 2 - atan2(60, 300)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    add("coupler", bar(hypot(300, 60)), (0, -25, 130), "white", degrees(angle))
    solids["coupler"] = bar_solid(hypot(300, 60), (0, -25, 130), turn)
    add("weight", along_y(20, 30), (0, -45, 130), "black")
    solids["weight"] = solid((0, -45, 130), (1.0, rod(20, 30), (0, 0, 0)))
    pair = cad.Compound(label="coupler_set", children=[shapes.pop("coupler"), shapes.pop("weight")])
    whole = cad.Compound(label="four_bar", children=[*shapes.values(), pair])
    cad.export_step(whole, str(file), **options)
    return solids
