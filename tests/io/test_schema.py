"""The schema of model files: it is current, knows all kinds, and fits what the documentation shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from helpers.model_files import ARM, DOCS, HEAD
from helpers.schema import KEYWORDS, SCHEMA, mismatches
from linkwork.engine.elements import COUPLINGS, DRIVES
from linkwork.io import load_model, save_model
from linkwork.io.kinds import file_types
from linkwork.io.yaml_source import read_source
from linkwork.model.describe import summary
from linkwork.model.joints import JOINTS
from linkwork.model.shapes import SHAPES

# --- schema ---


def subschemas(schema: dict[str, Any]) -> Any:
    yield schema
    for key, value in schema.items():
        inside = (
            value.values()
            if key in ("properties", "$defs")
            else value
            if isinstance(value, list)
            else [value]
        )
        if key not in ("default", "const"):
            for inner in inside:
                if isinstance(inner, dict):
                    yield from subschemas(inner)


def test_published_schema_is_current() -> None:
    text = (DOCS / "linkwork.schema.json").read_text(encoding="utf-8")
    assert not re.search("NaN|Infinity", text), "JSON has neither"
    published = json.loads(text)
    assert published == SCHEMA, (
        "write docs/linkwork.schema.json anew: "
        "json.dumps(linkwork.io.model_schema(), indent=2, ensure_ascii=False)"
    )


def test_schema_is_well_formed() -> None:
    for part in subschemas(SCHEMA):
        assert part.keys() <= KEYWORDS
        if "$ref" in part:
            assert part["$ref"].removeprefix("#/$defs/") in SCHEMA["$defs"]
        for key in ("anyOf", "oneOf"):
            assert key not in part or all(isinstance(option, dict) for option in part[key])
        assert set(part.get("required", ())) <= part.get("properties", {}).keys()
        if "pattern" in part:
            re.compile(part["pattern"])


def test_schema_knows_all_kinds_and_describes_their_fields() -> None:
    defs = SCHEMA["$defs"]
    for kind, cls in JOINTS.items():
        joint = defs[f"joint_{kind}"]
        assert joint["properties"]["type"]["const"] == kind
        assert joint["required"][:3] == ["type", "a", "b"]
        assert summary(cls) == joint["description"]
    for what, kinds in (("load", file_types("loads")), ("drive", DRIVES), ("coupling", COUPLINGS)):
        for kind in kinds:
            assert defs[f"{what}_{kind}"]["properties"]["type"]["const"] == kind
            assert {"$ref": f"#/$defs/{what}_{kind}"} in defs[what]["oneOf"]
    of_users = [key for key in defs if "function" in key and not key.endswith("transfer_function")]
    assert not of_users, "a file never runs code"
    assert "[N m s/rad, N s/m]" in defs["joint_hinge"]["properties"]["damping"]["description"]
    assert "[kg]" in defs["body"]["properties"]["mass"]["description"]
    assert all(
        "name" not in defs[key]["properties"] for key in ("body", "marker", "placed", "sealed", "joint_hinge")
    )


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (ARM, True),
        (ARM + "gravity: [0, 0, =g]\n", True),
        ("bodies: {arm: {mass: 1, rotation: {axis: [0, 0, 1], angle: =pi}}}\n", True),
        (
            ARM
            + "components: {c: {include: c.yaml}}\ninstances: {i: {component: c, parameters: {r: =2*r}}}\n",
            True,
        ),
        ("bodies: {arm: {mass: -1}}\n", False),
        ("bodies: {arm: {mass: heavy}}\n", False),
        ("bodies: {ground: {mass: 1}}\n", False),
        ("bodies: {arm: {mas: 1}}\n", False),
        ("bodies: {arm: {mass: 1, shapes: [{size: [1, 1, 1]}]}}\n", False),
        (ARM + "joints: {p: {type: hing, a: ground, b: arm}}\n", False),
        (ARM + "joints: {p: {type: screw, a: ground, b: arm}}\n", False),
        (ARM + "loads: {p: {type: body_function, body: arm}}\n", False),
        (ARM + "extra: 1\n", False),
        (ARM + "joints: {p: {type: hinge, a: ground, b: arm, limits: [=-x, null]}}\n", True),
        (ARM + "joints: {p: {type: planar, a: ground, b: arm, limits: [[0, 1], [null, 2], [0, 1]]}}\n", True),
        (ARM + "joints: {p: {type: hinge, a: ground, b: arm, limits: [0]}}\n", False),
        (ARM + "joints: {p: {type: hinge, a: ground, b: arm, restitution: 1.5}}\n", False),
        (ARM + "joints: {p: {type: hinge, a: ground, b: arm, mirrored: 1}}\n", False),
        (ARM + "drives: {m: {type: velocity_servo, joint: p, command: =w, strength: 2}}\n", True),
        (ARM + "drives: {m: {type: position_servo, joint: p}}\n", False),
        (ARM + "drives: {m: {type: dcmotor, joint: p}}\n", False),
        (ARM + "drives: {m: {type: repeater, a: p, b: q}}\n", False),
        (ARM + "components: {c: {drives: {}, couplings: {r: {type: repeater, a: p, b: q}}}}\n", True),
        (ARM + "couplings: {r: {type: repeater, a: p}}\n", False),
        (ARM + "materials: {steel: {friction: =mu, restitution: 0.5}}\n", True),
        (ARM + "materials: {steel: {restitution: 1.5}}\n", False),
        (ARM + "material_pairs: {p: {a: steel, b: steel, friction: 0.1}}\n", True),
        (ARM + "material_pairs: {p: {a: steel}}\n", False),
        (ARM + "scenery: {floor: {shapes: [{shape: plane}], material: steel}}\n", True),
        (ARM + "scenery: {floor: {material: steel}}\n", False),
        (ARM + "no_contacts: {n: {a: arm, b: floor}}\n", True),
        (ARM + "no_contacts: {n: {a: arm}}\n", False),
    ],
)
def test_schema_tells_right_from_wrong(text: str, fits: bool, tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(HEAD + text)
    found = list(mismatches(SCHEMA, read_source(tmp_path / "model.yaml")[0].plain()))
    assert (not found) == fits, found


# --- documentation ---


def examples() -> dict[str, str]:
    """The files that the documentation shows: blocks of YAML that begin with a comment of their name."""
    text = (DOCS / "model-files.md").read_text(encoding="utf-8")
    return {name: block for block, name in re.findall(r"```yaml\n(# (\S+\.yaml)\n.*?)```", text, re.DOTALL)}


def test_examples_of_the_documentation_compile(tmp_path: Path) -> None:
    from linkwork.compile.compiler import compile_model

    shown = examples()
    assert set(shown) == {"cart.yaml", "pendulum.yaml"}
    for name, text in shown.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert not list(mismatches(SCHEMA, read_source(tmp_path / name)[0].plain()))
    model = load_model(tmp_path / "cart.yaml", {"length": 0.8})
    system = compile_model(model, rows=True)
    assert system.nv == 3
    assert {"rail.travel: upper limit", "mirror: repeater", "motor: dc motor"} <= set(system.rows.names)
    save_model(model, tmp_path / "saved.yaml")
    assert load_model(tmp_path / "saved.yaml") == model


def test_documentation_mentions_every_kind_and_function() -> None:
    from linkwork.io.expressions import FUNCTIONS

    text = (DOCS / "model-files.md").read_text(encoding="utf-8")
    for word in [*JOINTS, *file_types("loads"), *DRIVES, *COUPLINGS, *SHAPES, "sine", "table", *FUNCTIONS]:
        assert f"`{word}`" in text, word
