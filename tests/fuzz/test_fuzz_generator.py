"""Random mechanisms are what they claim to be, and the same from the same seed."""

import dataclasses

import numpy as np
import pytest

from linkwork import Simulation, load_model, save_model
from linkwork.compile.compiler import compile_model
from linkwork.fuzz.random_actions import FREQUENCY, SPIN
from linkwork.fuzz.random_mechanisms import (
    Extra,
    Link,
    Loop,
    Plan,
    allowed_rates,
    build,
    random_mechanism,
    random_plan,
)
from linkwork.fuzz.random_plan import (
    DRIVES,
    FEATURES,
    HOW,
    KINDS,
    LOADS,
    PARTS,
    PLACED,
    RUBBER,
    STATEFUL,
    SWITCHED,
)
from linkwork.mechanism.kinematics import Kinematics
from linkwork.model.errors import LinkworkError


def test_a_seed_always_draws_the_same_mechanism():
    for seed in (0, 7, 12345):
        assert random_plan(seed) == random_plan(seed)
        assert random_mechanism(seed) == random_mechanism(seed)
    assert random_mechanism(1) != random_mechanism(2)


def test_everything_occurs():
    plans = [random_plan(seed) for seed in range(400)]
    assert {link.joint for plan in plans for link in plan.links} == {None, *KINDS}
    assert {loop.joint for plan in plans for loop in plan.loops} == set(KINDS)
    assert {loop.how for plan in plans for loop in plan.loops} == set(HOW)
    every = {*FEATURES, *DRIVES, *LOADS, *STATEFUL, *SWITCHED, RUBBER}
    assert {extra.kind for plan in plans for extra in plan.extras} == every
    assert {plan.parts for plan in plans} == set(range(1, PARTS + 1))
    assert sum(plan.touching for plan in plans) > 20
    assert all(plan.placed == "here" for plan in plans if plan.touching or plan.parts > 1)
    assert {plan.placed for plan in plans} == set(PLACED)
    assert {len(plan.links) for plan in plans} == set(range(1, 9))
    assert {link.backwards for plan in plans for link in plan.links} == {True, False}
    assert any(plan.restitution for plan in plans)


def test_loops_are_closed_and_start_rates_obey_them():
    moving = 0
    for seed in range(60):
        model = random_mechanism(seed)
        system = compile_model(model, rows=True)
        kinematics = Kinematics(system)
        kinematics.place(system.q0)
        hold = kinematics.hold
        # Couplings hold whatever relation they start in; their gap is set then.
        equations = [i for i in hold if "repeater" not in kinematics.names[i]]
        # Ten products and sums of numbers of some metres.
        assert np.abs(kinematics.gaps[equations]).max(initial=0.0) < 1e-13
        rates = kinematics.jacobian()[hold] @ system.v0
        # Sums of products of some metres and rad/s, after pseudo-inverses of condition up to 1e4.
        assert np.abs(rates).max(initial=0.0) < 1e-10
        assert np.abs(system.v0).max(initial=0.0) <= SPIN * (1 + 1e-12)
        moving += bool(np.abs(system.v0).max(initial=0.0) > 0.01)
    assert moving > 20


def test_masses_stay_within_the_decades():
    for seed in range(40):
        plan = random_plan(seed, decades=6.0, bodies=(8, 8))
        masses = [body.mass_properties.mass for body in build(plan).flatten().bodies.values()]
        assert max(masses) / min(masses) <= 10**plan.decades * (1 + 1e-12)
    assert max(random_plan(seed).decades for seed in range(40)) > 5.0


def test_springs_are_no_faster_than_they_should_be():
    for seed in range(20):
        links = tuple(
            Link(k, kind, k - 1) for k, kind in enumerate(("hinge", "spherical", "planar", "screw"))
        )
        extras = tuple(Extra(1000 + k, "spring", k) for k in range(4))
        model = build(Plan(links, (), extras, seed=seed, decades=6.0))
        system = compile_model(model, rows=True)
        kinematics = Kinematics(system)
        kinematics.place(system.q0)
        springs = [i for i, name in enumerate(kinematics.names) if name.endswith("spring")]
        J = kinematics.jacobian()[springs]
        K = J.T @ (kinematics.constraints.rows["value"][springs, :1] * J)
        fastest = np.sqrt(np.linalg.eigvals(np.linalg.solve(kinematics.inertia(), K)).real.max())
        # The trace of H⁻¹ K is the sum of the squares of the frequencies that each spring has alone.
        assert fastest <= FREQUENCY * np.sqrt(len(springs))


def test_what_is_taken_away_leaves_the_rest_as_it_was():
    links = (Link(0, "hinge"), Link(1, "universal", 0), Link(2, "slider", 1))
    extras = (Extra(1000, "friction", 1), Extra(1001, "spring", 2), Extra(1002, "force", 0))
    whole = build(Plan(links, (Loop(100, "spherical", 2, -1),), extras, seed=4))
    less = build(Plan(links, (Loop(100, "spherical", 2, -1),), extras[1:], seed=4))
    assert whole.bodies == less.bodies
    assert whole.loads == less.loads
    assert {name for name in whole.joints if whole.joints[name] != less.joints[name]} == {"joint1"}
    assert dataclasses.replace(whole.joints["joint1"], friction=0.0) == less.joints["joint1"]


def test_parts_are_components_with_joints_between_them():
    """A mechanism that is divided is the same mechanism: its bodies, joints and all else, under longer names."""
    plan = next(plan for plan in map(random_plan, range(200)) if plan.parts > 1 and len(plan.links) > 5)
    whole, divided = build(dataclasses.replace(plan, parts=1)), build(plan)
    assert len(divided.instances) > 1
    flat = divided.flatten()
    for shelf in ("bodies", "joints", "drives", "loads", "couplings"):
        names = {name.rpartition(".")[2] for name in getattr(flat, shelf)}
        assert names == set(getattr(whole, shelf)), shelf
    system, other = compile_model(whole, rows=True), compile_model(divided, rows=True)
    assert (system.nv, len(system.row_table.names)) == (other.nv, len(other.row_table.names))


def test_what_may_touch_hangs_above_a_floor():
    """It begins free of it, and within the time of a run something touches."""
    plans = [plan for plan in map(random_plan, range(200)) if plan.touching][:10]
    deepest = []
    for plan in plans:
        simulation = Simulation(build(plan), dt=1e-3)
        deepest.append(simulation.run(0.1, every=0.01)["contact.patches"])
    assert all(patches[0] == 0 for patches in deepest)
    assert sum(patches.max() > 0 for patches in deepest) > 3


def test_the_same_joint_twice_stands_in_the_same_frame():
    plan = Plan((Link(0, "screw"),), (Loop(100, "screw", 0, -1, "same", 0),), seed=3)
    model = build(plan)
    first, second = model.joints["joint0"], model.joints["loop0"]
    assert (first.at, first.axis, first.pitch) == (second.at, second.axis, second.pitch)


def test_allowed_rates_are_the_nearest_in_the_metric_of_inertia():
    rng = np.random.default_rng(1)
    J = rng.normal(size=(3, 6))
    J[2] = J[0] - 2 * J[1]  # redundant
    root = rng.normal(size=(6, 6))
    H, v = root @ root.T + np.eye(6), rng.normal(size=6)
    found = allowed_rates(J, v, H)
    np.testing.assert_allclose(J @ found, 0.0, atol=1e-13)
    # The rest of v is H⁻¹ times a combination of rows of J.
    rest = np.linalg.lstsq(J.T, H @ (v - found), rcond=None)[0]
    np.testing.assert_allclose(J.T @ rest, H @ (v - found), atol=1e-12 * np.abs(H).max())


def test_offsets_open_the_loops_a_little():
    found = 0
    for seed in range(20):
        plan = random_plan(seed, offset=True, loops=(1, 3))
        assert plan.speed == 0.0
        system = compile_model(build(plan), rows=True)
        kinematics = Kinematics(system)
        kinematics.place(system.q0)
        gaps = np.abs(kinematics.gaps[kinematics.hold])
        found += bool(gaps.max(initial=0.0) > 1e-6)
        # A millimetre or milliradian in each of up to 20 rates, at levers of metres.
        assert gaps.max(initial=0.0) < 0.05
    assert found > 10


@pytest.mark.parametrize(
    "options", [{"bodies": (0, 3)}, {"bodies": (3, 2)}, {"loops": (2, 1)}, {"decades": -1.0}]
)
def test_impossible_options_are_refused(options):
    with pytest.raises(LinkworkError, match=r"must be|within"):
        random_plan(0, **options)


def test_model_files_round_trip(tmp_path):
    for seed in range(25):
        model = random_mechanism(seed)
        save_model(model, tmp_path / "model.yaml")
        assert load_model(tmp_path / "model.yaml") == model


def test_a_plan_prints_as_a_program():
    for seed in range(20):
        plan = random_plan(seed)
        assert eval(str(plan), {"Plan": Plan, "Link": Link, "Loop": Loop, "Extra": Extra}) == plan


def test_digits_make_numbers_short(tmp_path):
    plan = dataclasses.replace(random_plan(3), digits=2, plain=True, placed="here", speed=0.0)
    save_model(build(plan), tmp_path / "short.yaml")
    assert len((tmp_path / "short.yaml").read_text()) < 0.7 * _length(
        tmp_path, dataclasses.replace(plan, digits=None)
    )


def _length(folder, plan):
    save_model(build(plan), folder / "long.yaml")
    return len((folder / "long.yaml").read_text())
