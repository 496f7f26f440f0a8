"""Scenes: one file each, used by the command line, tests, examples, docs and benchmarks alike.

To add a scene, write a file here with a docstring (its first line is the description), a function
`build(...) -> Model` whose keyword parameters have defaults, and, where they differ from the defaults below,
SOURCE, DURATION, DT, METHOD, PLOT, WATCHED and BUTTONS (label: function of the live `Session`). Nothing else needs to
know.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..model import Model
from ..model.errors import LinkworkError, nearest


@dataclass(frozen=True)
class Scene:
    """A model that comes with Linkwork, and how to look at it."""

    name: str
    description: str
    source: str
    """Where its parameters come from."""
    duration: float
    """How long it is worth watching [s]."""
    dt: float
    """A step that suits its method [s]."""
    method: str | None
    """The method that suits it, if that is not the first that can do it."""
    plot: tuple[str, ...]
    """Signals worth plotting (patterns allowed)."""
    build: Callable[..., Model]
    watched: float = 6.0
    """How much of it is simulated for its thumbnail [s]."""
    buttons: dict[str, Callable[[Any], object]] = field(default_factory=dict)
    """What an operator of the live page may press, by label: functions of the `Session`."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of `build` with their defaults."""
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}


def scene_names() -> list[str]:
    """Names of all scenes."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_scene(name: str) -> Scene:
    """A scene by name."""
    if name not in scene_names():
        raise LinkworkError(f"there is no scene '{name}'{nearest(name, scene_names())}")
    module = import_module(f"{__name__}.{name}")
    text = inspect.cleandoc(module.__doc__ or "")
    return Scene(
        name,
        text.splitlines()[0],
        getattr(module, "SOURCE", "made for Linkwork"),
        getattr(module, "DURATION", 10.0),
        getattr(module, "DT", 1e-3),
        getattr(module, "METHOD", None),
        getattr(module, "PLOT", ()),
        module.build,
        getattr(module, "WATCHED", 6.0),
        getattr(module, "BUTTONS", {}),
    )


def scene(name: str, **parameters: Any) -> Model:
    """The model of a scene, with some of its parameters changed."""
    found = find_scene(name)
    for key in parameters:
        if key not in found.parameters:
            raise LinkworkError(f"scene '{name}' has no parameter '{key}'{nearest(key, found.parameters)}")
    return found.build(**parameters)
