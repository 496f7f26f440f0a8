"""Forces that are measured, against mechanics: of springs, drives, limits, friction and contacts."""

import numpy as np
import pytest

from helpers.measuring import IMPULSES, G, every, impulses, label, with_rows
from helpers.models import spring_law
from linkwork import (
    Body,
    Box,
    Bushing,
    Hinge,
    LineFunction,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    Slider,
    Spring,
)
from linkwork.engine.elements import DCMotor, PositionServo, TorqueSource, VelocityServo

STIFFNESS, DAMPING, REST = 300.0, 4.0, 0.35


def sprung():
    """A block that slides along x, on all kinds of springs."""
    model = Model("sprung")
    model.add(Body("block", at=(0.5, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1)))
    model.add(
        Slider(
            "rail", "ground", "block", axis=(1.0, 0.0, 0.0), velocity=0.8, spring=70.0, damping=3.0, rest=-0.2
        )
    )
    ends = {"at_a": (0.0, 0.0, 0.0), "at_b": (0.5, 0.0, 0.0)}
    model.add(Spring("coil", "ground", "block", stiffness=STIFFNESS, damping=DAMPING, length=REST, **ends))
    model.add(LineFunction("law", "ground", "block", spring_law, parameters=(50.0, 2.0, 0.6), **ends))
    model.add(
        Bushing(
            "mount",
            "ground",
            "block",
            stiffness=(90.0, 80.0, 70.0),
            damping=(1.0, 2.0, 3.0),
            rest=(0.3, 0.01, -0.02),
            **ends,
        )
    )
    return model


@every
def test_springs_exert_what_they_are_stretched(way):
    h = 1e-4
    sim = Simulation(sprung(), dt=h, **way)
    sim.step(100)
    x, rate = sim["block.position.x"], sim["block.velocity.x"]
    expected = {
        "coil.force": STIFFNESS * (x - REST) + DAMPING * rate,
        "law.force": 50.0 * (x - 0.6) + 2.0 * rate,
        "mount.force.x": 90.0 * (x - 0.3) + rate,
        "mount.force.y": -0.8,
        "mount.force.z": 1.4,
        "rail.travel_spring_force": -70.0 * (x - 0.5 + 0.2) - 3.0 * rate,
    }
    # Rows of impulses are means over the step.
    slack = 2.0 * h * STIFFNESS if "solver" in way else 1e-9
    for name, value in expected.items():
        assert sim[name] == pytest.approx(value, abs=slack), name
        assert sim.signals[name] == "N"
    # They and the inertia balance.
    total = sim["rail.travel_spring_force"] - sim["coil.force"] - sim["law.force"] - sim["mount.force.x"]
    assert 2.0 * sim["block.acceleration.x"] == pytest.approx(total, abs=3.0 * slack)


def driven(*drives, **joint):
    """An arm that hangs out horizontally, 0.5 m from its hinge."""
    model = Model("driven", gravity=(0.0, 0.0, -G))
    model.add(Body("arm", at=(0.5, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("shoulder", "ground", "arm", axis=(0.0, -1.0, 0.0), **joint))
    for drive in drives:
        model.add(drive)
    return model


@with_rows
def test_a_servo_holds_the_weight(way):
    sim = Simulation(driven(VelocityServo("hold", "shoulder")), dt=1e-3, **way)
    record = sim.run(0.02, every=0.01)
    np.testing.assert_allclose(record["hold.force"][1:], 2.0 * G * 0.5, rtol=1e-6)
    assert record.unit("hold.force") == "N m"


@with_rows
def test_drives_tell_what_they_exert(way):
    motor = DCMotor("motor", "shoulder", stall_torque=2.0, idle_speed=50.0, time_constant=0.0, command=0.5)
    drives = (
        TorqueSource("push", "shoulder", command=3.0),
        PositionServo("pull", "shoulder", stiffness=40.0, damping=2.0, command=0.1),
        motor,
    )
    h = 1e-4
    sim = Simulation(driven(*drives), dt=h, **way)
    sim.step(50)
    angle, rate = sim["shoulder.angle"], sim["shoulder.angle_rate"]
    slack = 100.0 * h if "solver" in way else 1e-8
    assert sim["push.force"] == pytest.approx(3.0, abs=1e-9)
    assert sim["pull.force"] == pytest.approx(-40.0 * (angle - 0.1) - 2.0 * rate, abs=slack)
    assert sim["motor.force"] == pytest.approx(2.0 * (0.5 - rate / 50.0), abs=slack)


@pytest.mark.parametrize("way", [{"method": "simgc"}, {"method": "simmc"}, *IMPULSES], ids=label)
def test_limits_and_friction_tell_what_they_exert(way):
    # Against a limit at its start: it carries what friction does not.
    limited = Simulation(driven(limits=(0.0, 1.0)), dt=1e-3, **way)
    limited.step(20)
    assert limited["shoulder.angle_limit_force"] == pytest.approx(2.0 * G * 0.5, rel=1e-6)
    stuck = Simulation(driven(friction=20.0), dt=1e-3, **way)
    stuck.step(20)
    assert stuck["shoulder.angle_friction_force"] == pytest.approx(2.0 * G * 0.5, rel=1e-6)


@pytest.mark.parametrize("solver", ["direct", "impulses"])
@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_contacts_carry_the_weight(method, solver):
    model = Model("rest", gravity=(0.0, 0.0, -G))
    model.add(Material("rough", friction=0.5))
    model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
    model.add(Body("box", at=(0.0, 0.0, 0.05), mass=3.0, shapes=(Box((0.1, 0.1, 0.1)),), material="rough"))
    sim = Simulation(model, method=method, solver=solver, dt=1e-3)
    record = sim.run(0.5, every=0.1)
    assert np.isnan(record["box.contact_force.z"][0])
    np.testing.assert_allclose(sim["box.contact_force"], (0.0, 0.0, 3.0 * G), atol=1e-3)
    np.testing.assert_array_equal(sim["floor.contact_force"], -sim["box.contact_force"])
    np.testing.assert_allclose(
        sim["box.contact_force"], sum(np.array(t.friction) + t.force * np.array(t.normal) * (1 if t.b == "box" else -1)
        for t in sim.touches()), atol=1e-9,
    )  # fmt: skip


def test_a_drive_and_a_load_of_one_name():
    model = driven(TorqueSource("same", "shoulder", command=3.0))
    at = (0.5, 0.0, 0.0)
    model.add(
        LineFunction(
            "same", "ground", "arm", spring_law, at_a=(0.0, 0.0, 1.0), at_b=at, parameters=(1.0, 0.0, 0.0)
        )
    )
    assert Simulation(model, method="simgc").run(0.01)["same.force"][-1] == pytest.approx(3.0)


@impulses
def test_a_resumed_run_goes_on_with_its_means(way, tmp_path):
    sim = Simulation(sprung(), dt=1e-3, **way)
    sim.step(5)
    sim.save_state(tmp_path / "state.npz")
    other = Simulation(sprung(), dt=1e-3, **way)
    other.load_state(tmp_path / "state.npz")
    for name in ("block.acceleration.x", "coil.force"):
        assert other[name] == sim[name]
