"""Joints that are switched by commands: energy, couplings, contradictions, contact."""

import math

import numpy as np
import pytest

from helpers.runs import CLOSED, explicit
from helpers.switched import ROUNDING, G, arm, crane, smooth_ways, ways
from linkwork import (
    Body,
    Hinge,
    Model,
    PositionServo,
    Repeater,
    Simulation,
    VelocityServo,
    Weld,
)
from linkwork.model.item import GROUND

# --- commands, energy, contradictions ---


@smooth_ways
def test_commands_and_callbacks(method, solver):
    """The hand takes hold when it is low enough."""

    def watch(simulation):
        if simulation.point("hand", (0.2, 0.1, 0.0))[0][2] < -0.2:
            simulation.attach("grip")

    simulation = Simulation(arm(()), method=method, solver=solver)
    simulation.run(0.5, callbacks=[(1e-3, watch)])
    (change,) = simulation.changes
    assert simulation.attached == {"grip"}
    before = simulation.point("hand", (0.2, 0.1, 0.0))[0]
    assert before[2] == pytest.approx(-0.2, abs=5e-3)
    simulation.run(0.1)
    np.testing.assert_allclose(simulation.point("hand", (0.2, 0.1, 0.0))[0], before, atol=1e-6)
    simulation.attach("grip")
    assert simulation.changes == (change,)
    simulation.release("grip")
    simulation.release("grip")
    assert [c.attached for c in simulation.changes] == [True, False]


@ways
def test_energy_closes_with_springs_rotors_and_drives(method, solver):
    model = arm(((0.1, 0.4),), spring=3.0, rest=0.4, armature=0.05, damping=0.1)
    model.add(VelocityServo("turn", "shoulder", command=0.5, strength=5.0))
    simulation = Simulation(model, method=method, solver=solver, dt=2e-4)
    record = simulation.run(0.6)
    attach, release = simulation.changes
    assert release.energy > 0.01  # what was left in the spring
    assert attach.energy > 0.0
    # Some 3 J are in play: the fourth order of the direct solver, and the first of impulses at this step.
    assert record.energy_drift < (1e-6 if solver == "direct" else 2e-2)


@explicit
def test_coordinates_drives_and_couplings_count_from_where_it_takes_hold(method):
    model = Model("turntable", gravity=(0.0, 0.0, 0.0))
    model.add(Body("table", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Body("gear", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.0, 0.0, 0.0)))
    model.add(Body("block", mass=0.5, inertia=(0.01, 0.01, 0.01), at=(0.3, 0.0, 0.0)))
    model.add(Hinge("bearing", GROUND, "table", velocity=1.0))
    model.add(Hinge("other", GROUND, "gear", at=(1.0, 0.0, 0.0), velocity=0.5))
    model.add(Hinge("clamp", "table", "block", at=(0.3, 0.0, 0.0), attached=((0.0, 0.2), (0.5, None))))
    model.add(Repeater("ratio", "other", "clamp", ratio=2.0))
    model.add(PositionServo("swing", "clamp", stiffness=20.0, damping=4.0, strength=50.0, command=0.25))
    simulation = Simulation(model, method=method)
    simulation.run(0.4)
    apart = simulation["other.angle"]
    simulation.run(0.1)
    assert simulation["clamp.angle"] == pytest.approx(0.0, abs=1e-15)
    begin = simulation["other.angle"]
    assert begin > apart
    record = simulation.run(6.0, every=0.5)
    assert record["clamp.angle"][-1] == pytest.approx(0.25, abs=1e-3)
    np.testing.assert_allclose(record["other.angle"] - begin, 2.0 * record["clamp.angle"], atol=1e-10)


@explicit
def test_a_loop_stays_closed_when_what_repeated_it_lets_go(method):
    model = Model("four bar")
    model.add(Body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.0, 0.0, 0.25)))
    model.add(Body("coupler", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.5)))
    model.add(Body("rocker", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.0, 0.0, 0.25)))
    turn = {"axis": (0.0, 1.0, 0.0)}
    model.add(Hinge("a", GROUND, "crank", velocity=1.0, **turn))
    model.add(Hinge("b", "crank", "coupler", at=(0.0, 0.0, 0.5), **turn))
    model.add(Hinge("spare", "coupler", "rocker", at=(1.0, 0.0, 0.5), attached=((0.0, 0.3),), **turn))
    model.add(Hinge("c", "coupler", "rocker", at=(1.0, 0.0, 0.5), **turn))
    model.add(Hinge("d", GROUND, "rocker", at=(1.0, 0.0, 0.0), **turn))
    with_spare = Simulation(model, method=method).run(0.8, every=0.1)
    del model.joints["spare"]
    without = Simulation(model, method=method).run(0.8, every=0.1)
    np.testing.assert_allclose(with_spare.array("positions"), without.array("positions"), atol=1e-9)
    assert with_spare.info["worst_gap_m"] < CLOSED


@smooth_ways
def test_contradictions_do_not_explode(method, solver):
    """Held by the ground at two places, and turned by a drive of any strength at the moment that they take hold."""
    model = arm((), Weld)
    model.add(Weld("also", "upper", GROUND, at=(0.4, 0.0, 0.0), attached=()))
    simulation = Simulation(model, method=method, solver=solver)
    simulation.run(0.1)
    simulation.attach("grip", "also")
    assert np.abs(simulation.v).max() < ROUNDING
    place = simulation.point("hand")[0]
    record = simulation.run(0.2)
    np.testing.assert_allclose(
        simulation.point("hand")[0], place, atol=1e-5 if solver == "impulses" else CLOSED
    )
    assert record.energy_drift < (1e-2 if solver == "impulses" else 1e-9)
    model.add(VelocityServo("turn", "shoulder", command=1.0))
    simulation = Simulation(model, method=method, solver=solver)
    simulation.run(0.1)
    before = np.abs(simulation.v).max()
    simulation.attach("grip", "also")
    assert np.abs(simulation.v).max() < before


# --- contact ---


@ways
def test_contact(method, solver):
    """A trolley drops a crate, which slides to rest on the floor; then it takes hold of it where it lies."""
    fall = math.sqrt(2.0 * 0.4 / G)
    simulation = Simulation(crane(((0.0, 0.5), (1.5, None))), method=method, solver=solver)
    simulation.run(0.5)
    assert simulation.point("crate")[0] == pytest.approx((0.2, 0.0, 0.5), abs=1e-4)
    simulation.run(round(fall - 0.02, 3))
    settled = 1e-9 if solver == "direct" else 1e-5  # [m/s]: impulses end at 1e-6 N s
    assert simulation.point("crate")[1][0] == pytest.approx(0.4, abs=settled)
    assert not simulation.touches()
    simulation.run(1.4 - simulation.time)
    place, speed = simulation.point("crate")
    assert np.abs(speed).max() < 1e-6
    assert place[2] == pytest.approx(0.1, abs=1e-4)
    simulation.run(0.6)
    moved, speed = simulation.point("crate")
    assert speed[0] == pytest.approx(0.4, abs=1e-4)
    assert moved[0] - place[0] == pytest.approx(0.4 * 0.5, abs=1e-3)
    assert moved[2] == pytest.approx(place[2], abs=1e-4)
    assert [c.attached for c in simulation.changes] == [False, True]
