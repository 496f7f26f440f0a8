"""Contact as the user writes it, and the tables made of it: materials, scenery, who touches whom."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.contact_models import ball, floor, model_of, table_of
from linkwork import (
    Body,
    Box,
    Capsule,
    Component,
    Cylinder,
    HeightField,
    Hinge,
    Material,
    MaterialPair,
    Mesh,
    Model,
    Plane,
    Sphere,
)
from linkwork.compile.colliders import combined
from linkwork.compile.compiler import compile_model
from linkwork.engine.contact.colliders import BOUNCE_SPEED, FRICTION, RESTITUTION, ROLLING, TORSION
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, HEIGHTS, HULL, PLANE, SPHERE
from linkwork.model.errors import ModelError
from linkwork.model.rotation import about, matrix

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
