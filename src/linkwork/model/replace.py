"""Models with another component in the place of one: what its surroundings hold on to must be there again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

from .component import Component, Flat, Model
from .edit import with_shelves
from .errors import LinkworkError, ModelError, Problem, nearest
from .item import Refers
from .sealed import Sealed

C = TypeVar("C", bound=Component)

IN_PLACE = 1e-9
"""How far the frame of a port's body may be from where it was [m]."""


def replaced(model: C, path: str, other: Component | str) -> C:
    """The model with another component at the dotted path of an instance: one that is open, or a sealed one by its
    file or address."""
    if not isinstance(other, Component | str) or isinstance(other, Model):
        given = f"the model '{other.name}'" if isinstance(other, Model) else repr(other)[:60]
        raise LinkworkError(f"'{path}' can be replaced by a Component, not by {given}")
    before = model.flatten()
    made = _put(model, path, other, path)
    after = made.flatten()
    problems = list(_differences(before, after, path))
    # What else is named from outside, such as joints by drives, shows as a name that leads nowhere now.
    known = {str(problem) for problem in before.problems()}
    new = [problem for problem in after.problems() if str(problem) not in known]
    if problems or new:
        raise ModelError([*problems, *new])
    return made


def _put(component: C, path: str, other: Component | str, whole: str) -> C:
    made = with_shelves(component)
    name, _, rest = path.partition(".")
    if name not in made.instances:
        inside = f" in '{whole.removesuffix(f'.{path}')}'" if path != whole else ""
        hint = nearest(name, made.instances) or " (there are no components in it)"
        raise LinkworkError(f"there is no component '{whole}' to replace: no instance '{name}'{inside}{hint}")
    old = made.instances[name]
    if rest and isinstance(old, Sealed):
        raise LinkworkError(
            f"'{whole.removesuffix(f'.{rest}')}' is sealed: nothing inside it can be replaced"
        )
    inner = _put(old.component, rest, other, whole) if rest else other
    if isinstance(inner, str):
        made.instances[name] = Sealed(name, inner, at=old.at, rotation=old.rotation, mirror=old.mirror)
    else:
        made.instances[name] = inner.instance(name, at=old.at, rotation=old.rotation, mirror=old.mirror)
    return made


def _differences(before: Flat, after: Flat, path: str) -> Iterator[Problem]:
    """Ports that are gone or stand elsewhere. Without declared ports, bodies that others attach to count."""
    where = f"instance '{path}'"
    wanted = before.ports.get(path) or tuple(_attached(before, path))
    offered = after.ports.get(path)
    for port in wanted:
        name = port.removeprefix(f"{path}.")
        if port not in after.bodies or (offered is not None and port not in offered):
            listed = ", ".join(f"'{p.removeprefix(f'{path}.')}'" for p in offered or ()) or "none declared"
            yield Problem(where, f"the new component has no port '{name}' (its ports: {listed})")
            continue
        off = math.dist(before.bodies[port].at, after.bodies[port].at)
        if off > IN_PLACE:
            what = f"the port '{name}' of the new component stands {off:.3g} m from where the old one stood"
            yield Problem(where, f"{what}; a port's frame stands where it is attached")


def _attached(flat: Flat, path: str) -> dict[str, None]:
    """Bodies of the component at `path` that joints and loads outside it name."""
    inside = f"{path}."
    return {
        target: None
        for thing in (*flat.joints.values(), *flat.loads.values())
        for _, what, target in thing.references()
        if what is Refers.BODY and target.startswith(inside) and not thing.name.startswith(inside)
    }
