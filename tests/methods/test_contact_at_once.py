"""Rows that a step with contact solves for at once, by what formulas and other ways to solve the same equations say."""

import numpy as np
import pytest

import linkwork.methods.contact as contact
from benchmarks.vehicle import vehicle
from linkwork import (
    Body,
    Box,
    Hinge,
    Material,
    Model,
    Plane,
    PositionServo,
    Scenery,
    Simulation,
    Slider,
    Spring,
    VelocityServo,
)
from linkwork.engine.steppers.eliminate import FOLDED, HIGHEST, LOCKING, LOWEST

G, DT = 9.81, 1e-3


def floor() -> Model:
    """A plane at zero, and what makes things on it rub."""
    model = Model("at_once")
    model.add(Material("wood", friction=0.5))
    model.add(Scenery("floor", shapes=(Plane(),), material="wood"))
    return model


def becomes(simulation: Simulation, row: str) -> int:
    """How the last step solved for a row."""
    method = simulation.method
    names = list(method._rows.names)
    return int(method._contact.reach.rows["becomes"][names.index(row)])


def carried(model: Model, *, mass: float = 2.0, arm: float = 0.3) -> Model:
    """A bar on a hinge, level, with a box standing on its end that is as heavy as the bar."""
    model.add(
        Body(
            "bar",
            at=(arm, 0, 1),
            mass=mass,
            inertia=(0.01,) * 3,
            shapes=(Box((0.2, 0.2, 0.02)),),
            material="wood",
        )
    )
    model.add(Hinge("pin", "ground", "bar", at=(0, 0, 1), axis=(0, -1, 0)))
    model.add(
        Body(
            "box",
            at=(arm, 0, 1.06),
            mass=mass,
            inertia=(0.01,) * 3,
            shapes=(Box((0.1,) * 3),),
            material="wood",
        )
    )
    return model


def test_a_servo_that_holds_locks_its_dof_and_tells_the_torque():
    model = carried(floor())
    model.add(VelocityServo("hold", "pin", command=0.0, strength=50.0))
    simulation = Simulation(model, dt=DT, method="simgc")
    simulation.step(400)
    assert becomes(simulation, "hold: velocity servo") == LOCKING
    # Bar and box press down at the same distance from the pin, which turns the bar up for a positive torque.
    assert simulation.method.row_forces()["hold: velocity servo"] == pytest.approx(
        2 * 2.0 * G * 0.3, rel=1e-6
    )
    assert abs(simulation["pin.angle_rate"]) < 1e-12


def test_a_motor_at_its_strength_is_a_given_torque():
    model = carried(floor())
    model.add(VelocityServo("hold", "pin", command=0.0, strength=5.0))  # 11.8 N m would be needed
    simulation = Simulation(model, dt=DT, method="simgc")
    simulation.step(5)
    assert becomes(simulation, "hold: velocity servo") == HIGHEST
    assert simulation.method.row_forces()["hold: velocity servo"] == 5.0
    assert simulation["pin.angle_rate"] < 0.0


def test_a_stop_carries_and_lets_go():
    model = floor()
    model.add(
        Body("cart", at=(0, 0, 2), mass=3.0, inertia=(0.1,) * 3, shapes=(Box((0.1,) * 3),), material="wood")
    )
    model.add(Slider("rail", "ground", "cart", at=(0, 0, 2), axis=(0, 0, 1), limits=(0.0, 1.0)))
    simulation = Simulation(model, dt=DT, method="simgc")
    simulation.step(100)
    low = next(name for name in simulation.method._rows.names if name.startswith("rail") and "lower" in name)
    assert becomes(simulation, low) == LOCKING
    assert simulation.method.row_forces()[low] == pytest.approx(3.0 * G, rel=1e-9)
    simulation["rail.travel_rate"] = 1.0
    simulation.step(5)
    assert becomes(simulation, low) == LOWEST
    assert simulation.method.row_forces()[low] == 0.0
    assert simulation["rail.travel_rate"] == pytest.approx(1.0 - G * 5 * DT, rel=1e-9)


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e9])
def test_a_spring_along_a_chain_is_folded_in_and_carries(stiffness):
    model = carried(floor())
    model.add(
        Spring(
            "prop", "ground", "bar", at_a=(0.3, 0, 0), at_b=(0.3, 0, 0.99), length=0.99,
            stiffness=stiffness, damping=0.05 * stiffness,
        )
    )  # fmt: skip
    simulation = Simulation(model, dt=DT, method="simgc")
    simulation.step(20)
    assert becomes(simulation, "prop: spring") == FOLDED
    if stiffness >= 1e5:
        simulation.step(3000)
        force = abs(simulation.method.row_forces()["prop: spring"])
        assert force == pytest.approx(2 * 2.0 * G, rel=2e-3)  # the bar sinks, and turns, by up to 0.4 mm


@pytest.mark.parametrize("options", [{"driven": False}, {"driven": True}, {"driven": True, "rods": True}])
def test_a_vehicle_moves_as_with_its_loops_eliminated_apart(options, monkeypatch):
    """Embedded rows are another order of elimination of one system of equations."""
    together = Simulation(vehicle(2, **options), dt=DT, method="simgc")
    monkeypatch.setattr(contact, "embedded_rows", lambda *_: None)
    apart = Simulation(vehicle(2, **options), dt=DT, method="simgc")
    inner = [len(s.method._contact.work.link) - len(s.method._contact.work.J) for s in (together, apart)]
    assert inner[0] >= 16
    assert inner[1] == 0
    for simulation in (together, apart):
        simulation.step(300)
    # Rounding grows with the motion; both leave 1e-6 of the step [m/s²] of contact's equations at most.
    assert np.abs(together.q - apart.q).max() < 1e-8
    assert np.abs(together.v - apart.v).max() < 1e-6
    theirs = apart.method.row_forces()
    for name, force in together.method.row_forces().items():
        assert force == pytest.approx(theirs[name], abs=1e-2)
    for simulation in (together, apart):
        assert simulation.method.outcome()["worst_gap_m"] < 1e-12


def test_servos_beside_contact_agree_in_both_coordinates():
    found = []
    for method in ("simgc", "simmc"):
        model = carried(floor())
        model.add(PositionServo("hold", "pin", command=0.1, stiffness=200.0, damping=20.0, strength=30.0))
        simulation = Simulation(model, dt=DT, method=method)
        simulation.step(600)
        found.append((simulation["pin.angle"], simulation.method.row_forces()["hold: position servo"]))
    assert found[0] == pytest.approx(found[1], rel=1e-6)
