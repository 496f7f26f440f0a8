"""Sealed files: what comes out is what went in, what stands in them tells nothing, and what is wrong is named."""

import dataclasses
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.processes import python
from linkwork import Body, Component, Hinge, Material, Model, Sealed, Simulation, Weld, load_model, save_model
from linkwork.cli import app
from linkwork.distributed.sealed_file import find_key, read_header, seal, unseal
from linkwork.engine.loads import BodyFunction
from linkwork.io import model_schema, parse_model
from linkwork.model.edit import with_item
from linkwork.model.errors import LinkworkError, MissingExtraError, ModelError, UnsupportedError
from linkwork.model.rotation import about

KEY = b"correct horse battery staple"
SUSPENSION = """
linkwork: 1
units: SI
name: quarter_axle
bodies:
  mount: {mass: 0.53125, inertia: [0.01, 0.01, 0.01], color: "#ff0000"}
  secret_wishbone: {mass: 3.21987, inertia: [0.1, 0.2, 0.25], com: [0.15, 0, 0], at: [0.3, 0, 0]}
  secret_strut: {density: 7850.0, at: [0.6, 0, 0.1], shapes: [{shape: box, size: [0.1, 0.1, 0.2]}]}
markers:
  secret_eye: {body: secret_strut, at: [0.6, 0, 0.2]}
joints:
  secret_pivot: {type: hinge, a: mount, b: secret_wishbone, axis: [1, 0, 0], limits: [-0.512, 0.487]}
  secret_wishbone: {type: hinge, a: secret_wishbone, b: secret_strut, at: [0.6, 0, 0], axis: [1, 0, 0]}
loads:
  secret_coil:
    type: spring
    a: mount
    b: secret_strut
    at_a: [0.2, 0, 0.4]
    at_b: secret_eye
    stiffness: 23456.789
    damping: 1234.5
drives:
  secret_motor: {type: torque_source, joint: secret_pivot, command: 17.625}
instances:
  hub: {component: wheel, at: [0.7, 0, 0.1]}
components:
  wheel:
    bodies:
      rim: {mass: 11.875, inertia: [0.3, 0.5, 0.3]}
"""
PORTS = ["mount", "hub.rim"]
NUMBERS = (0.53125, 3.21987, 0.25, 7850.0, 23456.789, 1234.5, 17.625, 11.875, 0.487)


@pytest.fixture
def component(tmp_path: Path) -> Model:
    (tmp_path / "axle.yaml").write_text(SUSPENSION)
    return load_model(tmp_path / "axle.yaml")


@pytest.fixture
def file(component: Model, tmp_path: Path) -> Path:
    seal(component, tmp_path / "axle.sealed", PORTS)
    return tmp_path / "axle.sealed"


# --- content ---


@pytest.mark.parametrize("key", [None, KEY])
def test_what_comes_out_moves_like_what_went_in(component: Model, tmp_path: Path, key: bytes | None) -> None:
    """The same mechanism on a stand, open and sealed and opened again: equal to the bit."""
    seal(component, tmp_path / "axle.sealed", PORTS, key)
    opened, header = unseal(tmp_path / "axle.sealed", key)
    assert header.keyed == (key is not None)
    flat, inner = component.flatten(), opened.flatten()
    for shelf in ("bodies", "joints", "loads", "drives", "markers"):
        assert len(getattr(flat, shelf)) == len(getattr(inner, shelf))
    for before, after in zip(flat.bodies.values(), inner.bodies.values(), strict=True):
        for a, b in zip(before.mass_properties, after.mass_properties, strict=True):
            assert np.array_equal(a, b)

    def positions(part: Component) -> np.ndarray:
        stand = Model("stand")
        stand.add(part.instance("axle", at=(0.1, 0.2, 1.0), rotation=about((0, 1, 0), 0.3), mirror=(1, 0, 0)))
        stand.add(Weld("clamp", "ground", "axle.mount"))
        simulation = Simulation(stand, method="simgc", dt=1e-3)
        simulation.run(0.1)
        return np.array([simulation.point(body) for body in stand.flatten().bodies])

    plain = Component("axle")  # a Model may not be placed
    for thing in flat.items():
        getattr(plain, thing.shelf)[thing.name] = thing
    assert np.array_equal(positions(plain), positions(opened))


def test_names_but_ports_are_meaningless(file: Path) -> None:
    opened, header = unseal(file)
    assert [port.name for port in header.ports] == PORTS
    assert set(PORTS) <= set(opened.bodies)
    others = {
        name
        for shelf in ("bodies", "joints", "loads", "drives", "markers")
        for name in getattr(opened, shelf)
    }
    assert all(re.fullmatch(r"[a-z]\d+", name) for name in others - set(PORTS))
    assert all(not body.shapes and body.color is None for body in opened.bodies.values())


@pytest.mark.parametrize("key", [None, KEY])
def test_nothing_of_the_inside_stands_in_the_file(
    component: Model, tmp_path: Path, key: bytes | None
) -> None:
    header = seal(component, tmp_path / "axle.sealed", PORTS, key)
    data = (tmp_path / "axle.sealed").read_bytes()
    assert b"secret" not in data
    assert b"wheel" not in data
    for number in NUMBERS:
        for packed in (struct.pack("<d", number), struct.pack(">d", number), struct.pack("<f", number)):
            assert packed not in data
        assert repr(number).encode() not in data
    clear = json.loads(data.split(b"\n")[1])  # all that can be read
    assert clear.keys() == {"format", "name", "linkwork", "ports", "features", "keyed", "salt"}
    assert clear["name"] == "quarter_axle"
    assert clear["features"] == ["limits", "drives"]
    assert [port["at"] for port in clear["ports"]] == [[0.0, 0.0, 0.0], [0.7, 0.0, 0.1]]
    assert header.checksum == read_header(tmp_path / "axle.sealed").checksum


def test_the_same_component_never_makes_the_same_bytes(component: Model, tmp_path: Path) -> None:
    seal(component, tmp_path / "a.sealed", PORTS, KEY)
    seal(component, tmp_path / "b.sealed", PORTS, KEY)
    a, b = ((tmp_path / name).read_bytes().split(b"\n", 2)[2] for name in ("a.sealed", "b.sealed"))
    assert len(a) == len(b)
    assert a != b


# --- what is wrong ---


def test_every_change_is_noticed(file: Path) -> None:
    data = file.read_bytes()
    for at in range(0, len(data), 7):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(LinkworkError, match=re.escape(str(file))):
            unseal(file)
    for length in (0, 5, 16, 100, len(data) - 33, len(data) - 1):
        file.write_bytes(data[:length])
        with pytest.raises(LinkworkError, match=re.escape(str(file))):
            unseal(file)


def test_a_forged_checksum_does_not_help(component: Model, tmp_path: Path) -> None:
    import hashlib

    file = tmp_path / "axle.sealed"
    seal(component, file, PORTS, KEY)
    content = file.read_bytes()[:-32]
    for before, after in (
        (b'"mount"', b'"other"'),
        (content[-20:], bytes(20)),
        (b'"keyed": true', b'"keyed":false'),
    ):
        changed = content.replace(before, after)
        assert changed != content
        file.write_bytes(changed + hashlib.sha256(changed).digest())
        with pytest.raises(LinkworkError, match=r"cannot be opened: .*changed after it was sealed"):
            unseal(file, KEY)


def test_keys(component: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "axle.sealed"
    seal(component, file, PORTS, KEY)
    with pytest.raises(LinkworkError, match=r"axle\.sealed: only its owner's key opens it; give --key-file"):
        unseal(file)
    with pytest.raises(LinkworkError, match=r"axle\.sealed: cannot be opened: the key is not the one"):
        unseal(file, b"another key of some length")
    (tmp_path / "key").write_bytes(KEY + b"\n")
    assert find_key(tmp_path / "key") == KEY
    monkeypatch.setenv("LINKWORK_SEAL_KEY", KEY.decode())
    assert find_key(None) == KEY
    monkeypatch.delenv("LINKWORK_SEAL_KEY")
    assert find_key(None) is None
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(LinkworkError, match=r"key: a key needs at least 16 bytes \(it has 5\)"):
        find_key(tmp_path / "key")
    with pytest.raises(LinkworkError, match="the key cannot be read"):
        find_key(tmp_path / "nothing")


def test_other_files_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "axle.yaml").write_text(SUSPENSION)
    with pytest.raises(LinkworkError, match=r"axle\.yaml: is not a sealed component"):
        read_header(tmp_path / "axle.yaml")
    with pytest.raises(LinkworkError, match=r"nothing\.sealed: there is no such file"):
        read_header(tmp_path / "nothing.sealed")
    with pytest.raises(LinkworkError, match="is a folder"):
        read_header(tmp_path)


def test_a_later_format_is_named(file: Path) -> None:
    import hashlib

    changed = file.read_bytes()[:-32].replace(b'"format": 1', b'"format": 2')
    file.write_bytes(changed + hashlib.sha256(changed).digest())
    with pytest.raises(LinkworkError, match=r"axle\.sealed: is of format 2; this Linkwork knows format 1"):
        read_header(file)


def test_what_cannot_be_sealed_is_named(component: Model, tmp_path: Path) -> None:
    def refused(part: Component, ports: list[str], what: str) -> None:
        with pytest.raises(ModelError, match=what):
            seal(part, tmp_path / "x.sealed", ports)
        assert not (tmp_path / "x.sealed").exists()

    refused(component, [], "has no ports: name the bodies")
    refused(component, ["mont"], r"port 'mont': there is no body 'mont' \(did you mean 'mount'\?\)")
    refused(component, ["mount", "mount"], "port 'mount': is named twice")
    component.add(Material("rubber", friction=0.8))
    rim = component.instances["hub"].component.bodies["rim"]
    touching = with_item(component, "bodies", "secret_strut", material="rubber")
    refused(touching, ["mount"], "body 'secret_strut' may touch: contact needs shapes")
    assert rim.material is None
    component.add(BodyFunction("wind", "mount", function=lambda t, p, R, w, v: (0, 0, 0, 0, 0, 0)))
    refused(component, ["mount"], "'wind': calls a function, which a sealed file cannot hold")


def test_sealed_in_sealed_is_refused(file: Path, tmp_path: Path) -> None:
    outer = Component("outer")
    outer.add(Body("frame", mass=1.0))
    outer.add(Sealed("axle", str(file)))
    with pytest.raises(ModelError, match="'axle' in it is sealed itself"):
        seal(outer, tmp_path / "outer.sealed", ["frame"])


def test_an_old_file_stays_if_sealing_fails(file: Path, component: Model) -> None:
    before = file.read_bytes()
    with pytest.raises(ModelError):
        seal(component, file, ["nobody"])
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir() if p.name.startswith(".")] == []


def test_the_package_that_is_missing_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(
        MissingExtraError, match=r"'cryptography'; install it with: pip install 'linkwork\[seal\]'"
    ):
        unseal(file)
    assert read_header(file).name == "quarter_axle"


# --- in models ---


def car(file: Path | str) -> Model:
    model = Model("car")
    model.add(Body("chassis", mass=900.0, inertia=(100, 300, 350)))
    model.add(Sealed("left", str(file), at=(1.0, 0.7, 0.0), rotation=about((0, 0, 1), 0.1)))
    model.add(Sealed("right", str(file), at=(1.0, -0.7, 0.0), mirror=(0, 1, 0)))
    model.add(Weld("hold", "chassis", "left.mount"))
    model.add(Hinge("turn", "right.hub.rim", "chassis", axis=(0, 1, 0)))
    return model


def test_ports_stand_where_the_open_component_has_its_bodies(component: Model, file: Path) -> None:
    flat = car(file).flatten()
    plain = Component("axle")
    for thing in component.flatten().items():
        getattr(plain, thing.shelf)[thing.name] = thing
    open_car = Model("open")
    open_car.add(plain.instance("left", at=(1.0, 0.7, 0.0), rotation=about((0, 0, 1), 0.1)))
    open_car.add(plain.instance("right", at=(1.0, -0.7, 0.0), mirror=(0, 1, 0)))
    for name in ("left.mount", "left.hub.rim", "right.mount", "right.hub.rim"):
        body, port = open_car.flatten().bodies[name], flat.bodies[name]
        assert (port.at, port.rotation) == (body.at, body.rotation)
        assert port.mass is None
        assert port.owner == name.partition(".")[0]
    assert not list(flat.problems())
    assert set(flat.bodies) == {"chassis", "left.mount", "left.hub.rim", "right.mount", "right.hub.rim"}


@pytest.mark.parametrize("method", [None, "tree", "simgc", "simmc", "hybrid", "global", "topological"])
def test_every_method_but_components_refuses(file: Path, method: str | None) -> None:
    both = "component 'left' is sealed; component 'right' is sealed; only method 'components' can move it"
    with pytest.raises(UnsupportedError, match=both):
        Simulation(car(file), method=method)


def test_studies_refuse_too(file: Path) -> None:
    from linkwork import check, equilibrium

    with pytest.raises(UnsupportedError, match="component 'left' is sealed"):
        check(car(file))
    with pytest.raises(UnsupportedError, match="component 'left' is sealed"):
        equilibrium(car(file))


def test_model_files_hold_sealed_components(file: Path) -> None:
    path = file.with_name("car.yaml")
    model = car(file)
    save_model(model, path)
    assert "sealed: axle.sealed" in path.read_text()
    assert load_model(path) == model


def test_an_address_stands_in_a_file_as_it_is(tmp_path: Path) -> None:
    sealed = Sealed("left", "tcp://127.0.0.1:7001")  # asks nobody before it must
    assert sealed.remote
    assert sealed.sealed == "tcp://127.0.0.1:7001"
    with pytest.raises(ModelError, match="is not an address; write tcp://host:port"):
        Sealed("left", "http://127.0.0.1:7001")


CAR = """
linkwork: 1
units: SI
bodies:
  chassis: {mass: 900.0, inertia: [100, 300, 350]}
joints:
  hold: {type: weld, a: chassis, b: left.mount}
instances:
  left: {sealed: SOURCE, at: [1, 0, 0]}
"""


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("axle.seald", r"car\.yaml:9:18: instances\.left\.sealed: there is no file 'axle\.seald' \(did you mean"),
        ("axle.yaml", r"car\.yaml:9:\d+: instances\.left.*axle\.yaml: is not a sealed component"),
        ("../axle.sealed", r"car\.yaml:9:18: instances\.left\.sealed: leads outside the folder of the model"),
        ("7", r"car\.yaml:9:18: instances\.left\.sealed: must be the name of a file"),
        ("tcp://127.0.0.1:1", r"car\.yaml:9:18: instances\.left\.sealed: tcp://127\.0\.0\.1:1: nobody listens there"),
        ("axle.sealed, parameters: {a: 1}", r"car\.yaml:9:\d+: instances\.left\.parameters: is not known here"),
    ],
)  # fmt: skip
def test_mistakes_in_model_files_have_their_line(
    component: Model, file: Path, source: str, what: str
) -> None:
    path = file.with_name("car.yaml")
    path.write_text(CAR.replace("SOURCE", source))
    with pytest.raises(ModelError, match=what) as caught:
        load_model(path)
    assert len(caught.value.problems) == 1  # the joint to what is wrong is not told as well


def test_a_wrong_port_is_named(file: Path) -> None:
    path = file.with_name("car.yaml")
    path.write_text(CAR.replace("SOURCE", "axle.sealed").replace("left.mount", "left.secret_strut"))
    with pytest.raises(
        ModelError, match=r"car\.yaml:7:\d+: joints\.hold\.b: there is no body 'left\.secret_strut'"
    ):
        load_model(path)


def test_placing_one_loads_no_numba(file: Path) -> None:
    code = (
        "import sys; from linkwork import Model, Sealed; model = Model(); model.add(Sealed('a', sys.argv[1]))\n"
        "model.flatten(); print([m for m in ('numba', 'cryptography', 'mpi4py') if m in sys.modules])"
    )
    assert python("-c", code, file).strip() == "[]"


def test_the_inside_cannot_be_changed(file: Path) -> None:
    with pytest.raises(LinkworkError, match=r"'left\.mount' cannot be changed: component 'left' is sealed"):
        with_item(car(file), "bodies", "left.mount", mass=1.0)


def test_names_are_shared_with_nobody(file: Path) -> None:
    model = car(file)
    with pytest.raises(ModelError, match="a body and a component may not share a name"):
        model.add(Body("left", mass=1.0))
    with pytest.raises(ModelError, match="there is already one of that name"):
        model.add(Sealed("left", str(file)))


def test_the_schema_knows_both_kinds_of_instances() -> None:
    defs = model_schema()["$defs"]
    assert [option["$ref"] for option in defs["instance"]["oneOf"]] == ["#/$defs/placed", "#/$defs/sealed"]
    assert defs["sealed"]["required"] == ["sealed"]
    assert "component" in defs["placed"]["required"]


def test_text_is_read_like_a_file(component: Model) -> None:
    assert parse_model(SUSPENSION, Path("axle.yaml")) == component
    with pytest.raises(ModelError, match=r"^axle\.yaml:1:1: is empty"):
        parse_model("", Path("axle.yaml"))


# --- the command line ---


def test_seal_on_the_command_line(component: Model, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    runner, target, keyed = CliRunner(), tmp_path / "axle.yaml", tmp_path / "k.sealed"
    made = runner.invoke(app, ["seal", str(target), "--ports", "mount, hub.rim"])
    assert made.exit_code == 0, made.output
    assert "without a key the content is only obscured" in made.output
    arguments = ["--ports", "mount", "-o", str(keyed), "--key-file", str(tmp_path / "key")]
    made = runner.invoke(app, ["seal", str(target), *arguments])
    assert made.exit_code == 0, made.output
    shown = runner.invoke(app, ["seal", "--show", str(tmp_path / "axle.sealed")])
    assert "quarter_axle: sealed by Linkwork" in shown.output
    assert "port hub.rim at [0.7, 0, 0.1] m" in shown.output
    shown = runner.invoke(app, ["seal", "--show", "--json", str(keyed)])
    assert json.loads(shown.output)["keyed"] is True
    assert unseal(keyed, KEY)[0].name == "quarter_axle"


def test_headers_survive_json(file: Path) -> None:
    from linkwork.distributed.sealed_file import read_header_dict

    header = read_header(file)
    assert read_header_dict(json.loads(json.dumps(header.as_dict())), "x") == header
    for wrong in (None, {}, {**header.as_dict(), "ports": 7}, {**header.as_dict(), "name": 7}):
        with pytest.raises(LinkworkError, match=r"^x: its header is damaged"):
            read_header_dict(wrong, "x")
    assert dataclasses.replace(header, checksum="") != header
