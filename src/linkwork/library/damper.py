"""A telescopic damper: two tubes that slide in each other, with a spring around them."""

from __future__ import annotations

import math

import numpy as np

from ..model import Body, Component, Cylinder, Slider
from ..model.rotation import Vector, frame_from_axis, quaternion


def damper(
    *,
    lower: Vector = (0.0, 0.0, 0.0),
    upper: Vector = (0.0, 0.0, 0.43),
    stiffness: float = 40000.0,
    damping: float = 3000.0,
    free_length: float = 0.53,
    lower_mass: float = 2.5,
    lower_inertia: Vector = (0.012, 0.012, 0.001),
    lower_com: float = 0.12,
    upper_mass: float = 1.5,
    upper_inertia: Vector = (0.007, 0.007, 0.0005),
    upper_com: float = 0.1,
    radius: float = 0.03,
) -> Component:
    """A telescopic damper between two eyes.

    Ports: `lower` and `upper`, the tubes; their frames stand at the eyes, z from the lower eye to the upper one.

    * lower, upper: places of the eyes, in the component's axes [m];
    * stiffness [N/m], damping [N s/m] and free_length [m] of the spring and damper between the eyes;
    * lower_mass, upper_mass: of the tubes [kg];
    * lower_inertia, upper_inertia: about the centres of mass, in the frames of the tubes [kg m²];
    * lower_com, upper_com: how far the centres of mass are from the eyes, along the damper [m];
    * radius: of the lower tube, for pictures [m].
    """
    # Many arguments: parameters of a part, each with a default, told by name.
    from ..engine.loads import Spring  # brings Numba along: only when it is built

    length = math.dist(lower, upper)
    x, y, z = (float(end - start) for start, end in zip(lower, upper, strict=True))
    frame = quaternion(frame_from_axis((x, y, z), _aside(x, y, z)))
    part = Component("damper", ports=("lower", "upper"))
    outer = Cylinder(radius, 0.6 * length, at=(0.0, 0.0, 0.3 * length))
    inner = Cylinder(0.6 * radius, 0.7 * length, at=(0.0, 0.0, -0.35 * length))
    for name, eye, mass, com, inertia, tube, color in (
        ("lower", lower, lower_mass, lower_com, lower_inertia, outer, "#c0392b"),
        ("upper", upper, upper_mass, -upper_com, upper_inertia, inner, "#b8bcc0"),
    ):
        half = Body(
            name, at=eye, rotation=frame, mass=mass, com=(0.0, 0.0, com), inertia=inertia, shapes=(tube,), color=color
        )  # fmt: skip
        part.add(half)
    part.add(Slider("slide", "lower", "upper", at=lower, axis=(x, y, z)))
    ends, k, c = ("lower", "upper"), stiffness, damping
    part.add(Spring("spring", *ends, at_a=lower, at_b=upper, stiffness=k, damping=c, length=free_length))
    return part


def _aside(x: float, y: float, z: float) -> Vector:
    """Where a tube's x axis points: across y, so that its own y axis stays that of the component where it can."""
    across = np.cross((0.0, 1.0, 0.0), (x, y, z))
    return (float(across[0]), 0.0, float(across[2])) if across.any() else (1.0, 0.0, 0.0)
