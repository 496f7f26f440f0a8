"""Scenes: one file each, used by the command line, tests, examples, docs and benchmarks alike.

To add a scene, write a file here with a docstring (its first line is the description), a function
`build(...) -> Model` whose keyword parameters have defaults, and, where they differ from the defaults below,
SOURCE, DURATION, DT, METHOD, PLOT, WATCHED, BUTTONS (label: function of the live `Session`), PRESSES, LIVE,
LIVE_OPTIONS, ENDLESS, CHOICES (words that a parameter may be), and functions `sheet` and `written` of the parameters.
Nothing else needs to know. Robots, read from files of another package, are in `robots`.
"""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ..interchange.kinds import is_foreign, open_options
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
    presses: tuple[tuple[float, str], ...] = ()
    """Buttons that are pressed by themselves in live runs, so that there is something to see: times [s] and labels."""
    live: dict[str, Any] = field(default_factory=dict)
    """Parameters of `build` that live runs begin with, where its own are too much for real time."""
    live_options: dict[str, Any] = field(default_factory=dict)
    """Options of `Simulation` for live runs, unless another method is asked for."""
    endless: bool = False
    """Whether live runs go on after the duration; others begin again."""
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Words that parameters of `build` may be, by their names."""
    sheet: Callable[..., Sequence[tuple[str, str, str]]] | None = None
    """What follows from parameters, as names, values and units: shown beside them."""
    written: Callable[..., str] | None = None
    """What parameters describe, as lines of a model file."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of `build` with their defaults."""
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}

    def model(self, settings: Mapping[str, Any]) -> Model:
        """Its model, with some of its parameters changed."""
        for key in settings:
            if key not in self.parameters:
                raise LinkworkError(
                    f"scene '{self.name}' has no parameter '{key}'{nearest(key, self.parameters)}"
                )
        return self.build(**settings)


_ROBOTS = "robots"
"""Package of scenes that need descriptions from elsewhere."""
_STATED = (
    "SOURCE",
    "DURATION",
    "DT",
    "METHOD",
    "PLOT",
    "WATCHED",
    "BUTTONS",
    "PRESSES",
    "LIVE",
    "LIVE_OPTIONS",
    "ENDLESS",
    "CHOICES",
)
_FUNCTIONS = ("sheet", "written")


def scene_names() -> list[str]:
    """Names of all scenes that are part of Linkwork."""
    return [name for name in _modules() if name != _ROBOTS]


@cache
def _modules() -> tuple[str, ...]:
    """Names of what is in this package, whose folder is read once: a page asks several times a second."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def gallery_names() -> list[str]:
    """Names of all scenes that can be opened: with robots, where their descriptions are installed."""
    from .robots import robot_names, robots_folder

    return [*scene_names(), *(robot_names() if robots_folder() is not None else [])]


def find_scene(name: str) -> Scene:
    """A scene by name."""
    if name in scene_names():
        return _scene_of(name, import_module(f"{__name__}.{name}"))
    from .robots import robot_names

    if name in (robots := robot_names()):
        return _scene_of(name, import_module(f"{__name__}.{_ROBOTS}.{name}"))
    raise LinkworkError(f"there is no scene '{name}'{nearest(name, [*scene_names(), *robots])}")


def is_scene(name: object) -> bool:
    """Whether something is the name of a scene; robots count whether their descriptions are installed or not."""
    if not isinstance(name, str):
        return False
    from .robots import robot_names

    return name in scene_names() or name in robot_names()


def scene_file(path: Path) -> Scene:
    """The scene that a Python file of the user's describes as those here do. Runs the file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError:
        raise LinkworkError(f"{path}: there is no such file") from None
    except Exception as error:  # whatever the user's code raises
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        where = f"{path}:{lines[-1]}" if lines else f"{path}"
        raise LinkworkError(f"{where}: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, "build", None)):
        raise LinkworkError(
            f"{path}: has no function build() -> Model; `linkwork new --kind scene` writes one"
        )
    return _scene_of(path.stem, module)


def _scene_of(name: str, module: ModuleType) -> Scene:
    text = inspect.cleandoc(module.__doc__ or name)
    stated = {key.lower(): value for key, value in vars(module).items() if key in _STATED}
    stated |= {key: value for key, value in vars(module).items() if key in _FUNCTIONS}
    return Scene(name, text.splitlines()[0], module.build, **stated)


def scene(name: str, **parameters: Any) -> Model:
    """The model of a scene, with some of its parameters changed."""
    return find_scene(name).model(parameters)


def live_settings(subject: str | Model, settings: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a live run: those that were asked for, and the scene's own choice for the rest."""
    return {**find_scene(str(subject)).live, **settings} if is_scene(subject) else settings


def open_subject(subject: str | Model, settings: dict[str, Any]) -> tuple[Model, Scene | None]:
    """The model that a scene's name, or the path of a model file or of a scene's Python file, stands for, with some
    parameters changed, and its scene if it has one. A model stands for itself."""
    if isinstance(subject, Model):
        return subject, None
    path = Path(subject)
    if path.suffix == ".py":
        own = scene_file(path)
        return own.model(settings), own
    if not is_scene(subject) and (path.suffix in (".yaml", ".yml") or is_foreign(path) or path.exists()):
        from ..interchange.open_file import open_model

        return open_model(path, **open_options(path, settings)), None
    return scene(subject, **settings), find_scene(subject)
