"""Mass properties of shapes against triangle meshes, which another library integrates."""

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Capsule,
    Component,
    Cylinder,
    Ellipsoid,
    Mesh,
    Model,
    ModelError,
    Sphere,
    Torus,
    about,
)
from linkwork.model.rotation import Placement, matrix
from linkwork.model.shapes import HeightField, Plane

trimesh = pytest.importorskip("trimesh")


def meshes():
    """(shape, the same as a fine mesh, relative accuracy of that mesh)."""
    creation = trimesh.creation
    egg = creation.icosphere(subdivisions=6, radius=1.0)
    egg.apply_scale((0.2, 0.3, 0.5))
    return {
        "torus": (Torus(0.4, 0.1), creation.torus(0.4, 0.1, major_sections=512, minor_sections=512), 1e-3),
        "ellipsoid": (Ellipsoid((0.2, 0.3, 0.5)), egg, 1e-3),
        "box": (Box((0.3, 0.5, 0.7)), creation.box(extents=(0.3, 0.5, 0.7)), 1e-12),
        "sphere": (Sphere(0.4), creation.icosphere(subdivisions=6, radius=0.4), 1e-3),
        "cylinder": (Cylinder(0.2, 0.9), creation.cylinder(radius=0.2, height=0.9, sections=2048), 1e-5),
        "capsule": (Capsule(0.2, 0.6), creation.capsule(radius=0.2, height=0.6, count=[512, 512]), 1e-3),
    }


@pytest.mark.parametrize("name", ["box", "sphere", "cylinder", "capsule", "ellipsoid", "torus"])
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


def test_a_mesh_file_gives_the_mass_of_its_solid(wedge):
    path, mesh = wedge
    body = Body("wedge", density=2000.0, shapes=(Mesh(str(path), scale=1e-3),)).mass_properties
    mesh.apply_scale(1e-3)
    mesh.density = 2000.0
    # STL files hold single precision.
    assert body.mass == pytest.approx(mesh.mass, rel=1e-6)
    np.testing.assert_allclose(body.com, mesh.center_mass, rtol=1e-6)
    np.testing.assert_allclose(body.inertia, mesh.moment_inertia, rtol=1e-5, atol=1e-9)


def test_a_concave_mesh_weighs_what_it_encloses(tmp_path):
    """A square tube: two boxes with one hole, whose moments are differences of boxes'."""
    tube = trimesh.creation.annulus(
        1.0, 2.0, 6.0, sections=4
    )  # of squares with diagonals 2 and 4, edges √2 and 2√2
    tube.apply_translation((1.0, 2.0, 3.0))
    tube.export(tmp_path / "tube.ply")
    body = Body("tube", density=1000.0, shapes=(Mesh(str(tmp_path / "tube.ply"), scale=(0.1, 0.1, 0.2)),))
    side, hole, length = 0.2 * 2**0.5, 0.1 * 2**0.5, 1.2
    mass = 1000.0 * length * (side**2 - hole**2)
    about_z = 1000.0 * length * (side**4 - hole**4) / 6
    across = about_z / 2 + mass * length**2 / 12
    found = body.mass_properties
    assert found.mass == pytest.approx(mass, rel=1e-6)  # the file holds single precision
    np.testing.assert_allclose(found.com, (0.1, 0.2, 0.6), rtol=1e-6)
    np.testing.assert_allclose(found.inertia, np.diag([across, across, about_z]), rtol=1e-6, atol=1e-5)
    hull = Mesh(str(tmp_path / "tube.ply"), scale=(0.1, 0.1, 0.2), weighs="hull")
    assert Body("b", density=1000.0, shapes=(hull,)).mass_properties.mass == pytest.approx(
        1000.0 * length * side**2, rel=1e-6
    )


def test_an_open_mesh_is_told_and_its_hull_can_be_weighed(tmp_path):
    box = trimesh.creation.box((1, 2, 3))
    trimesh.Trimesh(box.vertices, box.faces[1:], process=False).export(tmp_path / "open.stl")
    trimesh.Trimesh(box.vertices, np.vstack([box.faces[1:], box.faces[:1, ::-1]]), process=False).export(
        tmp_path / "turned.stl"
    )
    for name in ("open.stl", "turned.stl"):
        with pytest.raises(ModelError, match=r"not closed \(3 edges"):
            _ = Body("b", density=1.0, shapes=(Mesh(str(tmp_path / name)),)).mass_properties
        hull = Mesh(str(tmp_path / name), weighs="hull")
        assert Body("b", density=1.0, shapes=(hull,)).mass_properties.mass == pytest.approx(6.0)
    trimesh.Trimesh(box.vertices, box.faces[:, ::-1], process=False).export(tmp_path / "inside_out.stl")
    inside_out = Mesh(str(tmp_path / "inside_out.stl"))
    np.testing.assert_allclose(
        Body("b", density=12.0, shapes=(inside_out,)).mass_properties.inertia,
        6 * np.diag([13.0, 10.0, 5.0]), rtol=1e-12, atol=1e-12,
    )  # fmt: skip


def test_shapes_weigh_touch_and_are_seen_as_their_use_says():
    ball = Sphere(0.1)
    body = Body("b", mass=2.0, shapes=(ball, Box((9, 9, 9), use="picture"), Box((8, 8, 8), use="contact")))
    np.testing.assert_allclose(body.mass_properties.inertia, 0.4 * 2.0 * 0.1**2 * np.eye(3), rtol=1e-12)
    with pytest.raises(ModelError, match="no shapes that weigh"):
        Body("b", density=1.0, shapes=(Box((9, 9, 9), use="picture"),))
    with pytest.raises(ModelError, match="no shapes to touch with"):
        Body("b", mass=1.0, material="wood", shapes=(Box((9, 9, 9), use="picture"),))


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


@pytest.mark.parametrize("shape", [Plane(), HeightField((1.0, 2.0), heights=[[0, 0], [0, 0]])])
def test_ground_has_no_mass(shape):
    with pytest.raises(ModelError, match="has no mass; put it on scenery"):
        shape.mass_properties(1000.0)


def test_heights_are_given_or_read_from_a_file(tmp_path):
    grid = np.array([[0.0, 0.1, 0.3], [0.2, -0.1, 1e-3]])
    np.save(tmp_path / "a.npy", grid)
    (tmp_path / "b.csv").write_text("# metres\n0, 0.1; 0.3\n\n0.2 -0.1 1e-3\n")
    given = HeightField((2.0, 1.0), heights=grid)
    for field in (
        given,
        *(HeightField((2.0, 1.0), file=str(tmp_path / name)) for name in ("a.npy", "b.csv")),
    ):
        np.testing.assert_array_equal(field.grid(), grid)
    np.save(tmp_path / "a.npy", grid[:, :2])
    assert HeightField((2.0, 1.0), file=str(tmp_path / "a.npy")).grid().shape == (2, 2)


@pytest.mark.parametrize(
    ("heights", "what"),
    [
        ([[0, 1]], "at least 2 rows of 2 numbers, not 1 of 2"),
        ([], "at least 2 rows"),
        ([[0], [1]], "at least 2 rows of 2 numbers, not 2 of 1"),
        ([[0, 1], [0]], "row 1 has 1 numbers, row 0 has 2"),
        ([[0, 1], [0, "high"]], "must be a number"),
        ([[0, 1], [0, float("nan")]], "must be a finite number"),
        (3.0, "must be a list"),
        (None, "needs either heights or a file"),
    ],
)
def test_heights_that_make_no_grid_are_refused(heights, what):
    with pytest.raises(ModelError, match=what):
        HeightField((1.0, 1.0), heights=heights)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("none.npy", None, "No such file"),
        ("empty.csv", b"", "empty"),
        ("word.csv", b"1 2\n3 high\n", "line 2: 'high' is not a number"),
        ("ragged.csv", b"1 2\n3\n", "row 1 has 1 numbers"),
        ("single.csv", b"1 2 3\n", "at least 2 rows"),
        ("nan.csv", b"1 2\n3 nan\n", "row 1, column 1 is nan"),
        ("binary.csv", b"\xff\xfe\x00", "cannot be used"),
        ("broken.npy", b"no array at all", "cannot be used"),
        ("flat.npy", np.zeros(4), "no rows of numbers"),
        ("text.npy", np.array([["a", "b"], ["c", "d"]]), "no rows of numbers"),
        ("inf.npy", np.array([[0.0, np.inf], [0.0, 0.0]]), "row 0, column 1 is inf"),
        ("row.npy", np.zeros((1, 5)), "at least 2 rows"),
        ("objects.npy", np.array([[{}, 1], [2, 3]], object), "cannot be used"),
    ],
)
def test_a_broken_file_of_heights_is_named(tmp_path, name, content, what):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(ModelError, match=what) as caught:
        HeightField((1.0, 1.0), file=str(path)).grid()
    assert name in str(caught.value)


def test_heights_come_from_one_place():
    with pytest.raises(ModelError, match="either heights or a file"):
        HeightField((1.0, 1.0), heights=[[0, 0], [0, 0]], file="a.npy")
    with pytest.raises(ModelError, match=r"a\.png' must be a \.npy or a \.csv file"):
        HeightField((1.0, 1.0), file="a.png")


def test_mirrored_ground_is_the_mirror_image():
    grid = np.random.default_rng(0).normal(size=(3, 4))
    turn = about((1, 2, 3), 0.7)
    field = HeightField((3.0, 2.0), heights=grid, at=(0.1, 0.2, 0.3), rotation=turn)
    moved = field.moved(Placement(mirror=(0.0, 1.0, 0.0)))
    # Frames of a mirrored component are turned by -M, points in them change sign.
    assert {tuple(x) for x in _nodes(moved).round(12) + 0.0} == {
        tuple(x) for x in (-_nodes(field)).round(12) + 0.0
    }
    plane = Plane(rotation=turn)
    up = matrix(plane.moved(Placement(mirror=(0.0, 1.0, 0.0))).rotation)[:, 2]
    np.testing.assert_allclose(up, -matrix(turn)[:, 2], atol=1e-12)


def _nodes(field):
    grid = field.grid()
    x = np.linspace(-field.size[0] / 2, field.size[0] / 2, grid.shape[1])
    y = np.linspace(-field.size[1] / 2, field.size[1] / 2, grid.shape[0])
    nodes = np.stack([*np.meshgrid(x, y), grid], axis=-1).reshape(-1, 3)
    return np.array(field.at) + nodes @ matrix(field.rotation).T


def test_terrain_is_drawn_as_its_surface():
    from linkwork.stage.geometry import shape_pieces
    from linkwork.stage.meshes import mesh

    field = HeightField((3.0, 2.0), heights=np.random.default_rng(0).normal(size=(3, 4)), at=(0.1, 0.2, 0.3))
    (piece,) = shape_pieces(field, -1, (0, 0, 0))
    seen = mesh(piece.mesh)
    np.testing.assert_allclose(seen.vertices * piece.scale + piece.at, _nodes(field), atol=1e-12)
    a, b, c = (seen.vertices[seen.faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    assert len(seen.faces) == 2 * 2 * 3


def test_smooth_terrain_is_drawn_as_its_surface():
    from linkwork.stage.geometry import shape_pieces
    from linkwork.stage.meshes import mesh

    x, y = np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-2, 2, 17))
    field = HeightField((6.0, 4.0), heights=0.3 * np.sin(x) * np.cos(y), smooth=True)
    (piece,) = shape_pieces(field, -1, (0, 0, 0))
    seen = mesh(piece.mesh).vertices
    assert len(seen) > 20 * x.size
    inner = (abs(seen[:, 0]) < 2.0) & (abs(seen[:, 1]) < 1.0)  # the spline is not bent at the rim
    exact = 0.3 * np.sin(seen[:, 0]) * np.cos(seen[:, 1])
    # Of fourth order: 5/384 of the fourth derivatives and the cell to the fourth, along both axes.
    assert np.abs(seen[:, 2] - exact)[inner].max() < 2 * 5 / 384 * 0.3 * 0.25**4


def test_a_torus_has_a_hole():
    with pytest.raises(ModelError, match="must not be larger than radius"):
        Torus(0.2, 0.3)


def test_splines_pass_through_all_numbers():
    from linkwork.model.spline import refined

    random = np.random.default_rng(3)
    for shape in ((2, 2), (2, 7), (3, 3), (11, 5)):
        grid = random.normal(size=shape)
        np.testing.assert_allclose(refined(grid, 4)[::4, ::4], grid, atol=1e-14)
    plane = np.add.outer(np.arange(5.0), 2.0 * np.arange(4.0))
    np.testing.assert_allclose(refined(plane, 2), np.add.outer(np.arange(9) / 2, np.arange(7.0)), atol=1e-14)
