"""Sealed components in models and model files: ports are known, the inside is not, mistakes have their line."""

from pathlib import Path

import pytest

from helpers.axle import SUSPENSION, axle, sealed_axle
from helpers.processes import python
from linkwork import Body, Component, Hinge, Model, Sealed, Simulation, Weld, load_model, save_model
from linkwork.io import model_schema, parse_model
from linkwork.model.edit import with_item
from linkwork.model.errors import LinkworkError, ModelError, UnsupportedError
from linkwork.model.rotation import about

component = pytest.fixture(axle)
file = pytest.fixture(sealed_axle)


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
