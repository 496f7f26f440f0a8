"""The reference of items: every field is described, with its unit, and the page is not stale."""

import pydoc
import re
from pathlib import Path

import pytest

from helpers.command import call, document
from linkwork import Body, Hinge, Screw, Slider
from linkwork.io import model_schema
from linkwork.io.reference import entries, find_entry, reference
from linkwork.model.joints import JOINTS
from linkwork.model.shapes import SHAPES

DOCS = Path(__file__).parents[2] / "docs"
UNIT = re.compile(r"\[[^\]]+\]")


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.section}-{entry.name}")
def test_every_field_is_described_with_its_unit(entry):
    assert entry.about
    for field in entry.fields:
        assert re.match(r"[A-Z(#].*", field.meaning), (
            f"{field.name} of {entry.name} says nothing: {field.meaning!r}"
        )
        if "number" in field.type:
            assert UNIT.search(field.meaning), f"{field.name} of {entry.name} has no unit: {field.meaning!r}"


@pytest.mark.parametrize("kind", JOINTS)
def test_joints_name_their_coordinates_and_rates(kind):
    more = {"pitch": 0.01} if JOINTS[kind] is Screw else {}
    joint = JOINTS[kind]("joint", "ground", "body", **more)
    about = find_entry(kind).about
    for motion in joint.motions():
        for names, unit in ((motion.coordinates, motion.unit), (motion.rates, motion.rate_unit)):
            for name in names:
                assert f"`{name}`" in about
            assert f"[{unit}]" in about


def test_the_page_is_not_stale():
    written = (DOCS / "reference.md").read_text()
    assert written == reference(), "write it anew: linkwork items --markdown > docs/reference.md"


def test_help_shows_the_fields():
    text = pydoc.render_doc(Hinge, renderer=pydoc.plaintext)
    assert "Rotation about the axis" in text
    assert "Coordinate: `angle` [rad]" in text
    assert "damping: number >= 0 or list of numbers >= 0; default 0" in text
    assert "[N m s/rad, N s/m]" in text
    assert "xy = -∫x y dm" in Body.__doc__


def test_items_are_told_by_the_command():
    assert "joints: " in call("items").output
    assert "`travel` [m]" in call("items", "slider").output
    assert call("items", "Slider").output == call("items", "slider").output
    assert "did you mean 'slider'" in str(call("items", "slidr").exception)
    assert call("items", "--markdown").output == reference()
    listed = document("items")
    assert {row["item"] for row in listed} >= {
        *JOINTS,
        *SHAPES,
        "body",
        "force",
        "sine",
        "instance",
        "line_function",
    }
    fields = {field["name"]: field for field in document("items", "body")[0]["fields"]}
    assert fields["mass"]["type"] == "number >= 0"
    assert fields["at"]["default"] == "(0, 0, 0)"


def test_the_schema_has_the_same_texts():
    defs = model_schema()["$defs"]
    for kind, cls in JOINTS.items():
        properties = defs[f"joint_{kind}"]["properties"]
        for field in find_entry(kind).fields:
            if field.name != "name":
                assert properties[field.name]["description"] == field.meaning
        assert properties["type"]["description"] == find_entry(cls.__name__).about
    assert "Fields:" not in str(defs)


def test_the_signature_is_kept():
    assert Slider("rail", "ground", "box", axis=(1, 0, 0)).axis == (1, 0, 0)
