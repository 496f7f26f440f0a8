"""Bodies welded together are one body: point masses and bodies without mass, in every method."""

import numpy as np
import pytest

from linkwork import Body, Component, Hinge, Model, Simulation, UnsupportedError, Weld
from linkwork.model.item import GROUND

METHODS = ["tree", "simgc", "simmc", "hybrid", "topological", "global", "components"]
IMPULSES = [("simgc", "impulses"), ("simmc", "impulses")]
G = 9.81


def pendulum(parts, *, order=1, turned=False, foot=False, nested=False):
    """A rod with a heavy tip on a hinge at the origin; `parts`: as rod, point mass and marker, or as one body."""
    model = Model("pendulum", gravity=(0.0, 0.0, -G))
    axle = GROUND
    things = []
    if foot:
        things += [Body("foot", mass=0.0), Weld("stand", GROUND, "foot")]
        axle = "foot"
    if parts:
        tip = Body("tip", at=(1.0, 0.0, 0.0), mass=0.5, inertia=(0.0, 0.0, 0.0))
        tip_name = "tip"
        if nested:
            bob = Component("bob")
            bob.add(Body("tip", mass=0.5, inertia=(0.0, 0.0, 0.0)))
            things.append(bob.instance("bob", at=(1.0, 0.0, 0.0)))
            tip_name = "bob.tip"
        else:
            things.append(tip)
        ends = ("rod", tip_name) if turned else (tip_name, "rod")
        things += [
            Body("rod", at=(0.5, 0.0, 0.0), mass=1.0, inertia=(0.01, 0.09, 0.09)),
            Weld("glue", *ends, at=(1.0, 0.0, 0.0)),
            Body("mark", at=(1.0, 0.0, 0.1), mass=0.0),
            Weld("tack", "mark", tip_name, at=(1.0, 0.0, 0.0)),
        ]
    else:
        c = (1.0 * 0.5 + 0.5 * 1.0) / 1.5
        side = 0.09 + (c - 0.5) ** 2 + 0.5 * (1.0 - c) ** 2
        things.append(
            Body("rod", at=(0.5, 0.0, 0.0), mass=1.5, com=(c - 0.5, 0.0, 0.0), inertia=(0.01, side, side))
        )
    things.append(Hinge("pivot", axle, "rod", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), velocity=1.0))
    for thing in things[::order]:
        model.add(thing)
    return model


def ran(model, method, solver=None, **options):
    simulation = Simulation(model, method=method, solver=solver, dt=1e-3, **options)
    return simulation, simulation.run(0.2, every=0.05)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "how", [{}, {"order": -1}, {"turned": True}, {"foot": True}, {"nested": True}], ids=str
)
def test_a_point_mass_welded_to_a_rod_is_part_of_it(method, how):
    one, reference = ran(pendulum(False, foot=how.get("foot", False)), method)
    two, record = ran(pendulum(True, **how), method)
    assert two["pivot.angle"] == pytest.approx(one["pivot.angle"], abs=1e-11)
    assert record["pivot.angle_rate"] == pytest.approx(reference["pivot.angle_rate"], abs=1e-10)
    assert two.energies() == pytest.approx(one.energies(), abs=1e-9)
    if "pivot.force.x" in reference:
        for axis in "xyz":
            assert record[f"pivot.force.{axis}"] == pytest.approx(reference[f"pivot.force.{axis}"], abs=1e-6)
    tip = "bob.tip" if how.get("nested") else "tip"
    angle = record["pivot.angle"]
    assert record[f"{tip}.position.x"] == pytest.approx(np.cos(angle), abs=1e-9)
    assert record[f"{tip}.position.z"] == pytest.approx(-np.sin(angle), abs=1e-9)
    assert record["mark.position.x"] == pytest.approx(np.cos(angle) + 0.1 * np.sin(angle), abs=1e-9)


@pytest.mark.parametrize(("method", "solver"), IMPULSES)
def test_so_it_is_for_impulses(method, solver):
    one, _ = ran(pendulum(False), method, solver)
    two, _ = ran(pendulum(True), method, solver)
    assert two["pivot.angle"] == pytest.approx(one["pivot.angle"], abs=1e-9)


@pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
def test_the_weld_carries_the_point_mass(method):
    """Newton: what the weld gives the tip is m (a - g)."""
    _, record = ran(pendulum(True), method)
    angle, rate = record["pivot.angle"], record["pivot.angle_rate"]
    inertia = 0.09 + 0.25 + 0.5
    alpha = (1.0 * 0.5 + 0.5 * 1.0) * G * np.cos(angle) / inertia
    x = -np.cos(angle) * rate**2 - np.sin(angle) * alpha
    z = np.sin(angle) * rate**2 - np.cos(angle) * alpha
    assert abs(record["glue.force.x"]) == pytest.approx(abs(0.5 * x), abs=1e-7)
    assert abs(record["glue.force.z"]) == pytest.approx(abs(0.5 * (z + G)), abs=1e-7)


@pytest.mark.parametrize("method", ["simmc", "components"])
def test_a_point_mass_on_a_hinge_is_refused_by_its_name(method):
    model = Model("bob")
    model.add(Body("bob", at=(1.0, 0.0, 0.0), mass=1.0, inertia=(0.0, 0.0, 0.0)))
    model.add(Hinge("pivot", GROUND, "bob", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    Simulation(model, method="simgc")
    with pytest.raises(
        UnsupportedError, match=r"but body 'bob' has no inertia .* weld it to a body that has them"
    ):
        Simulation(model, method=method)


@pytest.mark.parametrize("method", ["simmc", "components"])
def test_a_weldment_that_is_still_too_light_is_refused_by_the_names_of_its_parts(method):
    """Two point masses: nothing resists a turn about the line between them."""
    model = Model("dumbbell")
    for name, x in (("near", 1.0), ("far", 2.0)):
        model.add(Body(name, at=(x, 0.0, 0.0), mass=1.0, inertia=(0.0, 0.0, 0.0)))
    model.add(Weld("bar", "near", "far", at=(1.5, 0.0, 0.0)))
    model.add(Hinge("pivot", GROUND, "near", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    Simulation(model, method="simgc")
    with pytest.raises(UnsupportedError, match=r"but body 'near' \(with 'far' welded to it\) has no inertia"):
        Simulation(model, method=method)


def test_bodies_that_can_float_stay_apart():
    model = pendulum(True)
    system = Simulation(model, method="simmc").system
    assert system.floating == ("rod",)
    heavy = Model("heavy")
    for name in ("one", "two"):
        heavy.add(Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0)))
    heavy.add(Weld("glue", "one", "two"))
    assert Simulation(heavy, method="simmc").system.floating == ("one", "two")
