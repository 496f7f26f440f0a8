"""Model files: what they mean, that they round-trip to the bit, and that the schema fits them."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from linkwork import PID, Actuator, HydraulicCylinder
from linkwork.engine.elements import (
    COUPLINGS,
    DRIVES,
    DCMotor,
    PositionServo,
    Repeater,
    TorqueSource,
    VelocityServo,
)
from linkwork.engine.loads import BodyFunction, Bushing, Force, JointFunction, LineFunction, Spring, Torque
from linkwork.io import dump_model, load_model, model_schema, save_model
from linkwork.io.expressions import evaluate
from linkwork.io.kinds import SHELVES, file_loads
from linkwork.io.yaml_source import MAX_BYTES, read_source, scalar
from linkwork.model import (
    Body,
    Component,
    Instance,
    Marker,
    Material,
    MaterialPair,
    Model,
    NoContact,
    Scenery,
)
from linkwork.model.errors import ModelError
from linkwork.model.item import Refers
from linkwork.model.joints import JOINTS, Cylindrical, Hinge, Joint
from linkwork.model.rotation import about
from linkwork.model.shapes import SHAPES, Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from linkwork.model.signals import Sine, Table

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "linkwork: 1\nunits: SI\n"
ARM = "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\n"
SCHEMA = model_schema()


def load(folder: Path, text: str, parameters: dict[str, float] | None = None) -> Model:
    (folder / "model.yaml").write_text(HEAD + text, encoding="utf-8")
    return load_model(folder / "model.yaml", parameters)


def spelled(component: Component) -> Any:
    """Everything in a component, in order, floats by their digits: tells 0.0 from -0.0."""
    shelves = [repr(list(getattr(component, shelf).items())) for shelf in SHELVES]
    placed = [(i.name, i.at, i.rotation, i.mirror) for i in component.instances.values()]
    inner = [spelled(i.component) for i in component.instances.values()]
    gravity = repr(component.gravity) if isinstance(component, Model) else ""
    return component.name, shelves, repr(placed), inner, gravity


# --- random models ---

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(min_value=1e-300, max_value=1e300)
NON_NEGATIVE = st.just(0.0) | POSITIVE
NOT_ZERO = NUMBERS.filter(bool)
LIMITS = st.tuples(st.none() | NUMBERS, st.none() | NUMBERS).filter(
    lambda pair: None in pair or pair[0] <= pair[1]
)
POINTS = st.tuples(*[st.floats(-1e6, 1e6)] * 3)
AXES = st.tuples(*[st.floats(-5.0, 5.0)] * 3).filter(lambda a: math.hypot(*a) > 1e-3)
QUATERNIONS = st.builds(about, AXES, st.floats(-10, 10)) | st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(
    lambda q: math.hypot(*q) > 1e-3
)
TRICKY = (
    "null",
    "true",
    "no",
    "1",
    "1e3",
    "=x",
    "-",
    "~",
    "#a",
    "Ωμέγα",
    "腕",
    "a,b",
    "{}",
    "\x07",
    "&a",
    "*b",
    "!c",
)
NAMES = st.sampled_from(TRICKY) | st.text(min_size=1, max_size=12).filter(
    lambda name: name != "ground" and not any(c.isspace() or c in "/:\\\"'." for c in name)
)
TITLES = st.sampled_from(("wheel", "", "two\nlines", "=1", "a: b")) | st.text(max_size=8)


def shapes(folder: Path, fixed: bool) -> st.SearchStrategy[Any]:
    places = {"at": POINTS, "rotation": QUATERNIONS}
    made = {
        "box": st.builds(Box, st.tuples(POSITIVE, POSITIVE, POSITIVE), **places),
        "sphere": st.builds(Sphere, POSITIVE),
        "cylinder": st.builds(Cylinder, POSITIVE, POSITIVE, **places),
        "capsule": st.builds(Capsule, POSITIVE, POSITIVE, **places),
        "mesh": st.builds(
            Mesh, st.just(str(folder / "sub" / "part.stl")), scale=POSITIVE, inverted=st.booleans()
        ),
    }
    grids = st.just(((0.0, -0.0), (1e-3, 2.5), (1.0, 1.0)))
    size = st.tuples(POSITIVE, POSITIVE)
    surfaces = {
        "plane": st.builds(Plane, **places),
        "heights": st.builds(HeightField, size, heights=grids, **places)
        | st.builds(HeightField, size, file=st.just(str(folder / "sub" / "hills.csv"))),
    }
    assert made.keys() | surfaces.keys() == SHAPES.keys()
    return st.one_of(*made.values(), *(surfaces.values() if fixed else ()))


SIGNALS = st.none() | st.one_of(
    st.builds(Sine, NON_NEGATIVE, amplitude=NUMBERS, phase=NUMBERS, offset=NUMBERS),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=60).map(
        lambda rows: Table(sorted(t for t, _ in rows), [x for _, x in rows])
    ),
)


@st.composite
def bodies(draw: st.DrawFn, name: str, folder: Path, materials: list[str], group: str) -> Body:
    geometry = draw(st.lists(shapes(folder, fixed=False), max_size=2))
    common = {"at": draw(POINTS), "rotation": draw(QUATERNIONS), "shapes": geometry}
    common["color"] = draw(st.none() | st.just("#12abEF"))
    common["com"] = draw(st.none() | POINTS)
    common["group"] = draw(st.none() | st.just(group))
    if geometry and materials:
        common["material"] = draw(st.none() | st.sampled_from(materials))
    if geometry and draw(st.booleans()):
        return Body(name, density=draw(POSITIVE), **common)
    a, b = draw(st.floats(0.1, 10)), draw(st.floats(0.1, 10))
    inertia = draw(
        st.sampled_from((None, (a, b, (a + b) / 2), (a, b, (a + b) / 2, -0.0, 0.01, 0.0), (0.1, 0.1, a)))
    )
    return Body(name, mass=draw(NON_NEGATIVE), inertia=inertia, trust_inertia=True, **common)


@st.composite
def joints(draw: st.DrawFn, name: str, ends: tuple[str, str], markers: list[str]) -> Joint:
    kind = draw(st.sampled_from(sorted(JOINTS)))
    extra = {"pitch": draw(NUMBERS)} if kind == "screw" else {}
    plain = JOINTS[kind](name, *ends, **extra)
    count = len(plain.rates)
    fields = dict.fromkeys(("damping", "spring", "friction", "armature"), NON_NEGATIVE) | {"rest": NUMBERS}
    for field, numbers in fields.items():
        extra[field] = draw(st.just(0.0) | numbers | st.tuples(*[numbers] * count))
    extra["limits"] = draw(st.none() | LIMITS | (st.tuples(*[LIMITS] * count) if count else st.none()))
    extra["restitution"] = draw(st.just(0.0) | st.floats(0, 1))
    if "qw" not in plain.coordinates:
        extra["position"] = draw(st.none() | NUMBERS | st.tuples(*[NUMBERS] * count))
    else:
        extra["position"] = draw(
            st.tuples(*[NUMBERS] * (len(plain.coordinates) - 4), *[st.floats(0.1, 1)] * 4)
        )
    if draw(st.booleans()):
        extra |= {"axis": draw(st.just((0.0, -0.0, 2.0))), "reference": (1.0, 0.0, 5.0)}
    else:
        extra["axis"] = draw(st.none() | AXES)
    at = draw(POINTS | st.sampled_from(markers) if markers else POINTS)
    return JOINTS[kind](name, *ends, at=at, mirrored=draw(st.booleans()), **extra)


@st.composite
def loads(draw: st.DrawFn, name: str, known: list[str], markers: list[str]) -> Any:
    kind = draw(st.sampled_from(sorted(file_loads())))
    body = draw(st.sampled_from(known))
    place = POINTS | st.sampled_from(markers) if markers else POINTS
    if kind == "force":
        at, signal = draw(st.none() | place), draw(SIGNALS)
        return Force(name, body, force=draw(POINTS), at=at, signal=signal, follows=draw(st.booleans()))
    if kind == "torque":
        return Torque(name, body, torque=draw(POINTS), signal=draw(SIGNALS))
    ends = {"at_a": draw(place), "at_b": draw(place)}
    if kind == "bushing":
        per_axis = {field: draw(st.tuples(*[NON_NEGATIVE] * 3)) for field in ("stiffness", "damping")}
        rest, rotation = draw(st.none() | POINTS), draw(QUATERNIONS)
        return Bushing(name, body, "ground", rest=rest, rotation=rotation, **per_axis, **ends)
    assert kind == "spring", "a new load needs its line here"
    return Spring(
        name, body, "ground", stiffness=draw(NON_NEGATIVE), length=draw(st.none() | POSITIVE), **ends
    )


@st.composite
def drives(draw: st.DrawFn, name: str, known: list[str], unlimited: st.SearchStrategy[bool]) -> Any:
    kind = draw(st.sampled_from(sorted(DRIVES)))
    common = {"coordinate": draw(st.none() | TITLES), "command": draw(NUMBERS), "signal": draw(SIGNALS)}
    joint = draw(st.sampled_from(known))
    if kind == "torque_source":
        return TorqueSource(name, joint, **common)
    if kind == "dc_motor":
        sheet = {"stall_torque": draw(POSITIVE), "idle_speed": draw(POSITIVE), "gear": draw(NOT_ZERO)}
        return DCMotor(name, joint, time_constant=draw(NON_NEGATIVE), **sheet, **common)
    if kind == "hydraulic_cylinder":
        sheet = {field: draw(POSITIVE) for field in ("area", "supply", "flow", "volume", "bulk_modulus")}
        own = {"leakage": draw(NON_NEGATIVE), "pressure": draw(NUMBERS)}
        return HydraulicCylinder(name, joint, **sheet, **own, **common)
    if not draw(unlimited):
        common["strength"] = draw(NON_NEGATIVE)
    if kind == "velocity_servo":
        return VelocityServo(name, joint, **common)
    if kind == "actuator":
        own = {"time_constant": draw(POSITIVE), "damping": draw(NON_NEGATIVE), "built_up": draw(NUMBERS)}
        return Actuator(name, joint, **own, **common)
    if kind == "pid":
        gains = {gain: draw(NON_NEGATIVE) for gain in ("proportional", "integral", "derivative")}
        return PID(name, joint, sample_time=draw(POSITIVE), **gains, **common)
    assert kind == "position_servo", "a new drive needs its line here"
    return PositionServo(name, joint, stiffness=draw(POSITIVE), damping=draw(NON_NEGATIVE), **common)


@st.composite
def couplings(draw: st.DrawFn, name: str, known: list[str]) -> Any:
    assert COUPLINGS.keys() == {"repeater"}, "a new coupling needs its line here"
    a, b = draw(st.sampled_from(known)), draw(st.sampled_from(known))
    names = {"coordinate_a": draw(st.none() | TITLES), "coordinate_b": draw(st.none() | TITLES)}
    assume((a, names["coordinate_a"]) != (b, names["coordinate_b"]))
    return Repeater(name, a, b, ratio=draw(NOT_ZERO), **names)


def surfaces() -> dict[str, Any]:
    share = st.floats(0, 1)
    names = ("friction", "bounce_speed", "rolling", "torsion")
    return dict.fromkeys(names, NON_NEGATIVE) | {"restitution": share}


@st.composite
def scenery(draw: st.DrawFn, name: str, folder: Path, materials: list[str], group: str) -> Scenery:
    geometry = draw(st.lists(shapes(folder, fixed=True), min_size=1, max_size=2))
    material = draw(st.none() | st.sampled_from(materials) if materials else st.none())
    common = {"material": material, "group": draw(st.none() | st.just(group))}
    return Scenery(name, at=draw(POINTS), rotation=draw(QUATERNIONS), shapes=geometry, **common)


@st.composite
def filled(draw: st.DrawFn, component: Component, inner: list[Component], folder: Path) -> Any:
    names = draw(st.lists(NAMES, min_size=8, max_size=8, unique=True))
    for name in names[: draw(st.integers(0, 2))]:
        component.add(draw(st.builds(Material, st.just(name), **surfaces())))
    materials, group = list(component.materials), names[7]
    if materials and draw(st.booleans()):
        values = {field: st.none() | value for field, value in surfaces().items()}
        ends = [st.sampled_from(materials)] * 2
        component.add(draw(st.builds(MaterialPair, st.just(names[0]), *ends, **values)))
    for name in names[: draw(st.integers(1, 3))]:
        component.add(draw(bodies(name, folder, materials, group)))
    for name in names[5 : 5 + draw(st.integers(0, 2))]:
        component.add(draw(scenery(name, folder, materials, group)))
    for name in names[3 : 3 + draw(st.integers(0, 2))]:
        if inner:
            placed = draw(st.sampled_from(inner))
            mirror = draw(st.none() | AXES)
            component.add(placed.instance(name, at=draw(POINTS), rotation=draw(QUATERNIONS), mirror=mirror))
    known = list(component.flatten().bodies)
    component.ports = draw(st.none() | st.just(known))
    for name in names[:2]:
        component.add(Marker(name, draw(st.sampled_from(known)), at=draw(POINTS), rotation=draw(QUATERNIONS)))
    markers = list(component.flatten().markers)
    for name in names[: draw(st.integers(0, 2))]:
        ends = draw(st.lists(st.sampled_from(["ground", *known]), min_size=2, max_size=2, unique=True))
        component.add(draw(joints(name, (ends[0], ends[1]), markers)))
    for name in names[: draw(st.integers(0, 2))]:
        component.add(draw(loads(name, ["ground", *known], markers)))
    joined = list(component.flatten().joints)
    unlimited = st.booleans()
    for name in names[: draw(st.integers(0, 3)) if joined else 0]:
        component.add(draw(drives(name, joined, unlimited)))
    for name in names[: draw(st.integers(0, 2)) if joined else 0]:
        component.add(draw(couplings(name, joined)))
    touching = st.sampled_from(list(component.flatten().of(Refers.TOUCHING)))
    for name in names[: draw(st.integers(0, 2))]:
        component.add(NoContact(name, draw(touching), draw(touching)))
    return component


@st.composite
def models(draw: st.DrawFn, folder: Path) -> Model:
    parts: list[Component] = []
    for _ in range(draw(st.integers(0, 2))):
        parts.append(draw(filled(Component(draw(TITLES)), list(parts), folder)))
    model = Model(draw(TITLES), gravity=draw(POINTS))
    return draw(filled(model, parts, folder))


@pytest.fixture(scope="module")
def mesh_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "sub").mkdir()
    (folder / "sub" / "part.stl").write_text("solid part\nendsolid part\n")
    (folder / "sub" / "hills.csv").write_text("0, 1\n2, 3\n")
    return folder


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_round_trip_to_the_bit(mesh_folder: Path, data: st.DataObject) -> None:
    model = data.draw(models(mesh_folder))
    file = mesh_folder / "model.yaml"
    save_model(model, file)
    loaded = load_model(file)
    assert loaded == model
    assert spelled(loaded) == spelled(model)
    assert dump_model(loaded, mesh_folder) == file.read_text(encoding="utf-8")
    written = read_source(file)[0].plain()
    assert not list(mismatches(SCHEMA, written)), "the schema must fit every file that is written"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives(x: float) -> None:
    assert math.copysign(1, scalar(repr(x))) == math.copysign(1, x)
    assert scalar(repr(x)) == x


# --- saving ---


def small() -> Model:
    model = Model("small")
    model.add(Body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("pivot", "ground", "arm"))
    return model


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


# --- schema ---

KEYWORDS = {
    "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "default", "description",
    "exclusiveMinimum", "items", "maxItems", "maximum", "minItems", "minLength", "minimum", "not", "oneOf",
    "pattern", "properties", "propertyNames", "required", "title", "type",
}  # fmt: skip
TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "null": type(None),
}  # fmt: skip


def mismatches(schema: dict[str, Any], value: Any, root: dict[str, Any] | None = None, at: str = "") -> Any:
    """Where a value does not fit a JSON schema, as far as our schema uses the language."""
    root = root or schema
    assert schema.keys() <= KEYWORDS, f"keywords unknown to this test: {schema.keys() - KEYWORDS}"
    if "$ref" in schema:
        yield from mismatches(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], value, root, at)
    for key, many in (("anyOf", False), ("oneOf", True)):
        fits = [not list(mismatches(option, value, root, at)) for option in schema.get(key, ())]
        if key in schema and (sum(fits) != 1 if many else not any(fits)):
            yield f"{at}: {key} fits {sum(fits)} times"
    if "not" in schema and not list(mismatches(schema["not"], value, root, at)):
        yield f"{at}: not allowed"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: is not {schema['const']}"
    types = schema.get("type", [])
    allowed = tuple(TYPES[name] for name in ([types] if isinstance(types, str) else types))
    flat = tuple(t for kind in allowed for t in (kind if isinstance(kind, tuple) else (kind,)))
    if flat and (not isinstance(value, flat) or (isinstance(value, bool) and bool not in flat)):
        yield f"{at}: is no {types}"
        return
    if isinstance(value, str):
        if not re.search(schema.get("pattern", ""), value) or len(value) < schema.get("minLength", 0):
            yield f"{at}: pattern"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value <= schema.get("exclusiveMinimum", -math.inf):
            yield f"{at}: too small"
        if value > schema.get("maximum", value):
            yield f"{at}: too large"
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            yield f"{at}: length"
        for i, entry in enumerate(value):
            yield from mismatches(schema.get("items", {}), entry, root, f"{at}[{i}]")
    elif isinstance(value, dict):
        yield from (f"{at}: lacks {key}" for key in schema.get("required", ()) if key not in value)
        for key, inner in value.items():
            yield from mismatches(schema.get("propertyNames", {}), key, root, f"{at}.{key}")
            rest = schema.get("additionalProperties", {})
            known = schema.get("properties", {}).get(key, rest)
            if known is False:
                yield f"{at}.{key}: unknown"
            else:
                yield from mismatches(known, inner, root, f"{at}.{key}")


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
        assert cls.__doc__ in joint["description"]
    for what, kinds in (("load", file_loads()), ("drive", DRIVES), ("coupling", COUPLINGS)):
        for kind in kinds:
            assert defs[f"{what}_{kind}"]["properties"]["type"]["const"] == kind
            assert {"$ref": f"#/$defs/{what}_{kind}"} in defs[what]["oneOf"]
    assert not any("function" in key for key in defs)
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
    for word in [*JOINTS, *file_loads(), *DRIVES, *COUPLINGS, *SHAPES, "sine", "table", *FUNCTIONS]:
        assert f"`{word}`" in text, word
