"""Six vehicles side by side on a bump track, each with another suspension."""

from __future__ import annotations

import numpy as np

from ..model import Body, Box, Component, HeightField, Material, Model, Plane, Scenery, Table
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..vehicle import OF_THE_PAPER, SUSPENSIONS, HubMotor, Wheel, fit
from .krt100 import MOTOR, SIDES

SOURCE = "types of suspension of Strashnov and Torgashev; sizes and masses made for Linkwork"
DURATION = 16.0
PLOT = ("*.chassis.position.z", "macpherson.front_left.pivot.angle")
WATCHED = 5.0
LIVE_OPTIONS = {"dt": 4e-3}
ALL = "all"
CHOICES = {"kind": (ALL, *SUSPENSIONS), "spring": ("coil", "torsion")}
RADIUS, MASS = 0.2, 120.0
"""Of the wheels [m]; of a chassis [kg]."""
LOAD = MASS * 9.81 / 4
"""That a corner carries [N]."""
HALF_BASE, HALF_TRACK, LANE = 0.45, 0.42, 1.7
"""[m]"""
PACE = 0.28
"""Voltage as a share of nominal: 1 m/s [1]."""
_LENGTH, _BUMPS, _RISE = 12.0, 4.0, 0.05  # of the track, of its first bumps, of a bump [m]
_CELL = 0.1


def corner(kind: str, side: str = "left", spring: str = "coil", driven: bool = True) -> Wheel:
    """A wheel of the vehicle with a suspension."""
    drive = HubMotor(**MOTOR, command=PACE, signal=Table((0.2, 0.7), (0.0, 1.0))) if driven else None
    return Wheel(suspension=kind, side=SIDES[side], radius=RADIUS, load=LOAD, spring=spring, drive=drive)


def vehicle(kind: str, spring: str = "coil") -> Component:
    """A chassis on four corners of a kind, which rests with its frame at the wheels' centres, 0.2 m up."""
    made = Component(kind, ports=("chassis",))
    deck = (Box((1.3, 0.3, 0.12), at=(0.0, 0.0, 0.22)), Box((0.5, 0.26, 0.14), at=(-0.2, 0.0, 0.35)))
    made.add(
        Body(
            "chassis",
            mass=MASS,
            com=(0.0, 0.0, 0.15),
            inertia=(4.0, 14.0, 16.0),
            shapes=deck,
            color="#3c6e91",
        )
    )
    for side in ("left", "right"):
        part = corner(kind, side, spring).component()
        y = HALF_TRACK if side == "left" else -HALF_TRACK
        for axle, x in (("front", HALF_BASE), ("rear", -HALF_BASE)):
            fit(made, f"{axle}_{side}", part, chassis="chassis", at=(x, y, 0.0))
    return made


def build(kind: str = ALL, spring: str = "coil") -> Model:
    """`kind`: one of the suspensions of wheels, or the six of the paper side by side; `spring`: "coil", or "torsion"
    where there is a hinge for it."""
    kinds = list(OF_THE_PAPER) if kind == ALL else [kind]
    if kind not in (ALL, *SUSPENSIONS):
        raise LinkworkError(f"suspensions: there is no kind '{kind}'{nearest(kind, [ALL, *SUSPENSIONS])}")
    model = Model("suspensions")
    model.add(Material("soil", friction=0.8))
    model.add(Scenery("floor", shapes=(Plane(),), material="soil", color="#8a8d8a"))
    width = LANE * len(kinds)
    model.add(
        Scenery(
            "track",
            at=(_LENGTH / 2 + 1.0, 0.0, 0.0),
            shapes=(_track(width),),
            material="soil",
            color="#9a8f76",
        )
    )
    for i, name in enumerate(kinds):
        has_hinge = SUSPENSIONS[name].torsion
        part = vehicle(name, spring if has_hinge else "coil")
        model.add(part.instance(name, at=(0.0, _lane(i, len(kinds)), RADIUS)))
    return model


def _lane(i: int, count: int) -> float:
    """Middle of a lane; the first is on the left [m]."""
    return LANE * (0.5 * (count - 1) - i)


def _track(width: float) -> HeightField:
    """Bumps first across all of a lane, then left and right by turns."""
    count = round(width / LANE)
    x = np.linspace(0.0, _LENGTH, round(_LENGTH / _CELL) + 1)[None, :]
    y = np.linspace(-0.5, 0.5, round(width / _CELL) + 1)[:, None] * width
    lane = (y / LANE + 0.5 * count) % 1.0 - 0.5
    wave = 0.5 * _RISE * (1.0 - np.cos(2.0 * np.pi * np.clip((x - 1.0) / 1.0, 0.0, _BUMPS - 1.0)))
    later = np.clip(x - _BUMPS - 0.5, 0.0, 5.0)
    left, right = (
        0.6 * _RISE * (1.0 - np.cos(np.pi * (later + shift))) * _faded(later) for shift in (0.0, 1.0)
    )
    share = 0.5 + 0.5 * np.tanh(6.0 * lane)  # of the left half
    heights = wave + share * left + (1.0 - share) * right - 1e-3
    return HeightField((_LENGTH, width), heights=tuple(map(tuple, heights.tolist())), smooth=True)


def _faded(x: Array) -> Array:
    """From nothing to all and back over a metre at both ends of the later bumps."""
    faded: Array = np.clip(x, 0.0, 1.0) * np.clip(5.0 - x, 0.0, 1.0)
    smooth: Array = faded * faded * (3.0 - 2.0 * faded)
    return smooth
