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
from pathlib import Path
from typing import Any

from ..model import Model
from ..model.errors import LinkworkError, nearest


@dataclass(frozen=True)
class Scene:
    """A model that comes with Linkwork, and how to look at it."""

    name: str
    description: str
    build: Callable[..., Model]
    source: str = "made for Linkwork"
    """Where its parameters come from."""
    duration: float = 10.0
    """How long it is worth watching [s]."""
    dt: float = 1e-3
    """A step that suits its method [s]."""
    method: str | None = None
    """The method that suits it, if that is not the first that can do it."""
    plot: tuple[str, ...] = ()
    """Signals worth plotting (patterns allowed)."""
    watched: float = 6.0
    """How much of it is simulated for its thumbnail [s]."""
    buttons: dict[str, Callable[[Any], object]] = field(default_factory=dict)
    """What an operator of the live page may press, by label: functions of the `Session`."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of `build` with their defaults."""
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}


_STATED = ("SOURCE", "DURATION", "DT", "METHOD", "PLOT", "WATCHED", "BUTTONS")


def scene_names() -> list[str]:
    """Names of all scenes."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_scene(name: str) -> Scene:
    """A scene by name."""
    if name not in scene_names():
        raise LinkworkError(f"there is no scene '{name}'{nearest(name, scene_names())}")
    module = import_module(f"{__name__}.{name}")
    text = inspect.cleandoc(module.__doc__ or "")
    stated = {key.lower(): value for key, value in vars(module).items() if key in _STATED}
    return Scene(name, text.splitlines()[0], module.build, **stated)


def scene(name: str, **parameters: Any) -> Model:
    """The model of a scene, with some of its parameters changed."""
    found = find_scene(name)
    for key in parameters:
        if key not in found.parameters:
            raise LinkworkError(f"scene '{name}' has no parameter '{key}'{nearest(key, found.parameters)}")
    return found.build(**parameters)


def open_subject(subject: str | Model, settings: dict[str, Any]) -> tuple[Model, Scene | None]:
    """The model that a scene's name or the path of a model file stands for, with some parameters changed, and its
    scene if it has one. A model stands for itself."""
    if isinstance(subject, Model):
        return subject, None
    path = Path(subject)
    if subject not in scene_names() and (path.suffix in (".yaml", ".yml") or path.exists()):
        from ..io import load_model

        return load_model(path, settings), None
    return scene(subject, **settings), find_scene(subject)
