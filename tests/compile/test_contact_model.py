"""Contact as the user writes it, and the tables made of it: materials, scenery, who touches whom."""

from __future__ import annotations

import math
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Capsule,
    Component,
    Cylinder,
    Free,
    HeightField,
    Hinge,
    Material,
    MaterialPair,
    Mesh,
    Model,
    NoContact,
    Plane,
    Scenery,
    Simulation,
    Slider,
    Sphere,
    Weld,
    equilibrium,
    inverse,
    load_model,
    save_model,
)
from linkwork.compile.colliders import GROUPS, ColliderTable, combined, may_touch
from linkwork.compile.compiler import compile_model
from linkwork.engine.contact.colliders import BOUNCE_SPEED, FRICTION, RESTITUTION, ROLLING, TORSION
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, HEIGHTS, HULL, PLANE, SPHERE
from linkwork.methods.capabilities import LACKS
from linkwork.methods.features import features
from linkwork.model.edit import with_item
from linkwork.model.errors import ModelError, UnsupportedError
from linkwork.model.rotation import about, matrix
from linkwork.stage.stage import Stage, stage_of

BALL = (Sphere(0.1),)


def model_of(*things: Any) -> Model:
    model = Model()
    model.add(Material("steel"))
    for thing in things:
        model.add(thing)
    return model


def ball(name: str, **fields: Any) -> Body:
    return Body(name, **{"shapes": BALL, "density": 1000.0, "material": "steel"} | fields)


def floor(name: str = "floor", **fields: Any) -> Scenery:
    return Scenery(name, **{"shapes": (Plane(),), "material": "steel"} | fields)


def table_of(model: Model, maximal: bool = False) -> ColliderTable:
    table = compile_model(model, rows=True, maximal=maximal).colliders
    assert table is not None
    return table


def allowed(table: ColliderTable, i: int, j: int) -> bool:
    """What the broad phase lets through, from its documentation."""
    c = table.colliders
    if c.fixed[i] and c.fixed[j]:
        return False
    if not c.groups[i] & c.masks[j] or not c.groups[j] & c.masks[i]:
        return False
    return min(i, j) * len(c.shapes) + max(i, j) not in c.excluded


def touching(model: Model) -> set[frozenset[str]]:
    """Pairs of names that may touch; the same whatever the coordinates are."""
    found = []
    for maximal in (False, True):
        table = table_of(model, maximal)
        names = [table.owners[k] for k in table.colliders.mounts["owner"]]
        pairs = combinations(range(len(names)), 2)
        found.append({frozenset((names[i], names[j])) for i, j in pairs if allowed(table, i, j)})
    assert found[0] == found[1]
    return found[0]


def pairs(*names: str) -> set[frozenset[str]]:
    """`"a b"` => {a, b}."""
    return {frozenset(name.split()) for name in names}


# --- materials ---


def test_two_materials_combine() -> None:
    a = Material("a", friction=0.9, restitution=0.2, bounce_speed=0.05, rolling=0.004, torsion=0.0)
    b = Material("b", friction=0.4, restitution=0.7, bounce_speed=0.01, rolling=0.001, torsion=0.5)
    for values in (combined(a, b), combined(b, a)):
        assert values[FRICTION] == pytest.approx(0.6)
        assert values[ROLLING] == pytest.approx(0.002)
        assert (values[RESTITUTION], values[BOUNCE_SPEED], values[TORSION]) == (0.7, 0.05, 0.0)
    assert combined(a, a) == (0.9, 0.2, 0.05, 0.004, 0.0), "exactly, whatever roots do"


def test_a_pair_replaces_only_what_it_states() -> None:
    a, b = Material("a", friction=0.9), Material("b", restitution=0.5)
    values = combined(a, b, MaterialPair("p", "a", "b", friction=0.0, torsion=0.1))
    assert values[FRICTION] == 0.0
    assert values[RESTITUTION] == 0.5
    assert values[TORSION] == 0.1


def test_the_table_of_materials_holds_every_pair() -> None:
    model = model_of(
        Material("ice", friction=0.02),
        Material("rubber", friction=0.8),
        MaterialPair("skid", "rubber", "ice", friction=0.3),
        MaterialPair("tyres", "rubber", "rubber", rolling=0.01),
        ball("tyre", material="rubber"),
        ball("puck", material="ice"),
        floor(),
    )
    table = table_of(model)
    mounts, materials = table.colliders.mounts, table.colliders.materials
    row = {table.owners[mount["owner"]]: mount["material"] for mount in mounts}
    assert materials.shape == (3, 3, 5)
    assert np.array_equal(materials, materials.transpose(1, 0, 2))
    assert materials[row["tyre"], row["puck"], FRICTION] == 0.3
    assert materials[row["tyre"], row["tyre"], ROLLING] == 0.01
    assert materials[row["tyre"], row["tyre"], FRICTION] == 0.8
    assert materials[row["puck"], row["floor"], FRICTION] == pytest.approx(0.1)


def test_equal_materials_of_instances_share_a_row() -> None:
    leg = Component("leg")
    leg.add(Material("rubber", friction=0.8))
    leg.add(ball("foot", material="rubber"))
    model = model_of(floor(), *(leg.instance(f"leg{k}", at=(k, 0, 1)) for k in range(5)))
    assert table_of(model).colliders.materials.shape == (2, 2, 5)
    # A pair about one of them sets it apart.
    model.add(MaterialPair("worn", "leg3.rubber", "steel", friction=0.1))
    table = table_of(model)
    row = {table.owners[mount["owner"]]: mount["material"] for mount in table.colliders.mounts}
    frictions = table.colliders.materials[row["floor"], :, FRICTION]
    assert frictions[row["leg3.foot"]] == 0.1
    assert frictions[row["leg2.foot"]] == pytest.approx(math.sqrt(0.8 * 0.5))
    assert row["leg2.foot"] == row["leg4.foot"]


# --- shapes ---


def test_shapes_stand_where_the_model_says() -> None:
    turn, tilt = about((0, 0, 1), 0.3), about((1, 2, 3), 0.7)
    shapes = (
        Box((1, 2, 3)),
        Sphere(0.5, at=(1, 0, 0)),
        Cylinder(0.1, 2.0, at=(0, 1, 0), rotation=tilt),
        Capsule(0.2, 1.0),
    )
    model = model_of(
        Body("post", at=(5, 0, 0), mass=1, inertia=(1, 1, 1)),
        ball("part", at=(1, 2, 3), rotation=turn, shapes=shapes),
        floor(at=(0, 0, -1), rotation=tilt, shapes=(Plane(at=(0, 0, 0.5)),)),
        Hinge("arm", "ground", "post", at=(2, 0, 0), axis=(0, 1, 0)),
        Hinge("hand", "post", "part", at=(1, 1, 1), axis=(1, 0, 0)),
    )
    for maximal in (False, True):
        system = compile_model(model, rows=True, maximal=maximal)
        table = system.colliders
        assert table is not None
        assert table.owners == ("part", "floor")
        assert table.labels == ("part.shape1", "part.shape2", "part.shape3", "part.shape4", "floor")
        c = table.colliders
        assert list(c.shapes["kind"]) == [BOX, SPHERE, CYLINDER, CAPSULE, PLANE]
        assert c.shapes["dims"].tolist() == [[1, 2, 3], [0.5, 0, 0], [0.1, 2, 0], [0.2, 1, 0], [0, 0, 0]]
        assert list(c.fixed) == [0, 0, 0, 0, 1]
        # The body table holds the same frame, made by other code.
        body = system.tables.bodies[system.body("part")]
        R = body["X_R"].reshape(3, 3)
        for mount, shape in zip(c.mounts[:4], shapes, strict=True):
            assert mount["link"] == body["link"]
            np.testing.assert_allclose(mount["X_p"], body["X_p"] + R @ shape.at, atol=1e-14)
            np.testing.assert_allclose(mount["X_R"].reshape(3, 3), R @ matrix(shape.rotation), atol=1e-14)
        mount = c.mounts[4]
        assert mount["link"] == 0
        np.testing.assert_allclose(mount["X_R"].reshape(3, 3), matrix(tilt), atol=1e-15)
        np.testing.assert_allclose(mount["X_p"], [0, 0, -1] + matrix(tilt)[:, 2] / 2, atol=1e-15)


def test_meshes_become_hulls_once_each(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((1.0, 2.0, 3.0)).apply_translation((5, 0, 0)).export(tmp_path / "part.stl")
    file = str(tmp_path / "part.stl")
    model = model_of(
        ball("a", shapes=(Mesh(file), Sphere(0.1))),
        ball("b", shapes=(Mesh(file),)),
        ball("c", shapes=(Mesh(file, scale=0.1, inverted=True),)),
    )
    c = table_of(model).colliders
    assert list(c.shapes["kind"]) == [HULL, SPHERE, HULL, HULL]
    assert c.shapes["vertex"][0] == c.shapes["vertex"][2] != c.shapes["vertex"][3]
    assert len(c.hulls.vertices) == 3 * 8, "the cube, and two hulls"

    def corners(i: int) -> Any:
        first = c.shapes["vertex"][i]
        return c.hulls.vertices[first : first + c.shapes["vertices"][i]]

    np.testing.assert_allclose(corners(0).mean(axis=0), [5, 0, 0], atol=1e-6)
    np.testing.assert_allclose(corners(3).mean(axis=0), [-0.5, 0, 0], atol=1e-6)


def test_height_fields_follow_each_other() -> None:
    hills = HeightField((4.0, 2.0), heights=((0, 1, 2), (3, 4, 5)))
    dune = HeightField((1.0, 1.0), heights=((6, 7), (8, 9)))
    model = model_of(ball("a"), floor(shapes=(hills, Box((1, 1, 1)))), floor("beach", shapes=(dune,)))
    c = table_of(model).colliders
    assert list(c.shapes["kind"]) == [SPHERE, HEIGHTS, BOX, HEIGHTS]
    assert list(c.shapes["vertex"]) == [0, 0, 0, 6]
    assert c.hulls.heights.tolist() == list(range(10))
    assert c.shapes["dims"][1, :2].tolist() == [4, 2]


def test_a_mesh_that_cannot_be_used_is_told_with_its_owner(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "flat.stl").write_text("nothing")
    model = model_of(ball("a"), floor(shapes=(Mesh(str(tmp_path / "flat.stl")),)))
    with pytest.raises(ModelError, match=r"scenery 'floor': mesh '.*flat\.stl'"):
        compile_model(model, rows=True)


def test_a_mirrored_component_mirrors_its_shapes_and_scenery() -> None:
    part = Component("part")
    part.add(Material("steel"))
    part.add(ball("lamp", at=(1, 0, 2), shapes=(Sphere(0.1, at=(0.5, 0, 0.25)),)))
    # A ramp: the solid side lies below and towards +x.
    part.add(floor("ramp", at=(1, 0, 0), rotation=about((0, 1, 0), -0.5)))
    model = Model()
    model.add(part.instance("left", mirror=(1, 0, 0)))
    table = table_of(model)
    assert table.owners == ("left.lamp", "left.ramp")
    lamp, ramp = table.colliders.mounts
    system = compile_model(model, rows=True)
    frame = system.tables.dofs["X_p"][1:].sum(axis=0)  # a free joint at the body's origin
    np.testing.assert_allclose(frame, [-1, 0, 2], atol=1e-15)
    home = model.flatten().bodies["left.lamp"]
    seen = np.array(home.at) + matrix(home.rotation) @ home.shapes[0].at
    np.testing.assert_allclose(seen, [-1.5, 0, 2.25], atol=1e-15)
    np.testing.assert_allclose(lamp["X_p"], [-0.5, 0, 0.25], atol=1e-15)
    normal = matrix(about((0, 1, 0), -0.5))[:, 2] * [-1, 1, 1]
    np.testing.assert_allclose(ramp["X_R"].reshape(3, 3)[:, 2], normal, atol=1e-15)
    np.testing.assert_allclose(ramp["X_p"], [-1, 0, 0], atol=1e-15)


# --- who touches whom ---


def test_a_body_without_material_touches_nothing() -> None:
    model = model_of(ball("a"), ball("ghost", material=None), floor(), floor("sky", material=None))
    assert table_of(model).owners == ("a", "floor")
    assert touching(model) == pairs("a floor")
    assert compile_model(model_of(ball("a", material=None)), rows=True).colliders is None
    assert compile_model(model).colliders is None, "only rows have contact"


def test_shapes_of_one_body_do_not_touch_each_other() -> None:
    model = model_of(ball("a", shapes=(Sphere(0.1), Box((1, 1, 1)), Sphere(0.2))), ball("b"), floor())
    assert touching(model) == pairs("a b", "a floor", "b floor")


def test_neighbours_and_what_is_welded_to_them_do_not_touch() -> None:
    names = ("base", "upper", "plate", "lower", "tip")
    model = model_of(
        *(ball(name) for name in names),
        floor(),
        Weld("foot", "base", "ground"),
        Hinge("shoulder", "base", "upper"),
        Weld("screws", "plate", "upper"),
        Slider("elbow", "upper", "lower"),
        Weld("glue", "tip", "lower"),
    )
    # The fixed base against what hangs on the upper arm; everything that moves against the floor.
    moving = pairs("upper floor", "plate floor", "lower floor", "tip floor")
    assert touching(model) == moving | pairs("base lower", "base tip")
    assert table_of(model, maximal=True).colliders.fixed.tolist() == [1, 0, 0, 0, 0, 1]


def test_joints_that_close_loops_keep_apart_as_well() -> None:
    corners = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)]
    model = model_of(*(ball(f"bar{k}", at=corners[k]) for k in range(4)))
    for k in range(4):
        model.add(Hinge(f"pin{k}", f"bar{k}", f"bar{(k + 1) % 4}", at=corners[k], axis=(0, 1, 0)))
    assert touching(model) == pairs("bar0 bar2", "bar1 bar3")


def test_a_ring_of_welds_is_one_rigid_part() -> None:
    model = model_of(ball("a"), ball("b"), ball("c"), ball("d"))
    for one, other in ("ab", "bc", "ca"):
        model.add(Weld(one + other, one, other))
    model.add(Hinge("pin", "c", "d"))
    assert touching(model) == set()


def test_free_joints_and_joints_to_the_ground_keep_nothing_apart() -> None:
    model = model_of(
        ball("flier"),
        ball("kite"),
        ball("door"),
        ball("post"),
        floor(),
        Free("flight", "ground", "flier"),
        Free("string", "flier", "kite"),
        Hinge("pivot", "ground", "door"),
        Weld("bolt", "ground", "post"),
    )
    everything = {frozenset(pair) for pair in combinations(["flier", "kite", "door", "post", "floor"], 2)}
    assert touching(model) == everything - pairs("post floor")


def test_a_body_welded_to_the_ground_over_another_is_fixed() -> None:
    model = model_of(
        ball("a"), ball("b"), ball("c"), floor(), Weld("first", "ground", "a"), Weld("second", "b", "a")
    )
    assert touching(model) == pairs("a c", "b c", "c floor")


def test_no_contact_between_names() -> None:
    model = model_of(ball("a"), ball("b"), ball("c"), floor())
    model.add(NoContact("one", "a", "b"))
    model.add(NoContact("two", "floor", "c"))
    assert touching(model) == pairs("a c", "b c", "a floor", "b floor")


def test_no_contact_with_groups() -> None:
    model = model_of(
        ball("a1", group="a"), ball("a2", group="a"), ball("b1", group="b"), ball("c"),
        floor(group="b"), floor("wall"),
        NoContact("within", "a", "a"),
        NoContact("between", "a", "b"),
        NoContact("single", "c", "b"),
    )  # fmt: skip
    assert touching(model) == pairs("a1 c", "a2 c", "a1 wall", "a2 wall", "b1 wall", "c wall", "b1 floor")


def test_no_contact_may_name_what_has_no_material() -> None:
    model = model_of(ball("a"), ball("ghost", material=None, group="ghosts"), floor())
    model.add(NoContact("one", "ghost", "a"))
    model.add(NoContact("two", "ghosts", "floor"))
    model.add(NoContact("three", "ghosts", "ghosts"))
    assert touching(model) == pairs("a floor")


def test_more_groups_than_bits() -> None:
    count = GROUPS + 5
    model = model_of(floor())
    for k, twin in product(range(count), "xy"):
        model.add(ball(f"{twin}{k}", group=f"g{k}"))
    for k in range(count):
        model.add(NoContact(f"n{k}", f"g{k}", f"g{k}"))
    model.add(NoContact("ends", "g0", f"g{count - 1}"))
    found = touching(model)
    everything = 2 * count * (2 * count - 1) // 2 + 2 * count
    assert len(found) == everything - count - 4
    assert not any(frozenset((f"x{k}", f"y{k}")) in found for k in range(count))
    assert frozenset(("x0", f"y{count - 1}")) not in found


def test_groups_of_instances_are_their_own() -> None:
    leg = Component("leg")
    leg.add(Material("rubber"))
    leg.add(ball("thigh", material="rubber", group="skin"))
    leg.add(ball("foot", material="rubber", group="skin"))
    leg.add(NoContact("self", "skin", "skin"))
    model = model_of(
        floor(), leg.instance("left", at=(0, 1, 0)), leg.instance("right", mirror=(0, 1, 0)), ball("stone")
    )
    feet = pairs("left.thigh right.thigh", "left.thigh right.foot", "left.foot right.thigh")
    legs = feet | pairs("left.foot right.foot")
    names = ["left.thigh", "left.foot", "right.thigh", "right.foot"]
    rest = {frozenset(pair) for pair in product([*names, "stone"], ["floor"])}
    rest |= {frozenset((name, "stone")) for name in names}
    assert touching(model) == legs | rest
    # From outside, a group is reached by its dotted name; others may join it.
    model.add(NoContact("legs", "left.skin", "right.skin"))
    assert touching(model) == rest
    joined = with_item(model, "bodies", "stone", group="left.skin")
    assert touching(joined) == {frozenset((name, "floor")) for name in [*names, "stone"]}


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


def test_statics_and_inverse_dynamics_refuse_contact_by_name() -> None:
    model = model_of(ball("a", at=(1, 0, 0)), floor(), Hinge("pin", "ground", "a", axis=(0, 1, 0)))
    with pytest.raises(UnsupportedError, match="no contact, but body 'a' may touch"):
        equilibrium(model)
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
