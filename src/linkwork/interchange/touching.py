"""Letting an imported mechanism touch what is around it."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..model import Material, Model, NoContact
from .report import LossReport

SURFACE = "surface"
"""Material of what comes without one."""


def let_touch(model: Model, report: LossReport) -> None:
    """Give a material to all bodies and scenery with shapes that touch; the bodies leave each other alone."""
    group = "parts" if "parts" not in model.bodies and "parts" not in model.scenery else "robot_parts"
    touching = [body for body in model.bodies.values() if any(shape.touches for shape in body.shapes)]
    if not touching:
        return
    model.add(Material(SURFACE))
    for body in touching:
        model.bodies[body.name] = dataclasses.replace(body, material=SURFACE, group=group)
    for thing in list(model.scenery.values()):
        if any(shape.touches for shape in thing.shapes):
            model.scenery[thing.name] = dataclasses.replace(thing, material=SURFACE)
    model.add(NoContact("among_parts", group, group))
    how = f"friction 0.5, for the file states none; bodies of the group '{group}' leave each other alone"
    report.add("mapped", f"collision shapes of {len(touching)} bodies", how)


def touch_nothing(model: Model) -> None:
    """Take all materials away, and what is said of them."""
    for shelf in (model.bodies, model.scenery):
        things: dict[str, Any] = shelf
        for name, thing in things.items():
            things[name] = dataclasses.replace(thing, material=None, group=None)
    for other in (model.materials, model.material_pairs, model.no_contacts):
        other.clear()
