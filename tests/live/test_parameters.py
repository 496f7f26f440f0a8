"""Numbers of a model by name: listed, changed, refused."""

import math

import numpy as np
import pytest

from helpers.models import twins
from linkwork import Body, Cylindrical, Hinge, LinkworkError, Model, Planar, Simulation, Slider, Weld, scene
from linkwork.live.parameters import parameters, with_parameter


def test_parameters_are_listed_with_values_and_units():
    found = {p.name: p for p in parameters(twins())}
    assert next(iter(found)) == "gravity"
    assert found["gravity"].value == pytest.approx(5.0)
    expected = {
        f"{leg}.{name}": value
        for leg in ("left", "right.leg")
        for name, value in {
            "knee.friction": (0.5, "N m"),
            "knee.damping": (0.2, "N m s/rad"),
            "knee.spring": (3.0, "N m/rad"),
            "tendon.stiffness": (40.0, "N/m"),
            "tendon.damping": (1.0, "N s/m"),
        }.items()
    }
    assert {name: (p.value, p.unit) for name, p in found.items() if name != "gravity"} == expected
    assert all(p.high > p.value for p in found.values())
    slider = Model("slider")
    slider.add(Body("cart", mass=1.0, inertia=(1, 1, 1)))
    slider.add(Slider("rail", "ground", "cart", friction=2.0))
    assert [(p.name, p.unit) for p in parameters(slider)[1:]] == [("rail.friction", "N")]


def test_every_parameter_of_every_scene_can_be_doubled():
    for name in ("chain5", "jaws", "crank_rocker", "excavator", "stewart", "torsion_bar", "scissor_lift"):
        model, same = scene(name), scene(name)
        for parameter in parameters(model):
            made = with_parameter(model, parameter.name, 2 * parameter.value)
            changed = {p.name: p.value for p in parameters(made)}
            for old in parameters(model):
                factor = 2.0 if old.name == parameter.name else 1.0
                assert changed[old.name] == pytest.approx(factor * old.value, rel=1e-12)
        assert model == same


def test_gravity_keeps_its_direction():
    made = with_parameter(twins(), "gravity", 10.0)
    np.testing.assert_allclose(made.gravity, (0.0, -6.0, -8.0), atol=1e-12)
    weightless = with_parameter(twins(), "gravity", 0.0)
    assert weightless.gravity == pytest.approx((0, 0, 0))
    assert with_parameter(weightless, "gravity", 1.0).gravity == (0, 0, -1.0)


def test_coordinates_of_one_joint_keep_their_proportions():
    model = Model("tube")
    model.add(Body("pin", mass=1.0, inertia=(1, 1, 1)))
    model.add(Cylindrical("tube", "ground", "pin", friction=(1.0, 4.0), damping=2.0))
    assert with_parameter(model, "tube.friction", 2.0).joints["tube"].friction == (0.5, 2.0)
    assert with_parameter(model, "tube.damping", 3.0).joints["tube"].per_rate("damping") == (3.0, 3.0)
    plane = Model("plane")
    plane.add(Body("puck", mass=1.0, inertia=(1, 1, 1)))
    plane.add(Planar("ice", "ground", "puck"))
    assert with_parameter(plane, "ice.friction", 3.0).joints["ice"].per_rate("friction") == (3.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "left.knee.frction",
            1.0,
            r"no parameter 'left\.knee\.frction'.*did you mean 'left\.knee\.friction'",
        ),
        ("left.tendon.friction", 1.0, r"no parameter 'left\.tendon\.friction'"),
        ("left.knee.armature", 1.0, r"no parameter 'left\.knee\.armature'"),
        ("hip.mass", 1.0, "no parameter"),
        ("", 1.0, "no parameter"),
        ("gravity", -1.0, "'gravity' must not be negative"),
        ("left.knee.friction", -0.1, "must not be negative"),
        ("left.tendon.stiffness", math.nan, "must not be negative"),
        ("left.tendon.stiffness", math.inf, "must not be negative"),
    ],
)
def test_parameters_that_cannot_be_changed_are_refused(name, value, message):
    with pytest.raises(LinkworkError, match=message):
        with_parameter(twins(), name, value)


def test_a_welded_joint_has_no_parameters():
    model = Model("welded")
    model.add(Body("a", mass=1.0, inertia=(1, 1, 1)))
    model.add(Body("b", mass=1.0, inertia=(1, 1, 1)))
    model.add(Hinge("pin", "ground", "a"))
    model.add(Weld("seam", "a", "b"))
    assert [p.name for p in parameters(model)] == ["gravity"]


@pytest.mark.parametrize(
    "name", ["left.knee.friction", "left.knee.spring", "left.tendon.stiffness", "gravity"]
)
def test_a_parameter_changes_a_motion_and_back(name):
    model = twins()
    value = {p.name: p.value for p in parameters(model)}[name]
    plain, there, back = (Simulation(model, integrator="rk4") for _ in range(3))
    there.alter(with_parameter(model, name, 2 * value))
    back.alter(with_parameter(with_parameter(model, name, 2 * value), name, value))
    for simulation in (plain, there, back):
        simulation["left.knee.angle_rate"] = 3.0
        simulation.step(200)
    np.testing.assert_allclose(back.q, plain.q, atol=1e-12)
    assert np.abs(there.q - plain.q).max() > 1e-3
