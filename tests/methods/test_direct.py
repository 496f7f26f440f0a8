"""The direct solver against exact and published solutions, in generalized (simgc) and maximal coordinates (simmc),
and beside it component-based simulation, which promises the same.

Every step ends on the constraints: gaps are those of rounding, some 1e-16 of lengths of a metre and a few operations.
Between events the motion converges at the order of the integrator: 4 for "adams" and "rk4", 1 for "euler", and
"adaptive" follows its tolerance. Singular positions are passed in test_direct_singular.py, all scenes run in
test_direct_agreement.py. What happens at events is tested in test_direct_events.py, test_direct_friction.py and
test_direct_drives.py, states, reports and refusals in test_direct_state.py, limits, friction and drives of single
joints beside those of impulses in test_drives.py.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.references import at, exact_four_bar, reference
from helpers.runs import CLOSED, apart, compiled_and_plain, direct, end_of, explicit, orders
from linkwork import Body, Hinge, Model, Simulation, Slider, scene
from linkwork.engine.elements import PositionServo, VelocityServo
from linkwork.scenes.mass_ratio_four_bar import COUPLER, RELEASE, ROD, STEEL, equilibrium, slope, velocities
from linkwork.scenes.peaucellier import LINE, SIDE

fixed = pytest.mark.parametrize("integrator", ["adams", "rk4"])


# --- Peaucellier-Lipkin ---


@explicit
@pytest.mark.parametrize("duration", [5.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_peaucellier_stays_closed_and_draws_a_straight_line(method, duration):
    record = direct(scene("peaucellier"), method).run(duration, every=1e-3, reactions=False)
    assert record.info["worst_gap_m"] <= CLOSED
    for rod in ("AD", "BD"):
        x, y = end_of(record, rod, SIDE)
        assert np.abs(x - LINE).max() <= CLOSED
        assert np.ptp(y) > 1.0
    assert record.info["steps_unsettled"] == 0
    assert record.info["warnings"] == []


@explicit
@fixed
def test_peaucellier_follows_its_reference(method, integrator):
    exact = at(reference("peaucellier_ref.csv"), 1.0)
    record = direct(scene("peaucellier"), method, integrator=integrator).run(1.0)
    # Rates of some rad/s: (h ω)⁴ is 1e-11 and more at 1 ms; the reference is good to 4e-11 rad.
    assert np.pi / 3 + record["crank.angle"][-1] == pytest.approx(exact["phi"], abs=2e-10)
    assert record["crank.angle_rate"][-1] == pytest.approx(exact["phid"], abs=1e-9)


# --- light links, heavy load ---


@explicit
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_mass_ratios_do_not_matter(method, ratio):
    drifts = []
    for h in (4e-3, 2e-3, 1e-3):
        model = scene("mass_ratio_four_bar", ratio=ratio)
        record = direct(model, method, integrator="adams", dt=h).run(3.0, reactions=False)
        assert record.info["worst_gap_m"] <= CLOSED
        drifts.append(record.energy_drift)
    # Fourth order; at 1e6 the load weighs 10 t, and 1e-16 of its 1e5 J is rounding that 3000 steps add up.
    np.testing.assert_allclose(orders(drifts), 4.0, atol=0.3)


def exact_load(ratio, duration):
    """Turn of the crank from its start: one equation of motion, from positions of the pins in closed form."""
    load = ratio * ROD
    ball = 0.4 * load * (3 * load / (4 * math.pi * STEEL)) ** (2 / 3)

    def inertia(angle):
        """Twice the kinetic energy at unit rate: rods of which a third of the mass moves at each end and between."""
        (bx, by), (cx, cy) = velocities(angle)
        rods = bx**2 + by**2 + (bx**2 + by**2 + bx * cx + by * cy + cx**2 + cy**2) + cx**2 + cy**2
        spin = math.hypot(cx - bx, cy - by) / COUPLER
        return ROD / 3 * rods + load * (cx**2 + cy**2) + ball * spin**2

    def motion(t, y):
        angle, rate = y
        h = 1e-3
        near, far = inertia(angle + h) - inertia(angle - h), inertia(angle + 2 * h) - inertia(angle - 2 * h)
        growth = (8 * near - far) / (12 * h)
        return rate, -(slope(angle, ratio) + 0.5 * growth * rate**2) / inertia(angle)

    start = equilibrium(ratio) + RELEASE
    found = solve_ivp(motion, (0.0, duration), (start, 0.0), method="DOP853", rtol=1e-11, atol=1e-11)
    return found.y[0, -1] - start, found.y[1, -1]


@explicit
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_a_heavy_load_swings_as_its_equation_says(method, ratio):
    record = direct(scene("mass_ratio_four_bar", ratio=ratio), method).run(2.0, reactions=False)
    angle, rate = exact_load(ratio, 2.0)
    # (h ω)⁴ at 5 rad/s is 6e-10; differences of the inertia are good to 1e-10.
    assert record["crank.angle"][-1] == pytest.approx(angle, abs=1e-8)
    assert record["crank.angle_rate"][-1] == pytest.approx(rate, abs=1e-7)


@explicit
def test_a_mass_ratio_is_no_singular_position(method):
    record = direct(scene("mass_ratio_four_bar", ratio=1e6), method).run(1.0, reactions=False)
    assert record.info["warnings"] == []


# --- order ---


def crank_errors(method, steps, **options):
    """Largest errors of the spatial slider-crank over half a second."""
    exact = reference("slidercrank3d_ref.csv")
    errors = []
    for h in steps:
        record = direct(scene("slidercrank3d"), method, dt=h, **options).run(0.5, every=0.05, reactions=False)
        rows = np.searchsorted(exact["t"], record.time - 1e-9)
        found = {
            "theta": record["crank.angle"],
            "s": 0.2 + record["guide.travel"],
            "eta": record["cross.angle_x"] + exact["eta"][0],
        }
        errors.append(max(np.abs(found[name] - exact[name][rows]).max() for name in found))
    return errors


@explicit
@pytest.mark.parametrize(
    ("integrator", "order", "step"),
    [("adams", 4, 2.5e-4), ("rk4", 4, 1e-3), ("euler", 1, 2.5e-4)],
    ids=["adams", "rk4", "euler"],
)
def test_slider_crank_converges_at_the_order_of_the_integrator(method, integrator, order, step):
    # Rates reach 30 rad/s and change within 50 ms: steps are small enough for the leading term of the error.
    errors = crank_errors(method, (step, step / 2, step / 4), integrator=integrator)
    np.testing.assert_allclose(orders(errors), order, atol=0.6 if order == 4 else 0.2)
    assert np.mean(orders(errors)) == pytest.approx(order, abs=0.35 if order == 4 else 0.1)


@explicit
def test_slider_crank_follows_the_tolerance(method):
    exact = reference("slidercrank3d_ref.csv")
    assert exact["t"][-1] >= 0.5
    tolerances = (1e-6, 1e-8, 1e-10, 1e-12)
    errors = [crank_errors(method, [1e-3], tolerance=tolerance)[0] for tolerance in tolerances]
    # Local errors of a few hundred steps; the crank does not amplify them much.
    for tolerance, error in zip(tolerances, errors, strict=True):
        assert error <= 100 * tolerance
    assert np.polyfit(np.log(tolerances), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.25)


@explicit
@pytest.mark.parametrize(("integrator", "order"), [("adams", 4), ("rk4", 4), ("euler", 1)])
def test_double_four_bar_converges_at_the_order_of_the_integrator(method, integrator, order):
    exact = at(reference("a02_nfourbar_N2_ref.csv"), 0.5)
    steps = (8e-3, 4e-3, 2e-3) if order == 4 else (1e-3, 5e-4, 2.5e-4)
    errors = []
    for h in steps:
        simulation = direct(scene("double_four_bar"), method, dt=h, integrator=integrator)
        simulation.step(round(0.496 / h))
        phi, phidot = exact_four_bar(0.0, 1.0, simulation.time)
        found = simulation.run(0.008, every=0.008)
        errors.append(math.hypot(-found["A0.angle"][0] - phi, -found["A0.angle_rate"][0] - phidot))
    assert exact["phi"] == pytest.approx(exact_four_bar(0.0, 1.0, 0.5)[0], abs=1e-11)
    np.testing.assert_allclose(orders(errors), order, atol=0.3)


def test_the_default_is_adams_and_a_tolerance_is_adaptive():
    assert direct(scene("peaucellier"), "simgc").run(0.01).info["integrator"] == "adams"
    record = Simulation(scene("peaucellier"), tolerance=1e-9).run(0.01)
    assert (record.info["integrator"], record.info["tolerance"]) == ("adaptive", 1e-9)
    assert (record.info["method"], record.info["solver"]) == ("simgc", "direct")


@explicit
def test_samples_do_not_change_an_adaptive_run_beyond_its_tolerance(method):
    ends = []
    for every in (0.5, 0.01):
        simulation = direct(scene("slidercrank3d"), method, tolerance=1e-10)
        ends.append(simulation.run(0.5, every=every, reactions=False).array("coordinates")[-1])
    np.testing.assert_allclose(*ends, atol=1e-8)


@explicit
def test_a_step_can_be_changed_on_the_way(method):
    simulation = direct(scene("peaucellier"), method)
    for h in (1e-3, 5e-4, 2e-3, 1e-3):
        simulation.step(round(0.25 / h), dt=h)
    exact = at(reference("peaucellier_ref.csv"), 1.0)
    assert simulation.time == pytest.approx(1.0, abs=1e-12)
    # Fourth order: sixteen times the error of 1 ms in the part with steps of 2 ms.
    assert np.pi / 3 + simulation["crank.angle"] == pytest.approx(exact["phi"], abs=5e-9)


# --- free and viscous chains: other methods, the same motion ---


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_chains_move_as_their_tree_does(damping):
    tree = Simulation(scene("chain5", damping=damping), method="tree", integrator="rk4").run(1.0)
    for method in ("simgc", "simmc"):
        record = direct(scene("chain5", damping=damping), method, integrator="rk4").run(1.0)
        assert apart(tree, record) < 1e-7  # both of fourth order, 1e-8 at 1 ms


@explicit
def test_a_free_chain_keeps_its_energy(method):
    # 85 J in play, rates of 30 rad/s. Adams needs a quarter of the step of Runge-Kutta for that, and as many
    # evaluations.
    record = direct(scene("chain5"), method, dt=2.5e-4).run(10.0, reactions=False)
    assert record.energy_drift < 1e-5 * 85.0


# --- other corners ---


@explicit
def test_what_hangs_on_nothing_falls(method):
    model = Model("two")
    model.add(Body("free", at=(0.0, 0.0, 5.0), mass=1.0, inertia=(0.1, 0.2, 0.3)))
    model.add(Body("held", mass=1.0, inertia=(0.1, 0.2, 0.3)))
    model.add(Slider("rail", "ground", "held", axis=(1.0, 0.0, 0.0), velocity=0.5))
    record = direct(model, method).run(1.0)
    np.testing.assert_allclose(record["free.position.z"], 5.0 - 0.5 * 9.81 * record.time**2, atol=1e-12)
    np.testing.assert_allclose(record["held.position.x"], 0.5 * record.time, atol=1e-12)


@explicit
def test_a_structure_that_cannot_move_stands(method):
    model = Model("truss")
    model.add(Body("beam", at=(0.0, 0.0, 0.0), mass=3.0, com=(1.0, 0.0, 0.0), inertia=(0.1, 1.0, 1.0)))
    model.add(Hinge("left", "ground", "beam", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    model.add(Hinge("right", "ground", "beam", at=(2.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    record = direct(model, method).run(1.0)
    np.testing.assert_allclose(record["beam.position.z"], 0.0, atol=1e-15)
    # The ends carry half of the weight each; along x nothing tells how they pull, and they do not.
    np.testing.assert_allclose(record["left.force.z"], 1.5 * 9.81, rtol=1e-12)
    np.testing.assert_allclose(record["right.force.z"], 1.5 * 9.81, rtol=1e-12)
    np.testing.assert_allclose(record["left.force.x"], 0.0, atol=1e-12)
    assert set(record.info["reactions_indeterminate"]) == {"left", "right"}


@explicit
def test_a_servo_turns_a_linkage_through_its_singular_positions(method):
    # Driven at a constant rate: the angle is exact, whatever the loops do at their singular positions.
    model = scene("double_four_bar", rate=3.0)
    model.add(VelocityServo("motor", "A0", command=-3.0))
    record = direct(model, method).run(5.0, reactions=False)
    np.testing.assert_allclose(record["A0.angle"], -3.0 * record.time, atol=1e-9)
    np.testing.assert_allclose(record["A2.angle"], -3.0 * record.time, atol=1e-7)
    assert record.info["worst_gap_m"] <= CLOSED
    # What the motor supplies is what the links gain, 34 J of potential; at a singular position to second order.
    assert record.energy_drift < 1e-3


@explicit
def test_a_closing_joint_takes_a_servo(method):
    model = scene("double_four_bar", rate=0.0)
    model.gravity = (0.0, 0.0, 0.0)
    inertia, stiffness, damping = 3.0, 60.0, 6.0  # of all links about A2; 1.5 ω² is their energy
    model.add(PositionServo("servo", "A2", stiffness=stiffness, damping=damping, command=0.8))
    record = direct(model, method).run(2.0, reactions=False)
    decay = damping / (2 * inertia)
    swing = math.sqrt(stiffness / inertia - decay**2)
    t = record.time
    exact = 0.8 * (1 - np.exp(-decay * t) * (np.cos(swing * t) + decay / swing * np.sin(swing * t)))
    # Fourth order: (h ω)⁴ with ω = 4.5 rad/s is 4e-10.
    np.testing.assert_allclose(record["A2.angle"], exact, atol=1e-9)
    np.testing.assert_allclose(record["A0.angle"], exact, atol=1e-9)


PLAIN = """
from linkwork import Simulation, scene
for name, parameters in (("peaucellier", {"swing": 0.25}), ("chain", {"links": 2, "friction": 1.0})):
    for method in ("simgc", "simmc"):
        for integrator in ("adams", "adaptive", "euler"):
            simulation = Simulation(scene(name, **parameters), method=method, solver="direct", integrator=integrator)
            simulation.step(6 if integrator == "adams" else 2)
            print(*(repr(float(x)) for x in simulation.q))
"""


def test_the_direct_solver_also_runs_as_plain_python():
    lines = compiled_and_plain(PLAIN)
    assert len(lines[0]) == 12
    for compiled, plain in zip(*lines, strict=True):
        np.testing.assert_allclose(compiled, plain, atol=1e-12)
