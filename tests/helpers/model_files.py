"""Small model files, and what is in a model to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.published_tyre import tir
from linkwork.io import load_model
from linkwork.io.kinds import SHELVES
from linkwork.model import Body, Component, Model
from linkwork.model.joints import Hinge

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "linkwork: 1\nunits: SI\n"
ARM = "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\n"


def load(folder: Path, text: str, parameters: dict[str, float] | None = None) -> Model:
    (folder / "model.yaml").write_text(HEAD + text, encoding="utf-8")
    return load_model(folder / "model.yaml", parameters)


def spelled(component: Component) -> Any:
    """Everything in a component, in order, floats by their digits: tells 0.0 from -0.0."""
    shelves = [repr(list(getattr(component, shelf).items())) for shelf in SHELVES]
    placed = [(i.name, i.at, i.rotation, i.mirror) for i in component.instances.values()]
    inner = [spelled(i.component) for i in component.instances.values()]
    gravity = repr(component.gravity) if isinstance(component, Model) else ""
    return component.name, shelves, repr(placed), inner, gravity


def new_mesh_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "sub").mkdir()
    (folder / "sub" / "part.stl").write_text("solid part\nendsolid part\n")
    (folder / "sub" / "hills.csv").write_text("0, 1\n2, 3\n")
    (folder / "sub" / "tyre.tir").write_text(tir())
    return folder


def small() -> Model:
    model = Model("small")
    model.add(Body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("pivot", "ground", "arm"))
    return model
