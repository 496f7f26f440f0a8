"""Mass properties of shapes against triangle meshes, which another library integrates."""

import numpy as np
import pytest

from linkwork import Body, Box, Capsule, Component, Cylinder, Mesh, Model, ModelError, Sphere, about
from linkwork.rotation import matrix

trimesh = pytest.importorskip("trimesh")


def meshes():
    """(shape, the same as a fine mesh, relative accuracy of that mesh)."""
    creation = trimesh.creation
    return {
        "box": (Box((0.3, 0.5, 0.7)), creation.box(extents=(0.3, 0.5, 0.7)), 1e-12),
        "sphere": (Sphere(0.4), creation.icosphere(subdivisions=6, radius=0.4), 1e-3),
        "cylinder": (Cylinder(0.2, 0.9), creation.cylinder(radius=0.2, height=0.9, sections=2048), 1e-5),
        "capsule": (Capsule(0.2, 0.6), creation.capsule(radius=0.2, height=0.6, count=[512, 512]), 1e-3),
    }


@pytest.mark.parametrize("name", ["box", "sphere", "cylinder", "capsule"])
def test_a_shape_weighs_what_its_mesh_weighs(name):
    shape, mesh, accuracy = meshes()[name]
    body = Body("part", density=1200.0, shapes=(shape,)).mass_properties
    mesh.density = 1200.0
    centre = mesh.center_mass  # some makers of meshes put them beside the origin
    assert body.mass == pytest.approx(mesh.mass, rel=accuracy)
    np.testing.assert_allclose(body.com, 0.0, atol=1e-15)
    np.testing.assert_allclose(
        body.inertia, mesh.moment_inertia, atol=2 * accuracy * np.trace(mesh.moment_inertia)
    )
    assert np.isfinite(centre).all()


def test_a_shape_may_stand_anywhere_in_its_body():
    turn = about((1, 2, 3), 0.8)
    body = Body("part", density=700.0, shapes=(Box((0.3, 0.5, 0.7), at=(0.1, -0.2, 0.4), rotation=turn),))
    mesh = trimesh.creation.box(extents=(0.3, 0.5, 0.7))
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = matrix(turn), (0.1, -0.2, 0.4)
    mesh.apply_transform(placed)
    mesh.density = 700.0
    np.testing.assert_allclose(body.mass_properties.com, mesh.center_mass, atol=1e-12)
    np.testing.assert_allclose(body.mass_properties.inertia, mesh.moment_inertia, atol=1e-12)


def test_several_shapes_add_up_and_a_given_mass_is_spread_over_them():
    shapes = (Box((1, 0.1, 0.1), at=(0.5, 0, 0)), Box((0.1, 1, 0.1), at=(1.0, 0.5, 0)))
    by_density = Body("part", density=1000.0, shapes=shapes).mass_properties
    by_mass = Body("part", mass=by_density.mass, shapes=shapes).mass_properties
    np.testing.assert_allclose(by_mass.com, by_density.com, atol=1e-14)
    np.testing.assert_allclose(by_mass.inertia, by_density.inertia, atol=1e-12)
    np.testing.assert_allclose(by_density.com, (0.75, 0.25, 0), atol=1e-12)


@pytest.fixture
def wedge(tmp_path):
    """A mesh file in millimetres whose hull is no symmetric body."""
    points = np.array([(0, 0, 0), (300, 0, 0), (0, 200, 0), (0, 0, 100), (300, 50, 80)], float)
    mesh = trimesh.convex.convex_hull(points)
    mesh.export(tmp_path / "wedge.stl")
    return tmp_path / "wedge.stl", mesh


def test_a_mesh_file_gives_the_mass_of_its_hull(wedge):
    path, mesh = wedge
    body = Body("wedge", density=2000.0, shapes=(Mesh(str(path), scale=1e-3),)).mass_properties
    mesh.apply_scale(1e-3)
    mesh.density = 2000.0
    # STL files hold single precision.
    assert body.mass == pytest.approx(mesh.mass, rel=1e-6)
    np.testing.assert_allclose(body.com, mesh.center_mass, rtol=1e-6)
    np.testing.assert_allclose(body.inertia, mesh.moment_inertia, rtol=1e-5, atol=1e-9)


def test_a_mirrored_mesh_is_the_mirror_image(wedge):
    path, _ = wedge
    part = Component("part")
    part.add(Body("wedge", density=2000.0, shapes=(Mesh(str(path), scale=1e-3, at=(0.1, 0, 0)),)))
    model = Model("both")
    model.add(part.instance("left"))
    model.add(part.instance("right", mirror=(0, 1, 0)))
    flat = model.flatten()
    seen = []
    for side in ("left", "right"):
        body = flat.bodies[f"{side}.wedge"]
        R = matrix(body.rotation)
        properties = body.mass_properties
        seen.append((np.array(body.at) + R @ properties.com, R @ properties.inertia @ R.T))
    M = np.diag([1.0, -1.0, 1.0])
    np.testing.assert_allclose(seen[1][0], M @ seen[0][0], atol=1e-12)
    np.testing.assert_allclose(seen[1][1], M @ seen[0][1] @ M, atol=1e-12)


def test_a_mesh_that_cannot_be_used_is_named(tmp_path):
    bad = tmp_path / "bad.stl"
    bad.write_bytes(b"no mesh at all")
    flat = tmp_path / "flat.obj"
    flat.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    for path in (bad, flat):
        with pytest.raises(ModelError, match=f"mesh '.*{path.name}'"):
            _ = Body("part", density=1.0, shapes=(Mesh(str(path)),)).mass_properties
