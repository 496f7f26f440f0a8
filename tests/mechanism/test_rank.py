"""One decision of rank: numbers as people write them lock nothing, and equations are exchanged where they wear."""

import itertools
import math

import numpy as np
import pytest

from helpers.models import random_rotation
from helpers.nets import rods
from helpers.runs import apart, bits, both, direct, orders
from linkwork import Body, Hinge, Model, Simulation, check, equilibrium, scene
from linkwork.compile import rank
from linkwork.compile.compiler import compile_model
from linkwork.compile.rank import null_space, pivoted, spectrum
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.dependence import LOCKED, dependence
from linkwork.mechanism.mobility import analyse
from linkwork.model.item import GROUND

PINS = {"j1": (0.0, 0.0), "j2": (0.25, 0.35), "j3": (1.0, 0.8), "j4": (0.9, 0.0)}
BARS = {"crank": ("j1", "j2"), "coupler": ("j2", "j3"), "rocker": ("j4", "j3")}
HINGES = {
    "j1": (GROUND, "crank"),
    "j2": ("crank", "coupler"),
    "j3": ("coupler", "rocker"),
    "j4": (GROUND, "rocker"),
}


def oblique(digits=15, turned=1, scaled="j3", factor=0.5, order=tuple(HINGES), size=1.0, pins=PINS, rate=6.0):
    """A four-bar in an oblique plane, joints rounded to so many digits, one axis written at another length."""
    T, origin = random_rotation(np.random.default_rng(turned)), np.array([0.3, -0.2, 0.5])

    def rounded(x):
        return tuple(float(f"{v:.{digits}e}") if abs(v) < 0.1 else round(float(v), digits) for v in x)

    place = {name: origin + size * (T[:, 0] * x + T[:, 1] * y) for name, (x, y) in pins.items()}
    model = Model("oblique", gravity=(0.0, 0.0, 0.0))
    for name, (begin, end) in BARS.items():
        middle = 0.5 * (place[begin] + place[end])
        model.add(
            Body(name, at=tuple(middle.tolist()), mass=1.0 + 0.3 * len(name), inertia=(0.02, 0.03, 0.025))
        )
    for name in order:
        axis = (factor if name == scaled else 1.0) * T[:, 2]
        start = {"velocity": rate} if name == "j1" else {}
        model.add(Hinge(name, *HINGES[name], at=rounded(place[name]), axis=rounded(axis), **start))
    return model


# --- numbers as people write them ---


@pytest.mark.parametrize("digits", [6, 7, 8, 9, 10, 11, 12])
def test_a_rounded_four_bar_has_one_freedom(digits):
    for turned, scaled, factor in itertools.product(range(1, 5), HINGES, (0.5, 3.0)):
        system = compile_model(oblique(digits, turned, scaled, factor), rows=True)
        start = assemble(system)
        found = analyse(system, start.q)
        assert (found.mobility, found.redundant, found.singular) == (1, 3, False)
        rows = dependence(system, start.q)
        assert len(rows.idle) == 3
        assert rows.others == ()
        assert not rows.locked
        # Axes of unit length, four of them, the half one rounded twice as coarsely.
        assert all(misfit.off < 4.0 * 10.0**-digits for misfit in rows.misfits)
        assert bool(rows.misfits) == any(misfit.off > 1e-11 for misfit in rows.misfits)
        assert start.v[system.rate("j1.angle_rate")] == 6.0


@pytest.mark.parametrize("method", ["simgc", "simmc", "hybrid", "global", "topological", "components"])
def test_a_rounded_four_bar_moves_in_every_method(method):
    exact = Simulation(oblique(), method=method, dt=1e-3).run(0.5)
    assert np.ptp(exact["j1.angle"]) > 2.0
    for digits in (6, 8, 10):
        record = Simulation(oblique(digits), method=method, dt=1e-3).run(0.5)
        # Positions and rates are rounded at the start; what that does grows with the motion.
        assert np.abs(record["j1.angle"] - exact["j1.angle"]).max() < 20.0 * 10.0**-digits
        said = [text for text in record.info["warnings"] if "taken as rounding" in text]
        assert len(said) == 1
        assert said[0].startswith("'j3' is off by ")
        assert " rad " in said[0]


@pytest.mark.parametrize(
    "order", [("j3", "j1", "j4", "j2"), ("j4", "j3", "j2", "j1"), ("j2", "j4", "j1", "j3")]
)
def test_a_rounded_four_bar_moves_in_any_order_of_joints(order):
    for scaled, factor in itertools.product(HINGES, (0.5, 3.0)):
        options = {"scaled": scaled, "factor": factor, "order": order, "turned": 3}
        exact, record = (direct(oblique(digits, **options), "simgc").run(0.2) for digits in (15, 7))
        assert np.ptp(exact["j2.angle"]) > 1.0
        assert apart(record, exact) < 20e-7


def test_the_doctor_names_the_joint_that_is_off():
    checkup = check(oblique(10), test_run=False)
    assert checkup.mobility == 1
    told = [finding for finding in checkup.findings if "taken as rounding" in finding.what]
    assert [finding.level for finding in told] == ["warning"]
    assert told[0].what.startswith("'j3' is off by ")


@pytest.mark.parametrize("digits", [6, 8, 10])
def test_coordinates_of_a_rounded_four_bar_can_be_set(digits):
    exact, rounded = (direct(oblique(n, rate=0.0), "simgc") for n in (15, digits))
    for simulation in (exact, rounded):
        simulation["j1.angle"] = 0.5
        assert simulation["j1.angle"] == pytest.approx(0.5, abs=1e-12)
    assert abs(rounded["j4.angle"] - exact["j4.angle"]) < 20.0 * 10.0**-digits
    assert abs(exact["j4.angle"]) > 0.1


def test_a_rounded_four_bar_finds_its_rest():
    def hanging(digits):
        model = oblique(digits, rate=0.0)
        model.gravity = (0.0, 0.0, -9.81)
        return equilibrium(model)

    exact, rounded = hanging(15), hanging(8)
    assert abs(rounded.values["j1.angle"] - exact.values["j1.angle"]) < 1e-5


def test_a_run_without_freedoms_says_so():
    model = oblique(rate=0.0)
    model.add(Hinge("strut", "crank", "rocker", at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    assert LOCKED in direct(model, "simgc").run(0.01).info["warnings"]
    assert LOCKED not in direct(oblique(), "simgc").run(0.01).info["warnings"]


def test_a_small_mechanism_on_a_large_machine_is_measured_by_itself():
    """A four-bar of a millimetre at the end of an arm of a kilometre."""
    model = oblique(size=1e-3, rate=0.0)
    model.add(Body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("far", GROUND, "arm", at=(0.0, 1e3, 0.0), axis=(1.0, 0.0, 0.0)))
    for name, joint in list(model.joints.items()):
        if name in ("j1", "j4"):
            model.joints[name] = Hinge(name, "arm", joint.b, at=joint.at, axis=joint.axis)
    found = analyse(compile_model(model, rows=True))
    assert (found.mobility, found.redundant) == (2, 3)


@pytest.mark.parametrize("tip", [1e-4, 1e-6, 1e-8])
def test_equations_that_are_weak_only_here_are_kept(tip):
    """A parallelogram that is nearly flat: two rows nearly agree, but only near this position."""
    x, y = math.cos(tip), math.sin(tip)
    pins = {"j1": (0.0, 0.0), "j2": (x, y), "j3": (2.0 + x, y), "j4": (2.0, 0.0)}
    system = compile_model(oblique(pins=pins, rate=0.0), rows=True)
    rows = dependence(system, assemble(system).q)
    assert (len(rows.idle), rows.others, rows.misfits) == (3, (), ())


# --- equations exchanged where they wear ---


def _turn(axis, angle):
    i, j = (axis + 1) % 3, (axis + 2) % 3
    made = np.eye(4)
    made[i, i] = made[j, j] = math.cos(angle)
    made[j, i], made[i, j] = math.sin(angle), -math.sin(angle)
    return made


def bricard(first=1.2, rate=2.0, digits=15):
    """Bricard's loop of six hinges, threefold symmetric, twists of a right angle: cos θ cos φ + cos θ + cos φ = 0."""
    second = -math.acos(-math.cos(first) / (1.0 + math.cos(first)))
    place = begin = _turn(0, 0.4) @ _turn(1, 0.3)
    along = np.eye(4)
    along[0, 3] = 1.0
    frames = []
    for k in range(6):
        frames.append(place @ _turn(2, second if k % 2 else first))
        place = frames[-1] @ along @ _turn(0, -math.pi / 2 if k % 2 else math.pi / 2)
    np.testing.assert_allclose(place, begin, atol=1e-12)
    model = Model("bricard")
    bodies = [GROUND, *(f"link{k + 1}" for k in range(5)), GROUND]
    for name, frame in zip(bodies[1:6], frames, strict=False):
        middle = frame[:3, 3] + 0.5 * frame[:3, 0]
        model.add(Body(name, at=tuple(middle.tolist()), mass=1.0, inertia=(0.02, 0.03, 0.025)))
    for k, frame in enumerate(frames):
        at, axis = (tuple(np.round(frame[:3, c], digits).tolist()) for c in (3, 2))
        start = {"velocity": rate} if k == 0 else {}
        model.add(Hinge(f"h{k + 1}", bodies[k], bodies[k + 1], at=at, axis=axis, **start))
    return model


OVERCONSTRAINED = {"bricard": bricard, "bennett": lambda: scene("bennett")}


@both
@pytest.mark.parametrize("name", OVERCONSTRAINED)
def test_overconstrained_loops_take_few_adaptive_steps(method, name):
    """As many as by components, which pivot at every evaluation; equations chosen once took 50 to 600 times as many."""
    reference, record = (
        direct(OVERCONSTRAINED[name](), way, integrator="adaptive", tolerance=1e-8).run(3.0, every=0.1)
        for way in ("components", method)
    )
    assert record.info["steps"] < 1.5 * reference.info["steps"]
    assert not any("singular" in text for text in record.info["warnings"])
    assert apart(record, reference) < 1e-5


@both
@pytest.mark.parametrize("name", OVERCONSTRAINED)
def test_overconstrained_loops_keep_the_order_of_runge_kutta(method, name):
    model = OVERCONSTRAINED[name]
    records = [
        direct(model(), method, integrator="rk4", dt=dt).run(2.0, every=0.1)
        for dt in (4e-3, 2e-3, 1e-3, 2.5e-4)
    ]
    errors = [apart(record, records[-1]) for record in records[:-1]]
    assert min(orders(errors)) > 3.5


@both
def test_a_rounded_overconstrained_loop_moves(method):
    exact, record = (direct(bricard(digits=d), method, integrator="rk4").run(1.5, every=0.1) for d in (15, 8))
    assert np.ptp(exact["h1.angle"]) > 1.0
    assert apart(record, exact) < 100e-8  # exchanged equations differ by what was rounded, each time


@both
@pytest.mark.parametrize("integrator", ["adams", "adaptive"])
def test_exchanged_equations_are_part_of_a_saved_state(tmp_path, method, integrator):
    whole = direct(bricard(), method, integrator=integrator)
    first = set(whole.method.outcome()["redundant_rows"])
    whole.run(1.7, every=0.1)
    assert set(whole.method.outcome()["redundant_rows"]) != first
    whole.save_state(tmp_path / "state.npz")
    resumed = direct(bricard(), method, integrator=integrator)
    resumed.load_state(tmp_path / "state.npz")
    for simulation in (whole, resumed):
        simulation.run(1.3, every=0.1)
    assert bits(whole) == bits(resumed)


# --- many equations ---


def test_rows_that_follow_from_others_are_left_out_and_measured():
    random = np.random.default_rng(3)
    J = random.normal(size=(120, 200))
    J[50] = J[10] - 2.0 * J[20]
    J[70] = J[30] + 3e-8 * random.normal(size=200)  # as if written with eight digits
    J[90] = 0.0
    chosen, left = pivoted(J)
    assert len(chosen) == 117
    assert np.linalg.matrix_rank(J[chosen]) == 117
    out = sorted(set(range(120)) - set(chosen))
    assert 90 in out
    for i in out:
        # What is left of a row, by least squares on those that were kept.
        rest = J[i] - J[chosen].T @ np.linalg.lstsq(J[chosen].T, J[i], rcond=None)[0]
        assert left[i] == pytest.approx(np.linalg.norm(rest), rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("damping", [1.0, 1e-3, 1e-9, 0.0])
def test_steps_of_many_equations_are_those_of_few(damping, monkeypatch):
    random = np.random.default_rng(4)
    J, f = random.normal(size=(60, 90)), random.normal(size=60)
    few = rank.damped_steps(J, f)(damping)
    monkeypatch.setattr(rank, "_FEW", 0)
    # The largest singular value is known to a few percent there, which scales the damping alone.
    np.testing.assert_allclose(
        rank.damped_steps(J, f)(damping), few, rtol=0, atol=(0.1 if damping else 1e-9) * np.abs(few).max()
    )


@pytest.mark.parametrize("shape", [(5, 30), (20, 30), (30, 20)])
def test_null_spaces_are_all_that_a_matrix_does_not_see(shape):
    A = np.random.default_rng(5).normal(size=shape)
    A[3] = A[1] + A[2]
    N = null_space(A)
    rank_of_A = np.linalg.matrix_rank(A)
    assert N.shape == (shape[1], shape[1] - rank_of_A)
    np.testing.assert_allclose(A @ N, 0.0, atol=1e-12)
    np.testing.assert_allclose(N.T @ N, np.eye(N.shape[1]), atol=1e-12)
    np.testing.assert_allclose(spectrum(A)[:rank_of_A], np.linalg.svd(A)[1][:rank_of_A], rtol=1e-10)


@pytest.mark.slow
def test_a_net_of_1121_ball_joints_is_set_up():
    simulation = Simulation(rods(20), method="simmc", dt=1e-3)
    assert simulation.method._start.dependence.others == ()
    assert simulation.run(2e-3)["energy.balance"][-1] == pytest.approx(0.0, abs=1e-6)
