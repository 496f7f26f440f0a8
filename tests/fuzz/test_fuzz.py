"""Failures of random mechanisms shrink to what they need, are counted and written down."""

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from helpers.processes import command_line
from linkwork import load_model
from linkwork.cli import app
from linkwork.fuzz import fuzz as fuzzing
from linkwork.fuzz.fuzz import Finding, fuzz, shrink, span, tidy
from linkwork.fuzz.random_mechanisms import Extra, Link, Loop, Plan, build, random_plan
from linkwork.model.errors import LinkworkError

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
    assert json.loads((tmp_path / "report.json").read_text()) == document
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
