"""Implicit steps: order, gaps, energy and singular positions, against exact motions and the direct solver."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.one_dof import M, arm, block
from helpers.references import PULL
from helpers.runs import CLOSED, apart, compiled_and_plain, orders
from linkwork import Simulation, SimulationError, scene
from linkwork.engine.steppers.samples import Samples
from linkwork.fuzz.random_mechanisms import build, random_plan
from linkwork.fuzz.random_plan import RUBBER, STATEFUL, SWITCHED
from linkwork.mechanism.kinematics import Kinematics

METHODS = ("hybrid", "topological", "global")
methods = pytest.mark.parametrize("method", METHODS)
SMOOTH = (
    "bennett", "chain5", "crank_rocker", "double_four_bar", "excavator", "iltis_quarter", "mass_ratio_four_bar",
    "peaucellier", "puma560", "puma_hold", "scissor_lift", "slidercrank3d",
)  # fmt: skip
"""Scenes without corners: what acts there is as smooth as the order needs."""
STILL = ("a01_pendulum", "incline_slider", "spherical_pendulum", "torsion_bar", "tumbling_body")
"""Scenes whose bodies' origins stay or move uniformly accelerated."""
LOOPS = ("bennett", "crank_rocker", "excavator", "iltis_quarter", "peaucellier", "slidercrank3d")


def smooth_mechanism(seed, **options):
    """A random mechanism that implicit methods take, moving: nothing touches, switches, strikes or rubs.

    Elements with states are left out, too: flanks of free play have corners, controllers work in samples.
    """
    plan = random_plan(seed, decades=2.0, **options)
    left_out = ("limits", "friction", "velocity_servo", *STATEFUL, *SWITCHED, RUBBER)
    extras = tuple(extra for extra in plan.extras if extra.kind not in left_out)
    return build(dataclasses.replace(plan, extras=extras, parts=1, touching=False))


# --- order ---


@pytest.fixture(scope="module")
def exact():
    """Positions by the direct solver's adaptive steps, kept."""
    kept = {}

    def find(name, model, duration):
        if name not in kept:
            simulation = Simulation(model, method="simgc", tolerance=1e-12)
            kept[name] = simulation.run(duration, every=duration / 10, reactions=False)
        return kept[name]

    return find


def errors(model, method, reference, steps, **options):
    duration = float(reference.time[-1])
    found = []
    for dt in steps:
        record = Simulation(model, method=method, dt=dt, **options).run(
            duration, every=duration / 10, reactions=False
        )
        assert record.info["worst_gap_m"] < CLOSED
        assert record.info["steps_halved"] == 0
        found.append(apart(record, reference))
    return found


@methods
@pytest.mark.parametrize("name", SMOOTH)
def test_steps_are_of_second_order(name, method, exact):
    model = scene(name)
    found = errors(model, method, exact(name, model, 0.4), (1e-3, 5e-4))
    assert orders(found)[-1] == pytest.approx(2.0, abs=0.1)


@methods
@pytest.mark.parametrize(
    "name", ["a01_pendulum", "incline_slider", "spherical_pendulum", "torsion_bar", "tumbling_body"]
)
def test_motions_that_leave_body_frames_where_they_are(name, method, exact):
    """Of all that these scenes move, positions are known to rounding; turning is of second order."""
    model = scene(name)
    reference = exact(name, model, 0.4)
    found = []
    for dt in (2e-3, 1e-3):
        record = Simulation(model, method=method, dt=dt).run(0.4, every=0.04)
        assert apart(record, reference) < 1e-12
        found.append(apart(record, reference, "rotations"))
    if found[1] > 1e-12:
        assert orders(found)[0] == pytest.approx(2.0, abs=0.1)


@methods
def test_a_vehicle_on_a_bump_moves_as_the_direct_solver_has_it(method, exact):
    """Dampers have corners and tyres leave the ground: the order is that of the smooth parts, once steps are short."""
    model = scene("iltis")
    found = errors(model, method, exact("iltis", model, 0.2), (2e-3, 1e-3, 5e-4))
    assert orders(found)[-1] > 1.8
    assert found[-1] < 1e-3


@methods
@pytest.mark.parametrize("seed", range(12))
def test_random_mechanisms_move_as_the_direct_solver_has_it(seed, method, exact):
    """Springs are slower than 20 rad/s and rates below some 10 rad/s: errors (h w)² t w/12 of motions of a metre."""
    model = smooth_mechanism(seed)
    reference = exact(seed, model, 0.2)
    found = errors(model, method, reference, (2e-3, 1e-3))
    assert found[1] < 4.0 * (1e-3 * 20.0) ** 2 / 12.0
    if found[1] > 1e-10:
        assert orders(found)[0] == pytest.approx(2.0, abs=0.3)


@methods
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 1.0])
def test_damped_steps_are_of_second_order_too(rho, method, exact):
    model = scene("bennett")
    reference = exact("bennett", model, 0.4)
    found = errors(model, method, reference, (2e-3, 1e-3), rho=rho)
    assert orders(found)[-1] == pytest.approx(2.0, abs=0.1)


# --- constraints ---


@methods
@pytest.mark.parametrize(
    "name", ["bennett", "crank_rocker", "excavator", "iltis_quarter", "peaucellier", "slidercrank3d"]
)
def test_positions_rates_and_accelerations_are_on_the_constraints(name, method):
    simulation = Simulation(scene(name), method=method, dt=5e-3)
    samples = Samples(*simulation.advance(range(41)))
    kin = Kinematics(simulation.system)
    for q, v, a in zip(samples.q, samples.v, samples.a, strict=True):
        kin.place(q, v)
        J, bias = kin.jacobian(kin.hold), kin.bias()[kin.hold]
        assert np.abs(kin.gaps[kin.hold]).max() < CLOSED
        # Rounding of sums over some ten unknowns.
        assert np.abs(J @ v).max() < 1e-13 * max(1.0, np.abs(v).max()) * len(v)
        assert np.abs(J @ a + bias).max() < 1e-13 * max(1.0, np.abs(a).max(), np.abs(bias).max()) * len(v)


# --- the double four-bar: one degree of freedom, ten singular positions ---


def trapezoidal_four_bar(h, duration=10.0):
    """Angles and largest loss of energy of the trapezoidal rule on φ'' = PULL sin φ."""
    angle, rate, angles, energies = 0.0, 1.0, [0.0], []
    for _ in range(round(duration / h)):
        energies.append(1.5 * rate**2 + 3.0 * PULL * math.cos(angle))
        pull, end, later = PULL * math.sin(angle), angle + h * rate, rate
        for _ in range(60):
            later = rate + 0.5 * h * (pull + PULL * math.sin(end))
            end = angle + 0.5 * h * (rate + later)
        angle, rate = end, later
        angles.append(angle)
    energies.append(1.5 * rate**2 + 3.0 * PULL * math.cos(angle))
    return np.array(angles), min(energies) - energies[0]


@pytest.mark.parametrize(("h", "told"), [(0.01, -0.0137), (0.03, -0.1228), (0.05, -0.3403), (0.1, -1.3428)])
def test_hybrid_steps_are_those_of_the_one_equation_through_singular_positions(h, told):
    duration = h * math.floor(10.0 / h + 1e-9)
    record = Simulation(scene("double_four_bar"), method="hybrid", dt=h).run(duration)
    angles, loss = trapezoidal_four_bar(h, duration)
    assert record["energy.balance"].min() == pytest.approx(told, abs=1e-4)
    assert loss == pytest.approx(told, abs=1e-4)
    # In a singular position a gap of rounding, 1e-14, lets links turn by its root; a slow passage of the upright
    # position, at a seventh of the largest rate, lets errors grow a hundredfold over the turns.
    np.testing.assert_allclose(record["A0.angle"], -angles, atol=1e-5)


@pytest.mark.parametrize("h", [0.01, 0.03])
def test_global_steps_pass_all_singular_positions(h):
    duration = h * math.floor(10.0 / h + 1e-9)
    record = Simulation(scene("double_four_bar"), method="global", dt=h).run(duration)
    angle = record["A0.angle"]
    assert (np.diff(angle) < 0.0).all()
    assert angle[-1] < -9.5 * math.pi  # the links lie on one line at every odd multiple of half a turn
    for name in ("A1.angle", "A2.angle"):  # links stay parallel
        np.testing.assert_allclose(record[name], angle, atol=1e-6)


def test_topological_steps_stop_before_a_singular_position():
    with pytest.raises(SimulationError) as caught:
        Simulation(scene("double_four_bar"), method="topological", dt=0.01).run(10.0)
    text = str(caught.value)
    assert "independent coordinates" in text
    assert any(f"'{joint}'" in text for joint in scene("double_four_bar").joints)
    record = caught.value.record
    # The links first lie on one line after a quarter of a turn.
    assert -math.pi / 2 < record["A0.angle"][-1] < -1.4
    assert text.startswith(f"t = {caught.value.time:.6g} s")
    # Until then it is as good as the others.
    other = Simulation(scene("double_four_bar"), method="hybrid", dt=0.01).run(float(record.time[-1]))
    np.testing.assert_allclose(record["A0.angle"], other["A0.angle"], atol=1e-9)


# --- stiffness and numerical damping ---


def damped_oscillator(w, h, rho, steps, start):
    """x of the generalized-α method on x'' = -w² x, in the form of Chung and Hulbert."""
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 - am + af
    beta = 0.25 * (1.0 - am + af) ** 2
    x, v, a = start, 0.0, -(w**2) * start
    found = [x]
    for _ in range(steps):
        known = x + h * v + h * h * (0.5 - beta) * a
        later = (-(w**2) * ((1.0 - af) * known + af * x) - am * a) / (
            1.0 - am + (1.0 - af) * w**2 * beta * h * h
        )
        v += h * ((1.0 - gamma) * a + gamma * later)
        x, a = known + beta * h * h * later, later
        found.append(x)
    return np.array(found)


@methods
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 1.0])
def test_a_stiff_oscillator_is_damped_as_in_theory(rho, method):
    w, h, steps = 1e5, 1e-2, 40
    model = block(spring=M * w**2, position=1e-3)
    record = Simulation(model, method=method, dt=h, rho=rho).run(steps * h)
    expected = damped_oscillator(w, h, rho, steps, 1e-3)
    np.testing.assert_allclose(record["rail.travel"], expected, atol=1e-9 * 1e-3 * steps**2)
    # Three equal roots -rho at infinity, which 1/(w h)² beside them parts by its third root; powers of them with a
    # polynomial of second degree.
    radius = rho + 2.0 * (w * h) ** (-2.0 / 3.0)
    assert np.abs(record["rail.travel"][-1]) <= 1e-3 * (1 + steps) ** 2 * radius ** (steps - 2) + 1e-15


@methods
def test_large_steps_of_crank_rocker_are_stable(method):
    record = Simulation(scene("crank_rocker"), method=method, dt=1e-2).run(5.0)
    assert record.info["worst_gap_m"] < CLOSED
    assert record.info["steps_halved"] == 0
    exact = Simulation(scene("crank_rocker"), method="simgc", tolerance=1e-10).run(5.0, every=1e-2)
    assert apart(record, exact) < 1e-2


@methods
@pytest.mark.parametrize("exponent", [4, 8])
def test_a_stiff_arm_stays_where_it_is_held(exponent, method):
    """A servo a thousand times too stiff for explicit steps holds a bar; the bar sags by its weight and no more."""
    stiffness = 10.0**exponent
    model = arm(spring=stiffness, damping=stiffness * 1e-2)
    record = Simulation(model, method=method, dt=1e-2).run(1.0)
    sag = -2.0 * 9.81 * 0.3 / stiffness
    assert record["pin.angle"][-1] == pytest.approx(sag, rel=1e-4)
    assert np.abs(record["pin.angle"]).max() < 2.1 * abs(sag)


# --- plain Python ---

PLAIN = """
from linkwork import Simulation, scene
for method in ("hybrid", "topological", "global"):
    simulation = Simulation(scene("slidercrank3d"), method=method, dt=0.01)
    simulation.step(2)
    print(*(repr(float(x)) for x in simulation.q))
"""


def test_implicit_steps_also_run_as_plain_python():
    for compiled, plain in zip(*compiled_and_plain(PLAIN), strict=True):
        np.testing.assert_allclose(compiled, plain, atol=1e-12)
