"""Mechanisms with loops by sequential impulses, in generalized (simgc) and in maximal coordinates (simmc).

Both are semi-implicit Euler: trajectories converge at first order. A step opens a gap of some h² a/2, where a is
how much the accelerations of the two ends differ, and the next one removes the share erp of it: gaps are of
second order and stay near h² a/(2 erp). What should hold of any solver is asked of the direct one too, which closes
gaps to rounding and converges at fourth order; more about it is in test_direct.py.
"""

import numpy as np
import pytest

from helpers.references import at, reference
from helpers.runs import both, end_of, orders
from linkwork import Body, Hinge, Model, Simulation, Slider, scene
from linkwork.engine.elements import PositionServo, VelocityServo
from linkwork.methods.contact import DEFAULT_ERP as ERP
from linkwork.methods.rows import floating
from linkwork.model.joints import JOINTS
from linkwork.scenes.peaucellier import LINE, SIDE

solvers = pytest.mark.parametrize("solver", ["direct", "impulses"])


def impulses(model, method, **options):
    return Simulation(model, method=method, solver="impulses", **options)


def solved(model, method, solver, **options):
    """A simulation by either solver; options are those of impulses."""
    return Simulation(model, method=method, solver=solver, **(options if solver == "impulses" else {}))


# --- gaps ---


def watched(model, method, duration, **options):
    """A record and the gap at each of its samples."""
    gaps = []
    simulation = impulses(model, method, dt=1e-3, epsilon=1e-6, **options)
    record = simulation.run(duration, callbacks=[(0.01, lambda sim: gaps.append(sim.method.report()["gap"]))])
    return record, np.array(gaps)


lasting = pytest.mark.parametrize("duration", [5.0, pytest.param(60.0, marks=pytest.mark.slow)])


@both
@lasting
def test_peaucellier_stays_closed_and_draws_a_straight_line(method, duration):
    record, gaps = watched(scene("peaucellier"), method, duration)
    assert record.info["steps_cut_short"] == 0
    assert record.info["worst_gap_m"] < 1e-5
    assert gaps[len(gaps) // 2 :].max() < 1.1 * gaps[: len(gaps) // 2].max()
    for rod in ("AD", "BD"):
        x, y = end_of(record, rod, SIDE)
        assert np.abs(x - LINE).max() < 1e-5
        assert np.ptp(y) > 1.0


@both
@lasting
def test_double_four_bar_stays_closed_over_its_singular_positions(method, duration):
    record, gaps = watched(scene("double_four_bar"), method, duration)
    assert np.ptp(record["A0.angle"]) > 2 * np.pi
    # 1.5 ω² + 34.335 cos φ = 35.835 J, so ω² < 46.8. Relative coordinates move parallelograms exactly.
    bound = 1e-5 if method == "simgc" else 1e-6 * 46.8 * 1.0 / (2 * ERP)
    assert record.info["worst_gap_m"] < bound
    assert gaps[len(gaps) // 2 :].max() < 1.1 * gaps[: len(gaps) // 2].max()


@both
def test_gaps_are_of_second_order(method):
    runs = [impulses(scene("peaucellier"), method, dt=h).run(0.5) for h in (1e-3, 5e-4)]
    gaps = [record.info["worst_gap_m"] for record in runs]
    assert orders(gaps) == pytest.approx(2.0, abs=0.3)


def opened(method, angle, **options):
    """A double four-bar at rest without gravity, its first ground link turned by an angle: every loop is open.

    Links and couplers hang on A0: turned by an angle, they open one loop by as many metres and the other by twice that.
    """
    model = scene("double_four_bar", rate=0.0)
    model.gravity = (0.0, 0.0, 0.0)
    tree = Simulation(model, method="simgc")
    tree.q[tree.system.coordinate("A0.angle")] = angle
    simulation = impulses(model, method, **options)
    q = tree.q if method == "simgc" else floating(model, simulation.system, tree.system, tree.q, tree.v)[0]
    simulation.q[:] = q
    return simulation


@both
def test_a_loop_that_is_open_closes_without_gaining_energy(method):
    simulation = opened(method, 0.01, dt=1e-3)
    simulation.step()
    assert simulation.method.report()["gap"] == pytest.approx(0.02, rel=0.01)
    for _ in range(100):
        simulation.step()
        assert simulation.energies()[0] < 1e-20
    assert simulation.method.report()["gap"] < 1e-6


@both
def test_a_gap_shrinks_by_its_share_in_every_step(method):
    simulation = opened(method, 1e-3, dt=1e-3, epsilon=1e-12, iterations=100_000, erp=0.4)
    gaps = []
    for _ in range(6):
        simulation.step()
        gaps.append(simulation.method.report()["gap"])
    # Turns of 1e-3 rad: the equations are linear to that share.
    np.testing.assert_allclose(np.divide(gaps[1:], gaps[:-1]), 0.6, rtol=5e-3)


# --- published and exact solutions ---


@both
def test_peaucellier_converges_to_its_reference(method):
    exact = at(reference("peaucellier_ref.csv"), 1.0)
    errors = []
    for h in (1e-3, 5e-4):
        record = impulses(scene("peaucellier"), method, dt=h).run(1.0)
        errors.append(abs(np.pi / 3 + record["crank.angle"][-1] - exact["phi"]))
    assert orders(errors) == pytest.approx(1.0, abs=0.3)
    assert errors[-1] < 2e-3


# All links lie on one line at 0.79 s and at 1.15 s: there the rank of the constraints falls, and the linkage
# could go on as an antiparallelogram. It must pass, and stay a parallelogram.
@both
@pytest.mark.parametrize("time", [1.0, 2.0])
def test_double_four_bar_passes_its_singular_positions(method, time):
    exact = at(reference("a02_nfourbar_N2_ref.csv"), time)
    errors = []
    for h in (1e-3, 5e-4):
        record = impulses(scene("double_four_bar"), method, dt=h).run(time)
        x, y = end_of(record, "link0", 1.0)
        found = [-record["A0.angle"][-1], -record["A0.angle_rate"][-1], x[-1], y[-1]]
        errors.append(np.linalg.norm(np.subtract(found, [exact[key] for key in ("phi", "phidot", "x", "y")])))
        for k in (1, 2):
            np.testing.assert_allclose(record[f"A{k}.angle"], record["A0.angle"], atol=1e-4)
    assert orders(errors) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("method", ["simgc", pytest.param("simmc", marks=pytest.mark.slow)])
def test_forty_four_bars_in_a_row_converge_to_their_reference(method):
    exact = at(reference("a02_nfourbar_N40_ref.csv"), 0.5)
    errors = []
    for h in (5e-3, 2.5e-3):
        record = impulses(scene("n_four_bar"), method, dt=h).run(0.5, every=0.05)
        found = -record["A0.angle"][-1], -record["A0.angle_rate"][-1]
        errors.append(np.linalg.norm(np.subtract(found, (exact["phi"], exact["phidot"]))))
        np.testing.assert_allclose(record["A40.angle"], record["A0.angle"], atol=1e-3)
    assert orders(errors) == pytest.approx(1.0, abs=0.3)


@pytest.mark.slow
def test_forty_four_bars_pass_their_singular_positions():
    exact = at(reference("a02_nfourbar_N40_ref.csv"), 2.0)
    record = impulses(scene("n_four_bar"), "simgc", dt=1e-3).run(2.0)
    # The rate lags by half a step: h/2 A sin φ, A = 14.
    assert -record["A0.angle"][-1] == pytest.approx(exact["phi"], abs=1e-3)
    assert -record["A0.angle_rate"][-1] == pytest.approx(exact["phidot"], abs=1e-2)
    np.testing.assert_allclose(record["A40.angle"], record["A0.angle"], atol=1e-6)


@both
def test_spatial_slider_crank_converges_to_its_reference(method):
    exact = at(reference("slidercrank3d_ref.csv"), 0.5)
    errors = []
    for h in (5e-4, 2.5e-4):
        record = impulses(scene("slidercrank3d"), method, dt=h).run(0.5)
        errors.append(
            [
                abs(record["crank.angle"][-1] - exact["theta"]),
                abs(0.2 + record["guide.travel"][-1] - exact["s"]),
                abs(
                    record["cross.angle_x"][-1] + reference("slidercrank3d_ref.csv")["eta"][0] - exact["eta"]
                ),
            ]
        )
    np.testing.assert_allclose(orders(errors), 1.0, atol=0.3)


@both
def test_chain_with_dry_friction_converges_to_its_reference(method):
    exact = at(reference("chain5_coulomb_ref.csv"), 1.0)
    errors = []
    for h in (1e-3, 5e-4):
        # Friction impulses are h 1 N m: epsilon must be far below the share of them that a step gets wrong.
        simulation = impulses(scene("chain5", friction=1.0), method, dt=h, epsilon=1e-9)
        found = simulation.run(1.0).array("coordinates")[-1]
        errors.append(np.linalg.norm(found - [exact[f"q{k}"] for k in range(1, 6)]))
    assert orders(errors) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-8])
def test_chain_with_dry_friction_comes_to_rest_and_stays(epsilon):
    simulation = impulses(scene("chain5", friction=1.0), "simgc", dt=2e-3, epsilon=epsilon)
    simulation.run(60.0, every=1.0)  # its reference still swings at 15 s
    assert (simulation.v == 0.0).all()
    q = simulation.q.copy()
    assert np.abs(q[0] + np.pi / 2) < 0.1
    assert np.abs(q[1:]).max() > 1e-3  # held by friction, not hanging straight
    simulation.step(20_000)
    assert (simulation.v == 0.0).all()
    assert (simulation.q == q).all()


def test_chain_with_dry_friction_rests_in_maximal_coordinates():
    simulation = impulses(scene("chain", links=2, friction=1.0), "simmc", dt=2e-3)
    simulation.run(20.0, every=1.0)
    assert np.abs(simulation.v).max() < 1e-6
    q = simulation.q.copy()
    simulation.step(5_000)
    assert np.abs(simulation.q - q).max() < 1e-8


# --- formulations agree ---


@pytest.mark.parametrize(
    ("name", "parameters", "duration"),
    [
        ("peaucellier", {}, 0.3),
        ("double_four_bar", {}, 0.5),
        ("n_four_bar", {"n": 4}, 0.5),
        ("slidercrank3d", {}, 0.2),
        ("crank_rocker", {}, 0.5),
    ],
)
def test_formulations_agree_to_first_order(name, parameters, duration):
    differences = []
    for h in (1e-3, 5e-4):
        ends = []
        for method in ("simgc", "simmc"):
            simulation = impulses(scene(name, **parameters), method, dt=h, epsilon=1e-7)
            ends.append(simulation.run(duration, every=0.05).array("positions")[-1])
        differences.append(np.abs(ends[0] - ends[1]).max())
    assert 0 < differences[0] < 0.05
    assert orders(differences) > 0.7


# --- any joint may close a loop ---

# A body and a light one each hang on the ground by a joint of the same kind in the same place, and are joined
# by a slider or a hinge askew, which the loop keeps from moving: the second joint closes the loop, and its
# coordinates are those of the first. A hinge between two spherical joints would be free.
CLOSING = [
    (kind, between)
    for kind in JOINTS
    for between in (Slider, Hinge)
    if kind != "free" and (kind, between) != ("spherical", Hinge)
]
closing = pytest.mark.parametrize(
    ("kind", "between"), CLOSING, ids=[f"{kind}-{between.kind}" for kind, between in CLOSING]
)
FEATURES = {
    "limits": lambda n: {"limits": ((-0.01, 0.01),) * n},
    "friction": lambda n: {"friction": 0.5},
    "spring": lambda n: {"spring": 30.0, "damping": 1.0, "rest": 0.02},
    "servo": lambda n: {},
}


def twins(kind, between, feature=None, on="tree"):
    """Two joints of a kind in parallel; a feature on that in the tree or on its twin that closes the loop."""
    make = JOINTS[kind]
    pitch = {"pitch": 0.3} if kind == "screw" else {}
    rates = len(make("joint", "ground", "body", **pitch).rates)
    model = Model("twins", gravity=(1.0, -2.0, -3.0))
    model.add(Body("body", mass=2.0, com=(0.1, -0.2, 0.15), inertia=(0.05, 0.06, 0.07)))
    model.add(Body("light", mass=0.2, com=(0.0, 0.1, -0.05), inertia=(0.004, 0.005, 0.006)))
    fields = FEATURES[feature](rates) if feature else {}
    start = {"velocity": tuple(0.3 * (k + 1) for k in range(rates))} if rates else {}
    place = {"at": (0.1, 0.2, 0.3), "axis": (1.0, 0.5, 2.0)}
    for name, body in (("tree", "body"), ("twin", "light")):
        extra = (fields if on == name else {}) | (start if name == "tree" else {})
        model.add(make(name, "ground", body, **place, **pitch, **extra))
    model.add(between("between", "body", "light", at=(0.1, 0.2, 0.3), axis=(1.0, 2.0, -3.0)))
    if feature == "servo":
        model.add(VelocityServo("servo", on, strength=3.0, command=0.5))
    return model


def columns(record, group, joint):
    """The coordinates or rates of a joint."""
    names = record.groups[group].columns
    return np.array([record[name] for name in names if name.startswith(f"{joint}.")]).reshape(-1, len(record))


@both
@solvers
@closing
def test_any_joint_closes_a_loop_and_tells_its_coordinates(kind, between, solver, method):
    simulation = solved(twins(kind, between), method, solver, epsilon=1e-8)
    # Welds are always in the tree: the joint between them closes the loop then.
    cuts = ("tree", "twin", "between") if method == "simmc" else ("between" if kind == "weld" else "twin",)
    assert simulation.system.cuts == cuts
    record = simulation.run(0.2)
    # Impulses: h² a/(2 erp), a < 4 m/s², and velocities meet the equations where the step began: they are off by h
    # times products of rates. The direct solver ends every step on the equations, to rounding.
    gap, place, rate = (1e-5, 1e-5, 1e-3) if solver == "impulses" else (1e-13, 1e-12, 1e-11)
    assert record.info["worst_gap_m"] < gap
    for group, tolerance in (("coordinates", place), ("rates", rate)):
        first, second = columns(record, group, "tree"), columns(record, group, "twin")
        assert len(first) == len(second)
        if kind != "weld":
            assert np.abs(first - first[:, :1]).max() > 0.01
        np.testing.assert_allclose(second, first, atol=tolerance)


@both
@solvers
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind not in ("free", "weld")])
def test_what_acts_in_a_joint_acts_the_same_where_it_closes_a_loop(kind, feature, solver, method):
    between = Slider if kind == "spherical" else Hinge
    ends = []
    for on in ("tree", "twin"):
        simulation = solved(twins(kind, between, feature, on), method, solver, epsilon=1e-8, iterations=3000)
        ends.append(simulation.run(0.2))
    # The same motion in other words: the direct solver differs by rounding, and by 1e-11 in where it finds events. Two
    # limits that hit each other open ever faster end in a step of first order, from 1e-5 J of motion to rest.
    place, energy = (1e-5, 1e-4) if solver == "impulses" else (1e-9, 1e-8)
    if any(record.info.get("steps_by_impulses") for record in ends):
        energy = 1e-6
    np.testing.assert_allclose(ends[0].array("positions"), ends[1].array("positions"), atol=place)
    np.testing.assert_allclose(ends[0].array("energy")[:, :5], ends[1].array("energy")[:, :5], atol=energy)
    free = solved(twins(kind, between), method, solver, epsilon=1e-8).run(0.2)
    assert np.abs(free.array("coordinates") - ends[1].array("coordinates")).max() > 1e-4


# --- angles beyond a turn ---


@both
@solvers
def test_closing_hinges_count_beyond_a_turn(method, solver):
    record = solved(scene("double_four_bar", rate=3.0), method, solver).run(5.0)
    assert record["A0.angle"][-1] < -4 * np.pi
    for k in (1, 2):
        atol = 1e-3 if solver == "impulses" else 1e-10
        np.testing.assert_allclose(record[f"A{k}.angle"], record["A0.angle"], atol=atol)


@both
@solvers
def test_a_servo_turns_a_closing_hinge_several_times(method, solver):
    model = scene("double_four_bar", rate=0.0)
    model.gravity = (0.0, 0.0, 0.0)
    closing = Simulation(model, method="simgc").system.cuts[0]
    model.add(PositionServo("servo", closing, stiffness=50.0, damping=30.0, command=4 * np.pi))
    record = solved(model, method, solver).run(5.0)
    assert record[f"{closing}.angle"][-1] == pytest.approx(4 * np.pi, abs=1e-2)
    assert abs(record["A0.angle"][-1]) == pytest.approx(4 * np.pi, abs=1e-2)
