"""Limits, dry friction and springs of joints as rows, against formulas that hold to the last digits.

How exact rows are is said in test_drives.py.
"""

import math

import numpy as np
import pytest

from helpers.one_dof import I, M, block, wheel
from helpers.rough_runs import H, run, simulate, solvers
from helpers.runs import both
from linkwork import Body, Model, Simulation, Spherical, Spring, Table, scene
from linkwork.engine.elements import TorqueSource
from linkwork.methods.contact import DEFAULT_ERP as ERP
from linkwork.scenes.hitch import LIMITS
from linkwork.scenes.torsion_bar import LENGTH, MASS

# --- limits ---


@both
@solvers
def test_a_limit_holds_under_load_and_lets_go_at_once(method, solver):
    # Pushed up by 10 N for a second, then down.
    push = TorqueSource(
        "push", "rail", command=10.0, signal=Table((0.0, 1.0, 1.0, 2.0), (1.0, 1.0, -1.0, -1.0))
    )
    record = run(block(push, limits=(-10.0, 0.1)), method, 1.5, solver=solver)
    travel, rate = record["rail.travel"], record["rail.travel_rate"]
    # A load that jumps has no moment at which it is zero: the direct solver lets go within 1e-10 of it.
    assert travel.max() <= 0.1 + (1e-12 if solver == "impulses" else 1e-10)
    resting = (record.time > 0.3) & (record.time < 1.0)
    np.testing.assert_allclose(travel[resting], 0.1, atol=1e-12)
    np.testing.assert_allclose(rate[resting], 0.0, atol=1e-12)
    # No pull: from the step in which the load turns it falls freely.
    falling = record.time > 1.001
    start = np.flatnonzero(falling)[0]
    elapsed = record.time[falling] - record.time[start]
    np.testing.assert_allclose(rate[falling], rate[start] - 10.0 / M * elapsed, atol=1e-10)


@both
@solvers
def test_a_coordinate_between_its_limits_feels_nothing(method, solver):
    free = run(wheel(velocity=1.0), method, 0.9, solver=solver)
    bounded = run(wheel(velocity=1.0, limits=(-1.0, 1.0)), method, 0.9, solver=solver)
    np.testing.assert_array_equal(bounded["pin.angle"], free["pin.angle"])


@both
@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_a_limit_gives_back_its_share_of_the_speed(method, share):
    record = run(block(gravity=10.0, limits=(-0.2, None), restitution=share), method, 1.0)
    rate = record["rail.travel_rate"]
    hits = np.flatnonzero((rate[:-1] < 0) & (rate[1:] > 0))
    assert len(hits) >= 1
    # One step earlier it still fell freely.
    np.testing.assert_allclose(rate[hits + 1], -share * rate[hits], rtol=1e-9)
    assert record["rail.travel"].min() >= -0.2 - 1e-9
    assert rate[hits[0]] == pytest.approx(-math.sqrt(2 * 10.0 * 0.2), abs=2 * H * 10.0)
    # What a hit takes: (1 - share²) of the kinetic energy.
    taken = 0.5 * M * ((1 - share**2) * rate[hits] ** 2).sum()
    assert record["energy.dissipated"][hits[-1] + 1] == pytest.approx(taken, abs=1e-9 + 2 * H * M * 10.0)


@both
@solvers
def test_a_bouncing_block_comes_to_rest_on_its_limit(method, solver):
    simulation = simulate(block(gravity=10.0, limits=(-0.05, None), restitution=0.5), method, solver=solver)
    record = simulation.run(2.0)
    resting = record.time > 1.0
    np.testing.assert_allclose(record["rail.travel"][resting], -0.05, atol=1e-9)
    np.testing.assert_allclose(record["rail.travel_rate"][resting], 0.0, atol=1e-9)


@both
@solvers
def test_equal_limits_lock_a_joint(method, solver):
    record = run(
        wheel(TorqueSource("push", "pin", command=5.0), limits=(0.0, 0.0)), method, 0.5, solver=solver
    )
    np.testing.assert_allclose(record["pin.angle"], 0.0, atol=1e-12)


@both
@solvers
def test_a_start_beyond_a_limit_is_led_back_without_speed(method, solver):
    record = run(wheel(position=0.3, limits=(-0.1, 0.2)), method, 0.1, solver=solver)
    assert record["pin.angle"][0] == pytest.approx(
        0.3 if solver == "impulses" else 0.2
    )  # at once, or in steps
    assert record["pin.angle"][-1] == pytest.approx(0.2, abs=1e-9)
    assert record["energy.kinetic"].max() < 1e-20


@both
@solvers
def test_limits_count_turns_from_where_a_joint_starts(method, solver):
    record = run(wheel(position=7.0, velocity=2.0, limits=(6.5, 7.5)), method, 1.0, solver=solver)
    assert record["pin.angle"][0] == pytest.approx(7.0)
    assert record["pin.angle"][-1] == pytest.approx(7.5, abs=1e-9)


def rotation_vectors(record, joint):
    q = np.stack([record[f"{joint}.q{c}"] for c in "wxyz"], axis=1)
    q *= np.sign(q[:, :1])
    sine = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    return q[:, 1:] * 2 * np.arctan2(sine, q[:, :1]) / np.maximum(sine, 1e-300)


@pytest.mark.parametrize(
    ("method", "dt"), [("simgc", 1e-3), ("simgc", 1e-2), ("simmc", 1e-3), ("simmc", 5e-3)]
)
@solvers
def test_a_hitch_stays_within_the_limits_of_each_axis(method, solver, dt):
    record = Simulation(scene("hitch"), method=method, solver=solver, dt=dt).run(3.0, every=0.01)
    phi = np.abs(rotation_vectors(record, "hitch"))
    # Impulses: of second order, h² ω²/(2 erp) with ω < 6 rad/s; in the coordinates of a tree limits are kept better.
    # The direct solver finds where a limit is met to 1e-10 and then stays on it; only where events crowd, it takes a
    # step by impulses, whose corrections at large steps move limits beside those that are hit.
    bound = 1e-6 if method == "simgc" else dt**2 * 36.0 / (2 * ERP)
    if solver == "direct":
        bound = 1e-9 if dt == 1e-3 else 1e-6
    assert (phi - LIMITS).max() < bound
    for axis in range(3):
        assert np.sum(phi[:, axis] > LIMITS[axis] - 1e-3) > 3


@both
def test_a_closing_joint_bounces_off_its_limit(method):
    model = scene("double_four_bar", rate=2.0)
    closing = Simulation(model).system.cuts[0]
    joint = model.joints[closing]
    start = type(joint)(
        joint.name,
        joint.a,
        joint.b,
        at=joint.at,
        velocity=joint.velocity,
        limits=(-0.5, 0.5),
        restitution=0.6,
    )
    model.joints[closing] = start
    record = run(model, method, 0.6, epsilon=1e-10, iterations=5000)
    angle, rate = record[f"{closing}.angle"], record[f"{closing}.angle_rate"]
    hit = np.flatnonzero(rate[:-1] * rate[1:] < 0)[0]
    assert np.abs(angle).max() < 0.5 + 1e-4
    # Rates after a step are those of a pose one step ahead of where the hit was reckoned.
    assert rate[hit + 1] == pytest.approx(-0.6 * rate[hit], rel=0.02)


# --- dry friction ---


@both
@solvers
@pytest.mark.parametrize("share", [0.5, -0.99])
def test_friction_holds_below_its_threshold(method, solver, share):
    push = TorqueSource("push", "pin", command=share * 2.0)
    simulation = simulate(wheel(push, friction=2.0), method, solver=solver)
    simulation.step(1000)
    if method == "simgc":
        assert (simulation.v == 0.0).all()
        assert (simulation.q == 0.0).all()
    else:
        assert np.abs(simulation.v).max() < 1e-12


@solvers
def test_friction_holds_a_whole_chain_still(solver):
    simulation = Simulation(scene("chain5", friction=200.0), method="simgc", solver=solver)
    simulation.step(1000)
    # The direct solver takes accelerations, some 1e-15 of those that gravity wants to give, and projects rates.
    rate, place = (0.0, 0.0) if solver == "impulses" else (1e-24, 1e-15)
    assert np.abs(simulation.v).max() <= rate
    assert np.abs(simulation.q - simulation.system.q0).max() <= place


@both
@solvers
def test_friction_is_overcome_by_exactly_its_excess(method, solver):
    push = TorqueSource("push", "pin", command=3.0)
    record = run(wheel(push, friction=2.0), method, 0.5, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], (3.0 - 2.0) / I * record.time, atol=1e-9)


@both
@solvers
def test_friction_stops_a_wheel_and_keeps_it(method, solver):
    simulation = simulate(wheel(velocity=1.0, friction=2.0), method, solver=solver)
    record = simulation.run(1.0, every=H)
    moving = np.maximum(1.0 - 2.0 / I * record.time, 0.0)
    np.testing.assert_allclose(record["pin.angle_rate"], moving, atol=1e-9)
    assert record["energy.dissipated"][-1] == pytest.approx(0.5 * I, abs=1e-9)
    if method == "simgc":
        assert simulation.v[0] == 0.0
    angle = record["pin.angle"][-1]
    simulation.step(5000)
    assert simulation.run(H)["pin.angle"][-1] == pytest.approx(angle, abs=0 if method == "simgc" else 1e-12)


@both
@solvers
@pytest.mark.parametrize(("share", "slides"), [(0.99, False), (1.01, True)])
def test_a_block_slides_down_when_its_weight_exceeds_friction(method, solver, share, slides):
    weight = M * 10.0
    record = run(block(gravity=10.0, friction=weight / share), method, 0.2, solver=solver)
    expected = -(weight - weight / share) / M * 0.2 if slides else 0.0
    assert record["rail.travel_rate"][-1] == pytest.approx(expected, abs=1e-9)


@both
@solvers
def test_friction_and_damping_of_a_ball_act_on_its_angular_velocity(method, solver):
    # Spun about its own z axis, turned away from the axes of the ground: nothing else moves.
    turned = (math.cos(0.5), 0.3, math.sqrt(math.sin(0.5) ** 2 - 0.09), 0.0)
    for fields, rate in (
        ({"friction": 0.4}, 2.0 - 0.4 / I * 0.5),
        ({"damping": 0.4}, 2.0 * math.exp(-0.4 / I * 0.5)),
    ):
        model = Model("top", gravity=(0.0, 0.0, 0.0))
        model.add(Body("top", mass=1.0, inertia=(0.3, 0.3, I)))
        model.add(Spherical("ball", "ground", "top", position=turned, velocity=(0.0, 0.0, 2.0), **fields))
        record = run(model, method, 0.5, solver=solver)
        # Implicit Euler of the damper: first order, h c/(2 I) of the decay.
        assert record["ball.wz"][-1] == pytest.approx(rate, rel=1e-3)
        assert abs(record["ball.wx"][-1]) + abs(record["ball.wy"][-1]) < 1e-9


# --- springs ---


@both
@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_a_soft_row_is_implicit_euler_to_the_last_digits(method, damping):
    k, rest = 400.0, 0.2
    record = run(wheel(spring=k, damping=damping, rest=rest, velocity=1.0), method, 0.5, dt=1e-2)
    q, v, h = 0.0, 1.0, 1e-2
    found = [(q, v)]
    for _ in range(50):
        v = (v - h * k / I * (q - rest)) / (1 + h * damping / I + h * h * k / I)
        q += h * v
        found.append((q, v))
    expected = np.array(found)
    np.testing.assert_allclose(record["pin.angle"], expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(record["pin.angle_rate"], expected[:, 1], atol=1e-9)


@both
@solvers
@pytest.mark.parametrize("exponent", range(3, 13))
def test_a_torsion_bar_is_stable_at_any_stiffness_and_becomes_rigid(method, solver, exponent):
    stiffness = 10.0**exponent
    load = MASS * 9.81 * LENGTH / 2
    record = run(scene("torsion_bar", stiffness=stiffness), method, 3.0, dt=1e-2, solver=solver)
    angle = record["bar.angle"]
    # An undamped bar released at rest swings to twice its static deflection, a damped one less.
    assert np.abs(angle).max() <= 2 * load / stiffness * (1 + 1e-9)
    sag = -load / stiffness
    for _ in range(10):
        sag = -load * math.cos(sag) / stiffness
    # In maximal coordinates an angle is read from rotation matrices: rounding of some 1e-16 a step.
    assert angle[-1] == pytest.approx(sag, rel=1e-6, abs=1e-14 if method == "simgc" else 1e-13)
    assert np.abs(record["energy.kinetic"][-1]) < 1e-9


@both
@solvers
@pytest.mark.parametrize("exponent", [3, 6, 9, 12])
def test_a_spring_between_points_is_stable_at_any_stiffness(method, solver, exponent):
    stiffness = 10.0**exponent
    model = block(gravity=10.0)
    model.add(
        Spring("spring", "ground", "block", at_a=(0.0, 0.0, 1.0), at_b=(0.0, 0.0, 0.0), stiffness=stiffness)
    )
    record = run(model, method, 20.0, dt=1e-2, solver=solver)
    weight = M * 10.0
    assert np.abs(record["rail.travel"]).max() <= 2 * weight / stiffness * (1 + 1e-9)
    if (
        solver == "direct" and exponent == 3
    ):  # slow enough to be followed: it swings on, as nothing takes its energy
        swing = math.sqrt(stiffness / M)
        expected = -weight / stiffness * (1 - np.cos(swing * record.time))
        # Fourth order, h⁴ ω⁴ ω t of the amplitude over the times of a fifth derivative, 251/720 of Adams-Bashforth.
        error = (1e-2 * swing) ** 4 * swing * 20.0 * weight / stiffness
        np.testing.assert_allclose(record["rail.travel"], expected, atol=251 / 720 * error)
        return
    assert record["rail.travel"][-1] == pytest.approx(-weight / stiffness, rel=1e-6, abs=1e-14)


@both
@solvers
def test_stiff_springs_hold_a_loop_together(method, solver):
    # The closing hinge is replaced by a spring as stiff as steel: the same motion as with the hinge.
    rigid = run(scene("crank_rocker"), method, 0.2, epsilon=1e-9, solver=solver)
    model = scene("crank_rocker")
    at = model.joints["rocker"].at
    del model.joints["rocker"]
    for offset in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)):
        anchor = tuple(np.add(at, offset))
        model.add(Spring(f"tie{offset[0]:.0f}", "ground", "lever", at_a=anchor, at_b=at, stiffness=1e8))
    soft = run(model, method, 0.2, epsilon=1e-9, solver=solver)
    np.testing.assert_allclose(soft["crank.angle"], rigid["crank.angle"], atol=2e-3)
