"""Random mechanisms are what they claim to be, every check of the oracle can fail, and failures shrink."""

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.processes import command_line
from linkwork import Body, load_model, save_model
from linkwork.cli import app
from linkwork.compile.compiler import compile_model
from linkwork.fuzz import fuzz as fuzzing
from linkwork.fuzz.fuzz import Finding, examine, examine_plan, fuzz, shrink, span, tidy
from linkwork.fuzz.oracle import METHODS, Examination, RunError, Runner, bounds_of
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
from linkwork.fuzz.random_plan import DRIVES, FEATURES, HOW, KINDS, LOADS, PLACED
from linkwork.mechanism.kinematics import Kinematics
from linkwork.model import Model
from linkwork.model.errors import LinkworkError
from linkwork.results.record import Record

# --- the generator ---


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
    assert {extra.kind for plan in plans for extra in plan.extras} == {*FEATURES, *DRIVES, *LOADS}
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


# --- the oracle: nothing to say about what is right, and a word for everything that is wrong ---

SWING = Plan((Link(0, "hinge"), Link(1, "universal", 0)), (), (Extra(1000, "limits", 0),), seed=5, speed=0.5)
SMOOTH = Plan((Link(0, "hinge"), Link(1, "spherical", 0)), (Loop(100, "planar", 1, -1),), seed=5, speed=0.5)
STUCK = Plan((Link(0, "hinge"),), (Loop(100, "hinge", 0, -1),), seed=5)


class Tampered(Runner):
    """A runner whose records are changed behind its back."""

    def __init__(self, plan, change, method="simmc"):
        super().__init__(build(plan), bounds_of("direct"))
        self.change, self.method = change, method

    def record(self, method, halvings=0):
        record = super().record(method, halvings)
        if method != self.method:
            return record
        data = {name: np.array(record.array(name)) for name in record.groups}
        self.change(data)
        return Record(record.time, record.groups.values(), data, record.info)


def kinds(runner):
    return {finding.kind for finding in Examination(runner).findings()}


@pytest.mark.parametrize("plan", [SWING, SMOOTH, STUCK])
def test_nothing_is_found_where_nothing_is_wrong(plan):
    assert examine(build(plan)) == []


def test_facts_tell_what_a_mechanism_is():
    for plan, mobility, redundant in ((SWING, 3, 0), (SMOOTH, 1, 0), (STUCK, 0, 4)):
        examination = Examination(Runner(build(plan), bounds_of("direct")))
        assert examination.findings() == []
        assert (examination.facts.mobility, examination.facts.redundant) == (mobility, redundant)
    twice = Plan((Link(0, "hinge"),), (Loop(100, "hinge", 0, -1, "same", 0),), seed=1)
    _, facts = examine_plan(twice)
    assert (facts.mobility, facts.redundant) == (1, 5)


def test_a_model_that_is_refused_is_found():
    model = build(SWING)
    model.bodies["body1"] = Body("body1", mass=0.0)
    findings = examine(model)
    assert {finding.kind for finding in findings} == {"error"}
    assert "has no inertia" in findings[0].what


def test_solvers_are_asked_for_by_name():
    assert bounds_of("impulses").order == 1
    with pytest.raises(LinkworkError, match="did you mean 'direct'"):
        bounds_of("dirct")


def test_a_run_that_breaks_is_found():
    def broken(data):
        data["positions"][-1, 0] = np.nan

    assert kinds(Tampered(SWING, broken)) == {"not_finite"}


def test_an_open_joint_is_found():
    def apart(data):
        data["positions"][5, :3] += 1e-3

    assert "gap" in kinds(Tampered(SMOOTH, apart))


def test_a_violated_limit_is_found():
    def beyond(data):
        data["coordinates"][5, 0] += 1.0

    assert kinds(Tampered(SWING, beyond)) == {"limit"}


def test_energy_from_nowhere_is_found():
    def gain(data):
        data["energy"][:, -1] += np.linspace(0.0, 0.01, len(data["energy"])) * data["energy"][:, 0].max()

    assert kinds(Tampered(SMOOTH, gain)) == {"energy"}
    assert kinds(Tampered(SWING, gain)) == {"energy"}


def test_a_start_elsewhere_is_found():
    def elsewhere(data):
        data["positions"] += 1e-3

    assert "start" in kinds(Tampered(SWING, elsewhere))


def test_a_locked_mechanism_that_moves_is_found():
    def creep(data):
        data["positions"] += np.linspace(0.0, 1e-2, len(data["positions"]))[:, None]

    assert {"locked", "gap", "disagree"} <= kinds(Tampered(STUCK, creep))


class Heavier(Runner):
    """Simulates in maximal coordinates what has a body heavier by a share."""

    def __init__(self, plan, share):
        super().__init__(build(plan), bounds_of("direct"))
        body = self.flat.bodies["body1"]
        changed = dataclasses.replace(body, mass=body.mass * (1 + share))
        self.other = Model("heavier", gravity=self.model.gravity)
        for shelf in ("joints", "loads", "drives"):
            setattr(self.other, shelf, getattr(self.flat, shelf))
        self.other.bodies = {**self.flat.bodies, "body1": changed}

    def simulation(self, method):
        right, self.model = self.model, self.other if method == METHODS[1] else self.model
        found = super().simulation(method)
        self.model = right
        return found


def test_a_wrong_motion_is_told_from_a_coarse_step():
    # The step of a millisecond makes formulations differ by a share h w of some 1e-2; a mass that is wrong by as little
    # moves the mechanism as far, but does not vanish with the step.
    assert kinds(Heavier(SMOOTH, 0.0)) == set()
    assert kinds(Heavier(SMOOTH, 0.01)) == {"disagree"}


def test_every_exception_is_a_finding(monkeypatch):
    def fail(self, method):
        raise ZeroDivisionError("no luck")

    monkeypatch.setattr(Runner, "simulation", fail)
    findings = examine(build(SWING))
    assert [finding.method for finding in findings] == list(METHODS)
    assert str(findings[0]) == "error (simgc): ZeroDivisionError at a step of 0.001 s: no luck"


def test_a_run_that_breaks_with_a_smaller_step_is_found(monkeypatch):
    record = Runner.record

    def fail(self, method, halvings=0):
        if halvings:
            raise RunError(Finding("error", method, "planted"))
        return record(self, method)

    monkeypatch.setattr(Runner, "record", fail)
    # A balance that strays is looked at with smaller steps.
    runner = Tampered(SMOOTH, lambda data: data["energy"].__setitem__((-1, -1), 1.0))
    assert kinds(runner) == {"error"}


# --- shrinking ---


def test_a_planted_failure_shrinks_to_what_it_needs():
    plan = random_plan(3, bodies=(8, 8), loops=(3, 3))
    plan = dataclasses.replace(plan, extras=(*plan.extras, Extra(1999, "armature", plan.links[4].key)))
    if plan.links[4].joint in (None, "weld"):
        plan = dataclasses.replace(
            plan, links=(*plan.links[:4], dataclasses.replace(plan.links[4], joint="planar"), *plan.links[5:])
        )

    def fails(candidate):
        build(candidate)  # what is tried can be built
        return any(extra.kind == "armature" for extra in candidate.extras)

    small = shrink(plan, fails)
    assert len(small.links) == len(small.extras) == 1
    assert small.loops == ()
    assert (small.placed, small.speed, small.gravity, small.digits) == ("here", 0.0, False, 1)
    assert small.links[0].joint == "hinge"


def test_shrinking_keeps_what_a_failure_needs():
    plan = random_plan(11, bodies=(6, 6), loops=(3, 3), redundant=1.0)

    def fails(candidate):
        return len(candidate.links) >= 2 and len(candidate.loops) >= 1 and candidate.gravity == plan.gravity

    small = shrink(plan, fails)
    assert (len(small.links), len(small.loops), small.extras) == (2, 1, ())
    assert small.gravity == plan.gravity


def test_shrinking_ends_when_its_trials_are_up():
    plan = random_plan(3, bodies=(8, 8))
    asked = []
    assert shrink(plan, lambda p: bool(asked.append(p)), trials=5) == plan
    assert len(asked) == 5


def test_plans_are_tidied():
    links = (Link(0, "hinge"), Link(1, "hinge", 0), Link(2, None))
    loops = (Loop(100, "hinge", 1, -1, "same", 1), Loop(101, "hinge", 1, 0, "same", 100))
    extras = (Extra(1000, "friction", 1), Extra(1001, "spring_load", 2, 1), Extra(1002, "repeater", 0, 100))
    less = tidy(Plan(links[:1] + links[2:], loops, extras))
    assert less == Plan((links[0], links[2]))
    alone = tidy(Plan(links, loops[1:]))
    assert alone.loops == (Loop(101, "hinge", 1, 0),)


# --- many of them ---


def test_a_report_counts_what_was_seen():
    report = fuzz(4, 1, decades=0.5, bodies=(1, 3), loops=(0, 1), extras=False)
    assert report.ok
    assert report.mechanisms == 4
    assert 0 < report.counts["moving at the start"] <= 4
    assert report.to_dict()["failures"] == []
    assert "4 mechanisms from seed 1" in report.text()


@pytest.fixture
def _planted(monkeypatch):
    """Every mechanism with friction somewhere fails."""

    def examine_planted(plan, solver="direct"):
        if any(extra.kind == "friction" for extra in plan.extras):
            return [Finding("gap", "simgc", "planted")], fuzzing.Facts()
        return [], fuzzing.Facts()

    monkeypatch.setattr(fuzzing, "examine_plan", examine_planted)


runner = CliRunner()


def first_with_friction():
    return next(seed for seed in range(100) if any(e.kind == "friction" for e in random_plan(seed).extras))


@pytest.mark.usefixtures("_planted")
def test_the_command_writes_down_what_fails(tmp_path):
    seed = first_with_friction()
    result = runner.invoke(
        app, ["fuzz", "--count", "1", "--seed", str(seed), "--out", str(tmp_path), "--json"]
    )
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    assert not document["ok"]
    failure = document["failures"][0]
    assert failure["kind"] == "gap"
    assert failure["command"].startswith(f"linkwork fuzz --count 1 --seed {seed}")
    model = load_model(tmp_path / f"fuzz-{seed}.yaml")
    assert len(model.bodies) == len(model.joints) == 1
    text = (tmp_path / f"fuzz-{seed}.txt").read_text()
    assert failure["command"] in text
    assert "planted" in text
    names = {"Plan": Plan, "Link": Link, "Loop": Loop, "Extra": Extra}
    small = text.partition("small = ")[2].partition("\nprint")[0]
    assert build(eval(small, names)) == model


@pytest.mark.usefixtures("_planted")
def test_the_command_tells_people_what_failed():
    seed = first_with_friction()
    result = runner.invoke(app, ["fuzz", "--count", "1", "--seed", str(seed)])
    assert result.exit_code == 1
    assert f"seed {seed} failed" in result.output
    assert "Plan(" in result.output


def test_the_command_is_content_with_what_works():
    arguments = ["--count", "3", "--seed", "1", "--decades", "0.5", "--bodies", "2", "--loops", "0-1"]
    result = runner.invoke(app, ["fuzz", *arguments])
    assert result.exit_code == 0, result.output
    assert "3 mechanisms" in result.output
    assert "all is well" in result.output


def test_the_command_stops_in_time():
    result = runner.invoke(app, ["fuzz", "--count", "100000", "--time-limit", "1e-9", "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["stopped"]
    assert document["mechanisms"] == 0


def test_ranges_are_read():
    assert span("bodies", "5") == (5, 5)
    assert span("bodies", "1-8") == (1, 8)
    for text in ("", "x", "1-", "1-8-9"):
        with pytest.raises(LinkworkError, match="FEWEST-MOST"):
            span("bodies", text)


def test_wrong_arguments_are_one_readable_message():
    result = command_line("fuzz", "--bodies", "0-3")
    assert result.returncode == 1
    assert "bodies must be a range" in result.stderr
    assert "Traceback" not in result.stderr
