"""The excavator: its linkage over its cycle, and cylinders that hold it and move it."""

from math import hypot, pi

import numpy as np
import pytest

from helpers.loop_scenes import at_start, holding
from linkwork import Simulation, scene
from linkwork.scenes import excavator

CYLINDERS = list(excavator.CYLINDERS)


@pytest.mark.parametrize("hold", [False, True])
def test_excavator_weighs_as_much_as_its_class(hold):
    model = scene("excavator", hold=hold, payload=350.0)
    masses = {name: body.mass_properties.mass for name, body in model.bodies.items()}
    assert masses.pop("payload") == pytest.approx(350.0)
    assert sum(masses.values()) == pytest.approx(7800.0)
    # Small parts between large forces: the pins of the linkage weigh little against what hangs on them.
    assert masses["upper"] / masses["rocker"] > 200


@pytest.mark.parametrize("t", [0.0, 2.0, 5.0, 6.5, 9.0, 12.0, 13.5, 16.0])
def test_excavator_linkage_keeps_its_lengths_over_the_cycle(t):
    angles, _ = excavator.course(t)
    pin = {name: np.array(at) for name, at in excavator.pins(angles).items()}
    for a, b, length in (
        ("A", "B", 3.45), ("B", "Q", 1.75), ("Q", "T", 1.05), ("R", "K", excavator.ROCKER), ("K", "E", excavator.LINK),
        ("A", "G", hypot(*excavator.BOOM["G"])), ("B", "H", hypot(*excavator.STICK["H"])),
        ("Q", "E", hypot(*excavator.BUCKET["E"])),
    ):  # fmt: skip
        assert np.linalg.norm(pin[a] - pin[b]) == pytest.approx(length, abs=1e-14)
    # Between closed and open: a rod is never longer than the barrel that it goes into.
    for length, (*_, closed) in zip(
        excavator.cylinder_lengths(angles), excavator.CYLINDERS.values(), strict=True
    ):
        assert closed < length < 2 * closed - 0.2
    # Rocker and link are far from lying in line, where the cylinder could not move the bucket.
    a, b = pin["R"] - pin["K"], pin["E"] - pin["K"]
    assert 0.2 < np.arccos(a @ b / (excavator.ROCKER * excavator.LINK)) < pi - 0.5


def test_excavator_teeth_dig_below_the_ground_and_dump_above_a_truck():
    heights = {t: excavator.pins(excavator.course(t)[0])["T"][1] for t in (0.0, 2.0, 5.0, 13.5)}
    assert heights[0.0] > 0.0
    assert heights[2.0] < -1.0
    assert heights[13.5] > 2.0


@pytest.mark.parametrize("hold", [False, True])
def test_excavator_cylinders_hold_the_arm_in_balance_at_the_start(hold):
    kinematics, system = at_start("excavator", {"hold": hold})
    model = scene("excavator", hold=hold)
    valves = [f"{name}_valve" for name in CYLINDERS]
    needed = holding(kinematics, system, [*valves, "slew_motor"])
    told = [model.drives[name].stiffness * model.drives[name].signal.values[0] for name in valves]
    # Differences over 1e-4 rad: second order leaves a share of some 1e-8.
    assert told == pytest.approx(list(needed[:3]), rel=1e-6)
    assert abs(needed[3]) < 1e-6
    assert needed[0] > 50e3  # the boom cylinder carries the arm


def test_excavator_forces_stay_within_what_the_pressure_gives():
    model = scene("excavator")
    arm = {name: body for name, body in model.bodies.items() if name not in ("carriage", "upper")}
    for t in np.linspace(0.0, 16.0, 33):
        forces = excavator.holding_forces(arm, excavator.course(float(t))[0])
        for force, name in zip(forces, CYLINDERS, strict=True):
            assert abs(force) < 0.5 * model.drives[f"{name}_valve"].strength


def test_excavator_holds_its_bucket():
    record = Simulation(scene("excavator", hold=True)).run(0.3)
    # It starts in balance, so that nothing moves but what the balance is off by, a share of 1e-6 of millimetres.
    for axis in "xyz":
        assert np.ptp(record[f"bucket.position.{axis}"]) < 1e-6


def test_excavator_follows_its_cycle():
    simulation = Simulation(scene("excavator"))
    record = simulation.run(0.3, every=0.1)
    start = excavator.cylinder_lengths(excavator.course(0.0)[0])
    for i, t in enumerate(record.time):
        wanted = np.subtract(excavator.cylinder_lengths(excavator.course(t)[0]), start)
        travels = [record[f"{name}_cylinder.travel"][i] for name in CYLINDERS]
        # They lag by 30 ms at some 0.03 m/s, and give by millimetres where the arm speeds up.
        np.testing.assert_allclose(travels, wanted, atol=4e-3)
