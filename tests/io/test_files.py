"""Model files: how they are saved, and what they mean."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from helpers.model_files import ARM, HEAD, load, new_mesh_folder, small, spelled
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
from linkwork.engine.loads import BodyFunction, Force, JointFunction, LineFunction
from linkwork.io import dump_model, load_model, save_model
from linkwork.io.expressions import evaluate
from linkwork.io.yaml_source import MAX_BYTES, scalar
from linkwork.model import Body, Component, Instance, Marker, Model
from linkwork.model.errors import ModelError
from linkwork.model.joints import Cylindrical, Hinge
from linkwork.model.rotation import about
from linkwork.model.shapes import Mesh
from linkwork.model.signals import Sine, Table

mesh_folder = pytest.fixture(scope="module")(new_mesh_folder)


# --- saving ---


def test_saved_text_is_short_and_readable() -> None:
    model = small()
    model.add(Force("push", "arm", force=(0, 0, 1), signal=Table((0, 0.5), (-0.0, 1e22))))
    assert dump_model(model) == (
        "linkwork: 1\nname: small\nunits: SI\ngravity: [0, 0, -9.81]\n\n"
        "bodies:\n  arm: {mass: 1, inertia: [1, 1, 1]}\n\n"
        "joints:\n  pivot: {type: hinge, a: ground, b: arm}\n\n"
        "loads:\n  push:\n    type: force\n    body: arm\n    force: [0, 0, 1]\n"
        "    signal: {signal: table, times: [0, 0.5], values: [-0.0, 1e+22]}\n"
    )


def driven() -> Model:
    """Limits, friction, and every drive and coupling, inside a component and outside."""
    part = Component("part")
    part.add(Body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    part.add(Hinge("pin", "ground", "rod", limits=(None, 1.5), restitution=0.25, friction=0.5))
    part.add(TorqueSource("twist", "pin", command=-2, signal=Sine(0.5)))
    model = small()
    model.add(part.instance("left"))
    model.add(Cylindrical("guide", "arm", "left.rod", limits=((0, 1), (None, None)), friction=(0.1, 0)))
    model.add(VelocityServo("spin", "left.pin", strength=3))
    model.add(PositionServo("hold", "guide", coordinate="angle", stiffness=10, damping=1))
    model.add(DCMotor("motor", "pivot", stall_torque=0.1, idle_speed=500, time_constant=0.02, gear=-50))
    model.add(Repeater("belt", "pivot", "guide", ratio=-2, coordinate_b="angle"))
    return model


def test_drives_and_limits_are_written_and_read(tmp_path: Path) -> None:
    model = driven()
    text = dump_model(model)
    for line in (
        "    limits: [[0, 1], [null, null]]\n    friction: [0.1, 0]\n",
        "drives:\n  spin: {type: velocity_servo, joint: left.pin, strength: 3}",
        "  hold: {type: position_servo, joint: guide, stiffness: 10, coordinate: angle, damping: 1}",
        "couplings:\n  belt: {type: repeater, a: pivot, b: guide, ratio: -2, coordinate_b: angle}",
        "pin: {type: hinge, a: ground, b: rod, limits: [null, 1.5], restitution: 0.25, friction: 0.5}",
        "twist: {type: torque_source, joint: pin, command: -2, signal: {signal: sine, frequency: 0.5}}",
    ):
        assert line in text
    save_model(model, tmp_path / "model.yaml")
    loaded = load_model(tmp_path / "model.yaml")
    assert spelled(loaded) == spelled(model)
    assert loaded.flatten().drives["left.twist"].joint == "left.pin"


def test_long_lists_are_wrapped() -> None:
    model = small()
    model.add(Force("push", "arm", force=(0, 0, 1), signal=Table(range(200), [0.125] * 200)))
    lines = dump_model(model).splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) < 50


def test_components_of_one_name_are_told_apart(tmp_path: Path) -> None:
    model = small()
    for i, mass in enumerate((1.0, 2.0, 1.0)):
        wheel = Component("wheel")
        wheel.add(Body("rim", mass=mass))
        model.add(wheel.instance(f"w{i}"))
    save_model(model, tmp_path / "model.yaml")
    text = (tmp_path / "model.yaml").read_text()
    assert "  wheel: {bodies" in text
    assert "  wheel_2: {name: wheel, bodies" in text
    assert "wheel_3" not in text
    assert load_model(tmp_path / "model.yaml") == model


def test_interrupted_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.yaml"
    save_model(small(), file)
    before = file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(ModelError, match="cannot be written: No space left"):
                save_model(small(), file)
        assert file.read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == ["model.yaml"], "no half-written file may stay"


def test_save_keeps_links_and_permissions(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.touch()
    real.chmod(0o640)
    (tmp_path / "link.yaml").symlink_to(real)
    save_model(small(), tmp_path / "link.yaml")
    assert (tmp_path / "link.yaml").is_symlink()
    assert load_model(real) == small()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_save_into_no_folder_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        save_model(small(), tmp_path / "none" / "model.yaml")


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (BodyFunction("drive", "arm", lambda *_: None), "body_function 'drive'.*never runs code"),
        (JointFunction("motor", "pivot", lambda *_: None), "joint_function 'motor'.*never runs code"),
        (
            LineFunction("strut", "arm", "ground", lambda *_: None, at_a=(0, 0, 0), at_b=(0, 0, 1)),
            "line_function 'strut'.*never runs code",
        ),
        (TorqueSource("twist", "pivto"), "torque_source 'twist'.joint.*no joint 'pivto'.*'pivot'"),
        (Repeater("belt", "pivot", "knee"), "repeater 'belt'.b.*no joint 'knee'"),
        (Marker("tip", "amr"), "marker 'tip'.body.*no body 'amr'.*'arm'"),
        (Body("leg", mass=1, shapes=[Mesh("/none/part.stl")]), "mesh '/none/part.stl'.*inside the folder"),
        (Instance("inner", Model("m")), "instance 'inner'.*gravity would be lost"),
        (Instance("inner", Component("\ud800")), "not valid text"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(thing: Any, words: str, tmp_path: Path) -> None:
    model = small()
    model.add(thing)
    with pytest.raises(ModelError, match=words):
        save_model(model, tmp_path / "model.yaml")
    assert not list(tmp_path.iterdir())


def test_model_without_bodies_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no bodies"):
        save_model(Model("empty"), tmp_path / "model.yaml")


def test_component_in_itself_is_not_saved() -> None:
    model, wheel = small(), Component("wheel")
    wheel.add(Instance("again", wheel))
    model.add(wheel.instance("left"))
    with pytest.raises(ModelError, match="'wheel' in itself"):
        dump_model(model)


def test_too_large_a_model_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkwork.io.writer.MAX_BYTES", 50)
    with pytest.raises(ModelError, match="larger than"):
        save_model(small(), tmp_path / "model.yaml")
    assert MAX_BYTES > 50


def test_mesh_is_named_relative_to_the_file(mesh_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mesh_folder)
    assert Mesh("sub/part.stl") == Mesh(str(mesh_folder / "sub" / "part.stl"))
    model = small()
    model.add(Body("leg", mass=1, shapes=[Mesh(str(mesh_folder / "sub" / "part.stl"))]))
    assert "file: sub/part.stl" in dump_model(model, mesh_folder).replace('"', "")
    save_model(model, mesh_folder / "sub" / "other.yaml")
    assert load_model(mesh_folder / "sub" / "other.yaml") == model


# --- what files mean ---


def test_scalars_follow_yaml_1_2() -> None:
    texts = (
        "1e3",
        "010",
        "0x1F",
        "0o17",
        ".5",
        "-0.0",
        "no",
        "on",
        "y",
        "1_000",
        "12:30",
        "true",
        "Null",
        "~",
        "1.",
    )
    assert [scalar(text) for text in texts] == [
        1000.0, 10, 31, 15, 0.5, 0.0, "no", "on", "y", "1_000", "12:30", True, None, None, 1.0,
    ]  # fmt: skip


def test_parameters_are_computed_in_order_and_replaced_from_outside(tmp_path: Path) -> None:
    text = (
        "parameters: {L: 2, half: =L/2, µ: '=min(half, 5)'}\n"
        "bodies: {arm: {mass: =µ, at: [=-L**2, '=pi', 0]}}\n"
    )
    arm = load(tmp_path, text).bodies["arm"]
    assert (arm.mass, arm.at) == (1.0, (-4.0, math.pi, 0.0))
    assert load(tmp_path, text, {"L": 4}).bodies["arm"].mass == 2.0
    assert load(tmp_path, text, {"µ": 7.5}).bodies["arm"].mass == 7.5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("=1 + 2*3 - 4/8", 6.5),
        ("=-2**2", -4.0),
        ("=(1 + 2)**-1", 1 / 3),
        ("=sqrt(2)", math.sqrt(2)),
        ("=atan2(1, -1)", math.atan2(1, -1)),
        ("=sin(pi/6) + cos(0) + tan(0) + asin(0) + acos(1) + atan(0)", math.sin(math.pi / 6) + 1),
        ("=radians(180) - degrees(pi)", math.pi - 180),
        ("=max(1, abs(-3), 2) + min(4)", 7.0),
    ],
)
def test_expressions(text: str, value: float) -> None:
    assert evaluate(text, {}) == value


def test_components_have_their_own_parameters(tmp_path: Path) -> None:
    text = (
        ARM + "parameters: {size: 3}\n"
        "components: {wheel: {parameters: {m: 1, r: =m/2}, bodies: {rim: {mass: =m, at: [=r, 0, 0]}}}}\n"
        "instances:\n"
        "  a: {component: wheel}\n"
        "  b:\n    component: wheel\n    parameters: {m: =2*size}\n"
        "    mirror: [0, 1, 0]\n    rotation: {axis: [0, 0, 2], angle: =pi}\n"
    )
    model = load(tmp_path, text)
    a, b = model.instances["a"], model.instances["b"]
    assert a.component.bodies["rim"] == Body("rim", mass=1.0, at=(0.5, 0, 0))
    assert b.component.bodies["rim"] == Body("rim", mass=6.0, at=(3.0, 0, 0))
    assert (b.mirror, b.rotation) == ((0.0, 1.0, 0.0), about((0, 0, 1), math.pi))
    assert model.flatten().bodies["b.rim"].mass == 6.0


def test_components_come_from_files_and_files_within(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "corner.yaml").write_text(
        HEAD + "components: {hub: {include: parts/hub.yaml}}\n"
        "instances: {hub: {component: hub, parameters: {m: 5}}}\n"
    )
    (tmp_path / "parts" / "hub.yaml").write_text(
        HEAD + "name: the hub\nparameters: {m: 1}\n"
        "bodies: {disc: {mass: =m, shapes: [{shape: mesh, file: ../d.stl}]}}\n"
    )
    (tmp_path / "d.stl").write_text("solid d\nendsolid d\n")
    model = load(
        tmp_path,
        ARM + "components: {c: {include: corner.yaml}}\n"
        "instances: {left: {component: c}, right: {component: c}}\n"
        "joints: {weld: {type: weld, a: arm, b: right.hub.disc}}\n",
    )
    assert set(model.flatten().bodies) == {"arm", "left.hub.disc", "right.hub.disc"}
    corner = model.instances["left"].component
    assert corner.name == "corner"
    hub = corner.instances["hub"].component
    assert hub.name == "the hub"
    assert hub.bodies["disc"].shapes[0].file == str(tmp_path / "d.stl")


def test_names_may_look_like_other_things(tmp_path: Path) -> None:
    text = (
        "bodies: {no: {mass: 1}, 1: {mass: 1}, null: {mass: 1}, '=x': {mass: 1}}\n"
        "joints: {a: {type: weld, a: no, b: '1'}, b: {type: weld, a: 'null', b: '=x', at: '=m'}}\n"
        "markers: {'=m': {body: no}}\n"
    )
    model = load(tmp_path, text)
    assert list(model.bodies) == ["no", "1", "null", "=x"]
    assert (model.joints["b"].b, model.joints["b"].at) == ("=x", "=m")


def test_anchors_and_empty_sections_are_fine(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        "bodies:\n  a: &a {mass: 1, inertia: &i [1, 1, 1]}\n  b: *a\n  c: {mass: 2, inertia: *i}\njoints:\n",
    )
    assert model.bodies["b"] == Body("b", mass=1, inertia=(1, 1, 1))
    assert model.bodies["c"].inertia == (1.0, 1.0, 1.0)


def test_name_and_gravity_have_defaults(tmp_path: Path) -> None:
    model = load(tmp_path, ARM)
    assert (model.name, model.gravity) == ("model", (0.0, 0.0, -9.81))
    model = load(tmp_path, ARM + "name: my arm\ngravity: [0, =-2, 0]\n")
    assert (model.name, model.gravity) == ("my arm", (0.0, -2.0, 0.0))


def test_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_bytes(b"\xef\xbb\xbf" + (HEAD + ARM).encode())
    assert list(load_model(tmp_path / "model.yaml").bodies) == ["arm"]
