"""Forces between two points that a user's function computes, against springs, momentum and energy."""

import math

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Free,
    Hinge,
    LineFunction,
    Material,
    Model,
    ModelError,
    Simulation,
    Slider,
    Sphere,
    Spring,
)

STIFFNESS, DAMPING, REST = 400.0, 3.0, 0.4


def spring(t, x, v, parameters, out):
    stiffness, damping, rest = parameters
    out[0] = stiffness * (x[0] - rest) + damping * v[0]
    out[1] = 0.5 * stiffness * (x[0] - rest) ** 2
    out[2] = damping * v[0] ** 2


def hardening(t, x, v, parameters, out):
    out[0] = parameters[0] * x[0] ** 3
    out[1] = parameters[0] * x[0] ** 4 / 4


def actuator(t, x, v, parameters, out):
    """Pulls over time whatever happens: all of its power comes from outside."""
    out[0] = parameters[0] * math.sin(parameters[1] * t)
    out[3] = -out[0] * v[0]


def pendulum(load):
    """Two links on hinges, and a load from the ground to the second of them."""
    model = Model("pendulum")
    model.add(Body("upper", at=(0.25, 0.0, 0.0), mass=2.0, inertia=(0.01, 0.05, 0.05)))
    model.add(Body("lower", at=(0.5, 0.0, -0.3), mass=1.0, inertia=(0.04, 0.04, 0.01)))
    model.add(Hinge("shoulder", "ground", "upper", axis=(0.0, 1.0, 0.0)))
    model.add(Hinge("elbow", "upper", "lower", at=(0.5, 0.0, 0.0), axis=(0.3, 1.0, 0.2), velocity=2.0))
    model.add(load)
    return model


ENDS = {"at_a": (0.1, 0.2, 0.6), "at_b": (0.5, 0.0, -0.4)}
LAW = LineFunction("line", "ground", "lower", spring, **ENDS, parameters=(STIFFNESS, DAMPING, REST))


def test_a_linear_law_is_a_spring():
    twin = Spring("line", "ground", "lower", **ENDS, stiffness=STIFFNESS, damping=DAMPING, length=REST)
    one, other = (Simulation(pendulum(load), method="tree").run(1.0) for load in (LAW, twin))
    # The same sums: what differs is the order of some products.
    for name in ("shoulder.angle", "elbow.angle", "elbow.force.z", "energy.strain", "energy.dissipated"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_exact_methods_agree_with_the_tree(method):
    tree, found = (
        Simulation(pendulum(LAW), method=name, tolerance=1e-11).run(1.0) for name in ("tree", method)
    )
    # Some hundred steps of 1e-11 each, and as much of the energy in play; forces are stiffness times displacement.
    for name in ("shoulder.angle", "elbow.angle"):
        np.testing.assert_allclose(found[name], tree[name], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(found["elbow.force.z"], tree["elbow.force.z"], rtol=0.0, atol=STIFFNESS * 1e-8)
    np.testing.assert_allclose(found["energy.balance"], 0.0, atol=1e-8 * found["energy.strain"].max())


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_impulses_come_nearer_with_the_step(method):
    tree = Simulation(pendulum(LAW), method="tree").run(0.5)["elbow.angle"][-1]
    off = [
        abs(
            Simulation(pendulum(LAW), method=method, solver="impulses", dt=dt).run(0.5)["elbow.angle"][-1]
            - tree
        )
        for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert off[2] < 0.7 * off[1] < 0.5 * off[0]  # first order


@pytest.mark.parametrize("solver", ["direct", "impulses"])
def test_it_acts_beside_contact(solver):
    """A ball hangs on a line above a floor that it may touch: it sags as far as its weight asks."""
    model = Model("hanging")
    model.add(Material("rubber"))
    model.add(Body("ball", at=(0.0, 0.0, 1.0), mass=1.0, shapes=[Sphere(0.1)], material="rubber"))
    model.add(Body("block", at=(2.0, 0.0, 0.5), mass=1.0, shapes=[Box((0.1, 0.1, 0.1))], material="rubber"))
    model.add(Free("free", "ground", "ball", at=(0.0, 0.0, 1.0)))
    model.add(Slider("rail", "ground", "block", at=(2.0, 0.0, 0.5), axis=(1.0, 0.0, 0.0)))
    model.add(
        LineFunction(
            "line",
            "ground",
            "ball",
            spring,
            at_a=(0.0, 0.0, 2.0),
            at_b=(0.0, 0.0, 1.0),
            parameters=(100.0, 20.0, 1.0),
        )
    )
    record = Simulation(model, solver=solver, dt=1e-3).run(4.0)
    assert record["ball.position.z"][-1] == pytest.approx(1.0 - 9.81 / 100.0, abs=1e-9)
    # Half of the energy that weight gives stays in the spring.
    assert record["energy.strain"][-1] == pytest.approx(0.5 * 9.81**2 / 100.0, abs=1e-8)
    assert record["energy.dissipated"][-1] == pytest.approx(0.5 * 9.81**2 / 100.0, rel=0.02)


def test_along_an_axis_momentum_and_moment_of_momentum_stay():
    """Two free bodies that spin; the axis turns with the first of them."""
    model = Model("pair", gravity=(0.0, 0.0, 0.0))
    bodies = {"one": ((0.0, 0.0, 0.0), 2.0), "two": ((0.3, -0.2, 0.8), 1.0)}
    for k, (name, (at, mass)) in enumerate(bodies.items()):
        model.add(Body(name, at=at, mass=mass, inertia=(0.02, 0.03, 0.04)))
        spin = (1.0, -2.0, 3.0) if k == 0 else (0.5, 1.0, -1.0)
        model.add(Free(f"free{k}", "ground", name, at=at, velocity=(0.1 * k, 0.2, -0.1 * k, *spin)))
    law = LineFunction(
        "line", "one", "two", hardening,
        at_a=(0.1, 0.0, 0.1), at_b=(0.2, -0.1, 0.9), axis=(0.2, 0.1, 3.0), parameters=(8.0,),
    )  # fmt: skip
    model.add(law)
    record = Simulation(model, method="tree", dt=1e-3).run(2.0)
    total = {"linear": np.zeros((len(record.time), 3)), "angular": np.zeros((len(record.time), 3))}
    for k, (name, (_, mass)) in enumerate(bodies.items()):
        p = np.column_stack([record[f"{name}.position.{a}"] for a in "xyz"])
        v = np.column_stack([record[f"free{k}.{a}_rate"] for a in "xyz"])
        w = np.column_stack([record[f"free{k}.w{a}"] for a in "xyz"])  # in axes of the body
        r = np.column_stack([record[f"{name}.rotation.{a}"] for a in "wxyz"])
        spin = w * (0.02, 0.03, 0.04)
        turned = (
            spin + 2 * r[:, :1] * np.cross(r[:, 1:], spin) + 2 * np.cross(r[:, 1:], np.cross(r[:, 1:], spin))
        )
        total["linear"] += mass * v
        total["angular"] += mass * np.cross(p, v) + turned
    assert np.abs(record["energy.strain"] - record["energy.strain"][0]).max() > 0.5
    # Fourth order: rates of 4 rad/s make (h w)⁴ = 3e-10 a step's share.
    for sums in total.values():
        np.testing.assert_allclose(sums, np.broadcast_to(sums[0], sums.shape), atol=1e-9)
    np.testing.assert_allclose(record["energy.balance"], 0.0, atol=1e-9)


def test_power_from_outside_is_told():
    law = LineFunction("line", "ground", "lower", actuator, **ENDS, parameters=(5.0, 7.0))
    record = Simulation(pendulum(law), method="tree").run(1.0)
    assert np.abs(record["energy.supplied"]).max() > 1.0
    np.testing.assert_allclose(record["energy.balance"], 0.0, atol=1e-6)


def test_points_that_coincide_have_no_direction():
    law = LineFunction(
        "line",
        "ground",
        "lower",
        spring,
        at_a=(0.5, 0.0, -0.3),
        at_b=(0.5, 0.0, -0.3),
        parameters=(1.0, 0.0, 1.0),
    )
    assert np.isfinite(Simulation(pendulum(law), method="tree").accelerations()).all()


def test_an_axis_has_a_direction():
    with pytest.raises(ModelError, match=r"LineFunction 'line'.axis: must not be the zero vector"):
        LineFunction("line", "ground", "lower", spring, **ENDS, axis=(0.0, 0.0, 0.0))
