"""What a session begins with: a model that there is something to see of, and options that suit it."""

from __future__ import annotations

from typing import Any

from ..compile.compiler import Compiled
from ..methods.options import DEFAULT_DT, Options, option_names
from ..methods.registry import way_for
from ..model import Model
from ..model.errors import LinkworkError
from ..run.simulate import Simulation
from ..scenes import Scene


def open_model(model: Model) -> Compiled:
    """The model with its tables."""
    opened = Compiled(model)
    if not opened.flat.bodies:
        raise LinkworkError(f"the model '{model.name}' has no bodies: there is nothing to see")
    return opened


def names_of(simulation: Simulation) -> tuple[str, Any]:
    """Method and solver."""
    return simulation.method.name, simulation.method.info().get("solver")


def options_of(model: Compiled, scene: Scene | None, options: dict[str, Any]) -> dict[str, Any]:
    """Options that were wished for, and those of the scene where nothing was."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if scene is not None:
        if "method" not in chosen and "solver" not in chosen:
            chosen = {**scene.live_options, **chosen}
        chosen.setdefault("dt", scene.dt)
        if scene.method is not None:
            chosen.setdefault("method", scene.method)
    named = chosen.get("method"), chosen.get("solver")
    if any(isinstance(name, Options) for name in named):
        return chosen
    dt = chosen.get("dt", DEFAULT_DT)
    if "budget" in option_names(way_for(model, *named, dt).options):
        chosen.setdefault("budget", dt)  # a step must not take longer than it simulates
    return chosen
