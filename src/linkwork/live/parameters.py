"""Numbers of a model that may change while it moves: gravity, friction, springs and dampers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.loads.spring import Spring
from ..model import Model
from ..model.edit import with_gravity, with_item
from ..model.errors import LinkworkError, nearest
from ..model.joints.base import Joint

GRAVITY = "gravity"
_JOINT_FIELDS = {"friction": ("N m", "N"), "damping": ("N m s/rad", "N s/m"), "spring": ("N m/rad", "N/m")}
_SPRING_FIELDS = {"stiffness": "N/m", "damping": "N s/m"}
_HEADROOM = 4.0  # a slider goes to this many times the value in the model
_LUNAR_TO_JOVIAN = 25.0


class Parameter(NamedTuple):
    """A number that may change while the model moves."""

    name: str
    """`gravity`, or item and field: `elbow.friction`."""
    value: float
    unit: str
    high: float
    """A sensible largest value; the smallest is zero."""


def parameters(model: Model) -> list[Parameter]:
    """All of a model. A field that is zero in the model, such as friction, is left out: set it in the model first."""
    size = float(np.linalg.norm(model.gravity))
    found = [Parameter(GRAVITY, size, "m/s²", max(_LUNAR_TO_JOVIAN, 2 * size))]
    flat = model.flatten()
    for name, joint in flat.joints.items():
        for field, units in _JOINT_FIELDS.items():
            value = max(joint.per_rate(field), default=0.0)
            if value > 0.0:
                unit = units[0 if joint.motions()[0].rot or joint.motions()[0].ball else 1]
                found.append(Parameter(f"{name}.{field}", value, unit, _HEADROOM * value))
    for name, load in flat.loads.items():
        if isinstance(load, Spring):
            for field, unit in _SPRING_FIELDS.items():
                value = getattr(load, field)
                if value > 0.0:
                    found.append(Parameter(f"{name}.{field}", value, unit, _HEADROOM * value))
    return found


def with_parameter(model: Model, name: str, value: float) -> Model:
    """The model with one parameter changed. Of a joint with several coordinates all keep their proportions."""
    known = {parameter.name: parameter for parameter in parameters(model)}
    owner, _, field = name.rpartition(".")
    flat = model.flatten()
    if not (np.isfinite(value) and value >= 0.0):
        raise LinkworkError(f"'{name}' must not be negative, not {value:g}")
    if name == GRAVITY:
        old = np.array(model.gravity)
        size = float(np.linalg.norm(old))
        along = old / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        x, y, z = (float(part) for part in value * along)
        return with_gravity(model, (x, y, z))
    if field in _JOINT_FIELDS and owner in flat.joints:
        return with_item(model, "joints", owner, **{field: _scaled(flat.joints[owner], field, value)})
    if field in _SPRING_FIELDS and isinstance(flat.loads.get(owner), Spring):
        return with_item(model, "loads", owner, **{field: value})
    raise LinkworkError(f"the model has no parameter '{name}' to change while it moves{nearest(name, known)}")


def _scaled(joint: Joint, field: str, value: float) -> Any:
    old = joint.per_rate(field)
    largest = max(old, default=0.0)
    if largest == 0.0 or len(old) == 1:
        return value
    return tuple(value * part / largest for part in old)
