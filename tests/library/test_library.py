"""Components of the library, and the ports by which components are attached."""

import math

import numpy as np
import pytest

from helpers.processes import python
from helpers.references import reference
from linkwork import (
    Body,
    Component,
    Force,
    Free,
    Hinge,
    LinkworkError,
    Marker,
    Model,
    ModelError,
    Simulation,
    Slider,
    Weld,
)
from linkwork.analysis.check import check
from linkwork.io import dump_model, load_model, save_model
from linkwork.library import arm_segment, damper, four_bar, wheel_corner, wheel_on_arm
from linkwork.scenes.n_four_bar import build, four_bar_chain

PARTS = {part.__name__: part for part in (arm_segment, damper, four_bar, wheel_corner, wheel_on_arm)}
FIRST = {"arm_segment": "mount", "damper": "lower", "four_bar": "base"}
every = pytest.mark.parametrize("name", PARTS)


def standing(name, **parameters):
    """A component with its defaults, held to the ground by its first port; wheels stand by themselves."""
    model = Model(name)
    part = PARTS[name](**parameters)
    model.add(part.instance("it"))
    if name in FIRST:
        model.add(Weld("hold", "ground", f"it.{FIRST[name]}"))
    else:
        port = next(port for port in part.ports if port.endswith("arm"))
        model.add(Hinge("hold", "ground", f"it.{port}", at=(0.4, -0.15, 0.35), axis=(0, 1, 0)))
    if name == "wheel_corner":
        model.add(Hinge("top", "ground", "it.damper.upper", at=(0.05, -0.15, 0.75), axis=(0, 1, 0)))
    return model


# --- what the library holds ---


@every
def test_defaults_work(name):
    """It compiles, is healthy, and runs without gaining energy; ports are bodies of it."""
    model = standing(name)
    assert set(PARTS[name]().ports) <= set(PARTS[name]().flatten().bodies)
    assert check(model, test_run=False).ok
    record = Simulation(model, method="simgc", dt=1e-3).run(0.3, reactions=False)
    in_play = np.ptp(record["energy.kinetic"]) + np.ptp(record["energy.gravity"]) + 1e-3
    # Fourth order at rates of at most 200 rad/s: (h ω)⁵ a step, forgotten within some ten of them.
    assert np.abs(record["energy.balance"]).max() < 1e-2 * in_play


@every
def test_ports_are_documented_and_the_part_goes_through_a_file(name, tmp_path):
    part = PARTS[name]()
    for port in part.ports:
        assert f"`{port}`" in PARTS[name].__doc__
    model = standing(name)
    save_model(model, tmp_path / "model.yaml")
    loaded = load_model(tmp_path / "model.yaml")
    assert loaded == model
    assert loaded.instances["it"].component.ports == part.ports


def test_a_damper_settles_as_its_equation_says():
    """A mass on a vertical damper: m z'' = -k (z - free length) - c z' - m g, solved exactly."""
    part = damper(lower=(0, 0, 0), upper=(0, 0, 0.5), stiffness=800.0, damping=40.0, free_length=0.5)
    model = Model("strut")
    model.add(part.instance("strut"))
    model.add(Body("load", at=(0, 0, 0.5), mass=8.5, inertia=(1, 1, 1)))
    model.add(Weld("foot", "ground", "strut.lower"))
    model.add(Weld("head", "strut.upper", "load"))
    record = Simulation(model, method="simgc", dt=1e-3).run(2.0, every=0.1, reactions=False)
    mass = 8.5 + 1.5
    decay, own = 40.0 / (2 * mass), math.sqrt(800.0 / mass)
    rate = math.sqrt(own**2 - decay**2)
    t, sag = record.time, -mass * 9.81 / 800.0
    swing = np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
    # (h ω)⁴ = 1e-8 of the sag at 9 rad/s.
    np.testing.assert_allclose(
        record["load.position.z"] - 0.5, sag * (1 - swing), rtol=0.0, atol=1e-8 * abs(sag)
    )


def test_a_four_bar_has_its_lengths_and_one_freedom():
    lengths = {"base": 0.9, "crank": 0.35, "coupler": 0.7, "rocker": 0.6}
    model = standing("four_bar", angle=75.0, **lengths)
    flat = model.flatten()
    pins = {name: np.array(flat.joints[f"it.{name}"].at) for name in part_pins()}
    for (a, b), length in {
        ("crank_pin", "rocker_pin"): 0.9, ("crank_pin", "crank_end"): 0.35,
        ("crank_end", "rocker_end"): 0.7, ("rocker_pin", "rocker_end"): 0.6,
    }.items():  # fmt: skip
        assert np.linalg.norm(pins[b] - pins[a]) == pytest.approx(length, abs=1e-15)
    assert check(model, test_run=False).mobility == 1
    with pytest.raises(LinkworkError, match=r"coupler \(0.1 m\) and rocker \(0.2 m\) cannot meet"):
        four_bar(coupler=0.1, rocker=0.2)


def part_pins():
    return ("crank_pin", "rocker_pin", "crank_end", "rocker_end")


def test_an_arm_of_segments_goes_where_it_is_told():
    """Stiff servos against weight: each joint sags by the moment about it over its stiffness."""
    stiffness = 1e5
    segment = arm_segment(drive="position", stiffness=stiffness, damping=2e3, strength=1e4)
    model = Model("arm")
    for k in range(2):
        model.add(segment.instance(f"s{k}", at=(0.5 * k, 0, 0)))
    model.add(Weld("foot", "ground", "s0.mount"))
    model.add(Weld("wrist", "s0.link", "s1.mount", at=(0.5, 0, 0)))
    record = Simulation(model, method="simgc", dt=1e-3).run(2.0, every=0.5, reactions=False)
    weight = 9.81
    moments = (3.0 * weight * 0.25 + 1.0 * weight * 0.5 + 3.0 * weight * 0.75, 3.0 * weight * 0.25)
    for k, moment in enumerate(moments):
        # About y, down is positive; a sag of 4e-4 rad shortens no lever by more than 1e-7 of it.
        assert record[f"s{k}.joint.angle"][-1] == pytest.approx(moment / stiffness, rel=1e-4)


def test_an_unknown_drive_of_a_segment_is_refused():
    with pytest.raises(LinkworkError, match=r"drive 'positon' is not known.*'position'"):
        arm_segment(drive="positon")
    assert not arm_segment().drives
    assert arm_segment(drive="velocity").drives["motor"].strength == 200.0


def test_a_mirrored_corner_moves_as_its_mirror_image():
    model = Model("pair")
    for name, side in (("left", 1.0), ("right", -1.0)):
        mirror = None if side > 0 else (0, 1, 0)
        model.add(wheel_corner().instance(name, at=(0, 0.75 * side, 0), mirror=mirror))
        for port, at in (("hub.arm", (0.4, 0.6 * side, 0.35)), ("damper.upper", (0.05, 0.6 * side, 0.75))):
            joint = port.partition(".")[0]
            model.add(Hinge(f"{name}_{joint}", "ground", f"{name}.{port}", at=at, axis=(0, 1, 0)))
    record = Simulation(model, method="simgc", dt=1e-3).run(0.3, every=0.05, reactions=False)
    assert np.ptp(record["left.hub.wheel.position.z"]) > 1e-4
    for body in ("hub.wheel", "damper.lower"):
        for axis, sign in (("x", 1.0), ("y", -1.0), ("z", 1.0)):
            left, right = (record[f"{side}.{body}.position.{axis}"] for side in ("left", "right"))
            np.testing.assert_allclose(right, sign * left, rtol=0.0, atol=1e-13)


def test_the_library_brings_no_compiler_along():
    program = "import sys; import linkwork.library, linkwork.scenes.car; print('numba' in sys.modules)"
    assert python("-c", program).strip() == "False"


# --- chains of four-bars ---


@pytest.mark.parametrize("cells", [1, 2, 5, 8])
def test_a_chain_of_components_is_the_flat_one(cells):
    nested = four_bar_chain(cells)
    flat = nested.flatten()
    assert (len(flat.bodies), len(flat.joints)) == (2 * cells + 1, 3 * cells + 1)
    assert not list(flat.problems())
    ours = sorted((body.at, body.rotation) for body in flat.bodies.values())
    theirs = sorted((body.at, body.rotation) for body in build(cells).bodies.values())
    np.testing.assert_allclose(np.array([a + r for a, r in ours]), np.array([a + r for a, r in theirs]))


def test_a_chain_of_components_follows_the_reference():
    exact = reference("a02_nfourbar_N40_ref.csv")
    record = Simulation(four_bar_chain(40), method="simgc", dt=1e-3).run(1.0, every=0.05, reactions=False)
    there = np.searchsorted(exact["t"], record.time - 1e-9)
    # As for the flat one: fourth order at rates of 7 rad/s.
    np.testing.assert_allclose(-record["A.angle"], exact["phi"][there], atol=1e-6)


def test_a_chain_without_cells_is_refused():
    with pytest.raises(LinkworkError, match="at least one cell"):
        four_bar_chain(0)


# --- ports ---


def pair(ports):
    """A component of two bodies on a slider, free in the world."""
    part = Component("pair", ports=ports)
    part.add(Body("inner", mass=1.0, inertia=(1, 1, 1)))
    part.add(Body("outer", at=(0, 0, 1), mass=1.0, inertia=(1, 1, 1)))
    part.add(Slider("slide", "inner", "outer"))
    return part


def with_pair(ports, *things):
    model = Model("outside")
    model.add(pair(ports).instance("p"))
    for thing in things:
        model.add(thing)
    return model


def said(model):
    return [str(problem) for problem in model.flatten().problems()]


def test_without_ports_every_body_is_open():
    assert pair(None).ports is None
    assert not said(
        with_pair(None, Hinge("pin", "ground", "p.inner"), Force("f", "p.outer", force=(0, 0, 1)))
    )


@pytest.mark.parametrize(
    ("thing", "where"),
    [
        (Hinge("pin", "ground", "p.inner"), "hinge 'pin'.b"),
        (Free("pin", "p.inner", "p.outer"), "free 'pin'.a"),
        (Force("push", "p.inner", force=(0, 0, 1)), "force 'push'.body"),
    ],
)
def test_what_attaches_past_the_ports_is_named(thing, where):
    model = with_pair(("outer",), thing)
    expected = f"{where}: body 'p.inner' is not among the ports of 'p' ('p.outer')"
    assert any(text.startswith(expected) for text in said(model))
    with pytest.raises(ModelError, match="not among the ports of 'p'"):
        Simulation(model, method="simgc")
    with pytest.raises(ModelError, match="not among the ports of 'p'"):
        dump_model(model)
    assert not check(model).ok


def test_ports_do_not_concern_what_only_looks_or_stands_inside():
    model = with_pair(("outer",), Marker("eye", "p.inner"), Hinge("pin", "ground", "p.outer"))
    assert not said(model)


def test_ports_hold_at_every_level():
    whole = Component("whole")
    whole.add(pair(("outer",)).instance("p"))
    model = Model("deep")
    model.add(whole.instance("w"))
    model.add(Hinge("pin", "ground", "w.p.inner"))
    assert "hinge 'pin'.b: body 'w.p.inner' is not among the ports of 'w.p' ('w.p.outer')" in said(model)[0]
    # A port that hands out what is no port inside is wrong where it is declared.
    whole.ports = ("p.inner",)
    assert any(
        "instance 'w'.ports: body 'w.p.inner' is not among the ports of 'w.p'" in s for s in said(model)
    )


def test_ports_must_be_bodies_and_names():
    assert "instance 'p'.ports: there is no body 'p.otuer' (did you mean 'p.outer'?)" in said(
        with_pair(("otuer",))
    )
    assert "ports: there is no body 'otuer' (did you mean 'outer'?)" in [
        str(problem) for problem in pair(("otuer",)).flatten().problems()
    ]
    for wrong in ("outer", (1,), ("",)):
        with pytest.raises(ModelError, match=r"component 'pair'\.ports: must be a list of names of bodies"):
            pair(wrong)


FILE = """linkwork: 1
units: SI
components:
  pair:
    ports: {ports}
    bodies:
      inner: {{mass: 1, inertia: [1, 1, 1]}}
      outer: {{mass: 1, inertia: [1, 1, 1], at: [0, 0, 1]}}
    joints:
      slide: {{type: slider, a: inner, b: outer}}
instances:
  p: {{component: pair}}
joints:
  pin: {{type: hinge, a: ground, b: p.{body}}}
"""


def load(tmp_path, **words):
    file = tmp_path / "model.yaml"
    file.write_text(FILE.format(**words))
    return load_model(file)


def test_ports_of_files(tmp_path):
    model = load(tmp_path, ports="[outer]", body="outer")
    assert model.instances["p"].component.ports == ("outer",)
    save_model(model, tmp_path / "again.yaml")
    assert load_model(tmp_path / "again.yaml") == model
    assert load(tmp_path, ports="null", body="inner").instances["p"].component.ports is None
    closed = pair(())
    model = Model("closed", gravity=(0, 0, 0))
    model.ports = ()
    model.add(closed.instance("p"))
    save_model(model, tmp_path / "closed.yaml")
    assert load_model(tmp_path / "closed.yaml") == model
    model.ports = ("p.outer",)
    assert load_model(tmp_path / "closed.yaml") != model


@pytest.mark.parametrize(
    ("ports", "body", "words"),
    [
        ("[outer]", "inner", r"yaml:14:36: joints.pin.b: body 'p.inner' is not among the ports of 'p' \('p.outer'\)"),
        ("[]", "inner", r"model.yaml:14:36: .*the ports of 'p' \(none\)"),
        ("[otuer]", "outer", r"model.yaml:5:13: .*ports.0: there is no body 'otuer' \(did you mean 'outer'\?\)"),
        ("outer", "outer", r"model.yaml:5:12: .*ports: must be a list of names of bodies \(got 'outer'\)"),
        ("[1]", "outer", r"model.yaml:5:5: .*ports: must be a list of names of bodies"),
    ],
)  # fmt: skip
def test_wrong_ports_of_files_are_told_with_their_line(tmp_path, ports, body, words):
    with pytest.raises(ModelError, match=words):
        load(tmp_path, ports=ports, body=body)
