"""Hulls and convex parts of files with meshes, at any scale; bad files get clear answers."""

from __future__ import annotations

import struct
import sys
import time

import numpy as np
import pytest

from helpers.polyhedra import check
from linkwork.engine.contact import hull as hulls
from linkwork.engine.contact import remember
from linkwork.engine.contact.hull import decompose, hull_of
from linkwork.model.errors import MissingExtraError, ModelError

trimesh = pytest.importorskip("trimesh")


def write(path, mesh):
    mesh.export(path)
    return path


def l_shape():
    """A prism over the letter L, of volume 5."""
    outline = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]], dtype=float)
    top = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    faces = [row[::-1] for row in top] + [[i + 6 for i in row] for row in top]
    for i in range(6):
        j = (i + 1) % 6
        faces += [[i, j, j + 6], [i, j + 6, i + 6]]
    vertices = np.vstack([np.column_stack([outline, np.full(6, z)]) for z in (0.0, 1.0)])
    return trimesh.Trimesh(vertices, faces, process=False)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb", "off"])
def test_formats(tmp_path, suffix):
    hull = hull_of(write(tmp_path / f"box.{suffix}", trimesh.creation.box(extents=[1, 2, 3])))
    check(hull, hull.vertices)
    assert (len(hull.vertices), len(hull.faces), hull.notes) == (8, 6, ())
    np.testing.assert_allclose(hull.volume, 6.0)


def test_scale_and_reflection(tmp_path):
    mesh = trimesh.Trimesh(*np.array([[[1.0, 0, 0], [0, 2, 0], [0, 0, 3], [4, 4, 4]]]), process=False)
    mesh.faces = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
    file = write(tmp_path / "odd.ply", mesh)
    plain, small, mirrored = hull_of(file), hull_of(file, scale=0.001), hull_of(file, 0.001, True)
    check(small, plain.vertices * 0.001)
    check(mirrored, plain.vertices * -0.001)
    np.testing.assert_allclose(small.normals, plain.normals * [1, 1, 1, 0.001])
    np.testing.assert_allclose(mirrored.volume, plain.volume * 1e-9)
    with pytest.raises(ModelError, match=r"scale = -1.* must be positive; .*inverted"):
        hull_of(file, scale=-1.0)
    with pytest.raises(ModelError, match="limit = 3"):
        hull_of(file, limit=3)


def test_remembered_by_content(tmp_path, monkeypatch):
    file = write(tmp_path / "a.stl", trimesh.creation.box(extents=[1, 1, 1]))
    first = hull_of(file)
    first.vertices[:] = 0.0  # a copy: others do not see this
    monkeypatch.setattr(hulls, "read_surface", lambda file: pytest.fail("was read again"))
    copy = tmp_path / "b.stl"
    copy.write_bytes(file.read_bytes())
    np.testing.assert_allclose(hull_of(copy).volume, 1.0)
    monkeypatch.undo()
    write(file, trimesh.creation.box(extents=[1, 1, 2]))
    np.testing.assert_allclose(hull_of(file).volume, 2.0)


def test_large_files_are_remembered_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(remember, "shelf_of", lambda key: tmp_path / f"{key}.npz")
    file = write(tmp_path / "ball.stl", trimesh.creation.icosphere(subdivisions=4))
    first = hull_of(file)
    (shelf,) = tmp_path.glob("*.npz")
    remember.forget()
    monkeypatch.setattr(hulls, "read_surface", lambda file: pytest.fail("was read again"))
    for before, after in zip(first, hull_of(file), strict=True):
        np.testing.assert_array_equal(before, after)
    monkeypatch.undo()
    monkeypatch.setattr(remember, "shelf_of", lambda key: tmp_path / f"{key}.npz")
    remember.forget()
    shelf.write_bytes(shelf.read_bytes()[:1000])  # cut short
    np.testing.assert_array_equal(hull_of(file).vertices, first.vertices)
    remember.forget()


def stl(triangles):
    """A binary STL file of n x 3 x 3 numbers."""
    head = b" " * 80 + struct.pack("<I", len(triangles))
    return head + b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(row), 0) for row in triangles)


def flat(z):
    return [[(0, 0, z), (1, 0, z), (0, 1, z)], [(1, 0, z), (1, 1, z), (0, 1, z)]]


BAD = {
    "empty.stl": (b"", "is empty"),
    "nothing.obj": (b"# nothing\n", "no triangles|cannot be read"),
    "no-triangles.stl": (stl([]), "no triangles|cannot be read"),
    "points.ply": (
        b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n",
        "no triangles|cannot be read",
    ),
    "nan.stl": (stl([[(0, 0, 0), (1, 0, 0), (0, 1, float("nan"))]]), "1 of 3 vertices are not finite.*nan"),
    "infinite.stl": (stl([[(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)]]), "1 of 3 vertices are not finite.*inf"),
    "flat.stl": (stl(flat(0)), "is flat.*thickness"),
    "tilted.obj": (b"v 0 0 0\nv 1 0 1\nv 0 1 1\nv 1 1 2\nf 1 2 3\nf 2 4 3\n", "is flat"),
    "nearly-flat.obj": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1e-10\nf 1 2 3\nf 2 4 3\n", "is flat.*1e-10|is flat"),
    "line.stl": (stl([[(0, 0, 0), (1, 1, 1), (2, 2, 2)]]), "is a line"),
    "point.stl": (stl([[(1, 1, 1)] * 3]), "is a single point"),
    "text.stl": (b"this is no mesh at all, however long it may be" * 5, "no triangles|cannot be read as STL"),
    "cut.stl": (stl(flat(0))[:-40], "cut short|cannot be read as STL"),
    "model.step": (b"ISO-10303-21;", "cannot be read as STEP.*STL"),
    "noise.glb": (bytes(range(256)), "cannot be read as GLB"),
    "wrong.off": (b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "do not exist|cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_clear_answers(tmp_path, name):
    content, answer = BAD[name]
    (tmp_path / name).write_bytes(content)
    for reader in (hull_of, decompose) if name != "flat.stl" else (hull_of,):
        if reader is decompose and "is " in answer:
            continue  # needs coacd before it sees that
        with pytest.raises(ModelError, match=answer) as caught:
            reader(tmp_path / name)
        assert name in str(caught.value)


def test_missing_files(tmp_path):
    with pytest.raises(ModelError, match=r"gone\.stl' *: does not exist; check the path"):
        hull_of(tmp_path / "gone.stl")
    with pytest.raises(ModelError, match="does not exist either"):
        hull_of(tmp_path / "no" / "gone.stl")
    with pytest.raises(ModelError, match=r"is a folder|cannot be opened"):
        hull_of(tmp_path)


def test_open_inverted_and_odd_meshes_are_noted(tmp_path):
    box = trimesh.creation.box()
    (note,) = hull_of(write(tmp_path / "open.stl", trimesh.Trimesh(box.vertices, box.faces[:-1]))).notes
    assert "is open" in note
    (note,) = hull_of(write(tmp_path / "in.stl", trimesh.Trimesh(box.vertices, box.faces[:, ::-1]))).notes
    assert "inside out" in note
    faces = box.faces.copy()
    faces[3] = faces[3, ::-1]
    (note,) = hull_of(write(tmp_path / "over.stl", trimesh.Trimesh(box.vertices, faces, process=False))).notes
    assert "turned over" in note
    hull = hull_of(write(tmp_path / "L.stl", l_shape()))
    assert "fills 71 % of its convex hull" in hull.notes[0]
    np.testing.assert_allclose(hull.volume, 7.0)
    (tmp_path / "loose.obj").write_text(
        "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 2 4 3\nf 2 3 5\nf 2 5 4\nf 3 4 5\n"
    )
    hull = hull_of(tmp_path / "loose.obj")
    assert len(hull.vertices) == 4
    np.testing.assert_allclose(hull.volume, 1 / 6)


@pytest.mark.parametrize("scale", [1e12, 1e-12])
def test_huge_and_tiny_coordinates(tmp_path, scale):
    file = write(
        tmp_path / "box.stl", trimesh.Trimesh(l_shape().vertices * scale, l_shape().faces, process=False)
    )
    hull = hull_of(file)
    np.testing.assert_allclose(hull.volume, 7.0 * scale**3, rtol=1e-6)
    assert any("check its scale" in note for note in hull.notes)
    assert not any("check its scale" in note for note in hull_of(file, scale=1 / scale).notes)


def test_far_from_the_origin(tmp_path):
    lines = [f"v {1e9 + x} {y} {z}" for x, y, z in trimesh.creation.box().vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in trimesh.creation.box().faces]
    (tmp_path / "far.obj").write_text("\n".join(lines))
    hull = hull_of(tmp_path / "far.obj")
    np.testing.assert_allclose(hull.volume, 1.0)
    assert any("far from its origin" in note for note in hull.notes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ball", "box", "rough"])
def test_a_million_triangles(tmp_path, kind):
    mesh = trimesh.creation.icosphere(subdivisions=8)
    if kind == "box":
        mesh.vertices = mesh.vertices / np.abs(mesh.vertices).max(axis=1)[:, None] * [0.5, 1.0, 1.5]
    elif kind == "rough":
        rng = np.random.default_rng(2)
        mesh.vertices = mesh.vertices * (1 + 0.02 * rng.normal(size=(len(mesh.vertices), 1)))
    file = write(tmp_path / "many.stl", mesh)
    points = np.asarray(mesh.vertices, dtype=np.float32).astype(float)
    before = time.process_time()
    hull = hull_of(file)
    print(
        f"{kind}: {len(mesh.faces)} triangles, {time.process_time() - before:.1f} s, error {hull.error:.3g} m"
    )
    check(hull, points, contains=1e-9)
    assert any("1310720 triangles" in note for note in hull.notes)
    assert hull.error < 0.15
    remember.forget()


# --- extras ----------------------------------------------------------------------------------------------------


def test_missing_extras(tmp_path, monkeypatch):
    file = write(tmp_path / "L.stl", l_shape())
    remember.forget()
    monkeypatch.setattr(remember, "shelf_of", lambda key: None)
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(MissingExtraError, match=r"L\.stl.* needs the package 'coacd'.*linkwork\[decompose\]"):
        decompose(file)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"L\.stl.* needs the package 'trimesh'.*linkwork\[mesh\]"):
        hull_of(file)


def test_parts_of_a_concave_mesh(tmp_path, monkeypatch):
    pytest.importorskip("coacd")
    monkeypatch.setattr(remember, "shelf_of", lambda key: tmp_path / f"{key}.npz")
    remember.forget()
    file = write(tmp_path / "L.stl", l_shape())
    parts = decompose(file, scale=0.1)
    assert 2 <= len(parts) <= 4
    for part in parts:
        check(part, part.vertices)
    assert abs(parts.volume_error) < 0.01
    assert parts.outside < 1e-3 * 0.1
    np.testing.assert_allclose(sum(part.volume for part in parts), 5e-3, rtol=0.02)
    remember.forget()  # from disk, reflected
    monkeypatch.setattr(hulls, "read_surface", lambda file: pytest.fail("was read again"))
    again = decompose(file, scale=0.1, inverted=True)
    assert (again.volume_error, again.outside) == (parts.volume_error, parts.outside)
    np.testing.assert_array_equal(again[0].vertices, -parts[0].vertices)
    check(again[0], again[0].vertices)
    remember.forget()


def test_parts_of_a_torus(tmp_path, monkeypatch):
    pytest.importorskip("coacd")
    monkeypatch.setattr(remember, "shelf_of", lambda key: None)
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12)
    parts = decompose(write(tmp_path / "torus.stl", torus))
    assert 5 <= len(parts) <= 32
    assert 0.0 < parts.volume_error < 0.25
    with pytest.raises(ModelError, match="threshold = 0"):
        decompose(tmp_path / "torus.stl", threshold=0.0)
    with pytest.raises(ModelError, match="parts = 0"):
        decompose(tmp_path / "torus.stl", parts=0)
