"""The manoeuvre of the PUMA 560 that holds a point: torques, phases and forces against an independent table."""

import numpy as np
import pytest

from helpers.references import reference
from linkwork import Simulation, scene
from linkwork.scenes.puma_hold import DURATION, HOLD, manoeuvre

TABLE = reference("puma560_manoeuvre_ref.csv")
ANGLES, RATES, TORQUES = (
    np.column_stack([TABLE[f"{name}{k}"] for k in range(1, 7)]) for name in ("q", "qd", "tau")
)
# Nothing corrects errors: without motors they grow by these factors in a free phase and in the held one.
FREE_GROWTH, HELD_GROWTH = 3e4, 3e6
PRINTED = 5e-12  # angles of the table have twelve digits


def angles(record):
    return np.column_stack([record[f"joint{k}.angle"] for k in range(1, 7)])


def begin(sim, time):
    """Put a simulation on the table."""
    row = round(100 * time)
    sim.q[:], sim.v[:] = ANGLES[row], RATES[row]


def off(record, time):
    """Distance from the table at every sample, which begin at a time [rad]."""
    found, row = angles(record), round(100 * time)
    return np.abs(found - ANGLES[row : row + len(found)]).max(axis=1)


def new(dt=5e-4, **options):
    return Simulation(scene("puma_hold", **options), method="simgc", integrator="rk4", dt=dt)


@pytest.fixture(scope="module")
def course():
    """A simulation, and its records of three stretches, each begun on the table: to just before the grip, and so on."""
    sim, records = new(motors=False), []
    for start, end in ((0.0, 1.99), (1.99, 5.99), (5.99, DURATION)):
        begin(sim, start)
        records.append(sim.run(end - start, every=0.01))
    return sim, records


@pytest.fixture(scope="module")
def phases(course):
    return course[1]


def test_torques_are_those_of_the_table():
    model = scene("puma_hold", motors=False)
    for k in range(1, 7):
        signal = model.drives[f"motor{k}"].signal
        told = np.array([signal.value(t) for t in TABLE["t"]])
        # Where they jump, the table has the torques before, and ours come from the right.
        smooth = ~np.isin(np.round(TABLE["t"], 9), HOLD)
        np.testing.assert_allclose(told[smooth], TORQUES[smooth, k - 1], rtol=0.0, atol=2e-8)


def test_torques_jump_where_the_hand_takes_hold_and_lets_go():
    times, torques = manoeuvre(motors=False)
    for time in HOLD:
        before, after = torques[times == time]
        row = round(100 * time)
        np.testing.assert_allclose(before, TORQUES[row], atol=1e-10)
        assert np.abs(after - before).max() > 1.0


@pytest.mark.parametrize("grip", [True, False])
def test_the_free_phase_moves_as_the_table_says(grip):
    record = new(motors=False, grip=grip).run(2.0, every=0.01)
    # Interpolated torques are off by 1e-8 N m where inertias are some 0.1 kg m²; steps of fourth order are better.
    assert off(record, 0.0).max() < 1e-6


def test_each_phase_moves_as_the_table_says(phases):
    first, held, last = phases
    assert off(first, 0.0).max() < FREE_GROWTH * 3 * PRINTED < 1e-6
    assert off(last, 5.99).max() < 1e-6
    assert off(held, 1.99).max() < HELD_GROWTH * 3 * PRINTED
    assert off(held, 1.99)[:200].max() < 1e-7


def test_the_tool_stays_where_it_is_held(phases):
    held = phases[1]
    tool = np.column_stack([held[f"tool.position.{axis}"] for axis in "xyz"])[1:]
    assert np.abs(tool - tool[0]).max() < 1e-12
    np.testing.assert_allclose(tool[0], (0.6118, 0.3725, 0.3581), atol=5e-5)


def test_the_ground_pushes_as_the_table_says(phases):
    """Force of the hand on the ground, until errors have grown."""
    held = phases[1]
    rows = slice(201, 401)
    force = np.column_stack([held[f"grip.force.{axis}"] for axis in "xyz"])[2:202]
    wanted = np.column_stack([TABLE[f"l{axis}"] for axis in "xyz"])[rows]
    np.testing.assert_allclose(force, -wanted, rtol=0.0, atol=1e-5)  # 1e-7 rad, at some 50 N and 100/s²


def test_taking_hold_at_rest_costs_nothing(course):
    sim, records = course
    attached, released = sim.changes
    assert (attached.joint, attached.attached, attached.time) == ("grip", True, 2.0)
    assert (released.joint, released.attached, released.time) == ("grip", False, 6.0)
    assert attached.energy == pytest.approx(0.0, abs=1e-10)
    assert np.abs(records[1]["energy.balance"]).max() < 1e-6


def test_with_motors_the_tool_comes_back():
    """The same motion by other torques, all three phases in one go, of fourth order whatever switches on the way."""
    ends = []
    for dt in (1e-2, 5e-3):
        record = new(dt).run(DURATION, every=0.01)
        tool = np.column_stack([record[f"tool.position.{axis}"] for axis in "xyz"])
        ends.append(np.linalg.norm(tool[-1] - tool[0]))
        assert np.abs(record["energy.balance"]).max() < 1e-6
    assert ends[0] < 1e-4
    assert 12.0 < ends[0] / ends[1] < 20.0
    record = new(1e-3).run(DURATION, every=0.01)
    assert (
        off(record, 0.0).max() < 1e-7
    )  # cubics of the tables are off by some 1e-10 of the torques, grown by a thousand
