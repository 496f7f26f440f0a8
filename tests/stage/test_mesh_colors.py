"""Colours that mesh files have of their own, where nobody states another."""

import pytest

from linkwork import Body, Mesh, Model
from linkwork.stage.geometry import body_pieces
from linkwork.stage.stage import stage_of

trimesh = pytest.importorskip("trimesh")
DARK, RED = (20, 30, 40), (250, 10, 10)


@pytest.fixture
def files(tmp_path):
    """A dark box with a small red one beside it, and a box without colours."""
    large, small = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((0.1, 0.1, 0.1))
    for part, color in ((large, DARK), (small, RED)):
        part.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=[*color, 255])
        )
    trimesh.Scene([large, small]).export(tmp_path / "two.glb")
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "plain.stl")
    return tmp_path


def colors(file, **fields):
    model = Model("m")
    shape = fields.pop("shape", {})
    model.add(
        Body("b", mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1), shapes=[Mesh(str(file), **shape)], **fields)
    )
    stage = stage_of(model)
    return [piece.color for piece in body_pieces(stage)], [piece.color for piece in body_pieces(stage, True)]


def test_a_mesh_has_the_colour_of_most_of_its_file(files):
    (own,), (family,) = colors(files / "two.glb")
    assert own == DARK
    assert family != DARK  # the colour of its component was asked for


def test_colours_that_are_stated_come_first(files):
    assert colors(files / "two.glb", color="#00ff00")[0] == [(0, 255, 0)]
    assert colors(files / "two.glb", shape={"color": "#0000ff"})[0] == [(0, 0, 255)]


def test_what_has_no_colour_is_told_apart_by_the_palette(files):
    first, second = colors(files / "plain.stl")
    assert first == second
