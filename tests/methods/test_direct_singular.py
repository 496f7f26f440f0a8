"""The direct solver through singular positions, and with equations that repeat others."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.references import exact_four_bar, reference
from helpers.runs import CLOSED, apart, direct, end_of, explicit
from linkwork import Cylindrical, Hinge, Spherical, scene
from linkwork.scenes import bennett, scissor_lift

# --- through singular positions ---


def leaning(angle, rate=1.0):
    """Two four-bars with all their joints turned so that they are parallelograms at an angle from upright."""
    model = scene("double_four_bar", rate=rate)
    turns = {"A0": -angle, "A1": -angle, "A2": -angle}
    for k in range(2):
        turns |= {f"B{k}_out": angle, f"B{k + 1}_in": -angle}
    for name, turn in turns.items():
        model.joints[name] = dataclasses.replace(model.joints[name], position=turn)
    return model


def check_four_bar(record, angle, rate, place=1e-6, energy=1e-5):
    """Closed, on its branch, with its energy, and where it should be: through ten singular positions in 10 s."""
    assert record.info["worst_gap_m"] <= CLOSED
    for k in (1, 2):  # on the other branch a link turns back
        np.testing.assert_allclose(record[f"A{k}.angle"], record["A0.angle"], atol=1e-9)
    assert record.energy_drift <= energy
    phi, phidot = exact_four_bar(angle, rate, record.time[-1])
    assert -record["A0.angle"][-1] == pytest.approx(phi, abs=place)
    assert -record["A0.angle_rate"][-1] == pytest.approx(phidot, abs=10 * place)
    x, y = end_of(record, "link0", 1.0)
    assert np.hypot(x[-1] - math.sin(phi), y[-1] - math.cos(phi)) <= place


@pytest.mark.parametrize(
    ("method", "integrator"),
    [
        ("simgc", "adams"),
        ("simgc", "rk4"),
        ("simmc", "adams"),
        ("components", "adams"),
        ("components", "rk4"),
    ],
)
def test_double_four_bar_passes_ten_singular_positions(method, integrator):
    record = direct(scene("double_four_bar"), method, integrator=integrator).run(
        10.0, every=1e-3, reactions=False
    )
    assert record.info["steps_unsettled"] == 0
    check_four_bar(record, 0.0, 1.0)
    exact = reference("a02_nfourbar_N2_ref.csv")
    rows = np.searchsorted(record.time, exact["t"] - 1e-9)
    x, y = end_of(record, "link0", 1.0)
    np.testing.assert_allclose(x[rows], exact["x"], atol=1e-6)
    np.testing.assert_allclose(y[rows], exact["y"], atol=1e-6)
    np.testing.assert_allclose(-record["A0.angle"][rows], exact["phi"], atol=1e-6)
    np.testing.assert_allclose(-record["A0.angle_rate"][rows], exact["phidot"], atol=1e-5)


SLIGHTLY = [sign * 10.0**-k for k in range(4, 10) for sign in (1, -1)]


# At -1e-4 a step ends within 1e-6 rad of a singular position: there it is of lower order.
@explicit
@pytest.mark.parametrize("by", SLIGHTLY)
def test_double_four_bar_stays_on_its_branch_from_any_angle(method, by):
    record = direct(leaning(by), method, integrator="adams").run(10.0, reactions=False)
    check_four_bar(record, by, 1.0, place=1e-5 if by == -1e-4 else 1e-6)


@explicit
@pytest.mark.parametrize("by", SLIGHTLY)
def test_double_four_bar_stays_on_its_branch_at_any_rate(method, by):
    record = direct(scene("double_four_bar", rate=1.0 + by), method, integrator="adams").run(
        10.0, reactions=False
    )
    check_four_bar(record, 0.0, 1.0 + by)


# Among a hundred random ones, those that met a singular position most closely at a step or a stage of some
# integrator.
NASTY = (0.9016300219378172, 1.4378674912416045, 1.7772222111663325, 2.5637195334838894, 2.567063323891803)


@pytest.mark.parametrize(
    ("method", "integrator"),
    [
        ("simgc", "adams"),
        ("simgc", "rk4"),
        ("simgc", "adaptive"),
        ("simmc", "adams"),
        ("simmc", "rk4"),
        ("simmc", "adaptive"),
        ("components", "adams"),
        ("components", "rk4"),
        ("components", "adaptive"),
    ],
)
def test_double_four_bar_keeps_its_energy_at_nasty_rates(method, integrator):
    for rate in NASTY:
        record = direct(scene("double_four_bar", rate=rate), method, integrator=integrator).run(
            10.0, reactions=False
        )
        assert record.energy_drift <= 1e-4, rate


@pytest.mark.parametrize(
    ("method", "duration"),
    [("simgc", 2.0), pytest.param("simgc", 20.0, marks=pytest.mark.slow), ("simmc", 0.5)],
)
def test_forty_four_bars_follow_their_reference(method, duration):
    exact = reference("a02_nfourbar_N40_ref.csv")
    record = direct(scene("n_four_bar"), method).run(duration, reactions=False)
    assert record.info["worst_gap_m"] <= CLOSED
    times = exact["t"][(exact["t"] <= duration + 1e-9) & (np.abs(exact["t"] * 100 % 1.0) < 1e-6)]
    there, here = np.searchsorted(exact["t"], times - 1e-9), np.searchsorted(record.time, times - 1e-9)
    # Fourth order at rates of 7 rad/s, as for two of them; twenty singular positions later 1e-6 is left.
    np.testing.assert_allclose(-record["A0.angle"][here], exact["phi"][there], atol=1e-6)
    np.testing.assert_allclose(-record["A0.angle_rate"][here], exact["phidot"][there], atol=1e-5)
    np.testing.assert_allclose(record["A40.angle"], record["A0.angle"], atol=1e-9)


# --- redundant equations ---


def freed(model, spherical, cylindrical):
    """The same linkage with hinges replaced by joints that let go of what other joints hold already."""
    for names, kind in ((spherical, Spherical), (cylindrical, Cylindrical)):
        for name in names:
            joint = model.joints[name]
            model.joints[name] = kind(name, joint.a, joint.b, at=joint.at, axis=joint.axis)
    return model


# A loop of hinges holds three equations too many; a ball in place of one hinge lets go of two, a cylinder of one.
FREED = [
    ("peaucellier", ("OA_pin", "OB_pin", "D"), ("A_in", "B_in", "A_out"), 9),
    ("bennett", ("joint2",), ("joint3",), 3),
    ("crank_rocker", ("wrist",), ("rocker",), 3),
    ("mass_ratio_four_bar", ("wrist",), ("rocker",), 3),
]


@explicit
@pytest.mark.parametrize(("name", "spherical", "cylindrical", "redundant"), FREED, ids=[c[0] for c in FREED])
def test_redundant_equations_change_nothing(method, name, spherical, cylindrical, redundant):
    record = direct(scene(name), method, integrator="adams").run(1.0)
    without = direct(freed(scene(name), spherical, cylindrical), method, integrator="adams").run(1.0)
    assert len(record.info["redundant_rows"]) == redundant
    assert without.info["redundant_rows"] == []
    # The same motion; where other joints are cut, or motors are stiff, errors of fourth and first order differ.
    assert apart(record, without) < 1e-8
    joints = {row.partition(":")[0] for row in record.info["redundant_rows"]}
    assert joints <= set(scene(name).joints)
    assert joints <= set(record.info["reactions_indeterminate"])
    assert without.info["reactions_indeterminate"] == []


@pytest.mark.parametrize(("method", "dt"), [("simgc", 1e-3), ("simmc", 1e-3), ("components", 5e-4)])
def test_redundant_equations_change_nothing_for_runge_kutta(method, dt):
    """Stages of Runge-Kutta lie off the constraints, where the equations of a Bennett linkage are independent.

    Without redundant equations it passes a singular position after 0.62 s, where such stages say little: so that one
    is stepped by Adams, which evaluates on the constraints alone, with an error far below the bound (4e-11 m).
    """
    name, spherical, cylindrical, _ = FREED[1]
    record = direct(scene(name), method, integrator="rk4", dt=dt).run(1.0, every=0.05)
    freely = freed(scene(name), spherical, cylindrical)
    without = direct(freely, "simgc", integrator="adams", dt=2.5e-4).run(1.0, every=0.05)
    assert apart(record, without) < 1e-8


@explicit
@pytest.mark.parametrize(
    ("name", "joint"),
    [
        ("crank_rocker", "rocker"),
        ("crank_rocker", "crank"),
        ("peaucellier", "D"),
        ("bennett", "joint3"),
        ("slidercrank3d", "crank"),
        ("chain5", "joint1"),
    ],
)
def test_a_doubled_hinge_changes_nothing(method, name, joint):
    single = direct(scene(name), method).run(0.5)
    model = scene(name)
    first = model.joints[joint]
    axis = first.axis or (0.0, 0.0, 1.0)
    model.add(Hinge("double", first.a, first.b, at=tuple(np.add(first.at, 0.1 * np.array(axis))), axis=axis))
    doubled = direct(model, method).run(0.5)
    assert apart(single, doubled) < 1e-8
    assert len(doubled.info["redundant_rows"]) == len(single.info["redundant_rows"]) + 5
    assert {joint, "double"} <= set(doubled.info["reactions_indeterminate"])


@explicit
@pytest.mark.parametrize(("stages", "redundant"), [(1, 6), (3, 12), (10, 33)])
def test_scissor_lift_rises_as_its_bars_say(method, stages, redundant):
    record = direct(scene("scissor_lift", stages=stages), method).run(1.0, reactions=False)
    assert len(record.info["redundant_rows"]) == redundant
    assert record.info["worst_gap_m"] <= CLOSED
    width = scissor_lift.BAR * math.cos(math.radians(25.0))
    angle = np.arccos((width + record["guide.travel"]) / scissor_lift.BAR)
    assert np.ptp(angle) > 0.01
    height = stages * scissor_lift.BAR * np.sin(angle)
    np.testing.assert_allclose(record["platform.position.z"], height, atol=1e-11)


def test_bennett_turns_over_its_straight_poses():
    # All links of Bennett's loop lie in one line at θ1 = 0 and π: there even its own hinges do not hold it.
    record = direct(scene("bennett", rate=12.0), "simgc").run(3.0, reactions=False)
    assert np.ptp(record["joint1.angle"]) > 2 * np.pi
    assert record.info["worst_gap_m"] <= 1e-11
    assert record.energy_drift < 1e-4
    start = bennett.angles(math.radians(70.0))
    first, second = (0.5 * (start[k] + record[f"joint{k + 1}.angle"]) for k in range(2))
    # tan(θ1/2) tan(θ2/2) is the same in every pose.
    left, right = np.sin(first) * np.sin(second), bennett.PRODUCT * np.cos(first) * np.cos(second)
    np.testing.assert_allclose(left, right, atol=1e-10)
