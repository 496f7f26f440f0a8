"""The direct solver against exact and published solutions, in generalized (simgc) and maximal coordinates (simmc),
and beside it component-based simulation, which promises the same.

Every step ends on the constraints: gaps are those of rounding, some 1e-16 of lengths of a metre and a few operations.
Between events the motion converges at the order of the integrator: 4 for "adams" and "rk4", 1 for "euler", and
"adaptive" follows its tolerance. What happens at events is tested in test_direct_events.py, states, reports and
refusals in test_direct_state.py, limits, friction and drives of single joints beside those of impulses in
test_drives.py.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.references import at, exact_four_bar, reference
from helpers.runs import CLOSED, SETTLED, apart, compiled_and_plain, direct, end_of, explicit, orders, touches
from linkwork import Body, Cylindrical, Hinge, Model, ModelError, Simulation, Slider, Spherical, scene
from linkwork.compile.compiler import compile_model
from linkwork.engine.elements import PositionServo, VelocityServo
from linkwork.methods.capabilities import LACKS
from linkwork.methods.features import features
from linkwork.scenes import bennett, excavator, find_scene, scene_names, scissor_lift
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


# --- formulations agree ---


def floats(name):
    """Whether all bodies of a scene have inertia about every axis, as maximal coordinates need."""
    try:
        compile_model(scene(name), rows=True, maximal=True)
    except ModelError:
        return False
    return True


FLOATING = [name for name in scene_names() if floats(name)]


@pytest.mark.parametrize("name", [name for name in FLOATING if touches(scene(name))])
def test_formulations_agree_on_scenes_with_contact(name):
    duration, dt = 0.2, find_scene(name).dt
    one, other = (
        direct(scene(name), method, dt=dt).run(duration, reactions=False) for method in ("simgc", "simmc")
    )
    # Steps are the same, of first order, and differ by what forces of contact may be off when they settle.
    assert apart(one, other) < 0.5 * SETTLED * duration**2
    assert one.info["worst_gap_m"] <= CLOSED
    assert (
        other.info["worst_gap_m"] < 1e-8
    )  # of joints: closed after each step, with what contact leaves of them


@pytest.mark.parametrize("name", [name for name in FLOATING if not touches(scene(name))])
def test_formulations_agree_on_all_scenes(name):
    # Until limits that hit each other open crowd into a step of first order, as the hitch's do at 0.18 s.
    duration = 0.15 if name == "hitch" else 0.2
    one, other = (direct(scene(name), method).run(duration, reactions=False) for method in ("simgc", "simmc"))
    assert apart(one, other) < 1e-8
    # Rates of the crank reach 30 rad/s: fourth order leaves more of them.
    assert apart(one, other, "rates") < 1e-6
    if features(scene(name).flatten(), LACKS["tree"]):
        assert one.info["worst_gap_m"] <= CLOSED
        assert other.info["worst_gap_m"] <= CLOSED


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


# --- excavator ---


@explicit
@pytest.mark.parametrize("hold", [False, True])
def test_excavator_keeps_its_pins_closed_under_full_load(method, hold):
    model = scene("excavator", hold=hold)
    record = direct(model, method).run(2.0 if hold else excavator.DURATION, reactions=False)
    assert record.info["worst_gap_m"] < 1e-11  # of an arm of 6 m; a micrometre would be a good pin
    assert record.info["warnings"] == []
    if hold:
        # The commands hold the arm by virtual work, which knows nothing of joints.
        for name in excavator.CYLINDERS:
            np.testing.assert_allclose(record[f"{name}_cylinder.travel"], 0.0, atol=1e-9)
        return
    assert record["energy.supplied"].max() > 2e4
    # Just before it dumps, the machine has stood still at 60° for most of a second.
    before = np.searchsorted(record.time, 12.9 - 1e-9)
    assert record["slew.angle"][before] == pytest.approx(math.radians(60.0), abs=1e-5)
    # Oil gives: cylinders follow their courses by a lag of 30 ms.
    start = excavator.cylinder_lengths(excavator.course(0.0)[0])
    for k, name in enumerate(excavator.CYLINDERS):
        wanted = np.array([excavator.cylinder_lengths(excavator.course(t)[0])[k] for t in record.time])
        fastest = np.abs(np.gradient(wanted, record.time)).max()
        off = record[f"{name}_cylinder.travel"] - (wanted - start[k])
        assert np.abs(off).max() < 1.5 * excavator.LAG * fastest


def test_the_ground_carries_the_excavator():
    model = scene("excavator", hold=True)
    record = direct(model, "simgc").run(0.1)
    weight = excavator.GRAVITY * sum(body.mass_properties.mass for body in model.bodies.values())
    np.testing.assert_allclose(record["tracks.force.z"], weight, rtol=1e-9)
    np.testing.assert_allclose(record["tracks.force.x"], 0.0, atol=1e-6 * weight)


# --- reactions ---


def planar_forces(record, model, k):
    """Forces in the pins and torque of the motor of a planar four-bar by Newton and Euler, from positions alone.

    Unknowns: two components of each of four pins (of a on b) and the torque on the arm; three equations a link.
    """
    links = {"arm": ("crank", "knee"), "coupler": ("knee", "wrist"), "lever": ("rocker", "wrist")}
    pins = ("crank", "knee", "wrist", "rocker")
    h = record.time[1] - record.time[0]

    def second(y):
        """Second derivative, to fourth order."""
        return (-y[k - 2] + 16 * y[k - 1] - 30 * y[k] + 16 * y[k + 1] - y[k + 2]) / (12 * h * h)

    equations, right = np.zeros((9, 9)), np.zeros(9)
    for row, (name, ends) in enumerate(links.items()):
        body = model.bodies[name].mass_properties
        angle = 2 * np.unwrap(np.arctan2(record[f"{name}.rotation.z"], record[f"{name}.rotation.w"]))
        reach = body.com[0]
        x = record[f"{name}.position.x"] + reach * np.cos(angle)
        y = record[f"{name}.position.y"] + reach * np.sin(angle)
        right[3 * row : 3 * row + 3] = (
            body.mass * second(x),
            body.mass * (second(y) + 9.81),
            body.inertia[2, 2] * second(angle),
        )
        for end, away in zip(ends, (0.0, 2 * reach), strict=True):
            sign = 1.0 if model.joints[end].b == name else -1.0
            dx, dy = (away - reach) * math.cos(angle[k]), (away - reach) * math.sin(angle[k])
            column = 2 * pins.index(end)
            equations[3 * row, column] = equations[3 * row + 1, column + 1] = sign
            equations[3 * row + 2, column : column + 2] = -sign * dy, sign * dx
    equations[2, 8] = 1.0
    found = np.linalg.solve(equations, right)
    return {pin: found[2 * i : 2 * i + 2] for i, pin in enumerate(pins)}, found[8]


@explicit
def test_reactions_of_a_four_bar_are_those_of_newton_and_euler(method):
    model = scene("crank_rocker")
    record = direct(model, method, tolerance=1e-12).run(0.6, every=1e-3)
    for k in (100, 250, 400, 550):
        forces, torque = planar_forces(record, model, k)
        # Differences of positions good to 1e-12 or so over steps of 1 ms: accelerations to 1e-5 of masses of 1 kg.
        for pin, force in forces.items():
            found = [record[f"{pin}.force.{axis}"][k] for axis in "xy"]
            np.testing.assert_allclose(found, force, rtol=1e-4, atol=1e-4)
            assert abs(record[f"{pin}.force.z"][k]) < 1e-9
        assert record["crank.torque.z"][k] == pytest.approx(torque, rel=1e-4, abs=1e-4)
    # Out of the plane nothing tells them: there the smallest are given.
    assert record.info["reactions_indeterminate"] == ["crank", "knee", "wrist", "rocker"]


def test_reactions_can_be_left_out():
    record = direct(scene("crank_rocker"), "simgc").run(0.1, reactions=False)
    assert "forces" not in record.groups
    assert record.info["reactions_indeterminate"] == []


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
