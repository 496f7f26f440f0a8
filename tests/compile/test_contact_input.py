"""Contact in methods, studies, pictures and model files, and what is refused of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.contact_models import ball, floor, model_of, pairs, touching
from linkwork import (
    Body,
    Box,
    Component,
    Hinge,
    Material,
    MaterialPair,
    NoContact,
    Plane,
    Scenery,
    Simulation,
    equilibrium,
    inverse,
    load_model,
    save_model,
)
from linkwork.compile.colliders import may_touch
from linkwork.compile.compiler import compile_model
from linkwork.methods.capabilities import LACKS
from linkwork.methods.features import features
from linkwork.model.edit import with_item
from linkwork.model.errors import ModelError, UnsupportedError
from linkwork.model.rotation import about, matrix
from linkwork.stage.stage import Stage, stage_of

# --- methods, studies, pictures ---


def test_the_tree_method_refuses_contact_by_name() -> None:
    model = model_of(ball("a"), floor())
    assert features(model.flatten(), LACKS["tree"]) == {"contact": ["body 'a' may touch"]}
    with pytest.raises(UnsupportedError, match=r"'tree'.*body 'a' may touch.*'simgc'"):
        Simulation(model, method="tree")
    many = model_of(*(ball(f"b{k}") for k in range(10)))
    assert may_touch(many.flatten()) == [
        *(f"body 'b{k}' may touch" for k in range(3)),
        "7 more bodies may touch",
    ]
    assert features(model_of(ball("a", material=None), floor()).flatten(), LACKS["tree"]) == {}


def test_inverse_dynamics_refuses_contact_by_name() -> None:
    model = model_of(ball("a", at=(1, 0, 0)), floor(), Hinge("pin", "ground", "a", axis=(0, 1, 0)))
    with pytest.raises(UnsupportedError, match="no contact, but body 'a' may touch"):
        inverse(model, {"pin.angle": 0.0}, [0.0, 1.0])
    free = with_item(model, "bodies", "a", material=None)
    assert equilibrium(free).posed().scenery.keys() == {"floor"}


def test_scenery_is_on_the_stage_where_it_stands() -> None:
    tilt = about((1, 0, 0), 0.4)
    model = model_of(
        ball("a"), floor(), floor("step", at=(1, 0, 0), rotation=tilt, shapes=(Box((1, 1, 1), at=(0, 0, 2)),))
    )
    stage = stage_of(model)
    assert [seen.name for seen in stage.scenery] == ["floor", "step"]
    (box,) = stage.scenery[1].shapes
    np.testing.assert_allclose(box.at, [1, 0, 0] + 2 * matrix(tilt)[:, 2], atol=1e-15)
    np.testing.assert_allclose(box.rotation, tilt, atol=1e-15)
    assert Stage.from_dict(stage.to_dict()) == stage
    old = stage.to_dict()
    del old["scenery"]  # as records hold it that were made without
    assert Stage.from_dict(old).scenery == ()


# --- files ---
FILE = """\
linkwork: 1
units: SI
parameters: {mu: 0.3}
materials:
  steel: {friction: =mu, restitution: 0.5}
  ice: {friction: 0.02, bounce_speed: 0.1, rolling: 0.001, torsion: 0.002}
material_pairs:
  skid: {a: steel, b: ice, friction: 0.05}
scenery:
  floor: {shapes: [{shape: plane}], material: ice, color: "#808080"}
  step: {at: [1, 0, 0], shapes: [{shape: box, size: [1, 1, 0.2]}], material: steel, group: stairs}
bodies:
  puck:
    at: [0, 0, 1]
    mass: 0.2
    shapes: [{shape: cylinder, radius: 0.1, length: 0.02}]
    material: steel
    group: pucks
no_contacts:
  puck_steps: {a: pucks, b: stairs}
  hover: {a: puck, b: left.shoes}
components:
  leg:
    materials: {rubber: {}}
    bodies: {foot: {density: 1000, shapes: [{shape: sphere, radius: 0.1}], material: rubber, group: shoes}}
instances:
  left: {component: leg, at: [2, 0, 1]}
"""


def test_files_hold_contact(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(FILE)
    model = load_model(tmp_path / "model.yaml")
    assert model.materials["steel"] == Material("steel", friction=0.3, restitution=0.5)
    assert model.material_pairs["skid"] == MaterialPair("skid", "steel", "ice", friction=0.05)
    assert model.scenery["floor"] == Scenery("floor", shapes=(Plane(),), material="ice", color="#808080")
    assert model.bodies["puck"].material == "steel"
    assert touching(model) == pairs("puck floor", "left.foot floor", "left.foot step")
    save_model(model, tmp_path / "copy.yaml")
    assert load_model(tmp_path / "copy.yaml") == model


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("material: ice", "material: icy", "scenery.floor.material: there is no material 'icy' .*'ice'"),
        ("b: stairs", "b: stars", "puck_steps.b: there is no body, scenery or group 'stars' .*'stairs'"),
        ("b: left.shoes", "b: left.shoe", "hover.b: there is no body, .* 'left.shoe' .*'left.shoes'"),
        ("a: steel,", "a: stele,", "skid.a: there is no material 'stele' .*'steel'"),
        ("restitution: 0.5", "restitution: 2", "steel.restitution: must not be greater than 1"),
        ("floor: {shapes: [{shape: plane}],", "floor: {", "scenery.floor.shapes: is required"),
        ("shapes: [{shape: plane}]", "shapes: []", "scenery.floor: has no shapes"),
        ("  step: {", "  puck: {", "scenery.puck: .*may not share a name"),
        ("  step: {", "  left: {", "left: scenery and a component may not share a name"),
        ("group: pucks", "group: two words", "puck.group: .*one word"),
        ("shape: cylinder, radius: 0.1, length: 0.02", "shape: plane", "puck: a shape 'plane'.*scenery"),
        ("    shapes: [{shape: cyl", "    color: [{shape: cyl", "puck: has a material but no shapes"),
    ],
)
def test_files_tell_what_is_wrong(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert FILE.count(old) == 1
    text = FILE.replace(old, new)
    if new.startswith("    color"):
        text = text.replace("color: [{shape: cylinder, radius: 0.1, length: 0.02}]", 'color: "#aabbcc"')
    (tmp_path / "model.yaml").write_text(text)
    with pytest.raises(ModelError, match=said) as error:
        load_model(tmp_path / "model.yaml")
    assert all(problem.line for problem in error.value.problems)


# --- bad input ---


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Material("m", friction=-0.1), "friction: must not be less than 0"),
        (lambda: Material("m", restitution=1.1), "restitution: must not be greater than 1"),
        (lambda: Material("m", bounce_speed=math.nan), "bounce_speed: must be a finite number"),
        (lambda: Material("m", rolling=math.inf), "rolling: must be a finite number"),
        (lambda: Material("m", fricton=1.0), "is not known here .*'friction'"),
        (lambda: MaterialPair("p", "a", "b", torsion=-1.0), "torsion: must not be less than 0"),
        (lambda: Scenery("s", shapes=()), "has no shapes"),
        (lambda: Scenery("s"), "shapes: is required"),
        (lambda: Body("b", mass=1.0, material="m"), "has a material but no shapes"),
        (lambda: Body("b", mass=1.0, shapes=(Plane(),)), "a shape 'plane'.*scenery"),
        (lambda: Body("b", mass=1.0, group="two words"), "group: .*one word"),
        (lambda: NoContact("n", a="", b="b"), "a: must not be empty"),
    ],
)
def test_bad_fields(make: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        make()


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (ball("b", material="stele"), "body 'b'.material: there is no material 'stele' .*'steel'"),
        (floor("wall", material="stele"), "scenery 'wall'.material: there is no material 'stele' .*'steel'"),
        (MaterialPair("p", "steel", "ruber"), "material_pair 'p'.b: there is no material 'ruber'.*'rubber'"),
        (NoContact("n", "a", "flor"), "no_contact 'n'.b: there is no body, scenery or group 'flor'.*'floor'"),
        (NoContact("n", "a", "ground"), "there is no body, scenery or group 'ground'"),
        (ball("b", group="floor"), "group 'floor': has the name of a scenery"),
        (floor("wall", group="a"), "group 'a': has the name of a body"),
    ],
)
def test_references_that_lead_nowhere(thing: Any, said: str) -> None:
    model = model_of(Material("rubber"), ball("a"), floor(), thing)
    with pytest.raises(ModelError, match=said):
        compile_model(model)


def test_two_pairs_about_the_same_materials() -> None:
    model = model_of(Material("ice"), ball("a"), MaterialPair("p", "steel", "ice"))
    model.add(MaterialPair("q", "ice", "steel", friction=0.1))
    with pytest.raises(ModelError, match="material_pair 'q': is about 'ice' and 'steel', as 'p' is"):
        compile_model(model)


def test_bodies_scenery_and_components_share_no_names() -> None:
    model = model_of(ball("a"), floor())
    for thing in (floor("a"), ball("floor"), Component("c").instance("floor")):
        with pytest.raises(ModelError, match="may not share a name"):
            model.add(thing)
    model.add(Material("a"))
    model.add(NoContact("floor", "a", "floor"))
    compile_model(model)


def test_components_compare_and_are_copied_with_their_contact_items() -> None:
    model, same = model_of(ball("a"), floor()), model_of(ball("a"), floor())
    assert model == same
    same.add(NoContact("n", "a", "floor"))
    assert model != same
    softer = with_item(model, "materials", "steel", friction=0.1)
    assert softer.materials["steel"].friction == 0.1
    assert model.materials["steel"].friction == 0.5
