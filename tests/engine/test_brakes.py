"""Brakes, clutches and motors by their map: against momentum, work and friction by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest

from linkwork import (
    AxleMotor,
    Body,
    Brake,
    Clutch,
    DCMotor,
    Hinge,
    Model,
    Simulation,
    Table,
    Torque,
    TractionMotor,
)
from linkwork.model.errors import ModelError

INERTIA, TORQUE = 0.2, 30.0
WAYS = [
    {"method": "simgc"},
    {"method": "simgc", "solver": "impulses"},
    {"method": "components", "integrator": "rk4"},
    {"method": "hybrid"},
]


def named(settings):
    return "-".join(settings.values())


def wheels(*things, velocities=(0.0,), pull=0.0, inertias=(INERTIA, INERTIA)):
    """Flywheels on hinges of their own, without gravity; `pull`: a torque on the first."""
    model = Model("wheels", gravity=(0.0, 0.0, 0.0))
    for k, velocity in enumerate(velocities):
        J = inertias[k]
        model.add(Body(f"wheel{k}", at=(0.0, k, 0.0), mass=1.0, inertia=(J, J, J)))
        model.add(
            Hinge(f"axle{k}", "ground", f"wheel{k}", at=(0.0, k, 0.0), axis=(0, 1, 0), velocity=velocity)
        )
    if pull:
        model.add(Torque("pull", "wheel0", torque=(0.0, pull, 0.0)))
    for thing in things:
        model.add(thing)
    return model


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_it_stops_and_holds(way):
    """I w' = -T: stops after I w/T, and turns half of w on that way; then it swings back as far as the pads yielded,
    within I/d, and nothing moves."""
    speed = 100.0
    sim = Simulation(
        wheels(Brake("brake", "axle0", torque=TORQUE, command=1.0), velocities=(speed,)), dt=1e-3, **way
    )
    record = sim.run(3.0, every=1e-2)
    rate, angle = record["axle0.angle_rate"], record["axle0.angle"]
    half = round(0.5 * INERTIA * speed / TORQUE * 100)
    assert rate[half] == pytest.approx(speed - record.time[half] * TORQUE / INERTIA, rel=5e-3)
    assert angle[-1] == pytest.approx(
        0.5 * speed**2 * INERTIA / TORQUE - 0.03, abs=0.03 + 0.5 * sim.dt * speed
    )
    assert abs(rate[-1]) < 1e-9
    # All of it is heat: by the order of the method where sticking begins.
    assert record["energy.dissipated"][-1] == pytest.approx(0.5 * INERTIA * speed**2, rel=5e-3)


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_it_holds_up_to_its_torque(way):
    """Below it the pads yield by their share of `give`; above it the rest accelerates the wheel."""
    below = Simulation(
        wheels(Brake("brake", "axle0", torque=TORQUE, command=1.0), pull=0.5 * TORQUE), dt=1e-3, **way
    )
    below.run(3.0)
    assert below["brake.force"] == pytest.approx(-0.5 * TORQUE, rel=1e-6)
    # Angle and give are integrated side by side: alike but for what steps make of the swing at the start.
    assert below["axle0.angle"] == pytest.approx(0.5 * 0.03, rel=1e-4)
    assert abs(below["axle0.angle_rate"]) < 1e-9
    above = Simulation(
        wheels(Brake("brake", "axle0", torque=TORQUE, command=0.5), pull=TORQUE), dt=1e-3, **way
    )
    record = above.run(1.0, every=0.1)
    gained = (record["axle0.angle_rate"][-1] - record["axle0.angle_rate"][5]) / 0.5
    assert gained == pytest.approx(0.5 * TORQUE / INERTIA, rel=1e-6)


def test_energy_is_accounted_for():
    brake = Brake(
        "brake", "axle0", torque=TORQUE, command=1.0, signal=Table((0.0, 0.3, 0.5, 0.8), (0, 1, 1, 0))
    )
    record = Simulation(wheels(brake, velocities=(50.0,)), dt=1e-3).run(1.0, every=1e-2)
    assert abs(record["energy.balance"]).max() < 1e-3 * 0.5 * INERTIA * 2500.0
    assert (np.diff(record["energy.dissipated"]) >= -1e-9).all()


DRIVES = {
    "clutch that slides": (Clutch("it", "axle0", "axle1", torque=5.0, ratio=2.0, command=1.0), (40.0, 0.0)),
    "motor": (
        TractionMotor("it", "axle0", torque=2.0, power=30.0, top_speed=1e3, gear=4.0, inertia=0.01, command=0.8), (1.0,)
    ),
    "motor that brakes": (
        TractionMotor("it", "axle0", torque=2.0, power=1e6, top_speed=1e3, gear=4.0, command=-0.5), (30.0,)
    ),
    "open differential": (
        AxleMotor("it", "axle0", "axle1", torque=2.0, power=1e6, top_speed=1e3, gear=4.0, command=1.0), (0.0, 3.0)
    ),
    "hub motor": (
        DCMotor("it", "axle0", stall_torque=2.0, idle_speed=300.0, time_constant=0.02, gear=6.0, command=0.7), (2.0,)
    ),
}  # fmt: skip
"""Drives of vehicles, and rates of the axles at the start."""


@pytest.mark.parametrize("name", DRIVES)
def test_energy_of_every_drive_balances_at_the_order_of_the_integrator(name):
    """Supplied, dissipated, stored and kinetic: Runge-Kutta's fourth order while nothing begins or ends to slide, or
    what rounding leaves."""
    drive, velocities = DRIVES[name]
    record = [
        Simulation(wheels(drive, velocities=velocities), dt=dt, integrator="rk4").run(0.2, every=4e-3)
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    turned = abs(record[0]["energy.supplied"]).max() + abs(record[0]["energy.dissipated"]).max()
    assert turned > 1.0
    left = [abs(one["energy.balance"]).max() / turned for one in record]
    assert left[2] < 1e-6
    for coarse, fine in pairwise(left):
        assert fine < coarse / 12.0 or fine < 1e-12


def test_a_clutch_makes_both_turn_alike():
    """Momentum: I₀ w₀ = (I₀ + r² I₁) w with w₁ = r w, the second taken r times as fast."""
    clutch = Clutch("clutch", "axle0", "axle1", torque=TORQUE, ratio=2.0, command=1.0)
    sim = Simulation(wheels(clutch, velocities=(8.0, 0.0), inertias=(2.0, 6.0)), dt=1e-3)
    sim.run(3.0)
    slow = 2.0 * 8.0 * 2.0 / (2.0 * 4.0 + 6.0)
    assert sim["axle1.angle_rate"] == pytest.approx(slow, rel=1e-6)
    assert sim["axle0.angle_rate"] == pytest.approx(2.0 * slow, rel=1e-6)


def test_a_motor_has_its_torque_then_its_power_then_no_more():
    """w = T t/I up to P/T, then ½ I w² = P t + const; beyond the top speed it fades within a twentieth."""
    motor = TractionMotor("motor", "axle0", torque=5.0, power=300.0, top_speed=120.0, gear=4.0, command=1.0)
    model = wheels(motor, velocities=(0.0,), inertias=(2.0,))
    record = Simulation(model, dt=1e-3).run(12.0, every=0.1)
    rate, t = record["axle0.angle_rate"], record.time
    corner = 300.0 / 20.0
    assert rate[10] == pytest.approx(20.0 * t[10] / 2.0, rel=1e-9)
    k = np.searchsorted(rate, 20.0)
    assert rate[k] ** 2 == pytest.approx(corner**2 + 300.0 * (t[k] - corner * 2.0 / 20.0), rel=1e-5)
    assert 30.0 < rate[-1] <= 30.0 * 1.05


def test_a_motor_feels_its_rotor_through_the_gear():
    motor = TractionMotor(
        "motor", "axle0", torque=5.0, power=1e6, top_speed=1e4, gear=4.0, inertia=0.5, command=1.0
    )
    sim = Simulation(wheels(motor, velocities=(0.0,)), dt=1e-3)
    sim.run(0.5)
    assert sim["axle0.angle_rate"] == pytest.approx(20.0 / (INERTIA + 16.0 * 0.5) * 0.5, rel=1e-6)


@pytest.mark.parametrize("locked", [False, True])
def test_an_open_differential_gives_both_the_same_torque(locked):
    """Each gets half of gear times torque; with a clutch between them they turn together instead."""
    things = [
        AxleMotor("motor", "axle0", "axle1", torque=5.0, power=1e6, top_speed=1e4, gear=4.0, command=1.0)
    ]
    if locked:
        things.append(Clutch("lock", "axle0", "axle1", torque=1e3, command=1.0))
    sim = Simulation(wheels(*things, velocities=(0.0, 0.0), inertias=(1.0, 3.0)), dt=1e-3)
    sim.run(1.0)
    ends = [sim[f"axle{k}.angle_rate"] for k in range(2)]
    assert ends == pytest.approx([5.0, 5.0] if locked else [10.0, 10.0 / 3.0], rel=1e-6)


def test_what_is_wrong_is_told():
    with pytest.raises(ModelError, match="torque: must be greater than 0"):
        Brake("brake", "axle0", torque=0.0)
    with pytest.raises(ModelError, match="nowhere"):
        Simulation(wheels(Clutch("clutch", "axle0", "nowhere", torque=1.0)))
    assert math.isinf(Brake("brake", "axle0", torque=1.0).bound)
