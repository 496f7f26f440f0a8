"""The oracle: nothing to say about what is right, and a word for everything that is wrong."""

import dataclasses

import numpy as np
import pytest

from linkwork import Body, Simulation
from linkwork.fuzz.fuzz import Finding, examine, examine_plan
from linkwork.fuzz.oracle import Examination
from linkwork.fuzz.random_mechanisms import Extra, Link, Loop, Plan, build
from linkwork.fuzz.runner import METHODS, RunError, Runner, bounds_of
from linkwork.model import Model
from linkwork.model.errors import LinkworkError
from linkwork.results.record import Record

SWING = Plan((Link(0, "hinge"), Link(1, "universal", 0)), (), (Extra(1000, "limits", 0),), seed=5, speed=0.5)
SMOOTH = Plan((Link(0, "hinge"), Link(1, "spherical", 0)), (Loop(100, "planar", 1, -1),), seed=5, speed=0.5)
STUCK = Plan((Link(0, "hinge"),), (Loop(100, "hinge", 0, -1),), seed=5)
# On two balls, turning about the line through both, while a joint of another body lets go: a row along that line is
# rounding, which was taken for one that holds, and the rotor stopped. Shrunk from a random mechanism.
ON_A_LINE = Plan(
    (Link(0, "spherical"), Link(1, "hinge")),
    (Loop(100, "spherical", -1, 0, "coaxial", 0),),
    (Extra(1007, "hydraulic_cylinder", 0), Extra(1009, "released", 1)),
    seed=829,
    decades=0.0,
    gravity=False,
    placed="nested",
    plain=True,
    digits=2,
)
# A joint takes hold on top of another one (all its rows are rounding, also measured by the size of its loop), where
# another held before, and one whose coordinate a coupling has.
ON_ANOTHER = Plan(
    (Link(0, None),),
    (Loop(100, "hinge", 0, -1), Loop(101, "hinge", -1, 0, "same", 100)),
    (Extra(1004, "attached", 101),),
    seed=20998,
    decades=0.0,
    plain=True,
)
BESIDE_ANOTHER = Plan(
    (Link(0, "cylindrical", backwards=True),),
    (Loop(100, "cylindrical", 0, -1, "same", 0), Loop(101, "hinge", 0, -1)),
    (Extra(1000, "limits", 0), Extra(1005, "released", 101)),
    seed=20832,
    decades=0.0,
    gravity=False,
    plain=True,
    digits=1,
)
COUPLED = Plan(
    (Link(3, "hinge"),),
    (Loop(100, "cylindrical", 3, -1),),
    (Extra(1009, "repeater", 3, 100), Extra(1013, "attached", 3)),
    seed=20753,
    decades=0.0,
    plain=True,
    digits=2,
)
# Ten grams between a stop and the flank that a wheel of 400 kg pushes: without end, so that the rest is one impulse.
SQUEEZED = Plan(
    (Link(0, "hinge"), Link(1, "universal")),
    (),
    (Extra(1000, "spring", 0), Extra(1002, "limits", 1), Extra(1005, "backlash_between", 1, 0)),
    seed=20323,
    decades=5.94,
    gravity=False,
    restitution=0.7,
    plain=True,
    digits=1,
)


class Tampered(Runner):
    """A runner whose records are changed behind its back."""

    def __init__(self, plan, change, method="simmc"):
        model = build(plan)
        super().__init__(model, bounds_of("direct", model))
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


@pytest.mark.parametrize(
    "plan", [SWING, SMOOTH, STUCK, ON_A_LINE, ON_ANOTHER, BESIDE_ANOTHER, COUPLED, SQUEEZED]
)
def test_nothing_is_found_where_nothing_is_wrong(plan):
    assert examine(build(plan)) == []


def test_impacts_that_give_energy_are_told():
    """Newton's law of restitution knows nothing of a body that is hit from two sides at once."""
    record = Simulation(build(SQUEEZED), dt=1e-3).run(0.1, every=0.01)
    assert record.info["steps_by_impulses"] > 0
    assert record["energy.dissipated"].min() < -100.0
    assert any(warning.startswith("impacts gave 744 J") for warning in record.info["warnings"])
    softer = Simulation(build(dataclasses.replace(SQUEEZED, restitution=0.0)), dt=1e-3).run(0.1, every=0.01)
    assert np.diff(softer["energy.dissipated"]).min() > -1e-6
    assert not any("gave" in warning for warning in softer.info["warnings"])


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


TOUCHING = Plan((Link(0, "hinge"), Link(1, None)), (), (Extra(1000, "damping", 0),), seed=5, touching=True)
DIVIDED = Plan(
    (Link(0, "hinge"), Link(1, "universal", 0), Link(2, "hinge", 1), Link(3, "hinge", 2)),
    (), (Extra(1000, "limits", 2), Extra(1001, "friction", 1)), seed=6, speed=0.5, parts=2,
)  # fmt: skip
COMING = Plan(
    (Link(0, "hinge"), Link(1, "hinge", 0)), (Loop(100, "spherical", 1, -1),),
    (Extra(1000, "attached", 100), Extra(1001, "limits", 0), Extra(1002, "pid", 1)), seed=5, speed=0.5,
)  # fmt: skip


@pytest.mark.parametrize("plan", [TOUCHING, DIVIDED, COMING], ids=["touching", "divided", "coming"])
def test_nothing_is_found_in_what_touches_is_divided_or_comes_and_goes(plan):
    assert examine(build(plan)) == []


def test_components_are_a_method_of_their_own():
    assert Runner(build(DIVIDED), bounds_of("direct")).methods == (*METHODS, "components")
    assert Runner(build(SWING), bounds_of("direct")).methods == METHODS

    def elsewhere(data):
        data["positions"][5:] += 1e-3

    assert "disagree" in kinds(Tampered(DIVIDED, elsewhere, "components"))


def test_what_sinks_is_found():
    def sink(data):
        data["solver"][5:, names.index("contact.depth")] = 1e-3

    model = build(TOUCHING)
    names = list(Runner(model, bounds_of("direct", model)).record("simmc").groups["solver"].columns)
    assert kinds(Tampered(TOUCHING, sink)) == {"sunk"}


def test_a_joint_upon_another_does_not_lock():
    """It takes hold where it stands already, but for rounding, by which lengths of its loop were divided."""
    links = (Link(0, "hinge"), Link(1, "screw", 0), Link(5, "screw", 1))
    extras = (Extra(1002, "friction", 5), Extra(1004, "repeater", 5, 1), Extra(1010, "attached", 100))
    twice = Loop(100, "screw", 0, 1, "same", 1)
    assert examine(build(Plan(links, (twice,), extras, seed=818, decades=0.0))) == []


def test_a_start_is_singular_with_the_joints_that_hold_then():
    """Two universal joints, one turned round, contradict each other as soon as they move, until one lets go."""
    links = (Link(0, None), Link(1, "universal", 0, True))
    twice = Loop(100, "universal", 0, 1, "same", 1)
    model = build(
        Plan(links, (twice,), (Extra(1003, "released", 100),), seed=20058, decades=4.02, speed=0.88)
    )
    examination = Examination(Runner(model, bounds_of("direct", model)))
    assert examination.findings() == []
    assert examination.facts.redundant > 0


def test_hits_that_scatter_do_not_hide_what_is_elsewhere():
    def elsewhere(data):
        data["positions"][5:] += 1e-2

    assert "disagree" in kinds(Tampered(TOUCHING, elsewhere))


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
