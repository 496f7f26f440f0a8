"""Looser joints: what can take the place of a joint, keep its motions and hold less."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, sin, tau
from typing import Any

from ..compile.compiler import Compiled
from ..model import Flat, Model
from ..model.item import Vector
from ..model.joints import JOINTS, Joint, Screw
from ..model.joints.base import X, Y, Z

TURN, SLIDE = 0, 1


@dataclass(frozen=True)
class Replacement:
    """A joint to be made of another kind, or left out (`new` is empty)."""

    joint: str
    old: str
    new: str
    axis: Vector | None = None
    reference: Vector | None = None

    def __str__(self) -> str:
        if not self.new:
            return f"leave '{self.joint}' out"
        text = f"make '{self.joint}' {'an' if self.new[0] in 'aeio' else 'a'} {self.new} joint"
        if self.axis is not None and self.reference is not None:
            axis, reference = (", ".join(f"{x + 0.0:.4g}" for x in v) for v in (self.axis, self.reference))
            text += f" with axis ({axis}), reference ({reference})"
        return text


_ALL_TURNS = ((TURN, X), (TURN, Y), (TURN, Z))
_ALONG_AND_ABOUT = ((SLIDE, Z), (TURN, Z))
LOOSER: dict[str, tuple[tuple[str, tuple[int, int] | None, tuple[tuple[int, int], ...]], ...]] = {
    "hinge": (
        ("cylindrical", None, _ALONG_AND_ABOUT),
        ("universal", (X, Z), ((TURN, Z), (TURN, Y))),
        ("universal", (Y, Z), ((TURN, Z), (TURN, X))),
        ("spherical", None, _ALL_TURNS),
    ),
    "slider": (
        ("cylindrical", None, _ALONG_AND_ABOUT),
        ("planar", (X, Z), ((SLIDE, Z), (SLIDE, Y), (TURN, X))),
        ("planar", (Y, Z), ((SLIDE, Z), (SLIDE, X), (TURN, Y))),
    ),
    "universal": (("spherical", None, _ALL_TURNS),),
    "screw": (("cylindrical", None, _ALONG_AND_ABOUT),),
    "weld": (
        ("hinge", None, ((TURN, Z),)),
        ("slider", None, ((SLIDE, Z),)),
        ("cylindrical", None, _ALONG_AND_ABOUT),
        ("spherical", None, _ALL_TURNS),
    ),
}
"""Per kind of joint, what is looser and keeps its motions: kind, axes of the joint frame that become its axis and
reference (None: as they are), and all its motions as (TURN or SLIDE, axis of the frame as it was)."""


def with_changes(model: Model | Compiled, changes: Iterable[Replacement]) -> Model:
    """A copy of the model, components dissolved, with some joints replaced by looser ones in the same place.

    Start, springs, limits and the like stay with the motions that both joints have.
    """
    compiled = Compiled.of(model)
    flat, made = compiled.flat, compiled.dissolved()
    joints = dict(flat.joints)
    for change in changes:
        old = joints.pop(change.joint)
        if change.new:
            joints[change.joint] = _replaced(flat, old, change)
    made.joints = {name: joints[name] for name in flat.joints if name in joints}
    return made


# Where the motion of a joint is found in a looser one: index of its rate there.
_KEPT = {
    ("hinge", "cylindrical"): 1, ("hinge", "universal"): 0, ("hinge", "spherical"): 2,
    ("slider", "cylindrical"): 0, ("slider", "planar"): 0, ("screw", "cylindrical"): 1,
}  # fmt: skip


def _replaced(flat: Flat, old: Joint, change: Replacement) -> Joint:
    fields: dict[str, Any] = {"at": old.at, "axis": old.axis, "reference": old.reference}
    if change.axis is not None:
        fields["axis"], fields["reference"] = change.axis, change.reference
        if isinstance(old.at, str):
            fields["at"] = flat.markers[old.at].at
    new = JOINTS[change.new](old.name, old.a, old.b, **fields, mirrored=old.mirrored)
    place = _KEPT.get((old.kind, new.kind))
    if place is None:
        return new
    carried: dict[str, Any] = {"restitution": old.restitution}
    for name in ("velocity", "damping", "spring", "rest", "friction", "armature"):
        if getattr(old, name) is not None:
            numbers = [0.0] * len(new.rates)
            numbers[place] = old.per_rate(name)[0]
            if isinstance(old, Screw) and name == "velocity":
                numbers[0] = numbers[place] * old.pitch / tau
            carried[name] = tuple(numbers)
    if old.limits is not None:
        bounds: list[Any] = [(None, None)] * len(new.rates)
        bounds[place] = old.bounds()[0]
        carried["limits"] = tuple(bounds)
    if old.position is not None:
        (x,) = old.start()
        numbers = [0.0] * len(new.rates)
        numbers[place] = x
        if isinstance(old, Screw):
            numbers[0] = x * old.pitch / tau
        carried["position"] = (
            (cos(x / 2), 0.0, 0.0, sin(x / 2)) if new.kind == "spherical" else tuple(numbers)
        )
    return dataclasses.replace(new, **carried)
