"""Springs and dampers along three axes, against exact motions, momentum, energy and other loads."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.models import spring_law
from helpers.runs import orders
from linkwork import Body, Bushing, Component, Free, LineFunction, Model, ModelError, Simulation
from linkwork.model.rotation import about, matrix

STIFFNESS, DAMPING, REST = (300.0, 500.0, 800.0), (2.0, 0.0, 5.0), (0.1, -0.2, 0.3)
TURNED = about((1.0, 2.0, -1.0), 0.7)


def spinning(*loads, gravity=(0.0, 0.0, 0.0)):
    """Two free bodies that spin, and loads between them."""
    model = Model("pair", gravity=gravity)
    for k, (name, at, mass) in enumerate((("one", (0, 0, 0), 2.0), ("two", (0.3, -0.2, 0.8), 1.0))):
        model.add(Body(name, at=at, mass=mass, inertia=(0.02, 0.03, 0.04)))
        spin = (1.0, -2.0, 3.0) if k == 0 else (0.5, 1.0, -1.0)
        model.add(Free(f"free{k}", "ground", name, at=at, velocity=(0.1 * k, 0.2, -0.1 * k, *spin)))
    for load in loads:
        model.add(load)
    return model


ENDS = {"at_a": (0.1, 0.0, 0.1), "at_b": (0.2, -0.1, 0.9)}
BUSHING = Bushing(
    "bushing", "one", "two", rotation=TURNED, stiffness=STIFFNESS, damping=DAMPING, rest=REST, **ENDS
)


def lines():
    """The same three springs, each a function along an axis of its own."""
    for k, axis in enumerate(matrix(TURNED).T):
        numbers = (STIFFNESS[k], DAMPING[k], REST[k])
        yield LineFunction(f"line{k}", "one", "two", spring_law, axis=axis, parameters=numbers, **ENDS)


def test_it_is_three_springs_along_axes():
    one, other = (Simulation(spinning(*loads), method="tree").run(1.0) for loads in ([BUSHING], [*lines()]))
    for name in ("one.position.x", "two.position.z", "two.rotation.y", "energy.strain", "energy.dissipated"):
        # The same sums in another order.
        np.testing.assert_allclose(one[name], other[name], rtol=1e-10, atol=1e-10)


NAMES = ("one.position.x", "two.position.z", "two.rotation.y")


def end(method, **options):
    record = Simulation(spinning(BUSHING), method=method, **options).run(0.2, every=0.2)
    return np.array([record[name][-1] for name in NAMES])


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_exact_methods_agree_with_the_tree(method):
    # Errors of 1e-11 in each of some thousand steps.
    np.testing.assert_allclose(
        end(method, tolerance=1e-11), end("tree", tolerance=1e-11), rtol=0.0, atol=1e-8
    )


@pytest.mark.parametrize("method", ["hybrid", "global", "topological"])
def test_implicit_steps_come_to_it_at_second_order(method):
    truth = end("tree", tolerance=1e-11)
    errors = [np.abs(end(method, dt=dt) - truth).max() for dt in (2e-4, 1e-4)]
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.1)


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_impulses_come_to_it_at_first_order(method):
    truth = end("tree", tolerance=1e-11)
    errors = [np.abs(end(method, solver="impulses", dt=dt) - truth).max() for dt in (2e-4, 1e-4)]
    np.testing.assert_allclose(orders(errors), 1.0, atol=0.1)


def test_it_gives_and_takes_no_momentum_or_energy():
    undamped = dataclasses.replace(BUSHING, damping=(0.0, 0.0, 0.0))
    drift = []
    for dt in (4e-4, 2e-4, 1e-4):
        record = Simulation(spinning(undamped), method="tree", dt=dt).run(0.5)
        total = sum(
            mass * np.column_stack([record[f"{name}.{axis}_rate"] for axis in "xyz"])
            for name, mass in (("free0", 2.0), ("free1", 1.0))
        )
        # Both bodies feel the same force at all stages of a step: what is left is rounding.
        np.testing.assert_allclose(total, np.broadcast_to(total[0], total.shape), atol=1e-11)
        drift.append(np.abs(record["energy.balance"]).max())
    assert np.all(orders(drift) > 3.5)  # Runge–Kutta of fourth order


def test_a_body_swings_on_it_as_on_three_oscillators():
    model = Model("held", gravity=(0.0, 0.0, -9.81))
    model.add(Body("mass", at=(1.0, 2.0, 3.0), mass=2.0, inertia=(1, 1, 1)))
    model.add(
        Bushing(
            "mount",
            "ground",
            "mass",
            at_a=(1, 2, 3),
            at_b=(1, 2, 3),
            stiffness=STIFFNESS,
            rest=(0.01, 0.0, 0.0),
        )
    )
    record = Simulation(model, method="simgc", dt=1e-3).run(1.0, every=0.05)
    for k, (axis, middle) in enumerate((("x", 0.01), ("y", 0.0), ("z", -2.0 * 9.81 / 800.0))):
        own = math.sqrt(STIFFNESS[k] / 2.0)
        expected = middle * (1.0 - np.cos(own * record.time))
        # (h ω)⁴ = 2e-7 at 20 rad/s, twenty radians long, of a centimetre or two.
        found = record[f"mass.position.{axis}"] - (1.0, 2.0, 3.0)[k]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7)


def test_as_drawn_it_is_slack():
    model = Model("drawn", gravity=(0.0, 0.0, 0.0))
    model.add(Body("mass", at=(1.0, 2.0, 3.0), mass=2.0, inertia=(1, 1, 1)))
    model.add(
        Bushing(
            "mount", "ground", "mass", rotation=TURNED, at_a=(0, 0, 0), at_b=(1, 2, 3), stiffness=STIFFNESS
        )
    )
    assert np.abs(Simulation(model, method="simgc").accelerations()).max() < 1e-12


def test_placed_and_mirrored_it_acts_as_its_image():
    part = Component("part")
    part.add(Body("mass", at=(0.1, 0.2, 0.3), mass=2.0, inertia=(1, 2, 2.5)))
    part.add(
        Bushing(
            "mount",
            "ground",
            "mass",
            rotation=TURNED,
            at_a=(0, 0, 0),
            at_b=(0.15, 0.2, 0.4),
            stiffness=STIFFNESS,
            damping=DAMPING,
            rest=REST,
        )
    )
    model = Model("images", gravity=(0.0, 0.0, 0.0))
    model.add(part.instance("plain"))
    model.add(part.instance("moved", at=(7.0, -3.0, 2.0)))
    model.add(part.instance("mirror", mirror=(0, 1, 0)))
    record = Simulation(model, method="simgc", dt=1e-3).run(0.5, every=0.05)
    for k, axis in enumerate("xyz"):
        plain = record[f"plain.mass.position.{axis}"]
        moved = record[f"moved.mass.position.{axis}"] - (7.0, -3.0, 2.0)[k]
        np.testing.assert_allclose(moved, plain, rtol=0.0, atol=1e-13)
        image = record[f"mirror.mass.position.{axis}"] * (1.0, -1.0, 1.0)[k]
        np.testing.assert_allclose(image, plain, rtol=0.0, atol=1e-13)
        assert np.ptp(plain) > 1e-3


def test_wrong_numbers_are_refused():
    with pytest.raises(ModelError, match=r"Bushing 'b'.stiffness.1: must not be less than 0"):
        Bushing("b", "ground", "mass", at_a=(0, 0, 0), at_b=(0, 0, 0), stiffness=(1, -1, 1))
    with pytest.raises(ModelError, match=r"Bushing 'b'.damping: must have 3 entries"):
        Bushing("b", "ground", "mass", at_a=(0, 0, 0), at_b=(0, 0, 0), damping=(1, 1))
